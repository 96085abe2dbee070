// SPDX-License-Identifier: MIT
// Where patterns occur in a text over four letters: a rolling hash over each thread's stretch finds
// candidates, which are then compared letter by letter; hits are bits in a word per 32 places.

__device__ __noinline__ bool equal_at(const unsigned char* text, const unsigned char* pattern, int length) {
    int i = 0;
    while (i < length && text[i] == pattern[i]) ++i;
    return i == length;
}

extern "C" __global__ void strings(const unsigned char* text, const unsigned char* pattern, unsigned* hits, unsigned* candidates, int n, int length) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    if (first + length > n) return;
    unsigned wanted = 0, hash = 0, top = 1;
    for (int i = 0; i < length; ++i) {
        wanted = wanted * 5u + pattern[i] & 0xff;
        hash = hash * 5u + text[first + i] & 0xff;
        if (i > 0) top = top * 5u & 0xff;
    }
    unsigned word = 0, tried = 0;
    for (int i = 0; i < 32 && first + i + length <= n; ++i) {
        if (hash == wanted) {
            ++tried;
            if (equal_at(text + first + i, pattern, length)) word |= 1u << i;
        }
        if (first + i + length < n) hash = (hash - top * text[first + i]) * 5u + text[first + i + length] & 0xff;
    }
    hits[first / 32] = word;
    if (tried) atomicAdd(candidates, tried);
}

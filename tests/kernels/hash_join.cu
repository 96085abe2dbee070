// SPDX-License-Identifier: MIT
// Second hand. A hash table filled by all threads at once: open addressing with a 64-bit compare-and-swap per slot (key in
// the upper half, running sum in the lower) and linked chains pushed onto heads by compare-and-swap. Where an entry lands
// depends on the order; what a look-up finds does not.

typedef unsigned long long u64;

static __device__ __forceinline__ unsigned mix(unsigned k) {
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    return k ^ k >> 16;
}

// slots: a power of two; an empty slot is 0; keys are not 0.
extern "C" __global__ void table_insert(const unsigned* keys, int count, u64* slots, unsigned mask) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned key = (keys[i] & 0x3ffu) + 1u, value = keys[i] >> 20;
        unsigned at = mix(key) & mask;
        u64 seen = *const_cast<volatile u64*>(slots + at);
        while (true) {
            if (seen != 0u && seen >> 32 != key) {
                at = (at + 1u) & mask;
                seen = *const_cast<volatile u64*>(slots + at);
                continue;
            }
            const u64 wanted = (static_cast<u64>(key) << 32) | ((seen + value) & 0xffffffffu);
            const u64 got = atomicCAS(slots + at, seen, wanted);
            if (got == seen)
                break;
            seen = got;
        }
    }
}

extern "C" __global__ void table_probe(const unsigned* wanted, int count, const u64* slots, unsigned mask, unsigned* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const unsigned key = (wanted[i] & 0x7ffu) + 1u;
    unsigned at = mix(key) & mask, answer = 0xffffffffu;
    for (unsigned tries = 0; tries <= mask; ++tries) {
        const u64 s = slots[at];
        if (s == 0u)
            break;
        if (s >> 32 == key) {
            answer = static_cast<unsigned>(s);
            break;
        }
        at = (at + 1u) & mask;
    }
    sums[i] = answer;
}

// next: the chain after an entry, -1 at its end; heads begin at -1.
extern "C" __global__ void chain_push(const unsigned* keys, int count, int* heads, unsigned buckets, int* next) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int* head = heads + mix(keys[i]) % buckets;
    int old = *const_cast<volatile int*>(head), assumed;
    do {
        assumed = old;
        next[i] = assumed;
        __threadfence();
        old = atomicCAS(head, assumed, i);
    } while (old != assumed);
}

// A thread per bucket walks its chain; sums, exclusive-ors and counts do not know the order. It then frees the links, so
// that nothing that depends on the order stays in memory.
extern "C" __global__ void chain_walk(const unsigned* keys, int* heads, unsigned buckets, int* next, unsigned* summary) {
    const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= buckets)
        return;
    unsigned count = 0, sum = 0, differ = 0, largest = 0;
    for (int i = heads[b]; i >= 0;) {
        const unsigned k = keys[i];
        ++count;
        sum += k;
        differ ^= k * 2654435761u;
        largest = k > largest ? k : largest;
        const int following = next[i];
        next[i] = -2;
        i = following;
    }
    heads[b] = -1;
    summary[4u * b] = count;
    summary[4u * b + 1u] = sum;
    summary[4u * b + 2u] = differ;
    summary[4u * b + 3u] = largest;
}

// The open table's places depend on the order of insertion: cleared after use.
extern "C" __global__ void table_clear(u64* slots, unsigned mask) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= mask)
        slots[i] = 0u;
}

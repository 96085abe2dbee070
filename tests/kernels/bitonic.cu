// SPDX-License-Identifier: MIT
// Bitonic sort of keys with values: short distances in shared memory, long ones in global memory, a
// launch for each.

#define SHARED 512

__device__ __forceinline__ void order(unsigned& k0, unsigned& v0, unsigned& k1, unsigned& v1, bool up) {
    if ((k0 > k1) == up) {
        unsigned swap = k0;
        k0 = k1;
        k1 = swap;
        swap = v0;
        v0 = v1;
        v1 = swap;
    }
}

// Sorts parts of 512, neighbours in opposite directions; or, with `merge`, ends a merge of `size`.
extern "C" __global__ void bitonic_shared(unsigned* keys, unsigned* values, int size, int merge) {
    __shared__ unsigned k[SHARED], v[SHARED];
    const int t = threadIdx.x, first = blockIdx.x * SHARED;
    for (int i = t; i < SHARED; i += SHARED / 2) {
        k[i] = keys[first + i];
        v[i] = values[first + i];
    }
    for (int width = merge ? size : 2; width <= size; width *= 2) {
        for (int distance = (width < SHARED ? width : SHARED) / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int at = 2 * t - (t & (distance - 1));
            order(k[at], v[at], k[at + distance], v[at + distance], ((first + at) & width) == 0);
        }
    }
    __syncthreads();
    for (int i = t; i < SHARED; i += SHARED / 2) {
        keys[first + i] = k[i];
        values[first + i] = v[i];
    }
}

extern "C" __global__ void bitonic_global(unsigned* keys, unsigned* values, int width, int distance) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int at = 2 * t - (t & (distance - 1));
    unsigned k0 = keys[at], k1 = keys[at + distance], v0 = values[at], v1 = values[at + distance];
    order(k0, v0, k1, v1, (at & width) == 0);
    keys[at] = k0;
    keys[at + distance] = k1;
    values[at] = v0;
    values[at + distance] = v1;
}

// Relocatable code: zeros in global and in shared memory, and a function that is inlined everywhere.
__device__ int zeros[1000];
struct Pair { int first, second; };
__device__ int sum(Pair of) { return of.first + of.second + zeros[of.first & 7]; }
extern "C" __global__ void k(int* a) {
    __shared__ int turned[8192];
    turned[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = sum({turned[31 - threadIdx.x], 100});
}

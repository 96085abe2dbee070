extern "C" __global__ void checks(const int* a, int* b) {
    assert(a[threadIdx.x] >= 0);
    b[threadIdx.x] = a[threadIdx.x];
}

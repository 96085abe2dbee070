// Constant memory of relocatable code.
__constant__ int table[8] = {1,2,3,4,5,6,7,8};
__constant__ int other[3] = {10,20,30};
extern "C" __global__ void k(int* a, int i) { a[threadIdx.x] = table[3] + other[1] + table[i] + other[threadIdx.x % 3]; }

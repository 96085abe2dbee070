// SPDX-License-Identifier: MIT
// Sums over the boxes of a three-dimensional array, on a grid and groups of three odd dimensions that
// fit nothing; groups are no whole number of warps. Sums of whole numbers go up by atomics.

extern "C" __global__ void sums3d(const int* in, int* boxes, long long* total, int nx, int ny, int nz) {
    __shared__ int box;
    const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (t == 0) box = 0;
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    int odd = 0;
    if (x < nx && y < ny && z < nz) {
        const int value = in[(z * ny + y) * nx + x];
        // As many steps as the value has bits set.
        for (int rest = value; rest; rest &= rest - 1) odd += rest & 0x55 ? 3 : 1;
        atomicAdd(&box, value);
    }
    const int many = __syncthreads_count(odd > 12);
    if (t == 0) {
        boxes[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = box + (many << 24);
        atomicAdd((unsigned long long*)total, (unsigned long long)(long long)box);
    }
    if (odd) atomicXor(&((unsigned*)total)[2 + (t & 1)], (unsigned)odd << (t & 15));
}

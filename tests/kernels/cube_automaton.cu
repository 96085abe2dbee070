// SPDX-License-Identifier: MIT
// Second hand. Three dimensions: a grid and blocks of three dimensions with sizes that are not powers of two, a cube with borders
// that the blocks do not divide, dynamic shared memory with a margin, cells of one byte. A rule of majority with ties broken by
// parity; cells count their 26 neighbours. Second kernel: distances to the nearest set cell along the three axes.

extern __shared__ unsigned char brick[];

extern "C" __global__ void cube_automaton(const unsigned char* in, unsigned char* out, int3 size, unsigned birth, unsigned survive) {
    const int bx = blockDim.x + 2, by = blockDim.y + 2, bz = blockDim.z + 2, cells = bx * by * bz;
    const int self = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y * blockDim.z;
    const int ox = blockIdx.x * blockDim.x - 1, oy = blockIdx.y * blockDim.y - 1, oz = blockIdx.z * blockDim.z - 1;
    for (int i = self; i < cells; i += threads) {
        const int x = ox + i % bx, y = oy + i / bx % by, z = oz + i / (bx * by);
        const bool inside = x >= 0 && y >= 0 && z >= 0 && x < size.x && y < size.y && z < size.z;
        brick[i] = inside ? in[(z * size.y + y) * size.x + x] & 1 : 0;
    }
    __syncthreads();
    const int x = ox + 1 + threadIdx.x, y = oy + 1 + threadIdx.y, z = oz + 1 + threadIdx.z;
    if (x >= size.x || y >= size.y || z >= size.z)
        return;
    unsigned sum = 0;
    for (int dz = 0; dz < 3; ++dz)
        for (int dy = 0; dy < 3; ++dy)
            for (int dx = 0; dx < 3; ++dx)
                sum += brick[((threadIdx.z + dz) * by + threadIdx.y + dy) * bx + threadIdx.x + dx];
    const unsigned char own = brick[((threadIdx.z + 1) * by + threadIdx.y + 1) * bx + threadIdx.x + 1];
    sum -= own;
    const unsigned rule = own != 0 ? survive : birth;
    out[(z * size.y + y) * size.x + x] = static_cast<unsigned char>((rule >> sum & 1u) | sum << 1);
}

extern "C" __global__ void axis_distances(const unsigned char* in, short* out, int3 size) {
    const int a = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y, axis = blockIdx.z * blockDim.z + threadIdx.z;
    const int lengths[3] = {size.x, size.y, size.z}, strides[3] = {1, size.x, size.x * size.y};
    if (axis >= 3)
        return;
    const int u = axis == 0 ? 1 : 0, w = axis == 2 ? 1 : 2;
    if (a >= lengths[u] || b >= lengths[w])
        return;
    const int base = a * strides[u] + b * strides[w], step = strides[axis], n = lengths[axis], plane = size.x * size.y * size.z;
    short far = 30000;
    for (int i = 0; i < n; ++i) {
        far = in[base + i * step] & 1 ? 0 : far < 30000 ? far + 1 : far;
        out[axis * plane + base + i * step] = far;
    }
    far = 30000;
    int i = n;
    while (i-- > 0) {
        far = in[base + i * step] & 1 ? 0 : far < 30000 ? far + 1 : far;
        short* o = &out[axis * plane + base + i * step];
        *o = *o < far ? *o : far;
    }
}

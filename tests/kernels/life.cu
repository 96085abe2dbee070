// SPDX-License-Identifier: MIT
// Conway's game of life on a torus, a byte per cell, four cells per thread and load.

extern "C" __global__ void life(const unsigned char* now, unsigned char* next, int width, int height) {
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    unsigned columns[6] = {0, 0, 0, 0, 0, 0};
    uchar4 own = make_uchar4(0, 0, 0, 0);
    for (int dy = -1; dy <= 1; ++dy) {
        int row = y + dy;
        if (row < 0) row += height;
        if (row >= height) row -= height;
        const uchar4 cells = *(const uchar4*)&now[row * width + x];
        if (dy == 0) own = cells;
        columns[0] += now[row * width + (x + width - 1) % width];
        columns[1] += cells.x;
        columns[2] += cells.y;
        columns[3] += cells.z;
        columns[4] += cells.w;
        columns[5] += now[row * width + (x + 4) % width];
    }
    unsigned char cell[4] = {own.x, own.y, own.z, own.w};
    for (int i = 0; i < 4; ++i) {
        const unsigned neighbours = columns[i] + columns[i + 1] + columns[i + 2] - cell[i];
        cell[i] = neighbours == 3 || (neighbours == 2 && cell[i]);
    }
    *(uchar4*)&next[y * width + x] = make_uchar4(cell[0], cell[1], cell[2], cell[3]);
}

// SPDX-License-Identifier: MIT
// Alignment of two sequences (Needleman-Wunsch): tiles along a diagonal run in one launch, within a
// tile a warp moves along diagonals, in shared memory.

#define T 32

extern "C" __global__ void needleman(int* score, const unsigned char* a, const unsigned char* b, int width, int diagonal, int tiles,
                                     int penalty) {
    __shared__ int s[T + 1][T + 1];
    __shared__ unsigned char row_letters[T], column_letters[T];
    const int t = threadIdx.x;
    const int first = diagonal < tiles ? 0 : diagonal - tiles + 1;
    const int bx = first + blockIdx.x, by = diagonal - bx;
    int* corner = score + (by * T) * width + bx * T;
    row_letters[t] = a[by * T + t];
    column_letters[t] = b[bx * T + t];
    if (t == 0) s[0][0] = corner[0];
    s[0][t + 1] = corner[t + 1];
    s[t + 1][0] = corner[(t + 1) * width];
    __syncwarp();
    for (int d = 0; d < 2 * T - 1; ++d) {
        const int y = t, x = d - t;
        if (x >= 0 && x < T) {
            const int match = row_letters[y] == column_letters[x] ? 5 : -3;
            s[y + 1][x + 1] = max(s[y][x] + match, max(s[y + 1][x], s[y][x + 1]) - penalty);
        }
        __syncwarp();
    }
    for (int y = 0; y < T; ++y) corner[(y + 1) * width + t + 1] = s[y + 1][t + 1];
}

extern "C" __global__ void needleman_borders(int* score, int width, int penalty) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width) return;
    score[i] = -penalty * i;
    score[i * width] = -penalty * i;
}

// SPDX-License-Identifier: MIT
// Second hand. Large arrays of a thread, indexed by data: Levenshtein's distance of two strings with the whole table of
// moves kept (2 bits each, packed in bytes), then the alignment walked back. Strings are sequences over four letters.

#define LEN 40

extern "C" __global__ void edit_distance(const unsigned char* left, const unsigned char* right, int pairs, int* distance, unsigned* path) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= pairs)
        return;
    unsigned short row[2][LEN + 1];
    unsigned char moves[(LEN + 1) * (LEN + 1) / 4 + 1];
    unsigned char a[LEN], b[LEN];
    // lengths differ by thread, so that loops end at different times
    const int n = LEN - (left[me * LEN] >> 4), m = LEN - (right[me * LEN] >> 5);
#pragma unroll 1
    for (int i = 0; i < n; ++i)
        a[i] = left[me * LEN + i] & 3;
#pragma unroll 1
    for (int j = 0; j < m; ++j)
        b[j] = right[me * LEN + j] & 3;
    for (unsigned i = 0; i < sizeof moves; ++i)
        moves[i] = 0;
#define SET_MOVE(i, j, v) moves[((i) * (LEN + 1) + (j)) >> 2] |= (unsigned char)((v) << (2 * (((i) * (LEN + 1) + (j)) & 3)))
#define GET_MOVE(i, j) ((moves[((i) * (LEN + 1) + (j)) >> 2] >> (2 * (((i) * (LEN + 1) + (j)) & 3))) & 3)
#pragma unroll 1
    for (int j = 0; j <= m; ++j) {
        row[0][j] = (unsigned short)j;
        if (j > 0)
            SET_MOVE(0, j, 2);
    }
    int now = 0;
    for (int i = 1; i <= n; ++i) {
        const int next = now ^ 1;
        row[next][0] = (unsigned short)i;
        SET_MOVE(i, 0, 1);
#pragma unroll 1
        for (int j = 1; j <= m; ++j) {
            int best = row[now][j - 1] + (a[i - 1] != b[j - 1]);
            int move = 0;
            if (row[now][j] + 1 < best) {
                best = row[now][j] + 1;
                move = 1;
            }
            if (row[next][j - 1] + 1 < best) {
                best = row[next][j - 1] + 1;
                move = 2;
            }
            row[next][j] = (unsigned short)best;
            SET_MOVE(i, j, move);
        }
        now = next;
    }
    distance[me] = row[now][m];
    unsigned matches = 0, changes = 0, removed = 0, added = 0;
    int i = n, j = m;
    while (i > 0 || j > 0) {
        switch (GET_MOVE(i, j)) {
        case 0:
            --i, --j;
            if (a[i] == b[j])
                ++matches;
            else
                ++changes;
            break;
        case 1: --i, ++removed; break;
        default: --j, ++added; break;
        }
    }
    path[me] = matches | changes << 8 | removed << 16 | added << 24;
}

// SPDX-License-Identifier: MIT
// What global_table.cpp makes, on the GPU: tables of gigabytes. `words`: power of two; behind them
// the words that a body may run over. numbers: small floats, for streams; else the addresses of a
// chase in order, or of one that stays in each line (own_lines). `base`: where word 0 is said to
// be.

extern "C" __global__ void occupipe_table_writer(uint* table, ulong words, ulong slack, uint line_words, uint access_words, uint own_lines, uint numbers, ulong base)
{
    const uint next = own_lines ? 0 : line_words;
    for (ulong i = THREAD; i < words + slack; i += WARPS * WARP_SIZE) {
        if (numbers) {
            uint mixed = (uint)i * 0x9e3779b1u;
            mixed = (mixed ^ mixed >> 15) * 0x85ebca77u;
            table[i] = __float_as_uint((float)(int)(mixed >> 8) * 0x1p-33f - 0x1p-10f);
            continue;
        }
        const uint within = (uint)i & (access_words - 1);
        const ulong to = (i - within + next) & (words - 1);
        table[i] = within == 1 ? (uint)(base + 4 * to >> 32)
                 : within == 0 ? (uint)(base + 4 * to)
                               : (uint)((i + next) & (words - 1));
    }
}

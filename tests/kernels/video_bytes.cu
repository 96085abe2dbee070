// SPDX-License-Identifier: MIT
// Second hand. Four bytes or two halfwords in a word: the SIMD intrinsics and the byte dot products, as a video codec uses
// them. motion_search: for every 8x8 block of a frame the offset with the smallest sum of absolute differences in the
// previous frame, one warp per block, ties to the smaller code; byte_filters: saturating filters of rows.

extern "C" __global__ void motion_search(const unsigned char* before, const unsigned char* now, int width, int height, unsigned* vectors) {
    const int lane = threadIdx.x & 31, block = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    const int blocks_x = width / 8, bx = block % blocks_x * 8, by = block / blocks_x * 8;
    if (by + 8 > height)
        return;
    unsigned best = 0xffffffffu;
    // 64 places of a window of 8x8 around the block, two per lane
    for (int turn = 0; turn < 2; ++turn) {
        const int code = turn * 32 + lane, dx = (code & 7) - 4, dy = (code >> 3) - 4;
        const int x0 = bx + dx < 0 ? 0 : bx + dx > width - 8 ? width - 8 : bx + dx, y0 = by + dy < 0 ? 0 : by + dy > height - 8 ? height - 8 : by + dy;
        unsigned sum = 0;
        for (int y = 0; y < 8; ++y) {
            const unsigned* row = reinterpret_cast<const unsigned*>(now + (by + y) * width + bx);
            const unsigned char* other = before + (y0 + y) * width + x0;
            // words at any address: two aligned words and a funnel shift
            const unsigned shift = static_cast<unsigned>(x0) & 3u;
            const unsigned* aligned = reinterpret_cast<const unsigned*>(other - shift);
            const unsigned w0 = aligned[0], w1 = aligned[1], w2 = shift != 0u ? aligned[2] : 0u;
            sum += __vsadu4(row[0], __funnelshift_r(w0, w1, 8u * shift));
            sum += __vsadu4(row[1], __funnelshift_r(w1, w2, 8u * shift));
        }
        const unsigned candidate = sum << 8 | static_cast<unsigned>(code);
        best = candidate < best ? candidate : best;
    }
    for (int d = 16; d > 0; d >>= 1) {
        const unsigned other = __shfl_xor_sync(0xffffffffu, best, d);
        best = other < best ? other : best;
    }
    if (lane == 0)
        vectors[block] = best;
}

extern "C" __global__ void byte_filters(const unsigned* in, int count, unsigned* out, int* dots) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const unsigned a = in[me], b = in[(me + 1) % count], c = in[(me + 7) % count];
    unsigned* o = out + 16 * me;
    o[0] = __vadd4(a, b);
    o[1] = __vsub2(a, b);
    o[2] = __vaddus4(a, b);
    o[3] = __vsubus4(a, b);
    o[4] = __vaddss2(a, b);
    o[5] = __vsubss4(a, b);
    o[6] = __vavgu4(a, b);
    o[7] = __vabsdiffu4(a, b);
    o[8] = __vmaxs4(a, b) ^ __vminu4(b, c);
    o[9] = __vmaxu2(a, b) ^ __vmins2(b, c);
    o[10] = __vcmpgtu4(a, b) ^ __vcmpeq2(a & 0x00010001u, b & 0x00010001u);
    o[11] = __vabsss2(a) + __vneg4(b);
    // a smoothing with weights 1 2 1 of neighbours, by averages that round down: (a & b) + ((a ^ b) >> 1) per byte
    const unsigned down = (a & c) + (((a ^ c) >> 1) & 0x7f7f7f7fu);
    o[12] = __vavgu4(down, b);
    // median of three per byte
    o[13] = __vmaxu4(__vminu4(a, b), __vminu4(__vmaxu4(a, b), c));
    o[14] = __vcmpltu4(a, 0x80808080u) & b;
    o[15] = __vseteq4(a & 0x03030303u, b & 0x03030303u);
    dots[4 * me] = __dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c));
    dots[4 * me + 1] = static_cast<int>(__dp4a(a, b, c));
    dots[4 * me + 2] = __dp2a_lo(static_cast<int>(a), static_cast<int>(b), me);
    dots[4 * me + 3] = __dp2a_hi(static_cast<int>(a), static_cast<int>(c), -me);
}

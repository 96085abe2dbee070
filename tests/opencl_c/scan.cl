// SPDX-License-Identifier: MIT
// Prefix sums of each group in double buffers of local memory (Hillis and Steele), and the
// groups' own totals.
__kernel void scan(__global const uint* in, __global uint* out, __global uint* totals, int n, __local uint* two) {
    const int i = get_global_id(0), own = get_local_id(0), size = get_local_size(0);
    int from = 0;
    two[own] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < size; step *= 2) {
        uint sum = two[from + own];
        if (own >= step) sum += two[from + own - step];
        from = size - from;
        two[from + own] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) out[i] = two[from + own];
    if (own == size - 1) totals[get_group_id(0)] = two[from + own];
}

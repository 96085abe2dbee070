// SPDX-License-Identifier: MIT
// Sums of a group's elements by halves, and their total of the whole grid in an atomic.
__kernel void reduction(__global const int* in, __global int* sums, __global int* total, int n, __local int* part) {
    const int i = get_global_id(0), own = get_local_id(0);
    part[own] = i < n ? in[i] : 0;
    for (int half_of = get_local_size(0) / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (own < half_of) part[own] += part[own + half_of];
    }
    if (own == 0) {
        sums[get_group_id(0)] = part[0];
        atomic_add(total, part[0]);
    }
}

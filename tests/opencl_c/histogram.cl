// SPDX-License-Identifier: MIT
// Counts of bytes: atomics on local memory, then on global memory; least and greatest as well.
__kernel void histogram(__global const uchar* in, __global uint* bins, __global int* ends, int n) {
    __local uint own[256];
    for (int i = get_local_id(0); i < 256; i += get_local_size(0)) own[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        atomic_inc(&own[in[i]]);
        atomic_min(&ends[0], (int)in[i]);
        atomic_max(&ends[1], (int)in[i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 256; i += get_local_size(0))
        if (own[i] != 0) atomic_add(&bins[i], own[i]);
}

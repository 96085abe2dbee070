// SPDX-License-Identifier: MIT
// Transposed through a padded tile in local memory of the kernel's own; elements of two floats.
#define SIDE 16

__kernel void transpose(__global const float2* in, __global float2* out, int width, int height) {
    __local float2 tile[SIDE][SIDE + 1];
    int x = get_group_id(0) * SIDE + get_local_id(0);
    int y = get_group_id(1) * SIDE + get_local_id(1);
    if (x < width && y < height) tile[get_local_id(1)][get_local_id(0)] = in[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * SIDE + get_local_id(0);
    y = get_group_id(0) * SIDE + get_local_id(1);
    if (x < height && y < width) out[y * height + x] = tile[get_local_id(0)][get_local_id(1)];
}

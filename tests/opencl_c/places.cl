// SPDX-License-Identifier: MIT
// Every function that tells a work-item where it is, in three dimensions, also for one beyond them,
// integer functions, and structures by value.
struct weights {
    int a;
    uint b;
    long c;
};

__kernel void places(__global ulong* out, __global int* numbers, struct weights w, uchar small) {
    const size_t id = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    ulong mixed = 0;
    for (uint d = 0; d < 3; ++d) {
        mixed = mixed * 31 + get_local_id(d);
        mixed = mixed * 31 + get_group_id(d);
        mixed = mixed * 31 + get_local_size(d);
        mixed = mixed * 31 + get_num_groups(d);
        mixed = mixed * 31 + get_global_offset(d);
    }
    out[id] = mixed * 1000 + get_global_size(2) + small;
    const int x = (int)(id * 2654435761u), y = w.a - (int)id;
    uint all = mul_hi(x, y) ^ mad24(x & 0xffff, y & 0xfff, 3);
    all += popcount(x) + clz(y) + abs(y) + rotate(x, 7) + add_sat(x, y) + hadd(x, y);
    all ^= convert_int_sat((float)x * 3.0f) + as_int((float)y) + mad_hi(x, x, 5);
    numbers[id] = all + (int)(upsample((ushort)x, (ushort)y) % w.b) + (int)(w.c / (1 + (long)id));
}

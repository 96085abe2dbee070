// SPDX-License-Identifier: MIT
// CUDA's vector types, as CUDA lays them out.
#pragma once

struct dim3 {
    unsigned x = 1, y = 1, z = 1;

    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define OCCUPIPE_VECTORS(type, name, align1, align2, align4)                       \
    struct alignas(align1) name##1 {                                               \
        type x;                                                                    \
    };                                                                             \
    struct alignas(align2) name##2 {                                               \
        type x, y;                                                                 \
    };                                                                             \
    struct alignas(align1) name##3 {                                               \
        type x, y, z;                                                              \
    };                                                                             \
    struct alignas(align4) name##4 {                                               \
        type x, y, z, w;                                                           \
    };                                                                             \
    constexpr name##1 make_##name##1(type x) { return {x}; }                       \
    constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
    constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

OCCUPIPE_VECTORS(signed char, char, 1, 2, 4)
OCCUPIPE_VECTORS(unsigned char, uchar, 1, 2, 4)
OCCUPIPE_VECTORS(short, short, 2, 4, 8)
OCCUPIPE_VECTORS(unsigned short, ushort, 2, 4, 8)
OCCUPIPE_VECTORS(int, int, 4, 8, 16)
OCCUPIPE_VECTORS(unsigned, uint, 4, 8, 16)
OCCUPIPE_VECTORS(long, long, 8, 16, 16)
OCCUPIPE_VECTORS(unsigned long, ulong, 8, 16, 16)
OCCUPIPE_VECTORS(long long, longlong, 8, 16, 16)
OCCUPIPE_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
OCCUPIPE_VECTORS(float, float, 4, 8, 16)
OCCUPIPE_VECTORS(double, double, 8, 16, 16)
#undef OCCUPIPE_VECTORS

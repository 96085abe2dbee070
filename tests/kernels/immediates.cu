// SPDX-License-Identifier: MIT
// Conversions of constants by PTX that the assembler does not evaluate itself: how machine code writes an operand of 64
// bits, of binary32 and of binary16 into the 32 bits of an immediate, each beside the value that it stands for.

#ifdef __CUDACC__
#define CONVERTED(instruction, result, to, from, value, formula) \
    [] {                                                        \
        result r;                                               \
        asm volatile(instruction " %0, %1;" : to(r) : from(value)); \
        return (unsigned long long)r;                           \
    }()
#else
#define CONVERTED(instruction, result, to, from, value, formula) (unsigned long long)(result)(formula)
#endif

// One number per instruction; the thread's own is added so that each of them shows where it goes.
extern "C" __global__ void immediates(unsigned long long* out) {
    const unsigned long long number[] = {
        CONVERTED("cvt.rpi.u64.f32", unsigned long long, "=l", "r", 0x40490fdb, 4),             // pi
        CONVERTED("cvt.rmi.s64.f32", long long, "=l", "r", 0xc0490fdb, -4),
        CONVERTED("cvt.rpi.u64.f32", unsigned long long, "=l", "r", 0x4b000001, 8388609),
        CONVERTED("cvt.rmi.u64.f16", unsigned long long, "=l", "h", (unsigned short)0x65da, 1498),
        CONVERTED("cvt.rmi.s64.f16", long long, "=l", "h", (unsigned short)0xc801, -9),
        CONVERTED("cvt.rpi.s32.f16", int, "=r", "h", (unsigned short)0xc801, -8),
        CONVERTED("cvt.rpi.u64.f64", unsigned long long, "=l", "l", 0x4008000000000000ULL, 3),
        CONVERTED("cvt.rmi.s64.f64", long long, "=l", "l", 0xbff8000000000000ULL, -2),
        CONVERTED("cvt.rz.f32.u64", unsigned, "=r", "l", 0x8000000000000000ULL, 0x5f000000),    // 2^63
        CONVERTED("cvt.rz.f32.s64", unsigned, "=r", "l", 0x8000000000000000ULL, 0xdf000000),
        CONVERTED("cvt.rm.f32.u64", unsigned, "=r", "l", 5ULL, 0x40a00000),
        CONVERTED("cvt.rp.f32.u64", unsigned, "=r", "l", 0x500000000ULL, 0x50a00000),
        CONVERTED("cvt.rm.f64.s64", unsigned long long, "=l", "l", 0xfffffff000000000ULL, 0xc230000000000000ULL),
        CONVERTED("cvt.rp.f64.u64", unsigned long long, "=l", "l", 0xfffffff000000000ULL, 0x43effffffe000000ULL),
        CONVERTED("cvt.rz.f32.u32", unsigned, "=r", "r", 0x80000001, 0x4f000000),
        CONVERTED("cvt.rz.f32.s32", unsigned, "=r", "r", 0x80000001, 0xceffffff),
        CONVERTED("cvt.rz.f64.u32", unsigned long long, "=l", "r", 0x80000001, 0x41e0000000200000ULL),
    };
    for (unsigned i = 0; i < sizeof number / sizeof *number; ++i)
        out[i * blockDim.x + threadIdx.x] = number[i] + threadIdx.x;
}

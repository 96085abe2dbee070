// SPDX-License-Identifier: MIT
// Divisions are chained through the divisor: the reciprocal seed of a constant one would leave the
// dependent path.

#define ADD_F32(x, a) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a))
#define MUL_F32(x, a) asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a))
#define FMA_F32(x, a, b) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b))
#define DIV_F32(x, a) asm volatile("div.rn.f32 %0, %1, %0;" : "+f"(x) : "f"(a))
#define SQRT_F32(x) asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(x))
#define ADD_F64(x, a) asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(a))
#define MUL_F64(x, a) asm volatile("mul.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(a))
#define FMA_F64(x, a, b) asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b))
#define DIV_F64(x, a) asm volatile("div.rn.f64 %0, %1, %0;" : "+d"(x) : "d"(a))
#define SQRT_F64(x) asm volatile("sqrt.rn.f64 %0, %0;" : "+d"(x))

#define COS_APPROX_F32(x) asm volatile("cos.approx.f32 %0, %0;" : "+f"(x))
#define EX2_APPROX_F32(x) asm volatile("{ .reg .f32 n; neg.f32 n, %0; ex2.approx.f32 %0, n; }" : "+f"(x))
#define EX2_APPROX_FTZ_F32(x) asm volatile("{ .reg .f32 n; neg.f32 n, %0; ex2.approx.ftz.f32 %0, n; }" : "+f"(x))
#define RSQRT_APPROX_F32(x) asm volatile("rsqrt.approx.f32 %0, %0;" : "+f"(x))
#define RSQRT_APPROX_FTZ_F32(x) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x))

// For rows that bring their own PTX.
#define OP_F(ptx, x, a, b) asm volatile(ptx : "+f"(x) : "f"(a), "f"(b))
#define OP_D(ptx, x, a, b) asm volatile(ptx : "+d"(x) : "d"(a), "d"(b))
#define OP_H(ptx, x, a, b) asm volatile(ptx : "+h"(x) : "h"(a), "h"(b))
#define OP_R(ptx, x, a, b) asm volatile(ptx : "+r"(x) : "r"(a), "r"(b))
#define OP_L(ptx, x, a, b) asm volatile(ptx : "+l"(x) : "l"(a), "l"(b))

// The adder takes three operands: two PTX additions make one machine instruction. A single one
// would be merged with its neighbour, or dealt to the multiply-add pipe instead.
#define ADD_S32(x, a) asm volatile("{ .reg .b32 t; add.u32 t, %0, %1; add.s32 %0, t, %1; }" : "+r"(x) : "r"(a))
#define MAD_S32(x, a, b) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b))
#define DIV_S32(x, a) asm volatile("div.s32 %0, %1, %0;" : "+r"(x) : "r"(a))
// In a mix a multiplication or shift would merge with an addition behind it.
#define MUL_S32(x, a) asm volatile(GUARD_IN_MIX "mul.lo.s32 %0, %0, %1;" : "+r"(x) : "r"(a))
#define SHL_B32(x, a) asm volatile(GUARD_IN_MIX "shl.b32 %0, %0, %1;" : "+r"(x) : "r"(a))
// Under a predicate that always holds, which the assembler does not know: such a step is not
// merged with its neighbour, and a predicate costs no instruction.
#define XOR_B32(x, a) asm volatile("@go xor.b32 %0, %0, %1;" : "+r"(x) : "r"(a))
#define AND_B32(x, a) asm volatile("@go and.b32 %0, %0, %1;" : "+r"(x) : "r"(a))

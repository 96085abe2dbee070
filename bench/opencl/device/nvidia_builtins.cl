// SPDX-License-Identifier: MIT
// What libclc's nvptx64--nvidiacl.bc lacks, and what it has in a form that no NVIDIA GPU would
// execute, for OpenCL C that is compiled to NVIDIA's machine code (bench/cuda/driver/opencl_c.h).
// native_*: the approximate instructions of the special function unit. rsqrt(float), 2 ulp in
// OpenCL C: rsqrt.approx, where libclc divides by a square root.

// What a driver's compiler defines, and clang leaves to it.
#ifndef __OPENCL_VERSION__
#define __OPENCL_VERSION__ __OPENCL_C_VERSION__
#endif
#ifndef __ENDIAN_LITTLE__
#define __ENDIAN_LITTLE__ 1
#endif

#define OCCUPIPE_BUILTIN static inline __attribute__((overloadable, always_inline, nodebug, unused, const))
#define OCCUPIPE_WIDER_1(name)                                                                                     \
    OCCUPIPE_BUILTIN float2 name(float2 x) { return (float2)(name(x.x), name(x.y)); }                              \
    OCCUPIPE_BUILTIN float3 name(float3 x) { return (float3)(name(x.x), name(x.y), name(x.z)); }                   \
    OCCUPIPE_BUILTIN float4 name(float4 x) { return (float4)(name(x.lo), name(x.hi)); }                            \
    OCCUPIPE_BUILTIN float8 name(float8 x) { return (float8)(name(x.lo), name(x.hi)); }                            \
    OCCUPIPE_BUILTIN float16 name(float16 x) { return (float16)(name(x.lo), name(x.hi)); }
#define OCCUPIPE_WIDER_2(name)                                                                                     \
    OCCUPIPE_BUILTIN float2 name(float2 x, float2 y) { return (float2)(name(x.x, y.x), name(x.y, y.y)); }          \
    OCCUPIPE_BUILTIN float3 name(float3 x, float3 y) {                                                             \
        return (float3)(name(x.x, y.x), name(x.y, y.y), name(x.z, y.z));                                           \
    }                                                                                                              \
    OCCUPIPE_BUILTIN float4 name(float4 x, float4 y) { return (float4)(name(x.lo, y.lo), name(x.hi, y.hi)); }      \
    OCCUPIPE_BUILTIN float8 name(float8 x, float8 y) { return (float8)(name(x.lo, y.lo), name(x.hi, y.hi)); }      \
    OCCUPIPE_BUILTIN float16 name(float16 x, float16 y) { return (float16)(name(x.lo, y.lo), name(x.hi, y.hi)); }

OCCUPIPE_BUILTIN float occupipe_sin(float x) { return __nvvm_sin_approx_f(x); }
OCCUPIPE_BUILTIN float occupipe_cos(float x) { return __nvvm_cos_approx_f(x); }
OCCUPIPE_BUILTIN float occupipe_recip(float x) { return __nvvm_rcp_approx_ftz_f(x); }
OCCUPIPE_BUILTIN float occupipe_divide(float x, float y) { return __nvvm_div_approx_f(x, y); }
OCCUPIPE_BUILTIN float occupipe_tan(float x) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)); }
OCCUPIPE_BUILTIN float occupipe_exp2(float x) { return __nvvm_ex2_approx_f(x); }
OCCUPIPE_BUILTIN float occupipe_exp(float x) { return __nvvm_ex2_approx_f(x * M_LOG2E_F); }
OCCUPIPE_BUILTIN float occupipe_exp10(float x) { return __nvvm_ex2_approx_f(x * 3.3219280948873623f); }
OCCUPIPE_BUILTIN float occupipe_log2(float x) { return __nvvm_lg2_approx_f(x); }
OCCUPIPE_BUILTIN float occupipe_log(float x) { return __nvvm_lg2_approx_f(x) * M_LN2_F; }
OCCUPIPE_BUILTIN float occupipe_log10(float x) { return __nvvm_lg2_approx_f(x) * 0.30102999566398120f; }
OCCUPIPE_BUILTIN float occupipe_powr(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
OCCUPIPE_BUILTIN float occupipe_sqrt(float x) { return __nvvm_sqrt_approx_f(x); }
OCCUPIPE_BUILTIN float occupipe_rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
OCCUPIPE_WIDER_1(occupipe_sin)
OCCUPIPE_WIDER_1(occupipe_cos)
OCCUPIPE_WIDER_1(occupipe_recip)
OCCUPIPE_WIDER_2(occupipe_divide)
OCCUPIPE_WIDER_1(occupipe_tan)
OCCUPIPE_WIDER_1(occupipe_exp2)
OCCUPIPE_WIDER_1(occupipe_exp)
OCCUPIPE_WIDER_1(occupipe_exp10)
OCCUPIPE_WIDER_1(occupipe_log2)
OCCUPIPE_WIDER_1(occupipe_log)
OCCUPIPE_WIDER_1(occupipe_log10)
OCCUPIPE_WIDER_2(occupipe_powr)
OCCUPIPE_WIDER_1(occupipe_sqrt)
OCCUPIPE_WIDER_1(occupipe_rsqrt)
#ifdef cl_khr_fp64
OCCUPIPE_BUILTIN double occupipe_rsqrt(double x) { return 1.0 / sqrt(x); }
OCCUPIPE_BUILTIN double2 occupipe_rsqrt(double2 x) { return 1.0 / sqrt(x); }
OCCUPIPE_BUILTIN double3 occupipe_rsqrt(double3 x) { return 1.0 / sqrt(x); }
OCCUPIPE_BUILTIN double4 occupipe_rsqrt(double4 x) { return 1.0 / sqrt(x); }
#endif
#define native_sin occupipe_sin
#define native_cos occupipe_cos
#define native_tan occupipe_tan
#define native_exp2 occupipe_exp2
#define native_exp occupipe_exp
#define native_exp10 occupipe_exp10
#define native_log2 occupipe_log2
#define native_log occupipe_log
#define native_log10 occupipe_log10
#define native_powr occupipe_powr
#define native_recip occupipe_recip
#define native_divide occupipe_divide
#define native_sqrt occupipe_sqrt
#define native_rsqrt occupipe_rsqrt
#define rsqrt occupipe_rsqrt
#define half_rsqrt occupipe_rsqrt
#define half_recip occupipe_recip
#define half_divide occupipe_divide
#define half_sqrt occupipe_sqrt
#define mad_hi(a, b, c) (mul_hi((a), (b)) + (c))
#define get_global_offset(dimension) ((size_t)0)

// SPDX-License-Identifier: MIT
// One text for CUDA and for OpenCL C: what the two call differently.
//
//   KERNEL(64, 1, 1) scale(GLOBAL float* x, float by, int n ROOM) {
//       const int i = GLOBAL_X;
//       if (i < n) x[i] = x[i] * by;
//   }
//
// A kernel says its group's shape. It ends its parameters with ROOM: OpenCL has no other way to
// give a group dynamic shared memory, which is how the number of groups on a core is limited; in
// CUDA there is nothing to write. Sums are rounded after every operation (CUDA: -fmad=false); where
// a product and a sum are one operation the text says FMA.
#pragma once

#ifdef __OPENCL_VERSION__

#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define KERNEL(x, y, z) __kernel __attribute__((reqd_work_group_size(x, y, z))) void
#define ROOM , __local char* room
#define GLOBAL __global
#define SHARED __local
#define SHARED_POINTER __local
#define DEVICE static inline
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_4 _Pragma("unroll 4")
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define LOCAL_X ((int)get_local_id(0))
#define LOCAL_Y ((int)get_local_id(1))
#define GROUP_X ((int)get_group_id(0))
#define GROUP_Y ((int)get_group_id(1))
#define GROUPS_X ((int)get_num_groups(0))
#define GROUP_SIZE_X ((int)get_local_size(0))
#define GROUP_SIZE_Y ((int)get_local_size(1))
#define FMA(a, b, c) fma(a, b, c)
#define SQRT(x) sqrt(x)
#define EXP(x) exp(x)
#define ABS(x) fabs(x)
#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)
#define FLOAT2(x, y) ((float2)(x, y))
#define FLOAT4(x, y, z, w) ((float4)(x, y, z, w))
#define LOCAL_ADD(p, v) atomic_add(p, v)
#define GLOBAL_ADD(p, v) atomic_add(p, v)

#else

#define KERNEL(x, y, z) extern "C" __global__ void __launch_bounds__((x) * (y) * (z))
#define ROOM
#define GLOBAL
#define SHARED __shared__
#define SHARED_POINTER
#define DEVICE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_4 _Pragma("unroll 4")
#define BARRIER() __syncthreads()
#define LOCAL_X ((int)threadIdx.x)
#define LOCAL_Y ((int)threadIdx.y)
#define GROUP_X ((int)blockIdx.x)
#define GROUP_Y ((int)blockIdx.y)
#define GROUPS_X ((int)gridDim.x)
#define GROUP_SIZE_X ((int)blockDim.x)
#define GROUP_SIZE_Y ((int)blockDim.y)
#define FMA(a, b, c) fma(a, b, c)
#define SQRT(x) sqrt(x)
#define EXP(x) exp(x)
#define ABS(x) fabs(x)
#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)
#define FLOAT2(x, y) make_float2(x, y)
#define FLOAT4(x, y, z, w) make_float4(x, y, z, w)
#define LOCAL_ADD(p, v) atomicAdd(p, v)
#define GLOBAL_ADD(p, v) atomicAdd(p, v)

#endif

#define GLOBAL_X (GROUP_X * GROUP_SIZE_X + LOCAL_X)
#define GLOBAL_Y (GROUP_Y * GROUP_SIZE_Y + LOCAL_Y)

// SPDX-License-Identifier: MIT
// A 7-point stencil on a block of points, planes of 16×16 with their rim in shared memory: the next plane is
// on its way by asynchronous copies (sm_80 on; otherwise through registers) while one is worked on.
#include "portable.h"

#define SIDE 16
#define WIDE 18

DEVICE void copy_word(SHARED_POINTER float* to, GLOBAL const float* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#else
    *to = *from;
#endif
}

// All planes of nx×ny points, a rim of one point around everything; nx and ny are multiples of 16 plus 2.
KERNEL(16, 16, 1) stencil7(GLOBAL const float* in, GLOBAL float* out, int nx, int ny, int nz, float c0, float c1 ROOM) {
    SHARED float plane[2][WIDE][WIDE];
    const int tx = LOCAL_X, ty = LOCAL_Y, t = ty * SIDE + tx;
    const int x0 = GROUP_X * SIDE, y0 = GROUP_Y * SIDE;
    const int at = (y0 + ty + 1) * nx + x0 + tx + 1, layer = nx * ny;
    float below = in[at], above = 0;
    for (int i = t; i < WIDE * WIDE; i += SIDE * SIDE)
        copy_word(&plane[1][i / WIDE][i % WIDE], in + layer + (y0 + i / WIDE) * nx + x0 + i % WIDE);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
    for (int z = 1; z < nz - 1; ++z) {
        const int now = z & 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
        BARRIER();
        for (int i = t; i < WIDE * WIDE; i += SIDE * SIDE)
            copy_word(&plane[now ^ 1][i / WIDE][i % WIDE], in + (z + 1) * layer + (y0 + i / WIDE) * nx + x0 + i % WIDE);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        asm volatile("cp.async.commit_group;" ::: "memory");
#endif
        above = in[at + (z + 1) * layer];
        const float here = plane[now][ty + 1][tx + 1];
        const float sum = ((plane[now][ty + 1][tx] + plane[now][ty + 1][tx + 2]) + (plane[now][ty][tx + 1] + plane[now][ty + 2][tx + 1])) +
                          (below + above);
        out[at + z * layer] = FMA(c1, sum, c0 * here);
        below = here;
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
}

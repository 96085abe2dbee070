// SPDX-License-Identifier: MIT
// Matrix instructions of a warp and copies that go on beside it.

extern "C" __global__ void multiply_half(float* out, const unsigned* a, const unsigned* b) {
    const int t = threadIdx.x;
    float c[4] = {0, 1, 2, 3};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[t]), "r"(a[t + 32]), "r"(b[t]));
    unsigned h[2] = {a[t + 64], a[t + 96]};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3},{%4},{%0,%1};"
                 : "+r"(h[0]), "+r"(h[1]) : "r"(a[t]), "r"(a[t + 32]), "r"(b[t]));
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[t]), "r"(a[t + 32]), "r"(a[t + 64]), "r"(a[t + 96]), "r"(b[t]), "r"(b[t + 32]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[t]), "r"(a[t + 32]), "r"(a[t + 64]), "r"(a[t + 96]), "r"(b[t]), "r"(b[t + 32]));
    double d[2] = {1, 2};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                 : "+d"(d[0]), "+d"(d[1]) : "d"((double)c[0]), "d"((double)c[1]));
    c[2] += (float)d[0] + (float)d[1];
#endif
    for (int i = 0; i < 4; ++i) out[4 * t + i] = c[i] + __int_as_float(h[i & 1]);
}

extern "C" __global__ void multiply_bytes(int* out, const unsigned* a, const unsigned* b) {
    const int t = threadIdx.x;
    int c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0,%1},{%2},{%3},{%0,%1};"
                 : "+r"(c[0]), "+r"(c[1]) : "r"(a[t]), "r"(b[t]));
    unsigned m[4];
    __shared__ unsigned tile[128];
    tile[t] = a[t];
    tile[t + 32] = b[t];
    tile[t + 64] = 0;
    tile[t + 96] = c[0];
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"((unsigned)__cvta_generic_to_shared(tile + 4 * t)));
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3]), "r"(b[t]), "r"(b[t + 32]));
#endif
    for (int i = 0; i < 4; ++i) out[4 * t + i] = c[i] + (int)m[i];
}

extern "C" __global__ void copies(float* out, const float* in, int n) {
    __shared__ __align__(16) float stage[2][256];
    const int t = threadIdx.x;
    float sum = 0;
#if __CUDA_ARCH__ >= 800
    const unsigned to = (unsigned)__cvta_generic_to_shared(&stage[0][t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" ::"r"(to), "l"(in + t));
    for (int i = 1; i < n; ++i) {
        const unsigned next = (unsigned)__cvta_generic_to_shared(&stage[i & 1][4 * (t & 63)]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group;" ::"r"(next),
                     "l"(in + i * 256 + 4 * (t & 63)));
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        sum += stage[(i - 1) & 1][t];
        __syncthreads();
    }
    asm volatile("cp.async.wait_all;");
#else
    stage[0][t] = in[t];
#endif
    __syncthreads();
    out[t] = sum + stage[(n - 1) & 1][t];
}

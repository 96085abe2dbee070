// SPDX-License-Identifier: MIT
// Threads that go different ways, speak to each other and meet again.

extern "C" __global__ void collectives(unsigned* out, const unsigned* in, int lane) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned a = in[t], all = 0xffffffffu;
    unsigned r = __ballot_sync(all, a & 1);
    r += __any_sync(all, a > 5) + 2 * __all_sync(all, a > 1) + __activemask();
    r ^= __shfl_sync(all, a, lane) + __shfl_up_sync(all, a, 3) + __shfl_xor_sync(all, a, 5, 8);
    r += __shfl_sync(all, a, a & 31);
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 7; vote.sync.uni.pred p, p, 0xffffffff; selp.u32 %0, %0, 9, p; }" : "+r"(r) : "r"(a));
    unsigned long long w = ((unsigned long long)a << 32) | t;
    w = __shfl_down_sync(all, w, 1);
    r += (unsigned)(w >> 32);
#if __CUDA_ARCH__ >= 700
    r ^= __match_any_sync(all, a & 7);
    int uniform;
    r += __match_all_sync(all, a, &uniform) + uniform;
#endif
#if __CUDA_ARCH__ >= 800
    r += __reduce_add_sync(all, a) + __reduce_max_sync(all, (int)a) + __reduce_xor_sync(all, a);
    r += __reduce_min_sync(all, a) + __reduce_and_sync(all, a) + __reduce_or_sync(all, a);
#endif
    unsigned low;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(low));
    out[t] = r + __popc(low);
}

extern "C" __global__ void divergence(int* out, const int* in, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    int a = in[t], steps = 0;
    while (a != 1 && steps < n) {
        if (a & 1) {
            a = 3 * a + 1;
        } else {
            a >>= 1;
        }
        if (a == 17) break;
        ++steps;
    }
    switch (in[t] & 15) {
        case 0: steps += 5; break;
        case 1: steps *= a; break;
        case 2: steps -= t; break;
        case 3: steps ^= 0x77; break;
        case 4: steps = in[steps & 31]; break;
        case 5: steps = steps / (a | 1); break;
        case 6: steps = -steps; break;
        case 7: __syncwarp(__activemask()); steps += 4; break;
        case 9: steps = __popc(steps); break;
        case 10: return;
        case 11: steps <<= 3; break;
        default: steps += 1;
    }
    out[t] = steps;
}

struct Node {
    float value;
    int left, right;
};

__device__ __noinline__ float walk(const Node* tree, int root, float x, int* depth) {
    int at = root;
    float sum = 0;
    while (at >= 0) {
        sum += tree[at].value;
        at = x < tree[at].value ? tree[at].left : tree[at].right;
        ++*depth;
    }
    return sum / x;
}

extern "C" __global__ void calls(float* out, const Node* tree, const float* x, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int depth = 0;
    float r = walk(tree, 0, x[t], &depth);
    if (depth & 1) r += walk(tree, t & 3, x[t] + 1.0f, &depth);
    out[t] = r + (float)depth;
}

extern "C" __global__ void local_arrays(int* out, const int* in, int n) {
    int table[64];
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 64; ++i) table[i] = in[(t + i) & 255];
    for (int i = 0; i < n; ++i) table[table[i & 63] & 63] += i;
    short small[16];
    for (int i = 0; i < 16; ++i) small[(i * t) & 15] = (short)table[i];
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum = sum * 31 + table[(i + t) & 63] + small[i & 15];
    out[t] = sum;
}

extern "C" __global__ void atomics(int* i32, unsigned* u32, unsigned long long* u64, float* f32,
                                   double* f64, int n) {
    __shared__ int s[32];
    __shared__ unsigned long long w[4];
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 32) s[threadIdx.x] = 0;
    if (threadIdx.x < 4) w[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[t & 31], t);
    atomicMax(&s[(t + 1) & 31], t);
    atomicXor(&s[(t + 2) & 31], t);
    atomicCAS(&s[(t + 3) & 31], 0, t);
    atomicExch(&s[(t + 4) & 31], t);
    atomicAdd(&w[t & 3], (unsigned long long)t);
    atomicInc((unsigned*)&s[5], 7u);
    __syncthreads();
    const int old = atomicAdd(&i32[t & 7], s[t & 31]);
    atomicMin(&i32[8 + (t & 7)], old);
    atomicAnd(&u32[0], ~(1u << (t & 31)));
    atomicOr(&u32[1], 1u << (t & 31));
    atomicInc(&u32[2], (unsigned)n);
    atomicDec(&u32[3], (unsigned)n);
    u32[4 + t] = atomicCAS(&u32[3], 1u, 2u) + atomicExch(&u32[2], 7u);
    atomicAdd(&u64[0], w[t & 3]);
    atomicMax(&u64[1], (unsigned long long)t * n);
    u64[2 + t] = atomicCAS(&u64[1], 3ull, 4ull);
    atomicAdd(&f32[t & 3], 1.0f);
    f32[4 + t] = atomicAdd(&f32[0], 0.5f);
    atomicAdd(&f64[t & 3], 0.25);
    f64[4 + t] = atomicExch((unsigned long long*)&f64[0], 5ull);
    __threadfence();
    if (t == 0) __threadfence_system();
    __threadfence_block();
}

extern "C" __global__ void generic_pointers(int* out, int* in, int choose) {
    __shared__ int s[64];
    int l[4] = {1, 2, 3, choose};
    const int t = threadIdx.x;
    s[t & 63] = in[t];
    __syncthreads();
    int* p = choose == 0 ? &s[t & 63] : choose == 1 ? &in[t] : &l[t & 3];
    int r = *p;
    *p = r + 1;
    atomicAdd(p, 3);
    __syncthreads();
    const long long v = *(volatile long long*)(in + 2 * t);
    const int4 q = *(const int4*)(in + 4 * t);
    *(short*)(out + 3 * t) = (short)q.x;
    *(signed char*)(out + 4 * t + 1) = (signed char)q.y;
    out[t] = r + s[t & 63] + l[t & 3] + (int)v + q.x + q.w + __ldg(in + t) +
             *(const short*)(in + t) + *((const unsigned char*)in + t) + *((const signed char*)in + 3 * t);
    asm volatile("st.global.cs.u32 [%0], %1; prefetch.global.L2 [%0];" ::"l"(out + t), "r"(r));
    unsigned c;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(c) : "l"(in + t));
    asm volatile("ld.global.acquire.gpu.u32 %0, [%1];" : "+r"(c) : "l"(in + t));
    asm volatile("st.global.release.sys.u32 [%0], %1;" ::"l"(out + t), "r"(c));
    asm volatile("bar.sync 3, 64; bar.arrive 4, 96;");
    if (__syncthreads_or(r) + __syncthreads_count(c)) out[0] = (int)clock();
    if (t == 77) __nanosleep(100);
    if (t == 78) __trap();
}

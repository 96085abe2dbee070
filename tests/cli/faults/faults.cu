// SPDX-License-Identifier: MIT
// Kernels that do something wrong, for tests/cli/execute_refusals_test.cpp; faults.cubin is this
// text compiled for sm_90 with line numbers (tools/record_faults.sh).
extern "C" {

__constant__ float weights[3];

__global__ void saxpy(const float* x, float* y, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + weights[0] + y[i];
}

__global__ void reads_outside(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + n];
}

__global__ void writes_outside(float* y, int n) {
    y[threadIdx.x * n] = 1;
}

__global__ void adds_outside(int* y, int n) {
    atomicAdd(&y[threadIdx.x + n], 1);
}

__global__ void misaligned(const char* x, float* y) {
    y[threadIdx.x] = *(const float*)(x + threadIdx.x);
}

__global__ void shared_outside(float* y, int n) {
    extern __shared__ float tile[];
    tile[threadIdx.x * n] = 1;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}

__global__ void spins(volatile int* flag, int* y) {
    while (*flag == 0) {
    }
    y[0] = 1;
}

// The first group waits for the second, which begins only when the first has ended.
__global__ void waits_for_later_group(volatile int* flag) {
    if (blockIdx.x == 0) {
        while (*flag == 0) {
        }
    } else {
        *flag = 1;
    }
}

__global__ void never_ends(int* y) {
    for (unsigned i = 0;; ++i) y[i % 32] = i;
}

__global__ void half_at_barrier(int* y) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
    y[threadIdx.x] = 1;
}

__global__ void different_barriers(int* y) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;");
    } else {
        asm volatile("bar.sync 2, 64;");
    }
    y[threadIdx.x] = 1;
}

__global__ void traps(int* y, int n) {
    if (n > 3) __trap();
    y[threadIdx.x] = n;
}

__global__ void clusters(int* y) {
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;");
    y[threadIdx.x] = 1;
}

__global__ void holds_much_shared(float* y) {
    __shared__ float tile[10000];
    for (int i = threadIdx.x; i < 10000; i += blockDim.x) tile[i] = i;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x * 7];
}

struct Pair {
    float* at;
    int n;
};

__global__ void takes_struct(Pair pair) {
    pair.at[threadIdx.x] = pair.n;
}

__global__ void needs_registers(const float* x, float* y) {
    float sums[80];
#pragma unroll
    for (int i = 0; i < 80; ++i) sums[i] = x[i * 32 + threadIdx.x];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 80; ++i) sums[i] = sums[i] * sums[(i + 7) % 80] + x[k];
    }
#pragma unroll
    for (int i = 0; i < 80; ++i) y[i * 32 + threadIdx.x] = sums[i];
}

__global__ void prints(int* y, int n) {
    if (n > 3) printf("%d\n", n);
    y[threadIdx.x] = n;
}

__global__ void allocates(int* y, int n) {
    int* const there = n > 3 ? (int*)malloc(64) : y;
    there[threadIdx.x] = n;
}

__device__ int histogram[16];
__device__ int sums[8];

__global__ void counts(int n) {
    histogram[threadIdx.x * n] = 1;
    sums[threadIdx.x % 8] = n;
}

// Pointers to shared memory as OpenCL's __local arguments are compiled. out[i] = 10 i + j of the
// threads i and j that wrote to the two.
__global__ void takes_local(unsigned long long first, unsigned long long second, int* out) {
    const int i = threadIdx.x, j = blockDim.x - 1 - i;
    asm volatile("st.shared.s32 [%0], %1;" : : "l"(first + 4 * i), "r"(10 * i) : "memory");
    asm volatile("st.shared.s32 [%0], %1;" : : "l"(second + 4 * i), "r"(i) : "memory");
    __syncthreads();
    int a, b;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(a) : "l"(first + 4 * i) : "memory");
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(b) : "l"(second + 4 * j) : "memory");
    out[i] = a + b;
}

// The same without volatile: a barrier makes the compiler read again.
__global__ void waits_at_barriers(int* flag) {
    if (blockIdx.x == 0) {
        while (flag[0] == 0) __syncthreads();
    } else {
        flag[0] = 1;
    }
}

__global__ void prints_much(const double* x, int n) {
    printf("%5d|%-5u|%#x|%08.3f|%e|%g|%c|%s|%lld|%llX|%hd|%hhu|%+i|%o%%\n", -n, 7u, 255, x[threadIdx.x], x[1], 0.5, 'z',
           n > 3 ? "many" : "few", -5000000000LL, 0xfedcba987ULL, n + 65536, n + 256, n, n);
    const int words = printf("group %d of %u\n", blockIdx.x, gridDim.x);
    if (words != 2) printf("wrong\n");
}

// A barrier of the grid that one group never comes to: it writes and ends.
__global__ void leaves_the_grid(unsigned* out) {
    if (blockIdx.x == 2) {
        out[2] = 7;
        return;
    }
    unsigned high, low, before, now;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    unsigned* const barrier = reinterpret_cast<unsigned*>((static_cast<unsigned long long>(high) << 32 | low) + 4u);
    asm volatile("barrier.sync 0;" ::: "memory");
    if (threadIdx.x == 0) {
        before = atomicAdd(barrier, blockIdx.x == 0 ? 0x80000001u - gridDim.x : 1u);
        do {
            now = *reinterpret_cast<volatile unsigned*>(barrier);
        } while (((before ^ now) & 0x80000000u) == 0u);
    }
    out[blockIdx.x] = 1;
}

}

// SPDX-License-Identifier: MIT
// Barriers in shared memory (PTX, mbarrier) in place of __syncthreads: threads that arrive and wait for the phase to end, two
// barriers between producers and consumers, a thread that leaves. Turing and the host have the barriers of the group alone.

typedef unsigned long long Barrier;

#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
#define IN_MEMORY 1
static __device__ __forceinline__ unsigned place(Barrier* b) { return (unsigned)__cvta_generic_to_shared(b); }
static __device__ __forceinline__ void begin(Barrier* b, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
static __device__ __forceinline__ unsigned long long arrive(Barrier* b) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(place(b)) : "memory");
    return state;
}
static __device__ __forceinline__ void arrive_and_drop(Barrier* b) {
    unsigned long long state;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(place(b)) : "memory");
}
static __device__ __forceinline__ void wait(Barrier* b, unsigned long long state) {
    unsigned done;
    do {
        asm volatile("{.reg .pred p;\n mbarrier.test_wait.shared.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(place(b)), "l"(state)
                     : "memory");
    } while (!done);
}
static __device__ __forceinline__ unsigned pending(unsigned long long state) {
    unsigned count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}
#endif

// Three rounds: every thread adds what its neighbour had, and the last value of the round before.
extern "C" __global__ void rounds(const unsigned* in, unsigned* out) {
    __shared__ unsigned values[96];
    const unsigned me = threadIdx.x, at = blockIdx.x * blockDim.x + me;
    unsigned value = in[at];
#ifdef IN_MEMORY
    __shared__ Barrier barrier;
    if (me == 0) begin(&barrier, blockDim.x);
#endif
    __syncthreads();
    for (unsigned round = 1; round <= 3; ++round) {
        values[me] = value;
#ifdef IN_MEMORY
        wait(&barrier, arrive(&barrier));
#else
        __syncthreads();
#endif
        value += values[(me + 37 * round) % 96] * round;
#ifdef IN_MEMORY
        wait(&barrier, arrive(&barrier));
#else
        __syncthreads();
#endif
    }
    out[at] = value;
}

// The upper warps fill a buffer that the lower ones empty, eight times; each side waits for the other.
extern "C" __global__ void exchange(const unsigned* in, unsigned* out) {
    __shared__ unsigned buffer[32];
    const unsigned me = threadIdx.x;
    const bool fills = me >= 32;
    unsigned sum = 0;
#ifdef IN_MEMORY
    __shared__ Barrier full, empty;
    if (me == 0) begin(&full, 64), begin(&empty, 64);
    __syncthreads();
    for (unsigned round = 0; round < 8; ++round) {
        if (fills) buffer[me - 32] = in[round * 32 + me - 32];
        if (fills) {
            arrive(&full);
            wait(&empty, arrive(&empty));
        } else {
            wait(&full, arrive(&full));
            sum = sum * 3 + buffer[31 - me];
            arrive(&empty);
        }
    }
#else
    for (unsigned round = 0; round < 8; ++round) {
        if (fills) buffer[me - 32] = in[round * 32 + me - 32];
        __syncthreads();
        if (!fills) sum = sum * 3 + buffer[31 - me];
        __syncthreads();
    }
#endif
    if (!fills) out[me] = sum;
}

// Threads leave one after the other: 64 in the first phase, 48, 32 and 16 in the next ones. How many are missing when the
// first thread of each phase arrives, and what the others wrote by then.
extern "C" __global__ void leavers(const unsigned* in, unsigned* out) {
    __shared__ unsigned values[64];
    const unsigned me = threadIdx.x;
    values[me] = in[me];
#ifdef IN_MEMORY
    __shared__ Barrier barrier;
    if (me == 0) begin(&barrier, 64);
    __syncthreads();
    for (unsigned phase = 0; phase < 4; ++phase) {
        if (me >= 48 - 16 * phase) {
            values[me] += phase;
            arrive_and_drop(&barrier);
            return;
        }
        const unsigned long long state = arrive(&barrier);
        const unsigned missing = pending(state);
        wait(&barrier, state);
        if (missing == 0 || missing > 64 - 16 * phase) out[0] = 0xffffffff;
        if (me == 0) out[1 + phase] = values[63 - 16 * phase] + values[48 - 16 * phase];
    }
#else
    __syncthreads();
    const unsigned mine = (63 - me) / 16;
    values[me] += mine;
    __syncthreads();
    if (me < 4 && me < 3) out[1 + me] = values[63 - 16 * me] + values[48 - 16 * me];
#endif
}

// Eight teams of one to eight threads, each with a barrier of its own that another thread sets up: their addresses and
// counts differ from lane to lane.
extern "C" __global__ void teams(const unsigned* in, unsigned* out) {
    __shared__ unsigned values[64];
    const unsigned me = threadIdx.x;
    unsigned team = 0;
    while (team < 8 && (team + 1) * (team + 2) / 2 <= me) ++team;
    const unsigned first = team * (team + 1) / 2;
#ifdef IN_MEMORY
    __shared__ Barrier barriers[8];
    if (me < 8) begin(&barriers[me], me + 1);
#endif
    values[me] = in[me];
    __syncthreads();
    unsigned sum = 0;
    for (unsigned round = 0; round < 3; ++round) {
        if (team < 8)
            for (unsigned i = 0; i <= team; ++i) sum = sum * 3 + values[first + (i + round) % (team + 1)];
#ifdef IN_MEMORY
        if (team < 8) wait(&barriers[team], arrive(&barriers[team]));
#else
        __syncthreads();
#endif
        values[me] = sum ^ me;
#ifdef IN_MEMORY
        if (team < 8) wait(&barriers[team], arrive(&barriers[team]));
#else
        __syncthreads();
#endif
    }
    out[me] = sum;
}

// SPDX-License-Identifier: MIT
// Second hand. Locks: what they guard is not atomic, and lanes of one warp wait for one another, which needs threads of a warp
// to progress independently (compute capability 7.0 and later). What the sections do commutes, so that the order of entry
// leaves no trace. try_lock: the lock is tried in a loop that does the work inside; plain_lock: a spin before the section;
// ticket_lock: tickets served in their order; mailbox: half a warp waits for flags that the other half sets.

struct Account {
    unsigned total;
    unsigned lowest;
    unsigned long long squares;
    unsigned entries;
    int lock;
    unsigned ticket, serving;
};

static __device__ void section(volatile Account* a, unsigned v) {
    a->total = a->total + v;
    if (v < a->lowest)
        a->lowest = v;
    a->squares = a->squares + static_cast<unsigned long long>(v) * v;
    a->entries = a->entries + 1u;
}

extern "C" __global__ void open_accounts(Account* accounts, int count) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < count) {
        const Account fresh = {0u, 0xffffffffu, 0ULL, 0u, 0, 0u, 0u};
        accounts[t] = fresh;
    }
}

extern "C" __global__ void try_lock(const unsigned* in, Account* accounts, int count) {
    const unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
    Account* a = accounts + v % static_cast<unsigned>(count);
    bool done = false;
    while (!done) {
        if (atomicCAS(&a->lock, 0, 1) == 0) {
            __threadfence();
            section(a, v >> 8);
            __threadfence();
            atomicExch(&a->lock, 0);
            done = true;
        }
    }
}

extern "C" __global__ void plain_lock(const unsigned* in, Account* accounts, int count) {
    const unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
    Account* a = accounts + v % static_cast<unsigned>(count);
    while (atomicCAS(&a->lock, 0, 1) != 0) {
    }
    __threadfence();
    section(a, v >> 8);
    __threadfence();
    atomicExch(&a->lock, 0);
}

extern "C" __global__ void ticket_lock(const unsigned* in, Account* accounts, int count) {
    const unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
    Account* a = accounts + v % static_cast<unsigned>(count);
    const unsigned mine = atomicAdd(&a->ticket, 1u);
    while (atomicAdd(&a->serving, 0u) != mine) {
    }
    __threadfence();
    section(a, v >> 8);
    __threadfence();
    atomicAdd(&a->serving, 1u);
}

extern "C" __global__ void mailbox(const unsigned* in, unsigned* out, int rounds) {
    __shared__ unsigned letter[16], sent[16], taken[16];
    const unsigned lane = threadIdx.x;
    if (lane < 16u)
        sent[lane] = taken[lane] = 0u;
    __syncwarp();
    const unsigned base = blockIdx.x * 32u;
    unsigned v = in[base + lane];
    if (lane < 16u) {
        for (int r = 1; r <= rounds; ++r) {
            v = v * 69069u + 1u;
            while (atomicAdd(&taken[lane], 0u) != static_cast<unsigned>(r - 1)) {
            }
            atomicExch(&letter[lane], v);
            __threadfence_block();
            atomicExch(&sent[lane], static_cast<unsigned>(r));
        }
    } else {
        const unsigned box = 31u - lane;
        for (int r = 1; r <= rounds; ++r) {
            while (atomicAdd(&sent[box], 0u) != static_cast<unsigned>(r)) {
            }
            __threadfence_block();
            v = (v << 5 | v >> 27) ^ atomicAdd(&letter[box], 0u);
            atomicExch(&taken[box], static_cast<unsigned>(r));
        }
    }
    __syncwarp();
    out[base + lane] = v;
}

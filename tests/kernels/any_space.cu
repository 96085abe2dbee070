// SPDX-License-Identifier: MIT
// Second hand. Pointers of which the compiler cannot know the space: chosen by data among shared memory, global memory, a local
// array and constant data, handed to functions that are not inlined, for words, bytes, vectors and atomics; kept in
// structures in local memory and, as numbers, in shared memory, where another thread of the block picks them up.

struct View {
    const unsigned* from;
    unsigned char* bytes;
    unsigned length;
};

__constant__ unsigned squares[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};
__device__ unsigned cubes[16] = {0, 1, 8, 27, 64, 125, 216, 343, 512, 729, 1000, 1331, 1728, 2197, 2744, 3375};

static __device__ __noinline__ unsigned fold(const unsigned* p, unsigned n, unsigned stride) {
    unsigned h = 17u;
    for (unsigned i = 0; i < n; ++i)
        h = h * 31u + p[(i * stride) % n];
    return h;
}

static __device__ __noinline__ void scatter(unsigned char* p, unsigned n, unsigned seed) {
    for (unsigned i = 0; i < n; ++i) {
        const unsigned j = (seed + i * 7u) % n;
        p[j] = static_cast<unsigned char>(p[j] + (seed >> (i & 15u)));
    }
}

static __device__ __noinline__ View describe(const unsigned* from, unsigned char* bytes, unsigned length) {
    View v;
    v.from = from;
    v.bytes = bytes;
    v.length = length;
    return v;
}

extern "C" __global__ void any_space(const unsigned* in, unsigned* out, unsigned char* scratch, unsigned* tally) {
    __shared__ unsigned table[16];
    __shared__ unsigned long long address[128];
    __shared__ __align__(16) unsigned char shared_bytes[128 * 16];
    __shared__ unsigned count[4];
    const unsigned t = threadIdx.x, me = blockIdx.x * blockDim.x + t;
    __align__(16) unsigned own[16];
    __align__(16) unsigned char own_bytes[16];
    for (unsigned i = 0; i < 16u; ++i) {
        own[i] = in[me] >> i;
        own_bytes[i] = static_cast<unsigned char>(i * 3u + t);
        shared_bytes[t * 16u + i] = static_cast<unsigned char>(i ^ t);
        scratch[me * 16u + i] = static_cast<unsigned char>(i + me);
    }
    if (t < 16u)
        table[t] = in[blockIdx.x * blockDim.x + t] ^ 0x55u;
    if (t < 4u)
        count[t] = 0u;
    __syncthreads();
    const unsigned v = in[me], pick = v >> 30, pick_bytes = (v >> 20) % 3u;
    const unsigned* const sources[4] = {table, own, squares, cubes};
    unsigned char* bytes = pick_bytes == 0u ? own_bytes : pick_bytes == 1u ? shared_bytes + t * 16u : scratch + me * 16u;
    const View view = describe(sources[pick], bytes, 16u);
    unsigned h = fold(view.from, view.length, v & 15u);
    scatter(view.bytes, view.length, v);
    // the 16 bytes as one vector, wherever they are
    const uint4 all = *reinterpret_cast<const uint4*>(view.bytes);
    h ^= all.x + all.y * 3u + all.z * 5u + all.w * 7u;
    // atomics through pointers to shared or global counters
    unsigned* counter = (v & 0x100u) != 0u ? &count[pick] : &tally[pick];
    atomicAdd(counter, v & 0xffu);
    // an address for a neighbour: of shared or global memory, never of the own stack
    const unsigned char* shown = (v & 1u) != 0u ? shared_bytes + t * 16u : scratch + me * 16u;
    address[t] = reinterpret_cast<unsigned long long>(shown);
    __syncthreads();
    const unsigned char* theirs = reinterpret_cast<const unsigned char*>(address[(t * 5u + 3u) % blockDim.x]);
    for (int i = 0; i < 16; i += 5)
        h = h * 257u + theirs[i];
    out[me] = h;
    __syncthreads();
    if (t < 4u)
        atomicAdd(&tally[4u + t], count[t]);
}

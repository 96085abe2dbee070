// SPDX-License-Identifier: MIT
// Second hand. Groups of threads as objects, in the manner of cooperative groups, whose header a translation unit without
// a host compiler does not always find: partitions of 4, 8, 16 and 32 lanes, groups of the lanes that came to a place,
// and a partition by label; the collectives are members with the width as a template argument.

namespace groups {

template <unsigned Width>
class Tile {
    static_assert(Width != 0u && Width <= 32u && (Width & (Width - 1u)) == 0u, "a tile is a power of two of lanes");
    unsigned lane_, mask_;

public:
    __device__ Tile() : lane_(threadIdx.x & 31u), mask_(Width == 32u ? 0xffffffffu : ((1u << (Width & 31u)) - 1u) << (lane_ & ~(Width - 1u))) {}
    __device__ unsigned rank() const { return lane_ & (Width - 1u); }
    __device__ static constexpr unsigned size() { return Width; }
    __device__ unsigned meta_rank() const { return threadIdx.x / Width; }
    __device__ void sync() const { __syncwarp(mask_); }
    template <class T>
    __device__ T shfl(T v, unsigned from) const {
        return __shfl_sync(mask_, v, static_cast<int>(from), static_cast<int>(Width));
    }
    template <class T>
    __device__ T shfl_down(T v, unsigned by) const {
        return __shfl_down_sync(mask_, v, by, static_cast<int>(Width));
    }
    template <class T>
    __device__ T shfl_xor(T v, int by) const {
        return __shfl_xor_sync(mask_, v, by, static_cast<int>(Width));
    }
    __device__ bool any(bool p) const { return __any_sync(mask_, p ? 1 : 0) != 0; }
    __device__ bool all(bool p) const { return __all_sync(mask_, p ? 1 : 0) != 0; }
    __device__ unsigned ballot(bool p) const { return (__ballot_sync(mask_, p ? 1 : 0) & mask_) >> (lane_ & ~(Width - 1u)); }
    template <class T, class F>
    __device__ T reduce(T v, F f) const {
        for (unsigned d = Width / 2u; d > 0u; d /= 2u)
            v = f(v, shfl_xor(v, static_cast<int>(d)));
        return v;
    }
    template <class T>
    __device__ T exclusive(T v) const {
        T sum = v;
        for (unsigned d = 1u; d < Width; d *= 2u) {
            const T below = __shfl_up_sync(mask_, sum, d, static_cast<int>(Width));
            if (rank() >= d)
                sum += below;
        }
        return sum - v;
    }
};

class Labelled {
    unsigned mask_, lane_;

public:
    __device__ Labelled(unsigned among, unsigned label) : mask_(__match_any_sync(among, label)), lane_(threadIdx.x & 31u) {}
    __device__ unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
    __device__ unsigned rank() const { return static_cast<unsigned>(__popc(mask_ & ((1u << lane_) - 1u))); }
    template <class T>
    __device__ T first(T v) const {
        return __shfl_sync(mask_, v, __ffs(static_cast<int>(mask_)) - 1);
    }
    __device__ unsigned mask() const { return mask_; }
};

} // namespace groups

// One addition for all lanes of a label: the leader adds and hands the begin of the range to the others. The places that
// the ranges take depend on the order of the blocks; their sizes and what is summed do not.
static __device__ unsigned aggregated_add(unsigned* counter, const groups::Labelled& g) {
    unsigned begin = 0;
    if (g.rank() == 0u)
        begin = atomicAdd(counter, g.size());
    return g.first(begin) + g.rank();
}

template <unsigned Width>
static __device__ void tile_work(const long long* in, long long* out, unsigned* votes) {
    const groups::Tile<Width> tile;
    const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    const long long v = in[me] >> 20;
    const auto largest = [](long long a, long long b) { return a < b ? b : a; };
    const auto mixed = [](long long a, long long b) { return (a ^ b) + (a & b); };
    const long long top = tile.reduce(v, largest), strange = tile.reduce(v, mixed), before = tile.exclusive(v);
    const double mean = static_cast<double>(tile.reduce(v, [](long long a, long long b) { return a + b; })) / static_cast<double>(Width);
    const float spread = tile.shfl(static_cast<float>(static_cast<int>(v >> 16)), (tile.rank() * 3u + 1u) % Width);
    tile.sync();
    out[me] = top - strange * 3 + before * 5 + static_cast<long long>(mean) * 7 + static_cast<long long>(spread);
    const unsigned b = tile.ballot((v & 2) != 0);
    votes[me] = b << 2 | (tile.any(v % 9 == 0) ? 1u : 0u) | (tile.all((v & 7) != 5) ? 2u : 0u);
    if (tile.rank() + 1u == tile.size())
        votes[me] ^= tile.meta_rank() << 20;
}

extern "C" __global__ void tiles_of(const long long* in, long long* out, unsigned* votes, int width) {
    // the width is the same for a block, so that a switch chooses the instance
    switch (width) {
    case 4: tile_work<4>(in, out, votes); break;
    case 8: tile_work<8>(in, out, votes); break;
    case 16: tile_work<16>(in, out, votes); break;
    case 32: tile_work<32>(in, out, votes); break;
    default: break;
    }
}

extern "C" __global__ void labelled_groups(const unsigned* in, unsigned* counters, unsigned* sizes, unsigned* place_sum) {
    const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned v = in[me];
    unsigned total = 0;
    // only some lanes come here, a third of them or so; those that come form the group
    const bool comes = v % 3u != 1u;
    const unsigned those = __ballot_sync(0xffffffffu, comes);
    if (comes) {
        const groups::Labelled g(those, v >> 29);
        total = aggregated_add(counters + (v >> 29), g);
        sizes[me] = g.size() | g.rank() << 8 | static_cast<unsigned>(__popc(g.mask() & those)) << 16;
    } else {
        sizes[me] = 0x80000000u | static_cast<unsigned>(__popc(those));
    }
    __syncwarp();
    // the places given away are 0 … n-1 of every label: their sum is determined
    const groups::Tile<32> warp;
    const unsigned sum = warp.reduce(total, [](unsigned a, unsigned b) { return a + b; });
    if (warp.rank() == 0u)
        atomicAdd(place_sum, sum);
}

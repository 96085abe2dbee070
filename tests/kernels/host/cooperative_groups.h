// SPDX-License-Identifier: MIT
// The part of CUDA's header of this name that the kernels use: a group's threads, tiles of a warp.
#pragma once

#include <cstdint>

#include "tests/kernels/host/warp.h"

namespace cooperative_groups {

struct thread_block {
    void sync() const { __syncthreads(); }
    unsigned thread_rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    unsigned num_threads() const { return size(); }
    dim3 group_index() const { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
    dim3 thread_index() const { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
    dim3 group_dim() const { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned Size, typename Parent = void>
struct thread_block_tile {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0);

    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned thread_rank() const { return this_thread_block().thread_rank() % Size; }
    unsigned meta_group_rank() const { return this_thread_block().thread_rank() / Size; }
    unsigned meta_group_size() const { return (this_thread_block().size() + Size - 1) / Size; }
    void sync() const { __syncwarp(mask()); }
    template <typename T>
    T shfl(T value, int rank) const {
        return __shfl_sync(mask(), value, rank, Size);
    }
    template <typename T>
    T shfl_up(T value, unsigned by) const {
        return __shfl_up_sync(mask(), value, by, Size);
    }
    template <typename T>
    T shfl_down(T value, unsigned by) const {
        return __shfl_down_sync(mask(), value, by, Size);
    }
    template <typename T>
    T shfl_xor(T value, unsigned with) const {
        return __shfl_xor_sync(mask(), value, static_cast<int>(with), Size);
    }
    int any(int predicate) const { return __any_sync(mask(), predicate); }
    int all(int predicate) const { return __all_sync(mask(), predicate); }
    unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> first(); }
    template <typename T>
    unsigned match_any(T value) const {
        return __match_any_sync(mask(), value) >> first();
    }

private:
    static unsigned first() { return occupipe::test::host::lane_index() / Size * Size; }
    static unsigned mask() {
        return static_cast<unsigned>(((std::uint64_t{1} << Size) - 1) << first());
    }
};

template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}
inline void sync(const thread_block& group) { group.sync(); }

}  // namespace cooperative_groups

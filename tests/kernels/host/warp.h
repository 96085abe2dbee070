// SPDX-License-Identifier: MIT
// What the lanes of a warp, or the threads of a group, do together.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "tests/kernels/host/fibers.h"

constexpr int warpSize = 32;

inline void __syncthreads() { occupipe::test::host::barrier(0, 0, false); }
inline int __syncthreads_count(int predicate) {
    return static_cast<int>(occupipe::test::host::barrier(0, 0, predicate != 0).count);
}
inline int __syncthreads_and(int predicate) {
    const occupipe::test::host::Votes votes = occupipe::test::host::barrier(0, 0, predicate != 0);
    return votes.count == votes.all;
}
inline int __syncthreads_or(int predicate) {
    return occupipe::test::host::barrier(0, 0, predicate != 0).count > 0;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) { occupipe::test::host::let_others_run(); }

namespace occupipe::test::host {

inline bool in(std::uint32_t mask, unsigned lane) { return mask >> lane & 1; }

// The calling lane alone: CUDA promises no more than that it is among them.
inline std::uint32_t active_mask() { return 1u << lane_index(); }

template <typename T>
std::uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
template <typename T>
T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
}

inline void meet(Lane*, std::uint32_t, std::uint32_t) {}

// Calls use(lane, i) for each lane that is there.
template <typename Use>
void each(Lane* lanes, std::uint32_t present, Use use) {
    for (unsigned i = 0; i < 32; ++i) {
        if (in(present, i)) use(lanes[i], i);
    }
}

// A shuffle's parameter holds the width, and the lane, distance or mask asked for.
enum class Shuffle { index, up, down, exclusive_or };

template <Shuffle Kind>
void shuffle(Lane* lanes, std::uint32_t, std::uint32_t present) {
    each(lanes, present, [&](Lane& lane, unsigned i) {
        const unsigned width = lane.parameter >> 16, asked = lane.parameter & 0xffff;
        const unsigned first = i & ~(width - 1), end = first + width;
        unsigned from = i;
        if constexpr (Kind == Shuffle::index) {
            from = first + (asked & (width - 1));
        } else if constexpr (Kind == Shuffle::up) {
            if (i - first >= asked) from = i - asked;
        } else if constexpr (Kind == Shuffle::down) {
            if (i + asked < end) from = i + asked;
        } else {
            if ((i ^ asked) < end) from = i ^ asked;
        }
        if (!in(present, from))
            throw KernelFault("a shuffle reads lane " + std::to_string(from) +
                              ", which does not take part");
        lane.result = lanes[from].value;
    });
}

template <Shuffle Kind, typename T>
T shuffled(std::uint32_t mask, T value, unsigned asked, int width) {
    const auto parameter = static_cast<std::uint32_t>(width) << 16 | (asked & 0xffff);
    return from_bits<T>(exchange(mask, &shuffle<Kind>, to_bits(value), parameter).result);
}

inline void ballot(Lane* lanes, std::uint32_t, std::uint32_t present) {
    std::uint32_t votes = 0;
    each(lanes, present, [&](Lane& lane, unsigned i) { votes |= (lane.value ? 1u : 0u) << i; });
    each(lanes, present, [&](Lane& lane, unsigned) {
        lane.result = votes;
        lane.more = present;
    });
}

inline void match_any(Lane* lanes, std::uint32_t, std::uint32_t present) {
    each(lanes, present, [&](Lane& lane, unsigned) {
        lane.result = 0;
        each(lanes, present, [&](Lane& other, unsigned i) {
            if (other.value == lane.value) lane.result |= 1u << i;
        });
    });
}

template <typename T, typename Combine>
void reduce(Lane* lanes, std::uint32_t, std::uint32_t present) {
    T total{};
    bool first = true;
    each(lanes, present, [&](Lane& lane, unsigned) {
        const T value = from_bits<T>(lane.value);
        total = first ? value : Combine{}(total, value);
        first = false;
    });
    each(lanes, present, [&](Lane& lane, unsigned) { lane.result = to_bits(total); });
}

template <typename T, typename Combine>
T reduced(std::uint32_t mask, T value, Combine) {
    return from_bits<T>(exchange(mask, &reduce<T, Combine>, to_bits(value), 0).result);
}

}  // namespace occupipe::test::host

inline void __syncwarp(unsigned mask = 0xffffffffu) {
    occupipe::test::host::exchange(mask, &occupipe::test::host::meet, 0, 0);
}
inline unsigned __activemask() { return occupipe::test::host::active_mask(); }
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return static_cast<unsigned>(
        occupipe::test::host::exchange(mask, &occupipe::test::host::ballot, predicate != 0, 0)
            .result);
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) {
    const occupipe::test::host::Lane lane =
        occupipe::test::host::exchange(mask, &occupipe::test::host::ballot, predicate != 0, 0);
    return lane.result == lane.more;
}
template <typename T>
unsigned __match_any_sync(unsigned mask, T value) {
    return static_cast<unsigned>(
        occupipe::test::host::exchange(mask, &occupipe::test::host::match_any,
                                       occupipe::test::host::to_bits(value), 0)
            .result);
}
template <typename T>
unsigned __match_all_sync(unsigned mask, T value, int* all) {
    *all = __match_any_sync(mask, value) == mask;
    return __all_sync(mask, *all) ? mask : 0;
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    using namespace occupipe::test::host;
    return shuffled<Shuffle::index>(mask, value, static_cast<unsigned>(lane), width);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    using namespace occupipe::test::host;
    return shuffled<Shuffle::up>(mask, value, by, width);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    using namespace occupipe::test::host;
    return shuffled<Shuffle::down>(mask, value, by, width);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32) {
    using namespace occupipe::test::host;
    return shuffled<Shuffle::exclusive_or>(mask, value, static_cast<unsigned>(with), width);
}
#define OCCUPIPE_REDUCE(name, type, expression)                                                  \
    inline type __reduce_##name##_sync(unsigned mask, type value) {                              \
        return occupipe::test::host::reduced(mask, value,                                        \
                                             [](type a, type b) -> type { return expression; }); \
    }
OCCUPIPE_REDUCE(add, unsigned, a + b)
OCCUPIPE_REDUCE(min, unsigned, a < b ? a : b)
OCCUPIPE_REDUCE(max, unsigned, a < b ? b : a)
OCCUPIPE_REDUCE(and, unsigned, a& b)
OCCUPIPE_REDUCE(or, unsigned, a | b)
OCCUPIPE_REDUCE(xor, unsigned, a ^ b)
OCCUPIPE_REDUCE(add, int, a + b)
OCCUPIPE_REDUCE(min, int, a < b ? a : b)
OCCUPIPE_REDUCE(max, int, a < b ? b : a)
#undef OCCUPIPE_REDUCE

// The named barriers of PTX (bar.sync and bar.arrive with a number and a count of threads).
namespace on_host {
inline void barrier_wait(int id, int threads) {
    occupipe::test::host::barrier(static_cast<unsigned>(id), static_cast<unsigned>(threads), false);
}
inline void barrier_arrive(int id, int threads) {
    occupipe::test::host::barrier_arrive(static_cast<unsigned>(id), static_cast<unsigned>(threads));
}
}  // namespace on_host

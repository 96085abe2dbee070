// SPDX-License-Identifier: MIT
// The 32 lanes of a warp as data: loops over them that the compiler turns into vector code.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace occupipe::isa {

inline constexpr int lane_count = 32;

// One bit per lane, lane 0 lowest.
using Mask = std::uint32_t;
inline constexpr Mask all_lanes = 0xffffffff;

struct alignas(64) Lanes {
    std::array<std::uint32_t, lane_count> v;

    std::uint32_t& operator[](int lane) { return v[static_cast<std::size_t>(lane)]; }
    std::uint32_t operator[](int lane) const { return v[static_cast<std::size_t>(lane)]; }
};

#define OCCUPIPE_INLINE [[gnu::always_inline]] inline

inline constexpr bool has_lane(Mask mask, int lane) { return (mask >> lane & 1) != 0; }

// Calls use(lane) for every lane of the warp. What is read and written in one lane may not depend
// on what is written in another.
template <typename Use>
OCCUPIPE_INLINE void each_lane(Use use) {
#pragma GCC ivdep
    for (int lane = 0; lane < lane_count; ++lane) use(lane);
}

// Calls use(lane) for the lanes of the mask, lowest first, one after the other.
template <typename Use>
OCCUPIPE_INLINE void each_of(Mask mask, Use use) {
    while (mask != 0) {
        use(std::countr_zero(mask));
        mask &= mask - 1;
    }
}

// std::popcount is a call of the compiler's library where the processor need not have POPCNT.
OCCUPIPE_INLINE std::uint32_t count_of(Mask lanes) {
    if (lanes == all_lanes) return lane_count;
    std::uint32_t sums = lanes - (lanes >> 1 & 0x55555555);
    sums = (sums & 0x33333333) + (sums >> 2 & 0x33333333);
    sums = (sums + (sums >> 4)) & 0x0f0f0f0f;
    return sums * 0x01010101 >> 24;
}

OCCUPIPE_INLINE Lanes splat(std::uint32_t value) {
    Lanes lanes;
    lanes.v.fill(value);
    return lanes;
}

namespace detail {
constexpr Lanes make_lane_bits() {
    Lanes lanes{};
    for (int lane = 0; lane < lane_count; ++lane) {
        lanes.v[static_cast<std::size_t>(lane)] = std::uint32_t{1} << lane;
    }
    return lanes;
}
}  // namespace detail

// Lane i holds 1 << i. Comparing with it is what baseline vector code can do; shifting by the lane
// is not.
inline constexpr Lanes lane_bits = detail::make_lane_bits();

// result[lane] = value(lane) in the lanes of the mask; the others keep what they have.
template <typename Value>
OCCUPIPE_INLINE void assign(Lanes& result, Mask mask, Value value) {
    if (mask == all_lanes) {
        each_lane([&](int lane) __attribute__((always_inline)) { result[lane] = value(lane); });
    } else {
        each_lane([&](int lane) __attribute__((always_inline)) {
            const std::uint32_t fresh = value(lane);
            result[lane] = (mask & lane_bits[lane]) != 0 ? fresh : result[lane];
        });
    }
}

OCCUPIPE_INLINE void assign(Lanes& result, Mask mask, const Lanes& value) {
    assign(
        result, mask, [&](int lane) __attribute__((always_inline)) { return value[lane]; });
}

// A 64-bit value in two registers: low word first.
template <typename Value>
OCCUPIPE_INLINE void assign_pair(Lanes* result, Mask mask, Value value) {
    Lanes& low = result[0];
    Lanes& high = result[1];
    each_lane([&](int lane) __attribute__((always_inline)) {
        const std::uint64_t fresh = value(lane);
        const bool here = (mask & lane_bits[lane]) != 0;
        low[lane] = here ? static_cast<std::uint32_t>(fresh) : low[lane];
        high[lane] = here ? static_cast<std::uint32_t>(fresh >> 32) : high[lane];
    });
}

OCCUPIPE_INLINE std::uint64_t pair(const Lanes* lanes, int lane) {
    return lanes[0][lane] | static_cast<std::uint64_t>(lanes[1][lane]) << 32;
}

// One bit per lane: whether the lane's word, all zeros or all ones, has its sign bit set.
OCCUPIPE_INLINE Mask signs_of(const Lanes& truth) {
#if defined(__SSE2__)
    const auto* words = reinterpret_cast<const __m128i*>(truth.v.data());
    Mask mask = 0;
    for (int half = 0; half < 2; ++half) {
        const __m128i low =
            _mm_packs_epi32(_mm_load_si128(words + 4 * half), _mm_load_si128(words + 4 * half + 1));
        const __m128i high = _mm_packs_epi32(_mm_load_si128(words + 4 * half + 2),
                                             _mm_load_si128(words + 4 * half + 3));
        mask |= static_cast<Mask>(_mm_movemask_epi8(_mm_packs_epi16(low, high))) << (16 * half);
    }
    return mask;
#else
    Mask mask = 0;
    for (int lane = 0; lane < lane_count; ++lane) mask |= (truth[lane] >> 31) << lane;
    return mask;
#endif
}

// One bit per lane: whether test(lane) holds.
template <typename Test>
OCCUPIPE_INLINE Mask mask_where(Test test) {
    Lanes truth;
    each_lane([&](int lane)
                  __attribute__((always_inline)) { truth[lane] = test(lane) ? 0xffffffffU : 0U; });
    return signs_of(truth);
}

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
// The in-order engine's loop with vectors of 512 bits.
#include "sim/engine/in_order_engine.h"

#ifdef __x86_64__
#include <immintrin.h>

#define OCCUPIPE_LANES_TARGET "avx512f,avx512vl,avx512dq,avx2,bmi,bmi2,popcnt,lzcnt"
#define OCCUPIPE_LANES_INLINE \
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline

namespace occupipe::sim {
namespace {

struct Avx512 {
    using Vector = __m512i;
    using Table = __m256i;
    static constexpr int width = 16;

    OCCUPIPE_LANES_INLINE Vector load(const std::uint32_t* at) { return _mm512_load_si512(at); }
    OCCUPIPE_LANES_INLINE Vector all(std::uint32_t value) {
        return _mm512_set1_epi32(static_cast<int>(value));
    }
    OCCUPIPE_LANES_INLINE Vector counting_from(int first) {
        return _mm512_add_epi32(
            _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
            _mm512_set1_epi32(first));
    }
    OCCUPIPE_LANES_INLINE Vector max(Vector a, Vector b) { return _mm512_max_epu32(a, b); }
    OCCUPIPE_LANES_INLINE Vector min(Vector a, Vector b) { return _mm512_min_epu32(a, b); }
    OCCUPIPE_LANES_INLINE Vector minus(Vector a, Vector b) { return _mm512_sub_epi32(a, b); }
    OCCUPIPE_LANES_INLINE Vector both(Vector a, Vector b) { return _mm512_and_si512(a, b); }
    OCCUPIPE_LANES_INLINE Vector either(Vector a, Vector b) { return _mm512_or_si512(a, b); }
    // `value`, but 0 where a and b are equal.
    OCCUPIPE_LANES_INLINE Vector unless_equal(Vector a, Vector b, Vector value) {
        return _mm512_maskz_mov_epi32(_mm512_cmpneq_epi32_mask(a, b), value);
    }
    OCCUPIPE_LANES_INLINE Table table(const std::uint32_t* at) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
    }
    OCCUPIPE_LANES_INLINE Table table_max(Table a, Table b) { return _mm256_max_epu32(a, b); }
    OCCUPIPE_LANES_INLINE Vector look_up(Table table, Vector index) {
        return _mm512_permutexvar_epi32(index, _mm512_castsi256_si512(table));
    }
    OCCUPIPE_LANES_INLINE std::uint32_t least(Vector v) {
        const __m256i eight =
            _mm256_min_epu32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
        const __m128i four =
            _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
        const __m128i two = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0b01'00'11'10));
        const __m128i one = _mm_min_epu32(two, _mm_shuffle_epi32(two, 0b10'11'00'01));
        return static_cast<std::uint32_t>(_mm_cvtsi128_si32(one));
    }
    // A store of a whole vector, as the next load of one would wait for a narrower store.
    OCCUPIPE_LANES_INLINE void set_lane(std::uint32_t* lanes, int lane, std::uint32_t value) {
        std::uint32_t* const at = lanes + (lane & ~15);
        const auto mask = static_cast<__mmask16>(1U << (lane & 15));
        _mm512_store_si512(
            at, _mm512_mask_set1_epi32(_mm512_load_si512(at), mask, static_cast<int>(value)));
    }
    OCCUPIPE_LANES_INLINE void set_in_table(std::uint32_t* table, std::uint32_t index,
                                            std::uint32_t value) {
        __m256i* const at = reinterpret_cast<__m256i*>(table);
        const auto mask = static_cast<__mmask8>(1U << index);
        _mm256_store_si256(
            at, _mm256_mask_set1_epi32(_mm256_load_si256(at), mask, static_cast<int>(value)));
    }
};

}  // namespace
}  // namespace occupipe::sim

#include "sim/engine/in_order_lanes_loop.h"

namespace occupipe::sim {

bool InOrderEngine::run_avx512(std::int64_t until) {
    return LaneLoop<Avx512>{*this, *lanes_}.run_all(until);
}

}  // namespace occupipe::sim

#endif

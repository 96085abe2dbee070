// SPDX-License-Identifier: MIT
// Vectors of eight numbers of 32 bits, for whoever has defined OCCUPIPE_LANES_INLINE.
#pragma once
#ifdef OCCUPIPE_LANES_INLINE

#include <immintrin.h>

#include <cstdint>

namespace occupipe::sim {
namespace {

struct Avx2 {
    using Vector = __m256i;
    static constexpr int width = 8;
    using Eight = Avx2;  // for tables of subsystems

    OCCUPIPE_LANES_INLINE Vector load(const std::uint32_t* at) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
    }
    OCCUPIPE_LANES_INLINE void store(std::uint32_t* at, Vector v) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(at), v);
    }
    OCCUPIPE_LANES_INLINE Vector all(std::uint32_t value) {
        return _mm256_set1_epi32(static_cast<int>(value));
    }
    OCCUPIPE_LANES_INLINE Vector counting_from(int first) {
        return _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                                _mm256_set1_epi32(first));
    }
    OCCUPIPE_LANES_INLINE Vector max(Vector a, Vector b) { return _mm256_max_epu32(a, b); }
    OCCUPIPE_LANES_INLINE Vector min(Vector a, Vector b) { return _mm256_min_epu32(a, b); }
    OCCUPIPE_LANES_INLINE Vector minus(Vector a, Vector b) { return _mm256_sub_epi32(a, b); }
    OCCUPIPE_LANES_INLINE Vector both(Vector a, Vector b) { return _mm256_and_si256(a, b); }
    OCCUPIPE_LANES_INLINE Vector either(Vector a, Vector b) { return _mm256_or_si256(a, b); }
    OCCUPIPE_LANES_INLINE Vector differ(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
    OCCUPIPE_LANES_INLINE Vector but_not(Vector a, Vector b) { return _mm256_andnot_si256(b, a); }
    // All bits are set where a and b are equal.
    OCCUPIPE_LANES_INLINE Vector equal(Vector a, Vector b) { return _mm256_cmpeq_epi32(a, b); }
    OCCUPIPE_LANES_INLINE Vector look_up(Vector table, Vector index) {
        return _mm256_permutevar8x32_epi32(table, index);
    }
    OCCUPIPE_LANES_INLINE std::uint32_t least(Vector v) {
        const __m128i four =
            _mm_min_epu32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
        const __m128i two = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0b01'00'11'10));
        const __m128i one = _mm_min_epu32(two, _mm_shuffle_epi32(two, 0b10'11'00'01));
        return static_cast<std::uint32_t>(_mm_cvtsi128_si32(one));
    }
};

}  // namespace
}  // namespace occupipe::sim

#endif

// SPDX-License-Identifier: MIT
// The in-order engine's loop with vectors of 512 bits, for 16 warps of a scheduler and more.
#include "sim/engine/in_order_engine.h"

#ifdef __x86_64__
#define OCCUPIPE_LANES_TARGET "avx512f,avx512vl,avx512dq,avx512bw,avx2,bmi,bmi2,popcnt"
#define OCCUPIPE_LANES_INLINE \
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline

#include "sim/engine/in_order_lanes_loop.h"
#include "sim/engine/in_order_lanes_vectors.h"

namespace occupipe::sim {
namespace {

// With masks that take all: the compiler warns of what the plain forms leave undefined.
struct Avx512 {
    using Vector = __m512i;
    static constexpr int width = 16;
    static constexpr __mmask16 every = 0xffff;
    using Eight = Avx2;

    OCCUPIPE_LANES_INLINE Vector load(const std::uint32_t* at) { return _mm512_load_si512(at); }
    OCCUPIPE_LANES_INLINE void store(std::uint32_t* at, Vector v) { _mm512_store_si512(at, v); }
    OCCUPIPE_LANES_INLINE Vector all(std::uint32_t value) {
        return _mm512_set1_epi32(static_cast<int>(value));
    }
    OCCUPIPE_LANES_INLINE Vector counting_from(int first) {
        return _mm512_add_epi32(
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
            _mm512_set1_epi32(first));
    }
    OCCUPIPE_LANES_INLINE Vector max(Vector a, Vector b) {
        return _mm512_maskz_max_epu32(every, a, b);
    }
    OCCUPIPE_LANES_INLINE Vector min(Vector a, Vector b) {
        return _mm512_maskz_min_epu32(every, a, b);
    }
    OCCUPIPE_LANES_INLINE Vector minus(Vector a, Vector b) { return _mm512_sub_epi32(a, b); }
    OCCUPIPE_LANES_INLINE Vector both(Vector a, Vector b) { return _mm512_and_si512(a, b); }
    OCCUPIPE_LANES_INLINE Vector either(Vector a, Vector b) { return _mm512_or_si512(a, b); }
    OCCUPIPE_LANES_INLINE Vector differ(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
    OCCUPIPE_LANES_INLINE Vector but_not(Vector a, Vector b) {
        return _mm512_maskz_andnot_epi32(every, b, a);
    }
    OCCUPIPE_LANES_INLINE Vector equal(Vector a, Vector b) {
        return _mm512_movm_epi32(_mm512_cmpeq_epi32_mask(a, b));
    }
    // Indices are below eight.
    OCCUPIPE_LANES_INLINE Vector look_up(Eight::Vector table, Vector index) {
        return _mm512_maskz_permutexvar_epi32(every, index, _mm512_castsi256_si512(table));
    }
    OCCUPIPE_LANES_INLINE std::uint32_t least(Vector v) {
        return Eight::least(Eight::min(_mm512_maskz_extracti64x4_epi64(0xff, v, 0),
                                       _mm512_maskz_extracti64x4_epi64(0xff, v, 1)));
    }
};

}  // namespace

bool InOrderEngine::run_avx512(std::int64_t until) {
    return LaneLoop<Avx512>::run_all(*this, *lanes_, until);
}

}  // namespace occupipe::sim

#endif

// SPDX-License-Identifier: MIT
#include "automatch/cpu/probes.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace occupipe::automatch {
namespace {

// The compiler takes it that the bytes are read.
inline void keep(const void* bytes) { asm volatile("" : : "r"(bytes) : "memory"); }

// x ← x m + b stays between b and b / (1 - m); nothing here can be folded, since sums and products
// of floating numbers may not be reordered.
constexpr double factor = 0.75, term = 0.25;

#if defined(__x86_64__)

#define OCCUPIPE_PEAK(NAME, TARGET, VECTOR, SET, STEP, CHAINS)                       \
    __attribute__((target(TARGET), noinline)) void NAME(std::int64_t iterations) {   \
        VECTOR x[CHAINS];                                                            \
        _Pragma("GCC unroll 16") for (int c = 0; c < (CHAINS); ++c) x[c] =           \
            SET(static_cast<short>(1 + c));                                          \
        const VECTOR m = SET(factor), b = SET(term);                                 \
        for (std::int64_t i = 0; i < iterations; ++i) {                              \
            _Pragma("GCC unroll 16") for (int c = 0; c < (CHAINS); ++c) x[c] = STEP; \
        }                                                                            \
        keep(x);                                                                     \
    }

OCCUPIPE_PEAK(f64x1, "fma", __m128d, _mm_set_sd, _mm_fmadd_sd(x[c], m, b), 12)
OCCUPIPE_PEAK(f64x2, "fma", __m128d, _mm_set1_pd, _mm_fmadd_pd(x[c], m, b), 12)
OCCUPIPE_PEAK(f64x4, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd(x[c], m, b), 12)
OCCUPIPE_PEAK(f64x8, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd(x[c], m, b), 12)
OCCUPIPE_PEAK(f32x1, "fma", __m128, _mm_set_ss, _mm_fmadd_ss(x[c], m, b), 12)
OCCUPIPE_PEAK(f32x4, "fma", __m128, _mm_set1_ps, _mm_fmadd_ps(x[c], m, b), 12)
OCCUPIPE_PEAK(f32x8, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps(x[c], m, b), 12)
OCCUPIPE_PEAK(f32x16, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps(x[c], m, b), 12)
// Without fused operations: products in one half of the chains, sums in the other.
OCCUPIPE_PEAK(f64x1_apart, "sse2", __m128d, _mm_set_sd,
              c % 2 == 0 ? _mm_mul_sd(x[c], m) : _mm_add_sd(x[c], b), 12)
OCCUPIPE_PEAK(f64x2_apart, "sse2", __m128d, _mm_set1_pd,
              c % 2 == 0 ? _mm_mul_pd(x[c], m) : _mm_add_pd(x[c], b), 12)
OCCUPIPE_PEAK(f32x1_apart, "sse2", __m128, _mm_set_ss,
              c % 2 == 0 ? _mm_mul_ss(x[c], m) : _mm_add_ss(x[c], b), 12)
OCCUPIPE_PEAK(f32x4_apart, "sse2", __m128, _mm_set1_ps,
              c % 2 == 0 ? _mm_mul_ps(x[c], m) : _mm_add_ps(x[c], b), 12)
OCCUPIPE_PEAK(f64x4_apart, "avx", __m256d, _mm256_set1_pd,
              c % 2 == 0 ? _mm256_mul_pd(x[c], m) : _mm256_add_pd(x[c], b), 12)
OCCUPIPE_PEAK(f32x8_apart, "avx", __m256, _mm256_set1_ps,
              c % 2 == 0 ? _mm256_mul_ps(x[c], m) : _mm256_add_ps(x[c], b), 12)

#define OCCUPIPE_READ(NAME, TARGET, VECTOR, ZERO, LOAD, OR)                       \
    __attribute__((target(TARGET), noinline)) void NAME(const std::byte* from,    \
                                                        std::size_t bytes) {      \
        VECTOR sum[8];                                                            \
        _Pragma("GCC unroll 8") for (int c = 0; c < 8; ++c) sum[c] = ZERO();      \
        for (std::size_t at = 0; at < bytes; at += 8 * sizeof(VECTOR)) {          \
            _Pragma("GCC unroll 8") for (int c = 0; c < 8; ++c) sum[c] =          \
                OR(sum[c], LOAD(reinterpret_cast<const VECTOR*>(from + at) + c)); \
        }                                                                         \
        keep(sum);                                                                \
    }

OCCUPIPE_READ(read_sse2, "sse2", __m128i, _mm_setzero_si128, _mm_load_si128, _mm_or_si128)
OCCUPIPE_READ(read_avx2, "avx2", __m256i, _mm256_setzero_si256, _mm256_load_si256, _mm256_or_si256)
OCCUPIPE_READ(read_avx512, "avx512f", __m512i, _mm512_setzero_si512, _mm512_load_si512,
              _mm512_or_si512)

#else

template <typename T, int Bytes>
using Vector __attribute__((vector_size(Bytes))) = T;

template <typename T, int Width>
__attribute__((noinline)) void peak(std::int64_t iterations) {
    constexpr int chains = 12;
    using V = Vector<T, Width * sizeof(T)>;
    V x[chains], m, b;
    for (int w = 0; w < Width; ++w) {
        m[w] = static_cast<T>(factor), b[w] = static_cast<T>(term);
        for (int c = 0; c < chains; ++c) x[c][w] = static_cast<T>(1 + c);
    }
    for (std::int64_t i = 0; i < iterations; ++i) {
        _Pragma("GCC unroll 16") for (int c = 0; c < chains; ++c) x[c] = x[c] * m + b;
    }
    keep(x);
}

#endif

}  // namespace

std::vector<PeakLoop> peak_loops() {
    constexpr int chains = 12;
#if defined(__x86_64__)
    std::vector<PeakLoop> all;
    const bool fused = __builtin_cpu_supports("fma") != 0;
    if (fused) {
        all = {{"f64", 1, chains, true, f64x1},
               {"f64", 2, chains, true, f64x2},
               {"f32", 1, chains, true, f32x1},
               {"f32", 4, chains, true, f32x4}};
        if (__builtin_cpu_supports("avx2")) {
            all.push_back({"f64", 4, chains, true, f64x4});
            all.push_back({"f32", 8, chains, true, f32x8});
        }
    } else {
        all = {{"f64", 1, chains, false, f64x1_apart},
               {"f64", 2, chains, false, f64x2_apart},
               {"f32", 1, chains, false, f32x1_apart},
               {"f32", 4, chains, false, f32x4_apart}};
        if (__builtin_cpu_supports("avx")) {
            all.push_back({"f64", 4, chains, false, f64x4_apart});
            all.push_back({"f32", 8, chains, false, f32x8_apart});
        }
    }
    if (__builtin_cpu_supports("avx512f")) {
        all.push_back({"f64", 8, chains, true, f64x8});
        all.push_back({"f32", 16, chains, true, f32x16});
    }
    return all;
#else
    return {{"f64", 1, chains, true, peak<double, 1>},
            {"f64", 2, chains, true, peak<double, 2>},
            {"f32", 1, chains, true, peak<float, 1>},
            {"f32", 4, chains, true, peak<float, 4>}};
#endif
}

void read_all(const std::byte* from, std::size_t bytes) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return read_avx512(from, bytes);
    if (__builtin_cpu_supports("avx2")) return read_avx2(from, bytes);
    return read_sse2(from, bytes);
#else
    using V = Vector<std::uint64_t, 16>;
    V sum[8] = {};
    for (std::size_t at = 0; at < bytes; at += 8 * sizeof(V)) {
        _Pragma("GCC unroll 8") for (int c = 0; c < 8; ++c) sum[c] |=
            reinterpret_cast<const V*>(from + at)[c];
    }
    keep(sum);
#endif
}

void read_one_by_one(const std::byte* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 8 * sizeof(double)) {
        const auto* const line = reinterpret_cast<const double*>(from + at);
        _Pragma("GCC unroll 8") for (int c = 0; c < 8; ++c) {
            double value = line[c];
#if defined(__x86_64__)
            asm volatile("" : "+x"(value));  // into a register, each by itself
#else
            asm volatile("" : "+w"(value));
#endif
        }
    }
}

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    madvise(at, bytes, MADV_HUGEPAGE);  // refused: small pages
    data_ = static_cast<std::byte*>(at);
}

Pages::~Pages() { munmap(data_, bytes_); }

void make_chase(std::byte* memory, std::size_t bytes, std::size_t line_bytes) {
    std::vector<std::uint32_t> order(bytes / line_bytes);
    std::iota(order.begin(), order.end(), 0U);
    std::uint64_t state = 88172645463325252ULL;       // xorshift (Marsaglia 2003)
    for (std::size_t i = order.size(); i > 1; --i) {  // one cycle (Sattolo 1986)
        state ^= state << 13U;
        state ^= state >> 7U;
        state ^= state << 17U;
        std::swap(order[i - 1], order[state % (i - 1)]);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        void* const next = memory + order[i] * line_bytes;
        std::memcpy(memory + i * line_bytes, &next, sizeof next);
    }
}

void* chase(void* from, std::int64_t steps) {
    void* at = from;
    for (std::int64_t i = 0; i < steps; i += 8) {
        _Pragma("GCC unroll 8") for (int k = 0; k < 8; ++k) {
            at = *static_cast<void* volatile*>(at);
        }
    }
    return at;
}

std::optional<double> clock_now() {
#if defined(__x86_64__) || defined(__aarch64__)
    using Clock = std::chrono::steady_clock;
    constexpr int rounds = 4096, unrolled = 16;
    double best = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {  // an interruption makes it look slow
        std::uint64_t x = 1;
        // In a register: some processors add constants while they rename registers.
        const std::uint64_t one = 1;
        const auto begin = Clock::now();
        for (int i = 0; i < rounds; ++i) {
            _Pragma("GCC unroll 16") for (int k = 0; k < unrolled; ++k) {
#if defined(__x86_64__)
                asm volatile("add %1, %0" : "+r"(x) : "r"(one));
#else
                asm volatile("add %0, %0, %1" : "+r"(x) : "r"(one));
#endif
            }
        }
        const std::chrono::duration<double> took = Clock::now() - begin;
        if (took.count() > 0) best = std::max(best, rounds * unrolled / took.count());
    }
    if (best > 0) return best;
#endif
    return std::nullopt;
}

}  // namespace occupipe::automatch

// SPDX-License-Identifier: MIT
// Matrix instructions of one warp: D = A B + C with A of M x K, B of K x 8. Which lane and register
// holds which element is said by PTX ("Matrix Fragments for mma"): g = lane / 4 is a row of A and D
// and a column of B, t = lane % 4 counts along the other side.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "isa/machine/arithmetic/dot.h"
#include "isa/machine/arithmetic/half.h"
#include "isa/machine/floating.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace occupipe::isa {
namespace {

using arithmetic::as_bits;
using arithmetic::as_double;
using arithmetic::as_float;
using arithmetic::Half;
using arithmetic::Rounding;

constexpr int columns = 8;

// Step::option of this file.
enum Option : std::uint8_t {
    tall = 0,       // 16 rows, not 8
    registers = 1,  // of B in each lane; A has twice as many where it is tall
    saturate = 4,
    type_a = 5,
    type_b = 6,
    direction = 7,
};

enum Element : std::uint8_t { f16, bf16, tf32 };

void need_all_lanes(const Warp& warp, const Step& step, Mask active) {
    if (active != all_lanes) {
        fail(warp, step, -1, "a matrix instruction needs all 32 lanes of the warp");
    }
}

// Element `part` of register `r` of A: row and column.
struct Place {
    int row, column;
};

// `packed`: elements in a register. Registers go down the rows first where the matrix is tall.
OCCUPIPE_INLINE Place place_in_a(int lane, int r, int part, int packed, bool is_tall) {
    const int block = is_tall ? r >> 1 : r;
    return {.row = lane / 4 + (is_tall ? 8 * (r & 1) : 0),
            .column = lane % 4 * packed + part + block * 4 * packed};
}
OCCUPIPE_INLINE Place place_in_b(int lane, int r, int part, int packed) {
    return {.row = lane % 4 * packed + part + r * 4 * packed, .column = lane / 4};
}
// Element j of a lane's two or four.
OCCUPIPE_INLINE Place place_in_d(int lane, int j) {
    return {.row = lane / 4 + 8 * (j >> 1), .column = lane % 4 * 2 + (j & 1)};
}

// A in rows, B in rows (so that columns lie side by side), C and D in rows; K up to 64.
template <typename Number, typename Total = Number>
struct Matrices {
    alignas(64) std::array<Number, 16 * 64> a;
    alignas(64) std::array<Number, 64 * columns> b;
    alignas(64) std::array<Total, 16 * columns> c;
    int rows = 8, depth = 0;

    template <typename Get>
    OCCUPIPE_INLINE void read_a(const Step& step, int packed, Get get) {
        const bool is_tall = step.option[tall] != 0;
        const int count = step.option[registers] * (is_tall ? 2 : 1);
        rows = is_tall ? 16 : 8;
        depth = step.option[registers] * 4 * packed;
        for (int r = 0; r < count; ++r) {
            for (int lane = 0; lane < lane_count; ++lane) {
                for (int part = 0; part < packed; ++part) {
                    const Place at = place_in_a(lane, r, part, packed, is_tall);
                    a[static_cast<std::size_t>(at.row * depth + at.column)] = get(r, lane, part);
                }
            }
        }
    }
    template <typename Get>
    OCCUPIPE_INLINE void read_b(const Step& step, int packed, Get get) {
        for (int r = 0; r < step.option[registers]; ++r) {
            for (int lane = 0; lane < lane_count; ++lane) {
                for (int part = 0; part < packed; ++part) {
                    const Place at = place_in_b(lane, r, part, packed);
                    b[static_cast<std::size_t>(at.row * columns + at.column)] = get(r, lane, part);
                }
            }
        }
    }
    template <typename Get>
    OCCUPIPE_INLINE void read_c(Get get) {
        for (int j = 0; j < rows / 4; ++j) {
            for (int lane = 0; lane < lane_count; ++lane) {
                const Place at = place_in_d(lane, j);
                c[static_cast<std::size_t>(at.row * columns + at.column)] = get(j, lane);
            }
        }
    }
    template <typename Put>
    OCCUPIPE_INLINE void write_d(Put put) const {
        for (int j = 0; j < rows / 4; ++j) {
            for (int lane = 0; lane < lane_count; ++lane) {
                const Place at = place_in_d(lane, j);
                put(j, lane, c[static_cast<std::size_t>(at.row * columns + at.column)]);
            }
        }
    }
};

// Vectors that the compiler takes apart where the processor's are shorter.
using Eight = std::int32_t __attribute__((vector_size(32)));
using Four = double __attribute__((vector_size(32)));
using Truths = std::int64_t __attribute__((vector_size(32)));

template <Element type>
OCCUPIPE_INLINE float number(std::uint32_t word, int part) {
    if constexpr (type == tf32) return as_float(word & 0xffffe000);  // 19 bits are looked at
    if constexpr (type == bf16) return as_float(part == 0 ? word << 16 : word & 0xffff0000);
    return arithmetic::widened<Half::ieee>(word >> 16 * part & 0xffff);
}

// The same in fewer steps; infinities and NaNs of binary16 become numbers of 2^16 and more.
template <Element type>
OCCUPIPE_INLINE float finite_number(std::uint32_t word, int part) {
    if constexpr (type != f16) return number<type>(word, part);
    const std::uint32_t upper = part == 0 ? word << 16 : word & 0xffff0000;
    return as_float((upper & 0x80000000) | (upper & 0x7fff0000) >> 3) * 0x1p112F;
}

OCCUPIPE_INLINE double power_of_two(int exponent) {
    return as_double(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// How large numbers are.
struct Range {
    // Patterns of |x| as binary32; the least of those that are not zero.
    std::int32_t least = 0x7f800000, most = 0;

    OCCUPIPE_INLINE void take(const float* block, int count) {
        Eight low = Eight{} + least, high = Eight{} + most;
        for (int i = 0; i < count; i += 8) {
            Eight size;
            std::memcpy(&size, block + i, sizeof size);
            size &= 0x7fffffff;
            high = size > high ? size : high;
            const Eight there = size == 0 ? Eight{} + 0x7f800000 : size;
            low = there < low ? there : low;
        }
        for (int i = 0; i < 8; ++i) {
            least = std::min(least, low[i]);
            most = std::max(most, high[i]);
        }
    }
    // Every number is a multiple of 2^unit() and less than 2^limit(), if `digits` follow the first.
    int unit(int digits) const { return most == 0 ? 0 : exponent(least) - digits; }
    int limit() const { return most == 0 ? 0 : exponent(most) + 1; }
    // Infinities, NaNs and denormals of binary32 are left to the long way.
    template <Element type>
    bool usual() const {
        constexpr std::int32_t beyond = type == f16 ? 0x47800000 : 0x7f800000;
        return most == 0 || (most < beyond && least >= 0x00800000);
    }

private:
    static int exponent(std::int32_t size) { return (size >> 23) - 127; }
};

// Real numbers as the lanes hold them: no element has to find its row. K is counted in slices of 4;
// where a register holds two halves the lower ones are a slice, and the upper ones are the next.
// Columns stand in the order 0 2 4 6 1 3 5 7, that of the registers of C.
struct Fragments {
    static constexpr std::size_t most_slices = 4;
    int row_blocks = 1;  // of 8 rows
    int slices = 1;
    alignas(64) double a[2 * most_slices][lane_count];  // by block and slice: rows of 4
    alignas(64) double b[most_slices][lane_count];      // by slice: 4 rows of 8 columns
    alignas(64) double c[2][2][lane_count];             // by block and half of the columns

    double left(int row, int k) const { return a[row / 8 * slices + k / 4][row % 8 * 4 + k % 4]; }
    double right(int k, int column) const { return b[k / 4][k % 4 * columns + column]; }
    double& sum(int row, int column) { return c[row / 8][column / 4][row % 8 * 4 + column % 4]; }

    // Calls use(row, column) for all of C; columns by their places.
    template <typename Use>
    OCCUPIPE_INLINE void each_sum(Use use) const {
        for (int row = 0; row < 8 * row_blocks; ++row) {
            for (int column = 0; column < columns; ++column) use(row, column);
        }
    }
    template <typename Use>
    OCCUPIPE_INLINE void each_four_sums(Use use) {
        for (int block = 0; block < row_blocks; ++block) {
            double* const all = &c[block][0][0];
            for (int i = 0; i < 2 * lane_count; i += 4) {
                Four four;
                std::memcpy(&four, all + i, sizeof four);
                use(four);
            }
        }
    }
};

// A register of B: the lanes that hold a row come to lie side by side, in C's order of columns.
template <typename Get>
OCCUPIPE_INLINE void by_rows(Get get) {
    for (int k = 0; k < 4; ++k) {
        for (int column = 0; column < columns; ++column) {
            get(k * columns + column, (column % 4 * 2 + column / 4) * 4 + k);
        }
    }
}

#if defined(__x86_64__)
// C becomes D by one fused multiply-add after the other, along K; four rows at a time.
[[gnu::target("avx2,fma")]] void multiply_fused(Fragments& m) {
    for (int block = 0; block < m.row_blocks; ++block) {
        for (int row = 0; row < lane_count; row += 16) {
            double* const even = &m.c[block][0][row];
            double* const odd = &m.c[block][1][row];
            __m256d sum[8];
            for (int i = 0; i < 4; ++i) {
                sum[2 * i] = _mm256_load_pd(even + 4 * i);
                sum[2 * i + 1] = _mm256_load_pd(odd + 4 * i);
            }
            for (int slice = 0; slice < m.slices; ++slice) {
                const double* const left = &m.a[block * m.slices + slice][row];
                for (int k = 0; k < 4; ++k) {
                    const double* const right = &m.b[slice][k * columns];
                    const __m256d first = _mm256_load_pd(right);
                    const __m256d last = _mm256_load_pd(right + 4);
#pragma GCC unroll 4
                    for (int i = 0; i < 4; ++i) {
                        const __m256d factor = _mm256_broadcast_sd(left + 4 * i + k);
                        sum[2 * i] = _mm256_fmadd_pd(factor, first, sum[2 * i]);
                        sum[2 * i + 1] = _mm256_fmadd_pd(factor, last, sum[2 * i + 1]);
                    }
                }
            }
            for (int i = 0; i < 4; ++i) {
                _mm256_store_pd(even + 4 * i, sum[2 * i]);
                _mm256_store_pd(odd + 4 * i, sum[2 * i + 1]);
            }
        }
    }
}

// What Range takes, eight numbers at a time.
struct WideRange {
    __m256i low, high;

    void give(Range& range) const {
        Eight least, most;
        std::memcpy(&least, &low, sizeof least);
        std::memcpy(&most, &high, sizeof most);
        for (int i = 0; i < 8; ++i) {
            range.least = std::min(range.least, least[i]);
            range.most = std::max(range.most, most[i]);
        }
    }
    [[gnu::target("avx2"), gnu::always_inline]] void take(__m256 numbers) {
        const __m256i size =
            _mm256_and_si256(_mm256_castps_si256(numbers), _mm256_set1_epi32(0x7fffffff));
        high = _mm256_max_epi32(high, size);
        const __m256i none = _mm256_cmpeq_epi32(size, _mm256_setzero_si256());
        low = _mm256_min_epi32(low, _mm256_blendv_epi8(size, _mm256_set1_epi32(0x7f800000), none));
    }
};

[[gnu::target("avx2,f16c"), gnu::always_inline]] inline void widen_halves(__m256i words,
                                                                          double* lower,
                                                                          double* upper,
                                                                          WideRange& range) {
    const __m256i low = _mm256_and_si256(words, _mm256_set1_epi32(0xffff));
    const __m256i packed = _mm256_permute4x64_epi64(
        _mm256_packus_epi32(low, _mm256_srli_epi32(words, 16)), 0b11'01'10'00);
    const __m256 parts[2] = {_mm256_cvtph_ps(_mm256_castsi256_si128(packed)),
                             _mm256_cvtph_ps(_mm256_extracti128_si256(packed, 1))};
    double* const to[2] = {lower, upper};
    for (int part = 0; part < 2; ++part) {
        range.take(parts[part]);
        _mm256_store_pd(to[part], _mm256_cvtps_pd(_mm256_castps256_ps128(parts[part])));
        _mm256_store_pd(to[part] + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(parts[part], 1)));
    }
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i eight_words(const Lanes& lanes, int i) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes.v.data() + 8 * i));
}

// HalfMatrix::read() of binary16: the same numbers, but for infinities and NaNs, which either
// leaves to the long way.
[[gnu::target("avx2,f16c")]] void read_halves(Fragments& m, const Lanes* a, const Lanes* b,
                                              Range& range_a, Range& range_b) {
    const __m256i most = _mm256_set1_epi32(0x7f800000);
    WideRange of_a{most, _mm256_setzero_si256()}, of_b = of_a;
    for (int r = 0; 2 * r < m.slices; ++r) {
        // Two columns stand in each vector, four rows of them in each half: transposed, the four
        // vectors are rows, first the even columns.
        const __m256 v0 = _mm256_castsi256_ps(eight_words(b[r], 0));
        const __m256 v1 = _mm256_castsi256_ps(eight_words(b[r], 1));
        const __m256 v2 = _mm256_castsi256_ps(eight_words(b[r], 2));
        const __m256 v3 = _mm256_castsi256_ps(eight_words(b[r], 3));
        const __m256d low01 = _mm256_castps_pd(_mm256_unpacklo_ps(v0, v1));
        const __m256d high01 = _mm256_castps_pd(_mm256_unpackhi_ps(v0, v1));
        const __m256d low23 = _mm256_castps_pd(_mm256_unpacklo_ps(v2, v3));
        const __m256d high23 = _mm256_castps_pd(_mm256_unpackhi_ps(v2, v3));
        const __m256i rows[4] = {_mm256_castpd_si256(_mm256_unpacklo_pd(low01, low23)),
                                 _mm256_castpd_si256(_mm256_unpackhi_pd(low01, low23)),
                                 _mm256_castpd_si256(_mm256_unpacklo_pd(high01, high23)),
                                 _mm256_castpd_si256(_mm256_unpackhi_pd(high01, high23))};
        for (int i = 0; i < 4; ++i) {
            double* const lower = &m.b[2 * r][8 * i];
            double* const upper = &m.b[2 * r + 1][8 * i];
            widen_halves(rows[i], lower, upper, of_b);
            for (int block = 0; block < 2; ++block) {
                double* const left = &m.a[block * m.slices + 2 * r][8 * i];
                widen_halves(eight_words(a[2 * r + block], i), left, left + lane_count, of_a);
            }
        }
    }
    of_a.give(range_a);
    of_b.give(range_b);
}

bool host_has_halves() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
    return has;
}
#endif

// C becomes D where no partial sum loses anything in binary64.
template <bool host_fma>
OCCUPIPE_INLINE void multiply_exactly(Fragments& m) {
#if defined(__x86_64__)
    if constexpr (host_fma) {
        multiply_fused(m);  // no other results, but faster
        return;
    }
#endif
    m.each_sum([&](int row, int column) {
        double sum = m.sum(row, column);
        for (int k = 0; k < 4 * m.slices; ++k) sum += m.left(row, k) * m.right(k, column);
        m.sum(row, column) = sum;
    });
}

// C becomes D, to odd: the sum of C and the products, exactly.
void multiply_anything(Fragments& m) {
    m.each_sum([&](int row, int column) {
        const double start = m.sum(row, column);
        arithmetic::WatchedSum watched{start};
        for (int k = 0; k < 4 * m.slices; ++k) watched.add(m.left(row, k) * m.right(k, column));
        if (!watched.lost) {
            m.sum(row, column) = watched.value;
            return;
        }
        double plain = start;
        arithmetic::ExactSum sum;
        if (std::isfinite(start)) sum.add(start);
        for (int k = 0; k < 4 * m.slices; ++k) {
            const double product = m.left(row, k) * m.right(k, column);
            plain += product;
            if (std::isfinite(product)) sum.add(product);
        }
        m.sum(row, column) = std::isfinite(plain) ? sum.to_odd() : plain;
    });
}

// Whether C and all products are multiples of one power of two, and all partial sums less than 2^53
// times it.
template <Element type>
OCCUPIPE_INLINE bool sums_are_exact(Fragments& m, const Range& a, const Range& b) {
    if (!a.usual<type>() || !b.usual<type>()) return false;
    constexpr int digits = type == bf16 ? 7 : 10;  // behind the first
    const int unit = a.unit(digits) + b.unit(digits);
    const int summands = std::bit_width(static_cast<unsigned>(4 * m.slices));  // 2^summands > K
    if (a.limit() + b.limit() + summands + 1 > unit + 53) return false;
    // Adding and subtracting this rounds to a multiple of 2^unit what is less than 2^(unit + 51).
    const double most = power_of_two(unit + 51);
    const double round = 3 * most;
    Truths other{};
    m.each_four_sums([&](const Four& c) {
        const Four rounded = (c + round) - round;
        other |= (c >= most) | (c <= -most) | (rounded != c);  // the last one for NaNs, too
    });
    return (other[0] | other[1] | other[2] | other[3]) == 0;
}

template <Element type, bool short_result>
struct HalfMatrix {
    static constexpr int in_register = type == tf32 ? 1 : 2;

    // Number `part` of every lane's word.
    template <bool any>
    OCCUPIPE_INLINE static void widen(const Lanes& words, int part, double* to, Range& range) {
        alignas(64) float plain[lane_count];
        each_lane([&](int lane) {
            plain[lane] =
                any ? number<type>(words[lane], part) : finite_number<type>(words[lane], part);
        });
        range.take(plain, lane_count);
        each_lane([&](int lane) { to[lane] = static_cast<double>(plain[lane]); });
    }

    template <bool any>
    OCCUPIPE_INLINE static void read(Fragments& m, const Lanes* a, const Lanes* b, Range& range_a,
                                     Range& range_b) {
        for (int r = 0; r * in_register < m.slices; ++r) {
            Lanes rows;
            by_rows([&](int to, int from) { rows[to] = b[r][from]; });
            for (int part = 0; part < in_register; ++part) {
                const int slice = r * in_register + part;
                widen<any>(rows, part, m.b[slice], range_b);
                widen<any>(a[2 * r], part, m.a[slice], range_a);
                widen<any>(a[2 * r + 1], part, m.a[m.slices + slice], range_a);
            }
        }
    }

    // Where the processor converts halves; whether it does.
    template <bool host_fma>
    OCCUPIPE_INLINE static bool read_quickly(Fragments& m, const Lanes* a, const Lanes* b,
                                             Range& range_a, Range& range_b) {
#if defined(__x86_64__)
        if constexpr (host_fma && type == f16) {
            if (!host_has_halves()) return false;
            read_halves(m, a, b, range_a, range_b);
            return true;
        }
#endif
        return false;
    }

    template <bool host_fma>
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        need_all_lanes(warp, step, active);
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        const Lanes* const c = raw(warp, step, 2);
        Fragments m;
        m.row_blocks = 2;
        m.slices = step.option[registers] * in_register;
        Range range_a, range_b;
        if (!read_quickly<host_fma>(m, a, b, range_a, range_b)) {
            read<false>(m, a, b, range_a, range_b);
        }
        for (int block = 0; block < 2; ++block) {
            for (int odd = 0; odd < 2; ++odd) {
                double* const to = m.c[block][odd];
                const Lanes& words = c[short_result ? block : 2 * block + odd];
                each_lane([&](int lane) {
                    to[lane] = static_cast<double>(short_result ? number<f16>(words[lane], odd)
                                                                : as_float(words[lane]));
                });
            }
        }
        if (sums_are_exact<type>(m, range_a, range_b)) [[likely]] {
            multiply_exactly<host_fma>(m);
        } else {
            read<true>(m, a, b, range_a, range_b);
            multiply_anything(m);
        }
        Lanes* const d = &destination(warp, step);
        for (int block = 0; block < 2; ++block) {
            const auto& from = m.c[block];
            if constexpr (short_result) {
                each_lane([&](int lane) {
                    d[block][lane] = arithmetic::halved<Half::ieee>(from[0][lane]) |
                                     arithmetic::halved<Half::ieee>(from[1][lane]) << 16;
                });
            } else {
                for (int odd = 0; odd < 2; ++odd) {
                    each_lane([&](int lane) {
                        d[2 * block + odd][lane] =
                            arithmetic::canonical(as_bits(static_cast<float>(from[odd][lane])));
                    });
                }
            }
        }
    }
};

bool has_marks(const Instruction& one) {
    for (const Operand& operand : one.operands) {
        if (operand.negated || operand.absolute) return true;
    }
    return false;
}

Handler bind_half(const Instruction& one, int, Step& step, std::string& why_not) {
    const Element type = one.has("TF32") ? tf32 : one.has("BF16") ? bf16 : f16;
    const int depth = one.has("16816") ? 16 : one.has("1688") ? 8 : 4;
    const bool odd_shape = type == tf32 ? depth == 16 : depth == 4;
    if (one.has("SP")) why_not = "a sparse matrix";
    if (odd_shape) why_not = "of this shape";
    if (has_marks(one)) why_not = "with a negated matrix";
    if (one.has("SATFINITE")) why_not = "with .SATFINITE";
    // The result is binary16 with .F16 and no .F32, of binary16 alone.
    const bool short_result = !one.has("F32");
    if (short_result && type != f16) why_not = "with this result";
    if (!why_not.empty()) return nullptr;
    step.option[tall] = 1;
    step.option[registers] = static_cast<std::uint8_t>(depth / (type == tf32 ? 4 : 8));
    if (short_result) return fused_handler_of<HalfMatrix<f16, true>>();
    return type == f16    ? fused_handler_of<HalfMatrix<f16, false>>()
           : type == bf16 ? fused_handler_of<HalfMatrix<bf16, false>>()
                          : fused_handler_of<HalfMatrix<tf32, false>>();
}

// Integers of a byte or half a byte.
struct IntegerKind {
    int bits;
    bool is_signed;
};

constexpr IntegerKind integer_kinds[] = {{8, false}, {8, true}, {4, false}, {4, true}};

std::optional<std::uint8_t> kind_named(std::string_view name) {
    constexpr std::array<std::string_view, 4> names = {"U8", "S8", "U4", "S4"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<std::uint8_t>(i);
    }
    return std::nullopt;
}

OCCUPIPE_INLINE std::int32_t integer_part(std::uint32_t word, int part, IntegerKind kind) {
    const std::uint32_t moved = word << (32 - kind.bits * (part + 1));
    const int unused = 32 - kind.bits;
    return kind.is_signed ? static_cast<std::int32_t>(moved) >> unused
                          : static_cast<std::int32_t>(moved >> unused);
}

struct IntegerMatrix {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        need_all_lanes(warp, step, active);
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        const Lanes* const c = raw(warp, step, 2);
        const IntegerKind left = integer_kinds[step.option[type_a]];
        const IntegerKind right = integer_kinds[step.option[type_b]];
        const int packed = 32 / left.bits;
        Matrices<std::int32_t, std::int64_t> m;
        m.read_a(step, packed,
                 [&](int r, int lane, int part) { return integer_part(a[r][lane], part, left); });
        m.read_b(step, packed,
                 [&](int r, int lane, int part) { return integer_part(b[r][lane], part, right); });
        m.read_c([&](int j, int lane) {
            return static_cast<std::int64_t>(static_cast<std::int32_t>(c[j][lane]));
        });
        for (int row = 0; row < m.rows; ++row) {
            std::int32_t sum[columns] = {};  // of 64 products of bytes at most
            for (int k = 0; k < m.depth; ++k) {
                const std::int32_t factor = m.a[static_cast<std::size_t>(row * m.depth + k)];
                const std::int32_t* const others = &m.b[static_cast<std::size_t>(k * columns)];
#pragma GCC ivdep
                for (int column = 0; column < columns; ++column)
                    sum[column] += factor * others[column];
            }
            for (int column = 0; column < columns; ++column) {
                m.c[static_cast<std::size_t>(row * columns + column)] += sum[column];
            }
        }
        const bool clamp = step.option[saturate] != 0;
        Lanes* const d = &destination(warp, step);
        m.write_d([&](int j, int lane, std::int64_t value) {
            constexpr std::int64_t most = 0x7fffffff;
            const std::int64_t kept = value > most ? most : value < -most - 1 ? -most - 1 : value;
            d[j][lane] = static_cast<std::uint32_t>(clamp ? kept : value);
        });
    }
};

Handler bind_integer(const Instruction& one, int, Step& step, std::string& why_not) {
    std::array<std::uint8_t, 2> kinds{};
    std::size_t count = 0;
    int depth = 0;
    for (const std::string_view name : one.modifiers) {
        if (const auto kind = kind_named(name); kind && count < 2) kinds[count++] = *kind;
        if (name == "8816" || name == "16816") depth = 16;
        if (name == "8832" || name == "16832") depth = 32;
        if (name == "16864") depth = 64;
    }
    if (one.has("SP")) why_not = "a sparse matrix";
    const int bits = integer_kinds[kinds[0]].bits;
    const bool is_tall = one.has("16816") || one.has("16832") || one.has("16864");
    // 8816 and, tall, twice that for bytes; twice as deep for halves of them.
    const bool deep = is_tall && depth == (bits == 8 ? 32 : 64);
    const bool flat = depth == (bits == 8 ? 16 : 32);
    if (count != 2 || (!deep && !flat)) why_not = "of this shape and type";
    if (count == 2 && integer_kinds[kinds[1]].bits != bits) why_not = "of mixed types";
    if (has_marks(one)) why_not = "with a negated matrix";
    if (!why_not.empty()) return nullptr;
    step.option[tall] = is_tall;
    step.option[registers] = deep ? 2 : 1;
    step.option[type_a] = kinds[0];
    step.option[type_b] = kinds[1];
    step.option[saturate] = one.has("SAT");
    return handler_of<IntegerMatrix>();
}

// binary64: one fused multiply-add after the other, along K.
struct DoubleMatrix {
    template <bool host_fma>
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        need_all_lanes(warp, step, active);
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        const Lanes* const c = raw(warp, step, 2);
        const auto rounding = static_cast<Rounding>(step.option[direction]);
        Fragments m;
        m.row_blocks = step.option[tall] != 0 ? 2 : 1;
        m.slices = step.option[registers];
        for (int slice = 0; slice < m.slices; ++slice) {
            by_rows(
                [&](int to, int from) { m.b[slice][to] = as_double(pair(b + 2 * slice, from)); });
            for (int block = 0; block < m.row_blocks; ++block) {
                read(m.a[block * m.slices + slice], a + 2 * (slice * m.row_blocks + block));
            }
        }
        read_sums(m, c);
        if (!(host_fma && rounding == Rounding::nearest && multiply_on_host(m))) {
            read_sums(m, c);
            multiply_by_element(m, rounding);
        }
        Lanes* const d = &destination(warp, step);
        for (int block = 0; block < m.row_blocks; ++block) {
            for (int odd = 0; odd < 2; ++odd) {
                Lanes* const to = d + 4 * block + 2 * odd;
                each_lane([&](int lane) {
                    const std::uint64_t pattern = as_bits(m.c[block][odd][lane]);
                    to[0][lane] = static_cast<std::uint32_t>(pattern);
                    to[1][lane] = static_cast<std::uint32_t>(pattern >> 32);
                });
            }
        }
    }

    OCCUPIPE_INLINE static void read(double* to, const Lanes* from) {
        each_lane([&](int lane) { to[lane] = as_double(pair(from, lane)); });
    }
    OCCUPIPE_INLINE static void read_sums(Fragments& m, const Lanes* c) {
        for (int block = 0; block < m.row_blocks; ++block) {
            for (int odd = 0; odd < 2; ++odd) read(m.c[block][odd], c + 4 * block + 2 * odd);
        }
    }

    // False where a result is a NaN: which one is not left to the host.
    OCCUPIPE_INLINE static bool multiply_on_host(Fragments& m) {
#if defined(__x86_64__)
        multiply_fused(m);
        Truths nan{};
        m.each_four_sums([&](const Four& c) { nan |= c != c; });
        return (nan[0] | nan[1] | nan[2] | nan[3]) == 0;
#else
        return false;
#endif
    }

    static void multiply_by_element(Fragments& m, Rounding rounding) {
        m.each_sum([&](int row, int column) {
            double& sum = m.sum(row, column);
            for (int k = 0; k < 4 * m.slices; ++k) {
                sum = as_double(fused(as_bits(m.left(row, k)), as_bits(m.right(k, column)),
                                      as_bits(sum), rounding));
            }
        });
    }

    static std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                               Rounding rounding) {
        if (rounding == Rounding::nearest) {
            const double value = std::fma(as_double(a), as_double(b), as_double(c));
            if (value == value) return as_bits(value);
        }
        return arithmetic::fused(a, b, c, arithmetic::binary64, rounding);
    }
};

Handler bind_double(const Instruction& one, int, Step& step, std::string& why_not) {
    if (has_marks(one)) {
        why_not = "with a negated matrix";
        return nullptr;
    }
    const int depth = one.has("16x8x8") ? 8 : one.has("16x8x16") ? 16 : 4;
    step.option[tall] = one.has("16x8x4") || depth > 4;
    step.option[registers] = static_cast<std::uint8_t>(depth / 4);
    step.option[direction] = static_cast<std::uint8_t>(rounding_of(one));
    return fused_handler_of<DoubleMatrix>();
}

constexpr Semantics table[] = {
    {"HMMA", &bind_half}, {"IMMA", &bind_integer}, {"DMMA", &bind_double}};

}  // namespace

std::span<const Semantics> matrix_semantics() { return table; }

}  // namespace occupipe::isa

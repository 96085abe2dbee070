// SPDX-License-Identifier: MIT
// Matrix instructions of one warp: D = A B + C with A of M x K, B of K x 8. Which lane and register
// holds which element is said by PTX ("Matrix Fragments for mma"): g = lane / 4 is a row of A and D
// and a column of B, t = lane % 4 counts along the other side.
#include <array>
#include <optional>
#include <vector>

#include "isa/machine/arithmetic/dot.h"
#include "isa/machine/arithmetic/half.h"
#include "isa/machine/floating.h"

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
    element = 2,
    result_half = 3,
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
Place place_in_a(int lane, int r, int part, int packed, bool is_tall) {
    const int block = is_tall ? r >> 1 : r;
    return {.row = lane / 4 + (is_tall ? 8 * (r & 1) : 0),
            .column = lane % 4 * packed + part + block * 4 * packed};
}
Place place_in_b(int lane, int r, int part, int packed) {
    return {.row = lane % 4 * packed + part + r * 4 * packed, .column = lane / 4};
}
// Element j of a lane's two or four.
Place place_in_d(int lane, int j) {
    return {.row = lane / 4 + 8 * (j >> 1), .column = lane % 4 * 2 + (j & 1)};
}

// A in rows, B in rows (so that columns lie side by side), C and D in rows; K up to 64.
template <typename Number>
struct Matrices {
    alignas(64) std::array<Number, 16 * 64> a;
    alignas(64) std::array<Number, 64 * columns> b;
    alignas(64) std::array<Number, 16 * columns> c;
    int rows = 8, depth = 0;

    template <typename Get>
    void read_a(const Step& step, int packed, Get get) {
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
    void read_b(const Step& step, int packed, Get get) {
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
    void read_c(Get get) {
        for (int j = 0; j < rows / 4; ++j) {
            for (int lane = 0; lane < lane_count; ++lane) {
                const Place at = place_in_d(lane, j);
                c[static_cast<std::size_t>(at.row * columns + at.column)] = get(j, lane);
            }
        }
    }
    template <typename Put>
    void write_d(Put put) const {
        for (int j = 0; j < rows / 4; ++j) {
            for (int lane = 0; lane < lane_count; ++lane) {
                const Place at = place_in_d(lane, j);
                put(j, lane, c[static_cast<std::size_t>(at.row * columns + at.column)]);
            }
        }
    }
};

// The sum of C and the products, exactly, to odd.
double exact_element(const Matrices<double>& m, int row, int column) {
    const double start = m.c[static_cast<std::size_t>(row * columns + column)];
    double plain = start;
    arithmetic::ExactSum sum;
    if (std::isfinite(start)) sum.add(start);
    for (int k = 0; k < m.depth; ++k) {
        const double product = m.a[static_cast<std::size_t>(row * m.depth + k)] *
                               m.b[static_cast<std::size_t>(k * columns + column)];
        plain += product;
        if (std::isfinite(product)) sum.add(product);
    }
    return std::isfinite(plain) ? sum.to_odd() : plain;
}

// C becomes D, to odd.
OCCUPIPE_INLINE void multiply(Matrices<double>& m) {
    for (int row = 0; row < m.rows; ++row) {
        std::array<arithmetic::WatchedSum, columns> sum;
        for (int column = 0; column < columns; ++column) {
            const auto at = static_cast<std::size_t>(column);
            sum[at] = {m.c[static_cast<std::size_t>(row * columns) + at]};
        }
        for (int k = 0; k < m.depth; ++k) {
            const double left = m.a[static_cast<std::size_t>(row * m.depth + k)];
            const double* const right = &m.b[static_cast<std::size_t>(k * columns)];
            for (int column = 0; column < columns; ++column) {
                sum[static_cast<std::size_t>(column)].add(left * right[column]);
            }
        }
        for (int column = 0; column < columns; ++column) {
            const arithmetic::WatchedSum& one = sum[static_cast<std::size_t>(column)];
            const double value = one.lost ? exact_element(m, row, column) : one.value;
            m.c[static_cast<std::size_t>(row * columns + column)] = value;
        }
    }
}

double number(std::uint32_t word, int part, Element type) {
    const auto half = static_cast<std::uint16_t>(word >> 16 * part);
    switch (type) {
        case f16:
            return arithmetic::widened<Half::ieee>(half);
        case bf16:
            return arithmetic::widened<Half::brain>(half);
        case tf32:
            break;
    }
    return as_float(word & 0xffffe000);  // 19 bits are looked at
}

struct HalfMatrix {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        need_all_lanes(warp, step, active);
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        const Lanes* const c = raw(warp, step, 2);
        const auto type = static_cast<Element>(step.option[element]);
        const int packed = type == tf32 ? 1 : 2;
        const bool short_result = step.option[result_half] != 0;
        Matrices<double> m;
        m.read_a(step, packed,
                 [&](int r, int lane, int part) { return number(a[r][lane], part, type); });
        m.read_b(step, packed,
                 [&](int r, int lane, int part) { return number(b[r][lane], part, type); });
        m.read_c([&](int j, int lane) {
            return short_result ? number(c[j >> 1][lane], j & 1, f16)
                                : static_cast<double>(as_float(c[j][lane]));
        });
        multiply(m);
        Lanes* const d = &destination(warp, step);
        m.write_d([&](int j, int lane, double value) {
            if (!short_result) {
                d[j][lane] = arithmetic::canonical(as_bits(static_cast<float>(value)));
                return;
            }
            const std::uint32_t half = arithmetic::halved<Half::ieee>(value);
            std::uint32_t& word = d[j >> 1][lane];
            word = (j & 1) != 0 ? (word & 0xffff) | half << 16 : (word & 0xffff0000) | half;
        });
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
    step.option[element] = type;
    step.option[result_half] = short_result;
    return handler_of<HalfMatrix>();
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

std::int64_t integer_part(std::uint32_t word, int part, IntegerKind kind) {
    const std::uint32_t moved = word << (32 - kind.bits * (part + 1));
    const int unused = 32 - kind.bits;
    return kind.is_signed ? static_cast<std::int32_t>(moved) >> unused
                          : static_cast<std::int64_t>(moved >> unused);
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
        Matrices<std::int64_t> m;
        m.read_a(step, packed,
                 [&](int r, int lane, int part) { return integer_part(a[r][lane], part, left); });
        m.read_b(step, packed,
                 [&](int r, int lane, int part) { return integer_part(b[r][lane], part, right); });
        m.read_c([&](int j, int lane) {
            return static_cast<std::int64_t>(static_cast<std::int32_t>(c[j][lane]));
        });
        for (int row = 0; row < m.rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                std::int64_t& sum = m.c[static_cast<std::size_t>(row * columns + column)];
                for (int k = 0; k < m.depth; ++k) {
                    sum += m.a[static_cast<std::size_t>(row * m.depth + k)] *
                           m.b[static_cast<std::size_t>(k * columns + column)];
                }
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
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        need_all_lanes(warp, step, active);
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        const Lanes* const c = raw(warp, step, 2);
        const auto rounding = static_cast<Rounding>(step.option[direction]);
        Matrices<std::uint64_t> m;
        m.read_a(step, 1, [&](int r, int lane, int) { return pair(a + 2 * r, lane); });
        m.read_b(step, 1, [&](int r, int lane, int) { return pair(b + 2 * r, lane); });
        m.read_c([&](int j, int lane) { return pair(c + 2 * j, lane); });
        for (int row = 0; row < m.rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                std::uint64_t& sum = m.c[static_cast<std::size_t>(row * columns + column)];
                for (int k = 0; k < m.depth; ++k) {
                    const std::uint64_t left = m.a[static_cast<std::size_t>(row * m.depth + k)];
                    const std::uint64_t right = m.b[static_cast<std::size_t>(k * columns + column)];
                    sum = fused(left, right, sum, rounding);
                }
            }
        }
        Lanes* const d = &destination(warp, step);
        m.write_d([&](int j, int lane, std::uint64_t value) {
            d[2 * j][lane] = static_cast<std::uint32_t>(value);
            d[2 * j + 1][lane] = static_cast<std::uint32_t>(value >> 32);
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
    return handler_of<DoubleMatrix>();
}

constexpr Semantics table[] = {
    {"HMMA", &bind_half}, {"IMMA", &bind_integer}, {"DMMA", &bind_double}};

}  // namespace

std::span<const Semantics> matrix_semantics() { return table; }

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
#include "tests/ptx/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tests/ptx/operations.h"

namespace occupipe::ptx {
namespace {

constexpr std::size_t most_remembered = 8;

bool has(const Instruction& one, std::string_view word) {
    return std::ranges::find(one.words, word) != one.words.end();
}

int element_bits(std::string_view type) {
    if (type == "f64") return 64;
    if (type == "tf32" || type == "f32" || type == "s32") return 32;
    if (type == "f16" || type == "bf16") return 16;
    if (type == "s4" || type == "u4") return 4;
    if (type == "b1") return 1;
    return 8;  // the smaller floats have a byte each in registers
}

// A float of a sign, `exponent_bits` and `fraction_bits` without infinities.
double small_float(std::uint64_t bits, int exponent_bits, int fraction_bits) {
    const double sign = (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -1 : 1;
    const auto exponent =
        static_cast<int>(bits >> fraction_bits & ((std::uint64_t{1} << exponent_bits) - 1));
    const auto fraction = static_cast<double>(bits & ((std::uint64_t{1} << fraction_bits) - 1));
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double unit = std::ldexp(1, fraction_bits);
    return exponent == 0 ? sign * std::ldexp(fraction / unit, 1 - bias)
                         : sign * std::ldexp(1 + fraction / unit, exponent - bias);
}

std::uint64_t real_bits(double value, std::string_view type) {
    if (type == "f64") return std::bit_cast<std::uint64_t>(value);
    if (type == "f32") return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const Instruction conversion{.guard = {},
                                 .opcode = {},
                                 .words = {"cvt", "rn", std::string(type), "f64"},
                                 .operands = {},
                                 .text = "cvt"};
    const std::array sources = {std::bit_cast<std::uint64_t>(value)};
    return compute(conversion, sources).value();
}

// Element e of the 32-bit (f64: 64-bit) registers that hold `per_register` of them.
std::uint64_t element(const Fragment& fragment, std::size_t reg, std::size_t lane, int bits,
                      int index) {
    const std::uint64_t word = fragment.at(reg)[lane];
    return bits == 64 ? word : word >> (bits * index) & ((std::uint64_t{1} << bits) - 1);
}

Fragment read_all(State& state, const std::vector<Thread*>& lanes, const Operand& operand) {
    const std::vector<Operand> single = {operand};
    const std::vector<Operand>& parts =
        operand.kind == Operand::Kind::list ? operand.parts : single;
    Fragment result(parts.size());
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
        state.thread = lanes[lane];
        for (std::size_t r = 0; r < parts.size(); ++r) result[r][lane] = state.value(parts[r]);
    }
    return result;
}

void write_all(State& state, const std::vector<Thread*>& lanes, const Operand& operand,
               const Fragment& values) {
    const std::vector<Operand> single = {operand};
    const std::vector<Operand>& parts =
        operand.kind == Operand::Kind::list ? operand.parts : single;
    if (parts.size() != values.size()) throw NotUnderstood(state.instruction->text);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
        state.thread = lanes[lane];
        for (std::size_t r = 0; r < parts.size(); ++r) state.write(parts[r], values[r][lane]);
    }
}

// Adds the lane's elements of a product with `columns` columns to its accumulators: element i of
// each eight columns lies in row lane / 4 (+ 8 for i of 2 and 3), column 2 (lane % 4) + i % 2.
void accumulate(Fragment& c, std::string_view type, const std::vector<double>& product,
                std::size_t columns) {
    const bool halves = type == "f16";
    const std::size_t elements = c.size() * (halves ? 2 : 1);
    const std::size_t rows = product.size() / columns;
    const std::size_t each = rows > 8 ? 4 : 2;  // elements of a lane in each eight columns
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
        for (std::size_t i = 0; i < elements; ++i) {
            const std::size_t row = lane / 4 + (i % each >= 2 ? 8 : 0);
            const std::size_t column = i / each * 8 + 2 * (lane % 4) + i % 2;
            const double added = product.at(row * columns + column);
            std::uint64_t& word = c[halves ? i / 2 : i][lane];
            if (type == "s32") {
                const auto sum = static_cast<std::int64_t>(static_cast<std::int32_t>(word)) +
                                 static_cast<std::int64_t>(added);
                word = static_cast<std::uint32_t>(sum);
            } else if (halves) {
                const int shift = i % 2 != 0 ? 16 : 0;
                const double old = element_value(word >> shift & 0xffff, type);
                word = (word & ~(std::uint64_t{0xffff} << shift)) | real_bits(old + added, type)
                                                                        << shift;
            } else {
                const double sum = element_value(word, type) + added;
                if (!std::isfinite(sum)) throw Fault("an accumulator that is not a finite number");
                word = real_bits(sum, type);
            }
        }
    }
}

std::size_t index_of(int row, int width, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(column);
}

// "m16n8k32"
bool read_shape(const Instruction& one, int& m, int& n, int& k) {
    return std::ranges::any_of(one.words, [&](const std::string& word) {
        return std::sscanf(word.c_str(), "m%dn%dk%d", &m, &n, &k) == 3;
    });
}

bool is_type(const std::string& word) {
    constexpr std::array types = {"f16", "bf16", "tf32", "f32",  "f64",  "s32",  "s8",   "u8",
                                  "s4",  "u4",   "b1",   "e4m3", "e5m2", "e2m3", "e3m2", "e2m1"};
    return std::ranges::find(types, word) != types.end();
}

std::vector<std::string> types_of(const Instruction& one) {
    std::vector<std::string> types;
    std::ranges::copy_if(one.words, std::back_inserter(types), is_type);
    return types;
}

// Which of each four (tf32: two) columns the kept elements of a sparse row stand in, from the
// metadata. How chunks are dealt to threads and bits is only known here for rows that all keep the
// same.
std::uint64_t choice_of(const Fragment& metadata, const Instruction& one) {
    const std::uint64_t word = metadata.at(0)[0] & 0xffffffff;
    const bool alike = std::ranges::all_of(
        metadata[0], [&](std::uint64_t lane) { return (lane & 0xffffffff) == word; });
    if (!alike || word != (word & 15) * 0x11111111) {
        throw NotUnderstood(one.text + ": metadata that differs from chunk to chunk");
    }
    return word & 15;
}

// The column in B of a kept column of A.
int kept_column(int column, std::string_view type, std::uint64_t choice) {
    if (type == "tf32") {
        if (choice != 4 && choice != 14) throw NotUnderstood("metadata of one of two");
        return 2 * column + (choice == 14 ? 1 : 0);
    }
    const auto first = static_cast<int>(choice & 3);
    const auto second = static_cast<int>(choice >> 2);
    if (first >= second) throw NotUnderstood("metadata that is not in order");
    return column / 2 * 4 + (column % 2 == 0 ? first : second);
}

// Eight rows of 16 bytes for each matrix; the lanes of matrix i name its rows: 8 i + row.
void move_matrices(State& state, const std::vector<Thread*>& lanes, bool load) {
    const Instruction& one = *state.instruction;
    const std::size_t count = has(one, "x4") ? 4 : has(one, "x2") ? 2 : 1;
    const bool transposed = has(one, "trans");
    const Operand& place = one.operands.at(load ? 1 : 0);
    const Operand& data = one.operands.at(load ? 0 : 1);
    if (one.words.back() != "b16" || !has(one, "m8n8")) throw NotUnderstood(one.text);
    Fragment values = load ? Fragment(count) : read_all(state, lanes, data);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t row = 0; row < 8; ++row) {
            state.thread = lanes[8 * i + row];
            std::byte* line = state.memory("shared", state.value(place), 16);
            for (std::size_t column = 0; column < 8; ++column) {
                const std::size_t r = transposed ? column : row;
                const std::size_t c = transposed ? row : column;
                std::uint64_t& word = values.at(i)[4 * r + c / 2];
                const std::size_t shift = 16 * (c % 2);
                std::uint16_t half = 0;
                if (load) {
                    std::memcpy(&half, line + 2 * column, 2);
                    word |= std::uint64_t{half} << shift;
                } else {
                    half = static_cast<std::uint16_t>(word >> shift);
                    std::memcpy(line + 2 * column, &half, 2);
                }
            }
        }
    }
    if (load) write_all(state, lanes, data, values);
}

void transpose(State& state, const std::vector<Thread*>& lanes) {
    const auto& operands = state.instruction->operands;
    const Fragment in = read_all(state, lanes, operands.at(1));
    Fragment out(1);
    for (std::size_t row = 0; row < 8; ++row) {
        for (std::size_t column = 0; column < 8; ++column) {
            const std::uint64_t half = in[0][4 * column + row / 2] >> 16 * (row % 2) & 0xffff;
            out[0][4 * row + column / 2] |= half << 16 * (column % 2);
        }
    }
    write_all(state, lanes, operands.at(0), out);
}

// A matrix in shared memory as its descriptor says: eight lines of 16 bytes lie together; these
// blocks are `leading` apart along a line and `stride` apart from eight lines to the next.
class DescribedMatrix {
public:
    DescribedMatrix(State& state, std::uint64_t descriptor, std::size_t lines,
                    std::size_t line_bytes)
        : line_bytes_(line_bytes), bytes_(lines * line_bytes) {
        if (descriptor >> 62 != 0) throw NotUnderstood("a swizzled matrix");
        const std::uint64_t start = (descriptor & 0x3fff) << 4;
        const std::uint64_t leading = (descriptor >> 16 & 0x3fff) << 4;
        const std::uint64_t stride = (descriptor >> 32 & 0x3fff) << 4;
        for (std::size_t line = 0; line < lines; ++line) {
            for (std::size_t at = 0; at < line_bytes; at += 16) {
                const std::uint64_t address =
                    start + at / 16 * leading + line / 8 * stride + line % 8 * 16;
                std::memcpy(&bytes_[line * line_bytes + at], state.memory("shared", address, 16),
                            16);
            }
        }
    }

    std::uint64_t element(std::size_t line, std::size_t column, int bits) const {
        std::uint64_t value = 0;
        const auto width = static_cast<std::size_t>(bits / 8);
        std::memcpy(&value, &bytes_.at(line * line_bytes_ + column * width), width);
        return value;
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

private:
    std::size_t line_bytes_;
    std::vector<std::byte> bytes_;
};

}  // namespace

double element_value(std::uint64_t bits, std::string_view type) {
    if (type == "f64") return std::bit_cast<double>(bits);
    if (type == "f32") return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (type == "tf32") {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits & 0xffffe000));
    }
    if (type == "bf16") return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
    if (type == "f16") {
        if ((bits & 0x7c00) == 0x7c00) throw Fault("a half that is no number");
        return small_float(bits, 5, 10);
    }
    if (type == "e4m3") {
        if ((bits & 0x7f) == 0x7f) throw Fault("an e4m3 that is no number");
        return small_float(bits, 4, 3);
    }
    if (type == "e5m2") {
        if ((bits & 0x7c) == 0x7c) throw Fault("an e5m2 that is no number");
        return small_float(bits, 5, 2);
    }
    if (type == "e2m3") return small_float(bits, 2, 3);
    if (type == "e3m2") return small_float(bits, 3, 2);
    if (type == "e2m1") return small_float(bits >> 2, 2, 1);  // in the middle of its byte
    if (type == "s8") return static_cast<std::int8_t>(bits);
    if (type == "u8" || type == "u4" || type == "b1") return static_cast<double>(bits);
    if (type == "s4") return static_cast<double>(static_cast<std::int64_t>(bits << 60) >> 60);
    throw NotUnderstood("matrix element " + std::string(type));
}

// Both multiplicands of a warp: register r holds elements of row lane / 4 (+ 8 for odd r of A) from
// column e (lane % 4) on, and 4 e further for each r (of A: each two); e to a register.
MatrixUnit::Matrix MatrixUnit::product(const Fragment& a, const Fragment& b, const Shape& shape,
                                       const std::vector<std::string>& types,
                                       std::uint64_t choice) {
    const std::string& type = types[1];
    const std::string& other = types[2];
    const int bits = element_bits(type);
    const int each = bits == 64 ? 1 : 32 / bits;
    const bool sparse = choice != 0;
    const int kept = sparse ? shape.k / 2 : shape.k;
    Matrix left(static_cast<std::size_t>(shape.m) * kept);
    Matrix right(static_cast<std::size_t>(shape.k) * shape.n);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const auto line = static_cast<int>(lane / 4);
        const auto first = static_cast<int>(lane % 4) * each;
        for (std::size_t r = 0; r < a.size(); ++r) {
            const int row = line + (shape.m > 8 && r % 2 != 0 ? 8 : 0);
            const int from = first + static_cast<int>(shape.m > 8 ? r / 2 : r) * 4 * each;
            for (int e = 0; e < each; ++e) {
                left.at(index_of(row, kept, from + e)) =
                    element_value(element(a, r, lane, bits, e), type);
            }
        }
        for (std::size_t r = 0; r < b.size(); ++r) {
            const int from = first + static_cast<int>(r) * 4 * each;
            for (int e = 0; e < each; ++e) {
                right.at(index_of(from + e, shape.n, line)) =
                    element_value(element(b, r, lane, bits, e), other);
            }
        }
    }
    if (static_cast<int>(a.size() * warp_size) * each != shape.m * kept ||
        static_cast<int>(b.size() * warp_size) * each != shape.k * shape.n) {
        throw NotUnderstood("fragments that do not make the matrices");
    }
    Matrix result(static_cast<std::size_t>(shape.m) * shape.n);
    for (int row = 0; row < shape.m; ++row) {
        for (int k = 0; k < kept; ++k) {
            const double x = left[index_of(row, kept, k)];
            const int of_b = sparse ? kept_column(k, type, choice) : k;
            for (int column = 0; column < shape.n; ++column) {
                result[index_of(row, shape.n, column)] +=
                    x * right[index_of(of_b, shape.n, column)];
            }
        }
    }
    return result;
}

const MatrixUnit::Matrix& MatrixUnit::remember(Remembered made) {
    if (remembered_.size() >= most_remembered) remembered_.erase(remembered_.begin());
    remembered_.push_back(std::move(made));
    return remembered_.back().product;
}

void MatrixUnit::multiply(State& state, const std::vector<Thread*>& lanes) {
    const Instruction& one = *state.instruction;
    const std::vector<std::string> types = types_of(one);
    Shape shape;
    if (types.size() != 4 || !read_shape(one, shape.m, shape.n, shape.k) || shape.n != 8 ||
        !has(one, "row") || !has(one, "col") || (types[1] == "b1" && !has(one, "and"))) {
        throw NotUnderstood(one.text);
    }
    const bool sparse = has(one, "sp::ordered_metadata");
    const Fragment a = read_all(state, lanes, one.operands.at(1));
    const Fragment b = read_all(state, lanes, one.operands.at(2));
    Fragment c = read_all(state, lanes, one.operands.at(3));
    const std::uint64_t choice =
        sparse ? choice_of(read_all(state, lanes, one.operands.at(4)), one) : 0;
    const std::string text = one.opcode + std::to_string(choice);
    const auto known = std::ranges::find_if(remembered_, [&](const Remembered& last) {
        return last.text == text && last.a == a && last.b == b;
    });
    const auto fresh = [&]() -> const Matrix& {
        return remember({a, b, text, product(a, b, shape, types, choice)});
    };
    accumulate(c, types[3], known != remembered_.end() ? known->product : fresh(), 8);
    write_all(state, lanes, one.operands.at(0), c);
}

// Each warp its 16 of the 64 rows.
void MatrixUnit::multiply_as_group(State& state, const std::vector<Thread*>& lanes) {
    const Instruction& one = *state.instruction;
    const std::vector<std::string> types = types_of(one);
    Shape shape;
    if (one.words.at(1) != "mma_async") return;  // done at once: nothing to wait for
    if (types.size() != 3 || !read_shape(one, shape.m, shape.n, shape.k) || shape.m != 64 ||
        has(one, "sp")) {
        throw NotUnderstood(one.text);
    }
    Fragment d = read_all(state, lanes, one.operands.at(0));
    state.thread = lanes[0];
    const bool adds = state.value(one.operands.at(3)) != 0;
    for (std::size_t i = 4; i < one.operands.size(); ++i) {
        const bool scale = i < 6;  // of A and B, then whether they are transposed
        if (state.value(one.operands[i]) != (scale ? 1u : 0u)) throw NotUnderstood(one.text);
    }
    const int bits = element_bits(types[1]);
    const auto line_bytes = static_cast<std::size_t>(shape.k * bits / 8);
    const DescribedMatrix a(state, state.value(one.operands.at(1)), 64, line_bytes);
    const DescribedMatrix b(state, state.value(one.operands.at(2)),
                            static_cast<std::size_t>(shape.n), line_bytes);
    auto known = std::ranges::find_if(remembered_groups_, [&](const RememberedGroup& last) {
        return last.text == one.opcode && last.a == a.bytes() && last.b == b.bytes();
    });
    if (known == remembered_groups_.end()) {
        const auto columns = static_cast<std::size_t>(shape.n);
        Matrix result(64 * columns);
        Matrix right(columns * static_cast<std::size_t>(shape.k));
        for (std::size_t k = 0; k < static_cast<std::size_t>(shape.k); ++k) {
            for (std::size_t column = 0; column < columns; ++column) {
                right[k * columns + column] = element_value(b.element(column, k, bits), types[2]);
            }
        }
        for (std::size_t row = 0; row < 64; ++row) {
            for (std::size_t k = 0; k < static_cast<std::size_t>(shape.k); ++k) {
                const double x = element_value(a.element(row, k, bits), types[1]);
                for (std::size_t column = 0; column < columns; ++column) {
                    result[row * columns + column] += x * right[k * columns + column];
                }
            }
        }
        remembered_groups_.push_back({a.bytes(), b.bytes(), one.opcode, std::move(result)});
        known = remembered_groups_.end() - 1;
    }
    const std::size_t warp = lanes[0]->index / warp_size % 4;
    const auto share = static_cast<std::ptrdiff_t>(known->product.size() / 4);
    const auto begin = known->product.begin() + static_cast<std::ptrdiff_t>(warp) * share;
    if (!adds) {
        for (auto& reg : d) reg.fill(0);
    }
    accumulate(d, types[0], Matrix(begin, begin + share), static_cast<std::size_t>(shape.n));
    write_all(state, lanes, one.operands.at(0), d);
}

void MatrixUnit::execute(State& state, const std::vector<Thread*>& lanes) {
    const std::string& name = state.instruction->words.front();
    if (name == "mma") return multiply(state, lanes);
    if (name == "wgmma") return multiply_as_group(state, lanes);
    if (name == "movmatrix") return transpose(state, lanes);
    move_matrices(state, lanes, name == "ldmatrix");
}

}  // namespace occupipe::ptx

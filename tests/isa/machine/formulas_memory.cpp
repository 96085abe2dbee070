// SPDX-License-Identifier: MIT
// Loads, stores and atomic operations. Where each lane's access goes was chosen before its
// registers were set (addresses.h); every lane has a place of its own.
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/isa/machine/addresses.h"
#include "tests/isa/machine/formulas.h"

namespace occupipe::isa::test {
namespace {

int size_of(const Case& of) {
    if (of.has("U8") || of.has("S8")) return 1;
    if (of.has("U16") || of.has("S16")) return 2;
    if (of.has("128")) return 16;
    return of.has("64") || of.has("S64") || of.has("F64") ? 8 : 4;
}

std::vector<std::byte>& memory(Case& of, State& state) {
    switch (space_of(of.one)) {
        case Space::shared:
            return state.shared;
        case Space::local:
            return state.local;
        default:
            return state.global;
    }
}

// Bytes from the state before the instruction.
std::uint64_t bytes_at(const std::vector<std::byte>& from, std::size_t at, int count) {
    std::uint64_t value = 0;
    std::memcpy(&value, &from.at(at), static_cast<std::size_t>(count));
    return value;
}

bool load(Case& of) {
    const int size = size_of(of);
    each_lane_of(of, [&](Lane& lane) {
        const std::size_t at = place_of(of, lane.number());
        const auto& from = memory(of, const_cast<State&>(of.before));
        if (size < 4) {
            const auto value = static_cast<std::uint32_t>(bytes_at(from, at, size));
            const bool is_signed = of.has("S8") || of.has("S16");
            const std::uint32_t extended =
                size == 1 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value))
                          : static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
            return lane.write(is_signed ? extended : value);
        }
        for (int word = 0; word < size / 4; ++word) {
            const std::size_t offset = at + 4 * static_cast<std::size_t>(word);
            lane.write(static_cast<std::uint32_t>(bytes_at(from, offset, 4)), word);
        }
    });
    return true;
}

bool store(Case& of) {
    const int size = size_of(of);
    const std::size_t data = of.sources.size() - 1;
    each_lane_of(of, [&](Lane& lane) {
        const std::size_t at = place_of(of, lane.number());
        auto& into = memory(of, of.after);
        for (int word = 0; word < (size + 3) / 4; ++word) {
            const std::uint32_t value = lane.raw(data, word);
            const auto part = static_cast<std::size_t>(std::min(size, 4));
            std::memcpy(&into.at(at + 4 * static_cast<std::size_t>(word)), &value, part);
        }
    });
    return true;
}

bool constant(Case& of) {
    const Operand& operand = *of.sources[0];
    const int size = size_of(of);
    each_lane_of(of, [&](Lane& lane) {
        const std::int64_t at = constant_place(of, lane.number());
        const std::uint32_t word = of.machine.constant(operand.bank, at & ~std::int64_t{3});
        if (size < 4) {
            const std::uint32_t moved = word >> 8 * (at & 3);
            const std::uint32_t value =
                of.has("U8")    ? moved & 0xff
                : of.has("S8")  ? static_cast<std::uint32_t>(static_cast<std::int8_t>(moved))
                : of.has("U16") ? moved & 0xffff
                                : static_cast<std::uint32_t>(static_cast<std::int16_t>(moved));
            return lane.write(value);
        }
        for (int i = 0; i < size / 4; ++i) {
            lane.write(of.machine.constant(operand.bank, at + 4 * i), i);
        }
    });
    return true;
}

std::uint64_t combine(const Case& of, std::uint64_t old, std::uint64_t value) {
    const bool wide = size_of(of) == 8;
    if (of.has("F16x2") || of.has("BF16x2")) {
        return sums_of_halves(static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(value),
                              of.has("BF16x2"));
    }
    if (of.has("F32")) {
        const auto flush = [&](std::uint64_t bits) {
            const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
            return of.has("FTZ") && !std::isnormal(x) && std::isfinite(x) ? std::copysign(0.0F, x)
                                                                          : x;
        };
        const float sum = flush(std::bit_cast<std::uint32_t>(flush(old) + flush(value)));
        return std::isnan(sum) ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum);
    }
    if (of.has("F64")) {
        for (const std::uint64_t bits : {old, value}) {
            if (std::isnan(std::bit_cast<double>(bits))) return bits | 0x0008000000000000;
        }
        const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(value);
        return std::isnan(sum) ? 0xfff8000000000000 : std::bit_cast<std::uint64_t>(sum);
    }
    const bool is_signed = of.has("S32") || of.has("S64");
    const auto less = [&](std::uint64_t x, std::uint64_t y) {
        if (!is_signed) return x < y;
        return wide ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y)
                    : static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
    };
    if (of.has("ADD")) return old + value;
    if (of.has("MIN")) return less(value, old) ? value : old;
    if (of.has("MAX")) return less(old, value) ? value : old;
    if (of.has("AND")) return old & value;
    if (of.has("OR")) return old | value;
    if (of.has("XOR")) return old ^ value;
    if (of.has("INC")) return old >= value ? 0 : old + 1;
    if (of.has("DEC")) return old == 0 || old > value ? value : old - 1;
    return value;  // EXCH
}

// PTX, mbarrier.arrive, as Ampere's code counts: up to a power of two, from there on anew.
bool arrive(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const std::size_t at = place_of(of, lane.number());
        const std::uint64_t old = bytes_at(memory(of, of.after), at, 8);
        const std::uint64_t phase = old >> 63, left = 0x80000000 - (old >> 32 & 0x7fffffff);
        const std::uint64_t count = 0x40000000 - (old & 0xffffffff);
        const bool last = left == 1;
        const std::uint64_t next = last ? count & 0x7fffffff : left - 1;
        const std::uint64_t fresh = (last ? 1 - phase : phase) << 63 |
                                    ((0x80000000 - next) & 0x7fffffff) << 32 | (old & 0xffffffff);
        std::memcpy(&memory(of, of.after).at(at), &fresh, 8);
        lane.write64(old);
    });
    return true;
}

bool atomic(Case& of) {
    if (of.has("ARRIVE")) return of.one.opcode == "ATOMS" && arrive(of);
    for (const char* other :
         {"F16x4", "F16x8", "BF16x4", "BF16x8", "POPC", "CAST", "F32x2", "F32x4"}) {
        if (of.has(other)) return false;
    }
    // PTX has these of unsigned words alone.
    if ((of.has("INC") || of.has("DEC")) && (of.has("S32") || of.has("64"))) return false;
    const int size = size_of(of);
    const bool compares = of.has("CAS");
    const std::size_t data = of.sources.size() - (compares ? 2 : 1);
    each_lane_of(of, [&](Lane& lane) {
        const std::size_t at = place_of(of, lane.number());
        const std::uint64_t old = bytes_at(memory(of, const_cast<State&>(of.before)), at, size);
        const auto read = [&](std::size_t i) {
            return size == 8 ? lane.raw64(i) : std::uint64_t{lane.raw(i)};
        };
        const std::uint64_t fresh =
            compares ? (old == read(data) ? read(data + 1) : old) : combine(of, old, read(data));
        // Which NaN a sum in memory becomes is not known.
        if (of.has("F64") && std::isnan(std::bit_cast<double>(fresh))) {
            for (std::size_t i = 0; i < 8; ++i) of.open_global.push_back(at + i);
        }
        std::memcpy(&memory(of, of.after).at(at), &fresh, static_cast<std::size_t>(size));
        lane.write(static_cast<std::uint32_t>(old));
        if (size == 8) lane.write64(old);
        lane.leave_open(81);
    });
    return true;
}

// Matrices of 8 by 8 halves: lane 8 m + r names row r of matrix m.
bool load_matrix(Case& of) {
    if (!of.has("16") || of.active != 0xffffffff) return false;
    const int count = of.has("4") ? 4 : of.has("2") ? 2 : 1;
    each_lane_of(of, [&](Lane& lane) {
        const int me = lane.number();
        for (int m = 0; m < count; ++m) {
            const auto half = [&](int row, int column) {
                const std::size_t at =
                    place_of(of, 8 * m + row) + 2 * static_cast<std::size_t>(column);
                return static_cast<std::uint32_t>(bytes_at(of.before.shared, at, 2));
            };
            const int first = 2 * (me % 4), other = me / 4;
            const std::uint32_t low = of.has("MT88") ? half(first, other) : half(other, first);
            const std::uint32_t high =
                of.has("MT88") ? half(first + 1, other) : half(other, first + 1);
            lane.write(low | high << 16, m);
        }
    });
    return true;
}

// PTX, stmatrix: lane 8 m + r says where row r of matrix m begins.
bool store_matrix(Case& of) {
    if (!of.has("16") || of.active != 0xffffffff) return false;
    const int count = of.has("4") ? 4 : of.has("2") ? 2 : 1;
    const auto first = static_cast<std::size_t>(*of.one.operands.back().number);
    for (int m = 0; m < count; ++m) {
        for (int row = 0; row < 8; ++row) {
            for (int column = 0; column < 8; ++column) {
                const int i = of.has("MT88") ? column : row, j = of.has("MT88") ? row : column;
                const std::uint32_t pair =
                    of.before.general[first + static_cast<std::size_t>(m)]
                                     [static_cast<std::size_t>(4 * i + j / 2)];
                const std::size_t at =
                    place_of(of, 8 * m + row) + 2 * static_cast<std::size_t>(column);
                of.after.shared.at(at) = static_cast<std::byte>(pair >> (16 * (j % 2)));
                of.after.shared.at(at + 1) = static_cast<std::byte>(pair >> (16 * (j % 2) + 8));
            }
        }
    }
    return true;
}

// PTX, movmatrix: element (i, j) of the result is element (j, i).
bool transpose(Case& of) {
    if (!of.has("MT88") || of.active != 0xffffffff) return false;
    const auto& from = of.before.general[static_cast<std::size_t>(*of.one.operands.back().number)];
    each_lane_of(of, [&](Lane& lane) {
        const auto element = [&](int i, int j) {
            return from[static_cast<std::size_t>(4 * i + j / 2)] >> (16 * (j % 2)) & 0xffff;
        };
        const int i = lane.number() / 4, j = lane.number() % 4 * 2;
        lane.write(element(j, i) | element(j + 1, i) << 16);
    });
    return true;
}

}  // namespace

std::vector<NamedFormula> memory_formulas() {
    return {{"LDG", &load},         {"LD", &load},           {"LDS", &load},      {"LDL", &load},
            {"STG", &store},        {"ST", &store},          {"STS", &store},     {"STL", &store},
            {"LDC", &constant},     {"ULDC", &constant},     {"LDCU", &constant}, {"ATOM", &atomic},
            {"ATOMG", &atomic},     {"ATOMS", &atomic},      {"RED", &atomic},    {"REDG", &atomic},
            {"LDSM", &load_matrix}, {"STSM", &store_matrix}, {"MOVM", &transpose}};
}

}  // namespace occupipe::isa::test

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace occupipe::isa {

// One 128-bit instruction as it stands in the file: bit 0 is the lowest of `low`, bit 64 the lowest
// of `high`.
struct Word {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    // `count` bits from bit `first` on; 1 <= count <= 64.
    std::uint64_t bits(int first, int count) const {
        std::uint64_t value = first >= 64 ? high >> (first - 64) : low >> first;
        if (first < 64 && first + count > 64) value |= high << (64 - first);
        return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
    }

    bool bit(int at) const { return bits(at, 1) != 0; }

    bool operator==(const Word&) const = default;
};

inline constexpr std::int64_t instruction_bytes = 16;

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
#include "tests/isa/machine/operands.h"

#include <iterator>

namespace occupipe::isa::test {
namespace {

template <typename T, std::size_t size>
T one_of(const T (&from)[size], std::uint64_t random) {
    return from[random % size];
}

std::uint32_t single(std::mt19937_64& random) {
    constexpr std::uint32_t specials[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
        0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc12345, 0x7f812345, 0x7fffffff, 0x3f800001, 0x3f7fffff, 0x4f000000, 0xcf000000,
        0x4f7fffff, 0x5f000000, 0x3f000000, 0x3fc00000, 0x40200000, 0x7e800001, 0x4effffff};
    const auto pattern = static_cast<std::uint32_t>(random());
    switch (random() % 8) {
        case 0:
            return one_of(specials, random());
        case 1:
            return pattern & 0x807fffff;
        case 2:
            return (pattern & 0x81ffffff) | 0x3e000000;
        case 3:
        case 4:
            return (pattern & 0x83ffffff) | 0x3c000000;
        case 5:
            return (pattern & 0x87ffffff) | 0x48000000;
        case 6:
            return pattern & 0xff800000;  // powers of two
        default:
            return pattern;
    }
}

std::uint32_t half(std::mt19937_64& random) {
    constexpr std::uint32_t specials[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3c00,
                                          0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfd55,
                                          0x3bff, 0x3c01, 0x3f80, 0x007f, 0x7f80, 0x7fc0, 0x0080};
    const auto pattern = static_cast<std::uint32_t>(random() & 0xffff);
    switch (random() % 5) {
        case 0:
            return one_of(specials, random());
        case 1:
            return pattern & 0x83ff;
        case 2:
        case 3:
            return (pattern & 0x8fff) | 0x3000;
        default:
            return pattern;
    }
}

std::uint32_t upper_of_double(std::mt19937_64& random) {
    constexpr std::uint32_t specials[] = {
        0,          0x80000000, 0x00000001, 0x000fffff, 0x00100000, 0x3ff00000, 0xbff00000,
        0x7fefffff, 0x7ff00000, 0xfff00000, 0x7ff80000, 0xfff80123, 0x7ff00001, 0x41e00000,
        0x43e00000, 0xc1e00000, 0x3fe00000, 0x40040000, 0x47efffff, 0x36a00000};
    const auto pattern = static_cast<std::uint32_t>(random());
    switch (random() % 6) {
        case 0:
            return one_of(specials, random());
        case 1:
            return pattern & 0x800fffff;
        case 2:
        case 3:
            return (pattern & 0x807fffff) | 0x3f800000;  // near 1
        case 4:
            return (pattern & 0x83ffffff) | 0x3e000000;
        default:
            return pattern;
    }
}

}  // namespace

std::uint32_t word_of(Flavour flavour, std::mt19937_64& random) {
    constexpr std::uint32_t ends[] = {0,          1,          0xffffffff, 0x7fffffff, 0x80000000,
                                      0x80000001, 0xfffffffe, 0x0000ffff, 0xffff0000, 0x00008000};
    switch (flavour) {
        case Flavour::integer:
            return random() % 4 == 0 ? one_of(ends, random())
                                     : static_cast<std::uint32_t>(random());
        case Flavour::small:
            return random() % 4 == 0 ? one_of(ends, random())
                                     : static_cast<std::uint32_t>(random() % 80);
        case Flavour::single:
            return single(random);
        case Flavour::half: {
            const std::uint32_t low = half(random);
            return low | half(random) << 16;
        }
        case Flavour::upper_of_double:
            return upper_of_double(random);
        case Flavour::count:
            break;
    }
    return 0;
}

std::uint32_t interesting(std::mt19937_64& random) {
    const auto flavours = static_cast<std::uint64_t>(Flavour::count);
    return word_of(static_cast<Flavour>(random() % flavours), random);
}

std::string interesting_bytes(std::size_t bytes, std::mt19937_64& random) {
    static const std::string store = [] {
        std::mt19937_64 own(4242);
        std::string all;
        while (all.size() < std::size_t{1} << 18) {
            const std::uint32_t word = interesting(own);
            for (int i = 0; i < 4; ++i) all.push_back(static_cast<char>(word >> 8 * i));
        }
        return all;
    }();
    return store.substr(random() % ((store.size() - bytes) / 4) * 4, bytes);
}

}  // namespace occupipe::isa::test

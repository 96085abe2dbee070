// SPDX-License-Identifier: MIT
// Seeded random values that aim at what readers and writers get wrong.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace occupipe::test {

class RandomValues {
public:
    explicit RandomValues(std::uint64_t seed) : engine_(seed) {}

    std::int64_t between(std::int64_t first, std::int64_t last) {
        return std::uniform_int_distribution<std::int64_t>(first, last)(engine_);
    }
    bool chance(double p) { return std::bernoulli_distribution(p)(engine_); }

    // Over many magnitudes, with all digits.
    double positive() {
        const double exponent = std::uniform_real_distribution<double>(-20, 20)(engine_);
        return chance(0.3) ? static_cast<double>(between(1, 1000)) / 4 : std::pow(10, exponent);
    }

    // Text that YAML could take for something else.
    std::string text() {
        static const std::array<std::string, 44> pieces = {
            "a",  "Z", "0",  "17", "1e5", "0x1f", "true",   "null", "~",   "no",  ".inf",
            ".5", "-", "- ", ": ", ":",   "#",    " #",     "'",    "\"",  "\\",  "{",
            "}",  "[", "]",  ",",  "&a",  "*a",   "!t",     "|",    ">",   "%",   "@",
            "`",  "?", " ",  "\t", "\n",  "\x01", "Λ ≤ 11", "日本", "---", "...", "é"};
        std::string result;
        for (std::int64_t n = between(1, 5); n > 0; --n) {
            result += pieces[static_cast<std::size_t>(between(0, pieces.size() - 1))];
        }
        return result;
    }

    // The same without control characters: a legal name of a device or a kernel.
    std::string title() {
        std::string result = text() + "x";
        std::erase_if(result, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
        return result;
    }

    // A legal name of an instruction, a subsystem or a node.
    std::string name(std::int64_t number) {
        static const std::array<std::string, 8> stems = {"fma.f32", "1e", "null", "-",
                                                         "x_",      "%r", "µop",  "!a"};
        return stems[static_cast<std::size_t>(between(0, stems.size() - 1))] +
               std::to_string(number);
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace occupipe::test

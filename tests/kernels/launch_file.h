// SPDX-License-Identifier: MIT
// The tests' own reader of launch files (README.md): buffers with their contents, and launches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace occupipe::test {

enum class ElementType { i8, u8, i16, u16, f16, bf16, i32, u32, f32, i64, u64, f64 };

std::string_view name_of(ElementType type);
int size_of(ElementType type);  // bytes

struct Buffer {
    std::string name;
    ElementType type = ElementType::f32;
    std::int64_t count = 0;
    std::vector<std::byte> bytes;
};

struct Argument {
    std::string buffer;            // or, if empty:
    std::vector<std::byte> bytes;  // of a scalar
};

struct Launch {
    std::string kernel;
    std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1};
    unsigned shared_bytes = 0;  // dynamic
    std::vector<Argument> arguments;
};

struct LaunchFile {
    std::filesystem::path path;
    std::string source;  // beside the launch file
    std::vector<Buffer> buffers;
    std::vector<Launch> launches;
    std::vector<std::string> check;
};

// Throws InputError.
LaunchFile read_launch_file(const std::filesystem::path& path);

// Value `index` of the random sequence `seed`: SplitMix64's.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

}  // namespace occupipe::test

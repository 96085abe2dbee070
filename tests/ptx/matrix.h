// SPDX-License-Identifier: MIT
// Instructions of a whole warp on matrices: mma, wgmma, ldmatrix, stmatrix, movmatrix. Where a
// thread's elements lie: PTX ISA 9.0, chapters 9.7.14 and 9.7.15.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/state.h"

namespace occupipe::ptx {

// A number's value from its bits: "f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "e2m3",
// "e3m2", "e2m1", "s8", "u8", "s4", "u4", "b1". Throws NotUnderstood.
double element_value(std::uint64_t bits, std::string_view type);

// The operands' registers of a warp: [register][lane].
using Fragment = std::vector<std::array<std::uint64_t, warp_size>>;

class MatrixUnit {
public:
    // Executes the state's instruction for all lanes of a warp.
    void execute(State& state, const std::vector<Thread*>& lanes);

private:
    struct Shape {
        int m = 0, n = 0, k = 0;
    };
    using Matrix = std::vector<double>;  // by rows

    void multiply(State& state, const std::vector<Thread*>& lanes);
    void multiply_as_group(State& state, const std::vector<Thread*>& lanes);
    static Matrix product(const Fragment& a, const Fragment& b, const Shape& shape,
                          const std::vector<std::string>& types, std::uint64_t choice);

    // The last products: a loop's multiplicands stay what they are.
    struct Remembered {
        Fragment a, b;
        std::string text;
        Matrix product;
    };
    const Matrix& remember(Remembered made);
    std::vector<Remembered> remembered_;

    struct RememberedGroup {
        std::vector<std::byte> a, b;
        std::string text;
        Matrix product;
    };
    std::vector<RememberedGroup> remembered_groups_;
};

}  // namespace occupipe::ptx

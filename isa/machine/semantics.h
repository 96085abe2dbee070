// SPDX-License-Identifier: MIT
// The table of what instructions do: one row per opcode.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "isa/instruction.h"
#include "isa/machine/step.h"

namespace occupipe::isa {

// Chooses the handler of an instruction whose operands stand in `step` already; may set
// Step::option and Step::immediate. Nothing is returned, and `why_not` says why ("with .SPIN"),
// where this form is not executed.
using Bind = Handler (*)(const Instruction& instruction, int architecture, Step& step,
                         std::string& why_not);

struct Semantics {
    std::string_view opcode;
    Bind bind;
};

// Rows by unit, each in a file of its name.
std::span<const Semantics> integer_semantics();
std::span<const Semantics> bit_semantics();
std::span<const Semantics> move_semantics();
std::span<const Semantics> memory_semantics();
std::span<const Semantics> atomic_semantics();
std::span<const Semantics> control_semantics();
std::span<const Semantics> collective_semantics();
std::span<const Semantics> float_semantics();
std::span<const Semantics> half_semantics();
std::span<const Semantics> double_semantics();
std::span<const Semantics> conversion_semantics();
std::span<const Semantics> function_semantics();  // MUFU
std::span<const Semantics> matrix_semantics();

// The row of an opcode ("IMAD"); none where it is not executed.
const Semantics* semantics_of(std::string_view opcode);

// A function that the driver brings (printf, assert, malloc).
struct DriverFunction {
    std::string_view name;
    void (*call)(Warp& warp, const Step& step, Mask lanes);
    bool uses_heap = false;
};
// None where the name is of no such function.
const DriverFunction* driver_function(std::string_view name);
// What calls the one at Step::immediate.
Handler call_of_driver();

// Whether the processor has AVX2: handlers come in two versions from one text (`handler_of`).
bool wide_vectors();

// Op has a static `run(Warp&, const Step&, Mask)` that is OCCUPIPE_INLINE; what it calls should be
// inline too, so that it is compiled for the wider vectors.
template <typename Op>
void run_plain(Warp& warp, const Step& step, Mask active) {
    Op::run(warp, step, active);
}
#if defined(__x86_64__)
template <typename Op>
[[gnu::target("avx2,bmi,bmi2,popcnt,lzcnt")]] void run_wide(Warp& warp, const Step& step,
                                                            Mask active) {
    Op::run(warp, step, active);
}
template <typename Op>
Handler handler_of() {
    return wide_vectors() ? &run_wide<Op> : &run_plain<Op>;
}
#else
template <typename Op>
Handler handler_of() {
    return &run_plain<Op>;
}
#endif

}  // namespace occupipe::isa

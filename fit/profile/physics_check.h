// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "core/instruction.h"
#include "fit/curves/curve.h"
#include "fit/laws/fit_timing.h"

namespace occupipe {

// Whether a result of this instruction comes within tens of cycles on every GPU that was ever
// measured: plain arithmetic and logic on registers. Its times in the hundreds mean that their
// unit is another one, or that a step is not this instruction.
bool is_plain_arithmetic(std::string_view instruction);

// Λ read directly at the left end of the hull: the slope of cycles over depth with one instruction
// in flight (one warp, one chain), weighted; nullopt when that was not measured at two depths.
// A drift to and fro of this height (TimingFit::wandering) stands in the points' errors.
std::optional<Estimate> left_end_latency(const Curve& curve, double wandering = 0);

// Two checks that no law can make by itself.
//  - Left end: "Λ comes from the left end" (docs/background/pipeline-model.md). Where one
//  instruction in
//    flight contradicts the fit over all occupancies, Λ is what that point says, its standard error
//    is the contradiction and what moves all points alike (TimingFit::common_error), and a note
//    gives both.
//  - Floor: no result is available to the next instruction in less than one cycle. A Λ below that
//  is
//    code that the compiler removed or merged: the fit is withdrawn, with the reason.
void check_against_physics(const Curve& curve, InstructionKind kind, TimingFit& fit);

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// What simulators give one latency and one rate: the instructions of one execution unit.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::analysis {

struct UnitClass {
    std::string_view name;                         // "sp", as Accel-Sim writes it
    std::span<const std::string_view> candidates;  // the first that the profile has stands for all
};

// int, sp, dp, sfu: in this order.
std::span<const UnitClass> unit_classes();
// Matrix instructions by what one machine instruction computes: m16n8k16 from compute capability
// 8.0 on, m16n8k8 for 7.5. Empty for others, whose machine instruction no row measures.
std::string_view tensor_instruction(const GpuProfile& profile);

// The loads whose Λ simulators ask for, by where the data is found.
enum class LoadFrom { shared, l1, l2, memory };
std::span<const std::string_view> load_names(LoadFrom from);
std::string_view to_string(LoadFrom from);

// What a line of a format is made of.
enum class Uses { cpi, latency, both };
// The first of these names that the profile has with what is used as values: what is not used may
// be a bound or unknown. nullptr where there is none.
const InstructionTiming* first_with(const GpuProfile& profile,
                                    std::span<const std::string_view> names, Uses uses);
// Why there is none: "none of fma.f32, add.f32 is in the profile", "fma.f32: λ is a bound".
std::string why_none(const GpuProfile& profile, std::span<const std::string_view> names, Uses uses);

// Instructions of the profile that a class stands for although their λ or Λ differs from `chosen`
// by more than a tenth: "mul.f32 (λ 0.5, Λ 4)".
std::vector<std::string> other_than(const GpuProfile& profile, const UnitClass& unit,
                                    const InstructionTiming& chosen);

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "analysis/exchange/unit_classes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

namespace occupipe::analysis {
namespace {

constexpr std::array<std::string_view, 4> integers = {"mad.s32", "add.s32", "mul.s32", "and.b32"};
constexpr std::array<std::string_view, 3> singles = {"fma.f32", "add.f32", "mul.f32"};
constexpr std::array<std::string_view, 3> doubles = {"fma.f64", "add.f64", "mul.f64"};
// One MUFU each come first; without .ftz, and for cos, a multiplication may stand beside it.
constexpr std::array<std::string_view, 8> specials = {
    "ex2.approx.ftz.f32", "lg2.approx.ftz.f32", "rsqrt.approx.ftz.f32", "rcp.approx.ftz.f32",
    "ex2.approx.f32",     "rsqrt.approx.f32",   "sin.approx.f32",       "cos.approx.f32"};

constexpr std::array<UnitClass, 4> classes = {UnitClass{"int", integers}, UnitClass{"sp", singles},
                                              UnitClass{"dp", doubles}, UnitClass{"sfu", specials}};

constexpr std::array<std::string_view, 3> shared_loads = {"ld.shared.u32", "ld.shared.s32",
                                                          "ld.shared.f32"};
constexpr std::array<std::string_view, 2> l1_loads = {"ld.global.l1.u32", "ld.global.l1.f32"};
constexpr std::array<std::string_view, 2> l2_loads = {"ld.global.l2.u32", "ld.global.l2.f32"};
constexpr std::array<std::string_view, 3> memory_loads = {"ld.global.u32", "ld.global.s32",
                                                          "ld.global.f32"};

bool far_from(double value, double reference) {
    constexpr double a_tenth = 0.1;
    return std::abs(value - reference) > a_tenth * std::abs(reference);
}

// Empty where what is used is there as values.
std::string why_not(const InstructionTiming& timing, Uses uses) {
    std::vector<std::string> reasons;
    if (uses != Uses::latency && !timing.cpi.identifiable()) reasons.emplace_back("λ is a bound");
    if (uses != Uses::cpi && !timing.latency)
        reasons.emplace_back("Λ is not known");
    else if (uses != Uses::cpi && !timing.latency->identifiable())
        reasons.emplace_back("Λ is a bound");
    return fmt::format("{}", fmt::join(reasons, " and "));
}

}  // namespace

std::span<const UnitClass> unit_classes() { return classes; }

std::string_view tensor_instruction(const GpuProfile& profile) {
    const std::string& capability = profile.device.compute_capability;
    if (capability == "7.5") return "mma.m16n8k8.f32.f16";
    const bool ampere_or_later = !capability.empty() && capability.front() >= '8';
    const bool two_digits = capability.size() > 3 && capability[0] == '1';
    return ampere_or_later || two_digits ? "mma.m16n8k16.f32.f16" : "";
}

std::span<const std::string_view> load_names(LoadFrom from) {
    switch (from) {
        case LoadFrom::shared:
            return shared_loads;
        case LoadFrom::l1:
            return l1_loads;
        case LoadFrom::l2:
            return l2_loads;
        case LoadFrom::memory:
            break;
    }
    return memory_loads;
}

std::string_view to_string(LoadFrom from) {
    switch (from) {
        case LoadFrom::shared:
            return "shared memory";
        case LoadFrom::l1:
            return "first-level cache";
        case LoadFrom::l2:
            return "second-level cache";
        case LoadFrom::memory:
            break;
    }
    return "device memory";
}

const InstructionTiming* first_with(const GpuProfile& profile,
                                    std::span<const std::string_view> names, Uses uses) {
    for (const std::string_view name : names) {
        const InstructionTiming* const timing = profile.find_instruction(name);
        if (timing != nullptr && why_not(*timing, uses).empty()) return timing;
    }
    return nullptr;
}

std::string why_none(const GpuProfile& profile, std::span<const std::string_view> names,
                     Uses uses) {
    std::vector<std::string> reasons;
    for (const std::string_view name : names) {
        const InstructionTiming* const timing = profile.find_instruction(name);
        if (timing != nullptr)
            reasons.push_back(fmt::format("{}: {}", name, why_not(*timing, uses)));
    }
    if (!reasons.empty()) return fmt::format("{}", fmt::join(reasons, ", "));
    return fmt::format("{} {} is in the profile", names.size() > 1 ? "none of" : "no",
                       fmt::join(names, ", "));
}

std::vector<std::string> other_than(const GpuProfile& profile, const UnitClass& unit,
                                    const InstructionTiming& chosen) {
    std::vector<std::string> others;
    const double cpi = profile.cpi_per_core(chosen).value;
    for (const std::string_view name : unit.candidates) {
        const InstructionTiming* const timing = profile.find_instruction(name);
        if (timing == nullptr || timing == &chosen || !timing->determined()) continue;
        const double other = profile.cpi_per_core(*timing).value;
        if (far_from(other, cpi) || far_from(timing->latency->value, chosen.latency->value))
            others.push_back(
                fmt::format("{} (λ {:.4g}, Λ {:.4g})", name, other, timing->latency->value));
    }
    return others;
}

}  // namespace occupipe::analysis

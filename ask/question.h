// SPDX-License-Identifier: MIT
// How long does this kernel take on that GPU, changed and launched so? A plain value; every command
// that predicts fills one.
//   Question question{.source = {.kernels = "saxpy"}, .gpu = "rtx-2070"};
//   answer(question, {})   // ask/answer.h
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ask/launch_choice.h"
#include "ask/memory_levels.h"
#include "ask/source.h"
#include "sim/models/model.h"

namespace occupipe::analysis {

enum class MemoryPricing : std::uint8_t {
    none,        // as the profile says, wherever the data come from
    per_access,  // each instruction by the levels that answer it
    aggregate,   // one ratio R and one conflict degree D of the kernel, as the paper has it
};

constexpr std::string_view to_string(MemoryPricing pricing) {
    return pricing == MemoryPricing::none         ? "none"
           : pricing == MemoryPricing::per_access ? "per-access"
                                                  : "aggregate";
}

constexpr auto words(std::type_identity<MemoryPricing>) {
    return std::array{MemoryPricing::none, MemoryPricing::per_access, MemoryPricing::aggregate};
}

// The one that to_string() calls so; none: there is no such.
constexpr std::optional<MemoryPricing> memory_pricing(std::string_view word) {
    for (const MemoryPricing one : words(std::type_identity<MemoryPricing>{}))
        if (to_string(one) == word) return one;
    return std::nullopt;
}

// How far another instruction's numbers may be from an op's own.
enum class Strength : std::uint8_t {
    same_instruction,  // the machine instruction is the same
    published_unit,    // a publication has one number for the unit
    of_class,          // any instruction of the class, as the papers have one number for a class
};

// Of the profile, in this order: uses, then what-ifs, which may name what a use has added.
struct ProfileChanges {
    std::vector<std::string> uses;                    // OP=INSTRUCTION
    std::vector<std::string> what_ifs;                // NAME=VALUE
    std::vector<std::string> classes;                 // whose published latencies fill gaps
    Strength substitutes = Strength::published_unit;  // the weakest that is taken unasked

    bool operator==(const ProfileChanges&) const = default;
};

struct MemoryQuestion {
    MemoryPricing pricing = MemoryPricing::per_access;
    CacheSizes caches = {};
    // Reuse of machine code once more, in the order in which a first prediction issues.
    bool predicted_order = false;

    bool operator==(const MemoryQuestion&) const = default;
};

struct LaunchesQuestion {
    LaunchChoice choice = {};
    std::optional<std::string> occupancy = {};  // "all", or a list such as "1-10" [warps]

    bool operator==(const LaunchesQuestion&) const = default;
};

struct RunQuestion {
    std::optional<Policy> policy = {};  // absent: as the profile says
    std::optional<Select> select = {};
    std::optional<Order> order = {};  // absent: as the kernel says
    bool stall_counts = false;
    bool estimate = false;
    // Instructions of a simulation that are issued one by one before it is estimated.
    std::int64_t exact = SimulationOptions().exact;
    MemoryBehaviour behaviour = {};

    ModelOptions options() const {
        ModelOptions all;
        all.policy = policy;
        all.select = select;
        all.order = order;
        all.stall_counts = stall_counts;
        all.estimate = estimate;
        all.exact = exact;
        all.memory = behaviour;
        return all;
    }
    bool operator==(const RunQuestion&) const = default;
};

struct Question {
    KernelSource source;
    std::string gpu;  // a profile: a file or a shipped name
    ProfileChanges changes = {};
    LaunchesQuestion launches = {};
    std::vector<std::string> models = {"pipeline"};
    MemoryQuestion memory = {};
    RunQuestion run = {};

    bool operator==(const Question&) const = default;
};

}  // namespace occupipe::analysis

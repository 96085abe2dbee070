// SPDX-License-Identifier: MIT
// A GPU as the Pipeline model sees it (docs/background/pipeline-model.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/annotation.h"
#include "core/error.h"
#include "core/estimate.h"
#include "core/instruction.h"
#include "core/match_device.h"
#include "core/parameter_table.h"

namespace occupipe {

enum class Scope { core, scheduler };  // one per core | one copy per scheduler

// Which warp a scheduler takes first when several can issue.
enum class Policy {
    lrr,     // loose round robin: a ring over the warps, starting after the one that issued last
    gto,     // greedy then oldest: the warp that issued last while it can, else the oldest
    oldest,  // the oldest group's lowest warp
};

// What a scheduler goes through first (docs/background/pipeline-model.md, "Choice").
enum class Select {
    subsystem,  // its subsystems look for warps
    warp,       // its warps look for subsystems
};

std::string_view to_string(Scope scope);
std::string_view to_string(Policy policy);
std::string_view to_string(Select select);

struct DeviceIdentity {
    std::string name;  // the only required one
    std::string vendor;
    std::string architecture;
    std::string compute_capability;  // "6.1"; empty where the vendor has none

    bool operator==(const DeviceIdentity&) const = default;
};

// What one core can hold; an absent limit is unknown, not infinite.
struct Limits {
    std::optional<std::int64_t> warps;
    std::optional<std::int64_t> groups;
    std::optional<std::int64_t> group_warps;
    std::optional<std::int64_t> registers;
    std::optional<std::int64_t> shared_memory_bytes;

    bool operator==(const Limits&) const = default;
};

// More take too much memory to simulate.
inline constexpr int most_schedulers = 1'000'000;

struct Issue {
    std::optional<double> limit;  // IL [warp-instructions/cycle/core]; absent = no valve
    std::optional<double> limit_std_error;
    int schedulers = 1;
    // What the GPU was found to do; absent = not known, lrr and subsystem are assumed.
    std::optional<Policy> policy;
    std::optional<Select> select;

    bool operator==(const Issue&) const = default;
};

struct Subsystem {
    std::string name;
    std::optional<Scope> scope;  // absent = not known, one for the core is assumed
    bool per_scheduler() const { return scope == Scope::scheduler; }
    // The law Λ(ω) = Λ0 + h·ω: h as a share of λ, from 0 to below 1. A result comes later by this
    // share of the λ of every instruction outstanding in the subsystem
    // (docs/background/pipeline-model.md).
    std::optional<Estimate> contention;
    // Of the scheduler, that one of its instructions takes; absent = one.
    std::optional<std::int64_t> issue_slots;

    bool operator==(const Subsystem&) const = default;
};

struct InstructionTiming {
    std::string name;  // "fma.f32", PTX spelling
    std::string subsystem;
    Estimate cpi;  // λ [core cycles per warp-instruction]
    // Warps that execute one instruction together (wgmma: 4). λ stays per warp, as everywhere: the
    // instruction as a whole takes this many times λ.
    int warps_per_instruction = 1;
    // Λ [core cycles], of one instruction in flight; absent where nothing waited for its result
    // when it was measured.
    std::optional<Estimate> latency;
    std::string latency_unknown;  // why there is none; empty where there is one
    // Machine instructions of a step of the chain that was measured ("2 FSEL + DSETP"), whose λ
    // and Λ these then are; empty where it is this one instruction, or was not examined.
    std::string step;
    // h: Λ grows by this per further instruction in flight [core cycles]; absent = it does not
    std::optional<Estimate> latency_growth;
    // What count, comparison and branch of the timed loop cost one iteration: cycles on the
    // subsystem (as λ) and on one warp's chain; absent = not known, or nothing.
    std::optional<Estimate> loop_cpi;
    std::optional<Estimate> loop_latency;
    std::vector<ParameterTable> tables;   // where one number is not enough
    std::optional<InstructionKind> kind;  // absent = what the name implies
    Source source = Source::literature;
    std::string reference;  // where the numbers stand ("Lemeire et al., Table 5")
    std::string note;

    InstructionKind effective_kind() const { return kind ? *kind : kind_of(name); }
    // Whether both λ and Λ are known as values, not as bounds.
    bool determined() const { return cpi.identifiable() && latency && latency->identifiable(); }
    bool operator==(const InstructionTiming&) const = default;
};

// How `latency_unknown` begins where the measured instructions did not wait for each other.
inline constexpr const char* nothing_waited = "the instructions do not depend on each other";

// Warps that a core starts in a cycle, of any device: no GPU comes near 32. Where a warp is a lane
// or a few, a vector unit starts as many of them as it has lanes.
constexpr double most_starts_per_cycle(int warp_size) {
    constexpr double warps = 32;
    constexpr double lanes = 128;
    return warp_size * warps < lanes ? lanes / warp_size : warps;
}

// What a core keeps of its machine code; absent = not known, and then it costs nothing.
struct InstructionCache {
    std::optional<double> bytes;
    // From behind it [bytes of code per cycle and core].
    std::optional<double> bytes_per_cycle;
    std::string reference;

    bool operator==(const InstructionCache&) const = default;
};

struct GpuProfile {
    DeviceIdentity device;
    int cores = 0;        // P
    int warp_size = 0;    // threads per warp
    double clock_hz = 0;  // f
    Limits limits;
    Issue issue;
    InstructionCache instruction_cache;
    Overheads overheads;
    std::vector<Subsystem> subsystems;            // in file order
    std::vector<InstructionTiming> instructions;  // in file order
    std::vector<MemoryLevel> memory_levels;       // by instruction, ascending
    MatchDevice match;  // what AutoMatch needs (docs/background/automatch.md)
    Annotation provenance;

    // nullptr when there is none.
    const Subsystem* find_subsystem(std::string_view name) const;
    const InstructionTiming* find_instruction(std::string_view name) const;
    InstructionTiming* find_instruction(std::string_view name);

    // Copies of a subsystem on one core: the schedulers where its scope says so, else 1.
    int copies(std::string_view subsystem) const;
    // λ per core, whatever the scope of the instruction's subsystem: one copy's λ over the copies.
    Estimate cpi_per_core(const InstructionTiming& timing) const;
    // What a kernel takes beside its instructions: an empty one's time, else that of a launch.
    const std::optional<Estimate>& kernel_overhead() const {
        return overheads.kernel_seconds ? overheads.kernel_seconds : overheads.launch_seconds;
    }

    bool operator==(const GpuProfile&) const = default;
};

// Throws InputError when a rule of docs/reference/file-formats/ does not hold: positive finite λ,
// Λ, clock and counts, every instruction's subsystem declared, no name twice.
void validate(const GpuProfile& profile);

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// A profile and a kernel combined: what the simulators need of both, in ticks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "core/prediction.h"
#include "sim/machine/issue_window.h"
#include "sim/machine/ticks.h"

namespace occupipe::sim {

// One distinct instruction (name and kind) of the kernel.
struct MachineOp {
    std::string name;
    InstructionKind kind = InstructionKind::compute;
    int subsystem = 0;         // into Machine::subsystems
    std::int64_t cpi = 0;      // λ [ticks]
    std::int64_t latency = 0;  // Λ of one alone in its subsystem [ticks]
    // What this one, while outstanding, adds to the latency of the next in its subsystem [ticks]:
    // its latency_growth, else contention · λ; 0 for barriers and where there is neither.
    std::int64_t wait = 0;
    bool queued = false;  // waits for those outstanding: its subsystem has a queue; not a barrier
};

struct Machine {
    TickScale scale;
    int schedulers = 1;
    std::int64_t cycle = 1;             // [ticks]
    std::optional<IssueWindow> window;  // none: no issue limit
    std::vector<Subsystem> subsystems;  // those in use, in the profile's order
    std::vector<MachineOp> ops;         // in order of first use

    // Copies of a subsystem are its `units`: one, or one per scheduler.
    int unit(int subsystem, int scheduler) const;
    int unit_count() const;
    int unit_count_of(int subsystem) const;  // copies of one
    int find_op(const std::string& name, std::optional<InstructionKind> kind) const;

    std::vector<std::pair<std::string, std::optional<InstructionKind>>> op_keys;  // beside ops
    std::vector<int> first_unit;                                                  // per subsystem
};

// Throws InputError naming `file`, line and op when the profile lacks an instruction.
void require_known_instructions(const GpuProfile& profile, const Kernel& kernel,
                                const std::string& file);

// Why something cannot be said of an instruction without `latency`.
std::string lacks_latency(const GpuProfile& profile, const InstructionTiming& timing);

// Throws InputError also where an instruction waits for a result whose latency is not known.
Machine build_machine(const GpuProfile& profile, const Kernel& kernel);

// Which program each warp of a group runs. Of n warps, program p gets floor(share·n); the warps
// left over go to the programs with the largest remainders, the first on a tie; the warps of
// program 0 come first, then those of program 1, and so on.
std::vector<int> assign_programs(const Kernel& kernel, int group_warps);

// The groups of a launch. Without Kernel::groups all are of one kind, by assign_programs().
class LaunchGroups {
public:
    // Throws InputError where the kernel's own groups have another size than the launch's.
    LaunchGroups(const Kernel& kernel, const Launch& launch);

    const std::vector<std::vector<std::int32_t>>& kinds() const { return kinds_; }
    bool alike() const { return kinds_.size() == 1; }
    std::int32_t kind_of(std::int64_t group) const;  // into kinds()
    std::vector<double> kind_shares() const;         // of the launch's groups
    std::vector<double> program_shares() const;      // of the launch's warps, by Kernel::warps

private:
    std::vector<std::vector<std::int32_t>> kinds_;  // those that the launch has
    std::vector<std::int32_t> kind_;                // by run of the order
    std::vector<std::int64_t> end_;                 // by run: behind its last group
    std::int64_t groups_ = 1;                       // of the launch
    std::size_t programs_ = 1;
};

// Throws InputError for shapes that cannot be run.
void validate(const Launch& launch);

// Busy fraction of each subsystem (mean over its copies), and as "issue" the share of what the
// issue limit allowed in the cycles begun that was issued. `busy` is the busy time of each unit up
// to `end`.
std::vector<Bound> utilisations(const Machine& machine, std::span<const std::int64_t> busy,
                                std::int64_t issued, std::int64_t end);

}  // namespace occupipe::sim

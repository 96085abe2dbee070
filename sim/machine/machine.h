// SPDX-License-Identifier: MIT
// The numbers of a problem as the simulators need them, in ticks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/prediction.h"
#include "sim/machine/issue_window.h"
#include "sim/machine/ticks.h"
#include "sim/problem.h"

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
    std::vector<MachineOp> ops;         // beside ResolvedKernel::ops

    // Copies of a subsystem are its `units`: one, or one per scheduler.
    int unit(int subsystem, int scheduler) const;
    int unit_count() const;
    int unit_count_of(int subsystem) const;  // copies of one
    int find_op(const std::string& name, std::optional<InstructionKind> kind) const;

    std::vector<std::pair<std::string, std::optional<InstructionKind>>> op_keys;  // beside ops
    std::vector<int> first_unit;                                                  // per subsystem
};

// Why something cannot be said of an op (an index) without a latency.
std::string lacks_latency(const Problem& problem, std::int32_t op);

// Throws InputError where an instruction waits for a result whose latency is not known.
Machine build_machine(const Problem& problem);

// Busy fraction of each subsystem (mean over its copies), and as "issue" the share of what the
// issue limit allowed in the cycles begun that was issued. `busy` is the busy time of each unit up
// to `end`.
std::vector<Bound> utilisations(const Machine& machine, std::span<const std::int64_t> busy,
                                std::int64_t issued, std::int64_t end);

}  // namespace occupipe::sim

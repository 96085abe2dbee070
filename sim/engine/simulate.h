// SPDX-License-Identifier: MIT
// The Pipeline model's simulation (docs/background/pipeline-model.md): one core, exact in whole
// ticks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "core/prediction.h"
#include "sim/engine/run_progress.h"
#include "sim/machine/ticks.h"
#include "sim/problem.h"

namespace occupipe {

namespace sim {
class Observer;
}

std::optional<Policy> parse_policy(std::string_view name);
std::optional<Select> parse_select(std::string_view name);
std::optional<Order> parse_order(std::string_view name);

struct SimulationOptions {
    std::optional<Policy> policy;  // absent: the profile's, or lrr where it has none
    std::optional<Select> select;  // absent: the profile's, or subsystem where it has none
    std::optional<Order> order;    // absent: the kernel's, or dataflow where it has none
    // After an instruction with KernelInstruction::stall, its warp issues nothing for so many
    // cycles. Throws InputError unless the order is in_order.
    bool stall_counts = false;
    // Skip over repetitions of loops and of waves of groups whose outcome is known exactly.
    bool detect_periods = true;
    // Instructions to issue one by one before giving up with LimitReached: some minutes of work.
    std::int64_t max_simulated = 20'000'000'000;
    Checkpoint checkpoint = {};  // nobody waits for it if empty
    // Simulate what does not recur only until its rate is steady (SimulationResult::estimate);
    // without an observer only.
    bool estimate = false;
    std::int64_t exact = 5'000'000;  // issued one by one before an estimate
};

// What the options leave open is as the profile and the kernel say.
Policy policy_of(const SimulationOptions& options, const Issue& issue);
Select select_of(const SimulationOptions& options, const Issue& issue);
Order order_of(const SimulationOptions& options, const Kernel& kernel);

// Of a run that was not simulated to its end: ticks and cycles are extrapolated (estimate.h), and
// bounds are the whole run's work over that time.
struct EstimatedRun {
    double simulated_share = 0;  // instructions issued one by one over those of the run
    double error = 0;            // bound of the relative error of cycles, as observed
};

struct SimulationResult {
    std::int64_t ticks = 0;      // when the core's last group completes
    sim::TickScale scale;        // what one tick is
    double cycles = 0;           // the same time in core cycles
    std::int64_t issued = 0;     // warp-instructions that the core executed
    std::int64_t groups = 0;     // that the core ran
    std::vector<Bound> bounds;   // busy fraction of each subsystem in use, of "issue" if limited
    std::int64_t simulated = 0;  // of `issued`, those that were issued one by one
    std::int64_t detection_work = 0;       // words compared and copied to find repetitions
    std::optional<EstimatedRun> estimate;  // absent: exact
};

// Runs ceil(groups / cores) groups of the kernel on one core. Where the launch's groups differ
// (Kernel::groups), runs all of them on all cores, and tells of the core that ends last: a core
// that has a free slot takes the next group of the launch; of those that are free at the same time
// each takes one in turn, the first core first. Tells all `observers` what happens in the one run
// that there is; with any of them nothing is skipped or estimated. Throws InputError when a latency
// is needed that is not known, when a barrier is not reached by every warp of a group, or when
// sizes or times exceed what can be run; LimitReached after options.max_simulated, and what
// options.checkpoint throws.
SimulationResult simulate(const Problem& problem, const SimulationOptions& options = {},
                          std::span<sim::Observer* const> observers = {});

// The same of a Problem that is made for it.
SimulationResult simulate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options = {});
SimulationResult simulate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options, sim::Observer& observer);

}  // namespace occupipe

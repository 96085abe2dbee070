// SPDX-License-Identifier: MIT
// Does what a launch file says: buffers, launches in order, on the host.
//   PlanRun run(plan, cubin, ptx);
//   run.execute({});
//   run.bytes("out")
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/launch_plan.h"
#include "core/occupancy.h"
#include "extract/buffer_store.h"
#include "extract/memory_observer.h"
#include "extract/signature.h"
#include "isa/cubin.h"
#include "isa/machine/machine.h"

namespace occupipe::extract {

struct PlanProgress {
    std::uint64_t launches_done = 0;
    std::uint64_t launches = 0;
    std::string kernel;  // of the launch at work
    isa::Progress launch;
    std::uint64_t warp_instructions = 0;  // of all launches so far
};

struct PlanOptions {
    int threads = 1;                // of the host; 0: as many as it has cores
    std::uint64_t step_budget = 0;  // warp-instructions of the whole plan; 0: no limit
    bool measure_memory = true;
    // Who watches a launch, in place of what measures memory; may be asked once per repetition.
    std::function<isa::Observer*(const KernelLaunch&)> observe;
    std::function<bool(const PlanProgress&)> progress;  // false: isa::Stopped
    // The plan ends when this launch of it has been executed once; none: with its last step.
    const KernelLaunch* last = nullptr;
    std::vector<std::uint64_t> groups_of_last;  // to be executed, ascending; empty: all
    // Asked after these, and again: further groups of it to execute, ascending; empty: no more.
    // They find the memory as the others left it.
    std::function<std::vector<std::uint64_t>()> more_groups;
};

// What one step of the plan executed, all its repetitions together.
struct LaunchResult {
    const KernelLaunch* launch = nullptr;
    const isa::Kernel* kernel = nullptr;
    std::uint64_t times = 0;
    Occupancy occupancy;
    isa::Execution execution;       // sums
    std::vector<MemorySite> sites;  // sums
    Footprint footprint;            // of the repetition with the most
    std::set<Race> races;
};

// Counts of one execution beside those of another of the same kernel, or of none yet.
void add(isa::Execution& sum, const isa::Execution& one);

class PlanRun {
public:
    // Makes buffers and looks at every launch: names, arguments, limits. `cubin` and `plan` have to
    // live as long. `store`: of what buffers begin with; none: made for this run. Throws
    // InputError.
    PlanRun(const LaunchPlan& plan, const isa::Cubin& cubin, std::string_view ptx,
            BufferStore* store = nullptr);

    // Instructions of the plan's kernels that are not executed, by kernel name.
    std::map<std::string, std::vector<std::string>> not_executed();

    // Throws as isa::execute() does. In the order of the plan.
    std::vector<LaunchResult> execute(const PlanOptions& options);
    // After execute() threw: what came to its end before that, and which launch did not.
    struct Unfinished {
        std::vector<LaunchResult> finished;
        std::uint64_t number = 0;  // from 1 on
        std::uint64_t launches = 0;
    };
    Unfinished unfinished() {
        return {std::move(results_), progress_.launches_done + 1, progress_.launches};
    }

    // The content of the buffer for which the name stands now.
    std::span<const std::byte> bytes(const std::string& name) const;

    // Of a launch of the plan.
    const isa::Kernel& kernel_of(const KernelLaunch& launch) const {
        return *ready_.at(&launch).kernel;
    }
    const Occupancy& occupancy_of(const KernelLaunch& launch) const {
        return ready_.at(&launch).occupancy;
    }
    std::shared_ptr<const std::vector<isa::Instruction>> code_of(const KernelLaunch& launch);
    const isa::GlobalMemory& memory() const { return memory_; }

private:
    struct Ready {
        const isa::Kernel* kernel = nullptr;
        std::vector<ParameterType> signature;
        Occupancy occupancy;
        int barriers = 0;                        // named ones of a group
        std::uint64_t shared_begin = 0;          // of dynamic shared memory, its address
        std::uint32_t dynamic_shared_bytes = 0;  // {local: …} arguments included
    };

    void make_buffers(BufferStore* store);
    void set_symbols();
    void look_at(const std::vector<PlanStep>& steps);
    void look_at(const KernelLaunch& launch);
    void fill(const std::string& name, const BufferFill& fill, SourcePosition where);
    std::uint64_t address_of(const std::string& name) const;
    const isa::GlobalMemory::Buffer& buffer(const std::string& name) const;

    void run(const std::vector<PlanStep>& steps);
    void run(const KernelLaunch& launch);

    const LaunchPlan& plan_;
    const isa::Cubin& cubin_;
    std::string_view ptx_;
    isa::GlobalMemory memory_;
    std::map<std::string, std::string> stands_for_;  // name → buffer, after swaps
    std::vector<isa::LoadedModule> module_;          // one, once buffers are there
    std::map<const KernelLaunch*, Ready> ready_;

    // Of execute().
    const PlanOptions* options_ = nullptr;
    bool ended_ = false;  // PlanOptions::last has been executed
    PlanProgress progress_;
    std::map<const KernelLaunch*, std::size_t> result_of_;
    std::vector<LaunchResult> results_;
};

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
// What a model is asked: a kernel at a launch on a GPU, checked and with all names resolved.
//
//   const Problem problem(profile, kernel, launch);  // throws where anything is wrong
//   find_model("pipeline").predict(problem, {});
//   const Problem wider = problem.at({.concurrent_groups = 8});  // shares the rest
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "core/resolved_kernel.h"
#include "sim/launch_groups.h"

namespace occupipe {

// λ of an instruction that kernels are compared with, per core.
struct ReferenceRate {
    std::string_view name;  // of reference_instructions()
    double cpi = 0;         // [cycles]
    std::string subsystem;
};

// Those of which models want the rate although the kernel may not use them (ModelReads).
std::span<const std::string_view> reference_instructions();

// The GPU without its instructions.
struct GpuFacts {
    std::string name;
    int cores = 0;
    int warp_size = 0;
    double clock_hz = 0;
    std::optional<double> launch_seconds;
    std::optional<double> group_seconds;
    Issue issue;
    std::vector<Subsystem> subsystems;
    std::vector<ReferenceRate> references;  // where the profile has a value, not a bound

    int copies(std::size_t subsystem) const {
        return subsystems[subsystem].per_scheduler() ? issue.schedulers : 1;
    }
    const ReferenceRate* find_reference(
        std::string_view instruction) const;  // nullptr: there is none
};

GpuFacts facts_of(const GpuProfile& profile);

// The numbers of one of ResolvedKernel::ops.
struct OpTiming {
    InstructionKind kind = InstructionKind::compute;
    std::size_t subsystem = 0;      // into GpuFacts::subsystems
    double cpi = 0;                 // λ [cycles]
    std::optional<double> latency;  // Λ [cycles]
    std::string latency_unknown;    // why there is none
    std::optional<double> latency_growth;

    bool latency_known() const { return latency.has_value(); }
};

// Cannot be invalid. A copy is cheap: all that is large is shared.
class Problem {
public:
    // Throws InputError when profile, kernel or launch are unusable, or when the profile lacks an
    // instruction of the kernel. The latency of an instruction may still be unknown: whether that
    // matters depends on the model.
    Problem(const GpuProfile& profile, const Kernel& kernel, const Launch& launch);

    const GpuFacts& gpu() const { return *gpu_; }
    const ResolvedKernel& kernel() const { return *kernel_; }
    std::span<const OpTiming> timings() const { return *timings_; }  // by op
    const Launch& launch() const { return launch_; }
    const sim::LaunchGroups& groups() const { return *groups_; }

    // The same kernel on the same GPU.
    Problem at(const Launch& launch) const;
    // The same with other numbers, as many as there are ops. Throws InputError where one is out of
    // its range.
    Problem with(GpuFacts gpu, std::vector<OpTiming> timings) const;
    // The same with other trip counts, by program and loop: each at least 1.
    Problem with_counts(const std::vector<std::vector<std::int64_t>>& counts) const;
    // One warp of a program.
    Problem alone(std::size_t program) const;
    // One warp that executes a part of a program alone, as part_of() cuts it out.
    Problem alone(std::size_t program, std::int32_t loop, std::int32_t first,
                  std::int32_t last) const;

private:
    Problem() = default;
    Problem one_warp(ResolvedProgram program) const;

    std::shared_ptr<const GpuFacts> gpu_;
    std::shared_ptr<const ResolvedKernel> kernel_;
    std::shared_ptr<const std::vector<OpTiming>> timings_;
    std::shared_ptr<const sim::LaunchGroups> groups_;
    Launch launch_;
};

}  // namespace occupipe

// SPDX-License-Identifier: MIT
#include "sim/models/model.h"

#include <algorithm>
#include <map>

#include "sim/machine/machine.h"
#include "sim/models/shared_work.h"

namespace occupipe {
namespace {

void count_ops(const std::vector<KernelItem>& items, double times,
               std::map<std::string, double>& counts) {
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item))
            count_ops(repeat->body, times * static_cast<double>(repeat->count), counts);
        else
            counts[std::get<KernelInstruction>(item).op] += times;
    }
}

}  // namespace

WarpLoad warp_load(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                   const ModelOptions& options) {
    if (!options.shared || !options.shared->checked) {
        validate(profile);
        validate(kernel);
        sim::require_known_instructions(profile, kernel, "kernel '" + kernel.name + "'");
        if (options.shared) options.shared->checked = true;
    }
    sim::validate(launch);
    std::map<std::string, double> counts;  // per warp
    const std::vector<double> shares = sim::LaunchGroups(kernel, launch).program_shares();
    for (std::size_t program = 0; program < shares.size(); ++program)
        if (shares[program] > 0)
            count_ops(kernel.warps[program].instructions, shares[program], counts);
    WarpLoad load;
    for (const auto& [op, count] : counts) load.instructions += count;
    for (const Subsystem& subsystem : profile.subsystems) {
        const int copies = subsystem.per_scheduler() ? profile.issue.schedulers : 1;
        double cycles = 0;
        for (const auto& [op, count] : counts) {
            const InstructionTiming& timing = *profile.find_instruction(op);
            if (timing.subsystem == subsystem.name) cycles += count * timing.cpi.value / copies;
        }
        if (cycles > 0) load.subsystems.push_back({subsystem.name, cycles});
    }
    return load;
}

Roof roof(const GpuProfile& profile, const WarpLoad& load) {
    const auto busiest =
        std::max_element(load.subsystems.begin(), load.subsystems.end(),
                         [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
    Roof result{1 / busiest->cycles, busiest->name};
    if (profile.issue.limit) {
        const double issue = *profile.issue.limit / load.instructions;
        if (issue < result.warps_per_cycle) result = {issue, "issue"};
    }
    return result;
}

double cycles_of_program(const GpuProfile& profile, const Kernel& kernel, std::size_t program,
                         const ModelOptions& options) {
    const auto simulated = [&] {
        Kernel alone{.name = kernel.name,
                     .warps = {kernel.warps[program]},
                     .launch = {},
                     .order = kernel.order,
                     .memory = kernel.memory};
        alone.warps[0].share = 1;
        return simulate(profile, alone, Launch(), options.simulation()).cycles;
    };
    return options.shared ? options.shared->alone(program, simulated) : simulated();
}

double cycles_alone(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                    const ModelOptions& options) {
    const std::vector<double> shares = sim::LaunchGroups(kernel, launch).program_shares();
    double mean = 0;
    for (std::size_t program = 0; program < shares.size(); ++program)
        if (shares[program] > 0)
            mean += shares[program] * cycles_of_program(profile, kernel, program, options);
    return mean;
}

double kernel_seconds(const GpuProfile& profile, double cycles) {
    const auto& launch = profile.overheads.launch_seconds;
    return cycles / profile.clock_hz + (launch ? launch->value : 0);
}

int resident_warps(const GpuProfile& profile, const Launch& launch) {
    return static_cast<int>(
        launch.group_warps *
        std::min<std::int64_t>(launch.concurrent_groups, launch.groups_per_core(profile.cores)));
}

Prediction throughput_prediction(const GpuProfile& profile, const Launch& launch,
                                 const WarpLoad& load, double warps_per_cycle) {
    Prediction prediction;
    prediction.launch = launch;
    prediction.groups_per_core = launch.groups_per_core(profile.cores);
    prediction.warps_per_cycle = warps_per_cycle;
    prediction.cycles_per_run = resident_warps(profile, launch) / warps_per_cycle;
    prediction.instructions_per_cycle = load.instructions * warps_per_cycle;
    prediction.cycles =
        static_cast<double>(prediction.groups_per_core) * launch.group_warps / warps_per_cycle;
    prediction.seconds = kernel_seconds(profile, prediction.cycles);
    for (const auto& subsystem : load.subsystems)
        prediction.bounds.push_back({subsystem.name, subsystem.cycles * warps_per_cycle});
    if (profile.issue.limit)
        prediction.bounds.push_back(
            {"issue", load.instructions * warps_per_cycle / *profile.issue.limit});
    return prediction;
}

}  // namespace occupipe

// SPDX-License-Identifier: MIT
#include "sim/models/model.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/instruction.h"
#include "sim/models/shared_work.h"

namespace occupipe {

namespace {

// Calls visit(instruction, times) as for_each_execution() does with its op.
template <class Visit>
void for_each_executed(const ResolvedProgram& program, double times, const Visit& visit,
                       std::int32_t loop = -1) {
    for_each_item(
        program, loop,
        [&](std::int32_t i) { visit(program.instructions[static_cast<std::size_t>(i)], times); },
        [&](std::int32_t inner) {
            const auto& of = program.loops[static_cast<std::size_t>(inner)];
            for_each_executed(program, times * static_cast<double>(of.count), visit, inner);
        });
}

}  // namespace

WarpLoad warp_load(const Problem& problem) {
    WarpLoad load;
    std::map<std::string_view, double> counts;  // per warp
    std::vector<double*> count_of;              // by op
    for (const ResolvedKernel::Op& op : problem.kernel().ops) count_of.push_back(&counts[op.name]);
    const std::vector<double> shares = problem.groups().program_shares();
    for (std::size_t program = 0; program < shares.size(); ++program)
        if (shares[program] > 0)
            for_each_executed(problem.kernel().programs[program], shares[program],
                              [&](const ResolvedProgram::Instruction& one, double times) {
                                  *count_of[static_cast<std::size_t>(one.op)] += times;
                                  if (is_further_slot(one.id)) load.further_slots += times;
                              });
    std::map<std::string_view, std::size_t> timing;  // any of the ops of a name
    for (std::size_t op = 0; op < count_of.size(); ++op)
        timing.try_emplace(problem.kernel().ops[op].name, op);
    for (const auto& [op, count] : counts) load.instructions += count;
    for (std::size_t s = 0; s < problem.gpu().subsystems.size(); ++s) {
        const int copies = problem.gpu().copies(s);
        double cycles = 0;
        for (const auto& [op, count] : counts) {
            const OpTiming& numbers = problem.timings()[timing[op]];
            if (numbers.subsystem == s) cycles += count * numbers.cpi / copies;
        }
        if (cycles > 0) load.subsystems.push_back({problem.gpu().subsystems[s].name, cycles});
    }
    return load;
}

Roof roof(const Problem& problem, const WarpLoad& load) {
    const auto busiest =
        std::max_element(load.subsystems.begin(), load.subsystems.end(),
                         [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
    Roof result{1 / busiest->cycles, busiest->name};
    if (const auto& limit = problem.gpu().issue.limit) {
        const double issue = *limit / load.instructions;
        if (issue < result.warps_per_cycle) result = {issue, "issue"};
    }
    return result;
}

double cycles_of_program(const Problem& problem, std::size_t program, const ModelOptions& options) {
    const auto simulated = [&] {
        return simulate(problem.alone(program), options.simulation()).cycles;
    };
    return options.shared ? options.shared->alone(program, simulated) : simulated();
}

double cycles_alone(const Problem& problem, const ModelOptions& options) {
    const std::vector<double> shares = problem.groups().program_shares();
    double mean = 0;
    for (std::size_t program = 0; program < shares.size(); ++program)
        if (shares[program] > 0)
            mean += shares[program] * cycles_of_program(problem, program, options);
    return mean;
}

double kernel_seconds(const GpuFacts& gpu, double cycles, std::int64_t groups) {
    const double begun = static_cast<double>(groups) * gpu.group_seconds.value_or(0);
    return std::max(cycles / gpu.clock_hz, begun) + gpu.launch_seconds.value_or(0);
}

int resident_warps(const Problem& problem) {
    const Launch& launch = problem.launch();
    return static_cast<int>(launch.group_warps *
                            std::min<std::int64_t>(launch.concurrent_groups,
                                                   launch.groups_per_core(problem.gpu().cores)));
}

Prediction throughput_prediction(const Problem& problem, const WarpLoad& load,
                                 double warps_per_cycle) {
    const Launch& launch = problem.launch();
    const auto& limit = problem.gpu().issue.limit;
    Prediction prediction;
    prediction.launch = launch;
    prediction.groups_per_core = launch.groups_per_core(problem.gpu().cores);
    prediction.warps_per_cycle = warps_per_cycle;
    prediction.cycles_per_run = resident_warps(problem) / warps_per_cycle;
    prediction.instructions_per_cycle = (load.instructions - load.further_slots) * warps_per_cycle;
    prediction.cycles =
        static_cast<double>(prediction.groups_per_core) * launch.group_warps / warps_per_cycle;
    prediction.seconds = kernel_seconds(problem.gpu(), prediction.cycles, launch.groups);
    for (const auto& subsystem : load.subsystems)
        prediction.bounds.push_back({subsystem.name, subsystem.cycles * warps_per_cycle});
    if (limit) prediction.bounds.push_back({"issue", load.instructions * warps_per_cycle / *limit});
    return prediction;
}

}  // namespace occupipe

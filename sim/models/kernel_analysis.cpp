// SPDX-License-Identifier: MIT
#include "sim/models/kernel_analysis.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "sim/models/shared_work.h"

namespace occupipe {
namespace {

// Σλ of one kind of instruction per subsystem.
struct Sides {
    std::vector<WarpLoad::Subsystem> comp;
    std::vector<WarpLoad::Subsystem> mem;
};

void add_to(std::vector<WarpLoad::Subsystem>& side, const std::string& name, double cycles) {
    const auto found = std::find_if(side.begin(), side.end(),
                                    [&](const auto& entry) { return entry.name == name; });
    if (found == side.end())
        side.push_back({name, cycles});
    else
        found->cycles += cycles;
}

void add_items(const Problem& problem, std::size_t program, double share, Sides& sides) {
    for_each_execution(
        problem.kernel().programs[program], share, [&](std::int32_t op, double times) {
            const OpTiming& timing = problem.timings()[static_cast<std::size_t>(op)];
            const int copies = problem.gpu().copies(timing.subsystem);
            const bool access =
                timing.kind == InstructionKind::load || timing.kind == InstructionKind::store;
            add_to(access ? sides.mem : sides.comp, problem.gpu().subsystems[timing.subsystem].name,
                   times * timing.cpi / copies);
        });
}

void set_busiest(const std::vector<WarpLoad::Subsystem>& side, double& cycles, std::string& name) {
    for (const auto& entry : side)
        if (entry.cycles > cycles) {
            cycles = entry.cycles;
            name = entry.name;
        }
}

void add_flow(const WorkFlow& flow, double share, WarpTotals& totals) {
    for (const WorkNode& node : flow.nodes) {
        const double times = share * node.times;
        const bool barrier = node.kind == InstructionKind::barrier;
        if (barrier) totals.barriers += times;
        if (barrier || node.kind == InstructionKind::compute) {
            totals.computations += times * node.instructions;
            totals.comp_cpi += times * node.cpi;
            totals.comp_latency += times * node.latency;
            totals.blocks_alone += times * node.alone;
        } else {
            totals.accesses += times;
            totals.mem_cpi += times * node.cpi;
            totals.mem_latency += times * node.latency;
        }
    }
}

WorkFlow flow_of(const Problem& problem, std::size_t program, const ModelOptions& options) {
    const auto made = [&] { return work_flow(problem, program, options.limits()); };
    return options.shared ? options.shared->flow(program, made) : made();
}

}  // namespace

KernelAnalysis analyse(const Problem& problem, const ModelOptions& options) {
    KernelAnalysis analysis;
    analysis.load = warp_load(problem);
    analysis.roof = roof(problem, analysis.load);
    analysis.warps = resident_warps(problem);
    const std::vector<double> shares = problem.groups().program_shares();
    Sides sides;
    for (std::size_t p = 0; p < shares.size(); ++p) {
        const double share = shares[p];
        if (share == 0) continue;
        analysis.programs.push_back({share, flow_of(problem, p, options)});
        add_flow(analysis.programs.back().flow, share, analysis.totals);
        add_items(problem, p, share, sides);
    }
    set_busiest(sides.comp, analysis.totals.busiest_comp_cpi, analysis.totals.comp_subsystem);
    set_busiest(sides.mem, analysis.totals.busiest_mem_cpi, analysis.totals.mem_subsystem);
    return analysis;
}

Walk interval_walk(const WorkFlow& flow) {
    std::vector<NodeCost> costs;
    for (const WorkNode& node : flow.nodes) {
        const bool access =
            node.kind == InstructionKind::load || node.kind == InstructionKind::store;
        if (access)
            costs.push_back({.delay = node.latency, .occupies = node.cpi});
        else
            costs.push_back({.advance = node.cpi, .delay = node.cpi, .counts = true});
    }
    return walk(flow, costs);
}

Prediction run_prediction(const Problem& problem, const KernelAnalysis& analysis,
                          double cycles_per_run, const std::string& limited_by) {
    const double throughput = analysis.warps / cycles_per_run;
    Prediction prediction = throughput_prediction(problem, analysis.load, throughput);
    // The models' sums run in other orders than the roof's.
    const bool at_roof = throughput >= analysis.roof.warps_per_cycle * (1 - 1e-9);
    prediction.limited_by =
        !limited_by.empty() ? limited_by : (at_roof ? analysis.roof.limited_by : "latency");
    return prediction;
}

void validate(const MemoryBehaviour& memory) {
    if (!(memory.hit_rate >= 0 && memory.hit_rate < 1))
        throw InputError("the hit rate must be at least 0 and below 1");
    if (!(memory.hit_latency >= 0 && std::isfinite(memory.hit_latency)))
        throw InputError("the latency of a hit must be a number of cycles, not negative");
    if (memory.hit_rate > 0 && memory.hit_latency == 0)
        throw InputError("a hit rate needs the latency of a hit; give both");
    if (!(memory.requests_per_access >= 1 && std::isfinite(memory.requests_per_access)))
        throw InputError("the requests per access must be at least 1");
    const double bytes = memory.dram_bytes_per_warp.value_or(0);
    if (!(bytes >= 0 && std::isfinite(bytes)))
        throw InputError("the bytes of a warp must be a number, not negative");
}

}  // namespace occupipe

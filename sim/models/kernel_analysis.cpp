// SPDX-License-Identifier: MIT
#include "sim/models/kernel_analysis.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "sim/machine/machine.h"
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

void add_items(const GpuProfile& profile, const std::vector<KernelItem>& items, double times,
               Sides& sides) {
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item)) {
            add_items(profile, repeat->body, times * static_cast<double>(repeat->count), sides);
            continue;
        }
        const auto& text = std::get<KernelInstruction>(item);
        const InstructionTiming& timing = *profile.find_instruction(text.op);
        const Subsystem& subsystem = *profile.find_subsystem(timing.subsystem);
        const int copies = subsystem.per_scheduler() ? profile.issue.schedulers : 1;
        const InstructionKind kind = text.kind ? *text.kind : timing.effective_kind();
        const bool access = kind == InstructionKind::load || kind == InstructionKind::store;
        add_to(access ? sides.mem : sides.comp, subsystem.name, times * timing.cpi.value / copies);
    }
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

WorkFlow flow_of(const GpuProfile& profile, const Kernel& kernel, int program,
                 const ModelOptions& options) {
    const auto p = static_cast<std::size_t>(program);
    const auto made = [&] { return work_flow(profile, kernel.warps[p], options.limits()); };
    return options.shared ? options.shared->flow(p, made) : made();
}

}  // namespace

KernelAnalysis analyse(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                       const ModelOptions& options) {
    KernelAnalysis analysis;
    analysis.load = warp_load(profile, kernel, launch, options);
    analysis.roof = roof(profile, analysis.load);
    analysis.warps = resident_warps(profile, launch);
    const std::vector<double> shares = sim::LaunchGroups(kernel, launch).program_shares();
    Sides sides;
    for (int p = 0; p < static_cast<int>(kernel.warps.size()); ++p) {
        const double share = shares[static_cast<std::size_t>(p)];
        if (share == 0) continue;
        analysis.programs.push_back({share, flow_of(profile, kernel, p, options)});
        add_flow(analysis.programs.back().flow, share, analysis.totals);
        add_items(profile, kernel.warps[p].instructions, share, sides);
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

Prediction run_prediction(const GpuProfile& profile, const Launch& launch,
                          const KernelAnalysis& analysis, double cycles_per_run,
                          const std::string& limited_by) {
    const double throughput = analysis.warps / cycles_per_run;
    Prediction prediction = throughput_prediction(profile, launch, analysis.load, throughput);
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

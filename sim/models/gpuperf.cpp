// SPDX-License-Identifier: MIT
// GPUPerf: J. Sim et al., "A performance analysis framework for identifying potential benefits in
// GPGPU applications", 2012, section 3: T = T_comp + T_mem − T_overlap for one run on one core.
// Lemeire et al., "Analysis of the analytical performance models for GPUs", sections 4.2 (ALU and
// SFU are separate, the slower counts) and 4.4 (AMAT).

#include <algorithm>

#include "sim/models/kernel_analysis.h"

namespace occupipe {
namespace {

struct MemorySide {
    double amat = 0;      // average memory access time [cycles]
    double per_warp = 0;  // MLP: accesses that one warp has under way
    double mwp = 1;
    double cwp = 1;
    double cycles = 0;  // T_mem
};

// Accesses of one warp that overlap: their latencies over what the warp really waits.
double memory_parallelism(const KernelAnalysis& analysis) {
    double stalls = 0;
    for (const auto& program : analysis.programs)
        for (const Interval& interval : interval_walk(program.flow).intervals)
            stalls += program.share * interval.times * interval.stall;
    const WarpTotals& totals = analysis.totals;
    const double most = std::max(totals.accesses, 1.0);
    if (stalls * most <= totals.mem_latency) return most;
    return std::max(totals.mem_latency / stalls, 1.0);
}

MemorySide memory_side(const KernelAnalysis& analysis, const MemoryBehaviour& memory,
                       double comp_cycles) {
    MemorySide side;
    const WarpTotals& totals = analysis.totals;
    if (totals.accesses == 0) return side;
    const double warps = analysis.warps;
    const double miss_rate = 1 - memory.hit_rate;
    const double departure = totals.cpi_of_mem();
    // avg_DRAM_lat grows by a departure delay with each further request of an access.
    const double dram = totals.latency_of_mem() + (memory.requests_per_access - 1) * departure;
    side.amat = miss_rate * dram + memory.hit_rate * memory.hit_latency;
    side.per_warp = memory_parallelism(analysis);
    const double service = miss_rate * memory.requests_per_access * departure;
    side.mwp = std::clamp(dram / (memory.requests_per_access * departure), 1.0, warps);
    side.cwp = warps;
    if (comp_cycles > 0) {
        const double mem_warp = totals.accesses * side.amat / side.per_warp;
        const double comp_warp = comp_cycles / warps;
        side.cwp = std::min((mem_warp + comp_warp) / comp_warp, warps);
    }
    const double at_once = std::min(std::max(1.0, side.cwp - 1), side.mwp);
    const double itmlp = std::min(side.per_warp * at_once, side.amat / service);
    side.cycles = totals.accesses * warps / itmlp * side.amat;
    return side;
}

}  // namespace

Prediction predict_gpuperf(const Problem& problem, const ModelOptions& options) {
    validate(options.memory);
    const KernelAnalysis analysis = analyse(problem, options);
    const WarpTotals& totals = analysis.totals;
    // avg_inst_lat / min(ILP·N, ITILP_max), for each computational subsystem.
    const double comp = std::max(analysis.warps * totals.busiest_comp_cpi, totals.blocks_alone);
    const MemorySide memory = memory_side(analysis, options.memory, comp);
    const double unhidden = memory.cwp <= memory.mwp ? 1 : 0;  // ζ
    const double overlap =
        std::min(comp * (analysis.warps - unhidden) / analysis.warps, memory.cycles);
    Prediction prediction = run_prediction(problem, analysis, comp + memory.cycles - overlap);
    prediction.model = "gpuperf";
    prediction.values = {{"T_comp", comp}, {"T_mem", memory.cycles}, {"T_overlap", overlap}};
    if (totals.accesses > 0)
        for (const ModelValue& value : {ModelValue{"AMAT", memory.amat},
                                        {"MLP", memory.per_warp},
                                        {"MWP", memory.mwp},
                                        {"CWP", memory.cwp}})
            prediction.values.push_back(value);
    prediction.assumptions = {
        "no cost of barriers beyond their λ, of divergence or of bank conflicts"};
    if (options.memory.hit_rate == 0)
        prediction.assumptions.emplace_back("no access hits the cache");
    return prediction;
}

}  // namespace occupipe

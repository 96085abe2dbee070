// SPDX-License-Identifier: MIT
// The WFG model: S. Baghsorkhi et al., "An adaptive performance modeling tool for GPU
// architectures", 2010, equations 3-6; as Lemeire et al., "Analysis of the analytical performance
// models for GPUs", rewrite them: equations 30-42, to which the numbers below refer.

#include <algorithm>

#include "sim/models/kernel_analysis.h"

namespace occupipe {
namespace {

struct Arcs {
    double hiding = 0;       // NBC_avg [cycles]
    double not_hidden = 0;   // λ_mem of an access minus this is its transition arc [cycles]
    double instruction = 0;  // λ_mem^instr [cycles]
};

// Transition arc of a block: α·max(λ, Λ/(ILP·ω)), eq. 30, where α·Λ/ILP is the block's time alone.
double block_arc(const WorkNode& node, double warps) {
    return std::max(node.cpi, node.alone / warps);
}

Arcs arcs_of(const WorkFlow& flow, double warps, bool corrected) {
    double computations = 0;
    double comp_cpi = 0;
    double blocks = 0;
    double accesses = 0;
    double barriers = 0;
    for (const WorkNode& node : flow.nodes) {
        if (node.kind == InstructionKind::compute) {
            computations += node.times * node.instructions;
            comp_cpi += node.times * node.cpi;
            blocks += node.times * block_arc(node, warps);
        } else if (node.kind == InstructionKind::barrier) {
            barriers += node.times;
        } else {
            accesses += node.times;
        }
    }
    Arcs arcs;
    if (!corrected && computations > 0) arcs.instruction = comp_cpi / computations;
    const double all = blocks + arcs.instruction * accesses;  // CYC_comp, eq. 31
    arcs.hiding = all / (accesses + barriers + 1);            // eq. 35
    if (accesses > 0) arcs.not_hidden = blocks / accesses;
    return arcs;
}

double exposed(const WorkFlow& flow, const WorkNode& node, const Arcs& arcs, double warps,
               bool corrected) {
    if (!corrected) return node.latency - (warps - 1) * arcs.hiding;  // eq. 36
    const double before = node.block_before < 0 ? 0 : flow.nodes[node.block_before].alone / warps;
    return node.latency / warps -
           std::max(0.0, (warps - 1) / warps * arcs.hiding - before);  // eq. 42
}

double cycles_per_warp(const WorkFlow& flow, double warps, bool corrected) {
    const Arcs arcs = arcs_of(flow, warps, corrected);
    std::vector<NodeCost> costs;
    for (const WorkNode& node : flow.nodes) {
        if (node.kind == InstructionKind::compute) {
            costs.push_back({.advance = block_arc(node, warps)});
            continue;
        }
        NodeCost cost;
        cost.delay = std::max(0.0, exposed(flow, node, arcs, warps, corrected));
        cost.advance = node.kind == InstructionKind::barrier
                           ? node.cpi
                           : std::max(arcs.instruction, node.cpi - arcs.not_hidden);  // eq. 34
        costs.push_back(cost);
    }
    return walk(flow, costs).cycles;
}

Prediction predict(const Problem& problem, const ModelOptions& options, bool corrected) {
    const KernelAnalysis analysis = analyse(problem, options);
    double cycles = 0;  // per warp: the mean over a group's warps
    double hiding = 0;
    for (const auto& program : analysis.programs) {
        cycles += program.share * cycles_per_warp(program.flow, analysis.warps, corrected);
        hiding += program.share * arcs_of(program.flow, analysis.warps, corrected).hiding;
    }
    Prediction prediction = run_prediction(problem, analysis, cycles * analysis.warps);
    prediction.values = {{"cycles per warp", cycles}, {"NBC_avg", hiding}};
    prediction.assumptions = {
        "warps of a group do not wait for one another (WLP_effect = ω); one subsystem computes, "
        "one serves accesses"};
    if (!corrected)
        prediction.assumptions.emplace_back(
            "an access also takes the computational subsystem for a mean λ");
    return prediction;
}

}  // namespace

Prediction predict_wfg(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, false);
    prediction.model = "wfg";
    return prediction;
}

Prediction predict_wfg_corrected(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, true);
    prediction.model = "wfg-corrected";
    return prediction;
}

}  // namespace occupipe

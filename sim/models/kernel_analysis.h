// SPDX-License-Identifier: MIT
// What the analytical models need beyond the instructions' sums, derived once from the IDG. The
// choices are listed in docs/background/analytical-models.md.
#pragma once

#include <vector>

#include "sim/models/model.h"
#include "sim/models/work_flow.h"

namespace occupipe {

// Of one warp. Barriers are among the computations: if a model has no term for them, they are
// instructions like others.
struct WarpTotals {
    double computations = 0;      // α_comp
    double accesses = 0;          // α_mem: loads and stores
    double barriers = 0;          // α_sync
    double comp_cpi = 0;          // Σλ of the computations, per core [cycles]
    double comp_latency = 0;      // ΣΛ [cycles]
    double busiest_comp_cpi = 0;  // Σλ on the busiest subsystem of computations [cycles]
    double mem_cpi = 0;
    double mem_latency = 0;  // a store that nothing waits for counts with λ
    double busiest_mem_cpi = 0;
    double blocks_alone = 0;  // the computations' time where only ILP of the warp hides it [cycles]
    std::string comp_subsystem;  // the busiest; empty when there is none
    std::string mem_subsystem;

    double compute_intensity() const { return computations / accesses; }  // needs accesses
    double cpi_of_comp() const { return comp_cpi / computations; }        // mean λ_comp
    double cpi_of_mem() const { return mem_cpi / accesses; }              // mean λ_mem
    double latency_of_mem() const { return mem_latency / accesses; }      // mean Λ_mem
};

struct KernelAnalysis {
    struct Program {
        double share = 1;  // of a group's warps
        WorkFlow flow;
    };
    std::vector<Program> programs;  // those that warps run
    WarpTotals totals;              // means over a group's warps
    WarpLoad load;
    Roof roof;
    double warps = 0;  // ω
};

// Of the options only the limits of simulations count. Throws as simulate().
KernelAnalysis analyse(const Problem& problem, const ModelOptions& options = {});

// Of the run of one program alone, in order and the computations' latencies ignored: what GPUMech
// cuts into intervals. Huang et al. 2014; Lemeire et al., section 2.5.
Walk interval_walk(const WorkFlow& flow);

// The prediction of a model that ends in the cycles of one run of ω warps. Limited by what sets
// the roof when it reaches the roof, else by latency, unless `limited_by` says otherwise.
Prediction run_prediction(const Problem& problem, const KernelAnalysis& analysis,
                          double cycles_per_run, const std::string& limited_by = {});

// Throws InputError when a number is out of its range.
void validate(const MemoryBehaviour& memory);

}  // namespace occupipe

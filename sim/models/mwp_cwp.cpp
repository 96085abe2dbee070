// SPDX-License-Identifier: MIT
// MWP-CWP: S. Hong and H. Kim, "An analytical model for a GPU architecture with memory-level and
// thread-level parallelism awareness", 2009, equations 1, 3 and 4, as Lemeire et al., "Analysis of
// the analytical performance models for GPUs", rewrite them: equations 15-28, and section 5.1 for
// the corrected model. Equation numbers below are those of Lemeire et al.

#include <algorithm>
#include <optional>

#include "sim/models/kernel_analysis.h"

namespace occupipe {
namespace {

struct Periods {
    double count = 0;       // P = α_mem
    double compute = 0;     // Comp_p = CI·λ_comp [cycles]
    double comp_total = 0;  // α_comp·λ_comp [cycles]
    double departure = 0;   // λ_mem: spacing of two accesses [cycles]
    double latency = 0;     // Λ_mem [cycles]
    double mwp = 0;
    std::optional<double> cwp;  // none without computations: nothing bounds it
};

// The departure delay is the issue limit (section 2.3.4): no instruction follows another sooner.
Periods periods_of(const WarpTotals& totals, const GpuFacts& gpu) {
    const double spacing = gpu.issue.limit ? 1 / *gpu.issue.limit : 0;
    Periods periods;
    periods.count = totals.accesses;
    periods.comp_total = std::max(totals.comp_cpi, totals.computations * spacing);
    if (totals.accesses == 0) return periods;
    periods.compute = periods.comp_total / totals.accesses;
    periods.departure = std::max(totals.cpi_of_mem(), spacing);
    periods.latency = std::max(totals.latency_of_mem(), periods.departure);
    periods.mwp = periods.latency / periods.departure;                             // eq. 15
    if (periods.compute > 0) periods.cwp = periods.latency / periods.compute + 1;  // eq. 16
    return periods;
}

struct Cases {
    double memory = 0;  // cycles per run
    double compute = 0;
    double occupancy = 0;
    double barriers = 0;  // on top of each
};

Cases cases_of(const Periods& periods, const WarpTotals& totals, double alone, double warps,
               double groups, bool one_warp_less) {
    const double mwp = std::min(periods.mwp, warps);
    Cases cases;
    cases.memory = periods.count * warps * periods.departure +
                   periods.compute * (mwp - (one_warp_less ? 1 : 0));  // eq. 26
    cases.compute = periods.comp_total * warps + periods.latency;      // eq. 27
    cases.occupancy = alone + periods.compute * (warps - 1);           // eq. 28
    // Hong and Kim's synchronisation cost: at each barrier of each group the accesses drain.
    if (periods.count > 0)
        cases.barriers = periods.departure * (mwp - 1) * totals.barriers * groups;
    return cases;
}

enum class Case { memory, compute, occupancy, issue };

// The three forms of the model that the registry names.
struct Form {
    bool corrected = false;  // section 5.1
    // Computing that memory does not hide in the memory-bound case: of MWP warps as in eq. 26, or
    // of MWP−1 as Hong and Kim print it in their final form.
    bool one_warp_less = false;
};

Case original_case(const Periods& periods, double warps) {
    if (periods.count == 0) return Case::compute;
    const double least = periods.cwp ? std::min(periods.mwp, *periods.cwp) : periods.mwp;
    if (warps <= least) return Case::occupancy;
    // At equality memory is what binds, as in Hong and Kim.
    return !periods.cwp || periods.mwp <= *periods.cwp ? Case::memory : Case::compute;
}

Prediction predict(const Problem& problem, const ModelOptions& options, Form form) {
    const KernelAnalysis analysis = analyse(problem, options);
    const WarpTotals& totals = analysis.totals;
    const Periods periods = periods_of(totals, problem.gpu());
    const double alone =
        form.corrected ? cycles_alone(problem, options) : totals.mem_latency + periods.comp_total;
    const double groups = analysis.warps / problem.launch().group_warps;
    const Cases cases =
        cases_of(periods, totals, alone, analysis.warps, groups, form.one_warp_less);
    const auto& limit = problem.gpu().issue.limit;
    const double issue = limit ? analysis.load.instructions * analysis.warps / *limit : 0;
    Case binding = original_case(periods, analysis.warps);
    if (form.corrected) {  // the largest of the cases; and no more than the limit issues
        binding = cases.occupancy >= std::max(cases.memory, cases.compute) ? Case::occupancy
                  : cases.memory >= cases.compute                          ? Case::memory
                                                                           : Case::compute;
        if (issue > std::max({cases.memory, cases.compute, cases.occupancy})) binding = Case::issue;
    }
    const double cycles[] = {cases.memory, cases.compute, cases.occupancy, issue};
    const std::string limits[] = {totals.mem_subsystem, totals.comp_subsystem, "latency", "issue"};
    Prediction prediction =
        run_prediction(problem, analysis, cycles[static_cast<int>(binding)] + cases.barriers,
                       limits[static_cast<int>(binding)]);
    prediction.values = {{"memory-bound", cases.memory},
                         {"compute-bound", cases.compute},
                         {"occupancy-bound", cases.occupancy},
                         {"barriers", cases.barriers}};
    if (periods.count > 0) prediction.values.push_back({"MWP", periods.mwp});
    if (periods.cwp) prediction.values.push_back({"CWP", *periods.cwp});
    prediction.assumptions = {
        "equal periods of computations, each before one access; one subsystem computes, one serves "
        "accesses"};
    if (!form.corrected)
        prediction.assumptions.emplace_back("latencies of computations are ignored");
    if (periods.count == 0)
        prediction.assumptions.emplace_back("no access: always the compute-bound case");
    return prediction;
}

}  // namespace

Prediction predict_mwp_cwp(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, {});
    prediction.model = "mwp-cwp";
    return prediction;
}

Prediction predict_mwp_cwp_hong_kim(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, {.one_warp_less = true});
    prediction.model = "mwp-cwp-hong-kim";
    return prediction;
}

Prediction predict_mwp_cwp_corrected(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, {.corrected = true});
    prediction.model = "mwp-cwp-corrected";
    return prediction;
}

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// The papers' experiments as values: launches, kernels, simulated times, laws. No text here.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "core/prediction.h"

namespace occupipe::papers {

// The six GPUs of the analysis paper's Table 4, in its order.
struct Gpu {
    std::string_view architecture;
    std::string_view profile;  // profiles/NAME.yaml
    std::string_view name;
};
inline constexpr std::array<Gpu, 6> gpus = {Gpu{"Fermi", "nvidia-tesla-c2050", "Tesla C2050"},
                                            Gpu{"Kepler", "nvidia-gtx-650-ti", "GTX 650 Ti"},
                                            Gpu{"Maxwell", "nvidia-quadro-k620", "Quadro K620"},
                                            Gpu{"Pascal", "nvidia-gtx-1060", "GTX 1060"},
                                            Gpu{"Turing", "nvidia-rtx-2070", "RTX 2070"},
                                            Gpu{"Tonga", "amd-r9-380", "R9 380"}};

GpuProfile shipped(const std::filesystem::path& root, std::string_view profile);

// Rows of a CSV file under tests/data or docs without its comments; the first is the header.
std::vector<std::vector<std::string>> csv_rows(const std::filesystem::path& file);

// --- Launches (Pipeline paper, section IV A) ---------------------------------------------------

struct Shape {
    int group_warps = 1;
    int groups = 1;  // at once
    int warps() const { return group_warps * groups; }
};

// Groups of 32 · 2^n threads at every number of groups at once that a core holds and that shared
// memory can choose: one group takes whole units and not more than a group may have.
struct SharedMemory {
    int bytes = 0;       // of a core
    int unit = 0;        // of allocation
    int most_bytes = 0;  // of one group
};
std::vector<Shape> shapes(const GpuProfile& profile, const SharedMemory& memory);
std::size_t warp_counts(const std::vector<Shape>& shapes);  // different ones

// Compute capability 2.0 and 6.1 (CUDA C Programming Guide; CUDA occupancy calculator).
inline constexpr SharedMemory fermi_memory{49152, 128, 49152};
inline constexpr SharedMemory pascal_memory{98304, 256, 49152};

// --- Microbenchmarks: N dependent instructions of λ and Λ ---------------------------------------

// Pipeline paper, equation 1 [cycles].
double equation_1(double cpi, double latency, int warps, double n);
double chain_cycles(double cpi, double latency, const Shape& shape, int n);

struct Microbenchmark {
    std::string_view name;  // as the paper's Table II
    std::string_view gpu;   // "Fermi", "Pascal"
    double cpi = 0;
    double latency = 0;
};
std::vector<Microbenchmark> microbenchmarks(const std::filesystem::path& root);

// --- Matrix multiplication (Pipeline paper, section IV C) ---------------------------------------

struct Multiplication {
    std::string gpu;  // "fermi", "pascal"
    int tile = 8;
    bool conflicts = false;
};
struct MultiplicationRun {
    Shape shape;
    double milliseconds = 0;
    double gflops = 0;
    std::string limited_by;
};
std::vector<MultiplicationRun> multiply(const std::filesystem::path& root,
                                        const Multiplication& what);

// --- Instruction mix (analysis paper, section 4.2) ----------------------------------------------

enum class Law { one_subsystem, two_subsystems, two_with_issue_limit };

struct Mix {
    double alu = 0;  // λ
    double sfu = 0;
    double issue_limit = 0;
    double alu_latency = 0;
    double sfu_latency = 0;
};
// Equations 43 to 45 [instructions of the ALU per cycle], the second bound as β/λ2
// (docs/background/pipeline-model.md).
double mix_law(Law law, const Mix& mix, int beta);
double mix_simulated(Law law, const Mix& mix, int beta, int warps, bool warps_look = false);
// Of a GPU's Table 4 and, for latencies, Table 5; and of Figure 12's caption.
Mix mix_of(const std::filesystem::path& root, std::string_view profile);
Mix mix_of_figure_12(const std::filesystem::path& root);

// --- Iterative barrier (analysis paper, section 6.2) --------------------------------------------

inline constexpr int barrier_rounds = 1024;
// Computations per cycle of one core.
double barrier_performance(const GpuProfile& profile, const Kernel& kernel, const Shape& shape);
// All numbers of groups that the core holds, by occupancy, then by group size (Figure 16).
std::vector<Shape> barrier_shapes(const GpuProfile& profile);

// --- The example kernel and the models (analysis paper, sections 2 and 5) ------------------------

Prediction example(const std::filesystem::path& root, std::string_view model, int warps);

// Transit, equations 4 to 11: warps per cycle that k warps ask of the memory, and x of the ALU.
double transit_memory(double k);
double transit_compute(double x);
double transit_crossing(double warps);  // k

// WFG's arcs of the example (Figure 5), equations 30 to 36, each from the paper's own formula.
struct WfgArcs {
    double block_1 = 0;  // two independent computations
    double block_2 = 0;  // two dependent ones
    double memory_transition = 0;
    double memory_dependence = 0;  // what is exposed; below 0: nothing
    double cycles_per_warp() const;
};
// `ilp`: of the first block. 2 counts its instructions that may run at once; the model has
// α·Λ over the block's time alone, 8/5, with which one warp takes Λ_app (equation 2).
WfgArcs wfg_arcs(int warps, double ilp = 2);

// Figure 6: one block of computations and one access, λ neglected [cycles per run].
double figure_6(std::string_view model, double comp, double mem, int warps);

// Figure 4: when four accesses of Table 2's memory (λ 2, Λ 6) start.
struct Access {
    double start = 0;
    double end = 0;
};
std::vector<Access> mwp_cwp_accesses(int count);
std::vector<Access> pipeline_accesses(int count);

}  // namespace occupipe::papers

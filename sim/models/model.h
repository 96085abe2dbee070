// SPDX-License-Identifier: MIT
// The interface of every performance model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "core/prediction.h"
#include "sim/engine/simulate.h"

namespace occupipe {

// Memory behaviour that some models need and no profile or kernel contains.
// By default every access misses and makes one request.
struct MemoryBehaviour {
    double hit_rate = 0;             // of accesses in the cache: 0 … below 1
    double hit_latency = 0;          // Λ of a hit [core cycles]
    double requests_per_access = 1;  // memory divergence: requests that one access makes
    // Between caches and device memory, of the mean warp [bytes]; absent: not known. For
    // quantitative-roofline alone.
    std::optional<double> dram_bytes_per_warp;

    bool operator==(const MemoryBehaviour&) const = default;
};

struct SharedWork;  // sim/models/shared_work.h

// Only models with a scheduler look at policy, selection and order.
struct ModelOptions {
    std::optional<Policy> policy;  // absent: as in SimulationOptions
    std::optional<Select> select;
    std::optional<Order> order;
    bool stall_counts = false;
    MemoryBehaviour memory = {};
    // Of each simulation, as in SimulationOptions.
    std::int64_t max_simulated = SimulationOptions().max_simulated;
    Checkpoint checkpoint = {};
    bool estimate = false;
    std::int64_t exact = SimulationOptions().exact;
    SharedWork* shared = nullptr;  // of this profile, kernel and these options, or none
    // See the launch's run, where the model simulates it (Model::observable) and does not estimate.
    std::span<sim::Observer* const> observers = {};

    // A simulation as the model has it, only the limits from here.
    SimulationOptions limits() const {
        return {.max_simulated = max_simulated, .checkpoint = checkpoint};
    }

    std::span<sim::Observer* const> observers_of_run() const {
        return estimate ? std::span<sim::Observer* const>() : observers;
    }

    SimulationOptions simulation() const {
        return {.policy = policy,
                .select = select,
                .order = order,
                .stall_counts = stall_counts,
                .max_simulated = max_simulated,
                .checkpoint = checkpoint,
                .estimate = estimate,
                .exact = exact};
    }
};

// Of this many core cycles on one core, but not less than the launch's groups take to begin, plus
// the launch's own time; where the profile tells these (overheads.group_seconds, launch_seconds).
double kernel_seconds(const GpuFacts& gpu, double cycles, std::int64_t groups);

// What a model takes into account (Lemeire et al., "Analysis of the analytical performance models
// for GPUs", Table 7), as implemented here.
struct ModelAspects {
    bool ilp = false;
    bool compute_latency = false;
    bool memory_latency = false;
    bool barriers = false;
    bool many_subsystems = false;
    bool groups = false;
    bool divergent_warps = false;
    bool issue_limit = false;
    bool scheduler = false;
};

// What a model reads beside the launch, the subsystems and the numbers of the kernel's own
// instructions.
struct ModelReads {
    bool hits = false;        // MemoryBehaviour::hit_rate and hit_latency
    bool requests = false;    // MemoryBehaviour::requests_per_access
    bool dram = false;        // MemoryBehaviour::dram_bytes_per_warp
    bool references = false;  // GpuFacts::references
};

// Throws InputError like simulate().
using PredictFunction = Prediction (*)(const Problem&, const ModelOptions&);

struct Model {
    std::string_view name;
    std::string_view citation;
    PredictFunction run;
    ModelAspects aspects;
    ModelReads reads = {};
    bool observable = false;  // tells ModelOptions::observers

    Prediction predict(const Problem& problem, const ModelOptions& options) const {
        return run(problem, options);
    }
    // The same of a Problem that is made for it.
    Prediction predict(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                       const ModelOptions& options) const {
        return run(Problem(profile, kernel, launch), options);
    }
};

// The time that the subsystems need for one warp: the mean over a group's warps where they diverge.
struct WarpLoad {
    struct Subsystem {
        std::string name;
        double cycles = 0;  // Σλ, per core: λ / schedulers where each scheduler has a copy
    };
    std::vector<Subsystem> subsystems;  // those in use, in the profile's order
    double instructions = 0;            // with the further issue slots that they take
    double further_slots = 0;           // these alone
};

WarpLoad warp_load(const Problem& problem);

// WPC_roof = min(min_s 1/load_s, IL/n) [warps/cycle], and what sets it.
struct Roof {
    double warps_per_cycle = 0;
    std::string limited_by;
};
Roof roof(const Problem& problem, const WarpLoad& load);

// The cycles of one warp of a program (an index into Kernel::warps) alone, by simulation.
double cycles_of_program(const Problem& problem, std::size_t program, const ModelOptions& options);

// Λ_app: the cycles of one warp alone, by simulation; the mean over a group's warps where they
// diverge.
double cycles_alone(const Problem& problem, const ModelOptions& options);

// ω while the core works: never more groups than the core runs in total.
int resident_warps(const Problem& problem);

// A prediction of a model that ends in a warp throughput. A model that exceeds the roof gets
// bounds above 1.
Prediction throughput_prediction(const Problem& problem, const WarpLoad& load,
                                 double warps_per_cycle);

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// Models against a device over all occupancies of a kernel, as the papers evaluate them: Lemeire,
// Cornelis, Konstantinidis, "Analysis of the Analytical Performance Models for GPUs", section 6.3.
//   const ReadyKernel ready = ready_kernel(kernel, "large", profile, compile);
//   const std::vector<ToldLaunch> launches = tell_launches(ready, occupancies(ready, 36, 2), 36);
//   ValidationCurve curve = predicted_curve(ready, profile, launches, models, {});
//   measure_curve(curve, ready, open_violating_device("model:P.yaml?policy=gto"), launches, {});
//   accuracy_of(curve, 0)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/validation/suite.h"
#include "ask/answer.h"
#include "ask/kernel_file.h"
#include "ask/kernels_in.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "sim/models/model.h"

namespace occupipe::analysis {

// The models of the paper's tables 10 to 12, in their order.
const std::vector<std::string>& tabulated_models();

// A kernel as models take it, from a launch file of the suite.
struct ReadyKernel {
    SuiteKernel suite;
    Kernel kernel;
    int architecture = 0;     // of the machine code that was executed
    int group_warps = 0;      // of one group
    int groups_at_most = 0;   // that a core of profile and architecture holds at once; 0: none
    std::int64_t groups = 0;  // of the launch
    GroupNeeds needs;         // with the launch's dynamic shared memory
    Limits limits;            // the profile's
    bool stands_in = false;   // another architecture's code: the profile alone says what fits
    std::uint32_t dynamic_shared_bytes = 0;  // of the launch
    // How often a warp of the mean executes each instruction (profile's name).
    std::map<std::string, double> executed;
    std::vector<std::string> assumptions;
    std::vector<std::string> warnings;  // of KernelIn
    // With the memory that its launch refers to; none: nothing is told of memory.
    std::shared_ptr<const KernelIn> in;
};

// How a text becomes machine code of an architecture ("sm_75").
using CompileText =
    std::function<KernelFile(const LaunchPlan& plan, const std::string& architecture)>;

// The architecture whose machine code stands for a profile: its own, or sm_75 where that is not
// executed, which `assumption` then says.
std::string validation_architecture(const GpuProfile& profile, std::string& assumption);

// With `memory` executes every group of the launch, which share the caches, else a sample of them
// (kernels_in.h). `size`: "small" or "large". Throws InputError.
enum class TellMemory : bool { no, yes };
ReadyKernel ready_kernel(const SuiteKernel& kernel, const std::string& size,
                         const GpuProfile& profile, const CompileText& compile,
                         TellMemory memory = TellMemory::yes);

// That a core holds at once where each takes so much shared memory, what it has of its own
// included.
int groups_at_once(const ReadyKernel& ready, std::int64_t shared_bytes);

// The kernel on this profile, with what that lacks from others: from the same instruction or its
// unit, and then from any of its class (a store as a load), as the papers have one number for a
// class. Where the kernel tells what it asks of the memory and `pricing` is not none, global memory
// is priced by the levels that answer, and other instructions alone take the numbers of their
// class; a wide access to shared memory takes those once for each pass of its width.
Ready completed(const GpuProfile& profile, const ReadyKernel& kernel, MemoryPricing pricing);

// Share of executed instructions with their class's numbers.
double substituted(const ReadyKernel& kernel, const Ready& completed, const Priced& priced);

// Cycles of one core for all its groups, and the warps per cycle that this makes.
struct Throughput {
    double cycles = 0;
    double warps_per_cycle = 0;
};

struct ValidationPoint {
    Launch launch;
    std::optional<Throughput> measured;
    std::vector<std::optional<Throughput>> predicted;  // by model
    // From and to DRAM, of the mean warp, as predicted; absent: not told.
    std::optional<double> dram_bytes_per_warp;
    std::vector<std::string> assumptions;  // of this occupancy, beside the curve's
};

struct ValidationCurve {
    std::string kernel;
    std::string published;                // as in SuiteKernel
    std::string device;                   // what was measured; empty: nothing
    std::vector<ValidationPoint> points;  // by occupancy
    std::vector<std::string> assumptions;
    std::vector<std::string> warnings;  // what makes the predictions doubtful
    std::string not_predicted;          // why; empty: it is
    double substituted = 0;             // share of executed instructions
};

// Groups at once from 1 to ready.groups_at_most, each core running `waves` times as many.
std::vector<Launch> occupancies(const ReadyKernel& ready, int cores, int waves);

// A launch, and the kernel with the reuse that it finds on a device of so many cores.
struct ToldLaunch {
    Launch launch;
    int cores = 1;
    Kernel kernel;
    std::vector<std::string> said;  // what of the launch could not be followed
};
std::vector<ToldLaunch> tell_launches(const ReadyKernel& ready, const std::vector<Launch>& launches,
                                      int cores);

// What a measured time contains beside the groups' work.
enum class Timed {
    groups,  // nothing, as on a simulated device
    launch,  // the launch (kernel_seconds)
};

// Throws what the models throw, except for a model that cannot predict the kernel.
ValidationCurve predicted_curve(const ReadyKernel& ready, const GpuProfile& profile,
                                const std::vector<ToldLaunch>& launches,
                                const std::vector<std::string>& models, const ModelOptions& options,
                                MemoryPricing pricing = MemoryPricing::per_access,
                                Timed timed = Timed::groups);

// A simulated device that differs from its profile, each difference by name.
struct ViolatingDevice {
    std::string id;       // as on the command line
    std::string profile;  // its name there
    GpuProfile gpu;
    std::optional<Policy> policy;
    std::optional<Select> select;
    double skew = 0;   // cycles from the first to the last quarter of a group's warps' start
    double noise = 0;  // relative standard deviation
    // Of its caches, whose lines a hash assigns to sets; absent: as the predictions have them.
    std::optional<int> ways;
    std::uint64_t seed = 1;
    std::vector<std::string> violations;  // in words; empty: none
};

inline constexpr const char* violating_device_help =
    "model:PROFILE[?KEY=VALUE&…]: a simulated device that differs from the profile by policy=lrr,\n"
    "gto or oldest; select=subsystem or warp; skew=CYCLES between the starts of a group's warps;\n"
    "contention=SHARE of λ by which results come later for every instruction under way;\n"
    "schedulers=N of the same throughput together; ways=N: a hash assigns the lines of its caches\n"
    "to sets of N; noise=SHARE and seed=N";

// Throws InputError.
ViolatingDevice open_violating_device(const std::string& id);

// Fills in what the device takes for the curve's launches, which `launches` are, with memory priced
// from the device's profile in the same way.
void measure_curve(ValidationCurve& curve, const ReadyKernel& ready, const ViolatingDevice& device,
                   const std::vector<ToldLaunch>& launches, const SimulationOptions& limits,
                   MemoryPricing pricing = MemoryPricing::per_access);

// Of the model of this number; absent where it predicts none of the measured points.
struct CurveAccuracy {
    std::optional<double> mape;        // [%]
    std::optional<double> mape_shape;  // [%]; absent below three occupancies
};
CurveAccuracy accuracy_of(const ValidationCurve& curve, std::size_t model);

// The mean over the curves that have one, each of equal weight, as the paper's last row.
CurveAccuracy mean_accuracy(const std::vector<ValidationCurve>& curves, std::size_t model);

// What the papers published of a kernel on a GPU.
struct PublishedAccuracy {
    std::string device;   // "Maxwell"
    std::string profile;  // shipped profile of that GPU, by its file's name
    std::string kernel;   // as they call it
    std::string model;    // as this program calls it
    CurveAccuracy accuracy;
};
std::vector<PublishedAccuracy> read_published_accuracies(const std::filesystem::path& file);
// Beside the suite's index; empty where there is none.
std::vector<PublishedAccuracy> shipped_published_accuracies();

}  // namespace occupipe::analysis

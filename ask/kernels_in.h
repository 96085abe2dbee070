// SPDX-License-Identifier: MIT
// Kernels in: machine code and how it is launched → the kernel that the models take.
//   const KernelFile file = read_kernel_file("saxpy.cu", "sm_75", {});
//   const KernelIn in = kernel_in(read_launches("saxpy.yaml"), file, {});
//   model.predict(profile, in.kernel(), *in.kernel().launch, {});
// The one way from a .cu, .ptx or .cubin to a prediction: `extract`, `predict`, `compare` and
// `report` all go it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ask/kernel_file.h"
#include "ask/note.h"
#include "core/gpu_profile.h"
#include "core/launch_plan.h"
#include "core/occupancy.h"
#include "extract/kernel_graph.h"
#include "extract/memory_trace.h"
#include "extract/run_plan.h"
#include "extract/streams.h"

namespace occupipe::analysis {

struct KernelsInOptions {
    std::string kernel;    // which one, as find_kernel() takes it; empty: that of any launch
    std::size_t step = 1;  // which of its launches in the plan, from 1 on
    // Groups at random that are executed beside the first and the last one; absent: all. All, too,
    // where the code shows that groups may learn of one another.
    std::optional<std::uint64_t> sample = 8;
    // Doubles that until the standard error of the instructions per warp is at most this, or so
    // many warp-instructions were executed.
    double sample_error = 0.005;
    std::uint64_t sample_instructions = 10'000'000;
    // Of warps, at most.
    std::size_t classes = 8;
    // Names of instructions to prefer where there is a choice, as known_names() of a profile.
    std::set<std::string> known;
    // Cores of the GPU whose memory the launch shares; absent: nothing is told of memory. The first
    // groups of the launch are executed then: all, or as many as take so many warp-instructions,
    // but at least one for each of these cores. `sample` absent: all.
    std::optional<int> memory_cores;
    std::uint64_t memory_instructions = 20'000'000;
    // Where one for each core takes more than this: as many as take this, but so many groups at
    // least. Of further ones two at random alone are executed then.
    std::uint64_t most_memory_instructions = 200'000'000;
    std::uint64_t least_memory_groups = 8;
    // What warps execute is recorded of a sample, even where all groups are looked at for caches.
    bool sample_streams = false;
    // More references are recorded of some cache lines alone (extract::MemoryTrace).
    std::uint64_t memory_references = 1 << 24;
    // Of what buffers begin with, shared with other plans; none: made for this one.
    extract::BufferStore* buffers = nullptr;
    // What the device referred to before the launch; absent: caches begin empty.
    extract::EarlierReferences earlier;
    std::int64_t earlier_bytes = 0;  // different ones
    // How the plan is executed: with progress, limits and threads of the caller. Absent:
    // run.execute(options).
    std::function<std::vector<extract::LaunchResult>(extract::PlanRun& run,
                                                     extract::PlanOptions options)>
        execute;
    // Who watches the launch as well, asked once, right before it: every group that is executed,
    // which is not every one of the launch, as GroupsSeen tells.
    std::function<isa::Observer*(const extract::PlanRun& run, const KernelLaunch& launch)> watch;
};

// What of the launch was executed and stands for all.
struct GroupsSeen {
    std::uint64_t groups = 0;  // of the launch
    std::uint64_t executed = 0;
    // Of the instructions per warp, relative. 0 where all were executed; absent where the groups at
    // random are fewer than two or equal, which tells nothing of how the others scatter.
    std::optional<double> standard_error = 0;
    // Of the groups, those at most that may be unlike all that were executed without one of them
    // being seen, with 95 % confidence. 0 where all were executed.
    double unseen_share = 0;
    std::string all_because;  // why all, though a sample was asked for; empty: it was not needed
    bool fewer = false;       // than were asked for, as what they execute takes too much memory
};

struct KernelIn {
    extract::ExtractedKernel extracted;
    int architecture = 0;  // 75, 80, …
    GroupsSeen seen;
    Occupancy occupancy;       // of the architecture, not of a profile
    isa::Execution execution;  // counts of the groups that were executed
    extract::StreamObserver::Streams streams;
    std::shared_ptr<const std::vector<isa::Instruction>> code;  // the kernel's
    KernelLaunch launch;
    std::shared_ptr<extract::MemoryTrace> memory;  // where options.memory_cores asked for it
    // Of these first groups; others that were executed stand for themselves alone.
    std::uint64_t memory_groups = extract::every_group;
    extract::EarlierReferences earlier;  // before the launch
    // By instruction of the code: loads whose first execution by a warp finds other levels than the
    // later ones, and is told from them; empty: none.
    std::vector<bool> first_apart;
    std::uint64_t executed_groups = 0;  // whose counts `execution` and `memory` sum up
    Notes assumptions;                  // what the prediction does not see or takes for granted
    // Where what is predicted executes much less or more than the launch did; a sentence each.
    std::vector<std::string> warnings;

    // In order, with its launch: groups of the plan, as many at once as the occupancy says.
    const Kernel& kernel() const { return extracted.kernel; }
};

// A launch that was executed; kernels for several profiles are made of it without executing it
// again. The file that it was executed from must outlive it.
struct ExecutedLaunch {
    KernelIn in;  // without `extracted`, and what follows from it
    const isa::Kernel* kernel = nullptr;
    std::vector<extract::GroupRun> runs;
    std::string compiled;  // "compiled by …", and a note; empty: nothing to tell
    std::string note;
};

// Of a class of warps that no warp of a group so large is of, as counts of warps are whole, and
// that executes more than any warp that is: the instructions of the longest. Absent: there is none.
struct AbsentClass {
    std::size_t number = 1;  // of in.extracted.classes, from 1 on
    double share = 0;        // of the launch's warps
    std::uint64_t instructions = 0;
};
std::optional<AbsentClass> longest_absent(const KernelIn& in, int group_warps);

// Says that a prediction of so many cycles is too short, where it is less than the longest absent
// warp needs to issue; empty: it is not.
std::string shorter_than_absent(const KernelIn& in, const GpuProfile& profile, const Launch& launch,
                                double cycles);

// Executes the plan up to the chosen launch. Throws InputError (no such kernel or launch, what the
// executor refuses), and what options.execute throws.
KernelIn kernel_in(const LaunchPlan& plan, const KernelFile& file, const KernelsInOptions& options);

// kernel_in() in two parts. The second depends on `known` and the number of `memory_cores`, which
// the first does not; the other options have to be the same.
ExecutedLaunch executed_launch(const LaunchPlan& plan, const KernelFile& file,
                               const KernelsInOptions& options);
KernelIn kernel_of(ExecutedLaunch executed, const KernelsInOptions& options);

// What was executed and has no price: malloc, printf, clock() and waiting for other groups.
Notes not_priced(const isa::Execution& execution);

// "auto", "all" or a number, as `--sample` takes it. Throws InputError.
void set_sample(const std::string& text, KernelsInOptions& options);

// The launch that the options choose. Throws InputError that says which ones there are.
const KernelLaunch& chosen_launch(const LaunchPlan& plan, const isa::Cubin& cubin,
                                  const KernelsInOptions& options);

std::set<std::string> known_names(const GpuProfile& profile);

// As extract::names_known_to(). An opcode that has no name there has that of the row of the
// catalogue that alone counts it, unless only "machine.OPCODE" is known.
extract::NameOf names_of(const std::set<std::string>& known);

// "sm_75" of a profile whose device has compute capability 7.5; empty where that is not known, or
// is not executed.
std::string architecture_of(const GpuProfile& profile);

// "10 of 4096 groups represent all: the first, the last, and …"
std::string to_text(const GroupsSeen& seen);

inline constexpr const char* no_group_warps_of_code =
    "--group-warps is for kernel graphs: the warps of a group of machine code execute what they "
    "did with the group that --block or the launch file gives them";

// Whether a file is taken for CUDA or OpenCL C source, PTX or what holds machine code: by its
// name, or as an ELF file.
bool names_kernels(const std::string& path);

}  // namespace occupipe::analysis

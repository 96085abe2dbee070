// SPDX-License-Identifier: MIT
// From a question to its answer, in three layers without side effects, each paid for once:
//   const Ready kernel = ready(source, profile, changes, memory);  // of kernel and profile
//   const Told launch = told(kernel, {.group_warps = 8, …}, {});   // the memory as it finds it
//   Prediction made = predict(launch, find_model("pipeline"), options);
// and answer(), which takes all of them for a question.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ask/memory_view.h"
#include "ask/note.h"
#include "ask/question.h"
#include "ask/source.h"
#include "ask/what_if.h"
#include "core/error.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/prediction.h"
#include "sim/models/model.h"
#include "sim/problem.h"

namespace occupipe::analysis {

class FirstProblem;  // of some launch (ask/answer.cpp)
class Launched;

// A kernel whose memory behaviour is known, with what that costs: what models take.
struct Priced {
    Kernel told;                             // before its memory was priced
    PricedMemory memory;                     // kernel and profile of the models
    std::optional<InputError> refusal = {};  // why no model can be asked
    std::vector<std::string> lacking = {};   // the ops that the refusal is about
    Notes notes = {};
    std::optional<double> dram_bytes_per_warp = {};  // where memory is priced
    // Of the instructions per warp, where a sample of the groups stands for all; relative.
    std::optional<double> sample_error = {};
    std::shared_ptr<SharedWork> shared = {};   // of all models and launches
    std::shared_ptr<FirstProblem> first = {};  // from which other launches are made
    std::shared_ptr<Launched> launched = {};   // the same at launches
};

// A kernel and a profile that has been changed and completed for it.
struct Ready {
    LoadedKernel source;
    GpuProfile profile;                       // before memory is priced
    GpuProfile offered;                       // before anything stood in for anything
    std::shared_ptr<const GpuProfile> given;  // before changes; null where there are none
    ProfileChanges changes;
    MemoryQuestion memory;
    Notes notes;  // of source and profile
    // Where launches do not find reuse of their own: of every launch.
    std::shared_ptr<const Priced> priced = {};

    const Kernel& kernel() const { return *source.kernel; }
    const KernelIn* code() const { return source.in.get(); }
    // Whether each launch finds reuse of its own, from what the code was seen to access.
    bool follows() const;
};

// Throws InputError where a change is impossible, or memory cannot be priced so.
Ready ready(LoadedKernel source, const GpuProfile& profile, const ProfileChanges& changes,
            const MemoryQuestion& memory);

// Several kernels on one profile, which has what any of them needs.
struct ReadyTogether {
    std::vector<Ready> kernels;  // whose notes are of the source alone
    Notes notes;                 // of the profile
    Kernel all;                  // of all, for what is done to the profile
};
ReadyTogether ready_together(const std::vector<LoadedKernel>& sources, const GpuProfile& profile,
                             const ProfileChanges& changes, const MemoryQuestion& memory);

// One of these kernels, and the profile for it, made anew of another profile, such as a drawn one.
// At the kernel's own launch.
PricedMemory remade(const ReadyTogether& ready, const Kernel& told, const GpuProfile& profile);

// The ops of the kernel that the profile lacks, with an entry that a reader would try.
std::vector<LackingOp> lacking(const Ready& ready);

// A kernel whose reuse is known otherwise, such as of other caches, priced on this profile.
std::shared_ptr<const Priced> priced(const Ready& ready, Kernel told);

// Kernel and profile with memory priced anew on other numbers of ready.profile, such as drawn ones.
PricedMemory reprice(const Ready& ready, const Kernel& told, const GpuProfile& completed,
                     const Launch& launch);

struct Told {
    Launch launch;
    // As simulations take it: the launch's warps differ in Λ and wait for their places.
    std::shared_ptr<const Priced> priced;
    std::shared_ptr<const Priced> mean;      // as the other models do: of the mean warp
    Notes notes = {};                        // of the launch alone
    std::optional<Problem> problem = {};     // what simulations take
    std::optional<InputError> refusal = {};  // why there is none

    const Kernel& kernel() const { return priced->memory.kernel; }
    const GpuProfile& profile() const { return priced->memory.profile; }
};

// A launch of it.
Told at_launch(const std::shared_ptr<const Priced>& priced, const Launch& launch);

struct TellOptions {
    // Other groups at once than the code's occupancy are what was asked for.
    bool occupancy_asked = false;
    RunQuestion run = {};  // of the first prediction, where the order is a predicted one
    unsigned threads = 0;  // of this machine, to find the reuse with; 0: one per core
};

Told told(const Ready& ready, const Launch& launch, const TellOptions& options);

// Throws InputError that names the source's file, its line, every op that the profile lacks, and
// how to go on.
void require_numbers(const Told& told);

// With its interval (ask/interval.h). Throws InputError as the model does, and as
// require_numbers(). `options` have to be equal for all predictions of one Ready, but for their
// limits.
Prediction predict(const Told& told, const Model& model, const ModelOptions& options);

// What a prediction of so many cycles leaves out for the longest warp; at most one.
Notes too_short(const Ready& ready, const Launch& launch, double cycles);

// All notes of one prediction, in order. `fitted`: of chosen_launch().
Notes notes_of(const Ready& ready, const Notes& fitted, const Told& told, const Prediction& made,
               const Model& model, const RunQuestion& run);

struct Answer {
    Ready ready;
    Notes fitted = {};  // a launch to the profile's limits
    std::vector<Told> launches = {};
    std::vector<const Model*> models = {};
    std::vector<Prediction> predictions = {};  // model by model, with all notes as assumptions
    Notes too_short = {};                      // of the predictions, each text once

    const Prediction& prediction(std::size_t model, std::size_t launch) const {
        return predictions[model * launches.size() + launch];
    }
};

// Limits and progress of the predictions; each may be absent.
struct Asking {
    Reading reading = {};
    std::int64_t max_simulated = SimulationOptions().max_simulated;
    Checkpoint checkpoint = {};
    std::function<void(std::size_t predictions)> expect = {};
    std::function<void()> done = {};  // one of them
    // See the run of the only launch, where a model simulates it.
    std::span<sim::Observer* const> observers = {};
};

// What is known before anything is predicted, of source, profile and launches; each text once.
Notes notes_before(const Answer& answer);

// Everything but the predictions. Throws InputError; DeviceError where a compiler is missing.
Answer asked(const Question& question, const GpuProfile& profile, const Asking& asking);
// These; throws what a model refuses, with the file.
void predict_all(Answer& answer, const Question& question, const Asking& asking);

Answer answer(const Question& question, const Asking& asking);

// Whether the changes can be made at all; throws InputError that says what is wrong.
void check_changes(const Kernel& kernel, GpuProfile profile, const ProfileChanges& changes);

// One sentence per subsystem of measured instructions whose scope no measurement showed.
std::vector<std::string> assumed_scopes(const GpuProfile& profile);

// Entries that may stand in for an op of this name because they are the same machine instruction,
// best first; not the op itself.
std::vector<std::string> same_instructions(std::string_view op);

}  // namespace occupipe::analysis

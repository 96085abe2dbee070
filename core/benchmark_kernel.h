// SPDX-License-Identifier: MIT
// THE description of a benchmark's kernel: what its timed loop executes, step by step. The source
// text of every dialect (bench/kernel/kernel_source.cpp) and the dependence graph that a simulator
// gets are both written from `steps()`, so that what is compared is what was measured.
//
//     BenchmarkKernel{.first = {.name = "fma.f32"}, .second = BenchmarkInstruction{.name =
//                     "ld.shared.u32"}, .beta = 1, .separate_chains = true, .body = 2}
//     →  x0 = fma(x0)   y0 = ld(y0)     two dependent chains that do not wait for each other
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel.h"
#include "core/measurement.h"

namespace occupipe {

struct BenchmarkInstruction {
    std::string name;  // as profiles have it
    // Each waits for its chain's one before it, by its result or because it is itself a wait. Else
    // nothing waits for it: a stream of loads, stores.
    bool chained = true;
    bool one_chain = false;  // whatever the number of chains: a barrier is the warp's
    // Streams: the instruction that adds each loaded word up in the chain's variable, and how many
    // words one load brings: 1; 2, one addition after the other; or 4, first among themselves and
    // then once to the variable. Empty: none.
    std::string gathered_by = {};
    int words = 0;
};

struct BenchmarkKernel {
    BenchmarkInstruction first;
    std::optional<BenchmarkInstruction> second = {};  // of a mix
    int beta = 0;                                     // of `first` before one of `second`
    int chains = 1;
    // A mix's second instruction has chains of its own; else both take turns in each chain.
    bool separate_chains = false;
    std::int64_t body = 1;  // instructions per chain in the loop's body; a multiple of the period
    // The dialect's for loop: an addition, a comparison and a branch in every iteration.
    bool counted_loop = true;

    std::string subject() const;
    int period() const { return second ? beta + 1 : 1; }

    struct Step {
        bool second = false;  // which of the two instructions
        bool apart = false;   // in the second's own chain
        int chain = 0;
        int number = 0;       // among the steps of the body in chains of the same kind
        std::int64_t at = 0;  // place in the chain's sequence, 0 … body − 1
    };
    // One iteration, in the order of the text.
    std::vector<Step> steps() const;
};

// As a file of measurements defines a subject whose kernel is not known otherwise
// (docs/reference/file-formats/, `name`): every instruction in one dependent chain, a mix's two
// taking turns in it.
BenchmarkKernel chained_kernel(std::string_view subject, int chains);

// The instructions of the loop around the steps, as profiles name them.
inline constexpr const char* loop_count = "add.s32";
inline constexpr const char* loop_compare = "setp.lt.s32";
inline constexpr const char* loop_branch = "bra";
// What adds up the words that a stream loads.
inline constexpr const char* word_sum = "add.f32";

// How much of the loop around the steps is in the graph.
enum class LoopForm {
    none,          // steps alone
    instructions,  // count, comparison and branch of each iteration, on which the next one waits
    costs,         // the last steps of an iteration are instructions of their own (`after_loop`)
};

// With LoopForm::costs: the name of instruction NAME where it pays for the loop's control, with
// time on its subsystem, with time on its chain, or with both. The profile that this is simulated
// on has to have it (analysis/measured/measured_graph.h).
std::string after_loop(std::string_view name, bool cpi, bool latency);

struct GraphOptions {
    LoopForm loop = LoopForm::none;
    // With LoopForm::costs, for a mix: the loop takes time on the first instruction's subsystem,
    // too; false where both have the same.
    bool first_pays = true;
    // Results that nothing waits for, because their latency is unknown: the additions
    // behind a stream's loads then start without them.
    bool gathers_wait = true;
};

// The dependence graph of one warp that runs `iterations` of the loop. Throws InputError when the
// numbers are no kernel's.
Kernel benchmark_graph(const BenchmarkKernel& kernel, std::int64_t iterations,
                       const GraphOptions& options = {});

// The same for a point of this depth (instructions per chain), with its name. Throws InputError
// if the depth is not a multiple of a mix's period.
Kernel measured_graph(const BenchmarkKernel& kernel, const MeasurementShape& shape,
                      const GraphOptions& options = {});

}  // namespace occupipe

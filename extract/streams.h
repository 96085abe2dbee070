// SPDX-License-Identifier: MIT
// Streams of executed instructions of some groups of a launch, by class of warps.
//   StreamObserver streams(all_groups(4096));
//   isa::execute(module, kernel, shape, parameters, options, &streams);
//   streams.streams().classes   most frequent first; weights sum to the warps of the launch
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "extract/fold.h"
#include "extract/graph.h"
#include "isa/machine/machine.h"

namespace occupipe::extract {

// A group that is watched, and how many groups of the launch it stands for.
struct SampledGroup {
    std::uint64_t group = 0;
    double weight = 1;
};

// Each stands for itself.
std::vector<SampledGroup> all_groups(std::uint64_t groups);

// The first and the last group, which stand for themselves as their edges often differ, and one
// taken at random from each of `random` equal parts of the others, which stands for its part; all
// where there are no more than that. Ascending; weights sum to `groups`. The same for equal
// arguments.
std::vector<SampledGroup> sampled_groups(std::uint64_t groups, std::uint64_t random,
                                         std::uint64_t seed = 1);

// Warps whose streams are equal: the same instructions, with the same lanes active.
struct WarpClass {
    std::vector<FoldedItem> stream;  // numbers: indices into Streams::instructions
    std::uint64_t instructions = 0;  // that one of its warps executes
    double weight = 0;               // warps of the launch that it stands for
    std::uint64_t watched = 0;       // warps that were seen
    std::uint64_t first_group = 0;   // where the first of them was seen
    std::uint32_t first_warp = 0;
};

class StreamObserver : public isa::Observer {
public:
    explicit StreamObserver(std::vector<SampledGroup> groups);
    ~StreamObserver() override;

    std::unique_ptr<isa::GroupObserver> begin(std::uint64_t group) override;
    void end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) override;

    struct Streams {
        std::vector<WarpClass> classes;  // by weight, then by where they were first seen
        std::vector<StreamInstruction> instructions;  // what the streams' numbers stand for
    };
    // After the launch. Does not depend on the number of threads.
    Streams streams() const;
    const std::vector<SampledGroup>& groups() const { return groups_; }

private:
    class Recorder;
    struct Found;

    std::vector<SampledGroup> groups_;
    std::unique_ptr<Found> found_;
    mutable std::mutex mutex_;
};

}  // namespace occupipe::extract

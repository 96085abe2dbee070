// SPDX-License-Identifier: MIT
// Streams of executed instructions of some groups of a launch, by class of warps.
//   StreamObserver streams(all_groups(4096));
//   isa::execute(module, kernel, shape, parameters, options, &streams);
//   streams.streams().classes   most frequent first; weights sum to the warps of the launch
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
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

// So many groups of a launch, one after another, for which a watched one stands.
struct GroupRun {
    std::uint64_t group = 0;  // the watched one
    std::uint64_t count = 1;

    bool operator==(const GroupRun&) const = default;
};

// Each stands for itself.
std::vector<SampledGroup> all_groups(std::uint64_t groups);

// The first and the last group, which stand for themselves as their edges often differ, and groups
// at random, which stand for the others: in each of so many equal parts of the others there is at
// least one, and those in a part stand for it alike. Grows: what was drawn stays.
//   GroupSample sample(4096, 8);   // 10 groups
//   sample.grow();                 // 16 parts: 18 groups or fewer
class GroupSample {
public:
    // All groups where there are no more than `random` and two. The same for equal arguments.
    GroupSample(std::uint64_t groups, std::uint64_t random, std::uint64_t seed = 1);

    // Twice as many parts; all groups where that is as many. Returns the groups that are new,
    // ascending, none of the first `but`: a part that has these alone may be left without one, and
    // another one stands for it.
    std::vector<std::uint64_t> grow(std::uint64_t but = 0);

    bool all() const { return drawn_.size() == groups_; }
    // Ascending; weights sum to the number of groups.
    std::vector<SampledGroup> groups() const;
    // All groups of the launch in order, as runs for which the same drawn one stands: those in a
    // part of the launch are divided among the drawn ones there, as near to them as can be.
    std::vector<GroupRun> runs() const;

private:
    std::uint64_t begin(std::uint64_t part) const;
    std::vector<std::uint64_t> draw(std::uint64_t but);
    // Drawn ones, and so many groups that they stand for.
    struct Part {
        std::set<std::uint64_t>::const_iterator first, last;
        std::uint64_t groups = 0;
    };
    std::vector<Part> parts() const;

    std::uint64_t groups_, parts_, seed_;
    std::set<std::uint64_t> drawn_;
};

// Which warps are of one class.
enum class Alike : std::uint8_t {
    lanes,  // executed the same instructions with the same lanes active
    // executed the same instructions, whatever lanes were active; but one that no lane took part in
    // is not the same as one that some did
    path,
};

struct WarpClass {
    // Numbers: indices into Streams::instructions. Of one path, lanes as the most frequent ones had
    // them.
    std::vector<FoldedItem> stream;
    std::uint64_t instructions = 0;  // that one of its warps executes
    double weight = 0;               // warps of the launch that it stands for
    std::uint64_t watched = 0;       // warps that were seen
    std::uint64_t first_group = 0;   // where the first of them was seen
    std::uint32_t first_warp = 0;
};

class StreamObserver : public isa::Observer {
public:
    explicit StreamObserver(const std::vector<SampledGroup>& groups, Alike alike = Alike::lanes);
    ~StreamObserver() override;

    std::unique_ptr<isa::GroupObserver> begin(std::uint64_t group) override;
    void end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) override;

    // Watches these from here on, ascending, among them those that were watched so far, which may
    // have another weight now.
    void watch(const std::vector<SampledGroup>& groups);

    struct Streams {
        std::vector<WarpClass> classes;  // by weight, then by where they were first seen
        std::vector<StreamInstruction> instructions;  // what the streams' numbers stand for
        // By group that was watched: the class of each of its warps.
        std::map<std::uint64_t, std::vector<std::uint32_t>> groups;
    };
    // After the launch. Does not depend on the number of threads.
    Streams streams() const;
    // Instructions of a group that was watched, all its warps together; by group.
    std::map<std::uint64_t, std::uint64_t> group_instructions() const;
    // That the streams of all classes are folded to.
    std::uint64_t items() const;

private:
    class Recorder;
    struct Found;

    std::vector<SampledGroup> groups_;  // ascending
    Alike alike_;
    std::unique_ptr<Found> found_;
    mutable std::mutex mutex_;
};

// The stream with change(what is executed), in order, in the place of each; what is new joins
// `instructions`.
std::vector<FoldedItem> with_changed(
    std::span<const FoldedItem> stream, std::vector<StreamInstruction>& instructions,
    const std::function<StreamInstruction(StreamInstruction)>& change);

// Tells each warp's first execution of these instructions of the code, by any of its lanes, from
// its others.
void mark_first(StreamObserver::Streams& streams, const std::vector<bool>& of);

}  // namespace occupipe::extract

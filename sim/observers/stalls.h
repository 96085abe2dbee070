// SPDX-License-Identifier: MIT
// Where the warps' time goes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/machine/core_layout.h"
#include "sim/observers/observer.h"

namespace occupipe::sim {

struct StallRow {
    WaitReason reason = WaitReason::empty;
    std::string waiting;  // id and op of the instruction that waits; empty where none does
    std::string on;       // the instruction or subsystem that it waits for
    double share = 0;     // of the time of all warp places; all rows sum to 1
};

// The same by instruction of the kernel, in its program.
struct InstructionWait {
    std::int32_t program = 0;  // into Kernel::warps
    WaitReason reason = WaitReason::empty;
    std::string waiting;     // id; empty where no instruction waits
    std::string on;          // id of the instruction whose result it waits for; empty where none
    std::int64_t ticks = 0;  // of all warps of the program together
};

std::string_view to_string(WaitReason reason);

class StallView : public Observer {
public:
    bool hears_instructions() const override { return false; }
    void started(const CoreLayout& layout) override;
    void group_started(const GroupEvent& event) override { group_[event.slot] = event.group; }
    void waited(const WaitEvent& event) override;
    void ended(std::int64_t ticks) override { end_ = ticks - start_; }

    std::vector<StallRow> rows() const;  // the largest share first
    // Each program, reason and pair of ids once; they cover the time of all warp places.
    std::vector<InstructionWait> waits() const;
    const CoreLayout& layout() const { return layout_; }
    std::int64_t end() const { return end_; }  // of the run [ticks]

private:
    struct Key {
        std::int32_t program = 0;
        WaitReason reason = WaitReason::empty;
        std::int32_t stream = -1;
        std::int32_t producer = -1;

        auto operator<=>(const Key&) const = default;
    };
    struct Cause {
        WaitReason reason = WaitReason::empty;
        std::int32_t producer = -1;
        std::int64_t ticks = 0;
    };
    std::map<Key, std::int64_t> by_key() const;
    StallRow row(const Key& key, double share) const;

    CoreLayout layout_;       // a copy, which outlives the run
    std::int64_t start_ = 0;  // of groups that take turns: what the first ones do not wait
    std::int64_t end_ = 0;
    std::vector<std::int64_t> group_;        // per slot
    std::vector<std::size_t> first_;         // per program, into ticks_
    std::vector<std::vector<Cause>> ticks_;  // per program: of no instruction, then of each
};

}  // namespace occupipe::sim

// SPDX-License-Identifier: MIT
// The references of a launch's groups in the order of time, on one core or on all.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/memory_use.h"
#include "extract/group_trace.h"

namespace occupipe::extract {

// A reference in its turn. The line's number: local lines are numbered for each slot after the
// global ones.
struct Turn {
    std::uint32_t line = 0;
    std::uint32_t what = 0;  // as in the trace

    std::uint32_t site() const { return (what & ~LineReference::goes_on) >> 4; }
    std::uint32_t sectors() const { return what & 0xF; }
    bool goes_on() const { return (what & LineReference::goes_on) != 0; }
};

// When a core's group makes a reference. `row`: so many groups the core had before.
using ClockOf = std::function<std::uint64_t(std::uint64_t row, const Issue&)>;

// On which core a group runs. Groups fill all slots core by core; later ones go to whichever core
// has a free slot first, which is any: of every `cores` groups each core gets one, in an order
// drawn at random, the same in every run. To be asked in ascending order.
class CoreOfGroup {
public:
    CoreOfGroup(std::uint32_t cores, std::uint64_t slots);
    std::uint32_t operator()(std::uint64_t group);

private:
    std::uint64_t slots_, row_ = 0;
    std::vector<std::uint32_t> order_;
};

// Group g runs on the core that CoreOfGroup says, in its slot (g / cores) modulo the concurrent
// groups, when the slot's group before it has ended; all slots begin at once. References of one
// clock are taken in the order of groups, those of one group in their own.
//
// Memory: what a few thousand references take, and with `clock_of` 12 bytes a reference.
class ReferenceOrder {
public:
    struct Lines {
        std::uint32_t global = 0;  // different lines of global memory
        std::uint32_t local = 0;   // of local memory, of one slot
    };

    // `clock_of`: in place of the slots' times. Throws InputError when there are more than 2^31
    // lines.
    ReferenceOrder(std::span<const GroupTrace> groups, const MemoryContext& context, Lines lines,
                   const ClockOf& clock_of = {});

    // Numbers the sites of all but the first groups from `sites` on.
    void number_apart(std::size_t first, std::uint32_t sites);

    // Lines of one core and of all, numbers that no group uses included.
    std::uint32_t core_lines() const { return lines_.global + core_slots_ * lines_.local; }
    std::uint32_t device_lines() const { return lines_.global + device_slots_ * lines_.local; }
    // A line of local memory: in one slot, its number there.
    bool is_local(std::uint32_t line) const { return line >= lines_.global; }
    std::uint32_t slot_of(std::uint32_t line) const {
        return (line - lines_.global) / lines_.local;
    }
    std::uint32_t in_slot(std::uint32_t line) const {
        return (line - lines_.global) % lines_.local;
    }

    // Calls use(turns) with pieces of the order.
    using Use = std::function<void(std::span<const Turn>)>;
    void of_core(int core, const Use& use) const;
    void of_device(const Use& use) const;

private:
    struct Placed {
        const GroupTrace* group = nullptr;
        std::uint64_t begin = 0;
        std::uint32_t core = 0;
        std::uint32_t slot = 0;  // of the device
        std::uint32_t site = 0;  // its sites are numbered from here on
        // In the order of clock_of; empty: in the trace's own.
        std::vector<std::uint64_t> clocks;
        std::vector<std::uint32_t> order;

        bool refers() const { return !group->references.empty(); }
        std::uint64_t clock(std::size_t i) const {
            return clocks.empty() ? begin + group->references[i].clock : clocks[i];
        }
        std::uint64_t last() const { return clock(group->references.size() - 1); }
    };
    class Merge;

    void in_slots(const MemoryContext& context);
    void sort_by(const ClockOf& clock_of, Placed& one) const;

    Lines lines_;
    std::uint32_t cores_ = 1;
    std::uint32_t core_slots_ = 0, device_slots_ = 0;
    std::vector<Placed> placed_;  // by number of the group
};

// Positions of `keys` in ascending order of them; equal ones stay as they are.
std::vector<std::uint32_t> sorted_by(std::span<const std::uint64_t> keys);

}  // namespace occupipe::extract

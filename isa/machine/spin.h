// SPDX-License-Identifier: MIT
// Notices a group that goes in circles: whose registers, predicates and places come back to what
// they were while it changed nothing in memory. Only another group could then end the loop.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/machine/launch.h"

namespace occupipe::isa {

class SpinCheck {
public:
    explicit SpinCheck(std::uint64_t after) : after_(after) {}

    // To be called after every round over the group's warps. `alone` tells whether no earlier group
    // runs any more: those may still change what this one waits for.
    template <typename Alone>
    bool goes_in_circles(Group& group, std::uint64_t taken, Alone alone) {
        if (group.memory_changed) {
            group.memory_changed = false;
            quiet_ = 0;
            rounds_ = 0;
            return false;
        }
        quiet_ += taken;
        if (quiet_ < after_) return false;
        if (rounds_ != 0 && was_alone_ && same(group)) return true;
        // Another picture at rounds 1, 2, 4, 8 …: a circle of any length is found (Brent).
        ++rounds_;
        if ((rounds_ & (rounds_ - 1)) == 0) take(group, alone());
        return false;
    }

private:
    struct Place {
        std::uint32_t pc = 0;
        Mask active = 0;
        std::array<Mask, predicate_index::count> predicates{};
        std::vector<Split> splits;
        std::array<Lanes, 16> barriers{};
    };

    void take(const Group& group, bool alone) {
        was_alone_ = alone;
        registers_ = group.registers;
        places_.clear();
        for (const Warp& warp : group.warps) {
            places_.push_back({.pc = warp.pc,
                               .active = warp.active,
                               .predicates = warp.predicates,
                               .splits = warp.splits,
                               .barriers = warp.barriers});
        }
    }

    bool same(const Group& group) const {
        for (std::size_t i = 0; i < group.warps.size(); ++i) {
            const Warp& warp = group.warps[i];
            const Place& place = places_[i];
            if (place.pc != warp.pc || place.active != warp.active ||
                place.predicates != warp.predicates || place.splits != warp.splits) {
                return false;
            }
            for (std::size_t b = 0; b < warp.barriers.size(); ++b) {
                if (place.barriers[b].v != warp.barriers[b].v) return false;
            }
        }
        // The sink's registers may hold anything.
        for (std::size_t i = 0; i < registers_.size(); ++i) {
            const auto in_warp = static_cast<std::uint32_t>(i % group.launch->register_count);
            const bool kept = in_warp < group.launch->prepared->sink ||
                              in_warp >= group.launch->prepared->uniform;
            if (kept && registers_[i].v != group.registers[i].v) return false;
        }
        return true;
    }

    std::uint64_t after_;
    std::uint64_t quiet_ = 0;
    std::uint64_t rounds_ = 0;
    bool was_alone_ = false;
    std::vector<Lanes> registers_;
    std::vector<Place> places_;
};

}  // namespace occupipe::isa

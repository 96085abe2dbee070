// SPDX-License-Identifier: MIT
// Shared memory that one warp reads and another writes with no barrier of the group in between: on
// a GPU the result depends on which comes first.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "isa/cubin.h"
#include "isa/instruction.h"
#include "isa/machine/machine.h"

namespace occupipe::extract {

// Two instructions, by index.
struct Race {
    std::size_t reads = 0;
    std::size_t writes = 0;

    auto operator<=>(const Race&) const = default;
};

// How a race was come upon: by the lane of a warp that reads or writes behind the other.
struct RaceSeen {
    std::uint64_t count = 0;  // words of lanes; bytes where the code has narrower accesses
    std::uint32_t warp = 0;   // of the first
    int lane = 0;
    bool reads = false;
};

// Watches groups, one after the other. Two writes are no race here, since most of them write the
// same, nor is an atomic operation. A group is looked at until its warps meet at a barrier that is
// not for all of them; kernels with barriers in shared memory are not looked at.
class RaceCheck {
public:
    explicit RaceCheck(const std::vector<isa::Instruction>& code);

    // As isa::GroupObserver is called.
    void begin();
    void access(std::uint32_t warp, std::size_t instruction, const isa::MemoryAccess& access);
    void barrier(bool all);

    // Of all groups so far.
    const std::map<Race, RaceSeen>& races() const { return races_; }
    void forget_races() { races_.clear(); }
    // Whether the kernel is looked at at all.
    bool watches() const { return watches_; }

private:
    // The first two different warps that did something since the last barrier: its number and the
    // warp's in one, and by which instruction.
    struct Users {
        std::array<std::uint32_t, 2> key;
        std::array<std::uint32_t, 2> instruction;
    };
    struct Place {
        Users reads, writes;
    };
    static constexpr std::uint32_t warps = 64;  // at least those of a group
    bool is_of_phase(std::uint32_t key) const { return key / warps == phase_; }
    void next_phase();
    void note(Place& place, bool reads, std::uint32_t key, std::uint32_t instruction, int lane);
    void find_race(const Users& others, bool reads, std::uint32_t key, std::uint32_t instruction,
                   int lane);

    std::uint32_t granule_ = 4;  // bytes that are told apart
    bool watches_ = true;
    bool ended_ = false;
    std::uint32_t phase_ = 0;
    std::vector<Place> places_;
    std::map<Race, RaceSeen> races_;
};

// "shared memory that one warp reads is written by another with no barrier in between (race.cu:13
// and 16)"
std::string to_text(const Race& race, const isa::Kernel& kernel);

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
// What one group of a launch refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace occupipe::extract {

// The sectors of one line that a request of a warp refers to.
struct LineReference {
    std::uint32_t line = 0;   // its number: global and local memory apart (MemoryTrace)
    std::uint32_t clock = 0;  // see MemoryTrace
    std::uint32_t what = 0;   // site, sectors, and whether it goes on

    // A site is an instruction * 4 + space, for what a warp executes for the first time behind
    // those of all instructions (MemoryTrace::first_sites()), below 2^27; bit s of `sectors` is
    // sector s.
    static std::uint32_t what_of(std::uint32_t site, std::uint32_t sectors) {
        return site << 4 | sectors;
    }
    // Of the same request as the reference before it.
    static constexpr std::uint32_t goes_on = std::uint32_t{1} << 31;
    std::uint32_t site() const { return (what & ~goes_on) >> 4; }
    std::uint32_t sectors() const { return what & 0xF; }
};

// Who makes a reference.
struct Issue {
    std::uint32_t warp = 0;  // of the group
    std::uint32_t step = 0;  // instructions that the warp had executed before

    bool operator==(const Issue&) const = default;
};

// Of one group, by clock, then warp.
struct GroupTrace {
    std::uint64_t group = 0;
    std::uint32_t clocks = 0;  // from its begin to its end
    std::vector<LineReference> references;
    std::vector<Issue> issues;  // of each reference
};

// Spaces of an instruction's sites.
inline constexpr std::size_t site_spaces = 4;

}  // namespace occupipe::extract

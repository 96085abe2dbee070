// SPDX-License-Identifier: MIT
// What a kernel leaves in its `stamps` buffer. The kernel text is generated from these numbers,
// so that device and host cannot disagree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace occupipe::bench {

// In front of the warps' records: the start line. Groups arrive; the last one sets the moment at
// which all begin. A group that gives up waiting for it counts in `missed`, one that sees it when
// it has passed in `late`. The word that all look at has a line of its own, so that who arrives
// does not queue behind who looks.
struct StampHeader {
    static constexpr std::size_t line_bytes = 128;

    std::uint64_t arrived = 0;
    std::uint64_t missed = 0;
    std::uint64_t late = 0;
    std::uint64_t barrier = 0;  // for kernels that let all groups wait for each other
    // Of the core clock as the driver states it. Where it runs at another one, cores begin apart by
    // that part of what lies between their looks at the timer; groups of one core do not.
    std::uint64_t cycles_per_1024_ns = 0;
    // The start time: lower half of the GPU's global timer [ns]; bit 32: it is set.
    alignas(line_bytes) std::uint64_t begin = 0;
    alignas(line_bytes) std::array<std::uint64_t, 512> anchors = {};  // by %smid: kernel.cuh
};

// One record per warp, written by its lane 0.
struct WarpStamp {
    std::uint64_t start = 0;  // core clock before the first and after the last timed instruction
    std::uint64_t stop = 0;
    // Lower halves of the global timer [ns] at a moment before the start and of the core clock then
    // (kernel.cuh), and the global timer as the warp stopped: the clock's frequency. 0: not read,
    // as by all but the first warp of a few groups.
    std::uint32_t wall_before = 0;
    std::uint32_t clock_before = 0;
    std::uint64_t wall_stop = 0;
    std::uint32_t core = 0;  // %smid
    std::uint32_t slot = 0;  // %warpid
    // Checkpointed kernels: the lower half of the core clock between the parts of the loop.
    std::array<std::uint32_t, 3> checkpoints = {};
    std::uint32_t unused = 0;
};

static_assert(sizeof(StampHeader) == 34 * StampHeader::line_bytes);
static_assert(sizeof(WarpStamp) == 56);

// What the witness kernel (prelude.h) writes.
struct WitnessStamp {
    std::uint64_t clocks = 0;       // core clocks in …
    std::uint64_t nanoseconds = 0;  // … this time by the global timer
    std::uint64_t tick = 0;         // smallest step of the global timer that was seen [ns]
};

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
// Executes a kernel's PTX on the host, a warp at a time, with every access to memory checked. It
// shows what a kernel computes and touches, not how long that takes. Lanes that went different ways
// come together where they meet (the lowest position in the text goes first). Matrix
// products are exact until they are added up. Copies, and products of a warp group, are done when
// they are asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/program.h"

namespace occupipe::ptx {

// What a GPU would have refused or never finished, or what it would have computed from nothing:
// access outside of all buffers, a register read before it is written, a loop without an end.
struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Buffer {
    std::string name;
    std::uint64_t address = 0;
    std::vector<std::byte> bytes;
};

// One thread's access to global memory.
struct Access {
    unsigned group = 0;
    unsigned thread = 0;     // in its group
    int clock_readings = 0;  // by this thread before: 1 in an untimed pass, 3 in the timed one
    std::string_view opcode;
    std::uint64_t address = 0;
    std::size_t bytes = 0;
};

struct Launch {
    unsigned groups = 1;
    unsigned threads = 32;  // per group; whole warps
    std::size_t shared_bytes = 0;
    std::vector<std::uint64_t> arguments;  // bits of each
    // More than one dimension, and threads that fill no warp: in place of the numbers above.
    std::array<unsigned, 3> grid{}, block{};
    std::vector<std::vector<std::byte>> argument_bytes;  // structs among them: in place of the bits
    bool reads_unwritten = false;                        // registers: as zero
    unsigned absent_groups = 0;                          // the last ones, which never start
    bool copies_arrive = true;                           // asynchronous ones with a barrier
    std::int64_t most_steps = 20'000'000;  // instructions of warps; more count as endless
    std::function<void(const Access&)> observe = {};
    bool trace = false;              // Outcome::trace is wanted
    bool short_clock_counts = true;  // %clock is a reading, as %clock64 is
};

using Counts = std::map<std::string, std::int64_t>;  // executions by a warp, by opcode

// One execution by the first thread.
struct Executed {
    std::size_t at = 0;           // index into Program::code
    bool taken = true;            // false: a branch whose predicate did not hold
    std::vector<int> needs = {};  // executions (places in the trace) whose results it read
};

struct Outcome {
    // Of the first warp, between one reading of the core's clock and the next.
    std::vector<Counts> intervals;
    // Of the first thread, from the third reading of the clock to the fourth: the timed pass.
    std::vector<Executed> trace;
};

// Throws Fault or NotUnderstood. Buffers hold what the kernel left there.
Outcome run(const Program& program, const Launch& launch, std::vector<Buffer>& buffers);

}  // namespace occupipe::ptx

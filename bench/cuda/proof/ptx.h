// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace occupipe::bench {

// PTX instructions by opcode ("fma.rn.f32") that kernel text asked for by inline assembly, in the
// timed part (between the two readings of %clock64 or %clock).
struct PtxCount {
    std::map<std::string, int> in_loop;
    std::map<std::string, int>
        by_compiler;                     // in the loop, made of the text around: its control too
    std::map<std::string, int> outside;  // timed, but not in the loop
};

// Readings of the clock by which a group waits at the start line, all in front of the timed part.
inline constexpr std::size_t start_line_readings = 4;

// Throws InputError when the text has not exactly two clock readings with one loop between them; of
// a checkpointed kernel three, the middle one in a loop around that loop.
PtxCount count_ptx(std::string_view ptx, bool checkpointed = false);

}  // namespace occupipe::bench

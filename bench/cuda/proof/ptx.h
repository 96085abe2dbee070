// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

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

// Those of the timed part, without the start line's: two, of a checkpointed kernel three. Throws
// InputError, beginning with `clock`, where there are more or fewer.
std::vector<std::size_t> timed_readings(std::vector<std::size_t> readings, bool checkpointed,
                                        std::string_view clock);

// Throws InputError when the text has not exactly two clock readings with one loop between them; of
// a checkpointed kernel three, the middle one in a loop around that loop.
PtxCount count_ptx(std::string_view ptx, bool checkpointed = false);

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
// How far a simulation has come, for those who wait for it.
//   "1.2e+09 of 8e+13 instructions (0.0015 %), 12 of 100000 groups, 4.1e+08 cycles"
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace occupipe {

struct RunProgress {
    std::int64_t simulated = 0;  // instructions that were issued one by one
    std::int64_t issued = 0;     // these, and those of repetitions that were skipped
    double instructions = 0;     // of the whole run
    std::int64_t groups = 0;     // that have ended
    std::int64_t all_groups = 0;
    double cycles = 0;  // simulated time [core cycles]

    double share() const { return static_cast<double>(issued) / instructions; }  // 0 … 1
};

std::string to_text(const RunProgress& progress);

// A limit that somebody set ended the work before there was an answer (exit code 4). what() says
// how far it came.
class LimitReached : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The user ended the work before there was an answer (exit code 130). what() says how far it came.
class Interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Called when a simulation begins and then after every `checkpoint_interval` instructions that are
// issued one by one. Whoever wants to end the run throws LimitReached or Interrupted. Where several
// simulations run at once it is called from several threads.
using Checkpoint = std::function<void(const RunProgress&)>;
inline constexpr std::int64_t checkpoint_interval = 1 << 16;

// Results that may be outstanding at once, all kinds together; each takes 32 bytes of memory.
inline constexpr std::int64_t max_outstanding = 1 << 22;

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// The timed part of a kernel, from the first reading of the core clock to the second, as the
// virtual core runs it: operations, the cycles the assembler counts behind each, and scoreboards.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace occupipe::test {

struct TimedInstruction {
    std::string name;            // "FFMA"
    int stall = 0;               // cycles until the warp's next instruction may issue
    std::optional<int> result;   // scoreboard raised until the result is there
    std::optional<int> operand;  // scoreboard raised until the operands are read
    unsigned awaited = 0;        // scoreboards waited for before it issues, as bits

    bool operator==(const TimedInstruction&) const = default;
};

struct TimedCode {
    std::string subject;
    int body = 0;                          // steps per chain and iteration
    std::string step;                      // the operation that a step is
    std::vector<TimedInstruction> before;  // the first reading of the clock is its first
    // Checkpointed kernels: what stands in front of each run of the loop, the clock's reading
    // among it, and behind it, the branch to the next run last. Empty in others.
    std::vector<TimedInstruction> head;
    std::vector<TimedInstruction> loop;  // the backward branch is its last
    std::vector<TimedInstruction> tail;
    std::vector<TimedInstruction> after;  // the second reading is its last

    bool checkpointed() const { return !head.empty(); }
    // Stall cycles behind the instructions of the loop that are no steps.
    int other_stall_cycles() const;
};

// From a kernel's machine code (sm_90). Throws what the decoder throws.
TimedCode timed_code(const std::string& subject, int body, const std::string& step,
                     std::string_view cubin, bool checkpointed = false);

// As text: a header line, then one line per run of equal instructions. Reading throws
// std::runtime_error on anything else.
std::string to_text(const TimedCode& code);
TimedCode timed_code_from_text(std::istream& text);

}  // namespace occupipe::test

// SPDX-License-Identifier: MIT
// The proof that a kernel's timed loop contains what the row says: exactly unroll x chains of
// the instruction, in PTX and in machine code, chained as the row's pattern asks, nothing spilled,
// and the clock read around it. A kernel whose receipt has faults is not launched.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {

struct Receipt {
    struct Count {
        std::string instruction;        // "fma.f32"
        std::string ptx_opcode;         // "fma.rn.f32"
        std::vector<std::string> sass;  // "FFMA"; several where the assembler may choose
        int expected = 0;               // in PTX, per iteration of the loop
        int sass_expected = 0;          // in machine code
        int ptx_found = 0;
        int sass_found = 0;
        std::string also;               // what else the table announces for it
        std::vector<std::string> with;  // "IADD3.X", "IMAD.X": one of these for each of `sass`
        int with_found = 0;
    };

    std::string subject;       // "fma.f32", "mix(fma.f32*8,cos.approx.f32)"
    std::string architecture;  // "sm_90"
    std::string compiler;      // "NVRTC 13.0"
    int chains = 1;
    int unroll = 1;
    std::vector<Count> counts;
    std::map<std::string, int> others;   // in the loop besides the counted ones
    std::map<std::string, int> control;  // the loop's own counter, comparison and branch
    int loop_instructions = 0;           // all of one iteration
    int other_instructions = 0;          // those that are not counted ones: others and control
    int other_stall_cycles = 0;          // that the assembler counts behind these
    // Checkpointed kernels: instructions from one run of the loop to the next, clock reading
    // included, and the stall cycles behind them. None of them is in the counted loop.
    std::optional<int> checkpoint_instructions;
    int checkpoint_stall_cycles = 0;
    // Cycles that the assembler counts from step to step, and how often in the loop's body; empty
    // where it awaits a scoreboard instead, and for several chains.
    std::map<int, int> step_cycles;
    std::optional<int> counted_latency;  // of these the one that nearly all are, if there is one
    // Machine instructions on the dependent chain, per step; empty where there is no chain.
    std::map<std::string, double> chain;
    bool alternates = false;       // steps are not all made of the same instruction
    std::optional<int> registers;  // per thread
    std::optional<std::int64_t> stack_bytes;
    std::int64_t loop_bytes = 0;
    std::string cubin_hash;
    std::string source_hash;
    std::string compiler_log;
    std::vector<std::string> faults;  // why the kernel is refused; empty = it may run

    bool ok() const { return faults.empty(); }
};

// Never throws on bad code: each problem becomes a fault. `entry`: the kernel's name.
Receipt make_receipt(const KernelPlan& plan, const std::string& architecture,
                     std::string_view source, std::string_view ptx, std::string_view cubin,
                     const std::string& compiler_log, const char* entry = kernel_entry);

// Counters for the rows of a measurement, where a step is more than one instruction of one kind:
// "chain.ISETP" = 1, "chain.SEL" = 1.
std::map<std::string, double> chain_counters(const Receipt& receipt);

// For every row that is measured with this kernel (docs/reference/file-formats/).
std::map<std::string, double> receipt_counters(const Receipt& receipt);

std::string format_receipt(const Receipt& receipt);  // for people, a dozen lines

}  // namespace occupipe::bench

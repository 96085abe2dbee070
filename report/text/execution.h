// SPDX-License-Identifier: MIT
// What kernels did when they were executed on the host:
//   heat<<<(256,1,1), (256,1,1)>>> for sm_90, 10 times
//     2,560 groups, 20,480 warps; 450,560 warp-instructions, 22 per warp; 32 lanes active in the
//     mean unit      warp-instructions   share  lanes memory              102,400  22.7 %   31.9
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/launch_plan.h"
#include "extract/buffer_check.h"
#include "extract/run_plan.h"

namespace occupipe::report {

struct ExecutedBuffer {
    BufferPlan buffer;
    extract::BufferSummary summary;
    std::string against;  // file; empty: not compared
    double absolute = 0, relative = 0;
    std::optional<extract::BufferComparison> comparison;
};

struct ExecutionReport {
    std::string kernels;  // file
    int architecture = 0;
    std::string compiler;              // empty: compiled before
    std::vector<std::string> options;  // handed to the compiler
    std::vector<std::string> notes;    // what is assumed or not executed
    std::vector<extract::LaunchResult> launches;
    // Why the plan ended before its end; then there are no buffers. Empty: it came to its end.
    std::string ended_early;
    std::vector<ExecutedBuffer> buffers;
};

// "a core holds 6 groups of 8 warps, 75 % of its warps; limited by registers"
std::string occupancy_text(const Occupancy& occupancy);

// `disassembly`: with the machine code of each kernel and what every instruction did.
std::string to_text(const ExecutionReport& report, bool disassembly);

// occupipe-execution/1 (docs/reference/file-formats/), with a line end.
std::string to_json(const ExecutionReport& report);

// All launches together: counts per opcode or unit, most first.
struct OpcodeCount {
    std::string name;
    isa::InstructionCount count;
};
std::vector<OpcodeCount> by_opcode(const extract::LaunchResult& launch);
std::vector<OpcodeCount> by_unit(const extract::LaunchResult& launch);

// What the instructions of one source line did.
struct LineCount {
    std::string line;  // "heat.cu:12"
    isa::InstructionCount count;
    extract::MemoryCounts memory;
};
// In the order of the file; empty where the kernel does not tell its lines.
std::vector<LineCount> by_line(const extract::LaunchResult& launch);

}  // namespace occupipe::report

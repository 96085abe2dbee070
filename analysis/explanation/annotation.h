// SPDX-License-Identifier: MIT
// What one simulated launch did, by machine instruction and by line of source code:
//   saxpy.cu:7   4 executions of a warp, 812 cycles, most of them waiting for ldg.0060
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explanation/sensitivity.h"
#include "ask/memory_view.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "isa/instruction.h"
#include "sim/engine/simulate.h"
#include "sim/observers/stalls.h"

namespace occupipe::analysis {

// Sums over an instruction, a line or all of a launch.
struct Spent {
    double executions_per_warp = 0;  // mean over the launch's warps
    double executions = 0;           // of the whole launch, all cores
    // Time of a warp in which this was what it would issue next, by what it waited for [cycles];
    // mean over the warps that the simulated core ran. Issuing itself takes none.
    std::map<sim::WaitReason, double> waits;
    // Time of a warp in which others waited for a result of this [cycles], the same mean.
    double awaited = 0;

    double cycles() const;
    std::optional<sim::WaitReason> main_reason() const;  // that of most cycles; none without any
    Spent& operator+=(const Spent& other);
};

// What memory instructions asked for, where the kernel tells; sums over the launch.
struct MemorySums {
    double global = 0;   // executions that ask for sectors of global or local memory
    double sectors = 0;  // of 32 bytes
    double shared = 0;   // executions that go through the banks of shared memory
    double passes = 0;
    // Of the sectors that were read: all, and those that each level found, where the accesses were
    // priced.
    double read = 0;
    LevelShares found = {};

    MemorySums& operator+=(const MemorySums& other);
};

// An instruction of the kernel; of machine code, all its copies in the graph together.
struct AnnotatedInstruction {
    std::string id;  // of the kernel file, without the number of a copy: "ffma.0340"
    std::string op;
    std::string at;                       // "FILE:LINE"; empty: not told
    std::optional<std::int64_t> address;  // of machine code, bytes
    std::string text;                     // machine code as text; empty: not at hand
    std::optional<int> stall;             // cycles, by its control field
    Spent spent;
    // Which results it waited for, by id: time of a warp [cycles]; sums to the waits for
    // dependences and barriers.
    std::map<std::string, double> waits_for;
    std::optional<MemorySums> memory;  // absent: not told, or no access
    std::optional<Interval> interval;  // of spent.cycles(), by the profile's errors; absent: none
};

struct AnnotatedLine {
    std::string file;                       // empty: of instructions that say no line
    int number = 0;                         // from 1; 0: of instructions that say no line
    std::optional<std::string> text;        // absent: the source is not at hand
    std::vector<std::size_t> instructions;  // into Annotation::instructions; empty: none executed
    Spent spent;
    std::optional<MemorySums> memory;
    std::optional<Interval> interval;  // as an instruction's
};

struct Annotation {
    std::string kernel;
    Launch launch;
    double cycles = 0;            // predicted, of the busiest core
    std::int64_t core_warps = 0;  // that this core runs, one after the other or together
    std::int64_t places = 0;      // for warps that run at once
    std::vector<AnnotatedInstruction> instructions;  // by address; of hand-written kernels, by text
    std::vector<AnnotatedLine> lines;                // by file, then number
    // Time of a warp's place in which no instruction waits: last results, the rest of the group,
    // no group left. Like Spent::waits, so that all together is place_cycles_per_warp().
    std::map<sim::WaitReason, double> rest;
    std::vector<std::string> notes;  // what could not be told
    int interval_draws = 0;          // of the profile, for the intervals; 0: there are none

    // cycles · places / core_warps: what all Spent::cycles() and `rest` sum to.
    double place_cycles_per_warp() const;
    // Of the time of all places, from 0 to 1.
    double share(double cycles_per_warp) const { return cycles_per_warp / place_cycles_per_warp(); }
    bool has_lines() const;
};

// Of a run that the view has seen. Loops are multiplied out: instructions
// sum to the launch's, waits and `rest` to the time of all warps' places.
Annotation annotate(const Kernel& kernel, const Launch& launch, const sim::StallView& view);

// The same of a run that is simulated for it, without skipping what repeats. Throws as simulate().
Annotation annotate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                    const SimulationOptions& options);

// Says each instruction as text. `code`: of the kernel that the graph was made from.
void add_machine_code(Annotation& annotation, const std::vector<isa::Instruction>& code,
                      int architecture);

// Says where the sectors were found. `rows`: of the priced kernel that was annotated.
void add_hits(Annotation& annotation, const std::vector<MemoryRow>& rows);

// Gives the lines their text, and adds those between them that were not executed. `texts`: by file
// as in `at`. A file that ends before one of its lines is another version of it, and is left out
// with a note.
void add_source(Annotation& annotation, const std::map<std::string, std::string>& texts);

// The files that `at` of the kernel's instructions name.
std::vector<std::string> source_files(const Kernel& kernel);

// "ffma.0340.2", as extract names the second copy of an instruction of machine code → "ffma.0340"
// and 0x340; any other name → itself.
std::pair<std::string, std::optional<std::int64_t>> machine_instruction(const std::string& id);

}  // namespace occupipe::analysis

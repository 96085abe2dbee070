// SPDX-License-Identifier: MIT
// THE TABLE of measurable instructions as backends see it. Rows are defined in the
// catalogue (catalogue.h).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "bench/instructions/pattern.h"

namespace occupipe::bench {

// bf16: bfloat16; x2: two 16-bit values in one 32-bit register.
// f32x4: a vector of OpenCL C, in one register where the hardware has vectors (x86: 128 bits).
enum class DataType { f32, f64, s32, u32, b32, s64, f16, bf16, f16x2, bf16x2, f32x4, f64x2, s32x4 };

// What makes a step wait for the step before it.
enum class Order {
    registers,  // it needs the result; the receipt follows the registers
    waits,      // it is itself a wait (barrier, fence), or ends with one (asynchronous copy)
    none        // nothing: only the throughput can be measured
};

// Which working set a walk through global memory has.
enum class Table { beyond_caches, second_level, first_level };

// Written as a counter into every measurement of the row, for the fitter
// (docs/reference/file-formats/).
struct RowCounter {
    std::string_view name;
    double value = 0;
    bool per_warp = false;  // times the warps on a core
};

// Of rows whose subject is the length of the loop's body.
inline constexpr std::string_view body_length_counter = "body_instructions";

// Architectures that have a row's PTX as a sequence of others only: no one instruction to measure.
struct ArchitectureGap {
    int first = 0;  // 90 = sm_90
    int last = 0;
    std::string_view why = {};
};

struct Row {
    std::string_view id;  // the profile's instruction name, PTX spelling
    DataType type;
    Pattern pattern;
    // One step on chain variable $ with run-time operands a and b, in the macros of the dialect
    // preludes. Each macro is one instruction where the hardware has it. # is the number of the
    // step in the loop's body (over all chains), for streams.
    std::string_view step;
    // Run-time operands: a, b and the chains' first values (x + 0.01 * chain for floats). Chosen so
    // that values stay finite and normal for any depth (bench tests check the stored results).
    double a;
    double b;
    double x;
    // Receipts. `ptx`: opcode that stands exactly depth x chains times in the PTX of the timed
    // loop. `sass`: opcode of NVIDIA machine code with the same count ("FFMA"). `x86`: mnemonic, as
    // a regular expression, with the same count on an x86-64 CPU; empty where the CPU has no such
    // instruction and the loop contains a library function or sequence.
    std::string_view ptx;
    std::string_view sass;
    std::string_view x86;
    // Why the loop contains more than `sass` (`x86`) and loop overhead; empty = it does not.
    std::string_view sass_also;
    std::string_view x86_also;
    // Text before the timed part: what the step works on besides a, b and the chains.
    std::string_view setup = {};
    std::string_view opencl_extension = {};  // the device must have it: "cl_khr_fp16"
    int x86_count = 1;                       // instructions of `x86` per step
    // The step can be folded by a compiler that sees it (affine in integers): needs the inline
    // assembly fence, and is unsupported on an OpenCL compiler that has none.
    bool foldable;
    std::string_view meaning;  // one line for people
    // NVIDIA machine instructions per step, about: a long step needs a shorter loop body to stay
    // inside the instruction caches.
    int sass_length = 1;
    int sass_count = 1;                  // instructions of `sass` per step
    int ptx_count = 1;                   // instructions of `ptx` per step
    int least_architecture = 0;          // oldest NVIDIA GPU that has it: 80 = sm_80
    int last_architecture = 999;         // newest one; 999: still there
    bool architecture_features = false;  // needs sm_90a instead of sm_90
    Order order = Order::registers;
    // Type of a chain's variable where it is not the operands': one of the prelude's structs, made
    // from one operand.
    std::string_view state = {};
    std::array<RowCounter, 2> counters = {};
    // Memory walks: the lane's word within the warp's request, and how far the warp's requests lie
    // apart, in units of warp_size words.
    std::string_view lane = "LANE";
    int spread = 1;
    int access_words = 1;  // of one lane; a chase over two or more follows 64-bit addresses
    Table table = Table::beyond_caches;
    bool texture = false;          // the table is read as a texture; its words are indices
    bool own_lines = false;        // each warp stays in one line, which leads back to itself
    bool working_sets = false;     // measured over working sets from small to beyond the caches
    int unroll = 0;                // steps in the loop's body; 0: default_unroll()
    int group_warps = 1;           // a group's warps are a multiple of this
    std::size_t shared_bytes = 0;  // shared memory that the step works on, per group
    int registers = 0;             // per thread, about, of rows that need many
    int cluster = 1;               // groups that are launched as one cluster
    int most_chains = 8;           // more would not fit the registers
    bool alternates = false;       // the assembler alternates between two kinds of `sass`
    // NVIDIA machine instruction that occurs once more for each of `sass` ("IADD3.X|IMAD.X":
    // either).
    std::string_view sass_with = {};
    bool lanes_matter = false;  // meaningless if a warp has one lane (CPUs)
    bool principal = false;     // a quick sweep measures more than its two ends
    ArchitectureGap gap = {};
    // Why CUDA, and why OpenCL C, has no form of it, for people.
    std::string_view no_cuda = {};
    std::string_view no_opencl = {};
};

std::span<const Row> instruction_table();  // in CUDA, with the x86 receipts of OpenCL
std::span<const Row> opencl_table();       // the same rows in OpenCL C
const Row* find_row(std::string_view id);  // nullptr when there is none
const Row* find_row(std::span<const Row> rows, std::string_view id);

// The type of a chain's variable.
std::string_view state_name(const Row& row);
std::string_view type_name(DataType type);  // as the dialect preludes spell it
std::size_t type_size(DataType type);
DataType element_type(DataType type);  // of a vector; else the type itself

}  // namespace occupipe::bench

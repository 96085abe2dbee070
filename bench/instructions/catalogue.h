// SPDX-License-Identifier: MIT
// THE CATALOGUE of measurable instructions: one row each, by unit, a file for each unit. A row
// drives the kernel text of every backend, the sweep, the receipts, the command line's listing and
// the tests. A row says only what is special; the defaults below fit most rows.
//
//     {.id = "fma.ftz.f32", .type = f32, .operands = {0.5, 0.75, 1},
//      .meaning = "single-precision multiply-add, subnormals flushed to zero",
//      .cuda = {.ptx = "fma.rn.ftz.f32 %0, %0, %1, %2;", .sass = "FFMA"},
//      .opencl = {.none = no_flushing}},
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "bench/instructions/instruction_table.h"

namespace occupipe::bench {

// Run-time operands a and b, and the chains' first value x (x + 0.01 * chain for floats). Chosen so
// that values stay finite and normal (|value| within 1e-30…1e30) at any depth.
struct Operands {
    double a = 0;
    double b = 0;
    double x = 0;
};

// How a row's lanes walk through memory.
struct Walk {
    Table table = Table::beyond_caches;
    std::string_view lane = "LANE";  // the lane's word within the warp's request
    int spread = 1;                  // how far the requests lie apart, in warp_size words
    int access_words = 1;            // of one lane; a chase over two or more follows addresses
    bool texture = false;            // the table is read as a texture; its words are indices
    bool own_lines = false;          // each warp stays in one line, which leads back to itself
    bool working_sets = false;       // over working sets from small to beyond the caches
};

// The row in CUDA: a step on the chain's variable.
struct CudaForm {
    // PTX of a step, in which %0 is the chain's value and %1 and %2 the operands a and b. "@go" in
    // front, a predicate that always holds, keeps the assembler from folding the step into its
    // neighbour. The opcode counted is its first word, unless `counted` says another.
    std::string_view ptx = {};
    // Where a step is more than that: CUDA C++ on the chain's variable $ and the operands a and b,
    // in terms of bench/cuda/device; # is the number of the step in the loop's body (over all
    // chains), the word ptx means `ptx` in quotes.
    std::string_view step = {};
    std::string_view counted = {};
    std::string_view sass =
        {};  // opcode of machine code with the same count: "FFMA", "HADD2|HFMA2"
    std::string_view also = {};    // why more than `sass` and loop overhead is there; empty: is not
    std::string_view with = {};    // opcode that occurs once more for each of `sass`
    int ptx_count = 1;             // instructions of `counted` per step
    int count = 1;                 // instructions of `sass` per step
    int length = 1;                // machine instructions per step, about
    bool alternates = false;       // the assembler alternates between two kinds of `sass`
    int since = 0;                 // oldest architecture that has it: 80 = sm_80
    int until = 999;               // newest one; 999: still there
    bool features = false;         // needs sm_90a instead of sm_90
    ArchitectureGap gap = {};      // architectures between that only have a sequence
    std::string_view state = {};   // type of the chain's variable, where it is not the operands'
    std::string_view setup = {};   // before the timed part
    std::size_t shared_bytes = 0;  // shared memory that the step works on, per group
    int registers = 0;             // per thread, about, of rows that need many
    int group_warps = 1;           // a group's warps are a multiple of this
    int cluster = 1;               // groups that are launched as one cluster
    int most_chains = 0;           // where it is not the row's
    std::string_view none = {};    // why there is no form
};

// The row in OpenCL C.
struct OpenClForm {
    // On the chain's variable $ and the operands a and b; # is the step's number. It ends in a
    // FENCE_ macro, which hides the value from the optimiser.
    std::string_view step = {};
    std::string_view setup = {};      // before the timed part
    std::string_view extension = {};  // the device must have it: "cl_khr_fp16"
    // Mnemonic, as a regular expression, with the same count on an x86-64 CPU; empty where the CPU
    // has no such instruction and the loop contains a library function or sequence.
    std::string_view x86 = {};
    std::string_view also = {};  // why more than `x86` and loop overhead is there; empty: is not
    int count = 1;               // instructions of `x86` per step
    // A compiler that sees the step can fold several into one (affine in integers): needs the
    // fence, and is unsupported by a compiler that takes none.
    bool foldable = true;
    // Where they are not the row's. A pattern of its own has neither the row's walk nor its
    // counters.
    std::optional<DataType> type = {};
    std::optional<Pattern> pattern = {};
    std::optional<Operands> operands = {};
    std::string_view meaning = {};
    std::string_view none = {};  // why there is no form
};

struct CatalogueRow {
    std::string_view id;  // the profile's instruction name, PTX spelling
    DataType type = DataType::f32;
    Pattern pattern = Pattern::chain;
    Operands operands = {};
    std::string_view meaning = {};  // one line for people
    Order order = Order::registers;
    Walk walk = {};
    std::array<RowCounter, 2> counters = {};
    int unroll = 0;             // steps in the loop's body; 0: default_unroll()
    int most_chains = 8;        // more would not fit the registers
    bool lanes_matter = false;  // meaningless if a warp has one lane (CPUs)
    bool principal = false;     // a quick sweep measures more than its two ends
    CudaForm cuda = {};
    OpenClForm opencl = {};
};

std::span<const CatalogueRow> float_rows();       // 32 and 64 bits
std::span<const CatalogueRow> half_rows();        // 16 bits
std::span<const CatalogueRow> integer_rows();     // arithmetic, logic, bit fields
std::span<const CatalogueRow> conversion_rows();  // from type to type
std::span<const CatalogueRow> vector_rows();      // several values in one instruction
std::span<const CatalogueRow> memory_rows();      // loads, stores, copies
std::span<const CatalogueRow> atomic_rows();
std::span<const CatalogueRow> matrix_rows();           // of a warp, and moves of matrices
std::span<const CatalogueRow> group_matrix_rows();     // of four warps
std::span<const CatalogueRow> synchronisation_rows();  // barriers, fences, exchange within a warp
std::span<const CatalogueRow> launch_rows();

// The row as a backend of each kind works with it. CUDA's is also what is listed; its `step` is
// empty where CUDA has none, OpenCL's where OpenCL has none.
Row in_cuda(const CatalogueRow& row);
Row in_opencl(const CatalogueRow& row);

}  // namespace occupipe::bench

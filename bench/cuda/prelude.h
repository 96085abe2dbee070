// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace occupipe::bench {

inline constexpr int cuda_warp_size = 32;

// Macros and device functions that give a kernel body (kernel_source.h) its CUDA meaning.
// table_words: power of two; line_words: words of one memory line that a warp walks; mix: for a
// kernel of two instructions; lap_iterations: what the untimed pass runs at least, so that a walk's
// first-level cache holds all that the timed pass will read.
//
// Every operation is inline PTX, one PTX instruction of the row's `ptx` spelling per step. The
// assembler behind PTX still folds what it can; how a step escapes that is said at its macro, and
// the receipt (receipt.h) proves it for each kernel.
std::string cuda_prelude(std::size_t table_words, int line_words, bool mix, int lap_iterations);

inline constexpr const char* witness_entry = "occupipe_witness";

// Kernel (WitnessStamp* out, unsigned long long nanoseconds): one thread that waits this long by
// the global timer and counts core clocks meanwhile.
std::string cuda_witness_source();

inline constexpr const char* table_writer_entry = "occupipe_table_writer";

// Kernel (uint* table, ulong words, ulong slack, uint line_words, uint access_words, uint
// own_lines, uint numbers, ulong base): the table that a walk reads, as global_table() and
// relocation make it.
std::string cuda_table_writer_source();

inline constexpr const char* table_reader_entry = "occupipe_table_reader";

// Kernel (const uint* table, unsigned long long sectors, int each_core, uint* result): reads
// sectors of 32 bytes into the second-level cache, all of them on each core or all cores together.
// Leaves a word in *result or nothing.
std::string cuda_table_reader_source();

}  // namespace occupipe::bench

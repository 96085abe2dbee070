// SPDX-License-Identifier: MIT
// Kernel text from a table row: pure functions, golden-tested. The text is common to all dialects;
// a dialect's prelude (bench/opencl/prelude.h, bench/cuda/prelude.h) gives its macros meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/instructions/instruction_table.h"
#include "core/benchmark_kernel.h"

namespace occupipe::bench {

inline constexpr const char* kernel_entry = "occupipe_kernel";

// Readings of the clock between a checkpointed kernel's start and its stop. They are equally far
// apart: iterations are a multiple of one more than there are checkpoints.
inline constexpr int checkpoints = 3;

// What a kernel is made of. A mix has a second row and β; else second is null.
struct KernelPlan {
    const Row* first = nullptr;
    const Row* second = nullptr;
    int beta = 0;  // instructions of `first` before one of `second`
    int chains = 1;
    int unroll = 1;                     // instructions per chain in the loop's body
    std::size_t working_set_bytes = 0;  // of a walk through global memory; 0: as the row says
    // Whether each warp notes the clock on its way, too: the same loop runs `checkpoints` + 1
    // times, one after the other, and the clock is read between them.
    bool checkpointed = false;

    std::string subject() const;  // "fma.f32" or "mix(fma.f32*8,cos.approx.f32)"
    // The two instructions of a mix take turns in one dependent chain where they work on the same
    // type; else each has chains of its own.
    bool separate_chains() const;
    bool operator==(const KernelPlan&) const = default;
};

// What the plan's loop executes: the source text is written from it, and so is the dependence graph
// that predictions of the point are made from.
BenchmarkKernel benchmark_kernel(const KernelPlan& plan);

// The row whose table in global memory the kernel walks; nullptr when it walks none.
const Row* walking_row(const KernelPlan& plan);

// What a launch finds in the last cache. A table that fits is there as a whole; of a larger one
// nothing is, whatever earlier launches have read.
enum class CacheState { as_it_is, holds_table, holds_nothing_of_table };

// Bytes of the table for each kind of working set; powers of two.
struct TableSizes {
    std::size_t first_level = 16u << 10;
    std::size_t second_level = 256u << 10;
    std::size_t beyond_caches = 128u << 20;
    std::size_t cache_bytes = 0;  // of the last cache before global memory; 0: not known

    std::size_t of(const KernelPlan& plan) const;
    CacheState before_launch(const KernelPlan& plan) const;
};

struct KernelSource {
    KernelPlan plan;
    std::string body;  // kernel text without prelude
    // a, b, x0, x1, … of the first row, then (from a multiple of 16 bytes on) of a second one with
    // chains of its own. They are the buffer `in`, or stand behind the table that is
    // (`walking_row`).
    std::vector<std::byte> operands;
    std::size_t shared_bytes = 0;  // shared memory that the kernel itself uses, per group
};

// The longest body that stays well inside every instruction cache known to us and amortises the
// loop's own instructions; a multiple of a mix's period.
int default_unroll(const Row& first, const Row* second, int beta, int chains, bool cpu);

// A second, shorter body for the same plan, about a quarter of its own. Count, comparison and
// branch cost each iteration the same whatever it contains, so that times of both bodies tell them
// from the steps, which times of one body cannot (its iterations are proportional to its steps).
// plan.unroll where there is none: the loop's length is itself the subject, or nothing is timed.
int second_unroll(const KernelPlan& plan);

KernelSource kernel_source(const KernelPlan& plan);

// Words of the ring that Pattern::shared_chase walks; a power of two.
inline constexpr int shared_ring_words = 1024;

// Words of the ring in constant memory; fits the smallest constant cache known to us (2 KiB).
inline constexpr int constant_ring_words = 256;

// Words behind the table's end, so that one loop body of a stream may run over it; filled alike.
inline constexpr std::size_t global_table_slack_words = 64 * 1024;
// Behind these is room for a mix's operands.
inline constexpr std::size_t global_table_operand_bytes = 1024;

// The table that a global walk reads: `bytes` (a power of two), as 32-bit words. For a chase, word
// i of a line holds the index of word i of the next line; lines of line_bytes in order, or in one
// random cycle (seeded) where hardware would prefetch an ordered walk (CPUs). For a stream or
// stores, small random floats.
struct TableRequest {
    Pattern pattern = Pattern::global_chase;
    std::size_t bytes = 0;
    std::size_t line_bytes = 0;
    int access_words = 1;
    bool own_lines = false;
    bool texture = false;
    auto operator<=>(const TableRequest&) const = default;
};
std::vector<std::byte> global_table(const TableRequest& request, bool random_order,
                                    std::uint64_t seed);

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
// Kernel text from a table row: pure functions, golden-tested. The text is common to all dialects;
// a dialect's prelude (bench/opencl/prelude.h, bench/cuda/prelude.h) gives its macros meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/instruction_table.h"

namespace occupipe::bench {

inline constexpr const char* kernel_entry = "occupipe_kernel";

// What a kernel is made of. A mix has a second row and β; else second is null.
struct KernelPlan {
    const Row* first = nullptr;
    const Row* second = nullptr;
    int beta = 0;  // instructions of `first` before one of `second`
    int chains = 1;
    int unroll = 1;  // instructions per chain in the loop's body

    std::string subject() const;  // "fma.f32" or "mix(fma.f32*8,cos.approx.f32)"
    bool operator==(const KernelPlan&) const = default;
};

struct KernelSource {
    KernelPlan plan;
    std::string body;                 // kernel text without prelude
    std::vector<std::byte> operands;  // contents of the buffer `in` (chains: a, b, x0, x1, …)
    std::size_t shared_bytes = 0;     // shared memory that the kernel itself uses, per group
};

// The longest body that stays well inside every instruction cache known to us and amortises the
// loop's own instructions; a multiple of a mix's period.
int default_unroll(const Row& first, const Row* second, int beta, int chains, bool cpu);

KernelSource kernel_source(const KernelPlan& plan);

// Words of the ring that Pattern::shared_chase walks; a power of two.
inline constexpr int shared_ring_words = 1024;

// Words behind the table's end, so that one loop body of a stream may run over it; filled alike.
inline constexpr std::size_t global_table_slack_words = 64 * 1024;

// The table that Pattern::global_chase and global_stream read: `bytes` (a power of two), as 32-bit
// words. For a chase, word i of a line holds the index of word i of the next line; lines of
// line_bytes in order, or in one random cycle (seeded) where hardware would prefetch an ordered
// walk (CPUs). For a stream, small random floats.
std::vector<std::byte> global_table(Pattern pattern, std::size_t bytes, std::size_t line_bytes,
                                    bool random_order, std::uint64_t seed);

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
// One warp's program in the form the simulator runs: loops are kept, and each instruction of the
// text is a stream of instances, one per iteration, numbered in program order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/resolved_kernel.h"
#include "sim/engine/simulate.h"
#include "sim/machine/machine.h"

namespace occupipe::sim {

struct LoopProgram {
    // Instance j of a user waits until `producer` has completed required(j) instances, as instances
    // of one stream complete in order.
    struct Edge {
        std::int32_t producer = 0;
        std::int32_t user = 0;
        std::int64_t back = 0;        // the producer's instance this many iterations ago
        std::int64_t divisor = 1;     // user instances per iteration of the common loop
        std::int64_t multiplier = 1;  // producer instances per iteration of the common loop
        std::int64_t restart = 0;  // `back` > 0: iterations after which the common loop restarts;
                                   // 0 when it runs only once

        // Zero or less: nothing.
        std::int64_t required(std::int64_t j) const {
            if (divisor != 1) j /= divisor;
            if (restart != 0 && j % restart < back) return 0;
            return (j + 1 - back) * multiplier;
        }
    };
    struct Stream {
        std::int32_t op = 0;  // into Machine::ops
        std::int32_t loop = -1;
        std::int64_t instances = 1;
        std::int64_t offset = 0;      // instructions that precede its first instance
        std::int32_t first_edge = 0;  // into edges: what it waits for
        std::int32_t edge_count = 0;
        std::int32_t first_user = 0;  // into users: edges that wait for it
        std::int32_t user_count = 0;
        std::int32_t top_end = 0;  // streams [own, top_end) share its outermost loop; 0 = no loop
    };
    struct Loop {
        std::int32_t parent = -1;
        std::int64_t count = 1;
        std::int32_t first = 0;  // streams [first, last)
        std::int32_t last = 0;
        std::int64_t length = 0;  // instructions of one iteration
    };
    std::vector<Stream> streams;   // in text order
    std::vector<std::string> ids;  // per stream: the instruction's in the kernel file
    std::vector<Edge> edges;       // by user
    std::vector<std::int32_t> users;
    std::vector<Loop> loops;
    std::int64_t instructions = 0;  // that one warp executes
    std::int64_t barriers = 0;      // of these

    // The number of instructions that precede the instance in program order.
    std::int64_t program_index(std::int32_t stream, std::int64_t instance) const;
};

// The program with every trip count cut to longest_back + 2, which only removes instances in the
// middle, and without the dependences that go back more than longest_back iterations: what it
// orders is ordered in the whole program, too. The order of program_index() stays.
LoopProgram with_short_loops(LoopProgram program, std::int64_t longest_back = 1);

// A barrier, and the one before it in program order.
struct UnorderedBarriers {
    std::string barrier;  // id
    std::string before;   // as the barrier's `after` would name it
};

// The first barrier that does not depend on the one before; none if all do.
std::optional<UnorderedBarriers> unordered_barriers(const LoopProgram& program,
                                                    const Machine& machine);

// With Order::dataflow an outer loop whose iterations overlap so that a stream's instances would
// not issue in order is replicated. Throws InputError when that needs more than 65,536 streams.
LoopProgram build_loop_program(const ResolvedProgram& program, const Machine& machine, Order order);

}  // namespace occupipe::sim

// SPDX-License-Identifier: MIT
// A grid on one thread of the host: groups one after the other, the threads of a group as fibers
// that leave the processor only at a barrier or where lanes of a warp exchange values.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/kernels/host/vectors.h"

// What kernels read, of the thread that runs.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace occupipe::test::host {

// A kernel that CUDA does not define: a barrier that not all reach, a lane that left.
struct KernelFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A result that differs between these is a race of the kernel.
enum class Order { forward, backward };

// Runs `thread(data)` once per thread of the grid. Throws KernelFault.
void run_grid(dim3 grid, dim3 block, void (*thread)(void*), void* data, Order order);

constexpr unsigned dynamic_shared_bytes = 64 * 1024;  // that a kernel may ask for

// Below: called by kernels' threads alone.

struct Votes {
    unsigned count = 0;  // of the threads whose predicate held
    unsigned all = 0;    // threads
};
// Barrier `id` of the group, for `threads` threads (0: for all that have not left).
Votes barrier(unsigned id, unsigned threads, bool predicate);
// Counts the thread as one that came, and goes on.
void barrier_arrive(unsigned id, unsigned threads);

// One lane of a warp at an exchange.
struct Lane {
    std::uint64_t value = 0;      // what it brings
    std::uint32_t parameter = 0;  // and asks
    std::uint64_t result = 0;     // what it gets
    std::uint32_t more = 0;
};
// Computes the results of the lanes in `mask`, all of which wait; `present` is `mask` without the
// lanes that left.
using Exchange = void (*)(Lane* lanes, std::uint32_t mask, std::uint32_t present);
// Waits until all lanes in `mask` are at the same exchange.
Lane exchange(std::uint32_t mask, Exchange compute, std::uint64_t value, std::uint32_t parameter);

unsigned lane_index();
void let_others_run();

}  // namespace occupipe::test::host

// SPDX-License-Identifier: MIT
// What it costs to start kernels, groups and iterations.
#include "bench/instructions/catalogue.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

// clang-format off
constexpr CatalogueRow rows[] = {
    {.id = "loop", .type = u32, .pattern = empty_loop, .operands = {0, 0, 1},
     .meaning = "iteration of an empty loop: count, comparison and branch",
     .order = Order::waits, .unroll = 1, .most_chains = 1,
     .cuda = {.none = "the assembler removes an empty loop; fma.f32.body1, body4 and "
                      "body16 show what a loop costs"},
     .opencl = {.step = "EMPTY_LOOP($)", .foldable = false}},
    {.id = "launch", .type = u32, .pattern = launch,
     .meaning = "launch of an empty kernel, many in a queue",
     .order = Order::waits, .unroll = 1, .most_chains = 1,
     .cuda = {.ptx = "ret", .step = "LAUNCH($)"},
     .opencl = {.step = "LAUNCH($)", .foldable = false}},
    {.id = "launch.awaited", .type = u32, .pattern = awaited_launch,
     .meaning = "launch of an empty kernel, each awaited by the host before the next "
                "(the cost of a global synchronisation through the host)",
     .order = Order::waits, .unroll = 1, .most_chains = 1,
     .cuda = {.ptx = "ret", .step = "LAUNCH($)"},
     .opencl = {.step = "LAUNCH($)", .foldable = false}},
    {.id = "launch.graph", .type = u32, .pattern = graph_launch,
     .meaning = "empty kernel, many in a CUDA graph that is launched "
                "as a whole",
     .order = Order::waits, .unroll = 1, .most_chains = 1,
     .cuda = {.ptx = "ret", .step = "LAUNCH($)"},
     .opencl = {.none = "OpenCL C 1.2 has no graphs of launches"}},
    {.id = "launch.groups", .type = u32, .pattern = launch_groups,
     .meaning = "start and end of an empty group, many in one launch",
     .order = Order::waits, .unroll = 1, .most_chains = 1,
     .cuda = {.ptx = "ret", .step = "LAUNCH($)"},
     .opencl = {.step = "LAUNCH($)", .foldable = false}},
};
// clang-format on

}  // namespace

std::span<const CatalogueRow> launch_rows() { return rows; }

}  // namespace occupipe::bench

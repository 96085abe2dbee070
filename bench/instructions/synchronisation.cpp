// SPDX-License-Identifier: MIT
// Barriers, fences and exchange within a warp.
//
// Exchanges are measured from Ampere on: on Turing the compiler wraps a loop around them that
// brings the lanes together. What only an extension of OpenCL C can say has no receipt on a CPU:
// none of these extensions was met on one.
#include "bench/instructions/catalogue.h"
#include "bench/instructions/reasons.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

constexpr std::string_view from_uniform_register =
    "the value arrives in a uniform register and is moved back";
constexpr std::string_view cache_invalidation =
    "error barrier and invalidation of the first-level cache";
constexpr std::string_view fences_of_no_reach =
    "OpenCL C's fences order a work-item's own accesses, without a scope";

// clang-format off
constexpr CatalogueRow rows[] = {
    {.id = "bar.sync", .type = s32, .pattern = barrier, .operands = {0, 0, 1},
     .meaning = "barrier of all warps of a group",
     .order = Order::waits,
     .cuda = {.ptx = "bar.sync", .step = "BAR_SYNC($)", .sass = "BAR"},
     .opencl = {.step = "BAR_SYNC($)", .foldable = false}},
    {.id = "shfl.sync.idx.b32", .type = b32, .operands = {5, 0, 12345},
     .meaning = "exchange within a warp, from a given lane",
     .cuda = {.ptx = "shfl.sync.idx.b32 %0, %0, %1, 31, -1;", .sass = "SHFL", .since = 80},
     .opencl = {.step = "$ = sub_group_shuffle($, a); FENCE_32($)",
                .extension = "cl_khr_subgroup_shuffle", .also = extension_unseen}},
    {.id = "shfl.sync.up.b32", .type = b32, .operands = {5, 0, 12345},
     .meaning = "exchange within a warp, from lower lanes",
     .cuda = {.ptx = "shfl.sync.up.b32 %0, %0, %1, 0, -1;", .sass = "SHFL", .since = 80},
     .opencl = {.step = "$ = sub_group_shuffle_up($, a); FENCE_32($)",
                .extension = "cl_khr_subgroup_shuffle_relative", .also = extension_unseen}},
    {.id = "shfl.sync.down.b32", .type = b32, .operands = {5, 0, 12345},
     .meaning = "exchange within a warp, from higher lanes",
     .cuda = {.ptx = "shfl.sync.down.b32 %0, %0, %1, 31, -1;", .sass = "SHFL", .since = 80},
     .opencl = {.step = "$ = sub_group_shuffle_down($, a); FENCE_32($)",
                .extension = "cl_khr_subgroup_shuffle_relative", .also = extension_unseen}},
    {.id = "shfl.sync.bfly.b32", .type = b32, .operands = {5, 0, 12345},
     .meaning = "exchange within a warp, between partners",
     .cuda = {.ptx = "shfl.sync.bfly.b32 %0, %0, %1, 31, -1;", .sass = "SHFL", .since = 80},
     .opencl = {.step = "$ = sub_group_shuffle_xor($, a); FENCE_32($)",
                .extension = "cl_khr_subgroup_shuffle", .also = extension_unseen}},
    {.id = "vote.sync.ballot.b32", .type = b32, .operands = {5, 0, 12345},
     .meaning = "ballot of a warp's lanes",
     .cuda = {.ptx = "{ .reg .pred p; setp.ne.s32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1; }",
              .counted = "vote.sync.ballot.b32", .sass = "VOTE",
              .also = "a comparison produces the predicate of the vote", .length = 2,
              .since = 80},
     .opencl = {.step = "$ = sub_group_ballot($ != a).x; FENCE_32($)",
                .extension = "cl_khr_subgroup_ballot", .also = extension_unseen}},
    {.id = "match.any.sync.b32", .type = b32, .operands = {0, 0, 12345},
     .meaning = "lanes of a warp with the same value",
     .cuda = {.ptx = "match.any.sync.b32 %0, %0, -1;", .sass = "MATCH", .since = 80},
     .opencl = {.none = "OpenCL C cannot compare a value with those of the other lanes of a warp"}},
    {.id = "redux.sync.add.s32", .type = s32, .operands = {0, 0, 1},
     .meaning = "sum over a warp's lanes",
     .cuda = {.ptx = "redux.sync.add.s32 %0, %0, -1;", .sass = "REDUX",
              .also = "the sum arrives in a uniform register and is moved back", .length = 2,
              .since = 80},
     .opencl = {.step = "$ = sub_group_reduce_add($); FENCE_32($)",
                .extension = "cl_khr_subgroups", .also = extension_unseen}},
    {.id = "redux.sync.max.s32", .type = s32, .operands = {0, 0, 1},
     .meaning = "largest value of a warp's lanes",
     .cuda = {.ptx = "redux.sync.max.s32 %0, %0, -1;", .sass = "REDUX|CREDUX",
              .also = from_uniform_register, .length = 2, .since = 80},
     .opencl = {.step = "$ = sub_group_reduce_max($); FENCE_32($)",
                .extension = "cl_khr_subgroups", .also = extension_unseen}},
    {.id = "barrier.cluster.relaxed", .type = u32,
     .meaning = "barrier of a cluster of two groups whose arrival is not a fence",
     .order = Order::waits, .most_chains = 1,
     .cuda = {.ptx = "barrier.cluster.arrive.relaxed.aligned",
              .step = "CLUSTER_BARRIER_RELAXED($)", .sass = "UCGABAR",
              .also = "a no-operation, and invalidation of the first-level cache by the wait",
              .count = 2, .since = 90, .cluster = 2},
     .opencl = {.none = no_clusters}},
    {.id = "redux.sync.min.f32", .type = f32, .operands = {3, 5, 1},
     .meaning = "smallest of a warp's numbers, single precision",
     .lanes_matter = true,
     .cuda = {.ptx = "redux.sync.min.f32 %0, %0, -1;", .sass = "CREDUX",
              .also = from_uniform_register, .length = 2, .since = 100, .features = true,
              .gap = {120, 999, "only GPUs of sm_100a and its relatives have it"}},
     .opencl = {.none = "OpenCL C 1.2 has no reductions over the lanes of a warp"}},
    {.id = "fence.acq_rel.gpu", .type = u32, .operands = {0, 0, 1},
     .meaning = "memory fence for all threads of the GPU, nothing outstanding",
     .order = Order::waits, .most_chains = 1,
     .cuda = {.ptx = "fence.acq_rel.gpu",
              .step = R"(asm volatile("fence.acq_rel.gpu;" ::: "memory"))", .sass = "MEMBAR",
              .also = cache_invalidation},
     .opencl = {.none = fences_of_no_reach}},
    {.id = "fence.acq_rel.sys", .type = u32, .operands = {0, 0, 1},
     .meaning = "memory fence for the whole system, nothing outstanding",
     .order = Order::waits, .most_chains = 1,
     .cuda = {.ptx = "fence.acq_rel.sys",
              .step = R"(asm volatile("fence.acq_rel.sys;" ::: "memory"))", .sass = "MEMBAR",
              .also = cache_invalidation},
     .opencl = {.none = fences_of_no_reach}},
    {.id = "fence.sc.gpu", .type = u32, .operands = {0, 0, 1},
     .meaning = "sequentially consistent fence for all threads of the GPU, nothing outstanding",
     .order = Order::waits, .most_chains = 1,
     .cuda = {.ptx = "fence.sc.gpu", .step = R"(asm volatile("fence.sc.gpu;" ::: "memory"))",
              .sass = "MEMBAR", .also = cache_invalidation},
     .opencl = {.none = fences_of_no_reach}},
    {.id = "bar.warp.sync", .type = u32, .operands = {0, 0, 1},
     .meaning = "barrier of a warp's lanes: a no-operation if they are known to be converged",
     .order = Order::waits, .most_chains = 1,
     .cuda = {.ptx = "bar.warp.sync",
              .step = R"(asm volatile("bar.warp.sync -1;" ::: "memory"))",
              .sass = "WARPSYNC|NOP",
              .also = "a move and a call on GPUs of compute capability 8.6 and 8.9"},
     .opencl = {.none = "OpenCL C 1.2 has barriers of whole groups only"}},
    {.id = "barrier.cluster", .type = u32,
     .meaning = "barrier of a cluster of two groups",
     .order = Order::waits, .most_chains = 1,
     .cuda = {.ptx = "barrier.cluster.arrive.aligned", .step = "CLUSTER_BARRIER($)",
              .sass = "UCGABAR", .also = "the fence that an arrival implies", .count = 2,
              .since = 90, .cluster = 2},
     .opencl = {.none = no_clusters}},
    {.id = "barrier.grid", .type = u32,
     .meaning = "barrier of all groups of a launch, built from an atomic counter",
     .order = Order::waits, .unroll = 4, .most_chains = 1,
     .cuda = {.ptx = "red.release.gpu.global.add.u64", .step = "GRID_BARRIER($)",
              .sass = "REDG|RED",
              .also = "two barriers of the group, a fence, and polling until all groups have arrived",
              .length = 24, .state = "GridBarrier"},
     .opencl = {.none = "OpenCL C cannot make all groups of a launch wait for each other"}},
};
// clang-format on

}  // namespace

std::span<const CatalogueRow> synchronisation_rows() { return rows; }

}  // namespace occupipe::bench

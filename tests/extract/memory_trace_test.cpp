// SPDX-License-Identifier: MIT
// What accesses ask of the memory: by hand for known patterns, and against caches that are
// simulated reference by reference.
#include "extract/memory_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/reference_order.h"
#include "extract/run_plan.h"
#include "extract/set_cache.h"
#include "tests/support/random_values.h"

namespace occupipe::extract {
namespace {

using isa::AccessKind;
using isa::Space;
constexpr std::int64_t kib = 1024, mib = 1024 * kib;

struct Access {
    std::size_t instruction = 0;
    std::function<std::uint64_t(std::uint64_t lane)> address;
    std::uint32_t bytes = 4;
    AccessKind kind = AccessKind::load;
    Space space = Space::global;
    isa::Mask active = isa::all_lanes;
};
using Warp = std::function<void(std::uint64_t group, std::uint32_t warp, std::vector<Access>&)>;

// One instruction per access. Instruction `barrier` is a barrier; the warps of a group execute up
// to it in turn, as the executor has them do.
constexpr std::size_t instructions = 8, barrier = 7;

std::vector<bool> only_barrier() {
    std::vector<bool> result(instructions, false);
    result[barrier] = true;
    return result;
}

const std::vector<bool> none_pass(instructions, false);

void launch(MemoryTrace& trace, std::uint64_t groups, std::uint32_t warps, const Warp& program) {
    for (std::uint64_t group = 0; group < groups; ++group) {
        auto observer = trace.begin(group);
        std::vector<std::vector<Access>> executed(warps);
        for (std::uint32_t warp = 0; warp < warps; ++warp) program(group, warp, executed[warp]);
        std::vector<std::size_t> at(warps, 0);
        bool more = true;
        while (more) {
            more = false;
            for (std::uint32_t warp = 0; warp < warps; ++warp) {
                while (at[warp] < executed[warp].size()) {
                    const Access& one = executed[warp][at[warp]++];
                    const isa::Executed step{static_cast<std::uint32_t>(one.instruction),
                                             one.active};
                    observer->steps(warp, {&step, 1});
                    if (one.instruction == barrier) break;
                    std::array<std::uint64_t, 32> addresses{};
                    for (std::uint64_t lane = 0; lane < 32; ++lane)
                        addresses[lane] = one.address(lane);
                    observer->access(warp, one.instruction,
                                     {.space = one.space,
                                      .kind = one.kind,
                                      .bytes = one.bytes,
                                      .active = one.active,
                                      .addresses = addresses.data()});
                }
                more = more || at[warp] < executed[warp].size();
            }
        }
        trace.end(group, std::move(observer));
    }
}

MemoryUse use_of(const MemoryTrace& trace, const MemoryContext& context,
                 std::size_t instruction = 0) {
    const MemoryReuse reuse = reuse_of(trace, context, none_pass);
    return memory_use(trace, reuse, none_pass, instruction).value();
}

Access load(std::uint64_t begin, std::uint64_t stride, std::size_t instruction = 0) {
    return {.instruction = instruction,
            .address = [=](std::uint64_t lane) { return begin + lane * stride; }};
}

Access store(std::uint64_t begin, std::uint64_t stride, std::size_t instruction = 1) {
    Access one = load(begin, stride, instruction);
    one.kind = AccessKind::store;
    return one;
}

Access wait() { return {.instruction = barrier}; }

constexpr MemoryContext four_cores{.cores = 4, .concurrent_groups = 2};

// Each word once: nothing is ever found, and every byte comes from DRAM.
TEST(MemoryTrace, StreamFindsNothing) {
    MemoryTrace trace(only_barrier());
    launch(trace, 16, 4, [](std::uint64_t group, std::uint32_t warp, std::vector<Access>& to) {
        const std::uint64_t first = (group * 4 + warp) * 128;
        to = {load(first, 4), store(mib + first, 4)};
    });
    const MemoryUse read = use_of(trace, four_cores);
    const MemoryUse coalesced = {
        .bytes = 128, .sectors = 4, .least_sectors = 4, .lines = 1, .bank_passes = 1};
    MemoryUse found = coalesced, written = coalesced;
    found.core = found.device = found.core_requests = found.device_requests = Reuse{};
    found.places = 1;
    found.group_places = 0.25;  // the four warps of a group share one
    written.written = Reuse{};
    EXPECT_EQ(read, found);
    EXPECT_EQ(use_of(trace, four_cores, 1), written);
}

// Two lines of a request: the first is found again, the second never. Half of the sectors are
// found, but no request as a whole.
TEST(MemoryTrace, ARequestIsFoundAsAWhole) {
    MemoryTrace trace(only_barrier());
    launch(trace, 1, 1, [](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        for (std::uint64_t i = 0; i < 64; ++i)
            to.push_back({.instruction = 0, .address = [i](std::uint64_t lane) {
                              return lane < 16 ? lane * 4 : mib + i * 128 + lane * 4;
                          }});
    });
    const MemoryUse use = use_of(trace, four_cores);
    EXPECT_NEAR(share_at(*use.device, mib), 0.5, 0.01);
    EXPECT_EQ(share_at(*use.device_requests, mib), 0);
    EXPECT_EQ(share_at(*use.core_requests, mib), 0);
    EXPECT_EQ(use.places, 2);
}

// Words of 16 bytes of a lane, one after the other: the second store writes the sectors of the
// first, the third half of them. Nothing is merged beyond a load.
TEST(MemoryTrace, ASecondStoreOfAWarpIsMerged) {
    MemoryTrace trace(std::vector<bool>(40));
    launch(trace, 2, 3, [](std::uint64_t group, std::uint32_t warp, std::vector<Access>& to) {
        const std::uint64_t first = (group * 3 + warp) * 4096;
        to = {store(first, 16, 1), store(first + 4, 16, 2), store(first + 264, 16, 3), load(mib, 4),
              store(first + 268, 16, 5)};
    });
    EXPECT_FALSE(use_of(trace, four_cores, 1).merged);
    EXPECT_EQ(use_of(trace, four_cores, 2).merged, 16);
    EXPECT_EQ(use_of(trace, four_cores, 2).sectors, 16);
    EXPECT_EQ(use_of(trace, four_cores, 3).merged, 8);
    EXPECT_FALSE(use_of(trace, four_cores, 5).merged);
    EXPECT_FALSE(use_of(trace, four_cores, 0).merged);
}

// What the device referred to before: found from the capacity on that holds all since.
TEST(MemoryTrace, EarlierReferencesAreFoundWhereTheyAreStillHeld) {
    MemoryTrace trace(only_barrier());
    launch(trace, 1, 1, [](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        for (std::uint64_t i = 0; i < 8; ++i) to.push_back(load(i * 128, 4));
    });
    const auto earlier = [](std::uint64_t line) -> std::optional<std::uint64_t> {
        if (line >= 4) return std::nullopt;
        return 64 * kib;
    };
    const MemoryReuse reuse =
        reuse_of(trace, four_cores, none_pass,
                 {.groups = every_group, .clock_of = {}, .earlier = earlier, .threads = 1});
    const Reuse device = memory_use(trace, reuse, none_pass, 0)->device.value();
    EXPECT_EQ(share_at(device, 64 * kib), 0);
    EXPECT_EQ(share_at(device, 80 * kib), 0.5);
    EXPECT_EQ(share_at(*memory_use(trace, reuse, none_pass, 0)->core, mib), 0);
}

// All warps of all groups add to one word, or each group to one of its own.
TEST(MemoryTrace, TellsOfTheSectorThatMostAtomicOperationsGoTo) {
    for (const bool own : {false, true}) {
        MemoryTrace trace(only_barrier());
        launch(trace, 8, 2, [&](std::uint64_t group, std::uint32_t, std::vector<Access>& to) {
            to = {{.instruction = 0,
                   .address = [=](std::uint64_t) { return own ? group * 4096 : 0; },
                   .kind = AccessKind::atomic}};
        });
        const MemoryUse use = use_of(trace, four_cores);
        EXPECT_EQ(use.same_address, 32);
        EXPECT_EQ(*use.hottest, own ? 0 : 1);
    }
}

// Whichever lines the sample leaves out: one counter among reads of many lines.
TEST(MemoryTrace, OneCounterIsFoundWhateverTheSampleIs) {
    for (std::uint64_t counter = 1; counter <= 8; ++counter) {
        MemoryTrace trace(only_barrier(), 1000);
        launch(trace, 64, 2, [&](std::uint64_t group, std::uint32_t warp, std::vector<Access>& to) {
            to = {load(mib + (2 * group + warp) * 32 * 128, 128, 1),
                  {.instruction = 0,
                   .address = [=](std::uint64_t) { return counter * 128; },
                   .kind = AccessKind::atomic}};
        });
        ASSERT_GE(trace.one_line_in(), 4);
        EXPECT_EQ(*use_of(trace, four_cores).hottest, 1);
    }
}

// Two groups go to 200,000 sectors, the second one in the other direction, and each 1000 times to a
// sector that is among them: more are counted than one by one, and this one is found.
TEST(MemoryTrace, OneCounterIsFoundAmongManyOthers) {
    constexpr std::uint64_t sectors = 200'000, often = 1000;
    for (const std::uint64_t counter : {0, 77'777, 199'999}) {
        MemoryTrace trace(only_barrier());
        launch(trace, 2, 1, [&](std::uint64_t group, std::uint32_t, std::vector<Access>& to) {
            const auto ask = [&](std::uint64_t sector) {
                to.push_back({.instruction = 0,
                              .address = [=](std::uint64_t) { return 32 * sector; },
                              .kind = AccessKind::atomic});
            };
            for (std::uint64_t i = 0; i < sectors; ++i) ask(group == 0 ? i : sectors - 1 - i);
            for (std::uint64_t i = 0; i < often; ++i) ask(counter);
        });
        const std::uint64_t hottest = trace.hottest()[static_cast<std::size_t>(Space::global)];
        EXPECT_GE(hottest, 2 * often + 2);
        EXPECT_LE(hottest, 2 * often + 100);  // with others of its part: some 12 of two requests
    }
}

// A block-wide reduction: of three rounds, the first reads what is new, the others what the group
// has read. Another load reads something new in each round.
TEST(MemoryTrace, TellsFirstExecutionsFromLaterOnes) {
    MemoryTrace trace(only_barrier());
    launch(trace, 4, 2, [](std::uint64_t group, std::uint32_t warp, std::vector<Access>& to) {
        for (std::uint64_t round = 0; round < 3; ++round) {
            to.push_back(load(group * 1024 + warp * 128, 4));
            to.push_back(load(mib + group * 1024 + round * 256 + warp * 128, 4, 1));
            to.push_back({.instruction = barrier, .address = {}});
        }
    });
    std::vector<bool> expected(instructions, false);
    expected[0] = true;
    EXPECT_EQ(first_is_new(trace), expected);
    const MemoryReuse reuse = reuse_of(trace, four_cores, none_pass);
    const auto found = [&](std::size_t instruction, Executions executions) {
        const auto use = memory_use(trace, reuse, none_pass, instruction, executions);
        EXPECT_EQ(use->sectors, 4);
        return share_at(*use->core, mib);
    };
    EXPECT_EQ(found(0, Executions::first), 0);
    EXPECT_EQ(found(0, Executions::later), 1);
    EXPECT_DOUBLE_EQ(found(0, Executions::all), 2.0 / 3);
    for (const Executions any : {Executions::first, Executions::later, Executions::all})
        EXPECT_EQ(found(1, any), 0);
}

// Every eighth word: each sector is moved for one of its words.
TEST(MemoryTrace, StrideTakesASectorPerLane) {
    MemoryTrace trace(only_barrier());
    launch(trace, 4, 1, [](std::uint64_t group, std::uint32_t, std::vector<Access>& to) {
        to = {load(group * 1024, 32)};
    });
    const MemoryUse read = use_of(trace, four_cores);
    EXPECT_EQ(read.bytes, 128);
    EXPECT_EQ(read.sectors, 32);
    EXPECT_EQ(read.least_sectors, 4);
    EXPECT_EQ(read.core, Reuse{});
}

// The eight words of each sector one after the other: seven in eight are found, at once in a cache
// that holds the eight lines of a request.
TEST(MemoryTrace, StrideGoneThroughAgainFindsItsSectors) {
    MemoryTrace trace(only_barrier());
    launch(trace, 1, 1, [](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        for (std::uint64_t word = 0; word < 8; ++word) to.push_back(load(word * 4, 32));
    });
    const MemoryUse read = use_of(trace, four_cores);
    EXPECT_EQ(read.core, (Reuse{{1 * kib, 0.875}}));
    EXPECT_EQ(read.device, (Reuse{{1 * kib, 0.875}}));
}

// One warp goes over a working set three times: least recently used finds all of it or nothing.
TEST(MemoryTrace, WorkingSetIsFoundWholeOrNotAtAll) {
    MemoryTrace trace(only_barrier());
    launch(trace, 1, 1, [](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        for (std::uint64_t line = 0; line < std::uint64_t{3} * 512; ++line)
            to.push_back(load(line % 512 * 128, 4));
    });
    const MemoryUse read = use_of(trace, four_cores);
    EXPECT_EQ(share_at(*read.core, 64 * kib - 1), 0);
    EXPECT_DOUBLE_EQ(share_at(*read.core, 64 * kib), 2.0 / 3);
    EXPECT_DOUBLE_EQ(share_at(*read.device, 64 * kib), 2.0 / 3);
}

// A square matrix of 32-bit words in tiles of 32 × 32, one group of 32 warps each. Rows are read;
// straight to columns is a sector per lane, each gone to by eight warps (7/8 of the sectors written
// are dirty already). By way of shared memory both sides are whole lines, and the 33rd column keeps
// 32 lanes from going to one bank.
TEST(MemoryTrace, Transpose) {
    constexpr std::uint64_t n = 128, tiles = n / 32;
    const auto tile = [](std::uint64_t group) {
        return std::pair(group / tiles * 32, group % tiles * 32);
    };
    MemoryTrace straight(only_barrier());
    launch(straight, tiles * tiles, 32,
           [&](std::uint64_t group, std::uint32_t warp, std::vector<Access>& to) {
               const auto [row, column] = tile(group);
               to = {load(((row + warp) * n + column) * 4, 4),
                     store(mib + (column * n + row + warp) * 4, n * 4)};
           });
    MemoryUse written = use_of(straight, four_cores, 1);
    EXPECT_EQ(written.sectors, 32);
    EXPECT_EQ(written.least_sectors, 4);
    EXPECT_DOUBLE_EQ(share_at(*written.written, static_cast<double>(mib)), 0.875);
    // 32 lines of a group, 8 groups at once.
    EXPECT_EQ(share_at(*written.written, 16 * 128), 0);

    for (const std::uint64_t width : {32, 33}) {
        MemoryTrace shared(only_barrier());
        launch(shared, tiles * tiles, 32,
               [&](std::uint64_t group, std::uint32_t warp, std::vector<Access>& to) {
                   const auto [row, column] = tile(group);
                   Access put = store(warp * width * 4, 4, 2);
                   put.space = Space::shared;
                   Access get = load(std::uint64_t{warp} * 4, width * 4, 3);
                   get.space = Space::shared;
                   to = {load(((row + warp) * n + column) * 4, 4), put, wait(), get,
                         store(mib + ((column + warp) * n + row) * 4, 4)};
               });
        written = use_of(shared, four_cores, 1);
        EXPECT_EQ(written.sectors, 4);
        EXPECT_EQ(written.written, Reuse{});
        EXPECT_EQ(use_of(shared, four_cores, 2).passes, 1);
        const MemoryUse get = use_of(shared, four_cores, 3);
        EXPECT_EQ(get.passes, width == 32 ? 32 : 1);
        EXPECT_EQ(get.least_passes, 1);
        EXPECT_EQ(get.sectors, 0);
        EXPECT_FALSE(get.device);
    }
}

// C = A B of n × n words in tiles of 32 × 32, as many groups at once as there are tiles: each tile
// of A is read by the n/32 groups of its row, each of B by those of its column. A core finds what
// another of its own groups read; the device brings each word from DRAM once.
TEST(MemoryTrace, TiledMatrixProductReadsEachWordFromDramOnce) {
    constexpr std::uint64_t n = 128, tiles = n / 32;
    MemoryTrace trace(only_barrier());
    launch(trace, tiles * tiles, 32,
           [&](std::uint64_t group, std::uint32_t warp, std::vector<Access>& to) {
               const std::uint64_t row = group / tiles * 32 + warp;
               const std::uint64_t column = group % tiles * 32;
               for (std::uint64_t k = 0; k < tiles; ++k) {
                   to.push_back(load((row * n + k * 32) * 4, 4));
                   to.push_back(load(mib + ((k * 32 + warp) * n + column) * 4, 4, 2));
                   to.push_back(wait());
               }
           });
    // Cores 0 … 3 get a column of tiles each: A is shared by all cores, B by the groups of one.
    const MemoryContext all_at_once{.cores = 4, .concurrent_groups = 4};
    const MemoryUse a = use_of(trace, all_at_once, 0), b = use_of(trace, all_at_once, 2);
    EXPECT_DOUBLE_EQ(share_at(*a.device, static_cast<double>(mib)), 1 - 1.0 / tiles);
    EXPECT_DOUBLE_EQ(share_at(*b.device, static_cast<double>(mib)), 1 - 1.0 / tiles);
    EXPECT_DOUBLE_EQ(share_at(*a.core, static_cast<double>(mib)), 0);
    EXPECT_DOUBLE_EQ(share_at(*b.core, static_cast<double>(mib)), 1 - 1.0 / tiles);
    // One core, one group at a time: the column's tiles of B come again after the other groups of
    // the row, each with its column of B, and twice the row of A.
    const MemoryContext one_each{.cores = 1, .concurrent_groups = 1};
    const MemoryUse b_alone = use_of(trace, one_each, 2);
    EXPECT_EQ(share_at(*b_alone.core, 64 * kib), 0);
    EXPECT_DOUBLE_EQ(share_at(*b_alone.core, 96 * kib), 1 - 1.0 / tiles);
}

// Three rows of words, as a stencil's centre, left and right neighbour: the left one's sectors
// are those of the centre but where a warp begins.
TEST(MemoryTrace, StencilFindsItsNeighbours) {
    MemoryTrace trace(only_barrier());
    launch(trace, 1, 64, [](std::uint64_t, std::uint32_t warp, std::vector<Access>& to) {
        const std::uint64_t first = 128 + std::uint64_t{warp} * 128;
        to = {load(first, 4), load(first - 4, 4, 2), load(first + 4, 4, 3)};
    });
    const MemoryContext one{.cores = 1, .concurrent_groups = 1};
    const MemoryUse left = use_of(trace, one, 2), right = use_of(trace, one, 3);
    EXPECT_EQ(left.sectors, 5);
    EXPECT_EQ(left.least_sectors, 4);
    // 64 warps of 5 sectors; before the first and behind the last lies one that nobody else reads.
    EXPECT_DOUBLE_EQ(share_at(*left.core, static_cast<double>(mib)), 1 - 1.0 / 320);
    EXPECT_DOUBLE_EQ(share_at(*right.core, static_cast<double>(mib)), 1 - 1.0 / 320);
    EXPECT_EQ(share_at(*use_of(trace, one, 0).core, static_cast<double>(mib)), 0);
}

// What all groups read and count in comes from DRAM once, however few of them were looked at and
// wherever each of them begins.
TEST(MemoryTrace, GroupsThatWereNotLookedAtFindWhatTheLaterOnesFind) {
    constexpr std::uint64_t launched = 1000, table = 4;
    const auto found = [&](std::uint64_t groups, CacheShape shape) {
        MemoryTrace trace(only_barrier());
        launch(trace, groups, 1, [](std::uint64_t group, std::uint32_t, std::vector<Access>& to) {
            for (std::uint64_t i = 0; i < table; ++i) {
                to.push_back(load((group + i) % table * 128, 4));
                to.push_back(load(3 * mib + (group * 3 + i) % table * 128, 4, 3));
                to.back().kind = AccessKind::atomic;
            }
            to.push_back(load(mib + group * 128, 4, 2));
            to.push_back(store(2 * mib + group * 128, 4));
        });
        const ReuseOptions options{.launched = launched};
        const MemoryReuse reuse = shape.device_bytes == 0
                                      ? reuse_of(trace, four_cores, none_pass, options)
                                      : hashed_reuse(trace, four_cores, none_pass, shape, options);
        const auto use = [&](std::size_t instruction) {
            return memory_use(trace, reuse, none_pass, instruction).value();
        };
        EXPECT_EQ(share_at(*use(2).device, mib), 0);
        EXPECT_EQ(share_at(*use(1).written, mib), 0);
        const double read = share_at(*use(0).device, mib);
        EXPECT_DOUBLE_EQ(share_at(*use(0).device_requests, mib), read);
        EXPECT_DOUBLE_EQ(share_at(*use(3).device, mib), read);
        EXPECT_DOUBLE_EQ(share_at(*use(3).written, mib), read);
        return read;
    };
    for (const std::uint64_t groups : {2, 8, 33, 1000})
        EXPECT_DOUBLE_EQ(found(groups, {}), 1 - 1.0 / launched) << groups;
    const CacheShape large{.core_bytes = 64 * kib, .device_bytes = mib, .ways = 16};
    EXPECT_NEAR(found(33, large), 1 - 1.0 / launched, 0.03);
    EXPECT_DOUBLE_EQ(found(1000, large), 1 - 1.0 / launched);
}

// However few of a launch's groups were looked at, as many share a core as of all.
TEST(MemoryTrace, GroupsThatWereLookedAtShareTheirCoresAsAllDo) {
    constexpr std::uint64_t lines = 16;
    const auto needed = [&](std::uint64_t groups, std::uint64_t launched, int concurrent) {
        MemoryTrace trace(only_barrier());
        launch(trace, groups, 1, [&](std::uint64_t group, std::uint32_t, std::vector<Access>& to) {
            for (std::uint64_t i = 0; i < 2 * lines; ++i)
                to.push_back(load((group * lines + i % lines) * 128, 4));
        });
        const MemoryContext context{.cores = 4, .concurrent_groups = concurrent};
        const MemoryReuse reuse = reuse_of(trace, context, none_pass, {.launched = launched});
        const Reuse core = memory_use(trace, reuse, none_pass, 0)->core.value();
        EXPECT_EQ(core.size(), 1U);
        EXPECT_DOUBLE_EQ(core.back().share, 0.5);
        return static_cast<double>(core.front().bytes) /
               static_cast<double>(lines * 128);  // groups at once
    };
    EXPECT_EQ(needed(64, 64, 8), 8);
    for (const std::uint64_t groups : {8, 16, 24}) EXPECT_EQ(needed(groups, 64, 8), 8) << groups;
    EXPECT_EQ(needed(5, 64, 8), 5);  // as near as they come
    EXPECT_EQ(needed(4, 8, 8), 2);   // all of them do not fill the cores
    EXPECT_EQ(needed(4, 64, 1), 1);
    EXPECT_EQ(needed(4, 4, 8), 1);  // all were looked at
}

// A store brings its line into both levels, and goes on to the second one each time.
TEST(MemoryTrace, StoresBringLinesIntoTheFirstLevel) {
    MemoryTrace trace(only_barrier());
    launch(trace, 1, 1, [](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        to = {store(0, 4), load(0, 4), store(0, 4), store(mib, 4), load(0, 4, 2)};
    });
    const MemoryContext one{.cores = 1, .concurrent_groups = 1};
    EXPECT_EQ(use_of(trace, one, 0).core, (Reuse{{128, 1}}));
    EXPECT_EQ(use_of(trace, one, 0).device, (Reuse{{128, 1}}));
    EXPECT_EQ(use_of(trace, one, 2).core, (Reuse{{256, 1}}));
    EXPECT_EQ(use_of(trace, one, 2).device, (Reuse{{256, 1}}));
    // The second store to line 0 finds it dirty, that to the other line does not.
    EXPECT_EQ(share_at(*use_of(trace, one, 1).written, 128), 1.0 / 3);
}

TEST(MemoryTrace, AtomicOperationsAndStrongLoadsPassTheFirstLevel) {
    MemoryTrace trace(only_barrier());
    launch(trace, 1, 1, [](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        Access add = load(0, 4, 1);
        add.kind = AccessKind::atomic;
        to = {add, add, load(0, 4, 2), load(0, 4, 0)};
    });
    const MemoryContext one{.cores = 1, .concurrent_groups = 1};
    std::vector<bool> passes(instructions, false);
    passes[2] = true;
    const MemoryReuse reuse = reuse_of(trace, one, passes);
    const MemoryUse atomic = *memory_use(trace, reuse, passes, 1);
    EXPECT_FALSE(atomic.core);
    EXPECT_EQ(atomic.device, (Reuse{{128, 0.5}}));
    EXPECT_EQ(atomic.written, (Reuse{{128, 0.5}}));
    const MemoryUse strong = *memory_use(trace, reuse, passes, 2);
    EXPECT_FALSE(strong.core);
    EXPECT_EQ(strong.device, (Reuse{{128, 1}}));
    EXPECT_EQ(memory_use(trace, reuse, passes, 0)->core, Reuse{});  // nothing brought it in
    EXPECT_FALSE(memory_use(trace, reuse, passes, 3));
}

// Local memory: every word of a warp is a line of its own, wherever its group runs; stores bring
// it in. A group that follows in the same slot finds what its forerunner left.
TEST(MemoryTrace, LocalMemoryBelongsToTheSlot) {
    MemoryTrace trace(only_barrier());
    launch(trace, 4, 2, [](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        Access spill = store(64, 0), fill = load(64, 0);
        spill.space = fill.space = Space::local;
        to = {fill, spill, fill};
    });
    const MemoryContext two{.cores = 1, .concurrent_groups = 2};
    const MemoryUse fill = use_of(trace, two, 0);
    EXPECT_EQ(fill.sectors, 4);
    // The first of the two in each of the first two groups finds nothing: 4 of 16.
    EXPECT_DOUBLE_EQ(share_at(*fill.core, static_cast<double>(mib)), 0.75);
}

// Behind a barrier a warp's clock goes on from the latest, so that what was read before it by any
// warp of the group comes earlier than what is read behind it by any.
TEST(MemoryTrace, BarriersKeepTheOrderOfAGroup) {
    MemoryTrace trace(only_barrier());
    launch(trace, 1, 2, [](std::uint64_t, std::uint32_t warp, std::vector<Access>& to) {
        if (warp == 0) {
            to = {wait(), load(0, 4, 2)};
        } else {
            for (std::uint64_t line = 1; line <= 10; ++line) to.push_back(load(line * 128, 4));
            to.insert(to.end(), {load(0, 4), wait()});
        }
    });
    const MemoryContext one{.cores = 1, .concurrent_groups = 1};
    EXPECT_EQ(use_of(trace, one, 2).core, (Reuse{{128, 1}}));
}

// Least recently used caches, simulated: one per core and one for all.
class NaiveCaches {
public:
    NaiveCaches(std::size_t cores, std::size_t lines) : lines_(lines), cores_(cores) {}

    // Sectors found.
    int read(std::size_t core, std::uint64_t line, std::uint32_t sectors) {
        auto& cache = cores_[core];
        auto place = std::ranges::find(cache, line, &std::pair<std::uint64_t, unsigned>::first);
        if (place == cache.end()) {
            if (cache.size() == lines_) cache.pop_front();
            cache.emplace_back(line, 0);
        } else {
            cache.splice(cache.end(), cache, place);
        }
        const unsigned found = cache.back().second & sectors;
        cache.back().second |= sectors;
        return std::popcount(found);
    }

private:
    std::size_t lines_;
    std::vector<std::list<std::pair<std::uint64_t, unsigned>>> cores_;
};

// Random warps of equal length, in the order that the header tells: by clock, then group, then
// warp; groups in slots.
TEST(MemoryTrace, AgreesWithSimulatedCachesOnRandomLaunches) {
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
        test::RandomValues random(seed);
        const auto number = [&](std::int64_t least, std::int64_t most) {
            return static_cast<std::uint64_t>(random.between(least, most));
        };
        const std::uint64_t groups = number(1, 12);
        const auto warps = static_cast<std::uint32_t>(number(1, 3));
        const std::uint64_t accesses = number(1, 20), lines = number(1, 60);
        const MemoryContext context{.cores = static_cast<int>(number(1, 3)),
                                    .concurrent_groups = static_cast<int>(number(1, 3))};
        struct What {
            std::uint64_t line = 0, sectors = 0;
            bool stores = false;
        };
        std::map<std::array<std::uint64_t, 4>, What> order;
        MemoryTrace trace(only_barrier());
        launch(trace, groups, warps,
               [&](std::uint64_t group, std::uint32_t warp, std::vector<Access>& to) {
                   const std::uint64_t slots =
                       static_cast<std::uint64_t>(context.cores * context.concurrent_groups);
                   for (std::uint64_t i = 0; i < accesses; ++i) {
                       const std::uint64_t first =
                           number(0, static_cast<std::int64_t>(lines)) * 128;
                       const std::uint64_t sectors = number(1, 4);
                       Access one{.address = [=](std::uint64_t lane) {
                           return first + lane % sectors * 32;
                       }};
                       const bool stores = i > 0 && number(0, 3) == 0;
                       if (stores) {
                           one.instruction = 1;
                           one.kind = AccessKind::store;
                       }
                       to.push_back(one);
                       order[{group / slots * accesses + i, group, warp, 0}] = {first / 128,
                                                                                sectors, stores};
                   }
               });
        const MemoryUse use = use_of(trace, context);
        const auto cores = static_cast<std::uint32_t>(context.cores);
        CoreOfGroup core_of(
            cores, std::uint64_t{cores} * static_cast<std::uint64_t>(context.concurrent_groups));
        std::vector<std::size_t> core_by_group;
        for (std::uint64_t group = 0; group < groups; ++group)
            core_by_group.push_back(core_of(group));
        for (const std::uint64_t size : {1, 2, 4, 8, 16, 32, 64}) {
            NaiveCaches first(static_cast<std::size_t>(context.cores), size), second(1, size);
            std::uint64_t all = 0, in_first = 0, in_second = 0;
            for (const auto& [key, what] : order) {
                const auto sectors = (1U << what.sectors) - 1;
                const std::size_t core = core_by_group[key[1]];
                const int found = first.read(core, what.line, sectors);
                const int found_second = second.read(0, what.line, sectors);
                if (what.stores) continue;
                in_first += static_cast<std::uint64_t>(found);
                in_second += static_cast<std::uint64_t>(found_second);
                all += what.sectors;
            }
            const auto bytes = static_cast<double>(size * 128), total = static_cast<double>(all);
            // A reuse curve leaves out steps of less than a two-hundredth.
            ASSERT_NEAR(share_at(*use.core, bytes), static_cast<double>(in_first) / total, 0.005)
                << seed << ' ' << size;
            ASSERT_NEAR(share_at(*use.device, bytes), static_cast<double>(in_second) / total, 0.005)
                << seed << ' ' << size;
        }
    }
}

// Global and local memory, loads, stores and atomic operations, longer than one piece of the order.
TEST(MemoryTrace, ReuseDoesNotDependOnThreads) {
    test::RandomValues random(11);
    MemoryTrace trace(only_barrier());
    launch(trace, 23, 3, [&](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        for (int i = 0; i < 300; ++i) {
            Access one = load(static_cast<std::uint64_t>(random.between(0, 200'000)) * 4,
                              static_cast<std::uint64_t>(random.between(0, 16)) * 4, 0);
            one.kind = static_cast<AccessKind>(random.between(0, 2));
            one.instruction = static_cast<std::size_t>(one.kind);
            if (random.chance(0.2)) {
                one.space = Space::local;
                one.kind = AccessKind::load;
                one.instruction = 3;
            }
            to.push_back(one);
        }
    });
    const MemoryContext context{.cores = 5, .concurrent_groups = 2};
    const MemoryReuse alone = reuse_of(trace, context, none_pass);
    for (const unsigned threads : {2U, 3U, 0U}) {
        const MemoryReuse shared = reuse_of(trace, context, none_pass, {.threads = threads});
        EXPECT_EQ(shared.lines, alone.lines);
        for (std::size_t i = 0; i < 4; ++i) {
            const auto use = memory_use(trace, alone, none_pass, i);
            ASSERT_TRUE(use && use->device.has_value() + use->written.has_value() > 0) << i;
            EXPECT_EQ(memory_use(trace, shared, none_pass, i), use) << i << ' ' << threads;
        }
    }
}

// Too many references: some lines stand for all. Counts stay exact; a working set's capacity is
// met to within the spread of the sample (256 of 4096 lines: 1/16), rounded up by at most 1/8.
// Of references whose LRU distance is d, a cache of S sets by a hash and W ways finds those where
// fewer than W of the d lines between fell into the line's set (Smith, "A Comparative Study of Set
// Associative Memory Mapping Algorithms", 1978): binomial with d and 1 / S.
double smiths_share(double d, double sets, int ways) {
    double sum = 0;
    for (int k = 0; k < ways; ++k)
        sum += std::exp(std::lgamma(d + 1) - std::lgamma(k + 1.0) - std::lgamma(d - k + 1) -
                        k * std::log(sets) + (d - k) * std::log1p(-1 / sets));
    return sum;
}

// A loop over n lines has distance n − 1 everywhere.
TEST(SetCache, FindsWhatSmithsFormulaSays) {
    for (const int ways : {1, 2, 4, 16}) {
        for (const std::uint64_t lines : {700U, 1000U, 1400U}) {
            double found = 0, all = 0;
            for (std::uint64_t seed = 1; seed <= 20; ++seed) {
                SetCache cache(1024, ways, seed);
                EXPECT_EQ(cache.sets(), 1024U / static_cast<unsigned>(ways));
                for (std::uint64_t i = 0; i < 2 * lines; ++i)
                    cache.read(i % lines, 1, [&](NeededLines one, std::uint32_t) {
                        if (i < lines)
                            EXPECT_FALSE(one.found_in(1));
                        else
                            ++all, found += one.found_in(1);
                    });
            }
            // 14,000 references or more, whose fates in one set are not independent.
            EXPECT_NEAR(found / all,
                        smiths_share(static_cast<double>(lines - 1), 1024.0 / ways, ways), 0.03)
                << ways << " ways, " << lines << " lines";
        }
    }
}

// One set is a fully associative cache.
TEST(SetCache, OfOneSetIsTheLruCacheOfItsSize) {
    test::RandomValues random(3);
    for (const std::uint64_t lines : {1U, 2U, 7U, 40U}) {
        SetCache cache(lines, static_cast<int>(lines), 5);
        SectorReuse every(61);
        for (int i = 0; i < 20'000; ++i) {
            const auto line = static_cast<std::uint32_t>(random.between(0, 60));
            const auto sectors = static_cast<std::uint32_t>(random.between(1, 15));
            // Sectors found valid, found dirty; those of an atomic operation in turn.
            std::vector<std::uint32_t> one, other;
            const auto mine = [&](NeededLines needed, std::uint32_t of) {
                if (needed.found_in(1)) one.push_back(of);
            };
            std::uint32_t found = 0;
            const auto its = [&](NeededLines needed, std::uint32_t of) {
                if (needed.found_in(lines)) found |= of;
            };
            std::uint32_t found_dirty = 0;
            const auto its_dirty = [&](NeededLines needed, std::uint32_t of) {
                if (needed.found_in(lines)) found_dirty |= of;
            };
            switch (random.between(0, 2)) {
                case 0:
                    cache.read(line, sectors, mine);
                    every.read(line, sectors, its);
                    break;
                case 1:
                    cache.write(line, sectors, mine);
                    every.write(line, sectors, its);
                    break;
                default:
                    cache.read_and_write(line, sectors, mine, mine);
                    every.read_and_write(line, sectors, its, its_dirty);
            }
            if (found != 0) other.push_back(found);
            if (found_dirty != 0) other.push_back(found_dirty);
            ASSERT_EQ(one, other) << i;
        }
    }
}

TEST(SetCache, WithoutLinesFindsNothing) {
    SetCache cache(0, 4, 1);
    for (int i = 0; i < 3; ++i)
        cache.read(7, 0xF,
                   [](NeededLines one, std::uint32_t) { EXPECT_FALSE(one.found_in(1000)); });
    // Fewer lines than ways are one set.
    EXPECT_EQ(SetCache(3, 4, 1).sets(), 1U);
}

TEST(MemoryTrace, ASampleOfLinesFindsTheWorkingSet) {
    MemoryTrace trace(only_barrier(), 1000);
    launch(trace, 1, 1, [](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
        for (std::uint64_t line = 0; line < std::uint64_t{3} * 4096; ++line)
            to.push_back(load(line % 4096 * 128, 4));
    });
    EXPECT_EQ(trace.one_line_in(), 16);
    EXPECT_EQ(trace.sites()[0].counts.requests, 3 * 4096);
    const MemoryUse read = use_of(trace, four_cores);
    EXPECT_DOUBLE_EQ(share_at(*read.core, 512.0 * kib * 1.4), 2.0 / 3);
    EXPECT_EQ(share_at(*read.core, 512.0 * kib * 0.8), 0);
}

// One line again and again between others of a stream: whether or not the sample has this line,
// most of what is asked of it is found by a few lines of the sample, and of the stream nothing.
TEST(MemoryTrace, ALineOutsideOfTheSampleIsFoundAgain) {
    for (std::uint64_t hot = 1; hot <= 20; ++hot) {
        MemoryTrace trace(only_barrier(), 1000);
        launch(trace, 1, 1, [&](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
            for (std::uint64_t line = 0; line < 4096; ++line) {
                to.push_back(load(mib + line * 128, 4));
                to.push_back(load(hot * 128, 0, 2));
            }
        });
        ASSERT_GE(trace.one_line_in(), 4);
        const double few_lines = 8.0 * 128 * static_cast<double>(trace.one_line_in());
        EXPECT_GT(share_at(*use_of(trace, four_cores, 2).device, few_lines), 0.6) << hot;
        EXPECT_GT(share_at(*use_of(trace, four_cores, 2).core, few_lines), 0.6) << hot;
        EXPECT_EQ(share_at(*use_of(trace, four_cores).device, 1e12), 0) << hot;
    }
}

// The same line alone: no halving leaves fewer references to it, which ends all the same.
TEST(MemoryTrace, ALineThatNoSampleLeavesOutEnds) {
    for (std::uint64_t hot = 1; hot <= 20; ++hot) {
        MemoryTrace trace(only_barrier(), 100);
        launch(trace, 1, 1, [&](std::uint64_t, std::uint32_t, std::vector<Access>& to) {
            to.assign(4096, load(hot * 128, 0));
        });
        EXPECT_EQ(trace.sites()[0].counts.requests, 4096);
        EXPECT_GT(share_at(*use_of(trace, four_cores).device, 4.0 * mib), 0.6) << hot;
    }
}

// Recorded machine code, executed twice: once with what counts requests and marks each sector of a
// buffer that is touched, once with the trace. Requests, sectors and passes of each instruction are
// the same; in caches without end every sector is written back once, and read at most once.
TEST(MemoryTrace, MovesEachSectorOfRecordedKernelsOnce) {
    const std::filesystem::path folder = OCCUPIPE_SOURCE_DIR "/tests/kernels";
    for (const char* name : {"matmul", "transpose", "stencil2d", "spmv", "histogram", "saxpy",
                             "hotspot", "reduction"}) {
        const LaunchPlan plan = read_launches(folder / (std::string(name) + ".yaml"));
        const isa::Cubin cubin = isa::read_cubin(
            read_text_file(folder / "recorded/sm_80" /
                           (std::filesystem::path(plan.source).stem().string() + ".cubin")));
        const std::vector<LaunchResult> counted = PlanRun(plan, cubin, "").execute({});
        PlanRun run(plan, cubin, "");
        std::map<const KernelLaunch*, std::unique_ptr<MemoryTrace>> traces;
        PlanOptions options;
        options.observe = [&](const KernelLaunch& launch) -> isa::Observer* {
            auto& trace = traces[&launch];
            trace = std::make_unique<MemoryTrace>(barriers_of(*run.code_of(launch)));
            return trace.get();
        };
        run.execute(options);
        std::size_t compared = 0;
        for (const LaunchResult& result : counted) {
            if (result.times != 1) continue;  // sums over the repetitions
            const MemoryTrace& trace = *traces.at(result.launch);
            const auto code = run.code_of(*result.launch);
            std::size_t requesting = 0;
            for (const SiteCounts& site : trace.sites()) requesting += site.counts.requests > 0;
            EXPECT_EQ(requesting, result.sites.size()) << name;
            for (const MemorySite& site : result.sites) {
                const std::size_t number =
                    site.instruction * 4 + static_cast<std::size_t>(site.space);
                EXPECT_EQ(trace.sites()[number].counts, site.counts) << name;
            }
            const MemoryReuse reuse =
                reuse_of(trace, {.cores = 3, .concurrent_groups = 2}, passing_first_level(*code));
            double read = 0, written = 0;
            for (const SiteReuse& site : reuse.sites) {
                const auto missing = [](const ReuseCounts& counts) {
                    return static_cast<double>(counts.total()) *
                           (1 - share_at(counts.reuse(128), 1e18));
                };
                read += missing(site.device);
                written += missing(site.written);
            }
            const auto all = static_cast<double>(result.footprint.sectors);
            EXPECT_NEAR(written, static_cast<double>(result.footprint.sectors_written), 1e-6 * all)
                << name;
            EXPECT_LE(read, static_cast<double>(result.footprint.sectors_read) + 1e-6 * all);
            EXPECT_GE(read + written, all * (1 - 1e-6)) << name;
            ++compared;
        }
        EXPECT_GT(compared, 0) << name;
    }
}

}  // namespace
}  // namespace occupipe::extract

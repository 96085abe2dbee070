// SPDX-License-Identifier: MIT
// References in the order of time, against all of them sorted at once.
#include "extract/reference_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "tests/support/random_values.h"

namespace occupipe::extract {
namespace {

constexpr std::uint32_t locals = 10, globals = 100'000;

// Groups of unequal length, some without references, some with many at one clock.
std::vector<GroupTrace> random_groups(test::RandomValues& random, std::uint64_t count) {
    const auto below = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random.between(0, std::int64_t{end} - 1));
    };
    std::vector<GroupTrace> groups;
    std::uint32_t line = 0;
    for (std::uint64_t g = 0; g < count; ++g) {
        GroupTrace group{.group = g * (1 + below(2)), .clocks = 0, .references = {}, .issues = {}};
        if (!groups.empty()) group.group = groups.back().group + 1 + below(2);
        std::uint32_t clock = below(50);
        const std::uint32_t references = below(4) == 0 ? 0 : below(3000);
        for (std::uint32_t i = 0; i < references; ++i) {
            const bool local = below(5) == 0;
            group.references.push_back(
                {.line = local ? below(locals) : line++ % globals,
                 .clock = clock,
                 .what = LineReference::what_of(local ? 4 * i + 2 : 4 * i, 1 + below(15))});
            group.issues.push_back({.warp = below(4), .step = below(1000)});
            clock += below(8) == 0 ? below(300) : below(2);
        }
        group.clocks = clock + below(100);
        groups.push_back(std::move(group));
    }
    return groups;
}

struct Expected {
    std::uint64_t clock = 0, group = 0;
    std::uint32_t core = 0, slot = 0;
    LineReference of;
};

// As the header tells it.
std::vector<Expected> sorted(const std::vector<GroupTrace>& groups, const MemoryContext& context,
                             const ClockOf& clock_of) {
    const auto cores = static_cast<std::uint64_t>(context.cores);
    const auto at_once = static_cast<std::uint64_t>(context.concurrent_groups);
    std::vector<std::uint64_t> free(cores * at_once, 0);
    std::vector<Expected> all;
    CoreOfGroup core_of(static_cast<std::uint32_t>(cores), cores * at_once);
    for (const GroupTrace& group : groups) {
        const std::uint64_t core = core_of(group.group), at = group.group / cores % at_once;
        const std::uint64_t begin = free[core * at_once + at];
        free[core * at_once + at] += group.clocks;
        for (std::size_t i = 0; i < group.references.size(); ++i)
            all.push_back({.clock = clock_of ? clock_of(group.group / cores, group.issues[i])
                                             : begin + group.references[i].clock,
                           .group = group.group,
                           .core = static_cast<std::uint32_t>(core),
                           .slot = static_cast<std::uint32_t>(at),
                           .of = group.references[i]});
    }
    std::ranges::stable_sort(all, {},
                             [](const Expected& one) { return std::tuple(one.clock, one.group); });
    return all;
}

void compare(const std::vector<GroupTrace>& groups, const MemoryContext& context,
             const ClockOf& clock_of) {
    const ReferenceOrder order(groups, context, {.global = globals, .local = locals}, clock_of);
    const std::vector<Expected> all = sorted(groups, context, clock_of);
    const auto expect_line = [&](const Expected& one, std::uint32_t line, std::uint32_t slot) {
        if (one.of.site() % 4 != 2) {
            EXPECT_FALSE(order.is_local(line));
            return line == one.of.line;
        }
        return order.is_local(line) && order.slot_of(line) == slot &&
               order.in_slot(line) == one.of.line;
    };
    std::size_t at = 0;
    const auto cores = static_cast<std::uint32_t>(context.cores);
    order.of_device([&](std::span<const Turn> turns) {
        for (const Turn& turn : turns) {
            ASSERT_LT(at, all.size());
            const Expected& one = all[at++];
            ASSERT_TRUE(expect_line(one, turn.line, one.slot * cores + one.core)) << at;
            ASSERT_EQ(turn.what, one.of.what) << at;
            ASSERT_LT(turn.line, order.device_lines());
        }
    });
    EXPECT_EQ(at, all.size());
    for (std::uint32_t core = 0; core < cores; ++core) {
        at = 0;
        order.of_core(static_cast<int>(core), [&](std::span<const Turn> turns) {
            for (const Turn& turn : turns) {
                while (at < all.size() && all[at].core != core) ++at;
                ASSERT_LT(at, all.size());
                const Expected& one = all[at++];
                ASSERT_TRUE(expect_line(one, turn.line, one.slot)) << at;
                ASSERT_EQ(turn.what, one.of.what) << at;
                ASSERT_LT(turn.line, order.core_lines());
            }
        });
        while (at < all.size() && all[at].core != core) ++at;
        EXPECT_EQ(at, all.size());
    }
}

// A regular place of later groups would make cores find what a GPU's do not: groups that lie a
// multiple of the cores apart would always meet.
TEST(CoreOfGroup, FillsSlotsInTurnAndThenGivesEachCoreOneOfEveryRow) {
    constexpr std::uint32_t cores = 48, slots = 3 * cores;
    CoreOfGroup core_of(cores, slots);
    std::vector<std::vector<std::uint32_t>> rows;
    for (std::uint64_t group = 0; group < 8 * cores; ++group) {
        if (group % cores == 0) rows.emplace_back();
        rows.back().push_back(core_of(group));
    }
    std::vector<std::uint32_t> all(cores);
    std::iota(all.begin(), all.end(), 0U);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        EXPECT_EQ(rows[row] == all, row < 3) << row;
        EXPECT_NE(rows[row], rows[(row + 4) % rows.size()]);
        std::ranges::sort(rows[row]);
        EXPECT_EQ(rows[row], all) << row;
    }
    // Groups of the sample alone tell the same.
    CoreOfGroup sampled(cores, slots), every(cores, slots);
    std::vector<std::uint32_t> found;
    for (std::uint64_t group = 0; group < 8 * cores; ++group) found.push_back(every(group));
    for (std::uint64_t group = 5; group < 8 * cores; group += 37)
        EXPECT_EQ(sampled(group), found[group]);
}

TEST(ReferenceOrder, IsThatOfTheSlotsTimes) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        test::RandomValues random(seed);
        const std::vector<GroupTrace> groups = random_groups(random, 1 + seed * 6);
        compare(groups,
                {.cores = static_cast<int>(random.between(1, 5)),
                 .concurrent_groups = static_cast<int>(random.between(1, 4))},
                {});
    }
}

TEST(ReferenceOrder, IsThatOfGivenTimes) {
    // Fractions of a cycle, far apart; many at once; all at once.
    for (const std::uint64_t unit : {std::uint64_t{1} << 36, std::uint64_t{1}, std::uint64_t{0}}) {
        test::RandomValues random(unit);
        const std::vector<GroupTrace> groups = random_groups(random, 20);
        compare(groups, {.cores = 3, .concurrent_groups = 2},
                [&](std::uint64_t row, const Issue& one) {
                    return (one.step * 7 + one.warp + row % 5) * unit;
                });
    }
}

}  // namespace
}  // namespace occupipe::extract

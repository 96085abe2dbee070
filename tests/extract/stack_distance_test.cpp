// SPDX-License-Identifier: MIT
// Stack distances against a list that is searched, and sectors against caches that are simulated.
#include "extract/stack_distance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "extract/sector_reuse.h"
#include "tests/support/random_values.h"

namespace occupipe::extract {
namespace {

using test::RandomValues;
using Distance = std::optional<std::uint64_t>;

std::uint64_t below(RandomValues& random, std::uint64_t end) {
    return static_cast<std::uint64_t>(random.between(0, static_cast<std::int64_t>(end) - 1));
}

TEST(StackDistances, OfAutoMatchsExample) {
    StackDistances distances;
    std::vector<Distance> found;
    for (const char name : std::string_view("acdbcegedd"))
        found.push_back(distances.touch(static_cast<std::uint64_t>(name)).distance);
    const Distance none;
    EXPECT_THAT(found, testing::ElementsAre(none, none, none, none, 2, none, none, 1, 4, 0));
    EXPECT_EQ(distances.names(), 6);
}

TEST(StackDistances, NumberNamesByFirstReference) {
    StackDistances distances;
    EXPECT_EQ(distances.touch(70).number, 0);
    EXPECT_EQ(distances.touch(~std::uint64_t{0}).number, 1);
    EXPECT_EQ(distances.touch(0).number, 2);
    EXPECT_EQ(distances.touch(~std::uint64_t{0}).number, 1);
    EXPECT_EQ(distances.touch(70).number, 0);
}

// Distances by going through all names, most recent last.
class Naive {
public:
    Distance touch(std::uint64_t name) {
        const auto place = std::find(names_.rbegin(), names_.rend(), name);
        Distance distance;
        if (place != names_.rend()) {
            distance = static_cast<std::uint64_t>(place - names_.rbegin());
            names_.erase(std::next(place).base());
        }
        names_.push_back(name);
        return distance;
    }

private:
    std::vector<std::uint64_t> names_;
};

TEST(StackDistances, AgreeWithASearchedListOnRandomTraces) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomValues random(seed);
        StackDistances distances;
        Naive naive;
        const std::uint64_t names = std::uint64_t{1} << random.between(0, 11);
        // Neighbours, strides that fall on few places of a table, and what lies far apart.
        const std::array strides = {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{4096},
                                    std::uint64_t{1} << 40, 0x9E3779B97F4A7C15};
        const std::uint64_t stride = strides[seed % strides.size()];
        std::uint64_t walk = 0;
        for (int i = 0; i < 6000; ++i) {
            const std::uint64_t kind = below(random, 3);
            if (kind == 0)
                walk = below(random, names);
            else if (kind == 1)
                walk = (walk + 1) % names;
            else
                walk = below(random, 1 + walk);
            if (random.chance(0.5)) distances.expect(below(random, names) * stride);
            ASSERT_EQ(distances.touch(walk * stride).distance, naive.touch(walk * stride))
                << "seed " << seed << ", reference " << i;
        }
    }
}

// Longer than what is kept in one piece: names are renumbered several times, tables grow.
TEST(StackDistances, OfALoopOverAWorkingSetAreOneLessThanIt) {
    for (const std::uint64_t names : {1, 63, 64, 65, 1023, 1024, 1025, 20'000, 300'000}) {
        StackDistances distances;
        for (std::uint64_t i = 0; i < 2 * names + 50'000; ++i) {
            const Distance expected = i < names ? Distance{} : Distance{names - 1};
            ASSERT_EQ(distances.touch(i % names * 3).distance, expected) << names << ' ' << i;
        }
    }
}

// A cache of so many lines, each with a valid and a dirty bit per sector.
class NaiveCache {
public:
    explicit NaiveCache(std::size_t lines) : lines_(lines) {}

    struct Found {
        std::uint32_t valid = 0;
        std::uint32_t dirty = 0;
    };

    Found touch(std::uint64_t line, std::uint32_t sectors, bool reads, bool writes) {
        auto place = std::ranges::find(cache_, line, &Line::line);
        if (place == cache_.end()) {
            if (cache_.size() == lines_) {
                for (std::uint32_t bit = 1; bit < 16; bit *= 2)
                    written_back += (cache_.front().dirty & bit) != 0;
                cache_.pop_front();
            }
            cache_.push_back({line, 0, 0});
        } else {
            cache_.splice(cache_.end(), cache_, place);
        }
        Line& here = cache_.back();
        const Found found{here.valid & sectors, here.dirty & sectors};
        if (reads || writes) here.valid |= sectors;
        if (writes) here.dirty |= sectors;
        return found;
    }

    void flush() {
        for (const Line& line : cache_)
            for (std::uint32_t bit = 1; bit < 16; bit *= 2) written_back += (line.dirty & bit) != 0;
    }

    std::uint64_t written_back = 0;  // sectors

private:
    struct Line {
        std::uint64_t line;
        std::uint32_t valid, dirty;
    };
    std::size_t lines_;
    std::list<Line> cache_;
};

TEST(SectorReuse, FindsWhatCachesOfEverySizeFind) {
    constexpr std::array sizes = {1, 2, 3, 5, 8, 13, 21, 34, 64};
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        RandomValues random(seed);
        SectorReuse reuse;
        std::vector<NaiveCache> caches;
        for (const int size : sizes) caches.emplace_back(static_cast<std::size_t>(size));
        const std::uint64_t lines = 1 + below(random, 60);
        std::map<int, std::uint64_t> newly_dirty;
        for (int i = 0; i < 3000; ++i) {
            const std::uint64_t line = below(random, 1 + below(random, lines));
            const auto sectors = static_cast<std::uint32_t>(1 + below(random, 15));
            const std::uint64_t kind = below(random, 3);
            std::vector<NeededLines> read, written;
            const auto on_read = [&](const NeededLines& n) { read.push_back(n); };
            const auto on_write = [&](const NeededLines& n) { written.push_back(n); };
            if (kind == 0)
                reuse.read(line, sectors, on_read);
            else if (kind == 1)
                reuse.write(line, sectors, on_write);
            else
                reuse.read_and_write(line, sectors, on_read, on_write);
            for (std::size_t c = 0; c < sizes.size(); ++c) {
                const auto found = caches[c].touch(line, sectors, kind != 1, kind != 0);
                const auto size = static_cast<std::uint64_t>(sizes[c]);
                const auto bits = [&](const std::vector<NeededLines>& needed) {
                    std::uint32_t all = 0;
                    std::size_t next = 0;
                    for (std::uint32_t bit = 1; bit < 16; bit *= 2) {
                        if ((sectors & bit) == 0) continue;
                        if (needed[next] && *needed[next] <= size) all |= bit;
                        ++next;
                    }
                    return all;
                };
                if (kind != 1) {
                    ASSERT_EQ(bits(read), found.valid) << seed << ' ' << i << ' ' << size;
                }
                if (kind == 0) continue;
                ASSERT_EQ(bits(written), found.dirty) << seed << ' ' << i << ' ' << size;
                for (const NeededLines& needed : written)
                    newly_dirty[sizes[c]] += !needed || *needed > size;
            }
        }
        // Every sector that becomes dirty is written back once.
        for (std::size_t c = 0; c < sizes.size(); ++c) {
            caches[c].flush();
            EXPECT_EQ(caches[c].written_back, newly_dirty[sizes[c]]) << seed;
        }
    }
}

TEST(SectorReuse, CapacitiesAreNeverSaidToBeSmallerThanTheyAre) {
    for (std::uint64_t lines = 1; lines < 3'000; ++lines) {
        ReuseCounts counts;
        counts.add(lines);
        counts.add({});
        const Reuse reuse = counts.reuse(128);
        ASSERT_EQ(reuse.size(), 1);
        EXPECT_EQ(reuse[0].share, 0.5);
        EXPECT_GE(reuse[0].bytes, static_cast<std::int64_t>(lines * 128));
        EXPECT_LE(static_cast<double>(reuse[0].bytes), static_cast<double>(lines * 128) * 1.125);
        if (lines <= 16) {
            EXPECT_EQ(reuse[0].bytes, static_cast<std::int64_t>(lines * 128));
        }
    }
    EXPECT_TRUE(ReuseCounts().reuse(128).empty());
}

TEST(SectorReuse, SmallPartsAreLeftToTheNextCapacity) {
    ReuseCounts counts;
    for (int i = 0; i < 999; ++i) counts.add(NeededLines{8});
    counts.add(NeededLines{4});
    EXPECT_EQ(counts.reuse(128), (Reuse{{1024, 1.0}}));
    for (int i = 0; i < 1000; ++i) counts.add(NeededLines{2});
    EXPECT_EQ(counts.reuse(128), (Reuse{{256, 0.5}, {1024, 1.0}}));
}

}  // namespace
}  // namespace occupipe::extract

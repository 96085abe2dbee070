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

#include "extract/line_numbers.h"
#include "extract/sector_reuse.h"
#include "tests/support/random_values.h"

namespace occupipe::extract {
namespace {

using test::RandomValues;
using Distance = std::optional<std::uint64_t>;

std::uint64_t below(RandomValues& random, std::uint64_t end) {
    return static_cast<std::uint64_t>(random.between(0, static_cast<std::int64_t>(end) - 1));
}

// Names by their numbers, each with its place.
class StackDistances {
public:
    Distance touch(std::uint64_t name) {
        if (order_.full())
            order_.renumber([&](const auto& of) {
                for (LastReferences::Place& place : places_) of(place);
            });
        const std::uint32_t number = numbers_.of(name);
        if (number == places_.size()) {
            places_.push_back(order_.enter());
            return {};
        }
        return order_.touch(places_.at(number));
    }
    std::uint64_t names() const { return order_.names(); }
    void clear() {
        order_.clear();
        places_.clear();
        numbers_ = {};
    }

private:
    LineNumbers numbers_;
    LastReferences order_;
    std::vector<LastReferences::Place> places_;
};

TEST(StackDistances, OfAutoMatchsExample) {
    StackDistances distances;
    std::vector<Distance> found;
    for (const char name : std::string_view("acdbcegedd"))
        found.push_back(distances.touch(static_cast<std::uint64_t>(name)));
    const Distance none;
    EXPECT_THAT(found, testing::ElementsAre(none, none, none, none, 2, none, none, 1, 4, 0));
    EXPECT_EQ(distances.names(), 6);
}

TEST(LineNumbers, AreGivenInTheOrderOfFirstReferences) {
    constexpr std::uint64_t most = ~std::uint64_t{0};
    for (const std::uint64_t stride : {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1} << 32,
                                       std::uint64_t{0x9E3779B97F4A7C15}}) {
        LineNumbers numbers;
        EXPECT_EQ(numbers.of(most), 0);
        std::map<std::uint64_t, std::uint32_t> expected = {{most, 0}};
        RandomValues random(stride);
        for (int i = 0; i < 20'000; ++i) {
            const std::uint64_t line = below(random, 3000) * stride;
            const auto next = static_cast<std::uint32_t>(expected.size());
            ASSERT_EQ(numbers.of(line), expected.try_emplace(line, next).first->second);
        }
        ASSERT_EQ(numbers.lines().size(), expected.size());
        for (const auto& [line, number] : expected) EXPECT_EQ(numbers.lines()[number], line);
    }
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
            ASSERT_EQ(distances.touch(walk * stride), naive.touch(walk * stride))
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
            ASSERT_EQ(distances.touch(i % names * 3), expected) << names << ' ' << i;
        }
    }
}

// Several loops side by side, as warps make them: next to the place before, next to the latest, and
// elsewhere. Again after all were forgotten.
TEST(StackDistances, AgreeOnLoopsSideBySide) {
    StackDistances distances;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        RandomValues random(seed);
        distances.clear();
        Naive naive;
        const std::uint64_t loops = 1 + below(random, 5);
        std::vector<std::uint64_t> begins, lengths, steps, at(loops, 0);
        for (std::uint64_t i = 0; i < loops; ++i) {
            begins.push_back(below(random, 500));
            lengths.push_back(1 + below(random, 700));
            steps.push_back(1 + below(random, 3));
        }
        for (int i = 0; i < 8000; ++i) {
            const std::uint64_t loop = static_cast<std::uint64_t>(i) % loops;
            const std::uint64_t name = begins[loop] + at[loop];
            at[loop] = (at[loop] + steps[loop]) % lengths[loop];
            ASSERT_EQ(distances.touch(name), naive.touch(name)) << seed << ' ' << i;
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
    constexpr std::array sizes = {1, 2, 3, 5, 8, 13, 22, 36, 64};  // none is rounded
    SectorReuse reuse(60);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        RandomValues random(seed);
        reuse.clear();
        std::vector<NaiveCache> caches;
        for (const int size : sizes) caches.emplace_back(static_cast<std::size_t>(size));
        const std::uint64_t lines = 1 + below(random, 60);
        std::map<int, std::uint64_t> newly_dirty;
        for (int i = 0; i < 3000; ++i) {
            const auto line = static_cast<std::uint32_t>(below(random, 1 + below(random, lines)));
            const auto sectors = static_cast<std::uint32_t>(1 + below(random, 15));
            const std::uint64_t kind = below(random, 3);
            std::array<NeededLines, 4> read, written;  // by sector
            const auto to = [](std::array<NeededLines, 4>& needed) {
                return [&needed](NeededLines lines_needed, std::uint32_t of) {
                    for (std::size_t s = 0; s < 4; ++s)
                        if ((of >> s & 1) != 0) needed[s] = lines_needed;
                };
            };
            const auto on_read = to(read), on_write = to(written);
            if (kind == 0)
                reuse.read(line, sectors, on_read);
            else if (kind == 1)
                reuse.write(line, sectors, on_write);
            else
                reuse.read_and_write(line, sectors, on_read, on_write);
            for (std::size_t c = 0; c < sizes.size(); ++c) {
                const auto found = caches[c].touch(line, sectors, kind != 1, kind != 0);
                const auto size = static_cast<std::uint64_t>(sizes[c]);
                const auto bits = [&](const std::array<NeededLines, 4>& needed) {
                    std::uint32_t all = 0;
                    for (std::uint32_t s = 0; s < 4; ++s)
                        if ((sectors >> s & 1) != 0 && needed[s].found_in(size)) all |= 1U << s;
                    return all;
                };
                if (kind != 1) {
                    ASSERT_EQ(bits(read), found.valid) << seed << ' ' << i << ' ' << size;
                }
                if (kind == 0) continue;
                ASSERT_EQ(bits(written), found.dirty) << seed << ' ' << i << ' ' << size;
                for (std::uint32_t s = 0; s < 4; ++s)
                    newly_dirty[sizes[c]] += (sectors >> s & 1) != 0 && !written[s].found_in(size);
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
        counts.add(NeededLines(lines));
        counts.add(NeededLines());
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
    counts.add(NeededLines{2}, 1000);
    EXPECT_EQ(counts.reuse(128), (Reuse{{256, 0.5}, {1024, 1.0}}));
}

}  // namespace
}  // namespace occupipe::extract

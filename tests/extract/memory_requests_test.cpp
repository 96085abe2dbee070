// SPDX-License-Identifier: MIT
// Sectors and passes by hand, and against a count of every single byte.
#include "extract/memory_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tests/support/random_values.h"

namespace occupipe::extract {
namespace {

struct Request {
    isa::Space space = isa::Space::global;
    isa::AccessKind kind = isa::AccessKind::load;
    std::uint32_t bytes = 4;
    isa::Mask active = isa::all_lanes;
    std::array<std::uint64_t, 32> addresses{};
};

isa::MemoryAccess access_of(const Request& request) {
    return {.space = request.space,
            .kind = request.kind,
            .bytes = request.bytes,
            .active = request.active,
            .addresses = request.addresses.data()};
}

MemoryCounts measured(const Request& request) {
    MemoryCounts counts;
    BankPattern pattern;
    add_request(counts, access_of(request), pattern);
    return counts;
}

Request strided(isa::Space space, std::uint32_t bytes, std::uint64_t stride,
                std::uint64_t begin = 0) {
    Request request{.space = space, .bytes = bytes};
    for (std::uint64_t lane = 0; lane < 32; ++lane) request.addresses[lane] = begin + lane * stride;
    return request;
}

TEST(GlobalRequests, SideBySideTakesTheLeast) {
    const MemoryCounts counts = measured(strided(isa::Space::global, 4, 4, 4096));
    EXPECT_EQ(counts.requests, 1U);
    EXPECT_EQ(counts.lanes, 32U);
    EXPECT_EQ(counts.bytes_asked, 128U);
    EXPECT_EQ(counts.sectors, 4U);
    EXPECT_EQ(counts.least_sectors, 4U);
    EXPECT_EQ(counts.lines, 1U);
    EXPECT_EQ(measured(strided(isa::Space::global, 16, 16)).sectors, 16U);
    EXPECT_EQ(measured(strided(isa::Space::global, 1, 1)).sectors, 1U);
}

TEST(GlobalRequests, OffsetByOneElementTakesOneSectorMore) {
    const MemoryCounts counts = measured(strided(isa::Space::global, 4, 4, 4100));
    EXPECT_EQ(counts.sectors, 5U);
    EXPECT_EQ(counts.least_sectors, 4U);
    EXPECT_EQ(counts.lines, 2U);
}

TEST(GlobalRequests, StridesAndBroadcasts) {
    EXPECT_EQ(measured(strided(isa::Space::global, 4, 128)).sectors, 32U);
    EXPECT_EQ(measured(strided(isa::Space::global, 4, 128)).lines, 32U);
    EXPECT_EQ(measured(strided(isa::Space::global, 4, 8)).sectors, 8U);
    const MemoryCounts same = measured(strided(isa::Space::global, 4, 0, 64));
    EXPECT_EQ(same.sectors, 1U);
    EXPECT_EQ(same.least_sectors, 1U);
    EXPECT_EQ(same.bytes_asked, 128U);
}

// As rows ld.global.l1.u32.strideN and linesN of an H100 have it.
TEST(GlobalRequests, PassThroughTheBanksOfTheFirstLevel) {
    for (const std::uint64_t stride : {1U, 2U, 4U, 8U, 32U})
        EXPECT_EQ(measured(strided(isa::Space::global, 4, 4 * stride)).passes, stride);
    const MemoryCounts diagonal = measured(strided(isa::Space::global, 4, 4 * 33));
    EXPECT_EQ(diagonal.passes, 1U);
    EXPECT_EQ(diagonal.lines, 32U);
    EXPECT_EQ(measured(strided(isa::Space::global, 16, 16)).passes, 4U);
    EXPECT_EQ(measured(strided(isa::Space::local, 4, 0, 8)).passes, 1U);
}

TEST(GlobalRequests, LanesThatDoNotTakePartDoNotCount) {
    Request request = strided(isa::Space::global, 4, 32);
    request.active = 0x80000001;
    EXPECT_EQ(measured(request).sectors, 2U);
    EXPECT_EQ(measured(request).lanes, 2U);
    request.active = 0;
    EXPECT_EQ(measured(request), MemoryCounts());
}

TEST(SharedRequests, StrideIsTheNumberOfPasses) {
    // A stride of s words takes gcd(s, 32) passes; a stride of 0 is one word for all.
    for (const auto& [words, passes] : std::map<std::uint64_t, std::uint64_t>{
             {0, 1}, {1, 1}, {2, 2}, {3, 1}, {4, 4}, {6, 2}, {8, 8}, {16, 16}, {32, 32}, {33, 1}})
        EXPECT_EQ(measured(strided(isa::Space::shared, 4, 4 * words)).passes, passes) << words;
}

TEST(SharedRequests, WideAccessesAreServedInPhases) {
    EXPECT_EQ(measured(strided(isa::Space::shared, 8, 8)).passes, 2U);
    EXPECT_EQ(measured(strided(isa::Space::shared, 8, 8)).phases, 2U);
    EXPECT_EQ(measured(strided(isa::Space::shared, 16, 16)).passes, 4U);
    EXPECT_EQ(measured(strided(isa::Space::shared, 16, 16)).phases, 4U);
    // 16 lanes, 16 bytes apart: their words lie in banks 0, 1, 4, 5, …, two in each.
    EXPECT_EQ(measured(strided(isa::Space::shared, 8, 16)).passes, 4U);
    Request part = strided(isa::Space::shared, 8, 8);
    part.active = 0x0000ffff;
    EXPECT_EQ(measured(part).passes, 1U);
    EXPECT_EQ(measured(part).phases, 1U);
    // Lane 8 stands in the second phase of 16-byte accesses.
    part = strided(isa::Space::shared, 16, 16);
    part.active = 0x000001ff;
    EXPECT_EQ(measured(part).phases, 2U);
}

TEST(SharedRequests, NarrowAccessesShareWords) {
    EXPECT_EQ(measured(strided(isa::Space::shared, 1, 1)).passes, 1U);
    EXPECT_EQ(measured(strided(isa::Space::shared, 2, 2)).passes, 1U);
    EXPECT_EQ(measured(strided(isa::Space::shared, 1, 128)).passes, 32U);
}

// With a pattern at hand: the same counts, whatever the requests before were.
TEST(SharedRequests, APatternCostsTheSameWhereverItBegins) {
    test::RandomValues random(11);
    const auto below = [&](std::int64_t end) {
        return static_cast<std::uint64_t>(random.between(0, end - 1));
    };
    BankPattern pattern;
    MemoryCounts known, plain;
    Request request{.space = isa::Space::shared};
    int repeated = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t what = below(4);
        if (what == 0) {
            request.bytes = std::uint32_t{1} << below(5);
            const std::uint64_t stride = below(9) * request.bytes;
            const std::uint64_t row = 1 + below(32), pitch = 4 * below(70);
            for (std::uint64_t lane = 0; lane < 32; ++lane)
                request.addresses[lane] = 4096 + lane % row * stride + lane / row * pitch;
        } else if (what == 1) {
            request.active = below(3) == 0 ? static_cast<isa::Mask>(static_cast<std::uint64_t>(
                                                 random.between(0, 0x7fffffff)))
                                           : isa::all_lanes;
        } else {
            const std::uint64_t by = what == 2 ? 4 * below(40) : below(5);
            for (std::uint64_t& one : request.addresses) one += by;
            ++repeated;
        }
        const isa::MemoryAccess access = access_of(request);
        BankPattern none;
        add_request(plain, access, none);
        add_request(known, access, pattern);
        ASSERT_EQ(known, plain) << "request " << i;
    }
    EXPECT_GT(repeated, 5000);
}

TEST(LocalRequests, WordsOfLanesLieSideBySide) {
    EXPECT_EQ(measured(strided(isa::Space::local, 4, 0, 8)).sectors, 4U);
    EXPECT_EQ(measured(strided(isa::Space::local, 16, 0, 16)).sectors, 16U);
    EXPECT_EQ(measured(strided(isa::Space::local, 4, 4)).sectors, 32U);
    EXPECT_EQ(measured(strided(isa::Space::local, 4, 4)).least_sectors, 4U);
}

TEST(AtomicRequests, CountTheLanesThatMeet) {
    Request request = strided(isa::Space::global, 4, 0);
    request.kind = isa::AccessKind::atomic;
    EXPECT_EQ(measured(request).same_address, 32U);
    request = strided(isa::Space::shared, 4, 4);
    request.kind = isa::AccessKind::atomic;
    EXPECT_EQ(measured(request).same_address, 1U);
    request.addresses[5] = request.addresses[9] = request.addresses[31];
    EXPECT_EQ(measured(request).same_address, 3U);
}

// Byte by byte, with sets.
MemoryCounts plainly_counted(const Request& request) {
    MemoryCounts counts;
    if (request.active == 0) return counts;
    counts.requests = 1;
    std::set<std::uint64_t> sectors, lines, bytes;
    std::map<std::uint64_t, std::uint64_t> lanes_at;
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
        if ((request.active >> lane & 1) == 0) continue;
        ++counts.lanes;
        ++lanes_at[request.addresses[lane]];
        for (std::uint64_t i = 0; i < request.bytes; ++i) {
            ++counts.bytes_asked;
            std::uint64_t at = request.addresses[lane] + i;
            if (request.space == isa::Space::local) at = at / 4 * 128 + lane * 4 + at % 4;
            sectors.insert(at / 32);
            lines.insert(at / 128);
            bytes.insert(at);
        }
    }
    if (request.kind == isa::AccessKind::atomic)
        for (const auto& [address, lanes] : lanes_at)
            counts.same_address = std::max(counts.same_address, lanes);
    if (request.space == isa::Space::global || request.space == isa::Space::local) {
        counts.sectors = sectors.size();
        counts.lines = lines.size();
        counts.least_sectors = (bytes.size() + 31) / 32;
    }
    if (request.space == isa::Space::constant) return counts;
    if (request.space == isa::Space::local) {
        counts.passes = counts.phases = (request.bytes + 3) / 4;
        return counts;
    }
    const std::uint64_t together = request.bytes <= 4 ? 32 : request.bytes == 8 ? 16 : 8;
    for (std::uint64_t first = 0; first < 32; first += together) {
        std::array<std::set<std::uint64_t>, 32> words;
        for (std::uint64_t lane = first; lane < first + together; ++lane)
            for (std::uint64_t i = 0; i < request.bytes; ++i)
                if ((request.active >> lane & 1) != 0) {
                    const std::uint64_t word = (request.addresses[lane] + i) / 4;
                    words[word % 32].insert(word);
                }
        std::size_t passes = 0;
        for (const auto& of_bank : words) passes = std::max(passes, of_bank.size());
        counts.passes += passes;
        if (passes > 0) ++counts.phases;
    }
    return counts;
}

Request random_request(test::RandomValues& random) {
    Request request;
    request.space = static_cast<isa::Space>(random.between(0, 3));
    request.kind = static_cast<isa::AccessKind>(random.between(0, 3));
    request.bytes = 1U << random.between(0, 4);
    if (random.chance(0.7)) request.active = static_cast<isa::Mask>(random.between(0, 0xffffffff));
    const std::int64_t range = std::int64_t{1} << random.between(1, 14);
    const std::int64_t stride = random.between(-40, 40);
    const bool scattered = random.chance(0.5);
    for (std::int64_t lane = 0; lane < 32; ++lane) {
        const std::int64_t element = scattered ? random.between(0, range) : 2000 + stride * lane;
        request.addresses[static_cast<std::size_t>(lane)] =
            (request.space == isa::Space::global ? 0x7f0000000000U : 0U) +
            static_cast<std::uint64_t>(element) * request.bytes;
    }
    return request;
}

TEST(MemoryRequests, AreThoseOfACountByteByByte) {
    for (std::uint64_t seed = 0; seed < 20000; ++seed) {
        test::RandomValues random(seed);
        const Request request = random_request(random);
        ASSERT_EQ(measured(request), plainly_counted(request)) << "seed " << seed;
    }
}

TEST(MemoryRequests, AddUp) {
    MemoryCounts sum;
    MemoryCounts once;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        test::RandomValues random(seed);
        const Request request = random_request(random);
        BankPattern pattern;
        add_request(once, access_of(request), pattern);
        sum += measured(request);
    }
    EXPECT_EQ(sum, once);
}

}  // namespace
}  // namespace occupipe::extract

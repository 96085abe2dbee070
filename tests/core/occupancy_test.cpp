// SPDX-License-Identifier: MIT
// The occupancy calculator against what NVIDIA's answers (recorded by tools/record_occupancy.cpp).
#include "core/occupancy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/architectures.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe {
namespace {

using enum OccupancyLimiter;
using ::testing::HasSubstr;

std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> found(1);
    for (const char c : line) {
        if (c == ',')
            found.emplace_back();
        else
            found.back() += c;
    }
    return found;
}

TEST(Occupancy, AnswersAsTheVendorsCalculator) {
    std::istringstream file(
        read_text_file(OCCUPIPE_SOURCE_DIR "/tests/core/recorded/occupancy.csv"));
    std::string line;
    std::getline(file, line);
    std::map<int, int> fit, refused;
    while (std::getline(file, line)) {
        const std::vector<std::string> row = cells(line);
        ASSERT_EQ(row.size(), 11U) << line;
        const int architecture = std::stoi(row[0]);
        const GroupNeeds needs{.group_threads = std::stoi(row[1]),
                               .registers = std::stoi(row[2]),
                               .shared_bytes = std::stoi(row[3]),
                               .barriers = std::stoi(row[4])};
        const int groups = std::stoi(row[5]);
        const OccupancyLimits& limits = occupancy_limits(architecture);
        if (groups == 0) {
            EXPECT_THROW(occupancy(limits, needs), InputError) << line;
            ++refused[architecture];
            continue;
        }
        ++fit[architecture];
        const Occupancy found = occupancy(limits, needs);
        EXPECT_EQ(found.groups, groups) << line;
        EXPECT_EQ(found.group_warps, (needs.group_threads + 31) / 32);
        EXPECT_EQ(found.warps, groups * found.group_warps) << line;
        std::map<OccupancyLimiter, std::string> texts = {{warps, row[6]},
                                                         {OccupancyLimiter::groups, row[7]},
                                                         {registers, row[8]},
                                                         {shared_memory, row[9]},
                                                         {barriers, row[10]}};
        for (const Occupancy::Limit& limit : found.limits) {
            EXPECT_EQ(texts.at(limit.what), std::to_string(limit.groups))
                << line << " " << to_text(limit.what);
            texts.erase(limit.what);
        }
        for (const auto& [what, text] : texts) EXPECT_EQ(text, "") << line << " " << to_text(what);
    }
    EXPECT_EQ(fit.size(), 7U);
    for (const auto& [architecture, count] : fit) {
        EXPECT_GT(count, 50) << architecture;
        EXPECT_GT(refused[architecture], 10) << architecture;
    }
}

TEST(Occupancy, NamesTheTightestLimitFirst) {
    const Occupancy found =
        occupancy(occupancy_limits(90), {.group_threads = 256, .registers = 40});
    EXPECT_EQ(found.groups, 6);
    EXPECT_EQ(found.limits.front().what, registers);
    EXPECT_EQ(found.warps, 48);
    EXPECT_DOUBLE_EQ(found.share, 0.75);
}

TEST(Occupancy, SaysWhatAGroupNeedsThatDoesNotFit) {
    const auto message = [](int architecture, const GroupNeeds& needs) -> std::string {
        try {
            occupancy(occupancy_limits(architecture), needs);
        } catch (const InputError& error) {
            return error.what();
        }
        return "fits";
    };
    EXPECT_EQ(message(75, {.group_threads = 32, .shared_bytes = 65537}),
              "a group needs 65537 bytes of shared memory; one on sm_75 can have 65536");
    EXPECT_EQ(message(90, {.group_threads = 1024, .registers = 65}),
              "a group needs 73728 registers; one on sm_90 can have 65536");
    EXPECT_EQ(message(90, {.group_threads = 1025}),
              "a group needs 1025 threads; one on sm_90 can have 1024");
    EXPECT_EQ(message(90, {.group_threads = 32, .barriers = 17}),
              "a group needs 17 barriers; one on sm_90 can have 16");
    EXPECT_THAT(message(87, {}), HasSubstr("sm_87 holds is not known; known are sm_75, sm_80"));
}

TEST(Architectures, AreInOrderAndAgreeWithThemselves) {
    int before = 0;
    for (const Architecture& one : architectures()) {
        EXPECT_GT(one.number, before);
        before = one.number;
        EXPECT_EQ(one.limits.architecture, one.number);
        EXPECT_TRUE(std::string(one.target).starts_with(fmt::format("sm_{}", one.number)));
        EXPECT_EQ(find_architecture(one.number), &one);
        EXPECT_EQ(&architecture_like(one.number), &one);
        // The system's part of a group's shared memory, before the kernel's own.
        EXPECT_LE(one.code.system_shared, one.limits.reserved_bytes);
    }
    EXPECT_EQ(find_architecture(87), nullptr);
    EXPECT_EQ(architecture_like(87).number, 86);
    EXPECT_EQ(architecture_like(35).number, 75);
    EXPECT_EQ(architecture_like(130).number, 121);
    for (const int named : {50, 61, 70, 87, 88, 90, 103, 110, 121})
        EXPECT_TRUE(names_architecture(named));
    for (const int number : {0, 7, 76, 255}) EXPECT_FALSE(names_architecture(number));
    EXPECT_EQ(architectures_in_words(), "sm_75, 80, 86, 89, 90, 100, 103, 120 and 121");
}

}  // namespace
}  // namespace occupipe

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "core/files/files.h"
#include "report/text/timing_table.h"

namespace occupipe {
namespace {

namespace fs = std::filesystem;
using Cells = std::vector<std::string>;

const fs::path source_dir = OCCUPIPE_SOURCE_DIR;

std::vector<GpuProfile> literature_profiles() {
    std::vector<GpuProfile> profiles;
    for (const char* name : {"nvidia-tesla-c2050", "nvidia-gtx-650-ti", "nvidia-quadro-k620",
                             "nvidia-gtx-1060", "nvidia-rtx-2070", "amd-r9-380"}) {
        profiles.push_back(read_profile(source_dir / "profiles" / (std::string(name) + ".yaml")));
    }
    return profiles;
}

std::string without_blanks(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    return text;
}

// Rows of cells without blanks; lines that start with '#' are comments.
std::vector<Cells> cells_of(const std::string& text, char separator) {
    std::vector<Cells> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#')) {
            continue;
        }
        Cells cells;
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, separator);) {
            cells.push_back(without_blanks(field));
        }
        rows.push_back(std::move(cells));
    }
    return rows;
}

TEST(LiteratureProfiles, TheTableIsThePapersTable5) {
    const auto expected = cells_of(
        read_text_file(source_dir / "tests" / "data" / "lemeire-analysis" / "table-5.csv"), ',');
    const std::string text = report::format_timing_table(
        report::timing_table(literature_profiles()), report::TableFormat::markdown, false);
    const auto printed = cells_of(text, '|');  // the first cell of a line is empty
    ASSERT_EQ(expected.size(), 11U);
    ASSERT_GE(printed.size(), expected.size() + 1);
    EXPECT_EQ(Cells(printed[0].begin() + 2, printed[0].end()),
              Cells(expected[0].begin() + 1, expected[0].end()));
    for (std::size_t row = 1; row < expected.size(); ++row) {
        Cells want = expected[row];
        // OpenCL's local memory is PTX's shared memory.
        want[0] = want[0] == "ld.local.s32" ? "ld.shared.s32" : want[0];
        for (std::string& cell : want) {
            cell = cell == "-/-" ? "-" : cell;
        }
        const Cells& line = printed[row + 1];
        EXPECT_EQ(Cells(line.begin() + 1, line.end()), want);
    }
}

TEST(LiteratureProfiles, HaveTheDeviceFactsOfThePapers) {
    // Table 4 (issue limit) of the analysis paper; Table I (cores, clock) of the earlier one.
    const auto profiles = literature_profiles();
    const std::vector<double> issue_limits = {1, 4, 4, 4, 2, 1};
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        EXPECT_EQ(profiles[i].issue.limit, issue_limits[i]) << profiles[i].device.name;
        EXPECT_EQ(profiles[i].issue.schedulers, 1);
        EXPECT_EQ(profiles[i].warp_size, profiles[i].device.vendor == "AMD" ? 64 : 32);
    }
    EXPECT_EQ(profiles[0].cores, 14);
    EXPECT_EQ(profiles[0].clock_hz, 1150e6);
    EXPECT_EQ(profiles[3].cores, 10);
    EXPECT_EQ(profiles[3].clock_hz, 1506e6);
}

TEST(LiteratureProfiles, GlobalLoadsGiveThePapersThroughput) {
    // Table 6: cores * warp size * 4 bytes / λ * clock, where cores and clock are the papers' own
    // or agree with them. The other two cards ran at clocks that the papers do not give.
    const auto profiles = literature_profiles();
    const auto throughput = [&](std::size_t i) {
        const GpuProfile& p = profiles[i];
        return p.cores * p.warp_size * 4 / p.find_instruction("ld.global.s32")->cpi.value *
               p.clock_hz;
    };
    EXPECT_NEAR(throughput(0), 89.6e9, 0.05e9);
    EXPECT_NEAR(throughput(2), 22.6e9, 0.05e9);
    EXPECT_NEAR(throughput(3), 160.6e9, 0.05e9);
}

TEST(LiteratureProfiles, EveryNumberNamesItsSource) {
    for (const GpuProfile& profile : literature_profiles()) {
        for (const InstructionTiming& timing : profile.instructions) {
            if (timing.source == Source::assumed)
                EXPECT_NE(timing.reference.find("stands for it"), std::string::npos) << timing.name;
            else
                EXPECT_EQ(timing.source, Source::literature) << timing.name;
            EXPECT_NE(timing.reference.find("Table"), std::string::npos) << timing.name;
        }
        std::set<std::string> explained;
        for (const auto& [key, value] : profile.provenance.entries) {
            explained.insert(key);
        }
        for (const char* key : {"timings", "cores", "clock_hz", "limits", "subsystems"}) {
            EXPECT_TRUE(explained.contains(key)) << profile.device.name << ": " << key;
        }
    }
}

// Tables II and III of the Pipeline paper: addition and multiply-add, of two devices only. There
// they equal the multiplication's of Table 5, which is why it stands for them elsewhere.
TEST(LiteratureProfiles, AdditionsAndMultiplyAddsArePublishedOrTakenForTheMultiplications) {
    struct Published {
        double cpi;
        double latency;
    };
    const std::map<std::string, Published> published = {{"Fermi", {1, 18}}, {"Pascal", {0.25, 6}}};
    for (const GpuProfile& profile : literature_profiles()) {
        const auto found = published.find(profile.device.architecture);
        const InstructionTiming& mul = *profile.find_instruction("mul.f32");
        for (const char* op : {"add.f32", "fma.f32"}) {
            const InstructionTiming* timing = profile.find_instruction(op);
            ASSERT_NE(timing, nullptr) << profile.device.name << ' ' << op;
            const bool known = found != published.end();
            EXPECT_EQ(timing->source, known ? Source::literature : Source::assumed)
                << profile.device.name << ' ' << op;
            EXPECT_EQ(timing->cpi.value, known ? found->second.cpi : mul.cpi.value);
            EXPECT_EQ(timing->latency->value, known ? found->second.latency : mul.latency->value);
            EXPECT_EQ(timing->subsystem, mul.subsystem);
            if (known) {
                EXPECT_EQ(mul.cpi.value, found->second.cpi);
                EXPECT_EQ(mul.latency->value, found->second.latency);
            }
        }
        bool explained = false;
        for (const auto& [key, value] : profile.provenance.entries)
            explained = explained || key == "timings_add_fma";
        EXPECT_TRUE(explained) << profile.device.name;
    }
}

TEST(LiteratureProfiles, SurviveARoundTrip) {
    for (const GpuProfile& profile : literature_profiles()) {
        EXPECT_EQ(parse_profile(format_profile(profile), "again"), profile);
    }
}

}  // namespace
}  // namespace occupipe

// SPDX-License-Identifier: MIT
// Rows of `occupipe sweep`, and the same asked of `occupipe predict`.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/csv.h"
#include "core/files/files.h"
#include "tests/cli/command.h"

namespace occupipe::cli {

using Json = nlohmann::json;
using Row = std::map<std::string, std::string>;

inline std::string write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
    return path.string();
}

inline std::vector<Row> table(const std::string& file) {
    const auto records = parse_csv(read_text_file(file), file);
    std::vector<Row> rows;
    for (std::size_t i = 1; i < records.size(); ++i) {
        Row row;
        for (std::size_t c = 0; c < records[i].fields.size(); ++c)
            row[records[0].fields[c]] = records[i].fields[c];
        rows.push_back(std::move(row));
    }
    return rows;
}

inline double number(const std::string& text) {
    double value = std::nan("");
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    EXPECT_TRUE(fault == std::errc() && end == text.data() + text.size()) << text;
    return value;
}

// The spec's file, line and key, exit code 2, and no rows.
inline void expect_refused(const std::string& spec, const std::string& says) {
    const std::string rows = (std::filesystem::path(spec).parent_path() / "rows.csv").string();
    const test::Outcome run = test::occupipe({"sweep", spec, "-o", rows});
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_THAT(run.err, ::testing::HasSubstr(spec + ":"));
    EXPECT_THAT(run.err, ::testing::HasSubstr(says));
    EXPECT_FALSE(std::filesystem::exists(rows));
}

// What the row says, asked of `predict KERNEL FURTHER…`: equal to the last digit, or refused for
// the same reason.
inline void expect_as_predicted(const Row& row, const std::vector<std::string>& settings,
                                const std::string& kernel, const std::vector<std::string>& further,
                                const std::string& limit = "50000") {
    std::vector<std::string> arguments = {"predict",         kernel,    "--profile",
                                          row.at("profile"), "--model", row.at("model"),
                                          "--json",          "--limit", limit};
    for (const std::string& name : settings) {
        arguments.emplace_back("--set");
        arguments.push_back(name + "=" + row.at(name));
    }
    for (const std::string option : {"order", "policy", "select"})
        if (row.contains(option)) {
            arguments.push_back("--" + option);
            arguments.push_back(row.at(option));
        }
    arguments.insert(arguments.end(), further.begin(), further.end());
    const test::Outcome run = test::occupipe(arguments);
    const std::string said = fmt::format("{}", fmt::join(arguments, " "));
    const std::string& refused = row.at("refused");
    if (run.code != 0) {
        EXPECT_NE(refused, "") << said << "\n" << run.err;
        if (run.code == 4) {
            EXPECT_EQ(refused, "no answer within --limit " + limit);
        } else {
            EXPECT_EQ(run.code, 2) << said << run.err;
            EXPECT_THAT(run.err, ::testing::HasSubstr(refused)) << said;
        }
        for (const char* cell : {"cycles", "seconds", "warps_per_cycle", "limited_by", "busy"})
            EXPECT_EQ(row.at(cell), "") << said;
        return;
    }
    ASSERT_EQ(refused, "") << said;
    const Json one = Json::parse(run.out)["predictions"][0];
    for (const char* cell :
         {"cycles", "seconds", "warps_per_cycle", "cycles_per_run", "instructions_per_cycle"})
        EXPECT_EQ(number(row.at(cell)), one[cell].get<double>()) << cell << ": " << said;
    for (const char* cell : {"group_warps", "concurrent_groups", "groups_per_core"})
        EXPECT_EQ(row.at(cell), one[cell].dump()) << cell << ": " << said;
    EXPECT_EQ(row.at("limited_by"), one["limited_by"]) << said;
    std::map<std::string, double> busy;
    std::istringstream words(row.at("busy"));
    for (std::string word; words >> word;) {
        const std::size_t equals = word.rfind('=');
        busy[word.substr(0, equals)] = number(word.substr(equals + 1));
    }
    EXPECT_EQ(busy, (one["bounds"].get<std::map<std::string, double>>())) << said;
    std::string assumptions;
    for (const Json& each : one["assumptions"])
        assumptions += (assumptions.empty() ? "" : "; ") + each.get<std::string>();
    EXPECT_EQ(row.at("assumptions"), assumptions) << said;
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
// Measurement files are read block by block, and as a document where something is out of the
// ordinary: both give the same rows, and the first takes nothing that the second refuses.
#include "core/files/measurement_blocks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/random_values.h"
#include "tests/support/temporary_folder.h"

namespace occupipe {
namespace {

std::string text_of(const MeasurementFile& file) {
    std::string text = file.path + file.content_hash;
    for (const auto& [key, value] : file.context) text += fmt::format("\n{}={}", key, value);
    for (const MeasurementRow& row : file.rows) {
        const auto number = [](const auto& value) {
            return value ? fmt::format("{:a}", double(*value)) : std::string("none");
        };
        text += fmt::format("\n{} {} {} {} {} {} {} {} {} {} {:a} {}", row.name(), row.subject,
                            row.shape.group_warps, row.shape.concurrent_groups, row.shape.chains,
                            row.shape.depth, number(row.beta), row.repetition, number(row.cycles),
                            number(row.clock_hz), row.seconds, row.error.value_or("none"));
        row.counters.for_each([&](const std::string& name, double value) {
            text += fmt::format(" {}={:a}", name, value);
        });
    }
    return text;
}

std::optional<std::string> as_document(const std::string& text) {
    try {
        return text_of(parse_measurements_as_document(text, "m.json"));
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::optional<std::string> as_usual(const std::string& text) {
    try {
        return text_of(parse_measurements(text, "m.json"));
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::string row(const std::string& more) {
    return R"({"name": "fma.f32/group_warps:4/concurrent_groups:2/chains:1/depth:7", )"
           R"("run_type": "iteration", "repetition_index": 1, "real_time": 1.5, )"
           R"("time_unit": "us", "cycles": 12, "warps": 8)" +
           more + "}";
}

std::string file_of(const std::string& rows) {
    return R"({"context": {"cores": "1", "l": [1, {"benchmarks": [2]}]}, "benchmarks": [)" + rows +
           "]}";
}

TEST(MeasurementBlocks, ShippedFilesAreReadAsByADocument) {
    int files = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(OCCUPIPE_SOURCE_DIR "/results")) {
        if (entry.path().extension() != ".json") continue;
        const std::string text = read_text_file(entry.path());
        const auto expected = as_document(text);
        ASSERT_TRUE(expected) << entry.path();
        EXPECT_EQ(as_usual(text), expected) << entry.path();
        MeasurementFile read = read_measurements(entry.path());
        read.path = "m.json";
        EXPECT_EQ(text_of(read), expected) << entry.path();
        ++files;
    }
    EXPECT_GT(files, 0);
}

// What both take, and what neither does.
TEST(MeasurementBlocks, WhatIsOutOfTheOrdinaryIsReadAlike) {
    const std::string rest = R"(, "error_occurred": true, "error_message": )";
    const std::vector<std::string> taken = {
        file_of(""),
        file_of(row("")),
        file_of(row("") + " ,\n\t" + row("")),
        file_of(row(R"(, "extra": -1.5e-3, "label": "x", "flag": true, "none": null)")),
        file_of(row(R"(, "big": 1e300, "small": 1e-300, "digits": 12345678901234567890)")),
        file_of(row(rest + R"("with \"quotes\", \u00e9, {braces} and [brackets]")")),
        file_of(row(rest + R"("grün")")),
        file_of(row(R"(, "list": [1, {"a": "]}"}])")),
        file_of(row(R"(, "a": 1, "b": 2)") + "," + row(R"(, "b": 2, "a": 1)")),
        file_of(R"({"name": "n", "run_type": "aggregate"})"),
        "\xef\xbb\xbf" + file_of(row("")),
        R"({"benchmarks": [)" + row("") + R"(], "context": {"cores": "1"}})",
        R"({"\u0062enchmarks": [)" + row("") + R"(], "context": {"cores": "1"}})"};
    for (const std::string& text : taken) {
        ASSERT_TRUE(as_document(text)) << text;
        EXPECT_EQ(as_usual(text), as_document(text)) << text;
    }
    const std::vector<std::string> refused = {
        file_of(row(R"(, "a": 01)")),
        file_of(row(R"(, "a": 1.)")),
        file_of(row(R"(, "a": .5)")),
        file_of(row(R"(, "a": +1)")),
        file_of(row(R"(, "a": NaN)")),
        file_of(row(R"(, "a": 1e999)")),
        file_of(row(R"(, "iterations": 1e999)")),
        file_of(row(R"(, "a": 1, "a": 1)")),
        file_of(row(R"(, "a": tru)")),
        file_of(row(R"(, "a")")),
        file_of(row(",")),
        file_of(row("") + ","),
        file_of(row("") + row("")),
        file_of("1"),
        file_of("[" + row("") + "]"),
        file_of(row("")) + "x",
        file_of(row("")) + "{}",
        file_of(row("\t\x01")),
        file_of(row(", \"a\x7f\": 1")),
        file_of(row(", \"a\xff\": 1")),
        file_of(row(R"(, "depth": 8)")),
        file_of(row(R"(, "warps": 9)")),
        file_of(row(R"(, "chains": null)")),
        file_of(row(R"(, "clock_hz": -1)")),
        file_of(row(R"(, "clock_hz": "1")")),
        file_of(row(R"(, "beta": 1)")),
        R"({"context": {}, "benchmarks": [], "benchmarks": []})",
        R"({"context": {}, "benchmarks": {}})",
        R"({"benchmarks": []})",
        R"({"context": {}, "other": 1, "benchmarks": []})",
        "",
        "{",
        file_of(row("")).substr(0, 150)};
    for (const std::string& text : refused) {
        EXPECT_FALSE(as_document(text)) << text;
        EXPECT_FALSE(as_usual(text)) << text;
    }
}

TEST(MeasurementBlocks, ChangedBytesAreReadAlike) {
    const std::string seed = file_of(row("") + "," + row(R"(, "a": 2.5e+01)") + "," +
                                     row(R"(, "error_occurred": true, "error_message": "b")"));
    constexpr std::string_view bytes = "\"\\{}[]:,. eE+-019aft\n\t\x01\x7f";
    int read = 0;
    for (std::uint64_t n = 0; n < 6000; ++n) {
        test::RandomValues random(n);
        std::string text = seed;
        for (std::int64_t i = random.between(1, 2); i > 0; --i) {
            const auto last = static_cast<std::int64_t>(text.size()) - 1;
            const auto at = static_cast<std::size_t>(random.between(0, last));
            const auto byte = static_cast<std::size_t>(
                random.between(0, static_cast<std::int64_t>(bytes.size()) - 1));
            if (random.between(0, 2) == 0) {
                text.erase(at, static_cast<std::size_t>(random.between(1, 3)));
            } else if (random.between(0, 1) == 0) {
                text[at] = bytes[byte];
            } else {
                text.insert(at, 1, bytes[byte]);
            }
        }
        const auto expected = as_document(text);
        read += expected.has_value();
        ASSERT_EQ(as_usual(text), expected) << n << ": " << text;
    }
    EXPECT_GT(read, 300);
}

// Blocks end anywhere.
TEST(MeasurementBlocks, RowsOverTheEndOfABlockAreWhole) {
    // Rows are long, so that many begin and end in every block of 64 KiB.
    std::string rows = row("");
    for (int i = 0; i < 3000; ++i)
        rows += "," + std::string(static_cast<std::size_t>(i % 7), ' ') +
                row(i % 50 != 0 ? R"(, "a": 1e3)" : R"(, "l": "a\"}b")");
    EXPECT_EQ(as_usual(file_of(rows)), as_document(file_of(rows)));
    const test::TemporaryFolder folder;
    std::ofstream(folder.path / "m.json") << file_of(rows);
    MeasurementFile file = read_measurements(folder.path / "m.json");
    file.path = "m.json";
    EXPECT_EQ(text_of(file), as_document(file_of(rows)));
}

}  // namespace
}  // namespace occupipe

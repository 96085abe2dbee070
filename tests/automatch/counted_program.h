// SPDX-License-Identifier: MIT
// Programs that are compiled with counters and run; tests that use them are skipped where LLVM 19
// was not there.
//
//     TEST_F(Program, DotProduct) { const Workload w = count("dot", "double dot(…) {…}",
//     "dot(…);"); }
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "automatch/program.h"
#include "core/error.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::automatch {

class Program : public ::testing::Test {
protected:
    void SetUp() override {
        if (!OCCUPIPE_MATCH_INSTRUMENTS)
            GTEST_SKIP() << "LLVM 19 was not there when this was built";
    }

    std::filesystem::path written(const std::string& name, const std::string& text) {
        const std::filesystem::path path = folder.path / name;
        std::ofstream(path) << text;
        return path;
    }
    // A kernel and the body of a main() that calls it.
    Workload count(const std::string& kernel, const std::string& text, const std::string& body,
                   const std::vector<std::string>& arguments = {}) {
        const std::string all = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n" +
                                text + "\nint main(int argc, char** argv) {\n" + body +
                                "\nreturn 0; }\n";
        ProgramRun run{
            .sources = {written("program.c", all)}, .kernel = kernel, .arguments = arguments};
        const Workload counted = analyse_program(run, {});
        if (counted_twice_) {
            run.distances = false;
            EXPECT_EQ(without_distances(analyse_program(run, {})), without_distances(counted));
        }
        return counted;
    }
    // Levels alone are counted in another way (loads of a stretch of code together), which has to
    // come to the same.
    static std::string without_distances(Workload w) {
        w.reuse.clear();
        for (Schedule& schedule : w.schedules) {
            schedule.reach.clear();
            schedule.first_reach = 0;
        }
        return format_workload(w);
    }
    std::string refusal(const std::string& kernel, const std::string& text,
                        const std::string& body) {
        try {
            count(kernel, text, body);
        } catch (const InputError& error) {
            return error.what();
        }
        return "counted";
    }

    test::TemporaryFolder folder;
    bool counted_twice_ = std::getenv("OCCUPIPE_FULL") != nullptr;
};

inline const Loop& loop_at(const Workload& w, std::size_t i) { return w.loops.at(i); }

inline std::vector<LevelWidth> doubles(std::vector<std::pair<std::int64_t, std::int64_t>> all) {
    std::vector<LevelWidth> widths;
    for (const auto& [levels, f64] : all) widths.push_back({.levels = levels, .f64 = f64});
    return widths;
}

}  // namespace occupipe::automatch

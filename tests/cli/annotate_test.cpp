// SPDX-License-Identifier: MIT
// `predict --annotate` and `--page`, and `compare BEFORE AFTER`, on recorded machine code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string recorded = "tests/kernels/recorded/sm_80/";

class Annotate : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (own.path / name).string(); }

    // A kernel file of a recorded kernel, and a GPU that knows its instructions: each takes 2
    // cycles and 20, more or less.
    void extract(const std::string& kernel) {
        const ProgramRun made =
            run_program({"extract", recorded + kernel + ".cubin", "--launch",
                         "tests/kernels/" + kernel + ".yaml", "-o", path(kernel + ".yaml")});
        ASSERT_EQ(made.exit_code, 0) << made.err;
        for_each_instruction(read_kernel(path(kernel + ".yaml")),
                             [&](const KernelInstruction& node) { ops.insert(node.op); });
        std::string text =
            "format: occupipe-profile/1\ndevice: {name: test}\ncores: 4\nwarp_size: 32\n"
            "clock_hz: 1e9\nissue: {limit: 4, schedulers: 4}\n"
            "subsystems:\n  alu: {scope: core}\ninstructions:\n";
        for (const std::string& op : ops)
            text += fmt::format(
                "  {}: {{subsystem: alu, cpi: {{value: 2, std_error: 0.02}}, latency: {{value: 20, "
                "std_error: 0.5}}}}\n",
                op);
        write_text_file(path("gpu.yaml"), text, Overwrite::yes);
    }

    ProgramRun predict(const std::string& kernel, std::vector<std::string> more) {
        more.insert(more.begin(), {"predict", recorded + kernel + ".cubin", "--launch",
                                   "tests/kernels/" + kernel + ".yaml", "--profile",
                                   path("gpu.yaml"), "--source-folder", "tests/kernels"});
        return run_program(more);
    }

    test::TemporaryFolder own;
    std::set<std::string> ops;
};

TEST_F(Annotate, LinesAndInstructionsStandTogether) {
    extract("matmul");
    const ProgramRun text = predict("matmul", {"--annotate", "both"});
    ASSERT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, AllOf(HasSubstr("sum = fmaf(as[threadIdx.y][i]"),
                                HasSubstr("FFMA R4, R29, R8, R5"), Not(HasSubstr("nan"))));
    const ProgramRun json =
        predict("matmul", {"--annotate", "source", "--json", "--sample", "all", "--classes", "99"});
    ASSERT_EQ(json.exit_code, 0) << json.err;
    const auto annotation = nlohmann::json::parse(json.out)["annotation"];
    double share = 0, executions = 0;
    for (const auto& line : annotation["lines"]) {
        share += line["share"].get<double>();
        executions += line["executions"].get<double>();
        EXPECT_THAT(line["at"].get<std::string>(), HasSubstr("matmul.cu:"));
    }
    for (const auto& [reason, of_places] : annotation["rest"].items())
        share += of_places.get<double>();
    EXPECT_NEAR(share, 1, 1e-9);
    // As `execute` counts: by another path.
    const ProgramRun executed =
        run_program({"execute", recorded + "matmul.cubin", "--launch", "tests/kernels/matmul.yaml",
                     "--json", path("executed.json")});
    ASSERT_EQ(executed.exit_code, 0) << executed.err;
    const auto counted = nlohmann::json::parse(
        read_text_file(path("executed.json")))["launches"][0]["warp_instructions"];
    EXPECT_NEAR(executions, counted.get<double>(), 1e-9 * counted.get<double>());
}

// The second round of `predict --memory-behaviour order=predicted` has the same launch as the
// first.
TEST_F(Annotate, PredictedOrderKeepsWhatIsSaidOfTheLaunch) {
    extract("transpose");
    for (const char* order : {"round_robin", "predicted"}) {
        const ProgramRun run =
            predict("transpose", {"--concurrent-groups", "1", "--memory-order", order, "--json"});
        ASSERT_EQ(run.exit_code, 0) << run.err;
        const std::string said =
            nlohmann::json::parse(run.out)["predictions"][0]["assumptions"].dump();
        EXPECT_THAT(said, HasSubstr("1 group at once on a core is predicted")) << order;
    }
}

TEST_F(Annotate, NamesAreTextOnThePage) {
    write_text_file(path("named.yaml"),
                    "format: occupipe-kernel/1\nname: k\ninstructions:\n"
                    "  - {id: a<b>x, op: mul.f32}\n",
                    Overwrite::no);
    const ProgramRun run = run_program(
        {"predict", path("named.yaml"), "--profile", "gtx-1060", "--page", path("page.html")});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::string page = read_text_file(path("page.html"));
    EXPECT_THAT(page, HasSubstr("a&lt;b&gt;x"));
    EXPECT_THAT(page, Not(HasSubstr("a<b>x")));
}

TEST_F(Annotate, EveryLinkOfThePageHasItsPlace) {
    extract("reduction");
    const ProgramRun run = predict("reduction", {"--page", path("page.html")});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::string page = read_text_file(path("page.html"));
    const auto all = [&](const std::regex& pattern) {
        std::set<std::string> found;
        for (std::sregex_iterator at(page.begin(), page.end(), pattern), end; at != end; ++at)
            found.insert((*at)[1]);
        return found;
    };
    const auto places = all(std::regex(" id=\"([^\"]*)\""));
    const auto links = all(std::regex("href=\"#([^\"]*)\""));
    EXPECT_GT(links.size(), 30U);
    for (const std::string& link : links) EXPECT_TRUE(places.contains(link)) << link;
    EXPECT_TRUE(places.contains("line-reduction.cu-15"));
    EXPECT_THAT(page, HasSubstr("part[t] += part[t + half];"));
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    // Never replaced unasked.
    EXPECT_EQ(predict("reduction", {"--page", path("page.html")}).exit_code, 2);
    EXPECT_EQ(predict("reduction", {"--page", path("page.html"), "--force"}).exit_code, 0);
    EXPECT_EQ(predict("reduction", {"--page", "tests/kernels/reduction.yaml", "--force"}).exit_code,
              2);
}

// What `predict` says of models and occupancies stands on the page of `report`.
TEST_F(Annotate, TheReportOfAKernelHasItAll) {
    extract("matmul");
    const std::vector<std::string> of_kernel = {recorded + "matmul.cubin",
                                                "--launch",
                                                "tests/kernels/matmul.yaml",
                                                "--profile",
                                                path("gpu.yaml"),
                                                "--source-folder",
                                                "tests/kernels"};
    std::vector<std::string> command = {"report", "-o", path("report.html")};
    command.insert(command.end(), of_kernel.begin(), of_kernel.end());
    const ProgramRun run = run_program(command);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run_program(command).exit_code, 2);  // never replaced unasked
    const std::string page = read_text_file(path("report.html"));
    for (const char* id : {"prediction", "occupancy", "what-ifs", "reasons", "source", "machine"})
        EXPECT_THAT(page, HasSubstr(fmt::format("id=\"{}\"", id)));
    EXPECT_THAT(page, AllOf(HasSubstr("FFMA R4, R29, R8, R5"), Not(HasSubstr("nan"))));
    const ProgramRun json = predict("matmul", {"--model", "all", "--sensitivity", "--json"});
    ASSERT_EQ(json.exit_code, 0) << json.err;
    const auto said = nlohmann::json::parse(json.out);
    for (const auto& one : said["predictions"])
        EXPECT_THAT(page, HasSubstr(fmt::format("{:.10g}", one["cycles"].get<double>())))
            << one["model"];
    for (const auto& one : said["sensitivity"])
        EXPECT_THAT(page, HasSubstr(fmt::format("{:.10g}", one["cycles"].get<double>())));
    const ProgramRun alone = predict("matmul", {"--concurrent-groups", "1", "--json"});
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_THAT(page,
                HasSubstr(fmt::format(
                    "{:.10g}",
                    nlohmann::json::parse(alone.out)["predictions"][0]["cycles"].get<double>())));
}

TEST_F(Annotate, StallCountsTakeTime) {
    extract("matmul");
    const auto cycles = [&](std::vector<std::string> more) {
        more.emplace_back("--json");
        const ProgramRun run = predict("matmul", more);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return nlohmann::json::parse(run.out)["predictions"][0]["cycles"].get<double>();
    };
    EXPECT_GT(cycles({"--stall-counts", "--concurrent-groups", "1"}),
              cycles({"--concurrent-groups", "1"}));
    const ProgramRun refused = predict("matmul", {"--stall-counts", "--order", "dataflow"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("matmul.cubin"), HasSubstr("in_order")));
}

TEST_F(Annotate, SaysWhatIsNotAtHand) {
    extract("matmul");
    const ProgramRun alone = run_program(
        {"predict", path("matmul.yaml"), "--profile", path("gpu.yaml"), "--annotate", "source"});
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_THAT(alone.out, AllOf(HasSubstr("the text of matmul.cu is not beside"),
                                 HasSubstr("--source-folder DIR")));
    const ProgramRun shipped =
        run_program({"predict", "saxpy", "--profile", "rtx-2070", "--annotate", "source"});
    ASSERT_EQ(shipped.exit_code, 0) << shipped.err;
    EXPECT_THAT(shipped.out, HasSubstr("No instruction of this kernel says which source line"));
    const ProgramRun refused =
        run_program({"predict", "saxpy", "--profile", "rtx-2070", "--annotate", "source",
                     "--source-folder", "tests/kernels"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(run_program({"predict", "saxpy", "--profile", "rtx-2070", "--annotate", "source",
                           "--occupancy", "all"})
                  .exit_code,
              2);
}

TEST_F(Annotate, TwoVersionsAreComparedByLine) {
    extract("reduction");
    // The last version of the text has another line in front, and one that is changed.
    const std::string before =
        read_text_file(std::string(OCCUPIPE_SOURCE_DIR) + "/tests/kernels/reduction.cu");
    write_text_file(path("reduction.cu"), before, Overwrite::yes);
    const std::vector<std::string> start = {"compare", path("reduction.yaml")};
    std::vector<std::string> same = start;
    same.insert(same.end(), {path("reduction.yaml"), "--profile", path("gpu.yaml"), "--json"});
    const ProgramRun none = run_program(same);
    ASSERT_EQ(none.exit_code, 0) << none.err;
    const auto unchanged = nlohmann::json::parse(none.out);
    const std::vector<std::string> as_page = {"compare",
                                              path("reduction.yaml"),
                                              path("reduction.yaml"),
                                              "--profile",
                                              path("gpu.yaml"),
                                              "--page",
                                              path("both.html"),
                                              "--draws",
                                              "0",
                                              "--set",
                                              "cores=2"};
    const ProgramRun on_page = run_program(as_page);
    ASSERT_EQ(on_page.exit_code, 0) << on_page.err;
    EXPECT_THAT(on_page.out, HasSubstr("cores is set to 2"));
    EXPECT_EQ(run_program(as_page).exit_code, 2);
    EXPECT_THAT(read_text_file(path("both.html")),
                AllOf(HasSubstr("part[t] += part[t + half];"), HasSubstr("cores is set to 2"),
                      Not(HasSubstr("nan"))));
    EXPECT_EQ(unchanged["cycles"]["change"], 0);
    EXPECT_EQ(unchanged["uncertainty"]["change_cycles"]["low"], 0);
    EXPECT_EQ(unchanged["uncertainty"]["change_cycles"]["high"], 0);
    EXPECT_GT(unchanged["uncertainty"]["before_cycles"]["high"],
              unchanged["uncertainty"]["before_cycles"]["low"]);

    // Half of the groups, straight from machine code; lines are matched by the text in the folder.
    const ProgramRun half = run_program({"compare",
                                         recorded + "reduction.cubin",
                                         recorded + "reduction.cubin",
                                         "--profile",
                                         path("gpu.yaml"),
                                         "--grid",
                                         "64",
                                         "--block",
                                         "256",
                                         "--shared-bytes",
                                         "1024",
                                         "--kernel",
                                         "reduce_sum",
                                         "--args",
                                         "in=f32[200000]:random(-1,1) out=f32[64] i32:200000",
                                         "--after-args",
                                         "in=f32[200000]:random(-1,1) out=f32[64] i32:100000",
                                         "--source-folder",
                                         path("."),
                                         "--json",
                                         "--draws",
                                         "20"});
    ASSERT_EQ(half.exit_code, 0) << half.err;
    const auto changed = nlohmann::json::parse(half.out);
    EXPECT_LT(changed["cycles"]["change"], 0);
    double lines = 0;
    for (const auto& line : changed["lines"]) {
        lines += line["cycles"]["change"].get<double>();
        EXPECT_NE(line["fate"], "added");
        EXPECT_NE(line["fate"], "removed");
    }
    EXPECT_NEAR(lines, changed["cycles"]["change"].get<double>(), 1e-6);
    EXPECT_THAT(changed["lines"].dump(), HasSubstr("sum += in[i]"));
}

TEST_F(Annotate, ComparingRefusesWhatDoesNotFit) {
    extract("reduction");
    const ProgramRun alone =
        run_program({"compare", path("reduction.yaml"), path("reduction.yaml")});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_THAT(alone.err, HasSubstr("--profile"));
    const ProgramRun gone = run_program(
        {"compare", path("reduction.yaml"), path("none.yaml"), "--profile", path("gpu.yaml")});
    EXPECT_EQ(gone.exit_code, 2);
    EXPECT_THAT(gone.err, HasSubstr("none.yaml"));
    const std::vector<std::string> launched = {"compare",
                                               recorded + "reduction.cubin",
                                               recorded + "reduction.cubin",
                                               "--launch",
                                               "tests/kernels/reduction.yaml",
                                               "--profile",
                                               path("gpu.yaml"),
                                               "--draws",
                                               "0"};
    std::vector<std::string> words = launched;
    words.insert(words.end(), {"--after-args", "i32:3"});
    const ProgramRun both = run_program(words);
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_THAT(both.err, HasSubstr("--after-launch"));
    // Beside a launch file, the kernel's launches have the other grid.
    words = launched;
    words.insert(words.end(), {"--after-grid", "48", "--json"});
    const ProgramRun grid = run_program(words);
    ASSERT_EQ(grid.exit_code, 0) << grid.err;
    const auto changed = nlohmann::json::parse(grid.out);
    EXPECT_EQ(changed["before"]["groups"], 64);
    EXPECT_EQ(changed["after"]["groups"], 48);
    const ProgramRun half = run_program(
        {"compare", path("reduction.yaml"), "--profile", path("gpu.yaml"), "--after-grid", "3"});
    EXPECT_EQ(half.exit_code, 2);
}

}  // namespace
}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
// --plot on every command that has it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* model = "profiles/nvidia-gtx-1060.yaml";

// What a model device measures of two instructions and a mix; made once.
std::string measured() {
    static const test::TemporaryFolder folder;
    const std::string path = (folder.path / "m.json").string();
    if (fs::exists(path)) return path;
    const ProgramRun run = run_program(
        {"measure", "--device", std::string("model:") + model + "?noise=0.01&seed=3", "--quick",
         "--instructions", "fma.f32,cos.approx.f32,mix(fma.f32*4,cos.approx.f32)", "-o", path});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return path;
}

struct Plotted {
    const char* name;
    std::vector<std::string> words;  // "MEASURED" is the file
    bool writes_output;              // -o before --plot
};

class PlotOption : public ::testing::TestWithParam<Plotted> {
protected:
    std::string file(const std::string& name) const { return (folder_ / name).string(); }

    ProgramRun run(const std::string& plot, const std::vector<std::string>& more = {},
                   const std::vector<std::string>& environment = {}) const {
        std::vector<std::string> words = GetParam().words;
        std::ranges::replace(words, "MEASURED", measured());
        if (GetParam().writes_output) words.insert(words.end(), {"-o", file("output.yaml")});
        words.insert(words.end(), {"--plot", plot});
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words, environment);
    }

    test::TemporaryFolder own_;
    const fs::path& folder_ = own_.path;
};

TEST_P(PlotOption, WritesAnImage) {
    const auto svg = run(file("a.svg"));
    ASSERT_EQ(svg.exit_code, 0) << svg.err;
    EXPECT_NE(svg.out, "") << "what the command prints without --plot";
    const std::string text = read_text_file(file("a.svg"));
    EXPECT_NE(text.find("<svg"), std::string::npos);
    EXPECT_NE(text.find("gnuplot_plot_1"), std::string::npos);

    const auto png = run(file("a.png"), {"--force"});
    ASSERT_EQ(png.exit_code, 0) << png.err;
    EXPECT_EQ(read_text_file(file("a.png")).substr(1, 3), "PNG");
}

TEST_P(PlotOption, WritesAPage) {
    const auto page = run(file("a.html"));
    ASSERT_EQ(page.exit_code, 0) << page.err;
    const std::string text = read_text_file(file("a.html"));
    EXPECT_EQ(text.rfind("<!DOCTYPE html>", 0), 0U);
    EXPECT_NE(text.find("<svg class=\"figure\""), std::string::npos);
}

TEST_P(PlotOption, RefusesAnUnknownExtensionBeforeAnyWork) {
    for (const char* name : {"a.pdf", "a", "a.svgz"}) {
        const auto bad = run(file(name));
        EXPECT_EQ(bad.exit_code, 2) << bad.err;
        EXPECT_EQ(bad.out, "");
        EXPECT_EQ(std::ranges::count(bad.err, '\n'), 1) << bad.err;
        EXPECT_NE(bad.err.find(".svg"), std::string::npos) << bad.err;
    }
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_P(PlotOption, ReplacesAFileOnlyWhenForced) {
    write_text_file(file("a.svg"), "mine", Overwrite::no);
    const auto bad = run(file("a.svg"));
    EXPECT_EQ(bad.exit_code, 2) << bad.err;
    EXPECT_EQ(bad.out, "");
    EXPECT_EQ(read_text_file(file("a.svg")), "mine");
    EXPECT_FALSE(fs::exists(file("output.yaml")));
    EXPECT_EQ(run(file("a.svg"), {"--force"}).exit_code, 0);
    EXPECT_NE(read_text_file(file("a.svg")), "mine");
}

TEST_P(PlotOption, NamesThePackageWhenGnuplotIsMissingAndLosesNothing) {
    const auto bad = run(file("a.svg"), {}, {"PATH=/nonexistent"});
    EXPECT_EQ(bad.exit_code, 1) << bad.err;
    EXPECT_NE(bad.err.find("gnuplot-nox"), std::string::npos) << bad.err;
    EXPECT_NE(bad.out, "");
    EXPECT_FALSE(fs::exists(file("a.svg")));
    EXPECT_EQ(fs::exists(file("output.yaml")), GetParam().writes_output);
}

std::vector<Plotted> commands() {
    std::vector<Plotted> all;
#if OCCUPIPE_FIT
    all.push_back({"fit", {"fit", "MEASURED"}, true});
#endif
    all.push_back({"predict",
                   {"predict", "sim/kernels/example.yaml", "--profile",
                    "sim/kernels/example_gpu.yaml", "--model", "all", "--occupancy", "1-10"},
                   false});
    all.push_back({"compare",
                   {"compare", "MEASURED", "--profile", model, "--model", "roofline,pipeline"},
                   false});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Commands, PlotOption, ::testing::ValuesIn(commands()),
                         [](const auto& instance) { return std::string(instance.param.name); });

// The papers' mixes: a panel over β and one over occupancy, in the image and in the report.
TEST(ComparePlot, DrawsMixesBesideTheSimulationAndTheLaws) {
    const test::TemporaryFolder folder;
    const auto file = [&](const std::string& name) { return (folder.path / name).string(); };
    fs::create_directory(folder.path / "run");
    const auto run = run_program({"compare", "--device", std::string("model:") + model, "--profile",
                                  model, "--quick", "--model", "roofline,pipeline", "-o",
                                  file("run/k.json"), "--plot", file("k.svg")});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto report = run_program({"report", file("run"), "-o", file("run.html")});
    ASSERT_EQ(report.exit_code, 0) << report.err;
    for (const std::string& text :
         {read_text_file(file("k.svg")), read_text_file(file("run.html"))})
        for (const char* said :
             {"mul.f32 with cos.approx.f32, 64 in flight",
              "mul.f32 with cos.approx.f32, β = ", "simulated, MAPE ", "one subsystem (43), MAPE ",
              "two subsystems (44), MAPE ", "two with issue limit (45), MAPE "})
            EXPECT_NE(text.find(said), std::string::npos) << said;
}

TEST(PredictPlot, NeedsSeveralOccupancies) {
    const auto bad = run_program({"predict", "sim/kernels/example.yaml", "--profile",
                                  "sim/kernels/example_gpu.yaml", "--plot", "/tmp/never.svg"});
    EXPECT_EQ(bad.exit_code, 2) << bad.err;
    EXPECT_NE(bad.err.find("--occupancy"), std::string::npos) << bad.err;
    EXPECT_EQ(bad.out, "");
}

// Curves that lie on each other share a line and have a row of the legend each: names joined to one
// row were wider than the picture, and gnuplot then leaves the whole legend out.
TEST(PredictPlot, TheLegendNamesEveryModel) {
    const test::TemporaryFolder folder;
    const std::string picture = (folder.path / "all.svg").string();
    const auto run = run_program({"predict", "mix", "--profile", "rtx-2070", "--model", "all",
                                  "--occupancy", "1-4", "--csv", "--plot", picture});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::string text = read_text_file(picture);
    for (const std::string name : {"roofline", "volkov", "x-model", "mwp-cwp-hong-kim", "wfg",
                                   "gpumech-rr-corrected", "mdm-divergent", "pipeline"})
        EXPECT_NE(text.find(">" + name + "<"), std::string::npos) << name;
}

// The drawn pictures of README and manual are there, small, and what their script says it draws.
TEST(ReadmePictures, AreThoseOfTheirScript) {
    const fs::path root = OCCUPIPE_SOURCE_DIR;
    const std::string script = read_text_file(root / "tools/readme_pictures.sh");
    const std::map<std::string, std::string> pages = {
        {"docs/pictures/hulls.svg", "README.md"},
        {"docs/pictures/models.svg", "docs/background/analytical-models.md"}};
    for (const auto& [picture, page] : pages) {
        const std::string name = picture.substr(picture.find("pictures/"));
        EXPECT_NE(read_text_file(root / page).find(name + ")"), std::string::npos) << picture;
        EXPECT_NE(script.find(picture), std::string::npos) << picture;
        const std::string svg = read_text_file(root / picture);
        EXPECT_LT(svg.size(), 150'000U);
        EXPECT_NE(svg.find("gnuplot_plot_1"), std::string::npos);
        EXPECT_EQ(svg.find("<script"), std::string::npos);
    }
    for (const char* input : {"results/cpu-amd-zen4-pocl/2026-11-21.json",
                              "sim/kernels/example.yaml", "sim/kernels/example_gpu.yaml"}) {
        EXPECT_NE(script.find(input), std::string::npos) << input;
        EXPECT_EQ(run_program({"check", input}).exit_code, 0) << input;
    }
}

#if OCCUPIPE_FIT
TEST(FitPlot, DrawsTheInstructionsNamed) {
    const test::TemporaryFolder own;
    const fs::path& folder = own.path;
    const auto fit = [&](const std::string& only) {
        return run_program({"fit", "results/cpu-amd-zen4-pocl/2026-11-21.json", "-o",
                            (folder / "p.yaml").string(), "--plot", (folder / "p.svg").string(),
                            "--plot-only", only, "--force"});
    };
    const auto two = fit("fma.f32,div.f32");
    EXPECT_EQ(two.exit_code, 0) << two.err;
    const std::string svg = read_text_file(folder / "p.svg");
    EXPECT_NE(svg.find("<text>fma.f32</text>"), std::string::npos);
    EXPECT_NE(svg.find("<text>div.f32</text>"), std::string::npos);
    EXPECT_EQ(svg.find("<text>add.f32</text>"), std::string::npos);
    const auto unknown = fit("fma.f23");
    EXPECT_EQ(unknown.exit_code, 2) << unknown.err;
    EXPECT_NE(unknown.err.find("fma.f23"), std::string::npos) << unknown.err;
    fs::remove_all(folder);
}
#endif

}  // namespace
}  // namespace occupipe::cli::testing

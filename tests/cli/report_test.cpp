// SPDX-License-Identifier: MIT
// `report`: one page from a folder, looked at with a headless browser.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* shipped = "results/cpu-amd-zen4-pocl";
const std::vector<std::string> sections = {"device", "timings",  "occupancy",
                                           "mixes",  "models",   "rooflines",
                                           "memory", "accuracy", "instructions"};

class Report : public ::testing::Test {
protected:
    std::string file(const std::string& name) const { return (folder_ / name).string(); }

    // The page of a folder of measurements, or of a simulated GPU's that is made first; made once
    // for all tests.
    std::string page(const std::string& of) {
        static std::map<std::string, std::string> made;
        if (!made.contains(of)) made[of] = make_page(of);
        write_text_file(file("page.html"), made[of], Overwrite::yes);
        return made[of];
    }

    std::string make_page(const std::string& of) {
        std::string folder = of;
        if (of.starts_with("model:")) {
            folder = file("model");
            const auto made =
                run_program({"characterize", "--device", of, "--quick", "-o", folder});
            EXPECT_EQ(made.exit_code, 0) << made.err;
        }
        const auto run =
            run_program({"report", folder, "-o", file("page.html"), "--beside",
                         "profiles/nvidia-gtx-1060.yaml", "profiles/amd-r9-380.yaml", "--force"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return read_text_file(file("page.html"));
    }

    test::TemporaryFolder own_;
    const fs::path& folder_ = own_.path;
};

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

void expect_complete_and_self_contained(const std::string& page) {
    for (const std::string& section : sections)
        EXPECT_EQ(count(page, "<section id=\"" + section + "\">"), 1U) << section;
    for (const char* network : {"http:", "https:", "url(", "@import", " src=", "<link"})
        EXPECT_EQ(count(page, network), 0U) << network;
    EXPECT_LT(page.size(), 5'000'000U);
    EXPECT_EQ(count(page, "\x01"), 0U) << "a figure was not put in its place";
    EXPECT_EQ(count(page, "data-value=\"nan\"") + count(page, "data-value=\"inf\""), 0U);
    EXPECT_GE(count(page, "<svg class=\"figure\""), 10U);
}

TEST_F(Report, ShowsTheShippedResultsOfACpu) {
    const std::string text = page(shipped);
    expect_complete_and_self_contained(text);
    EXPECT_EQ(count(text, "class=\"warning\""), 0U) << "measured, not simulated";
    EXPECT_NE(text.find("This is a CPU seen through OpenCL"), std::string::npos);
    EXPECT_NE(text.find("No curve over warps: a core of this device holds one warp."),
              std::string::npos);
    // Nothing waited for the loads of a stream: no Λ. Chains without a bow bound it from above.
    EXPECT_GE(count(text, ">unknown<"), 1U);
    EXPECT_GE(count(text, ">≤ "), 1U);
    // Every instruction of the shipped profile has its row and its curve.
    for (const InstructionTiming& timing :
         read_profile(std::string(OCCUPIPE_SOURCE_DIR "/") + shipped + "/profile.yaml")
             .instructions) {
        EXPECT_EQ(count(text, "<a href=\"#i-" + timing.name + "\">"), 1U) << timing.name;
        EXPECT_EQ(count(text, " id=\"i-" + timing.name + "\">"), 1U) << timing.name;
    }
}

// Kernel parameters in the folder are predicted, in a table and in pictures of their own.
TEST_F(Report, PredictsTheCountedKernelsOfTheFolder) {
    fs::create_directories(folder_ / "mine");
    fs::copy_file(fs::path(OCCUPIPE_SOURCE_DIR) / shipped / "2026-11-21-quick.json",
                  folder_ / "mine" / "m.json");
    const std::string kernel =
        "format: occupipe-kernel-parameters/1\nkernels:\n"
        "  - {kernel: saxpy of mine, fp32_fma: 1e6, fp64_fma: 0, fp32: 1e6, fp64: 0, integer: 0, "
        "load_store: 0, warp_instructions: 31250, dram_read_sectors: 1e6, "
        "dram_write_sectors: 0}\n";
    write_text_file(file("mine/kernels.yaml"), kernel, Overwrite::no);
    const auto run = run_program({"report", file("mine"), "-o", file("page.html")});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::string text = read_text_file(file("page.html"));
    EXPECT_EQ(count(text, "<h3>Counted kernels</h3>"), 1U);
    EXPECT_EQ(count(text, "<td>saxpy of mine</td>"), 1U);
    EXPECT_EQ(count(text, "no kernel parameters"), 0U);
    EXPECT_EQ(count(text, "not the peak of its vector units"), 1U);
    write_text_file(file("mine/kernels.yaml"),
                    "format: occupipe-kernel-parameters/1\nkernels:\n  - {kernel: k}\n",
                    Overwrite::yes);
    const auto refused = run_program({"report", file("mine"), "-o", file("page.html"), "--force"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("kernels.yaml"), std::string::npos) << refused.err;
}

TEST_F(Report, LabelsAModelDevice) {
    const std::string text = page("model:profiles/nvidia-gtx-1060.yaml?noise=0.02&seed=7");
    expect_complete_and_self_contained(text);
    EXPECT_EQ(count(text, "class=\"warning\""), 1U);
    EXPECT_NE(text.find("These are the times of a model device"), std::string::npos);
    EXPECT_NE(text.find("AMD Radeon R9 380"), std::string::npos) << "of --beside";
}

TEST_F(Report, ReplacesAFileOnlyWhenForced) {
    write_text_file(file("page.html"), "mine", Overwrite::no);
    const auto bad = run_program({"report", shipped, "-o", file("page.html")});
    EXPECT_EQ(bad.exit_code, 2) << bad.err;
    EXPECT_EQ(read_text_file(file("page.html")), "mine");
}

TEST_F(Report, RefusesAFolderWithoutMeasurements) {
    for (const char* folder : {"profiles", "docs", "/nonexistent/folder", "README.md"}) {
        const auto bad = run_program({"report", folder, "-o", file("never.html")});
        EXPECT_EQ(bad.exit_code, 2) << bad.err;
        EXPECT_EQ(count(bad.err, "\n"), 1U) << bad.err;
        EXPECT_NE(bad.err.find(folder), std::string::npos) << bad.err;
        EXPECT_FALSE(fs::exists(file("never.html")));
    }
}

// What `measure --match` measures is no instruction, of which the page is.
TEST_F(Report, RefusesMeasurementsOfNoInstruction) {
    fs::create_directory(file("match"));
    write_text_file(file("match/cpu.json"),
                    R"({"context": {"backend": "cpu", "cores": "2", "device": "cpu",
"device_name": "CPU", "device_type": "cpu", "device_vendor": "none", "match_threads": "2",
"match_caches": "L1:32768x2 L2:524288x2", "match_line_bytes": "64", "occupipe_version": "1.0.0",
"warp_size": "1"}, "benchmarks": [{"name": "match.barrier/threads:2", "run_type": "iteration",
"repetitions": 1, "repetition_index": 0, "threads": 1, "iterations": 1, "real_time": 13835746,
"cpu_time": 13835746, "time_unit": "ns", "barriers": 7720, "chains": 1, "depth": 7720,
"clock_hz": 3e9, "concurrent_groups": 1, "group_warps": 1, "cpu_share": 1, "target_met": 1}]})",
                    Overwrite::yes);
    const auto bad = run_program({"report", file("match"), "-o", file("never.html")});
    EXPECT_EQ(bad.exit_code, 2) << bad.err;
    EXPECT_NE(bad.err.find(file("match") + ": contains measurements, but of no instruction"),
              std::string::npos)
        << bad.err;
}

TEST_F(Report, NamesThePackageWhenGnuplotIsMissing) {
    const auto bad =
        run_program({"report", shipped, "-o", file("never.html")}, {"PATH=/nonexistent"});
    EXPECT_EQ(bad.exit_code, 1) << bad.err;
    EXPECT_NE(bad.err.find("gnuplot-nox"), std::string::npos) << bad.err;
    EXPECT_FALSE(fs::exists(file("never.html")));
}

// --- in a browser

class ReportInABrowser : public Report {
protected:
    void SetUp() override {
        if (std::system("command -v chromium > /dev/null 2>&1") != 0)
            GTEST_SKIP() << "needs chromium: apt-get install chromium";
    }

    // What chromium prints with these flags; its messages go to messages.txt. The folder's name is
    // mkdtemp's, so it needs no quoting.
    std::string browse(const std::string& flags) {
        const std::string command =
            "chromium --headless --no-sandbox --disable-gpu "
            "--user-data-dir=" +
            file("browser") + " --enable-logging=stderr --v=0 " + flags + " file://" +
            file("page.html") + " > " + file("out") + " 2> " + file("messages.txt");
        EXPECT_EQ(std::system(command.c_str()), 0) << read_text_file(file("messages.txt"));
        const std::string messages = read_text_file(file("messages.txt"));
        EXPECT_EQ(count(messages, "CONSOLE"), 0U) << messages;
        return read_text_file(file("out"));
    }

    void expect_rendered(const std::string& page_text) {
        const std::string dom = browse("--dump-dom");
        const std::string figures = std::to_string(count(page_text, "<svg class=\"figure\""));
        EXPECT_NE(dom.find("data-figures=\"" + figures + "\""), std::string::npos)
            << dom.substr(0, 300);
        EXPECT_NE(dom.find("data-empty-figures=\"0\""), std::string::npos) << dom.substr(0, 300);
    }
};

TEST_F(ReportInABrowser, ShowsEveryFigureOfTheShippedResults) { expect_rendered(page(shipped)); }

TEST_F(ReportInABrowser, ShowsEveryFigureOfAModelDevice) {
    expect_rendered(page("model:profiles/nvidia-gtx-1060.yaml?noise=0.02&seed=7"));
}

TEST_F(ReportInABrowser, SeesAFigureWithoutMarks) {
    std::string text = page(shipped);
    // The first figure's marks gone: the page's own check has to notice.
    const std::size_t begin = text.find("<g class=\"marks\"");
    const std::size_t end = text.find("</svg>", begin);
    ASSERT_NE(begin, std::string::npos);
    text.replace(begin, end - begin, "");
    write_text_file(file("page.html"), text, Overwrite::yes);
    EXPECT_NE(browse("--dump-dom").find("data-empty-figures=\"1\""), std::string::npos);
}

// The browser's screenshots are compared with each other only: fonts differ between systems.
TEST_F(ReportInABrowser, IsDarkWhereDarkIsPreferred) {
    page(shipped);
    const std::string size = " --window-size=600,400 --hide-scrollbars ";
    browse("--screenshot=" + file("light.png") + size);
    browse("--blink-settings=preferredColorScheme=0 --screenshot=" + file("dark.png") + size);
    EXPECT_NE(read_text_file(file("light.png")), read_text_file(file("dark.png")));
}

TEST_F(ReportInABrowser, Prints) {
    page(shipped);
    browse("--no-pdf-header-footer --print-to-pdf=" + file("page.pdf"));
    EXPECT_EQ(read_text_file(file("page.pdf")).substr(0, 5), "%PDF-");
    EXPECT_GT(fs::file_size(file("page.pdf")), 50'000U);
}

// Sorts the table of timings by λ as a click does, then tells the order by the page's title.
TEST_F(ReportInABrowser, SortsNumbersByValue) {
    std::string text = page(shipped);
    const std::string script =
        "<script>document.querySelectorAll('#timings th')[2].click();"
        "const values = [...document.querySelectorAll('#timings tbody tr')]"
        ".map(row => Number(row.children[2].dataset.value));"
        "document.documentElement.dataset.sorted ="
        "values.every((value, i) => i === 0 || values[i - 1] <= value) + ' ' + values.length;"
        "</script></body>";
    text.replace(text.rfind("</body>"), 7, script);
    write_text_file(file("page.html"), text, Overwrite::yes);
    const std::string dom = browse("--dump-dom");
    const std::string expected = "data-sorted=\"true ";
    const std::size_t at = dom.find(expected);
    ASSERT_NE(at, std::string::npos);
    EXPECT_GT(std::stoi(dom.substr(at + expected.size())), 20);
}

}  // namespace
}  // namespace occupipe::cli::testing

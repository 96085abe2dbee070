// SPDX-License-Identifier: MIT
// Every bad command line gets one clear line on stderr, exit code 2, and leaves no file behind.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

struct BadCommand {
    const char* name;
    const char* words;     // separated by blanks
    const char* mentions;  // what the message must name
};

class BadCommandLine : public ::testing::TestWithParam<BadCommand> {};

constexpr const char* model = "model:profiles/nvidia-gtx-1060.yaml";

std::vector<std::string> split(const char* words) {
    std::istringstream stream(words);
    std::vector<std::string> parts;
    for (std::string word; stream >> word;)
        parts.push_back(word.starts_with("MODEL") ? model + word.substr(5) : word);
    return parts;
}

TEST_P(BadCommandLine, GetsOneLineAndExitCodeTwo) {
    const auto run = run_program(split(GetParam().words));
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_NE(run.err.find(GetParam().mentions), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Words, BadCommandLine,
    ::testing::Values(
        BadCommand{"UnknownCommand", "meassure", "near: measure"},
        BadCommand{"UnknownFlag", "list devices --jsn", "--jsn"},
        BadCommand{"ListWithoutWhat", "list", "devices, instructions"},
        BadCommand{"ListUnknownThing", "list kernle", "kernle"},
        BadCommand{"ListProfilesNoFolder", "list profiles --folder /nonexistent/x",
                   "/nonexistent/x"},
        BadCommand{"MeasureWithoutOutput", "measure --device MODEL", "--output"},
        BadCommand{"MeasureUnknownDevice", "measure --device gpu0 -o /tmp/never.json", "gpu0"},
        BadCommand{"MeasureHalfADevice", "measure --device opencl:0 -o /tmp/never.json",
                   "opencl:0"},
        BadCommand{"MeasureMissingModel", "measure --device model:none.yaml -o /tmp/never.json",
                   "none.yaml"},
        BadCommand{"MeasureBadNoise", "measure --device MODEL?noise=lots -o /tmp/never.json",
                   "noise"},
        BadCommand{"MeasureNoiseTwice",
                   "measure --device MODEL?noise=0.01&noise=0.02 -o /tmp/never.json",
                   "noise: is given twice"},
        BadCommand{"MeasureNegativeNoise", "measure --device MODEL?noise=-1 -o /tmp/never.json",
                   "noise"},
        BadCommand{"MeasureUnknownModelOption", "measure --device MODEL?nois=1 -o /tmp/never.json",
                   "nois"},
        BadCommand{"MeasureUnknownInstruction",
                   "measure --device MODEL --instructions fma.f23 -o /tmp/never.json", "fma.f23"},
        BadCommand{"MeasureUnknownBenchmarkFlag",
                   "measure --device MODEL -o /tmp/never.json -- --benchmark_nonsense",
                   "--benchmark_nonsense"},
        BadCommand{"MeasureOntoExisting", "measure --device MODEL -o README.md", "README.md"},
        BadCommand{"FitNothing", "fit -o /tmp/never.yaml", "results"},
        BadCommand{"FitMissingFile", "fit /nonexistent/m.json -o /tmp/never.yaml",
                   "/nonexistent/m.json"},
        BadCommand{"FitNotAMeasurement", "fit README.md -o /tmp/never.yaml", "README.md"},
        BadCommand{"FitOverheadNan", "fit README.md -o /tmp/never.yaml --given overhead=nan",
                   "--given overhead: 'nan'"},
        BadCommand{"FitOverheadInfinite", "fit README.md -o /tmp/never.yaml --given overhead=inf",
                   "--given overhead: 'inf'"},
        BadCommand{"DiffSigmaNan", "compare gtx-1060 rtx-2070 --tolerance sigma=nan",
                   "--tolerance sigma: 'nan'"},
        BadCommand{"DiffRelativeNan", "compare gtx-1060 rtx-2070 --tolerance relative=nan",
                   "--tolerance relative: 'nan'"},
        BadCommand{"MeasureBudgetNan", "measure --device MODEL --dry-run --limit budget=nan",
                   "--limit budget: 'nan'"},
        BadCommand{"MeasureHangLimitNan", "measure --device MODEL --dry-run --limit hang=nan",
                   "--limit hang: 'nan'"},
        BadCommand{"MeasureClockNan",
                   "measure --device cuda --arch sm_75 --dry-run --given clock_hz=nan",
                   "--given clock_hz: 'nan'"},
        BadCommand{"MeasureNoiseNan", "measure --device MODEL?noise=nan --dry-run", "noise"},
        BadCommand{"MeasureNoInstruction", "measure --device MODEL --dry-run --instructions ,",
                   "--instructions: ','"},
        BadCommand{"PredictWindowNan",
                   "predict saxpy --profile rtx-2070 --timeline --first-cycles window=nan",
                   "--first-cycles window: 'nan'"},
        BadCommand{"PredictHitLatencyNan",
                   "predict saxpy --profile rtx-2070 --memory-behaviour hit_latency=nan",
                   "--memory-behaviour hit_latency: 'nan'"},
        BadCommand{"PredictUnusedHitRate",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--model pipeline,volkov --memory-behaviour hit_rate=0.5 "
                   "--memory-behaviour hit_latency=2",
                   "hit_rate and hit_latency are for x-model and gpuperf"},
        BadCommand{"PredictHitRateNan",
                   "predict saxpy --profile rtx-2070 --memory-behaviour hit_rate=nan",
                   "--memory-behaviour hit_rate: 'nan'"},
        BadCommand{"PredictGraphWithASample", "predict saxpy --profile rtx-2070 --sample 4",
                   "--args and --sample go with CUDA"},
        BadCommand{"PredictCachesForNothing", "predict saxpy --profile rtx-2070 --cache l1=1000",
                   "--cache: the kernel does not say"},
        BadCommand{"PredictGraphWithAClang",
                   "predict saxpy --profile rtx-2070 --compiler clang=clang-19", "--compiler"},
        BadCommand{"MeasureALaunchForNothing", "measure --device MODEL --dry-run --grid 4",
                   "'--for KERNEL'"},
        BadCommand{"CompareGraphsWithALaunch", "compare saxpy mix --profile rtx-2070 --grid 4",
                   "go with CUDA"},
        BadCommand{"CompareGraphsWithALaterLaunch",
                   "compare saxpy mix --profile rtx-2070 --after grid=4", "--after-grid"},
        BadCommand{"CompareKernelsByModels",
                   "compare saxpy mix --profile rtx-2070 --model roofline", "--model"},
        BadCommand{"RooflineSweepAsCsv", "predict --counts --intensity m.json --csv",
                   "--intensity"},
        BadCommand{"RooflineDifferenceAsJson", "predict --counts a.yaml b.yaml --difference --json",
                   "--difference"},
        BadCommand{"RooflineCommandOfASource", "predict --counts a.yaml --profiler-command ncu=app",
                   "no SOURCE"},
        BadCommand{"CharacterizeWithoutFolder", "characterize --device MODEL", "--output"},
        BadCommand{"TableNothing", "table", "profiles"},
        BadCommand{"TableUnknownFormat", "table profiles/nvidia-gtx-1060.yaml --format xml", "xml"},
        BadCommand{"TableMissingProfile", "table nowhere.yaml", "nowhere.yaml"},
        BadCommand{"PredictWithoutProfile", "predict sim/kernels/example.yaml", "--profile"},
        BadCommand{"PredictMissingKernel",
                   "predict nowhere.yaml --profile profiles/nvidia-gtx-1060.yaml", "nowhere.yaml"},
        BadCommand{"PredictUnknownModel",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--model rooflin",
                   "rooflin"},
        BadCommand{
            "PredictUnknownPolicy",
            "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --policy fifo",
            "fifo"},
        BadCommand{"PredictUnknownOrder",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--order random",
                   "random"},
        BadCommand{"PredictBadOccupancy",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--occupancy 0-3",
                   "0"},
        BadCommand{"PredictBackwardOccupancy",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--occupancy 9-3",
                   "9-3"},
        BadCommand{
            "PredictZeroGroups",
            "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --groups 0",
            "groups"},
        BadCommand{"PredictBadSet",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --set "
                   "nonsense",
                   "nonsense"},
        BadCommand{"PredictSetUnknownOp",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --set "
                   "no.op.cpi=2",
                   "no.op"},
        BadCommand{"PredictSetNegative",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --set "
                   "fma.f32.cpi=-2",
                   "-2"},
        BadCommand{"CompareWithoutProfile",
                   "compare results/cpu-amd-zen4-pocl/2026-11-21-quick.json", "--profile"},
        BadCommand{"CompareMissingFile",
                   "compare /nonexistent/m.json --profile profiles/nvidia-gtx-1060.yaml",
                   "/nonexistent/m.json"},
        BadCommand{"ReportWithoutOutput", "report results/cpu-amd-zen4-pocl", "--output"},
        BadCommand{"ReportNoFolder", "report /nonexistent/x -o /tmp/never.html", "/nonexistent/x"},
        BadCommand{"CheckNothing", "check", "files"},
        BadCommand{"CheckMissing", "check /nonexistent/x.yaml", "/nonexistent/x.yaml"},
        BadCommand{"CheckFolder", "check profiles", "profiles"},
        BadCommand{"CheckForeignFile", "check CMakeLists.txt", "CMakeLists.txt"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(BadCommand, AnEmptyListOfInstructionsIsNotAll) {
    for (const char* command : {"measure", "characterize"}) {
        const auto run = run_program(
            {command, "--device", model, "-o", "/tmp/occupipe-never", "--instructions", ""});
        EXPECT_EQ(run.exit_code, 2) << command;
        EXPECT_NE(run.err.find("--instructions"), std::string::npos) << run.err;
        EXPECT_FALSE(std::filesystem::exists("/tmp/occupipe-never"));
    }
}

// Each overwrote a file that it read, or wrote two results into one file, with exit code 0.
class Outputs : public ::testing::Test {
protected:
    void SetUp() override {
        std::filesystem::create_directory(folder.path / "sub");
        for (const auto& [name, source] :
             {std::pair("g.json", "results/cpu-amd-zen4-pocl/2026-11-21-quick.json"),
              std::pair("p.yaml", "profiles/nvidia-gtx-1060.yaml"),
              std::pair("k.yaml", "sim/kernels/saxpy.yaml")})
            std::filesystem::copy_file(std::filesystem::path(OCCUPIPE_SOURCE_DIR) / source,
                                       folder.path / name);
        std::filesystem::create_symlink("g.json", folder.path / "link.json");
        std::filesystem::create_hard_link(folder.path / "p.yaml", folder.path / "hard.yaml");
    }
    // `words`: those with a dot, alone or after "model:", are files of the folder.
    std::vector<std::string> command(const char* words) const {
        std::vector<std::string> parts;
        std::istringstream stream(words);
        const std::string root = folder.path.string() + "/";
        for (std::string word; stream >> word;) {
            const std::string prefix = word.starts_with("model:") ? "model:" : "";
            const bool file = word.find('.') != word.npos || word == "DIR";
            parts.push_back(!file           ? word
                            : word == "DIR" ? root
                                            : prefix + root + word.substr(prefix.size()));
        }
        return parts;
    }
    test::TemporaryFolder folder;
};

TEST_F(Outputs, ReplaceNoInputAndNoOtherOutput) {
    const std::string measurements = read_text_file(folder.path / "g.json");
    const std::string profile = read_text_file(folder.path / "p.yaml");
    std::filesystem::copy_file(folder.path / "p.yaml", folder.path / "sub" / "context.json");
    for (const char* words : {
             "merge p.yaml k.yaml -o p.yaml --force", "merge p.yaml k.yaml -o hard.yaml --force",
                 "predict k.yaml --profile p.yaml --svg p.yaml --force",
                 "predict k.yaml --profile p.yaml --trace k.yaml --force",
                 "predict k.yaml --profile p.yaml --svg a.svg --plot ./a.svg --occupancy all",
                 "measure --device model:p.yaml -o p.yaml --force",
                 "measure --finish g.json.partial -o g.json.partial --force",
                 "measure --finish g.json -o ./g.json.partial --force",
                 "measure --import g.json -o sub/../g.json --force",
                 "compare g.json --profile p.yaml --against g.json --plot g.json --force",
                 "compare --device model:p.yaml --profile p.yaml -o p.yaml --force",
                 "selfcheck p.yaml g.json -o g.json --force",
                 "selfcheck p.yaml -o hard.yaml --force",
                 "smoke --device model:p.yaml -o p.yaml --force",
                 // Folders that get files under names not known yet.
                 "smoke --device model:p.yaml --receipts ./sub -o sub/a.txt --force",
                 "measure --device model:p.yaml --receipts sub/. -o ./sub/a.txt --force",
                 "measure --device model:p.yaml --kernels ./sub --receipts sub/. -o new.yaml",
                 "measure --device model:sub/context.json --dump ./sub --force",
                 "measure --device cuda --arch sm_75 --dump ./sub --receipts ./sub/kernels",
#if OCCUPIPE_FIT
                 "fit g.json -o g.json --force", "fit g.json -o ./g.json --force",
                 "fit g.json -o sub/../g.json --force", "fit g.json -o link.json --force",
                 "fit link.json -o g.json --force",
                 "fit g.json -o new.yaml --report g.json --force",
                 "fit g.json -o x.yaml --report ./x.yaml --force", "report DIR -o g.json --force",
                 "report DIR -o x.html --beside x.html --force"
#endif
         }) {
        const auto run = run_program(command(words));
        EXPECT_EQ(run.exit_code, 2) << words << "\n" << run.err;
        EXPECT_NE(run.err.find("choose another name"), std::string::npos) << words << run.err;
        EXPECT_EQ(read_text_file(folder.path / "g.json"), measurements) << words;
        EXPECT_EQ(read_text_file(folder.path / "p.yaml"), profile) << words;
        for (const char* name : {"new.yaml", "x.yaml", "a.svg"})
            EXPECT_FALSE(std::filesystem::exists(folder.path / name)) << words;
    }
}

#if OCCUPIPE_FIT
TEST_F(Outputs, OfCharacterizeDoNotReplaceTheSimulatedDevice) {
    std::filesystem::rename(folder.path / "p.yaml", folder.path / "sub" / "profile.yaml");
    const std::string device = (folder.path / "sub" / "profile.yaml").string();
    const auto run = run_program({"characterize", "--quick", "--device", "model:" + device, "-o",
                                  (folder.path / "sub").string(), "--force"});
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find("choose another name"), std::string::npos) << run.err;
}
#endif

TEST_F(Outputs, OfAFilterThatMatchesNothingAreNotWritten) {
    const std::string before = read_text_file(folder.path / "g.json");
    auto words = command("measure --device model:p.yaml --quick -o g.json --force");
    words.insert(words.end(), {"--instructions", "fma.f32", "--", "--benchmark_filter=zzz"});
    const auto run = run_program(words);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find("--benchmark_filter=zzz"), std::string::npos) << run.err;
    EXPECT_EQ(read_text_file(folder.path / "g.json"), before);
    EXPECT_FALSE(std::filesystem::exists(folder.path / "g.json.partial"));
}

// What the command says on stderr, run by a shell, and its exit code.
std::pair<int, std::string> by_shell(const std::string& words) {
    FILE* pipe = popen(
        ("exec 3>&1; cd " OCCUPIPE_SOURCE_DIR " && " OCCUPIPE_PROGRAM " " + words).c_str(), "r");
    std::string text;
    for (int c = 0; (c = fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    return {WEXITSTATUS(pclose(pipe)), text};
}

TEST(Stdout, ThatCannotBeWrittenIsAFailure) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    for (const char* words : {"table rtx-2070", "list instructions", "--help", "list models",
                              "check profiles/nvidia-gtx-1060.yaml",
                              "predict saxpy --profile rtx-2070 --model all --occupancy 1-32"}) {
        const auto [code, said] = by_shell(std::string(words) + " 2>&1 >/dev/full");
        EXPECT_EQ(code, 1) << words << said;
        EXPECT_NE(said.find("No space left on device"), std::string::npos) << words << said;
        EXPECT_EQ(by_shell(std::string(words) + " 2>&1 >&-").first, 1) << words;
    }
    // A reader that has seen enough is no failure to speak of.
    EXPECT_EQ(by_shell("list instructions 2>&3 | head -1 >/dev/null").second, "");
}

TEST(NothingToRunOn, IsExitCodeThreeWithAHint) {
    const std::vector<std::string> no_device = {"OCL_ICD_VENDORS=/nonexistent",
                                                "CUDA_VISIBLE_DEVICES="};
    for (const char* words : {"measure -o /tmp/never.json", "list devices",
                              "measure --device opencl:0.0 -o /tmp/never.json"}) {
        const auto run = run_program(split(words), no_device);
        EXPECT_EQ(run.exit_code, 3) << words << run.err;
        EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    }
}

// The commands that `occupipe --help` lists, with what it says of each.
std::vector<std::pair<std::string, std::string>> commands() {
    std::istringstream help(run_program({"--help"}).out);
    std::vector<std::pair<std::string, std::string>> found;
    bool listed = false;
    for (std::string line; std::getline(help, line);) {
        if (line.empty() && !found.empty()) break;
        if (listed && line.starts_with("  ") && line[2] != ' ') {
            const std::size_t end = line.find(' ', 2);
            found.emplace_back(line.substr(2, end - 2),
                               line.substr(line.find_first_not_of(' ', end)));
        }
        listed = listed || line == "Subcommands:";
    }
    return found;
}

TEST(Help, IsThereForEveryCommandAndNoError) {
    ASSERT_EQ(commands().size(), 17U);
    for (const auto& [command, what] : commands()) {
        const auto run = run_program({command, "--help"});
        EXPECT_EQ(run.exit_code, 0) << command << run.err;
        EXPECT_NE(run.out.find("Exit codes: 0 ok"), std::string::npos) << command << run.out;
        EXPECT_NE(run.out.find("\n  occupipe "), std::string::npos) << "no example: " << run.out;
        EXPECT_EQ(run.err, "") << command;
    }
}

TEST(Help, IsWhatTheManualPageSays) {
    std::ifstream file(std::string(OCCUPIPE_SOURCE_DIR) + "/packaging/occupipe.1");
    std::string page(std::istreambuf_iterator<char>(file), {});
    std::string entries;
    for (const auto& [command, what] : commands()) {
        // The page is ASCII: λ and Λ have words there.
        const auto ascii = std::ranges::find_if(what, [](unsigned char c) { return c > 127; });
        const std::string begins(what.begin(), std::min(ascii, what.begin() + 10));
        EXPECT_NE(page.find(".TP\n.B " + command + "\n" + begins), std::string::npos)
            << command << ": " << what;
        entries += command + ' ';
    }
    const std::string sections = page.substr(page.find(".SH SUBCOMMANDS"));
    const std::string listed = sections.substr(0, sections.find(".SH EXIT STATUS"));
    std::size_t count = 0;
    for (std::size_t at = 0; (at = listed.find(".TP\n", at)) != std::string::npos; ++at) ++count;
    EXPECT_EQ(count, commands().size()) << "not a command any more? there are: " << entries;
}

TEST(Help, IsWhatTheProgramAloneShows) {
    const auto run = run_program({});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err, run_program({"--help"}).out);
}

}  // namespace
}  // namespace occupipe::cli::testing

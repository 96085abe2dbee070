// SPDX-License-Identifier: MIT
// Every command and option of earlier releases does what its name of today does: the same stdout,
// exit code and files, and on stderr a hint besides.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/files/files.h"
#include "tests/cli/saxpy_csv.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::cli::testing {
namespace {

namespace fs = std::filesystem;

// Words are separated by blanks; ~ is a blank. OUT is a folder of its own for each run, IN one with
// counts.csv, and CODE a kernel of machine code with its launch.
struct Spelling {
    const char* name;
    const char* before;
    const char* now;
    int exit_code = 0;
};

constexpr const char* code =
    "tests/suite/recorded/sm_75/reduction.cubin --kernel reduction --grid 7 --block 256 "
    "--args in=f32[10000]~sums=f32[7]~i32:10000";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

// What a measurement file says of when and how busy, which no two runs have in common.
std::string without_circumstances(const std::string& text) {
    static const std::regex varying(
        "\"(date|load_avg|load_average|real_time|cpu_time|executable|host_name|mhz_per_cpu)\"[^\n]*"
        "\n|"
        "(date|started|measured): "
        "[^\n]*\n|xxh[0-9a-z]*:[0-9a-f]+|sha[0-9]*:[0-9a-f]+|\"[^\"]*_seconds\"[^\n]*\n");
    return std::regex_replace(text, varying, "");
}

struct Done {
    int exit_code = 0;
    std::string out, err, hints;
    std::map<std::string, std::string> files;
};

Done run(const std::string& words) {
    const test::TemporaryFolder out, in;
    std::ofstream(in.path / "counts.csv") << saxpy_csv;
    std::istringstream stream(replaced(
        replaced(replaced(words, "CODE", code), "OUT", out.path.string()), "IN", in.path.string()));
    std::vector<std::string> arguments;
    for (std::string word; stream >> word;) arguments.push_back(replaced(word, "~", " "));
    const ProgramRun ended = run_program(arguments);
    const auto same = [&](const std::string& text) {
        return replaced(replaced(text, out.path.string(), "OUT"), in.path.string(), "IN");
    };
    Done done{ended.exit_code, same(ended.out), "", "", {}};
    std::istringstream lines(same(ended.err));
    for (std::string line; std::getline(lines, line);) {
        const bool hint = line.find("' now") != std::string::npos;
        const bool progress = line.find(" points") != std::string::npos;
        if (!progress) (hint ? done.hints : done.err) += line + "\n";
    }
    for (const auto& entry : fs::recursive_directory_iterator(out.path))
        if (entry.is_regular_file())
            done.files[entry.path().lexically_relative(out.path).string()] =
                same(without_circumstances(read_text_file(entry.path())));
    return done;
}

class OldSpelling : public ::testing::TestWithParam<Spelling> {};

TEST_P(OldSpelling, DoesWhatTheNewOneDoes) {
    const Done before = run(GetParam().before);
    const Done now = run(GetParam().now);
    EXPECT_EQ(now.exit_code, GetParam().exit_code) << now.err;
    EXPECT_EQ(before.exit_code, now.exit_code) << before.err;
    EXPECT_EQ(before.out, now.out);
    EXPECT_EQ(before.err, now.err);
    EXPECT_EQ(before.files, now.files);
    EXPECT_NE(before.hints, "") << GetParam().before;
    EXPECT_EQ(now.hints, "") << GetParam().now;
}

INSTANTIATE_TEST_SUITE_P(
    Command, OldSpelling,
    ::testing::Values(
        Spelling{"Smoke", "smoke --device model:gtx-1060 -o OUT/s.json",
                 "measure --device model:gtx-1060 --smoke -o OUT/s.json"},
        Spelling{"Fleet", "fleet gtx-1060 rtx-2070 --json",
                 "compare --fleet gtx-1060 rtx-2070 --json"},
        Spelling{"Selfcheck",
                 "selfcheck results/cpu-amd-zen4-pocl/profile-quick.yaml -o OUT/page.md",
                 "check --self results/cpu-amd-zen4-pocl/profile-quick.yaml -o OUT/page.md"},
        Spelling{"Rates", "rates rtx-2070 --json", "table rtx-2070 --rates --json"},
        Spelling{"Roofline", "roofline IN/counts.csv --profile gtx-1060 -o OUT/k.yaml",
                 "predict --counts IN/counts.csv --profile gtx-1060 -o OUT/k.yaml", 2},
        Spelling{"Export", "export accelsim rtx-2070 -o OUT/x.config",
                 "convert rtx-2070 --to accelsim -o OUT/x.config"},
        Spelling{"ExportWithOptionsInFront", "export -o OUT/x.config accelsim rtx-2070",
                 "convert --to=accelsim -o OUT/x.config rtx-2070"},
        Spelling{"Import", "import mixbench README.md -o OUT/x.json",
                 "convert README.md --from mixbench -o OUT/x.json", 2},
        Spelling{"Disassemble", "disassemble tests/suite/recorded/sm_75/reduction.cubin --bits",
                 "extract tests/suite/recorded/sm_75/reduction.cubin --disassemble --bits"}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Option, OldSpelling,
    ::testing::Values(
        Spelling{"PredictHits",
                 "predict saxpy --profile rtx-2070 --model gpuperf --hit-rate 0.5 --hit-latency=30 "
                 "--requests-per-access 2",
                 "predict saxpy --profile rtx-2070 --model gpuperf --memory-behaviour hit_rate=0.5 "
                 "--memory-behaviour=hit_latency=30 --memory-behaviour requests_per_access=2"},
        Spelling{"PredictMemoryOrder", "predict saxpy --profile rtx-2070 --memory-order predicted",
                 "predict saxpy --profile rtx-2070 --memory-behaviour order=predicted", 2},
        Spelling{"PredictCaches",
                 "predict saxpy --profile rtx-2070 --l1-bytes 1000 --l2-bytes=2000",
                 "predict saxpy --profile rtx-2070 --cache l1=1000 --cache=l2=2000", 2},
        Spelling{"PredictDrawings",
                 "predict saxpy --profile rtx-2070 --svg OUT/a.svg --trace OUT/a.json --window 50",
                 "predict saxpy --profile rtx-2070 --first-cycles svg=OUT/a.svg --first-cycles "
                 "trace=OUT/a.json --first-cycles window=50"},
        Spelling{"PredictSampling",
                 "predict CODE --profile rtx-2070 --assume-latency all --step 2 --classes 3",
                 "predict CODE --profile rtx-2070 --assume-latency all --sample step=2 --sample "
                 "classes=3",
                 2},
        Spelling{"PredictCompilers",
                 "predict CODE --profile rtx-2070 --compiler-option -fmad=false --clang clang-19",
                 "predict CODE --profile rtx-2070 --compiler option=-fmad=false --compiler "
                 "clang=clang-19",
                 2},
        Spelling{"CompareVersions",
                 "compare saxpy mix --profile rtx-2070 --draws 20 --after-grid 4",
                 "compare saxpy mix --profile rtx-2070 --uncertainty 20 --after grid=4", 2},
        Spelling{"CompareDraws", "compare saxpy mix --profile rtx-2070 --draws 20",
                 "compare saxpy mix --profile rtx-2070 --uncertainty 20"},
        Spelling{"CompareAfter",
                 "compare CODE tests/suite/recorded/sm_75/scan.cubin --profile rtx-2070 "
                 "--after-launch l --after-kernel k --after-block 32 --after-args 1 "
                 "--after-shared-bytes 4",
                 "compare CODE tests/suite/recorded/sm_75/scan.cubin --profile rtx-2070 "
                 "--after launch=l --after kernel=k --after block=32 --after args=1 "
                 "--after shared_bytes=4",
                 2},
        Spelling{"CompareCaches", "compare CODE --profile rtx-2070 --l1-bytes 1000 --l2-bytes 2000",
                 "compare CODE --profile rtx-2070 --cache l1=1000 --cache l2=2000", 2},
        Spelling{"RooflineRate",
                 "predict --counts IN/counts.csv --profile gtx-1060 --rate B_mem=160 --rate "
                 "T_INT=1000 --rate T_LD=400 --rate T_SP=4000",
                 "predict --counts IN/counts.csv --profile gtx-1060 --set B_mem=160 --set "
                 "T_INT=1000 --set T_LD=400 --set T_SP=4000",
                 2},
        Spelling{"RooflineCaches",
                 "predict --counts CODE --caches rtx-2070 --l1-bytes 4096 --l2-bytes 8192",
                 "predict --counts CODE --cache device=rtx-2070 --cache l1=4096 --cache l2=8192"},
        Spelling{"RooflineCommands", "predict --counts --ncu-command ./a --nvprof-command ./b",
                 "predict --counts --profiler-command ncu=./a --profiler-command nvprof=./b"},
        Spelling{"MeasureFacts",
                 "measure --device cuda --arch sm_75 --dry-run --instructions fma.f32 --cores 3 "
                 "--clock-hz 1e9 --l2-bytes 1000000 --memory-bytes 1000000000",
                 "measure --device cuda --arch sm_75 --dry-run --instructions fma.f32 --given "
                 "cores=3 --given clock_hz=1e9 --given l2_bytes=1000000 --given "
                 "memory_bytes=1000000000"},
        Spelling{"MeasurePlan", "measure --device cuda --arch sm_75 --instructions fma.f32 --plan",
                 "measure --device cuda --arch sm_75 --instructions fma.f32 --dry-run plan"},
        Spelling{"MeasureLimits",
                 "measure --device model:gtx-1060 --dry-run --instructions fma.f32 --budget 10 "
                 "--hang-limit 3 --nvrtc none",
                 "measure --device model:gtx-1060 --dry-run --instructions fma.f32 --limit "
                 "budget=10 --limit hang=3 --compiler nvrtc=none"},
        Spelling{"MeasureDump",
                 "measure --device model:gtx-1060 --instructions fma.f32 --dump OUT/d --placement",
                 "measure --device model:gtx-1060 --instructions fma.f32 --dump OUT/d --dump "
                 "placement",
                 2},
        Spelling{"MeasureImport", "measure --import IN/counts.csv --partial -o OUT/a.json",
                 "measure --import IN/counts.csv --import partial -o OUT/a.json", 2},
        Spelling{"ExtractCores", "extract CODE --cores 7 -o OUT/k.yaml",
                 "extract CODE --given cores=7 -o OUT/k.yaml"},
        Spelling{
            "Import",
            "convert --from clpeak README.md -o OUT/a --name GPU --cores 3 --warp-size 32 "
            "--clock-hz 1e9 --access-bytes 4 --nth 1",
            "convert --from clpeak README.md -o OUT/a --given name=GPU --given cores=3 "
            "--given warp_size=32 --given clock_hz=1e9 --given access_bytes=4 --given device=1",
            2},
        Spelling{"Export", "convert --to accelsim rtx-2070 --units int=4,sp=4 --pipeline-cycles 2",
                 "convert --to accelsim rtx-2070 --given units=int=4,sp=4 --given "
                 "pipeline_cycles=2"},
        Spelling{"FleetFails",
                 "compare --fleet gtx-1060 rtx-2070 --fail --relative 0.1 --false-alarms 0.1",
                 "compare --fleet gtx-1060 rtx-2070 --fail-on difference --tolerance relative=0.1 "
                 "--tolerance false_alarms=0.1"},
        Spelling{"SelfcheckStrict",
                 "check --self results/cpu-amd-zen4-pocl/profile-quick.yaml --strict",
                 "check --self results/cpu-amd-zen4-pocl/profile-quick.yaml --fail-on serious"},
        Spelling{"ExecuteTolerances", "execute CODE --absolute 1 --relative 1 --no-memory",
                 "execute CODE --tolerance absolute=1 --tolerance relative=1 --memory none", 2},
        Spelling{"ExecuteWithoutMemory", "execute CODE --no-memory --disassembly",
                 "execute CODE --memory none --disassemble"},
        Spelling{"DisassembleCubin",
                 "extract --disassemble tests/suite/recorded/sm_75/scan.cubin --cubin OUT/c.cubin",
                 "extract --disassemble tests/suite/recorded/sm_75/scan.cubin -o OUT/c.cubin"},
        Spelling{"ValidateMachineCode",
                 "validate --profile rtx-2070 --device model:rtx-2070 --machine-code /nonexistent "
                 "--kernel scan -o OUT",
                 "validate --profile rtx-2070 --device model:rtx-2070 --kernels /nonexistent "
                 "--kernel scan -o OUT",
                 2},
        Spelling{"SweepCount", "sweep README.md --count", "sweep README.md --dry-run", 2},
        Spelling{"ListAspects", "list models --aspects", "list models --all"}),
    [](const auto& instance) { return std::string(instance.param.name); });

#if OCCUPIPE_FIT
INSTANTIATE_TEST_SUITE_P(
    OfTheFitter, OldSpelling,
    ::testing::Values(
        Spelling{"Merge", "merge results/cpu-amd-zen4-pocl/profile-quick.yaml gtx-1060 -o OUT/m",
                 "fit --merge results/cpu-amd-zen4-pocl/profile-quick.yaml gtx-1060 -o OUT/m", 2},
        Spelling{"Watch", "watch gtx-1060 --device model:gtx-1060 --instructions fma.f32 -o OUT/w",
                 "check gtx-1060 --watch --device model:gtx-1060 --instructions fma.f32 -o OUT/w",
                 1},
        Spelling{"Diff", "diff gtx-1060 rtx-2070 --fail-on slower",
                 "compare gtx-1060 rtx-2070 --fail-on slower", 1},
        Spelling{"DiffOfFiles",
                 "diff --all profiles/nvidia-gtx-1060.yaml profiles/nvidia-rtx-2070.yaml",
                 "compare --all profiles/nvidia-gtx-1060.yaml profiles/nvidia-rtx-2070.yaml"},
        Spelling{"DiffTolerances", "compare gtx-1060 rtx-2070 --sigma 3 --relative 0.1",
                 "compare gtx-1060 rtx-2070 --tolerance sigma=3 --tolerance relative=0.1"},
        Spelling{"WatchTolerances",
                 "check --watch gtx-1060 --device model:gtx-1060 --instructions fma.f32 -o OUT/w "
                 "--relative 0.1 --false-alarms 0.1",
                 "check --watch gtx-1060 --device model:gtx-1060 --instructions fma.f32 -o OUT/w "
                 "--tolerance relative=0.1 --tolerance false_alarms=0.1",
                 1},
        Spelling{
            "Fit",
            "fit results/cpu-amd-zen4-pocl/2026-11-21-quick.json -o OUT/p.yaml --report "
            "OUT/r.md --overhead 100",
            "fit results/cpu-amd-zen4-pocl/2026-11-21-quick.json -o OUT/p.yaml --page OUT/r.md "
            "--given overhead=100"},
        Spelling{
            "FitImport", "fit --import gpu-stream README.md --warp-size 32 --plot-only fma.f32",
            "fit --import gpu-stream README.md --given warp_size=32 --instructions fma.f32", 2}),
    [](const auto& instance) { return std::string(instance.param.name); });
#endif

// `--help-all` of every command and of its uses, and what `list` lists.
std::vector<std::string> all_help() {
    std::vector<std::string> pages;
    std::istringstream help(run_program({"--help"}).out);
    bool listed = false;
    for (std::string line; std::getline(help, line);) {
        if (listed && line.empty()) break;
        if (listed) {
            const std::string command = line.substr(2, line.find(' ', 2) - 2);
            std::vector<std::vector<std::string>> pages_of = {{command}};
            if (command == "list")
                for (const char* what :
                     {"devices", "instructions", "models", "kernels", "profiles"})
                    pages_of.push_back({command, what});
            for (const auto& words : pages_of) {
                for (const char* which : {"--help-all", "--help"}) {
                    auto asked = words;
                    asked.emplace_back(which);
                    const ProgramRun run = run_program(asked);
                    if (run.exit_code == 0) {
                        pages.push_back(run.out);
                        break;
                    }
                }
            }
        }
        listed = listed || line == "Subcommands:";
    }
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"measure", "--smoke"},
                                               {"fit", "--merge"},
                                               {"check", "--watch"},
                                               {"check", "--self"},
                                               {"table", "--rates"},
                                               {"predict", "--counts"},
                                               {"compare", "--fleet"},
                                               {"compare", "gtx-1060", "rtx-2070"},
                                               {"convert", "--from"},
                                               {"convert", "--to"},
                                               {"extract", "--disassemble"}}) {
        auto asked = words;
        asked.emplace_back("--help-all");
        ProgramRun run = run_program(asked);
        if (run.exit_code != 0) {
            asked.back() = "--help";
            run = run_program(asked);
        }
        EXPECT_EQ(run.exit_code, 0) << words.back();
        pages.push_back(run.out);
    }
    return pages;
}

TEST(Words, AreSeventeenCommandsAndLittleMoreThanAHundredOptions) {
    std::set<std::string> options;
    static const std::regex name("--[a-z][a-z0-9-]*");
    const std::vector<std::string> pages = all_help();
    for (const std::string& page : pages) {
        std::istringstream lines(page);
        for (std::string line; std::getline(lines, line);) {
            static const std::regex entry("^  ((-[a-z],)?--|[a-z]+ --)");
            if (!std::regex_search(line, entry)) continue;
            std::smatch found;
            if (std::regex_search(line, found, name)) options.insert(found.str());
        }
    }
    std::string all;
    for (const std::string& option : options) all += option + " ";
    // A hundred, and --check, --on-error, --clock, --compare of run and --budget of tune.
    EXPECT_LE(options.size(), 105U) << all;
    EXPECT_GE(options.size(), 60U) << all;
    const std::string help = run_program({"--help"}).out;
    for (const char* command :
         {"list", "explain", "characterize", "measure", "fit", "table", "check", "convert",
          "predict", "sweep", "tune", "compare", "validate", "execute", "run", "extract", "report"})
        EXPECT_NE(help.find("\n  " + std::string(command) + " "), std::string::npos) << command;
    const std::string listed = help.substr(help.find("Subcommands:\n"));
    EXPECT_EQ(std::ranges::count(listed.substr(0, listed.find("\n\n")), '\n'), 17) << listed;
}

TEST(Words, FirstHelpIsShort) {
    for (const char* command : {"predict", "measure", "compare", "report", "execute", "extract",
                                "validate", "sweep", "roofline"}) {
        const std::string help = run_program({command, "--help"}).out;
        EXPECT_LE(std::ranges::count(help, '\n'), 60) << help;
        const std::string all = run_program({command, "--help-all"}).out;
        if (command != std::string("sweep")) {
            EXPECT_GT(all.size(), help.size()) << command;
        }
    }
}

TEST(Words, AnUnknownNameOfSeveralIsAFault) {
    const ProgramRun run =
        run_program({"predict", "saxpy", "--profile", "rtx-2070", "--cache", "l9=5"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_TRUE(run.err.starts_with("occupipe predict: --cache l9=5: must be one of l1=…, l2=…"))
        << run.err;
    EXPECT_TRUE(run.err.ends_with("; see 'occupipe predict --help'\n")) << run.err;
}

TEST(Words, AnOldCommandStillHasItsHelp) {
    const ProgramRun run = run_program({"smoke", "--help"});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("Usage: occupipe measure --smoke [OPTIONS]"), std::string::npos)
        << run.out;
    EXPECT_EQ(run.err, "occupipe: note: 'smoke' is called 'measure --smoke' now\n");
}

TEST(Words, ConvertSaysWhatItNeeds) {
    const ProgramRun run = run_program({"convert", "README.md"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("--from FORMAT"), std::string::npos) << run.err;
}

// The first release's documents, line by line, as a shell runs them.
void run_documented(const std::string& when) {
    const test::TemporaryFolder folder;
    const fs::path source = OCCUPIPE_SOURCE_DIR;
    fs::create_directories(folder.path / "bin");
    fs::create_directories(folder.path / "work" / "out");
    fs::create_symlink(OCCUPIPE_PROGRAM, folder.path / "bin" / "occupipe");
    for (const char* shipped : {"sim", "profiles", "results", "kernels", "tests", "docs"})
        fs::create_symlink(source / shipped, folder.path / "work" / shipped);
    const std::string shell =
        "cd " + (folder.path / "work").string() + " && PATH=" + (folder.path / "bin").string() +
        ":$PATH OCL_ICD_VENDORS=/nonexistent CUDA_VISIBLE_DEVICES= "
        "GPU='model:profiles/nvidia-gtx-1060.yaml?noise=0.02&seed=7' bash -c ";
    std::ifstream lines(source / "tests" / "cli" / "data" / "documented_command_lines.tsv");
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream columns(line);
        std::string exit_code, own_when, document, command;
        std::getline(columns, exit_code, '\t');
        std::getline(columns, own_when, '\t');
        std::getline(columns, document, '\t');
        std::getline(columns, command);
        if (line.starts_with('#') || own_when != when) continue;
        ++count;
        const std::string quoted = "'" + replaced(command, "'", "'\\''") + "'";
        const int status = std::system((shell + quoted + " >/dev/null 2>&1 </dev/null").c_str());
        EXPECT_EQ(WEXITSTATUS(status), std::stoi(exit_code)) << document << ": " << command;
    }
    EXPECT_GE(count, 15);
}

TEST(Documented, LinesEndAsTheyDid) { run_documented("daily"); }

TEST(Documented, LongLinesEndAsTheyDid) {
    if (!thinned::all_cases()) GTEST_SKIP() << "with the exhaustive tests: OCCUPIPE_FULL=1";
    run_documented("full");
}

}  // namespace
}  // namespace occupipe::cli::testing

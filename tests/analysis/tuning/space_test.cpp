// SPDX-License-Identifier: MIT
#include "analysis/tuning/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/tuning/measured_runs.h"
#include "core/buffer_fill.h"

namespace occupipe::analysis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string t1 = R"json({
 "ConfigurationSpace": {
  "TuningParameters": [
   {"Name": "bx", "Type": "int", "Values": "[16, 32, 64]"},
   {"Name": "tile", "Type": "int", "Values": [1, 2]},
   {"Name": "radius", "Type": "int", "Values": "[3, 7]"}],
  "Conditions": [{"Expression": "bx * tile <= 64", "Parameters": ["bx", "tile"]}]},
 "KernelSpecification": {
  "Language": "CUDA", "CompilerOptions": ["-std=c++17"], "KernelName": "blur",
  "KernelFile": "blur.cu", "GlobalSizeType": "CUDA",
  "LocalSize": {"X": "bx", "Y": "4", "Z": "1"},
  "GlobalSize": {"X": "1000000", "Y": "1", "Z": "1"},
  "GridDivX": ["bx", "tile"], "GridDivY": ["4"], "ProblemSize": [1000, 30],
  "SharedMemory": "4 * bx",
  "Arguments": [
   {"Name": "out", "Type": "float", "MemoryType": "Vector", "FillType": "Constant",
    "FillValue": 0.0, "Size": "ProblemSize[0]*ProblemSize[1]"},
   {"Name": "in", "Type": "uint8", "MemoryType": "Vector", "FillType": "Random",
    "FillValue": 255, "Size": "(ProblemSize[0] + max(radius)) * ProblemSize[1]"},
   {"Name": "weights", "Type": "float", "MemoryType": "Vector", "MemType": "Constant",
    "FillType": "Random", "FillValue": 1.0, "Size": "max(radius)"},
   {"Name": "n", "Type": "int", "MemoryType": "Scalar", "FillValue": 1000}]}})json";

TuningSpace space(const std::string& from = {}, const std::string& to = {}) {
    std::string text = t1;
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    return parse_tuning_space(text, "spaces/t1.json");
}

std::string fault(const std::string& from, const std::string& to,
                  const Configuration& configuration = {{"bx", 32}, {"tile", 2}, {"radius", 3}}) {
    try {
        launch_of(space(from, to), configuration);
        return "none";
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(TuningSpace, ALaunchIsThatOfItsConfiguration) {
    const TunedLaunch made = launch_of(space(), {{"bx", 32}, {"tile", 2}, {"radius", 3}});
    EXPECT_EQ(made.plan.source, "spaces/blur.cu");
    EXPECT_THAT(made.compiler_options,
                ElementsAre("-std=c++17", "-Dbx=32", "-Dtile=2", "-Dradius=3"));
    const auto& launch = std::get<KernelLaunch>(made.plan.steps.at(0));
    EXPECT_EQ(launch.kernel, "blur");
    EXPECT_THAT(launch.grid, ElementsAre(16, 8, 1));  // 1000 / 64 and 30 / 4, rounded up
    EXPECT_THAT(launch.block, ElementsAre(32, 4, 1));
    EXPECT_EQ(launch.shared_bytes, 128U);
    ASSERT_EQ(launch.arguments.size(), 4U);
    EXPECT_EQ(launch.arguments[3].text, "1000");
    EXPECT_EQ(made.plan.find_buffer("out")->count, 30000U);
    EXPECT_EQ(made.plan.find_buffer("in")->count, 1007U * 30);  // of the largest radius
    EXPECT_EQ(made.plan.find_buffer("in")->type, ElementType::u8);
    ASSERT_EQ(made.plan.symbols.size(), 1U);
    EXPECT_EQ(made.plan.symbols[0].name, "weights");
    EXPECT_EQ(made.plan.symbols[0].count, 7U);
    EXPECT_THAT(space().notes, Contains(HasSubstr("GlobalSize is ignored")));
}

TEST(TuningSpace, ConditionsAndValuesExclude) {
    const Configuration fits = {{"bx", 32}, {"tile", 2}, {"radius", 3}};
    EXPECT_FALSE(excluded_by(space(), fits));
    EXPECT_EQ(excluded_by(space(), {{"bx", 64}, {"tile", 2}, {"radius", 3}}), "bx * tile <= 64");
    EXPECT_EQ(excluded_by(space(), {{"bx", 48}, {"tile", 1}, {"radius", 3}}),
              "bx has no such value");
    EXPECT_EQ(excluded_by(space(), {{"bx", 32}, {"tile", 1}}), "radius has no such value");
    MeasuredRuns runs;
    runs.runs = {{fits, 1e-3, {}}, {{{"bx", 64}, {"tile", 2}, {"radius", 3}}, 1e-3, {}}};
    keep_those_of(space(), runs);
    EXPECT_EQ(runs.runs.size(), 1U);
    EXPECT_EQ(runs.excluded, 1U);
    // As programs write numbers that were whole; what is no tunable goes.
    runs.runs = {{{{"bx", 32.0}, {"tile", 2}, {"radius", 3}, {"clock", 2100}}, 1e-3, {}}};
    keep_those_of(space(), runs);
    ASSERT_EQ(runs.runs.size(), 1U);
    EXPECT_EQ(runs.runs[0].configuration, fits);
    EXPECT_THAT(runs.notes, ElementsAre("clock=2100: no tunable of spaces/t1.json, ignored"));
}

TEST(TuningSpace, TimesOfAnotherProblemSizeAreNoted) {
    const auto notes = [](Value::List size) {
        MeasuredRuns runs;
        runs.problem_size = std::move(size);
        keep_those_of(space(), runs);
        return runs.notes;
    };
    EXPECT_THAT(notes({1000, 30}), ElementsAre());
    EXPECT_THAT(notes({1000, 30.0, 1}), ElementsAre());
    EXPECT_THAT(notes({std::string("of_image")}), ElementsAre());
    EXPECT_THAT(notes({}), ElementsAre());
    EXPECT_THAT(notes({4096}), ElementsAre(HasSubstr("of the problem size [4096], spaces/t1.json "
                                                     "says [1000, 30]")));
}

// Which of two times would be that of bx=32?
TEST(TuningSpace, AParameterThatTheSpaceLacksHasOneValue) {
    const auto fault = [](const Configuration& more, const Configuration& other) {
        MeasuredRuns runs;
        runs.file = "cache.json";
        for (const Configuration& one : {more, other}) {
            Configuration all = {{"bx", 32}, {"tile", 2}, {"radius", 3}};
            all.insert(one.begin(), one.end());
            runs.runs.push_back({all, 1e-3, {}});
        }
        // What the space excludes does not matter.
        runs.runs.push_back({{{"bx", 64}, {"tile", 2}, {"radius", 3}, {"clock", 3}}, 1e-3, {}});
        try {
            keep_those_of(space(), runs);
            return std::string("none");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_EQ(fault({{"clock", 2100}}, {{"clock", 2100.0}}), "none");
    EXPECT_THAT(fault({{"clock", 2100}}, {{"clock", 405}}),
                HasSubstr("cache.json: clock: is no tunable of spaces/t1.json, and its values "
                          "differ (2100, 405)"));
    EXPECT_THAT(fault({{"clock", 2100}}, {}), HasSubstr("clock: is no tunable of spaces/t1.json, "
                                                        "and its values differ (2100, none)"));
}

TEST(TuningSpace, FaultsNameFileLineAndKey) {
    EXPECT_THAT(fault("\"CUDA\", \"Comp", "\"HIP\", \"Comp"), HasSubstr("Language: must be CUDA"));
    EXPECT_THAT(fault("bx * tile <= 64", "bx * "), "none");  // asked for when a condition counts
    EXPECT_THAT(fault("\"4 * bx\"", "\"4 * nothing\""),
                HasSubstr("spaces/t1.json:14:19: SharedMemory: '4 * nothing' at character 5: "
                          "'nothing' is not known"));
    EXPECT_THAT(fault("\"X\": \"bx\"", "\"X\": \"bx * 1000\""), HasSubstr("from 1 to 1024"));
    EXPECT_THAT(fault("\"Y\": \"4\"", "\"Y\": \"64\""), HasSubstr("2048 threads"));
    EXPECT_THAT(fault("\"uint8\"", "\"triple\""), HasSubstr("Type"));
    EXPECT_THAT(fault("\"FillValue\": 255", "\"FillValue\": 2.5"), HasSubstr("not a whole number"));
    EXPECT_THAT(fault("\"max(radius)\"", "\"-radius\""), HasSubstr("whole number"));
    EXPECT_THAT(fault("\"KernelName\"", "\"Name\""), HasSubstr("KernelName"));
    EXPECT_THAT(fault("", "", {{"bx", 32}}), HasSubstr("tile: has no value"));
}

// A file of KTT's loader: no problem size, sizes in groups or threads, types by KTT's names.
const std::string ktt = R"json({
 "General": {"TimeUnit": "Microseconds", "OutputFile": "out", "OutputFormat": "JSON"},
 "Search": {"Name": "Random"},
 "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 100}],
 "ConfigurationSpace": {
  "TuningParameters": [
   {"Name": "BX", "Type": "uint", "Values": "[32, 64]"},
   {"Name": "FAST", "Type": "bool", "Values": "[True, False]"},
   {"Name": "TYPE", "Type": "string", "Values": "[\"float\", \"double\"]"}],
  "Conditions": [{"Parameters": ["BX", "FAST"], "Expression": "BX < 64 or FAST"}]},
 "KernelSpecification": {
  "Language": "CUDA", "CompilerOptions": ["-use_fast_math"], "Device": {"PlatformId": 0},
  "KernelName": "sum", "KernelTypeNames": ["TYPE", "4"], "KernelFile": "sum.cu",
  "Profiling": false, "SimulationInput": "times", "SharedMemory": 256,
  "GlobalSize": {"X": "4096 // BX", "Y": "2"}, "LocalSize": {"X": "BX"},
  "Arguments": [
   {"Name": "in", "Type": "float", "Size": 4096, "FillType": "Random", "FillValue": 20.0,
    "AccessType": "ReadOnly", "MemoryType": "Vector"},
   {"Type": "uint16", "Size": 64, "FillValue": 3, "MemoryType": "Vector"},
   {"Name": "n", "Type": "int32", "FillValue": 4096, "MemoryType": "Scalar"}],
  "ReferenceArguments": [{"Name": "r", "TargetName": "in", "FillType": "Constant",
                          "FillValue": 1}]}})json";

TunedLaunch ktt_launch(const std::string& from = {}, const std::string& to = {}) {
    std::string text = ktt;
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    return launch_of(parse_tuning_space(text, "spaces/ktt.json"),
                     {{"BX", 64}, {"FAST", 1}, {"TYPE", std::string("double")}});
}

TEST(KttSpace, ALaunchIsThatOfItsConfiguration) {
    const TunedLaunch made = ktt_launch();
    EXPECT_EQ(made.plan.source, "spaces/sum.cu");
    EXPECT_THAT(made.compiler_options,
                ElementsAre("-use_fast_math", "-DBX=64", "-DFAST=1", "-DTYPE=double"));
    const auto& launch = std::get<KernelLaunch>(made.plan.steps.at(0));
    EXPECT_EQ(launch.kernel, "sum<double, 4>");
    EXPECT_THAT(launch.grid, ElementsAre(64, 2, 1));
    EXPECT_THAT(launch.block, ElementsAre(64, 1, 1));
    EXPECT_EQ(launch.shared_bytes, 256U);
    ASSERT_EQ(launch.arguments.size(), 3U);
    EXPECT_EQ(launch.arguments[2].text, "4096");
    const BufferPlan& in = *made.plan.find_buffer("in");
    EXPECT_EQ(in.fill.kind, BufferFill::Kind::random);
    EXPECT_EQ(in.fill.high, "20.0");
    EXPECT_EQ(made.plan.find_buffer("argument_2")->type, ElementType::u16);
    EXPECT_EQ(excluded_by(parse_tuning_space(ktt, "k"),
                          {{"BX", 64}, {"FAST", 0}, {"TYPE", std::string("float")}}),
              "BX < 64 or FAST");
    // In threads, as OpenCL counts.
    const TunedLaunch threads = ktt_launch("\"GlobalSize\": {\"X\": \"4096 // BX\"",
                                           "\"GlobalSizeType\": \"OpenCL\", "
                                           "\"GlobalSize\": {\"X\": \"4096 - 1\"");
    EXPECT_THAT(std::get<KernelLaunch>(threads.plan.steps.at(0)).grid, ElementsAre(63, 2, 1));
}

TEST(KttSpace, WhatCannotBeSaidIsRefusedByName) {
    const auto refusal = [](const std::string& from, const std::string& to) {
        try {
            ktt_launch(from, to);
            return std::string("none");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_THAT(refusal("\"CUDA\"", "\"Vulkan\""),
                HasSubstr("spaces/ktt.json:12:15: KernelSpecification.Language"));
    EXPECT_THAT(refusal("\"Random\", \"FillValue\"", "\"BinaryRaw\", \"FillValue\""),
                HasSubstr("spaces/ktt.json:17:62: KernelSpecification.Arguments[0].FillType: must "
                          "be Constant or Random"));
    EXPECT_THAT(refusal("\"Type\": \"float\"", "\"Type\": \"float4\""),
                HasSubstr("Type: is not an element type"));
    EXPECT_THAT(refusal("\"Type\": \"float\"", "\"Type\": \"custom\""), HasSubstr("Type"));
    EXPECT_THAT(refusal("\"ReadOnly\", \"MemoryType\": \"Vector\"",
                        "\"ReadOnly\", \"MemoryType\": \"Symbol\""),
                HasSubstr("MemoryType: must be Scalar or Vector"));
    EXPECT_THAT(refusal("\"FillValue\": 4096, ", ""), HasSubstr("FillValue"));
    EXPECT_THAT(refusal("\"Size\": 4096, ", ""), HasSubstr("Size"));
    EXPECT_THAT(refusal("\"LocalSize\"", "\"GlobalSizeType\": \"Metal\", \"LocalSize\""),
                HasSubstr("GlobalSizeType: must be CUDA, OpenCL or Vulkan"));
    EXPECT_THAT(refusal("\"Profiling\"", "\"Composite\""), HasSubstr("Composite"));
    EXPECT_THAT(refusal("\"GlobalSize\"", "\"GlobalSizes\""), HasSubstr("GlobalSizes"));
}

// As T1 files of others have them.
TEST(KttSpace, ValuesAsCodeAndKeysOfNoMeaning) {
    std::string text = ktt;
    const auto swap = [&](const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
    };
    swap("\"[32, 64]\"", "\"[2**i for i in range(5, 7)]\"");
    EXPECT_EQ(parse_tuning_space(text, "k").notes, std::vector<std::string>());
    swap("\"Search\"", "\"SearchSettings\": {}, \"BenchmarkConfig\": {}, \"Search\"");
    swap("\"Profiling\"", "\"BenchmarkName\": \"GEMM\", \"Stream\": null, \"Profiling\"");
    const TuningSpace read = parse_tuning_space(text, "k");
    EXPECT_EQ(read.tunables[0].values, (Value::List{32, 64}));
    EXPECT_THAT(read.notes, ElementsAre("ignored: SearchSettings, BenchmarkConfig, "
                                        "KernelSpecification.BenchmarkName"));
}

// Any change of a byte, and any stretch that is missing: a launch, or InputError.
TEST(KttSpace, WhateverIsInTheFileItIsReadOrRefused) {
    constexpr std::uint64_t seed = 20261127;
    int read = 0, refused = 0;
    for (std::uint64_t i = 0; i < 4000; ++i) {
        std::string text = ktt;
        const std::size_t at = random_bits(seed, 3 * i) % text.size();
        const std::uint64_t bits = random_bits(seed, 3 * i + 1);
        if (bits % 3 == 0)
            text.erase(at, 1 + (bits >> 8) % 40);
        else if (bits % 3 == 1)
            text[at] = static_cast<char>(bits >> 8);
        else
            text.insert(at, text.substr(random_bits(seed, 3 * i + 2) % text.size(), 12));
        try {
            const TuningSpace space = parse_tuning_space(text, "fuzz");
            Configuration first;
            for (const auto& one : space.tunables) first[one.name] = one.values.front();
            const TunedLaunch made = launch_of(space, first);
            const auto& launch = std::get<KernelLaunch>(made.plan.steps.at(0));
            for (int axis = 0; axis < 3; ++axis) {
                ASSERT_GE(launch.grid[axis], 1U) << text;
                ASSERT_GE(launch.block[axis], 1U) << text;
            }
            ++read;
        } catch (const InputError&) {
            ++refused;
        }
    }
    EXPECT_GT(read, 100) << "seed " << seed;
    EXPECT_GT(refused, 100) << "seed " << seed;
}

TEST(MeasuredRuns, EveryFormatGivesTheSameTimes) {
    const auto check = [](const MeasuredRuns& runs, const std::string& format) {
        EXPECT_EQ(runs.format, format);
        ASSERT_EQ(runs.runs.size(), 2U);
        EXPECT_EQ(runs.runs[0].configuration.at("bx"), Value(32)) << format;
        EXPECT_DOUBLE_EQ(runs.runs[0].seconds.value_or(0), 2e-3) << format;
        EXPECT_FALSE(runs.runs[1].seconds) << format;
        EXPECT_FALSE(runs.runs[1].failure.empty()) << format;
    };
    check(parse_measured_runs(
              R"({"metadata": {"timeunit": "miliseconds"}, "results": [
                  {"configuration": {"bx": 32}, "times": {"runtimes": [9, 2, 1]},
                   "invalidity": "correct"},
                  {"configuration": {"bx": 64}, "times": {"runtimes": []},
                   "invalidity": "compile"}]})",
              "t4.json"),
          "T4");
    const MeasuredRuns cache = parse_measured_runs(
        R"({"device_name": "NVIDIA A100", "tune_params_keys": ["bx"], "cache": {
            "32": {"bx": 32, "time": 4, "times": [9, 2, 1]},
            "64": {"bx": 64, "time": "RuntimeFailedConfig"}}})",
        "cache.json");
    check(cache, "Kernel Tuner");
    EXPECT_EQ(cache.device, "NVIDIA A100");
    // Of a run that did not come to its end, and tried a configuration again.
    check(parse_measured_runs(R"({"tune_params_keys": ["bx"], "cache": {
            "32": {"bx": 32, "time": 7}, "64": {"bx": 64, "time": "failed"},
            "32": {"bx": 32, "time": 2},
)",
                              "open"),
          "Kernel Tuner");
    // As KTT's converter writes it: no metadata, microseconds.
    check(parse_measured_runs(
              R"({"results": [
                  {"configuration": {"bx": 32}, "times": {"runtimes": [2000]},
                   "measurements": [{"name": "TotalDuration", "value": 2000,
                                     "unit": "Microseconds"}]},
                  {"configuration": {"bx": 64}, "times": {}, "invalidity": "runtime"}]})",
              "converted.json"),
          "T4");
    check(parse_measured_runs(
              R"({"results": [
                  {"configuration": {"bx": 32}, "times": {"runtimes": [2000]},
                   "objectives": ["time"],
                   "measurements": [{"name": "compile_time", "value": 1, "unit": "s"},
                                    {"name": "wait", "value": 1, "unit": "ns"},
                                    {"name": "time", "value": 2000, "unit": "us"}]},
                  {"configuration": {"bx": 64}, "times": {}, "invalidity": "runtime"}]})",
              "objectives.json"),
          "T4");
    // As Python writes what is no number.
    check(parse_measured_runs(R"({"note": "NaN \" NaN", "tune_params_keys": ["bx"], "cache": {
            "32": {"bx": 32, "time": 2, "GFLOP/s": NaN, "GB/s": -Infinity},
            "64": {"bx": 64, "time": NaN}}})",
                              "nan.json"),
          "Kernel Tuner");
    // As Kernel Tuner wrote failures once.
    EXPECT_EQ(parse_measured_runs(
                  R"({"tune_params_keys": ["bx"], "cache": {"1": {"bx": 1, "time": 1e20}}})", "old")
                  .runs[0]
                  .failure,
              "1e20");
    check(parse_measured_runs(
              R"({"Metadata": {"Device": "RTX", "TimeUnit": "Microseconds"}, "Results": [
                  {"Status": "Ok", "Configuration": [{"Name": "bx", "Value": 32}],
                   "ComputationResults": [{"Duration": 1500}, {"Duration": 500}]},
                  {"Status": "CompilationFailed",
                   "Configuration": [{"Name": "bx", "Value": 64}]}]})",
              "ktt.json"),
          "KTT");
    check(parse_measured_runs("bx,time_ms\n32,2\n64,failed\n", "table.csv"), "CSV");
    check(parse_measured_runs("\xef\xbb\xbf"
                              R"({"tune_params_keys": ["bx"], "cache": {
              "32": {"bx": 32, "time": 2}, "64": {"bx": 64, "time": "failed"}}})",
                              "marked.json"),
          "Kernel Tuner");
}

// A time that is not understood is no failure.
TEST(MeasuredRuns, TimesWithDigitsInGroups) {
    const auto seconds = [](const std::string& times) {
        const MeasuredRuns read = parse_measured_runs("bx,seconds\n" + times, "t.csv");
        return read.runs.front().seconds.value_or(-1);
    };
    EXPECT_EQ(seconds("1,\"1,077.5\"\n"), 1077.5);
    EXPECT_EQ(seconds("1,\"1,077\"\n2,300.25\n"), 1077);
    EXPECT_EQ(seconds("1,\"1,077\"\n2,\"0,25\"\n"), 1.077);
    EXPECT_EQ(seconds("1,1.077\n"), 1.077);
    EXPECT_EQ(seconds("1,-\n2,3\n"), -1);
    for (const char* times :
         {"1,300\n2,\"1,077\"\n", "1,2.5\n2,12 ms\n", "1,2.5\n2,1e999\n", "1,12.5\n2,\"9,00\"\n"})
        try {
            seconds(times);
            ADD_FAILURE() << times;
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), HasSubstr("t.csv:3:1: seconds: '"));
            EXPECT_THAT(error.what(), HasSubstr("is not read"));
        }
}

TEST(MeasuredRuns, FaultsNameFileAndPlace) {
    const auto fault_of = [](const std::string& text) {
        try {
            parse_measured_runs(text, "f");
            return std::string("none");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_THAT(fault_of("{}"), HasSubstr("must be a T4 file"));
    EXPECT_THAT(fault_of("bx,ms\n1,2\n"), HasSubstr("f:1:1: needs a column seconds"));
    EXPECT_THAT(fault_of("bx,bx,time_ms\n1,2,3\n"), HasSubstr("bx: is the name of two columns"));
    EXPECT_THAT(fault_of("bx,time_ms,seconds\n1,2,3\n"), HasSubstr("which one counts?"));
    EXPECT_THAT(fault_of("bx,time_ms\n1,-2\n"), HasSubstr("f:2:1: time_ms: must be above 0"));
    EXPECT_THAT(fault_of(R"({"results": [{"configuration": {"bx": 1},
        "times": {"runtimes": [0]}}]})"),
                HasSubstr("must be above 0"));
    EXPECT_THAT(fault_of(R"({"metadata": {"timeunit": "weeks"}, "results": []})"),
                HasSubstr("timeunit: must be one of s, ms"));
    EXPECT_THAT(fault_of(R"({"results": []})"), HasSubstr("has no result"));
}

TEST(MeasuredRuns, ADrawTakesOneOfEachStratum) {
    std::vector<MeasuredRun> runs(1000);
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (i % 10 != 0) runs[i].seconds = 1 + static_cast<double>(i * 7919 % 1000);
    const auto drawn = drawn_by_time(runs, 30, 1);
    ASSERT_EQ(drawn.size(), 30U);
    EXPECT_EQ(drawn, drawn_by_time(runs, 30, 1));
    EXPECT_NE(drawn, drawn_by_time(runs, 30, 2));
    // The k-th drawn by time lies in the k-th thirtieth of the 900 valid ones.
    std::vector<double> all, times;
    for (const MeasuredRun& run : runs)
        if (run.seconds) all.push_back(*run.seconds);
    for (const std::size_t i : drawn) times.push_back(runs[i].seconds.value());
    std::ranges::sort(all);
    std::ranges::sort(times);
    for (std::size_t k = 0; k < times.size(); ++k) {
        EXPECT_GE(times[k], all[k * 30]);
        EXPECT_LE(times[k], all[k * 30 + 29]);
    }
    EXPECT_EQ(drawn_by_time(runs, 0, 1).size(), 900U);
    EXPECT_EQ(drawn_by_time(runs, 5000, 1).size(), 900U);
}

}  // namespace
}  // namespace occupipe::analysis

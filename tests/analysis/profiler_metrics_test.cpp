// SPDX-License-Identifier: MIT
// Output of nvprof and Nsight Compute, made by hand after their documented formats.
#include "analysis/profilers/profiler_metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/profilers/profiler_csv.h"
#include "core/error.h"

namespace occupipe::analysis {
namespace {

struct Count {
    const char* nvprof;
    const char* description;  // heads the column of a trace
    const char* ncu;
    const char* ncu_unit;
    double value;
};

// Of one launch of saxpy with 2^20 elements.
const std::vector<Count> counts = {
    {"flop_count_sp_fma", "Floating Point Operations(Single Precision FMA)",
     "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", 1048576},
    {"flop_count_dp_fma", "Floating Point Operations(Double Precision FMA)",
     "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "inst", 0},
    {"inst_compute_ld_st", "Load/Store Instructions",
     "smsp__sass_thread_inst_executed_op_memory_pred_on.sum", "inst", 3145728},
    {"inst_executed", "Instructions Executed", "smsp__inst_executed.sum", "inst", 458752},
    {"inst_fp_32", "FP Instructions(Single)", "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",
     "inst", 1048576},
    {"inst_fp_64", "FP Instructions(Double)", "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum",
     "inst", 0},
    {"inst_integer", "Integer Instructions",
     "smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "inst", 5242880},
    {"dram_read_transactions", "Device Memory Read Transactions", "dram__sectors_read.sum",
     "sector", 262200},
    {"dram_write_transactions", "Device Memory Write Transactions", "dram__sectors_write.sum",
     "sector", 131072},
};

constexpr const char* nvprof_begin =
    "==4711== NVPROF is profiling process 4711, command: ./saxpy\n"
    "==4711== Profiling application: ./saxpy\nmax error 0, done\n"
    "==4711== Profiling result:\n==4711== Metric result:\n";

std::string nvprof_line(const char* kernel, int launches, const Count& count,
                        const std::string& average) {
    return fmt::format("\"Tesla K40c (0)\",\"{}\",{},\"{}\",\"{}\",{},{},{}\n", kernel, launches,
                       count.nvprof, count.description, average, average, average);
}

std::string nvprof_table(const char* kernel = "saxpy(int, float, float*, float*)",
                         int launches = 1) {
    std::string text =
        "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric "
        "Description\",\"Min\",\"Max\",\"Avg\"\n";
    for (const Count& one : counts)
        text += nvprof_line(kernel, launches, one, fmt::format("{}", one.value));
    return text;
}

// `grouped`: thousands separators, as ncu writes them.
std::string digits(double value, bool grouped) {
    std::string text = fmt::format("{:.0f}", value);
    if (!grouped) return text;
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string ncu_long(bool grouped, const char* kernel = "saxpy(int, float, float *, float *)",
                     int id = 0, bool header = true) {
    std::string text;
    if (header)
        text =
            "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
            "Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
            "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    for (const Count& one : counts)
        text += fmt::format(
            "\"{}\",\"12\",\"saxpy\",\"127.0.0.1\",\"{}\",\"1\",\"7\",\"(256, 1, 1)\",\"(4096, 1, "
            "1)\",\"0\",\"8.0\",\"Command line profiler metrics\",\"{}\",\"{}\",\"{}\"\n",
            id, kernel, one.ncu, one.ncu_unit, digits(one.value, grouped));
    return text;
}

std::string ncu_wide(int launches, bool units, double scale_of_last = 1) {
    std::string header = "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\"";
    std::string unit_line = "\"\",\"\",\"\",\"\"";
    for (const Count& one : counts) {
        header += fmt::format(",\"{}\"", one.ncu);
        unit_line += fmt::format(",\"{}\"", one.ncu_unit);
    }
    std::string text = header + "\n" + (units ? unit_line + "\n" : "");
    for (int i = 0; i < launches; ++i) {
        text += fmt::format("\"{}\",\"12\",\"saxpy\",\"0\"", i);
        for (const Count& one : counts)
            text += fmt::format(",\"{}\"",
                                digits(one.value * (i + 1 == launches ? scale_of_last : 1), true));
        text += '\n';
    }
    return text;
}

void expect_saxpy(const KernelParameters& kernel) {
    EXPECT_EQ(kernel.fp32_fma, 1048576);
    EXPECT_EQ(kernel.fp64_fma, 0);
    EXPECT_EQ(kernel.load_store, 3145728);
    EXPECT_EQ(kernel.warp_instructions, 458752);
    EXPECT_EQ(kernel.fp32, 1048576);
    EXPECT_EQ(kernel.fp64, 0);
    EXPECT_EQ(kernel.integer, 5242880);
    EXPECT_EQ(kernel.dram_read_sectors, 262200);
    EXPECT_EQ(kernel.dram_write_sectors, 131072);
}

std::vector<KernelParameters> read(const std::string& text) {
    return parameters_from_profiler(text, "p.csv").kernels;
}

TEST(ProfilerMetrics, NvprofTable) {
    const auto kernels = read(nvprof_begin + nvprof_table());
    ASSERT_EQ(kernels.size(), 1U);
    expect_saxpy(kernels[0]);
    EXPECT_EQ(kernels[0].kernel, "saxpy(int, float, float*, float*)");
    EXPECT_EQ(kernels[0].device, "Tesla K40c (0)");
    EXPECT_EQ(kernels[0].origin, "nvprof");
    EXPECT_EQ(kernels[0].launches, 1);
}

TEST(ProfilerMetrics, NvprofTableAloneWithWindowsLineEnds) {
    std::string text = nvprof_table();
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2))
        text.insert(at, "\r");
    expect_saxpy(read(text).at(0));
}

TEST(ProfilerMetrics, NvprofTakesTheAverageOfSeveralLaunches) {
    std::string text = nvprof_table("saxpy", 3);
    const std::string line =
        "\"Tesla K40c (0)\",\"saxpy\",3,\"inst_executed\",\"Instructions "
        "Executed\",458752,458752,458752\n";
    const std::size_t at = text.find(line);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, line.size(),
                 "\"Tesla K40c (0)\",\"saxpy\",3,\"inst_executed\",\"Instructions "
                 "Executed\",100,900,500.5\n");
    const auto kernels = read(text);
    EXPECT_EQ(kernels.at(0).launches, 3);
    EXPECT_EQ(kernels[0].warp_instructions, 500.5);
}

TEST(ProfilerMetrics, NvprofWithTwoKernelsAndExponents) {
    std::string text = nvprof_table("first", 2);
    std::string second = nvprof_table("second");
    second.erase(0, second.find('\n') + 1);
    const std::size_t at = second.find("458752,458752,458752");
    second.replace(at, 20, "1.5e+09,1.5e+09,1.5e+09");
    const auto kernels = read(text + second);
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].kernel, "first");
    EXPECT_EQ(kernels[1].warp_instructions, 1.5e9);
}

std::string nvprof_trace(bool descriptions, bool units) {
    std::string text = "\"Device\",\"Context\",\"Stream\",\"Kernel\"";
    for (const Count& one : counts)
        text += fmt::format(",\"{}\"", descriptions ? one.description : one.nvprof);
    text += '\n';
    if (units) text += ",,,\"\"" + std::string(counts.size(), ',') + "\n";
    for (int launch = 0; launch < 2; ++launch) {
        text += fmt::format("\"Tesla K40c (0)\",\"1\",\"7\",\"saxpy(int) [{}]\"", 107 + launch);
        for (const Count& one : counts) text += fmt::format(",{}", one.value * (1 + launch));
        text += '\n';
    }
    return text;
}

TEST(ProfilerMetrics, NvprofTraceIsTheMeanOfItsLaunches) {
    for (const bool descriptions : {false, true})
        for (const bool units : {false, true}) {
            const auto kernels = read(nvprof_begin + nvprof_trace(descriptions, units));
            ASSERT_EQ(kernels.size(), 1U);
            EXPECT_EQ(kernels[0].kernel, "saxpy(int)");
            EXPECT_EQ(kernels[0].launches, 2);
            EXPECT_EQ(kernels[0].warp_instructions, 1.5 * 458752);
            EXPECT_EQ(kernels[0].dram_write_sectors, 1.5 * 131072);
        }
}

TEST(ProfilerMetrics, NcuALinePerMetric) {
    for (const bool grouped : {false, true}) {
        const auto kernels = read(
            "==PROF== Connected to process 12 (/home/a/saxpy)\n==PROF== Profiling \"saxpy\" - 0: "
            "0%....50%....100% - 1 pass\nmax error 0\n==PROF== Disconnected from process 12\n" +
            ncu_long(grouped));
        ASSERT_EQ(kernels.size(), 1U);
        expect_saxpy(kernels[0]);
        EXPECT_EQ(kernels[0].origin, "ncu");
    }
}

TEST(ProfilerMetrics, NcuSeveralLaunchesAndKernels) {
    const auto kernels =
        read(ncu_long(true, "saxpy", 0) + ncu_long(true, "other<int, 4>(int)", 1, false) +
             ncu_long(true, "saxpy", 2, false));
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0].launches, 2);
    expect_saxpy(kernels[0]);
    EXPECT_EQ(kernels[1].kernel, "other<int, 4>(int)");
    EXPECT_EQ(kernels[1].launches, 1);
}

TEST(ProfilerMetrics, NcuALinePerLaunch) {
    for (const bool units : {false, true}) {
        const auto kernels = read(ncu_wide(4, units, 5));
        ASSERT_EQ(kernels.size(), 1U);
        EXPECT_EQ(kernels[0].launches, 4);
        EXPECT_EQ(kernels[0].warp_instructions, 2 * 458752);  // (1 + 1 + 1 + 5) / 4
    }
}

TEST(ProfilerMetrics, NcuBytesStandForSectors) {
    std::string text = ncu_long(true);
    const auto swap = [&](const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    };
    swap("\"dram__sectors_read.sum\",\"sector\",\"262,200\"",
         "\"dram__bytes_read.sum\",\"Mbyte\",\"8.3904\"");
    swap("\"dram__sectors_write.sum\",\"sector\",\"131,072\"",
         "\"dram__bytes_write.sum\",\"byte\",\"4,194,304\"");
    const auto kernels = read(text);
    EXPECT_DOUBLE_EQ(*kernels.at(0).dram_read_sectors, 262200);
    EXPECT_EQ(kernels[0].dram_write_sectors, 131072);
}

TEST(ProfilerMetrics, NcuWithMetricsOfTheWholeMultiprocessor) {
    std::string text = ncu_long(true);
    for (std::size_t at = text.find("smsp__"); at != std::string::npos; at = text.find("smsp__"))
        text.replace(at, 6, "sm__");
    expect_saxpy(read(text).at(0));
}

TEST(ProfilerMetrics, NcuKnowsTheTime) {
    std::string text = ncu_long(true);
    text +=
        "\"0\",\"12\",\"saxpy\",\"127.0.0.1\",\"saxpy(int, float, float *, float "
        "*)\",\"1\",\"7\",\"(256, 1, 1)\",\"(4096, 1, 1)\",\"0\",\"8.0\",\"Command line profiler "
        "metrics\",\"gpu__time_duration.sum\",\"usecond\",\"12.5\"\n";
    EXPECT_DOUBLE_EQ(*read(text).at(0).seconds, 12.5e-6);
}

void expect_refused(const std::string& text, const std::vector<std::string>& words) {
    try {
        read(text);
        ADD_FAILURE() << "was read:\n" << text;
    } catch (const InputError& error) {
        for (const std::string& word : words)
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
                << word << " is not in: " << error.what();
    }
}

std::string without(std::string text, const std::string& word) {
    const std::size_t at = text.find(word);
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.erase(begin, text.find('\n', at) + 1 - begin);
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
}

// The other counts are there.
TEST(ProfilerMetrics, AMissingMetricIsNamedWithTheOptionThatCollectsIt) {
    const auto expect_lacking = [](const std::string& text, const std::vector<std::string>& words) {
        const ProfiledKernels found = parameters_from_profiler(text, "p.csv");
        expect_words(found.lacking, words);
        ASSERT_EQ(found.kernels.size(), 1U);
        std::size_t counted = 0;
        for (const KernelCount& one : kernel_counts())
            counted += (found.kernels[0].*one.value).has_value() ? 1 : 0;
        EXPECT_EQ(counted, counts.size() - 1);
    };
    for (const Count& one : counts) {
        expect_lacking(without(nvprof_begin + nvprof_table(), fmt::format("\"{}\"", one.nvprof)),
                       {"p.csv:7", one.nvprof, "--metrics", "saxpy"});
        expect_lacking(without(ncu_long(true), fmt::format("\"{}\"", one.ncu)),
                       {"p.csv:1", one.ncu, "--metrics", "saxpy"});
    }
    // All that are missing at once, whichever kernel lacks them.
    const std::string two = without(ncu_long(true, "first"), "op_fp64_pred_on") +
                            without(ncu_long(true, "second", 1, false), "op_integer_pred_on");
    expect_words(parameters_from_profiler(two, "p.csv").lacking,
                 {"kernel 'first'", "and 2 of 2 kernels lack counts",
                  "--metrics smsp__sass_thread_inst_executed_op_fp64_pred_on.sum,smsp__sass_thread_"
                  "inst_executed_op_integer_pred_on.sum"});
    EXPECT_EQ(parameters_from_profiler(ncu_long(true), "p.csv").lacking, "");
}

TEST(ProfilerMetrics, WhatIsNotANumberIsNamedWithItsLine) {
    for (const char* text : {"<OVERFLOW>", "n/a", "", "nan", "1e999"}) {
        std::string table;
        for (const Count& one : counts)
            table += nvprof_line("k", 1, one,
                                 std::string(one.nvprof) == "inst_integer"
                                     ? std::string(text)
                                     : fmt::format("{}", one.value));
        const std::string header = nvprof_table().substr(0, nvprof_table().find('\n') + 1);
        const ProfiledKernels found =
            parameters_from_profiler(nvprof_begin + header + table, "p.csv");
        ASSERT_EQ(found.left_out.size(), 1U);
        expect_words(found.left_out[0], {"p.csv:13", "inst_integer",
                                         *text == '\0' ? "nothing" : "is not a number", "'k'"});
        expect_words(found.lacking, {"--metrics inst_integer"});
        EXPECT_FALSE(found.kernels.at(0).integer);
        EXPECT_EQ(found.kernels[0].fp32, 1048576);
    }
}

TEST(ProfilerMetrics, CountsOfSomeLaunchesAreLeftOut) {
    const std::string second =
        without(ncu_long(true, "saxpy", 1, false), "\"dram__sectors_read.sum\"");
    const ProfiledKernels found =
        parameters_from_profiler(ncu_long(true, "saxpy", 0) + second, "p.csv");
    EXPECT_FALSE(found.kernels.at(0).dram_read_sectors);
    expect_words(found.left_out.at(0),
                 {"dram__sectors_read.sum", "launched 2 times", "there for 1"});
}

TEST(ProfilerMetrics, OtherFilesAreRefused) {
    expect_refused("", {"is empty"});
    expect_refused(std::string("\xff\xfe\"\0I\0", 6), {"p.csv:1:1: is not UTF-8 text"});
    expect_refused("\"ID\";\"Kernel Name\";\"Metric Name\"\n\"0\";\"k\";\"12,5\"\n",
                   {"p.csv:1: its columns are separated by semicolons"});
    // Times alone, with and without a table of managed memory.
    constexpr const char* times =
        "==1== Profiling result:\n\"Type\",\"Time(%)\",\"Time\",\"Name\"\n,%,ms,\n";
    for (const char* memory :
         {"", "==1== Unified Memory profiling result:\n\"Device\",\"Count\"\n"})
        expect_refused(std::string(times) + memory,
                       {"p.csv:2: is nvprof's table of times", "--metrics"});
    expect_refused("Time(%),Time,Name\n50%,1ms,k\n", {"p.csv:1: is nvprof's table of times"});
    expect_refused("a,b,c\n1,2,3\n", {"no header"});
    expect_refused("\"Device\",\"Context\"\n\"K40\",1\n", {"p.csv:1", "Kernel"});
    expect_refused("\"Device\",\"Kernel\",\"Metric Name\"\n\"K40\",\"k\",\"m\"\n", {"Avg"});
    expect_refused(nvprof_table().substr(0, nvprof_table().find('\n') + 1), {"no kernel"});
    expect_refused(nvprof_begin + nvprof_table() + "\"Tesla\",\"k\",1\n",
                   {"p.csv:11", "from the table's header in line 6"});
    std::string launches = nvprof_table();
    launches.replace(launches.find("\",1,\""), 5, "\",0,\"");
    expect_refused(launches, {"Invocations"});
}

TEST(ProfilerMetrics, UnitsAreKnownOrRefused) {
    const auto with = [](const char* unit, const char* value) {
        std::string text = ncu_long(true);
        const std::string from = "\"dram__sectors_read.sum\",\"sector\",\"262,200\"";
        text.replace(text.find(from), from.size(),
                     fmt::format("\"dram__bytes_read.sum\",\"{}\",\"{}\"", unit, value));
        return text;
    };
    for (const auto& [unit, bytes] :
         std::vector<std::pair<const char*, double>>{{"byte", 1},
                                                     {"B", 1},
                                                     {"Kbyte", 1e3},
                                                     {"KB", 1e3},
                                                     {"KiB", 1024},
                                                     {"Mbyte", 1e6},
                                                     {"MB", 1e6},
                                                     {"MiB", 1048576},
                                                     {"GB", 1e9},
                                                     {"GiB", 1073741824}})
        EXPECT_DOUBLE_EQ(*read(with(unit, "64")).at(0).dram_read_sectors, 2 * bytes) << unit;
    for (const char* unit : {"furlong", "XB", "Kfurlong", "byte/furlong"})
        expect_words(parameters_from_profiler(with(unit, "64"), "p.csv").left_out.at(0),
                     {"p.csv:9", "dram__bytes_read.sum", unit, "not known"});
    expect_words(parameters_from_profiler(with("", "64"), "p.csv").left_out.at(0),
                 {"p.csv:9", "dram__bytes_read.sum", "the file has no unit for it"});
    for (const auto& [unit, factor] : std::vector<std::pair<const char*, double>>{{"ns", 1e-9},
                                                                                  {"nsecond", 1e-9},
                                                                                  {"us", 1e-6},
                                                                                  {"usecond", 1e-6},
                                                                                  {"ms", 1e-3},
                                                                                  {"s", 1},
                                                                                  {"second", 1}}) {
        std::string text = ncu_long(true);
        text += fmt::format(
            "\"0\",\"12\",\"saxpy\",\"127.0.0.1\",\"saxpy(int, float, float *, float "
            "*)\",\"1\",\"7\",\"(256, 1, 1)\",\"(4096, 1, 1)\",\"0\",\"8.0\",\"Command line "
            "profiler metrics\",\"gpu__time_duration.sum\",\"{}\",\"2\"\n",
            unit);
        EXPECT_DOUBLE_EQ(*read(text).at(0).seconds, 2 * factor) << unit;
    }
}

// What has a unit is not read without it; counts have none.
TEST(ProfilerMetrics, AFileWithoutUnits) {
    const auto expect = [](const std::string& text, const char* line_of_time) {
        const ProfiledKernels found = parameters_from_profiler(text, "p.csv");
        EXPECT_EQ(found.kernels.at(0).warp_instructions, 12345) << text;
        EXPECT_EQ(found.kernels[0].dram_write_sectors, 7) << text;
        EXPECT_FALSE(found.kernels[0].dram_read_sectors) << text;
        EXPECT_FALSE(found.kernels[0].seconds) << text;
        ASSERT_EQ(found.left_out.size(), 2U);
        expect_words(found.left_out[0], {"dram__bytes_read.sum", "the file has no unit for it"});
        expect_words(found.left_out[1],
                     {line_of_time, "gpu__time_duration.sum", "the file has no unit for it"});
    };
    expect(
        "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n"
        "\"0\",\"k\",\"gpu__time_duration.sum\",\"292,928\"\n"
        "\"0\",\"k\",\"dram__bytes_read.sum\",\"134.22\"\n"
        "\"0\",\"k\",\"dram__sectors_write.sum\",\"7\"\n"
        "\"0\",\"k\",\"smsp__inst_executed.sum\",\"12,345\"\n",
        "p.csv:2");
    expect(
        "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\","
        "\"smsp__inst_executed.sum\",\"dram__sectors_write.sum\"\n"
        "\"0\",\"k\",\"134.22\",\"292,928\",\"12,345\",\"7\"\n",
        "p.csv:2");
    // Units in the names of columns.
    const auto named = read(
        "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum [Mbyte]\",\"gpu__time_duration.sum "
        "[us]\"\n\"0\",\"k\",\"134.22\",\"292.928\"\n");
    EXPECT_DOUBLE_EQ(*named.at(0).dram_read_sectors, 134.22e6 / 32);
    EXPECT_DOUBLE_EQ(*named[0].seconds, 292.928e-6);
}

// Lines of a launch have its ID, whatever the order.
TEST(ProfilerMetrics, NcuSortedByMetric) {
    const std::string header =
        "\"ID\",\"Kernel Name\",\"Device\",\"Grid Size\",\"Metric Name\",\"Metric "
        "Unit\",\"Metric Value\"\n";
    const auto line = [](int id, int device, int groups, const char* metric, int value) {
        return fmt::format("\"{}\",\"k\",\"{}\",\"({}, 1, 1)\",\"{}\",\"\",\"{}\"\n", id, device,
                           groups, metric, value);
    };
    constexpr const char* executed = "smsp__inst_executed.sum";
    constexpr const char* sectors = "lts__t_sectors.sum";
    const std::string sorted = line(0, 0, 4, executed, 100) + line(1, 0, 8, executed, 300) +
                               line(0, 0, 4, sectors, 10) + line(1, 0, 8, sectors, 20);
    const ProfiledKernels found = parameters_from_profiler(header + sorted, "p.csv");
    ASSERT_EQ(found.kernels.size(), 1U);
    EXPECT_EQ(found.kernels[0].launches, 2);
    EXPECT_EQ(found.kernels[0].warp_instructions, 200);
    EXPECT_EQ(found.kernels[0].l2_sectors, 15);
    EXPECT_EQ(found.kernels[0].device, "");
    ASSERT_EQ(found.notes.size(), 1U);
    expect_words(found.notes[0], {"p.csv:1", "kernel 'k': 2 launches of 2 sizes"});
    // Two files in one: the second begins anew.
    const auto joined = read(header + sorted + line(0, 0, 4, executed, 500));
    EXPECT_EQ(joined.at(0).launches, 3);
    EXPECT_EQ(joined[0].warp_instructions, 300);
    // Devices are kept apart, as nvprof's.
    const ProfiledKernels two = parameters_from_profiler(
        header + line(0, 0, 4, executed, 100) + line(1, 1, 8, executed, 300), "p.csv");
    ASSERT_EQ(two.kernels.size(), 2U);
    EXPECT_EQ(two.kernels[0].warp_instructions, 100);
    EXPECT_EQ(two.kernels[1].warp_instructions, 300);
    EXPECT_EQ(two.kernels[1].device, "device 1");
    EXPECT_TRUE(two.notes.empty());
}

// Lines are those of the file, whatever the profiler and the program print before the table.
TEST(ProfilerMetrics, NcuNamesLinesBehindItsMessages) {
    std::string text = ncu_long(true);
    const std::string from = "\"262,200\"";
    text.replace(text.find(from), from.size(), "\"n/a\"");
    expect_words(parameters_from_profiler(text, "p.csv").left_out.at(0), {"p.csv:9", "'n/a'"});
    expect_words(
        parameters_from_profiler("==PROF== Connected\n\nhello\n" + text, "p.csv").left_out.at(0),
        {"p.csv:12", "'n/a'"});
}

TEST(ProfilerMetrics, CommasGroupThreeDigits) {
    for (const char* text : {"1,234", "12,345,678.5", "999", "1.5e+09", "0"})
        EXPECT_TRUE(profiler_number(text).has_value()) << text;
    EXPECT_EQ(profiler_number("12,345,678.5"), 12345678.5);
    for (const char* text :
         {"8,5", "1,000,0", ",100", "1234,567", "1,23", "1,234,", "1.5,000", "", "1e999", "nan"})
        EXPECT_FALSE(profiler_number(text).has_value()) << text;
    // In a locale with a comma before the fraction.
    for (const auto& [text, value] :
         std::vector<std::pair<const char*, double>>{{"1.234", 1234},
                                                     {"12.345.678,5", 12345678.5},
                                                     {"9,00", 9},
                                                     {"0,125", 0.125},
                                                     {"1\u202f234,5", 1234.5},
                                                     {"1'234,5", 1234.5}})
        EXPECT_EQ(profiler_number(text, DecimalSign::comma), value) << text;
    for (const char* text : {"0.125", "12.5", "1,234,567", "1.5e+09", "1'23"})
        EXPECT_FALSE(profiler_number(text, DecimalSign::comma).has_value()) << text;
    EXPECT_EQ(decimal_sign({"1.234", "1,234", "999", "n/a"}), std::nullopt);
    EXPECT_EQ(decimal_sign({"1.234", "12.5"}), DecimalSign::point);
    EXPECT_EQ(decimal_sign({"1.234", "0.125"}), DecimalSign::point);
    EXPECT_EQ(decimal_sign({"1.234", "1.234.567"}), DecimalSign::comma);
    EXPECT_EQ(decimal_sign({"1.234", "9,00"}), DecimalSign::comma);
    EXPECT_EQ(decimal_sign({"12.5", "9,00"}), std::nullopt);
}

// Numbers as a German locale writes them: the file's other numbers prove it, or nothing is read.
TEST(ProfilerMetrics, ThousandsOfAGermanLocale) {
    const auto table = [](const std::string& fma) {
        return ncu_long(false, "k") +
               fmt::format(
                   "\"0\",\"12\",\"saxpy\",\"127.0.0.1\",\"k\",\"1\",\"7\",\"\",\"\",\"0\","
                   "\"8.0\",\"S\",\"sm__throughput.avg.pct\",\"%\",\"{}\"\n",
                   fma);
    };
    const auto with = [&](const std::string& percent) {
        std::string text = table(percent);
        const std::string from = "\"262200\"";
        return text.replace(text.find(from), from.size(), "\"262.200\"");
    };
    EXPECT_EQ(read(with("9,25")).at(0).dram_read_sectors, 262200);
    EXPECT_EQ(read(with("1.234.567")).at(0).dram_read_sectors, 262200);
    EXPECT_EQ(read(with("9.25")).at(0).dram_read_sectors, 262.2);
    expect_refused(with("9"), {"p.csv:9", "dram__sectors_read.sum", "'262.200' is thousands",
                               "German locale", "LC_ALL=C"});
    // Nanoseconds are whole, too.
    const auto time = [](const char* unit) {
        return fmt::format(
            "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
            "\"0\",\"k\",\"gpu__time_duration.sum\",\"{}\",\"292.928\"\n",
            unit);
    };
    expect_refused(time("ns"), {"p.csv:2", "gpu__time_duration.sum", "German locale"});
    expect_refused(time("nsecond"), {"p.csv:2", "gpu__time_duration.sum", "German locale"});
    EXPECT_DOUBLE_EQ(*read(time("us")).at(0).seconds, 292.928e-6);
    // The form with a line per launch.
    expect_refused(
        "\"ID\",\"Kernel Name\",\"smsp__inst_executed.sum\"\n\"\",\"\",\"inst\"\n"
        "\"0\",\"k\",\"1.000\"\n",
        {"p.csv:3", "smsp__inst_executed.sum", "German locale"});
}

TEST(ProfilerMetrics, TrafficThatIsNotSplit) {
    std::string text = without(ncu_long(true), "dram__sectors_read.sum");
    const std::string from = "\"dram__sectors_write.sum\",\"sector\"";
    text.replace(text.find(from), from.size(), "\"dram__bytes.sum\",\"byte\"");
    const ProfiledKernels found = parameters_from_profiler(text, "p.csv");
    ASSERT_EQ(found.left_out.size(), 1U);
    expect_words(found.left_out[0], {"dram__bytes.sum", "is not split into reads and writes"});
    EXPECT_FALSE(found.kernels.at(0).dram_read_sectors);
}

// Compute capability 12.0 has other names for the traffic.
TEST(ProfilerMetrics, NcuTrafficByOperation) {
    std::string sectors = ncu_long(true);
    for (const char* word : {"read", "write"}) {
        const std::string from = fmt::format("dram__sectors_{}.sum", word);
        sectors.replace(sectors.find(from), from.size(),
                        fmt::format("dram__sectors_op_{}.sum", word));
    }
    expect_saxpy(read(sectors).at(0));
    std::string bytes = ncu_long(true);
    const std::string from = "\"dram__sectors_read.sum\",\"sector\",\"262,200\"";
    bytes.replace(bytes.find(from), from.size(),
                  "\"dram__bytes_op_read.sum\",\"byte\",\"8,390,400\"");
    expect_saxpy(read(bytes).at(0));
}

// The page "details" of the default sections: labels, units of their own, rules, several processes.
TEST(ProfilerMetrics, NcuDetailsOfTheDefaultSections) {
    const std::string header =
        "\"ID\",\"Process ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric "
        "Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"\n";
    const auto line = [](int process, const char* kernel, const char* rest) {
        return fmt::format("\"0\",\"{}\",\"{}\",\"S\",{}\n", process, kernel, rest);
    };
    const std::string text =
        "\xef\xbb\xbf" + header +
        line(1, "axpy", "\"DRAM Frequency\",\"cycle/nsecond\",\"6.79\",\"\",\"\",\"\"") +
        line(1, "axpy", "\"Duration\",\"usecond\",\"12.35\",\"\",\"\",\"\"") +
        line(1, "axpy", "\"\",\"\",\"\",\"Bottleneck\",\"WRN\",\"Latency,\nof two lines\"") +
        line(1, "axpy", "\"Executed Instructions\",\"inst\",\"458,752\",\"\",\"\",\"\"") + header +
        line(2, "scan", "\"Duration\",\"msecond\",\"1.5\",\"\",\"\",\"\"");
    const ProfiledKernels found = parameters_from_profiler(text, "p.csv");
    ASSERT_EQ(found.kernels.size(), 2U);
    EXPECT_EQ(found.kernels[0].warp_instructions, 458752);
    EXPECT_DOUBLE_EQ(*found.kernels[0].seconds, 12.35e-6);
    EXPECT_FALSE(found.kernels[0].fp32);
    EXPECT_DOUBLE_EQ(*found.kernels[1].seconds, 1.5e-3);
    EXPECT_TRUE(found.left_out.empty());
    expect_words(found.lacking,
                 {"kernel 'axpy'", "--metrics smsp__sass_thread_inst_executed_op_ffma",
                  "dram__sectors_write.sum", "smsp__inst_executed.sum"});
}

// As ncu writes them: a line without a rule ends with the column before its description.
TEST(ProfilerMetrics, NcuDetailsWithShortLines) {
    const std::string header =
        "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
        "Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"\n";
    const std::string text = header + "\"0\",\"k\",\"S\",\"Duration\",\"us\",\"56.06\",\n" +
                             "\"0\",\"k\",\"S\",\"\",\"\",\"\",\"Bottleneck\",\"OPT\",\"Text\"\n" +
                             "\"0\",\"k\",\"S\",\"Executed Instructions\",\"inst\",\"14,103\",\n";
    const auto kernels = read(text);
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].warp_instructions, 14103);
    EXPECT_DOUBLE_EQ(*kernels[0].seconds, 56.06e-6);
    expect_refused(text + "\"0\",\"k\",\"S\",\"Duration\",\"us\"\n",
                   {"p.csv:5: has 5 fields, but the header has 9"});
    expect_refused(text + "\"0\",\"k\",\"S\",\"Duration\",\"us\",\"1\",,,,\n",
                   {"p.csv:5: has 10 fields, but the header has 9"});
}

TEST(ProfilerMetrics, CountsThatCannotBeAreRefused) {
    std::string more = ncu_long(true);
    const std::string from = "op_ffma_pred_on.sum\",\"inst\",\"1,048,576\"";
    more.replace(more.find(from), from.size(), "op_ffma_pred_on.sum\",\"inst\",\"5,048,576\"");
    expect_refused(more, {"p.csv", "saxpy", "more than fp32"});
    std::string large = nvprof_table();
    const std::string count = "458752,458752,458752";
    large.replace(large.find(count), count.size(), "1e300,1e300,1e300");
    expect_words(parameters_from_profiler(large, "p.csv").left_out.at(0),
                 {"p.csv:5", "inst_executed", "1e30"});
    expect_refused(ncu_long(true, ""), {"Kernel Name", "empty"});
}

// What the commands collect is what the readers need.
TEST(ProfilerMetrics, TheCommandsNameEveryMetric) {
    for (const Count& one : counts) {
        EXPECT_NE(ncu_command("./a").find(one.ncu), std::string::npos);
        EXPECT_NE(nvprof_command("./a").find(one.nvprof), std::string::npos);
    }
    EXPECT_NE(ncu_command("./a --n 4").find("./a --n 4"), std::string::npos);
}

}  // namespace
}  // namespace occupipe::analysis

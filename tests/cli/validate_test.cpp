// SPDX-License-Identifier: MIT
// validate from the command line, on recorded machine code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/bench/cuda/executing_driver.h"
#include "tests/cli/command.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::test {
namespace {

using testing::HasSubstr;

const std::string root = OCCUPIPE_SOURCE_DIR;
const std::string profile = root + "/profiles/nvidia-rtx-2070.yaml";

std::vector<std::string> command(const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "validate", "--profile", profile, "--machine-code", root + "/tests/suite/recorded",
        "--size",   "small"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

nlohmann::json json_of(const std::filesystem::path& file) {
    return nlohmann::json::parse(read_text_file(file));
}

nlohmann::json tables(const TemporaryFolder& folder) {
    return nlohmann::json::parse(read_text_file(folder.path / "out/tables.json"));
}

TEST(Validate, WritesCurvesAndTablesAndGoesOn) {
    const TemporaryFolder folder;
    const auto words =
        command({"--kernel", "fan2,lud_internal,matmul_mma", "--device",
                 "model:" + profile + "?policy=gto", "-o", (folder.path / "out").string()});
    const Outcome first = occupipe(words);
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_THAT(first.out, HasSubstr("The device differs from the profile: policy gto."));
    EXPECT_THAT(first.out, HasSubstr("favours pipeline by construction"));
    EXPECT_THAT(first.out, HasSubstr("matmul_mma is not predicted"));
    // Table 12: 24.5 / 7 of Fan2 by the Pipeline model.
    EXPECT_THAT(first.out, HasSubstr("24.5 / 7.0"));
    EXPECT_THAT(first.out, HasSubstr("By mean MAPE:"));
    const auto json = tables(folder);
    EXPECT_EQ(json["kernels"].size(), 3U);
    EXPECT_DOUBLE_EQ(json["kernels"][0]["models"]["pipeline"]["published"]["mape"], 24.5);
    EXPECT_EQ(json["means"].size(), 8U);
    EXPECT_EQ(json["means"][0]["rank"], 1);
    EXPECT_THAT(read_text_file(folder.path / "out/tables.md"), HasSubstr("| fan2"));
    EXPECT_THAT(read_text_file(folder.path / "out/accuracy.csv"), HasSubstr("\nmean,pipeline,"));

    std::filesystem::remove(folder.path / "out/curves/fan2.json");
    const Outcome second = occupipe(words);
    EXPECT_EQ(second.code, 0);
    EXPECT_EQ(second.out, first.out);
    EXPECT_THAT(second.err, HasSubstr("2 of 3 kernels were there already"));
    auto other = words;
    other.insert(other.end(), {"--waves", "3"});
    EXPECT_THAT(occupipe(other).err, Not(HasSubstr("were there already")));
}

// A machine that takes twice the predicted cycles has half the throughput: an error of 100 %.
TEST(Validate, ADumpComesBackWithTimes) {
    const TemporaryFolder folder;
    const auto dump = folder.path / "dump";
    const Outcome written = occupipe(command({"--kernel", "fan2", "--dump", dump.string()}));
    ASSERT_EQ(written.code, 0) << written.err;
    for (const char* file : {"gaussian.cu", "portable.h", "small/gaussian.yaml"})
        EXPECT_TRUE(std::filesystem::exists(dump / file)) << file;
    const std::string table = read_text_file(dump / "launches.csv");
    EXPECT_EQ(occupipe(command({"--import", (dump / "launches.csv").string(), "-o",
                                (folder.path / "out").string()}))
                  .code,
              2);  // no cycles yet

    const auto with_cycles = [&](const auto& cycles_of) {
        std::istringstream lines(table);
        std::string filled, line;
        for (int i = 0; std::getline(lines, line); ++i)
            filled += line + (i == 0 ? std::string() : cycles_of(i - 1)) + "\n";
        write_text_file(dump / "filled.csv", filled, Overwrite::yes);
    };
    const auto import =
        command({"--kernel", "fan2", "--model", "pipeline", "--import",
                 (dump / "filled.csv").string(), "-o", (folder.path / "out").string()});
    with_cycles([](int) { return std::string("1000"); });
    ASSERT_EQ(occupipe(import).code, 0);
    const auto curve = nlohmann::json::parse(read_text_file(folder.path / "out/curves/fan2.json"));
    // The table has most groups first, the curve fewest.
    const auto& points = curve["points"];
    with_cycles([&](int i) {
        const auto& point = points[points.size() - 1 - static_cast<std::size_t>(i)];
        return fmt::format("{}", 2 * point["predicted"]["pipeline"]["cycles"].get<double>());
    });
    ASSERT_EQ(occupipe(import).code, 0);
    EXPECT_NEAR(tables(folder)["kernels"][0]["models"]["pipeline"]["mape"].get<double>(), 100,
                1e-6);
}

TEST(Validate, ADumpForAnOlderGpuSaysWhoseRegistersItCounts) {
    const TemporaryFolder folder;
    const auto said = [&](const std::string& gpu) {
        std::vector<std::string> words =
            command({"--kernel", "fan2", "--dump", (folder.path / gpu).string()});
        words[2] = root + "/profiles/" + gpu;
        const Outcome run = occupipe(words);
        EXPECT_EQ(run.code, 0) << run.err;
        return run.err;
    };
    EXPECT_THAT(said("nvidia-gtx-1060.yaml"), HasSubstr("its counts of registers say"));
    EXPECT_THAT(said("nvidia-rtx-2070.yaml"), Not(HasSubstr("counts of registers")));
}

TEST(Validate, TimesOfOtherKernelsAndOtherGroupsAreRefused) {
    const TemporaryFolder folder;
    const auto import = [&](const std::string& row) {
        write_text_file(
            folder.path / "times.csv",
            "kernel,group_warps,concurrent_groups,groups,shared_bytes,cycles\n" + row + "\n",
            Overwrite::yes);
        return occupipe(command({"--import", (folder.path / "times.csv").string(), "--model",
                                 "pipeline", "-o", (folder.path / "out").string()}));
    };
    const Outcome misspelt = import("fan3,16,1,64,0,1000");
    EXPECT_EQ(misspelt.code, 2);
    EXPECT_THAT(misspelt.err, HasSubstr("times.csv: kernel: 'fan3' is not among the kernels"));
    const Outcome smaller = import("fan2,1,1,64,0,1000");
    EXPECT_EQ(smaller.code, 2);
    EXPECT_THAT(smaller.err, HasSubstr("times.csv: group_warps: fan2: 1 warps of a group"));
    const Outcome of_large = import("fan2,2,1,16384,0,1000");
    EXPECT_EQ(of_large.code, 2);
    EXPECT_THAT(of_large.err,
                HasSubstr("groups: fan2: 16384, and the launch file of --size small has 9"));
    const Outcome crowded = import("fan2,2,17,9,0,1000");
    EXPECT_EQ(crowded.code, 2);
    EXPECT_THAT(crowded.err, HasSubstr("concurrent_groups: fan2: 17, and with 0 bytes of shared "
                                       "memory a core of NVIDIA"));
    EXPECT_EQ(import("fan2,2,8,9,0,1000").code, 2);
    EXPECT_EQ(import("fan2,2,16,9,99999999,1000").code, 2);
    EXPECT_EQ(import("fan2,2,16,9,0,1000").code, 0);
}

// The same launch on the way of `predict`, with the same numbers for what the profile lacks.
void expect_as_predict(const std::string& kernel, const std::string& file,
                       const std::vector<std::string>& pricing) {
    const TemporaryFolder folder;
    auto words = command({"--kernel", kernel, "--model", "pipeline,mwp-cwp,wfg", "-o",
                          (folder.path / "out").string()});
    words.insert(words.end(), pricing.begin(), pricing.end());
    const Outcome run = occupipe(words);
    ASSERT_EQ(run.code, 0) << run.err;
    const auto curve =
        nlohmann::json::parse(read_text_file(folder.path / ("out/curves/" + kernel + ".json")));
    std::vector<std::string> uses;
    const std::string middle = " uses the numbers of ", end = " for its class";
    for (const std::string said : curve["assumptions"]) {
        const std::size_t at = said.find(middle), to = said.find(end);
        if (to == said.npos) continue;
        const std::size_t from = at + middle.size();
        uses.insert(uses.end(), {"--use", said.substr(0, at) + "=" + said.substr(from, to - from)});
    }
    for (const auto& point : {curve["points"].front(), curve["points"].back()}) {
        std::vector<std::string> other = {"predict",
                                          root + "/tests/suite/recorded/sm_75/" + file + ".cubin",
                                          "--kernel",
                                          kernel,
                                          "--launch",
                                          folder.path / (file + ".yaml"),
                                          "--profile",
                                          profile,
                                          "--model",
                                          "pipeline,mwp-cwp,wfg",
                                          "--json",
                                          "--concurrent-groups",
                                          std::to_string(point["concurrent_groups"].get<int>()),
                                          "--groups",
                                          std::to_string(point["groups"].get<int>())};
        other.insert(other.end(), uses.begin(), uses.end());
        other.insert(other.end(), pricing.begin(), pricing.end());
        // The machine code is another than the file's. Its options of a compiler do no harm.
        std::istringstream lines(read_text_file(root + "/kernels/small/" + file + ".yaml"));
        std::string launches, line;
        while (std::getline(lines, line))
            if (!line.starts_with("source") && !line.starts_with("architecture"))
                launches += line + "\n";
        write_text_file(folder.path / (file + ".yaml"), launches, Overwrite::yes);
        const Outcome predicted = occupipe(other);
        ASSERT_EQ(predicted.code, 0) << predicted.err;
        const auto predictions = nlohmann::json::parse(predicted.out);
        ASSERT_EQ(predictions["predictions"].size(), 3U);
        for (const auto& one : predictions["predictions"]) {
            const std::string model = one["model"];
            EXPECT_DOUBLE_EQ(one["cycles"].get<double>(),
                             point["predicted"][model]["cycles"].get<double>())
                << kernel << ' ' << model << ' ' << point["concurrent_groups"];
        }
    }
}

TEST(Validate, PredictsAsPredictDoes) {
    for (const char* pricing : {"per-access", "aggregate", "none"}) {
        expect_as_predict("hotspot", "hotspot3d", {"--memory", pricing});
        expect_as_predict("bpnn_layerforward", "backprop", {"--memory", pricing});
    }
}

// A profiler that counted one instruction in ten more than `execute` does.
TEST(Validate, ProfilersCountsStandBeside) {
    const TemporaryFolder folder;
    std::istringstream lines(read_text_file(root + "/kernels/small/srad.yaml"));
    std::string launches, line;
    while (std::getline(lines, line))
        if (!line.starts_with("source") && !line.starts_with("architecture"))
            launches += line + "\n";
    write_text_file(folder.path / "srad.yaml", launches, Overwrite::no);
    const Outcome counted = occupipe({"execute", root + "/tests/suite/recorded/sm_75/srad.cubin",
                                      "--launch", (folder.path / "srad.yaml").string(), "--json",
                                      (folder.path / "counted.json").string()});
    ASSERT_EQ(counted.code, 0) << counted.err;
    double instructions = 0, loads = 0;
    const auto counts = json_of(folder.path / "counted.json");
    for (const auto& one : counts["launches"]) {
        if (one["kernel"] != "srad1" || instructions > 0) continue;
        const double times = one["times"];
        instructions = one["warp_instructions"].get<double>() / times;
        for (const auto& at : one["instructions"])
            if (at.contains("memory"))
                for (const auto& memory : at["memory"])
                    if (memory["space"] == "global" && memory["kind"] == "load")
                        loads += memory["sectors"].get<double>() / times;
    }
    ASSERT_GT(loads, 0);
    write_text_file(
        folder.path / "ncu.csv",
        fmt::format("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                    "\"0\",\"srad1(const float *, int)\",\"smsp__inst_executed.sum\",\"inst\","
                    "\"{:.0f}\"\n"
                    "\"0\",\"srad1(const float *, int)\","
                    "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"sector\",\"{:.0f}\"\n",
                    1.1 * instructions, loads),
        Overwrite::no);
    const auto words =
        command({"--kernel", "srad1,fan2", "--model", "pipeline", "--ncu",
                 (folder.path / "ncu.csv").string(), "-o", (folder.path / "out").string()});
    const Outcome run = occupipe(words);
    ASSERT_EQ(run.code, 0) << run.err;
    const std::string table = read_text_file(folder.path / "out/counters.csv");
    EXPECT_THAT(table, HasSubstr(fmt::format("srad1,warp-instructions,{:.0f},{:.0f}\n",
                                             instructions, 1.1 * instructions)));
    EXPECT_THAT(table,
                HasSubstr(fmt::format("srad1,sectors of global loads,{0:.0f},{0:.0f}\n", loads)));
    // The profile does not tell the size of the second level, the profiler no bytes.
    EXPECT_THAT(table, HasSubstr("srad1,bytes from and to DRAM,,\n"));
    EXPECT_THAT(table, Not(HasSubstr("fan2")));
    EXPECT_THAT(run.out, HasSubstr("-9.1 %"));
}

// fan2, whose groups differ, issues some 53,000 instructions on all cores, sgemm hundred thousands
// on one.
TEST(Validate, SaysWhatIsKeptWhereItEnds) {
    const TemporaryFolder folder;
    const auto words = [&](const std::string& limit) {
        return command({"--kernel", "fan2,sgemm", "--model", "pipeline", "--limit", limit, "-o",
                        (folder.path / "out").string()});
    };
    const Outcome ended = occupipe(words("60000"));
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err,
                HasSubstr("1 of 2 kernels are kept in " + (folder.path / "out/curves").string() +
                          "; sgemm and those after it are not. The same command goes on with it."));
    EXPECT_TRUE(std::filesystem::exists(folder.path / "out/curves/fan2.json"));
    const Outcome rest = occupipe(words("100000000"));
    EXPECT_EQ(rest.code, 0) << rest.err;
    EXPECT_THAT(rest.err, HasSubstr("1 of 2 kernels were there already"));
}

TEST(Validate, ADeviceOfAnotherProfileIsSaid) {
    const TemporaryFolder folder;
    const auto said = [&](const std::string& other) {
        return occupipe(command({"--kernel", "fan2", "--model", "pipeline", "--device",
                                 "model:" + other, "-o", (folder.path / "out").string()}))
            .out;
    };
    EXPECT_THAT(said(root + "/profiles/nvidia-gtx-1060.yaml"),
                HasSubstr("differs from the profile: the profile of NVIDIA GeForce GTX 1060"));
    EXPECT_THAT(said(profile), HasSubstr("It is the profile's own model."));
    const std::string whole = read_text_file(profile);
    const std::size_t load = whole.find("  ld.global.s32:");
    write_text_file(folder.path / "less.yaml",
                    whole.substr(0, load) + whole.substr(whole.find("  ld.shared.s32:")),
                    Overwrite::no);
    const Outcome less = occupipe(command({"--kernel", "fan2", "--model", "pipeline", "--device",
                                           "model:" + (folder.path / "less.yaml").string(), "-o",
                                           (folder.path / "less").string()}));
    EXPECT_EQ(less.code, 0);
    EXPECT_THAT(less.err, HasSubstr("less.yaml has no numbers for ld.global.f32"));
}

TEST(Validate, WithoutADevicePredicts) {
    const TemporaryFolder folder;
    const Outcome run = occupipe(command(
        {"--kernel", "sor", "--model", "pipeline,volkov", "-o", (folder.path / "out").string()}));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("nothing was measured"));
    EXPECT_FALSE(tables(folder).contains("device"));
}

TEST(Validate, TakesAnyonesLaunchFile) {
    const TemporaryFolder folder;
    const std::vector<std::string> words = {"validate",
                                            "--profile",
                                            profile,
                                            "--launch",
                                            root + "/tests/kernels/saxpy.yaml",
                                            "--machine-code",
                                            root + "/tests/kernels/recorded",
                                            "--model",
                                            "pipeline",
                                            "-o",
                                            (folder.path / "out").string()};
    const Outcome run = occupipe(words);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(std::filesystem::exists(folder.path / "out/curves/saxpy.json"));
}

TEST(Validate, OtherMachineCodeIsNotTakenForTheSame) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path / "code");
    std::filesystem::copy(root + "/tests/suite/recorded/sm_75", folder.path / "code/sm_75",
                          std::filesystem::copy_options::recursive);
    const std::vector<std::string> words = {"validate",
                                            "--profile",
                                            profile,
                                            "--machine-code",
                                            (folder.path / "code").string(),
                                            "--size",
                                            "small",
                                            "--kernel",
                                            "fan2",
                                            "--model",
                                            "pipeline",
                                            "-o",
                                            (folder.path / "out").string()};
    ASSERT_EQ(occupipe(words).code, 0);
    EXPECT_THAT(occupipe(words).err, HasSubstr("1 of 1 kernels were there already"));
    std::ofstream(folder.path / "code/sm_75/gaussian.cubin", std::ios::app) << '\0';
    const Outcome again = occupipe(words);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, Not(HasSubstr("were there already")));
}

// CUDA's driver as executing_driver.cpp has it.
class ValidateOnCuda : public testing::Test {
protected:
    ValidateOnCuda() { setenv("OCCUPIPE_CUDA_DRIVER", OCCUPIPE_FORWARDING_LIBCUDA, 1); }
    ~ValidateOnCuda() override {
        unsetenv("OCCUPIPE_CUDA_DRIVER");
        spoilt_byte.reset();
    }

    std::vector<std::string> words(const std::string& kernels) const {
        return command({"--kernel", kernels, "--model", "pipeline", "--repetitions", "1",
                        "--device", "cuda:0", "-o", (folder.path / "out").string()});
    }

    TemporaryFolder folder;
};

// Its launches take a nanosecond per warp-instruction and group at once: cycles follow from
// what `execute` counts and the profile's clock.
TEST_F(ValidateOnCuda, ChecksResultsAndTimesEveryOccupancy) {
    const Outcome run = occupipe(words("kmeans_swap,lud_internal,hotspot,reduction"));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("computes what executed machine code does, 4 kernels"));
    EXPECT_EQ(tables(folder)["device"], "cuda:0");
    const auto curve =
        nlohmann::json::parse(read_text_file(folder.path / "out/curves/kmeans_swap.json"));
    std::istringstream lines(read_text_file(root + "/kernels/small/kmeans.yaml"));
    std::string launches, line;
    while (std::getline(lines, line))
        if (!line.starts_with("source") && !line.starts_with("architecture"))
            launches += line + "\n";
    write_text_file(folder.path / "kmeans.yaml", launches, Overwrite::no);
    const Outcome counted = occupipe({"execute", root + "/tests/suite/recorded/sm_75/kmeans.cubin",
                                      "--launch", (folder.path / "kmeans.yaml").string(), "--json",
                                      (folder.path / "counted.json").string()});
    ASSERT_EQ(counted.code, 0) << counted.err;
    double instructions = 0;
    const auto counts = json_of(folder.path / "counted.json");
    for (const auto& one : counts["launches"])
        if (one["kernel"] == "kmeans_swap") instructions = one["warp_instructions"];
    ASSERT_GT(instructions, 0);
    ASSERT_GT(curve["points"].size(), 4U);
    // This driver takes no PTX, in which the reader of a table is.
    EXPECT_THAT(curve["assumptions"].dump(), HasSubstr("caches were not emptied"));
    const double clock_hz = 1.41e9;  // of the profile
    for (const auto& point : curve["points"]) {
        const double groups = point["concurrent_groups"];
        // Events tell milliseconds in single precision.
        EXPECT_NEAR(point["measured"]["cycles"].get<double>(),
                    instructions * 1e-9 / groups * clock_hz,
                    1e-5 * instructions * 1e-9 / groups * clock_hz);
    }
}

TEST_F(ValidateOnCuda, AWrongResultEndsTheRun) {
    spoilt_byte = 1026;
    const Outcome run = occupipe(words("lud_internal"));
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.err, HasSubstr("cuda:0: "));
    EXPECT_THAT(run.err, HasSubstr("wrong"));
}

TEST_F(ValidateOnCuda, AProfileOfAnotherArchitectureIsRefused) {
    auto other = words("lud_internal");
    for (std::string& word : other)
        if (word == profile) word = root + "/profiles/nvidia-gtx-1060.yaml";
    const Outcome run = occupipe(other);
    EXPECT_EQ(run.code, 2);
    EXPECT_THAT(run.err, HasSubstr("has compute capability 7.5, the profile of"));
}

TEST_F(ValidateOnCuda, WithoutADeviceSaysSo) {
    auto other = words("lud_internal");
    for (std::string& word : other)
        if (word == "cuda:0") word = "cuda:7";
    EXPECT_EQ(occupipe(other).code, 3);
}

#if OCCUPIPE_OPENCL
TEST(Validate, ACpuComputesTheSameAndIsNotTimed) {
    const TemporaryFolder folder;
    const Outcome run =
        occupipe(command({"--kernel", "lud_internal,reduction", "--model", "pipeline", "--device",
                          "opencl:0.0", "-o", (folder.path / "out").string()}));
    if (run.code == 3) GTEST_SKIP() << run.err;
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("computes what executed machine code does, 2 kernels; it is a "
                                   "CPU"));
    EXPECT_FALSE(tables(folder).contains("device"));
}

// Another text than the machine code is of: 40 % more in one place.
TEST(Validate, AWrongResultIsNoticed) {
    const TemporaryFolder folder;
    std::string text = read_text_file(root + "/kernels/red_black_sor.cu");
    const std::string right = "FMA(0.25f, sum", wrong = "FMA(0.35f, sum";
    ASSERT_NE(text.find(right), std::string::npos);
    text.replace(text.find(right), right.size(), wrong);
    write_text_file(folder.path / "red_black_sor.cu", text, Overwrite::no);
    write_text_file(folder.path / "portable.h", read_text_file(root + "/kernels/portable.h"),
                    Overwrite::no);
    std::filesystem::create_directory(folder.path / "small");
    write_text_file(folder.path / "small/sor.yaml",
                    read_text_file(root + "/kernels/small/red_black_sor.yaml"), Overwrite::no);
    const Outcome run = occupipe(
        command({"--launch", (folder.path / "small/sor.yaml").string(), "--model", "pipeline",
                 "--device", "opencl:0.0", "-o", (folder.path / "out").string()}));
    if (run.code == 3) GTEST_SKIP() << run.err;
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.err, HasSubstr("elements of 'red' are wrong"));
}
#endif

TEST(Validate, RefusesWhatIsWrong) {
    const auto refused = [](const std::vector<std::string>& more) {
        const Outcome run = occupipe(command(more));
        EXPECT_EQ(run.code, 2);
        return run.err;
    };
    EXPECT_THAT(refused({}), HasSubstr("-o DIR"));
    EXPECT_THAT(refused({"-o", "/tmp/never", "--kernel", "sgem"}), HasSubstr("near: sgemm"));
    EXPECT_THAT(refused({"-o", "/tmp/never", "--device", "gpu"}), HasSubstr("opencl:PLATFORM"));
    EXPECT_THAT(refused({"-o", "/tmp/never", "--model", "best"}), HasSubstr("best"));
    const Outcome empty = occupipe({"validate", "-o", "/tmp/never", "--profile",
                                    root + "/automatch/devices/intel-i5-2400.yaml"});
    EXPECT_EQ(empty.code, 2);
    EXPECT_THAT(empty.err, HasSubstr("instructions: there are none"));
    const Outcome of_64 = occupipe(
        {"validate", "--dump", "/tmp/never", "--profile", root + "/profiles/amd-r9-380.yaml"});
    EXPECT_EQ(of_64.code, 2);
    EXPECT_THAT(of_64.err, HasSubstr("warp_size: 64"));
    EXPECT_THAT(refused({"-o", profile, "--kernel", "fan2"}),
                HasSubstr(profile + "/curves: Not a directory"));
}

}  // namespace
}  // namespace occupipe::test

// SPDX-License-Identifier: MIT
// `occupipe extract` and then `predict`, on recorded machine code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
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

class Extract : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (own.path / name).string(); }
    static ProgramRun extract(const std::string& kernel, std::vector<std::string> more) {
        more.insert(more.begin(), {"extract", recorded + kernel + ".cubin", "--launch",
                                   "tests/kernels/" + kernel + ".yaml"});
        return run_program(more);
    }

    test::TemporaryFolder own;
};

// A matrix of 250 × 125 words from and to DRAM, each of its 3907 sectors once, where a cache keeps
// those at the edges of tiles; some of them several times without.
TEST_F(Extract, WhatAKernelAsksOfTheMemoryIsPriced) {
    const ProgramRun made = extract("transpose", {"--cores", "4", "-o", path("k.yaml")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("Memory, per execution by a warp"));
    const Kernel kernel = read_kernel(path("k.yaml"));
    ASSERT_TRUE(kernel.memory);
    EXPECT_EQ(kernel.memory->cores, 4);
    EXPECT_EQ(kernel.memory->group_shared_bytes, 32 * 33 * 4);

    std::vector<std::string> predict = {"predict", path("k.yaml"), "--profile", "gtx-1060",
                                        "--json"};
    const ProgramRun refused = run_program(predict);
    std::string rest = refused.err;
    for (std::size_t at; (at = rest.find("--use ")) != std::string::npos;) {
        rest = rest.substr(at + 6);
        predict.insert(predict.end(),
                       {"--use", rest.substr(0, rest.find_first_of("= ")) + "=mul.f32"});
    }
    // Stores are priced even without a row; `none` wants one.
    EXPECT_THAT(refused.err, ::testing::Not(HasSubstr("st.global.f32")));
    predict.insert(predict.end(), {"--use", "st.global.f32=ld.global.s32"});
    const auto json_of = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = predict;
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProgramRun run = run_program(arguments);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return nlohmann::json::parse(run.out);
    };
    const auto cycles = [](const nlohmann::json& json) {
        return json["predictions"][0]["cycles"].get<double>();
    };
    const auto priced = json_of({"--l2-bytes", "1000000"});
    // What is written stays in the second level.
    EXPECT_NEAR(priced["memory"]["dram_ratio"], 3907 * 32 / 250'000.0, 1e-4);
    EXPECT_DOUBLE_EQ(priced["memory"]["conflict_degree"], 0);
    const auto& load = priced["memory"]["instructions"][0];
    EXPECT_EQ(load["op"], "ld.global.f32");
    EXPECT_GT(load["sectors"], load["least_sectors"]);
    EXPECT_DOUBLE_EQ(load["l2_share"].get<double>() + load["dram_share"].get<double>(), 1);
    const auto forgetful = json_of({"--l2-bytes", "1"});
    EXPECT_GT(forgetful["memory"]["dram_ratio"], 1);
    EXPECT_GT(cycles(forgetful), cycles(json_of({"--memory", "none"})));
    const double none = cycles(json_of({"--memory", "none"}));
    const double aggregate = cycles(json_of({"--memory", "aggregate", "--l2-bytes", "1000000"}));
    // All but the loads and stores without an active lane, which are issue slots.
    EXPECT_NEAR(aggregate / none, 1, 5e-3);
}

TEST_F(Extract, AnExecutedKernelIsPredicted) {
    const ProgramRun made = extract("matmul", {"-o", path("k.yaml")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, AllOf(HasSubstr("matmul for sm_80: 42 groups; a core holds"),
                                HasSubstr("fma.f32"), HasSubstr("group 0, warp 0")));
    const Kernel kernel = read_kernel(path("k.yaml"));
    EXPECT_EQ(kernel.order, Order::in_order);
    ASSERT_TRUE(kernel.launch);
    EXPECT_EQ(kernel.launch->groups, 42);
    EXPECT_EQ(kernel.launch->group_warps, 8);

    // What a profile of the nine instructions of a paper lacks is asked for, all at once; with
    // substitutes there is a prediction, which names the slots.
    std::vector<std::string> predict = {"predict", path("k.yaml"), "--profile", "gtx-1060"};
    const ProgramRun refused = run_program(predict);
    EXPECT_EQ(refused.exit_code, 2);
    std::string rest = refused.err;
    for (std::size_t at; (at = rest.find("--use ")) != std::string::npos;) {
        rest = rest.substr(at + 6);
        predict.insert(predict.end(),
                       {"--use", rest.substr(0, rest.find_first_of("= ")) + "=mul.f32"});
    }
    ASSERT_GT(predict.size(), 8U);
    const ProgramRun predicted = run_program(predict);
    EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
    EXPECT_THAT(predicted.out, AllOf(HasSubstr("pipeline"), HasSubstr("issue.slot (moves")));
}

// Adds what a refused prediction asks for, all from one instruction of the profile.
std::vector<std::string> with_uses(std::vector<std::string> command) {
    std::string rest = run_program(command).err;
    for (std::size_t at; (at = rest.find("--use ")) != std::string::npos;) {
        rest = rest.substr(at + 6);
        command.insert(command.end(),
                       {"--use", rest.substr(0, rest.find_first_of("= ")) + "=mul.f32"});
    }
    return command;
}

// Of twelve warps eleven execute 11 instructions and one 189. Groups have two: each warp stands
// where it was, and nothing is left out.
TEST_F(Extract, WarpsStandInTheirGroups) {
    const ProgramRun made = extract("bfs", {"--kernel", "bfs_level", "-o", path("bfs.yaml")});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(made.err, "");
    const Kernel kernel = read_kernel(path("bfs.yaml"));
    ASSERT_TRUE(kernel.groups);
    std::map<std::int64_t, std::int64_t> warps;  // by how much they execute
    for (const GroupKinds::Run& run : kernel.groups->order)
        for (const std::int32_t program : kernel.groups->kinds[static_cast<std::size_t>(run.kind)])
            warps[instruction_count(kernel.warps[static_cast<std::size_t>(program)])] += run.groups;
    EXPECT_EQ(warps, (std::map<std::int64_t, std::int64_t>{{11, 11}, {189, 1}}));
}

// Code for sm_80 on a GPU of compute capability 6.1, with as many groups at once as are asked for.
TEST_F(Extract, PredictionsSayWhatTheyDoNotFollow) {
    const ProgramRun run = run_program(with_uses(
        {"predict", recorded + "transpose.cubin", "--launch", "tests/kernels/transpose.yaml",
         "--profile", "gtx-1060", "--concurrent-groups", "1"}));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out,
                AllOf(HasSubstr("the code is of sm_80"), HasSubstr("of compute capability 6.1"),
                      HasSubstr("1 group at once on a core is predicted, not the 8")));
    EXPECT_THAT(run.out, ::testing::Not(HasSubstr("reuse was found for 8")));
    const ProgramRun made = extract("transpose", {"--profile", "gtx-1060", "-o", path("k.yaml")});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const ProgramRun told = run_program(with_uses(
        {"predict", path("k.yaml"), "--profile", "gtx-1060", "--concurrent-groups", "1"}));
    EXPECT_THAT(told.out,
                HasSubstr("reuse was found for 8 groups at once on a core, the launch has 1"));
}

// One command or two: the same numbers, by every model and at every occupancy.
TEST_F(Extract, MachineCodeIsPredictedAsItsKernelFileIs) {
    const std::vector<std::string> launch = {"--launch", "tests/kernels/matmul.yaml", "--sample",
                                             "all"};
    std::vector<std::string> first = {
        "extract", recorded + "matmul.cubin", "-o", path("k.yaml"), "--profile", "gtx-1060"};
    first.insert(first.end(), launch.begin(), launch.end());
    ASSERT_EQ(run_program(first).exit_code, 0);
    const std::vector<std::string> models = {"--profile",   "gtx-1060", "--model",  "all",
                                             "--occupancy", "all",      "--memory", "none"};
    std::vector<std::string> two = {"predict", path("k.yaml")};
    two.insert(two.end(), models.begin(), models.end());
    std::vector<std::string> one = {"predict", recorded + "matmul.cubin"};
    one.insert(one.end(), launch.begin(), launch.end());
    one.insert(one.end(), models.begin(), models.end());
    std::vector<std::string> compared = one;
    two = with_uses(two);
    one = with_uses(one);
    one.emplace_back("--json");
    two.emplace_back("--json");
    const ProgramRun from_code = run_program(one), from_file = run_program(two);
    ASSERT_EQ(from_code.exit_code, 0) << from_code.err;
    ASSERT_EQ(from_file.exit_code, 0) << from_file.err;
    auto code = nlohmann::json::parse(from_code.out), file = nlohmann::json::parse(from_file.out);
    ASSERT_GT(code["predictions"].size(), 10U);
    ASSERT_EQ(code["predictions"].size(), file["predictions"].size());
    for (std::size_t i = 0; i < code["predictions"].size(); ++i)
        EXPECT_EQ(code["predictions"][i]["cycles"], file["predictions"][i]["cycles"]) << i;
    EXPECT_THAT(from_code.out, AllOf(HasSubstr("all 42 groups were executed"),
                                     HasSubstr("a core of sm_80 holds")));

    for (std::string& word : one)
        if (word == "all" && &word > &one[0] && *(&word - 1) == "--sample") word = "4";
    EXPECT_THAT(run_program(one).out, HasSubstr("6 of 42 groups represent all"));

    // The models are ranked by their distance to the simulation, as with a file of predictions.
    write_text_file(path("p.json"), from_code.out, Overwrite::no);
    const ProgramRun of_file = run_program({"compare", path("p.json"), "--csv"});
    compared = {"compare", recorded + "matmul.cubin", "--profile", "gtx-1060", "--csv"};
    compared.insert(compared.end(), launch.begin(), launch.end());
    for (std::size_t i = 0; i + 1 < one.size(); ++i)
        if (one[i] == "--use") compared.insert(compared.end(), {"--use", one[i + 1]});
    std::vector<std::string> unpriced = compared;
    unpriced.insert(unpriced.end(), {"--memory", "none"});
    const ProgramRun of_code = run_program(unpriced);
    EXPECT_EQ(of_code.exit_code, 0) << of_code.err;
    EXPECT_EQ(of_code.out, of_file.out);

    // With memory priced, which changes the prediction, too.
    for (std::string& word : one)
        if (word == "none") word = "per-access";
    for (std::string& word : one)
        if (word == "4") word = "all";
    const ProgramRun priced = run_program(one);
    ASSERT_EQ(priced.exit_code, 0) << priced.err;
    EXPECT_NE(nlohmann::json::parse(priced.out)["predictions"][0]["cycles"],
              code["predictions"][0]["cycles"]);
    write_text_file(path("p2.json"), priced.out, Overwrite::no);
    const ProgramRun from_priced = run_program(compared);
    EXPECT_EQ(from_priced.exit_code, 0) << from_priced.err;
    EXPECT_EQ(from_priced.out, run_program({"compare", path("p2.json"), "--csv"}).out);
}

// Why and how sure: all that a kernel file can be asked.
TEST_F(Extract, MachineCodeIsExplained) {
    GpuProfile profile =
        read_profile(std::string(OCCUPIPE_SOURCE_DIR) + "/profiles/nvidia-gtx-1060.yaml");
    for (InstructionTiming& one : profile.instructions) one.cpi.std_error = 0.1 * one.cpi.value;
    write_text_file(path("p.yaml"), format_profile(profile), Overwrite::no);
    const ProgramRun run =
        run_program(with_uses({"predict", recorded + "reduction.cubin", "--launch",
                               "tests/kernels/reduction.yaml", "--profile", path("p.yaml"),
                               "--stalls", "--timeline", "--sensitivity", "--uncertainty", "20"}));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("Where the warps' time goes"), HasSubstr("10 % better"),
                               HasSubstr("From the standard errors"),
                               HasSubstr(" with λ and Λ of the access ")));
    // Reasons first, then the longest waits and the rest in one line: each sums to all.
    const std::size_t reasons = run.out.find("Where the warps' time goes");
    const std::size_t instructions = run.out.find("By instruction:");
    ASSERT_NE(instructions, std::string::npos) << run.out;
    const auto shares = [&](std::size_t from) {
        std::vector<double> found;
        std::istringstream lines(run.out.substr(from));
        std::string line;
        std::getline(lines, line);
        while (std::getline(lines, line) && !line.empty())
            if (line.find(" %") != std::string::npos) found.push_back(std::stod(line));
        return found;
    };
    const auto sum = [](const std::vector<double>& all) {
        return std::accumulate(all.begin(), all.end(), 0.0);
    };
    EXPECT_NEAR(sum(shares(reasons)), 100, 0.1) << run.out;
    EXPECT_NEAR(sum(shares(instructions)), 100, 0.2) << run.out;
    EXPECT_EQ(shares(instructions).size(), 16u);
    EXPECT_THAT(run.out, HasSubstr(" others (--json)"));
}

// A setting moves the prediction, or its reader is told that it does not.
TEST_F(Extract, ASettingWithoutEffectIsNamed) {
    const auto predicted = [&](const char* setting) {
        return run_program({"predict", recorded + "matmul.cubin", "--launch",
                            "tests/kernels/matmul.yaml", "--profile", "rtx-2080-ti", "--set",
                            setting});
    };
    const ProgramRun shared = predicted("ld.shared.u32.cpi=80");
    const ProgramRun global = predicted("ld.global.f32.latency=7");
    ASSERT_EQ(shared.exit_code, 0) << shared.err;
    ASSERT_EQ(global.exit_code, 0) << global.err;
    EXPECT_THAT(shared.out + shared.err, Not(HasSubstr("has no effect")));
    EXPECT_THAT(global.out + global.err,
                HasSubstr("ld.global.f32.latency has no effect: the kernel takes nothing from it"));
    EXPECT_NE(shared.out.substr(0, 400), global.out.substr(0, 400));  // the table
}

// What is said of the kernel, as JSON; the kernel file beside it.
TEST_F(Extract, TellsItAsJson) {
    const ProgramRun made =
        extract("matmul", {"--json", "-o", path("k.yaml"), "--profile", "gtx-1060"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const auto json = nlohmann::json::parse(made.out);
    EXPECT_EQ(json["format"], "occupipe-extraction/1");
    EXPECT_EQ(json["groups"], 42);
    EXPECT_EQ(json["executed_groups"], 42);
    double shares = 0;
    for (const auto& one : json["classes"]) shares += one["share"].get<double>();
    EXPECT_NEAR(shares, 1, 1e-9);
    EXPECT_FALSE(json["lacking"].empty());
    EXPECT_FALSE(json["memory"]["instructions"].empty());
    EXPECT_EQ(read_kernel(path("k.yaml")).name, json["kernel"]);
}

TEST_F(Extract, OptionsOfExecutingDoNotGoWithKernelFiles) {
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--sample", "all"}, {"--classes", "3"}, {"--step", "2"}}) {
        std::vector<std::string> command = {"predict", "saxpy", "--profile", "rtx-2070"};
        command.insert(command.end(), more.begin(), more.end());
        const ProgramRun run = run_program(command);
        EXPECT_EQ(run.exit_code, 2);
        EXPECT_THAT(run.err, HasSubstr("--args and --sample go with CUDA")) << more[0];
    }
    const ProgramRun run =
        run_program({"predict", recorded + "matmul.cubin", "--launch", "tests/kernels/matmul.yaml",
                     "--profile", "rtx-2070", "--group-warps", "7"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("--group-warps is for kernel graphs"));
}

TEST_F(Extract, PredictSaysWhatItNeeds) {
    const auto refuses = [](const std::vector<std::string>& more, const std::string& text) {
        std::vector<std::string> command = {"predict", "--profile", "gtx-1060"};
        command.insert(command.end(), more.begin(), more.end());
        const ProgramRun run = run_program(command);
        EXPECT_EQ(run.exit_code, 2) << run.err;
        EXPECT_THAT(run.err, HasSubstr(text));
    };
    refuses({}, "which kernel?");
    refuses({recorded + "matmul.cubin"}, "--template");
    refuses({"saxpy", "--grid", "4"}, "go with CUDA (.cu)");
    refuses({recorded + "matmul.cubin", "--launch", "tests/kernels/matmul.yaml", "--sample", "0"},
            "--sample 0: expected auto, all, or a whole number");
    refuses({recorded + "scan.cubin", "--launch", "tests/kernels/scan.yaml", "--kernel", "scam"},
            "scan");
    refuses({recorded + "scan.cubin", "--launch", "tests/kernels/scan.yaml", "--step", "99"},
            "--sample step=99: there are");
}

TEST_F(Extract, TheResultDoesNotDependOnThreads) {
    const ProgramRun one = extract("histogram", {"--threads", "1"});
    const ProgramRun many = extract("histogram", {"--threads", "4"});
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(one.out, many.out);
    EXPECT_EQ(one.err, many.err);
}

TEST_F(Extract, RefusesWhatIsNotThere) {
    const auto refuses = [&](const std::vector<std::string>& more, const std::string& text) {
        const ProgramRun run = extract("matmul", more);
        EXPECT_EQ(run.exit_code, 2) << run.err;
        EXPECT_THAT(run.err, HasSubstr(text));
    };
    refuses({"--kernel", "matmull"}, "matmul");
    refuses({"--step", "2"}, "--sample step=2: there is 1 such launch");
    refuses({"--profile", "gtx-1061"}, "gtx-1061");
    refuses({"-o", "tests/kernels/matmul.yaml"}, "tests/kernels/matmul.yaml");
    const ProgramRun first = extract("matmul", {"-o", path("k.yaml")});
    EXPECT_EQ(first.exit_code, 0) << first.err;
    const std::string before = read_text_file(path("k.yaml"));
    EXPECT_EQ(extract("matmul", {"-o", path("k.yaml"), "--classes", "1"}).exit_code, 2);
    EXPECT_EQ(read_text_file(path("k.yaml")), before);
    const ProgramRun again = extract("matmul", {"-o", path("k.yaml"), "--classes", "1", "--force"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("1 of 5 classes of warps are kept"));
}

}  // namespace
}  // namespace occupipe::cli

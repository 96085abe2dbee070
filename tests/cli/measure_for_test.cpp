// SPDX-License-Identifier: MIT
// `measure --for KERNEL`: from a profile that lacks rows to a prediction, on a simulated device
// whose λ and Λ are known; and `predict --assume-latency`, against closed forms.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/files/files.h"
#include "core/gpu_profile.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::test {
namespace {

using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string device = "model:profiles/nvidia-gtx-1060.yaml";

class MeasureFor : public ::testing::Test {
protected:
    std::string at(const std::string& name) const { return (work.path / name).string(); }
    std::string written(const std::string& name, const std::string& text) const {
        std::ofstream(at(name)) << text;
        return at(name);
    }
    // Chains of these ops, one after the other.
    std::string kernel(const std::vector<std::string>& ops) const {
        std::string text = "format: occupipe-kernel/1\nname: chains\ninstructions:\n";
        for (std::size_t i = 0; i < ops.size(); ++i)
            text += fmt::format(
                "  - repeat: 64\n    body:\n      - {{id: x{0}, op: {1}, after: [x{0}@-1]}}\n", i,
                ops[i]);
        text += "launch: {group_warps: 4, concurrent_groups: 2, groups: 40}\n";
        return written("kernel.yaml", text);
    }
    // Of the simulated device, with these instructions alone.
    std::string profile_with(const std::string& instructions) const {
        ProgramRun run = run_program({"measure", "--device", device, "--quick", "--instructions",
                                      instructions, "-o", at("base.json")});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        run = run_program({"fit", at("base.json"), "-o", at("base.yaml")});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return at("base.yaml");
    }
    ProgramRun measure_for(const std::string& kernel_file, const std::string& profile,
                           const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words = {"measure", "--for",    kernel_file, "--profile",
                                          profile,   "--device", device,      "--quick"};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    }

    TemporaryFolder work;
};

double cycles_of(const std::string& kernel, const std::string& profile) {
    const ProgramRun run = run_program({"predict", kernel, "--profile", profile, "--json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    if (run.exit_code != 0) return 0;
    return nlohmann::json::parse(run.out)["predictions"][0]["cycles"].get<double>();
}

TEST_F(MeasureFor, EndsWithAProfileThatPredicts) {
    const std::string base = profile_with("mul.f32,mul.f64");
    const std::string file = kernel({"mul.f32", "mul.s32", "cos.approx.f32"});
    ProgramRun run = run_program({"predict", file, "--profile", base});
    ASSERT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("mul.s32"));

    // Those rows, and only those.
    run = measure_for(file, base, {"--dry-run"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("mul.s32/"));
    EXPECT_THAT(run.out, HasSubstr("cos.approx.f32/"));
    EXPECT_THAT(run.out, Not(HasSubstr("mul.f32/")));
    EXPECT_THAT(run.out, Not(HasSubstr("mix(")));

    const std::string before = read_text_file(base);
    run = measure_for(file, base, {"--extended", at("more.yaml")});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(read_text_file(base), before);
    EXPECT_THAT(run.out, HasSubstr("mul.s32: λ 0.75"));
    EXPECT_THAT(run.out, HasSubstr("cos.approx.f32: λ 1"));
    const MeasurementFile raw = read_measurements(at("more.json"));  // kept
    EXPECT_FALSE(raw.rows.empty());

    // What was there is as it was; what is new has the simulated device's numbers.
    const GpuProfile old = read_profile(base);
    const GpuProfile extended = read_profile(at("more.yaml"));
    const GpuProfile truth =
        read_profile(std::string(OCCUPIPE_SOURCE_DIR) + "/profiles/nvidia-gtx-1060.yaml");
    ASSERT_EQ(extended.instructions.size(), old.instructions.size() + 2);
    for (const InstructionTiming& one : old.instructions)
        EXPECT_EQ(*extended.find_instruction(one.name), one);
    EXPECT_EQ(extended.issue, old.issue);
    for (const char* name : {"mul.s32", "cos.approx.f32"}) {
        const InstructionTiming& made = *extended.find_instruction(name);
        const InstructionTiming& real = *truth.find_instruction(name);
        EXPECT_NEAR(extended.cpi_per_core(made).value, real.cpi.value, 0.01 * real.cpi.value);
        EXPECT_NEAR(made.latency->value, real.latency->value, 0.01 * real.latency->value);
        EXPECT_EQ(made.source, Source::measured);
    }
    // The multiplications share a unit, the cosine has another.
    EXPECT_EQ(extended.find_instruction("mul.s32")->subsystem,
              old.find_instruction("mul.f32")->subsystem);
    EXPECT_NE(extended.find_instruction("cos.approx.f32")->subsystem,
              old.find_instruction("mul.f32")->subsystem);
    EXPECT_THAT(read_text_file(at("more.yaml")), HasSubstr("extended:"));
    EXPECT_THAT(read_text_file(at("more.yaml")), HasSubstr(raw.content_hash));

    const double expected = cycles_of(file, "profiles/nvidia-gtx-1060.yaml");
    EXPECT_NEAR(cycles_of(file, at("more.yaml")), expected, 0.01 * expected);

    // A second time there is nothing to do.
    run = measure_for(file, at("more.yaml"), {"--extended", at("again.yaml")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("nothing to measure"));
    EXPECT_FALSE(std::filesystem::exists(at("again.yaml")));
}

TEST_F(MeasureFor, SaysWhatTheDeviceCannotMeasure) {
    const std::string base = profile_with("mul.f32");
    const std::string file = kernel({"mul.f32", "mul.s32", "fma.f16x2", "machine.hgmma"});
    ProgramRun run = measure_for(file, base, {"--extended", at("more.yaml")});
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_THAT(run.err,
                HasSubstr("cannot be measured: fma.f16x2: " + device + " does not have it"));
    EXPECT_THAT(run.err, HasSubstr("cannot be measured: machine.hgmma: there is no measurement"));
    EXPECT_THAT(run.err, HasSubstr("still missing for chains: fma.f16x2, machine.hgmma"));
    EXPECT_NE(read_profile(at("more.yaml")).find_instruction("mul.s32"), nullptr);
    run = measure_for(kernel({"machine.hgmma"}), base, {"--extended", at("none.yaml")});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_THAT(run.err, HasSubstr("measures nothing of what"));
}

// Machine code and a launch file: saxpy for sm_75.
TEST_F(MeasureFor, TakesKernelsOfMachineCode) {
    const std::string base = profile_with("mul.f32");
    const std::string recorded = std::string(OCCUPIPE_SOURCE_DIR) + "/tests/opencl_c";
    const ProgramRun run = measure_for(recorded + "/recorded/sm_75/saxpy.cubin", base,
                                       {"--launch", recorded + "/saxpy.yaml", "--dry-run"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("fma.f32/"));
    EXPECT_THAT(run.out, Not(HasSubstr("mul.f32/")));
    EXPECT_THAT(run.out, Not(HasSubstr("cos.approx")));
    EXPECT_THAT(run.err, HasSubstr("cannot be measured: setp.lt.s32: "));
}

// A stream of loads has no latency to predict with: the same instruction in a chase is measured.
TEST_F(MeasureFor, MeasuresLoadsThatWait) {
    const ProgramRun devices = run_program({"list", "devices"});
    if (devices.out.find("opencl:0.0  cpu") == std::string::npos)
        GTEST_SKIP() << "no OpenCL device of a processor";
    const std::string profile =
        written("p.yaml",
                "format: occupipe-profile/1\ndevice: {name: mine}\ncores: 2\nwarp_size: 8\n"
                "clock_hz: 1e9\nsubsystems: {alu: {}}\n"
                "instructions:\n  fma.f32: {subsystem: alu, cpi: 1, latency: 4}\n");
    const ProgramRun run =
        run_program({"measure", "--for", kernel({"ld.global.f32", "fma.f32"}), "--profile", profile,
                     "--device", "opencl:0.0", "--quick", "--dry-run"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("ld.global.u32/"));
    EXPECT_THAT(run.out, Not(HasSubstr("ld.global.f32")));
}

TEST_F(MeasureFor, RefusesBeforeItMeasures) {
    const std::string file = kernel({"mul.f32", "add.f32"});
    ProgramRun run = measure_for(file, "rtx-2070", {"--extended", at("more.yaml")});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("is of NVIDIA GeForce RTX 2070, and " + device +
                                   " is NVIDIA GeForce GTX 1060 6GB (model)"));
    const std::string base = profile_with("mul.s32");
    run = measure_for(file, base);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("--extended PROFILE.yaml says where the longer profile goes"));
    run = measure_for(file, base, {"--extended", base, "--force"});
    EXPECT_EQ(run.exit_code, 2) << "a profile that it reads is no output";
    written("there.yaml", "mine");
    run = measure_for(file, base, {"--extended", at("there.yaml")});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("exists; --force replaces it"));
    run = measure_for(file, base, {"--extended", at("x.yaml"), "--instructions", "mul.f32"});
    EXPECT_EQ(run.exit_code, 2);
    run = run_program({"measure", "--for", file, "--device", device});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(at("more.json")));
    EXPECT_FALSE(std::filesystem::exists(at("x.json")));
}

class AssumeLatency : public MeasureFor {
protected:
    // 1000 dependent steps.
    std::string chain(const std::string& op) const {
        return written("chain.yaml", fmt::format("format: occupipe-kernel/1\nname: chain\n"
                                                 "instructions:\n  - repeat: 1000\n    body:\n"
                                                 "      - {{id: x, op: {}, after: [x@-1]}}\n",
                                                 op));
    }
    nlohmann::json predicted(const std::string& file, int warps, const std::string& option) const {
        const ProgramRun run = run_program(
            {"predict", file, "--profile", "rtx-2070", "--group-warps", std::to_string(warps),
             "--concurrent-groups", "1", "--groups", "36", "--assume-latency", option, "--json"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return nlohmann::json::parse(run.out)["predictions"][0];
    }
};

// Turing: Λ 4 of the class; 64 lanes per cycle make λ 1/2.
TEST_F(AssumeLatency, FollowsClosedForms) {
    const std::string file = chain("add.s32");
    EXPECT_EQ(run_program({"predict", file, "--profile", "rtx-2070"}).exit_code, 2);
    for (const char* option : {"alu", "all"}) {
        const auto one = predicted(file, 1, option);
        EXPECT_NEAR(one["cycles"].get<double>(), 4000, 5);
        const auto many = predicted(file, 32, option);
        EXPECT_NEAR(many["cycles"].get<double>(), 32 * 1000 * 0.5, 10);
        const std::string said = one["assumptions"].dump();
        EXPECT_THAT(said, HasSubstr("add.s32 is not in the profile: Λ 4 is that of the class alu "
                                    "on compute capability 7.5 (Mesa, src/nouveau/compiler/nak/"
                                    "sm75_instr_latencies.rs"));
        EXPECT_THAT(said,
                    HasSubstr("λ 0.5 that of add.s32 by its published throughput (cuda-guide"));
    }
}

TEST_F(AssumeLatency, RefusesWhatIsNotKnown) {
    const std::string file = chain("add.s32");
    const auto refusal = [&](const std::string& profile, const std::string& option) {
        const ProgramRun run =
            run_program({"predict", file, "--profile", profile, "--assume-latency", option});
        EXPECT_EQ(run.exit_code, 2);
        return run.err;
    };
    EXPECT_THAT(refusal("rtx-2070", "tensor"), HasSubstr("the classes are fma, imad, alu, half "
                                                         "and all"));
    EXPECT_THAT(refusal("gtx-1060", "alu"),
                HasSubstr("no latency of this class is known for compute capability 6.1; known "
                          "for 7.5, 8.0"));
    EXPECT_THAT(refusal("gtx-1060", "all"), HasSubstr("no latency of this class is known"));
    // Another class than the kernel's: it is still missing, and nothing was assumed silently.
    EXPECT_THAT(refusal("rtx-2070", "fma"), HasSubstr("add.s32"));
}

}  // namespace
}  // namespace occupipe::test

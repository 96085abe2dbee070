// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

#include "report/text/smoke_verdict.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ProgramRun;
using testing::run_program;

// What a Hopper GPU should show, with a fixed cost of 50 cycles per run.
MeasurementFile hopper(const std::function<void(MeasurementRow&)>& change = {}) {
    MeasurementFile file;
    file.context = {{"device_type", "gpu"},
                    {"device_vendor", "NVIDIA"},
                    {"compute_capability", "9.0"},
                    {"warp_size", "32"}};
    const auto add = [&](const std::string& name, double latency, double cpi, int warps,
                         std::int64_t depth) {
        MeasurementRow row;
        row.subject = name;
        row.shape = {.group_warps = warps, .concurrent_groups = 1, .chains = 1, .depth = depth};
        row.cycles = 50 + static_cast<double>(depth) * (warps == 1 ? latency : cpi * warps);
        row.clock_hz = 1.98e9;
        if (change) change(row);
        file.rows.push_back(row);
    };
    for (const int warps : {1, 64}) {
        for (const std::int64_t depth : {512, 1024, 2048}) {
            add("fma.f32", 4.05, 0.256, warps, depth);
            add("fma.f64", 8.05, 0.505, warps, depth);
            add("ld.global.u32", 640, 14, warps, depth);
            add("rsqrt.approx.ftz.f32", 17, 2.01, warps, depth);
        }
    }
    return file;
}

std::string first_fault(const MeasurementFile& file) {
    const analysis::SmokeVerdict verdict = analysis::judge_smoke(file);
    return verdict.faults.empty() ? "GO" : verdict.faults.front();
}

TEST(Smoke, ASaneGpuIsAGo) {
    const analysis::SmokeVerdict verdict = analysis::judge_smoke(hopper());
    EXPECT_THAT(verdict.faults, IsEmpty());
    ASSERT_EQ(verdict.figures.size(), 8u);
    EXPECT_EQ(verdict.figures.front().instruction, "fma.f32");
    EXPECT_NEAR(verdict.figures.front().measured.value_or(0), 4.05, 1e-9);
    EXPECT_NEAR(verdict.figures[1].measured.value_or(0), 0.256, 1e-9);
    EXPECT_THAT(report::format_smoke(verdict), HasSubstr("GO\n"));
    for (const analysis::SmokeFigure& figure : verdict.figures)
        EXPECT_THAT(figure.notice, IsEmpty());
}

TEST(Smoke, AWrongThroughputIsNamed) {
    const auto scaled = [](double factor) {
        return hopper([factor](MeasurementRow& row) {
            if (row.subject == "fma.f64" && row.shape.group_warps > 1) *row.cycles *= factor;
        });
    };
    EXPECT_THAT(first_fault(scaled(0.5)), HasSubstr("fma.f64: λ: 0.2525 cycles, expected 0.485"));
    EXPECT_THAT(first_fault(scaled(4)), HasSubstr("fma.f64: λ: 2.02 cycles, expected 0.485"));
    EXPECT_THAT(first_fault(scaled(0.2)), HasSubstr("no hardware is that fast"));
    EXPECT_EQ(first_fault(scaled(2)), "GO");  // unusual, and said to be
    EXPECT_THAT(report::format_smoke(analysis::judge_smoke(scaled(2))),
                HasSubstr("outside of what is expected"));
}

TEST(Smoke, ALatencyBelowTheCompilersOwnCountIsNamed) {
    const auto file = hopper([](MeasurementRow& row) {
        if (row.subject == "fma.f32" && row.shape.group_warps == 1) *row.cycles *= 0.6;
    });
    EXPECT_THAT(first_fault(file), HasSubstr("fma.f32: Λ: 2.43 cycles, expected 3.96 to 4.32"));
}

TEST(Smoke, AClockThatCannotBeIsNamed) {
    EXPECT_THAT(first_fault(hopper([](MeasurementRow& row) { row.clock_hz = 0; })),
                HasSubstr("the core clock reads 0 to 0 Hz"));
    EXPECT_THAT(first_fault(hopper([](MeasurementRow& row) { row.clock_hz.reset(); })),
                HasSubstr("no row has a measured core clock"));
    EXPECT_THAT(first_fault(hopper([](MeasurementRow& row) {
                    if (row.shape.depth == 512) row.clock_hz = 345e6;
                })),
                HasSubstr("the core clock varied between 3.45e+08 and 1.98e+09 Hz"));
}

TEST(Smoke, AFailedRowIsNamedWithItsReason) {
    const auto file = hopper([](MeasurementRow& row) {
        if (row.subject == "ld.global.u32" && row.shape.group_warps > 1) {
            row.error = "CUDA: placement: 2 on each of 4 cores wanted, 1 to 3 seen";
        }
    });
    EXPECT_THAT(first_fault(file),
                HasSubstr("ld.global.u32/group_warps:64/concurrent_groups:1/chains:1/depth:512: "
                          "CUDA: placement: 2 on each of 4 cores wanted"));
}

TEST(Smoke, TimesThatDoNotGrowWithTheDepthAreNamed) {
    EXPECT_THAT(first_fault(hopper([](MeasurementRow& row) { row.cycles = 1000; })),
                HasSubstr("more steps do not take more cycles"));
    EXPECT_THAT(first_fault(hopper([](MeasurementRow& row) {
                    if (row.shape.depth == 1024) *row.cycles *= 2;
                })),
                HasSubstr("straight line"));
    EXPECT_THAT(first_fault(hopper([](MeasurementRow& row) { row.cycles.reset(); })),
                HasSubstr("have no cycles"));
    EXPECT_THAT(first_fault({}), HasSubstr("no"));
}

// Nothing is published for it: what no hardware can do is still refused, and nothing else.
TEST(Smoke, AnUnknownGpuHasPhysicalBounds) {
    const auto unknown = [](double factor) {
        MeasurementFile file = hopper([factor](MeasurementRow& row) { *row.cycles *= factor; });
        file.context["compute_capability"] = "14.0";
        return file;
    };
    EXPECT_EQ(first_fault(unknown(1)), "GO");
    EXPECT_EQ(first_fault(unknown(3)), "GO");
    EXPECT_THAT(first_fault(unknown(0.2)), HasSubstr("no hardware is that fast"));
    MeasurementFile slow = hopper([](MeasurementRow& row) {
        if (row.shape.group_warps > 1) *row.cycles *= 40;
    });
    slow.context["compute_capability"] = "14.0";
    EXPECT_THAT(first_fault(slow), HasSubstr("takes longer with others"));
}

class SmokeProgram : public ::testing::Test {
protected:
    ProgramRun smoke_model(double add_cpi) const {
        std::ofstream(folder / "p.yaml") << fmt::format(
            "format: occupipe-profile/1\n"
            "device: {{name: X, vendor: NVIDIA, architecture: Hopper, "
            "compute_capability: \"9.0\"}}\n"
            "cores: 132\nwarp_size: 32\nclock_hz: 1980000000\n"
            "limits: {{warps: 64, groups: 32, group_warps: 32}}\n"
            "subsystems:\n  alu: {{scope: core}}\n  mem: {{scope: core}}\n"
            "instructions:\n"
            "  add.f32: {{subsystem: alu, cpi: {}, latency: 4}}\n"
            "  fma.f64: {{subsystem: alu, cpi: 0.5, latency: 8}}\n"
            "  ld.shared.u32: {{subsystem: mem, cpi: 1, latency: 29}}\n",
            add_cpi);
        return run_program({"smoke", "--device", "model:" + (folder / "p.yaml").string(), "--force",
                            "-o", (folder / "s.json").string()});
    }

    test::TemporaryFolder own;
    const std::filesystem::path& folder = own.path;
};

TEST_F(SmokeProgram, GoesByItsExitCode) {
    const auto sane = smoke_model(0.25);
    EXPECT_EQ(sane.exit_code, 0) << sane.err;
    EXPECT_THAT(sane.out, HasSubstr("\nGO\n"));
    EXPECT_THAT(sane.out, HasSubstr("fma.f64"));
    const auto wrong = smoke_model(0.8);
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_THAT(wrong.out, HasSubstr("NO-GO, above all because of\n  add.f32: λ: 0.8 cycles"));
    // Its result is an ordinary measurement file, and is judged again without a device.
    EXPECT_EQ(run_program({"check", (folder / "s.json").string()}).exit_code, 0);
    EXPECT_EQ(run_program({"smoke", "-o", (folder / "s.json").string()}).exit_code, 1);
}

TEST_F(SmokeProgram, NothingToRunOnIsNoVerdict) {
    EXPECT_EQ(run_program({"smoke", "--device", "cuda:0", "-o", (folder / "n.json").string()},
                          {"OCCUPIPE_CUDA_DRIVER=none"})
                  .exit_code,
              3);
}

// A GPU that answers a constant, whatever is asked: 100 cycles for each iteration, whether its loop
// has 64 steps or 256.
TEST_F(SmokeProgram, APretendedDriversFiguresAreNoGo) {
    const auto run =
        run_program({"smoke", "--device", "cuda:0", "-o", (folder / "f.json").string()},
                    {"OCCUPIPE_CUDA_DRIVER=" OCCUPIPE_FAKE_LIBCUDA});
    if (!testing::program_has_nvrtc()) GTEST_SKIP() << testing::no_nvrtc;
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_THAT(run.out, HasSubstr("NO-GO"));
    EXPECT_THAT(run.out,
                HasSubstr("fma.f32: Λ: the time does not grow with the depth in a straight line"));
}

// A sticky fault, and a kernel that does not end: no verdict, and the same command goes on.
TEST_F(SmokeProgram, ALostDeviceIsNoVerdictAndTheSameCommandGoesOn) {
    if (!testing::program_has_nvrtc()) GTEST_SKIP() << testing::no_nvrtc;
    const auto smoke = [&](const std::string& faults) {
        return run_program(
            {"smoke", "--device", "cuda:0", "-o", (folder / "l.json").string()},
            {"OCCUPIPE_CUDA_DRIVER=" OCCUPIPE_FAKE_LIBCUDA, "OCCUPIPE_FAKE_CUDA=" + faults});
    };
    const auto lost = smoke("sticky@20");
    EXPECT_EQ(lost.exit_code, 5) << lost.err;
    EXPECT_THAT(lost.out, ::testing::Not(HasSubstr("GO")));
    EXPECT_FALSE(std::filesystem::exists(folder / "l.json"));
    const auto again = smoke("");
    EXPECT_EQ(again.exit_code, 1) << again.err;  // the pretended figures, as above
    EXPECT_THAT(again.out, HasSubstr("NO-GO"));
}

#if OCCUPIPE_OPENCL
TEST_F(SmokeProgram, ACpuIsHeldToPhysicalBounds) {
    if (!thinned::all_cases())
        GTEST_SKIP() << "half a minute: run by tools/test.sh release -L full";
    const auto run =
        run_program({"smoke", "--device", "opencl:0.0", "-o", (folder / "c.json").string()});
    if (run.exit_code == 3) GTEST_SKIP() << "no OpenCL device here";
    EXPECT_THAT(run.out, HasSubstr("fma.f32"));
    EXPECT_THAT(run.out, HasSubstr("GO"));
    EXPECT_THAT(run.exit_code, ::testing::AnyOf(0, 1)) << run.err;  // other load may bend anything
}
#endif

}  // namespace
}  // namespace occupipe::cli

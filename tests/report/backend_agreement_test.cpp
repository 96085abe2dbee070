// SPDX-License-Identifier: MIT
#include "report/text/backend_agreement.h"

#include <gtest/gtest.h>

#include "core/files/files.h"
#include "report/text/timing_table.h"

namespace occupipe::report {
namespace {

GpuProfile measured_by(const std::string& backend, const std::string& instructions,
                       const std::string& device = "NVIDIA Test") {
    return parse_profile("format: occupipe-profile/1\ndevice: {name: " + device +
                             "}\ncores: 1\nwarp_size: 32\nclock_hz: 1e9\nsubsystems: {alu: {}}\n"
                             "provenance: {backend: " +
                             backend + "}\ninstructions:\n" + instructions,
                         "p.yaml");
}

const std::string by_cuda =
    "  fma.f32: {subsystem: alu, cpi: 0.25, latency: 4}\n"
    "  mul.f32: {subsystem: alu, cpi: 0.25, latency: 4}\n"
    "  cos.approx.f32: {subsystem: alu, cpi: {value: 2, identifiable: false}, latency: 20}\n"
    "  mma: {subsystem: alu, cpi: 8, latency: 30}\n";
const std::string by_opencl =
    "  fma.f32: {subsystem: alu, cpi: 0.257, latency: 9}\n"
    "  mul.f32: {subsystem: alu, cpi: 0.5, latency: 4}\n"
    "  cos.approx.f32: {subsystem: alu, cpi: 4, latency: 20}\n";

TEST(BackendAgreement, NamesTheInstructionsThatDifferByMoreThanThreePercent) {
    const std::string text =
        report::backend_agreement({measured_by("cuda", by_cuda), measured_by("opencl", by_opencl)});
    EXPECT_EQ(text,
              "λ of NVIDIA Test by cuda and by opencl: 1 of 2 instructions agree within 3 %; 1 not "
              "compared, one of\nthe two is a bound. Not: mul.f32 0.25 and 0.5 (+100.0 %).\n");
}

TEST(BackendAgreement, ComparesPerCoreWhateverTheScope) {
    GpuProfile per_scheduler =
        measured_by("cuda", "  fma.f32: {subsystem: alu, cpi: 1, latency: 4}\n");
    per_scheduler.subsystems[0].scope = Scope::scheduler;
    per_scheduler.issue.schedulers = 4;
    const GpuProfile per_core =
        measured_by("opencl", "  fma.f32: {subsystem: alu, cpi: 0.25, latency: 4}\n");
    EXPECT_EQ(report::backend_agreement({per_scheduler, per_core}),
              "λ of NVIDIA Test by cuda and by opencl: 1 of 1 instructions agree within 3 %.\n");
}

TEST(BackendAgreement, IsAboutTwoBackendsOnOneDeviceOnly) {
    EXPECT_EQ(
        report::backend_agreement({measured_by("cuda", by_cuda), measured_by("cuda", by_opencl)}),
        "");
    EXPECT_EQ(report::backend_agreement(
                  {measured_by("cuda", by_cuda), measured_by("opencl", by_opencl, "Another")}),
              "");
}

TEST(BackendAgreement, TheTableShowsBothAndTellsThemApart) {
    const std::string text = report::format_timing_table(
        report::timing_table({measured_by("cuda", by_cuda), measured_by("opencl", by_opencl)}),
        report::TableFormat::markdown, false);
    EXPECT_NE(text.find("NVIDIA Test (cuda)"), std::string::npos) << text;
    EXPECT_NE(text.find("NVIDIA Test (opencl)"), std::string::npos) << text;
}

}  // namespace
}  // namespace occupipe::report

// SPDX-License-Identifier: MIT
// Intervals of predictions: what they consist of, and that more doubt makes them wider.
#include "ask/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/files/files.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

GpuProfile gpu(const std::string& error_of_fma, const std::string& error_of_load) {
    return parse_profile(
        "format: occupipe-profile/2\ndevice: {name: made up}\ncores: 4\nwarp_size: 32\n"
        "clock_hz: 1000000000\noverheads: {launch_seconds: {value: 1e-6, std_error: 2e-7}}\n"
        "subsystems:\n  mem: {scope: core}\n  fp: {scope: core}\ninstructions:\n"
        "  fma.f32: {subsystem: fp, cpi: {value: 2, std_error: " +
            error_of_fma +
            "}, latency: {value: 4, std_error: 0}, source: measured}\n"
            "  ld.global.u32: {subsystem: mem, cpi: {value: 1, std_error: 0}, latency: {value: "
            "400, "
            "std_error: " +
            error_of_load + "}, source: measured}\n",
        "gpu.yaml");
}

// One load, then so many multiply-adds that nothing waits for each other.
Kernel kernel(int fmas, bool tells) {
    return parse_kernel(
        std::string("format: occupipe-kernel/1\nname: k\n") +
            (tells ? "memory: {cores: 4, concurrent_groups: 8}\n" : "") +
            "launch: {group_warps: 4, concurrent_groups: 8, groups: 320}\ninstructions:\n"
            "  - {id: a, op: ld.global.u32}\n  - repeat: " +
            std::to_string(fmas) + "\n    body:\n      - {id: b, op: fma.f32}\n",
        "k.yaml");
}

std::optional<PredictionInterval> asked(const GpuProfile& profile, int fmas = 1000,
                                        bool tells = true, const char* model = "pipeline") {
    const Kernel one = kernel(fmas, tells);
    const Ready all = ready(loaded_kernel("k.yaml", one), profile, {}, {});
    const Told at = told(all, *one.launch, {});
    return predict(at, find_model(model), {}).interval;
}

double term(const PredictionInterval& interval, const std::string& name) {
    const auto found = std::ranges::find(interval.terms, name, &ErrorTerm::name);
    return found == interval.terms.end() ? 0 : found->size;
}

double width(const PredictionInterval& interval) { return std::log(interval.high / interval.low); }

TEST(Interval, IsTheRootOfTheSumOfItsTerms) {
    const auto interval = asked(gpu("0.2", "40"));
    ASSERT_TRUE(interval);
    double variance = 0;
    for (const ErrorTerm& one : interval->terms) variance += one.size * one.size;
    EXPECT_NEAR(width(*interval), 2 * 1.96 * std::sqrt(variance), 1e-9);
    EXPECT_GT(term(*interval, "model"), 0);
    EXPECT_GT(term(*interval, "launch"), 0);
}

TEST(Interval, AnErrorCountsInAsFarAsItsNumberDecides) {
    // The unit of the multiply-adds is busy nearly always: a tenth of λ is a tenth of the time.
    EXPECT_NEAR(term(*asked(gpu("0.2", "0")), "profile"), 0.1, 0.01);
    EXPECT_LT(term(*asked(gpu("0", "40")), "profile"), 0.01);
    // With few of them warps wait for the load.
    EXPECT_LT(term(*asked(gpu("0.2", "0"), 2), "profile"), 0.05);
    EXPECT_GT(term(*asked(gpu("0", "40"), 2), "profile"), 0.05);
    // An error that is not told is no error of 0.
    GpuProfile untold = gpu("0.2", "0");
    untold.find_instruction("fma.f32")->cpi.std_error.reset();
    EXPECT_GT(width(*asked(untold)), width(*asked(gpu("0.2", "0"))));
}

TEST(Interval, OthersThanSimulationsOfMachineCodeHaveNone) {
    EXPECT_FALSE(asked(gpu("0.2", "40"), 1000, false));
    EXPECT_FALSE(asked(gpu("0.2", "40"), 1000, true, "roofline"));
}

}  // namespace
}  // namespace occupipe::analysis

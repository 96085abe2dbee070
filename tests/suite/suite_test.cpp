// SPDX-License-Identifier: MIT
// The kernels of kernels/ against plain loops: their recorded machine code on five architectures,
// and where there is OpenCL, the same text as OpenCL C.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/run_plan.h"
#include "isa/cubin.h"
#include "isa/decode.h"
#include "tests/suite/reference.h"
#include "tests/support/thinned.h"
#if OCCUPIPE_OPENCL
#include "bench/launch_on_device.h"
#include "bench/opencl/facts.h"
#endif

namespace occupipe::test {
namespace {

namespace fs = std::filesystem;

constexpr int architectures[] = {75, 80, 90, 100, 120};

fs::path suite() { return fs::path(OCCUPIPE_SOURCE_DIR) / "kernels"; }
fs::path recorded() { return fs::path(OCCUPIPE_SOURCE_DIR) / "tests/suite/recorded"; }

std::vector<std::string> sources() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(suite()))
        if (entry.path().extension() == ".cu") names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

LaunchPlan plan_of(const std::string& size, const std::string& source) {
    return read_launches(suite() / size / (source + ".yaml"));
}

isa::Cubin recorded_code(const std::string& source, int architecture) {
    return isa::read_cubin(
        read_text_file(recorded() / fmt::format("sm_{}", architecture) / (source + ".cubin")));
}

bool agrees(ElementType type, std::uint64_t found, std::uint64_t expected,
            const Tolerance& within) {
    if (found == expected) return true;
    if (!is_floating(type) || (within.absolute == 0 && within.relative == 0)) return false;
    const double f = floating_value(type, found), e = floating_value(type, expected);
    return std::fabs(f - e) <= within.absolute + within.relative * std::fabs(e);
}

// The first element of the checked buffers that is wrong; empty: none.
template <typename Bytes>
std::string wrong(const LaunchPlan& plan, const Expected& expected, const Reference& reference,
                  const Bytes& bytes_of_buffer) {
    for (const BufferCheck& check : plan.checks) {
        Tolerance within;
        for (const Tolerance& one : reference.tolerances)
            if (one.buffer == check.buffer) within = one;
        const ElementType type = plan.find_buffer(check.buffer)->type;
        const std::size_t size = bytes_of(type);
        const auto found = bytes_of_buffer(check.buffer);
        const auto& right = expected.bytes(check.buffer);
        if (found.size() != right.size()) return check.buffer + ": another size";
        for (std::size_t at = 0; at < right.size(); at += size) {
            const std::uint64_t f = get_element(&found[at], type),
                                r = get_element(&right[at], type);
            if (is_floating(type) && !std::isfinite(floating_value(type, r)))
                return fmt::format("{}[{}]: the reference is not finite", check.buffer, at / size);
            if (!agrees(type, f, r, within))
                return fmt::format("{}[{}]: {} instead of {}", check.buffer, at / size,
                                   element_text(type, f), element_text(type, r));
        }
    }
    return {};
}

std::string executed(const LaunchPlan& plan, const isa::Cubin& cubin, const Expected& expected,
                     const Reference& reference, std::uint64_t budget = 0) {
    extract::PlanRun run(plan, cubin, "");
    run.execute({.threads = 2, .step_budget = budget, .measure_memory = false});
    return wrong(plan, expected, reference, [&](const auto& name) { return run.bytes(name); });
}

class Suite : public testing::TestWithParam<std::string> {};

TEST_P(Suite, HasWhatItNeeds) {
    ASSERT_NE(reference_of(GetParam()), nullptr);
    for (const char* size : {"small", "large"}) {
        const LaunchPlan plan = plan_of(size, GetParam());
        EXPECT_FALSE(plan.checks.empty());
        EXPECT_EQ(fs::path(plan.source).stem(), GetParam());
    }
}

TEST_P(Suite, MachineCodeLeavesWhatTheReferenceDoes) {
    const Reference& reference = *reference_of(GetParam());
    const LaunchPlan plan = plan_of("small", GetParam());
    Expected expected(plan);
    const Expected before = expected;
    reference.run(expected);
    for (const BufferCheck& check : plan.checks)
        EXPECT_NE(before.bytes(check.buffer), expected.bytes(check.buffer)) << check.buffer;
    for (const int architecture : architectures)
        EXPECT_EQ(executed(plan, recorded_code(GetParam(), architecture), expected, reference), "")
            << "sm_" << architecture;
}

#if OCCUPIPE_OPENCL
// The first OpenCL device.
std::string on_opencl(const LaunchPlan& plan, const Expected& expected,
                      const Reference& reference) {
    const bench::LaunchedPlan done = bench::launch_on_device("opencl:0.0", plan);
    return wrong(
        plan, expected,
        reference, [&](const auto& name) -> const auto& { return done.buffers.at(name); });
}

TEST_P(Suite, OpenClLeavesWhatTheReferenceDoes) {
    if (bench::opencl_platforms().empty()) GTEST_SKIP() << "no OpenCL platform";
    const Reference& reference = *reference_of(GetParam());
    const LaunchPlan plan = plan_of("small", GetParam());
    Expected expected(plan);
    reference.run(expected);
    EXPECT_EQ(on_opencl(plan, expected, reference), "");
}
#endif

// The large size, which takes minutes in all: one architecture, and OpenCL.
TEST_P(Suite, LargeSize) {
    if (!thinned::all_cases()) GTEST_SKIP() << "with OCCUPIPE_FULL=1";
    const Reference& reference = *reference_of(GetParam());
    const LaunchPlan plan = plan_of("large", GetParam());
    Expected expected(plan);
    reference.run(expected);
#if OCCUPIPE_OPENCL
    if (!bench::opencl_platforms().empty()) {
        EXPECT_EQ(on_opencl(plan, expected, reference), "");
    }
#endif
    EXPECT_EQ(executed(plan, recorded_code(GetParam(), 90), expected, reference), "");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Suite, testing::ValuesIn(sources()),
                         [](const auto& one) { return one.param; });

// Of every kernel an arithmetic instruction with the sign of an operand turned: the comparison has
// to notice. Kernels without one (integers alone) are not counted.
TEST(SuiteNotices, ATurnedSign) {
    int kernels = 0, noticed = 0;
    std::string missed;
    for (const std::string& source : sources()) {
        const Reference& reference = *reference_of(source);
        const LaunchPlan plan = plan_of("small", source);
        Expected expected(plan);
        reference.run(expected);
        isa::Cubin cubin = recorded_code(source, 90);
        for (isa::Kernel& kernel : cubin.kernels) {
            bool has = false, seen = false;
            for (std::size_t i = 0; i < kernel.code.size() && !seen; ++i) {
                const auto at = static_cast<std::int64_t>(i * isa::instruction_bytes);
                const std::string opcode(isa::decode(kernel.code[i], at, 90).opcode);
                if (opcode != "FFMA" && opcode != "FADD" && opcode != "DFMA" && opcode != "DADD")
                    continue;
                const isa::Word before = kernel.code[i];
                kernel.code[i].high ^= std::uint64_t{1} << (72 - 64);
                if (isa::decode(kernel.code[i], at, 90).unknown.empty()) {
                    has = true;
                    try {
                        seen = !executed(plan, cubin, expected, reference, 20'000'000).empty();
                    } catch (const InputError&) {
                        seen = true;
                    }
                }
                kernel.code[i] = before;
            }
            kernels += has ? 1 : 0;
            noticed += seen ? 1 : 0;
            if (has && !seen) missed += " " + kernel.name;
        }
    }
    std::cout << noticed << " of " << kernels << " kernels\n";
    EXPECT_GT(kernels, 20);
    EXPECT_EQ(noticed, kernels) << missed;
}

// FNV-1a, as tools/record_kernels.py computes it.
std::uint64_t hash_of(const std::string& text) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return value;
}

TEST(SuiteRecorded, MachineCodeIsOfTheTextsAsTheyStand) {
    const std::string listing = read_text_file(recorded() / "compiler.txt");
    const std::string header = read_text_file(suite() / "portable.h");
    for (const std::string& source : sources()) {
        const std::string text = read_text_file(suite() / (source + ".cu"));
        ASSERT_NE(text.find("#include \"portable.h\""), std::string::npos) << source;
        const std::string line = fmt::format("{:016x} {}.cu\n", hash_of(text + header), source);
        EXPECT_NE(listing.find(line), std::string::npos)
            << source << ".cu or portable.h has changed: run tools/record_kernels.py";
    }
}

}  // namespace
}  // namespace occupipe::test

// SPDX-License-Identifier: MIT
// The matrix multiplication of "The Pipeline Performance Model" (Cornelis, Lemeire), section IV C.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "core/files/files.h"
#include "sim/engine/simulate.h"

namespace occupipe::test {
namespace {

const std::string source = OCCUPIPE_SOURCE_DIR;

struct Timings {
    double cpi = 0;
    double latency = 0;
};

struct Case {
    std::string gpu;  // the table's column
    int tile = 8;     // its groups have tile·tile threads
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.gpu << tested.tile; }

// One column of the table, not of the profile.
std::map<std::string, Timings> table_3(const std::string& gpu) {
    std::istringstream lines(read_text_file(source + "/tests/data/cornelis-pipeline/table-3.csv"));
    std::map<std::string, Timings> column;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#') || line.starts_with("operation,")) continue;
        for (char& c : line) c = c == ',' || c == '/' ? ' ' : c;
        std::string name;
        Timings fermi;
        Timings pascal;
        std::istringstream(line) >> name >> fermi.cpi >> fermi.latency >> pascal.cpi >>
            pascal.latency;
        column[name] = gpu == "Fermi" ? fermi : pascal;
    }
    return column;
}

class MatrixMultiplication : public testing::TestWithParam<Case> {
protected:
    const int tile = GetParam().tile;
    const int iterations = 1024 / tile;
    const int group_warps = tile * tile / 32;
    std::map<std::string, Timings> t = table_3(GetParam().gpu);
    GpuProfile profile = read_profile(source + "/sim/kernels/mmul_" +
                                      (GetParam().gpu == "Fermi" ? "fermi" : "pascal") + ".yaml");
    const Kernel kernel =
        read_kernel(fmt::format("{}/sim/kernels/mmul_{}x{}.yaml", source, tile, tile));

    Timings global(const char* matrix) const {
        return t.at(fmt::format("ld.global.{}{}", matrix, tile));
    }
    // Local reads of the inner loop take the conflict's timings, as in the paper; stores do not.
    void introduce_bank_conflicts() {
        const Timings slow = t.at("bank_conflict");
        InstructionTiming& reads = *profile.find_instruction("ld.shared.f32");
        reads.cpi.value = slow.cpi;
        reads.latency->value = slow.latency;
    }
    Timings reads() const {
        const InstructionTiming& timing = *profile.find_instruction("ld.shared.f32");
        return {timing.cpi.value, timing.latency->value};
    }
    // Concurrent groups: powers of two, and as many as fit.
    std::vector<int> concurrent_groups() const {
        const auto most =
            static_cast<int>(std::min(*profile.limits.groups, *profile.limits.warps / group_warps));
        std::vector<int> counts;
        for (int count = 1; count < most; count *= 2) counts.push_back(count);
        counts.push_back(most);
        return counts;
    }
    SimulationResult run(int concurrent) const {
        return simulate(profile, kernel,
                        {.group_warps = group_warps,
                         .concurrent_groups = concurrent,
                         .groups = std::int64_t{iterations} * iterations});
    }
    double groups_per_core() const {
        const int groups = (iterations * iterations + profile.cores - 1) / profile.cores;
        return groups;
    }
    // One iteration of one warp alone: loop control; A, then B, the later one; its local store;
    // barrier; local reads, of which the sums either wait for the last or for one another; barrier.
    double latency_of_iteration() const {
        const double inner =
            reads().latency + std::max(reads().cpi + tile * t.at("fma.f32").latency,
                                       (2 * tile - 1) * reads().cpi + t.at("fma.f32").latency);
        return t.at("loop").latency +
               std::max(global("a").latency, global("a").cpi + global("b").latency) +
               t.at("ld.shared.f32").latency + 2 * t.at("bar.sync").latency + inner;
    }
    // What one iteration of one warp occupies of a unit.
    double shared_load() const { return 2 * tile * reads().cpi + 2 * t.at("ld.shared.f32").cpi; }
    double memory_load() const { return global("a").cpi + global("b").cpi; }
    double throughput_bound() const {
        return groups_per_core() * group_warps * iterations *
               std::max(shared_load(), memory_load());
    }
    double of_unit(const SimulationResult& result, const std::string& name) const {
        for (const Bound& bound : result.bounds)
            if (bound.name == name) return bound.utilisation;
        ADD_FAILURE() << name;
        return 0;
    }
};

TEST_P(MatrixMultiplication, HasTheTimingsOfTheTable) {
    for (const auto& [name, timings] : t) {
        if (name == "bank_conflict") continue;
        const InstructionTiming* held = profile.find_instruction(name);
        ASSERT_NE(held, nullptr) << name;
        EXPECT_EQ(held->cpi.value, timings.cpi) << name;
        EXPECT_EQ(held->latency->value, timings.latency) << name;
    }
}

TEST_P(MatrixMultiplication, OneWarpTakesTheTimeWorkedOutByHand) {
    for (const bool conflicts : {false, true}) {
        if (conflicts) introduce_bank_conflicts();
        // The result's store begins with the last barrier and may outlast it.
        const double end = std::max(0.0, global("b").cpi - t.at("bar.sync").latency);
        EXPECT_DOUBLE_EQ(simulate(profile, kernel, {}).cycles,
                         iterations * latency_of_iteration() + end);
    }
}

TEST_P(MatrixMultiplication, IsNeverFasterThanItsUnitsOrItsLongestPath) {
    for (const bool conflicts : {false, true}) {
        if (conflicts) introduce_bank_conflicts();
        for (const int concurrent : concurrent_groups()) {
            const double waves = groups_per_core() / concurrent;
            EXPECT_GE(run(concurrent).cycles,
                      std::max(throughput_bound(), waves * iterations * latency_of_iteration()))
                << concurrent;
        }
    }
}

// "Local memory has now become the bottleneck": the run time with bank conflicts is longer at every
// occupancy, and at the highest one local memory is what the kernel waits for.
TEST_P(MatrixMultiplication, BankConflictsMakeLocalMemoryTheBottleneck) {
    std::map<int, double> without;
    for (const int concurrent : concurrent_groups()) without[concurrent] = run(concurrent).cycles;
    introduce_bank_conflicts();
    SimulationResult full;
    for (const int concurrent : concurrent_groups()) {
        full = run(concurrent);
        EXPECT_GT(full.cycles, without[concurrent]) << concurrent;
    }
    for (const Bound& bound : full.bounds)
        EXPECT_LE(bound.utilisation, of_unit(full, "shared")) << bound.name;
    // 1 %: the start and the end of the run, in which local memory has not enough to do.
    EXPECT_LE(full.cycles, 1.01 * throughput_bound());
}

std::string test_name(const testing::TestParamInfo<Case>& tested) {
    return fmt::format("{}{}x{}", tested.param.gpu, tested.param.tile, tested.param.tile);
}

INSTANTIATE_TEST_SUITE_P(Table3, MatrixMultiplication,
                         testing::Values(Case{"Fermi", 8}, Case{"Fermi", 16}, Case{"Pascal", 8},
                                         Case{"Pascal", 16}),
                         test_name);

}  // namespace
}  // namespace occupipe::test

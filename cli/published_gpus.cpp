// SPDX-License-Identifier: MIT
#include "cli/published_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "cli/text_table.h"

namespace occupipe::cli {
namespace {

// Differences up to this are a measurement's, not a disagreement.
constexpr double agreement = 0.03;

// Results per cycle and core (multiprocessor).
// Source: NVIDIA, CUDA C++ Programming Guide (since CUDA 13: CUDA C++ Best Practices Guide), table
// "Throughput of Native Arithmetic Instructions". Absent: not there, several instructions, or it
// depends on what the table does not tell apart.
struct Throughput {
    std::string_view capability;
    std::optional<int> f32;       // add, multiply, multiply-add
    std::optional<int> f64;       // likewise
    std::optional<int> half;      // likewise; a pair is two results
    std::optional<int> special;   // reciprocal, its square root, log2, exp2, sine, cosine
    std::optional<int> add;       // 32-bit integers, with subtraction
    std::optional<int> multiply;  // 32-bit integers, with multiply-add
    std::optional<int> shift;
    std::optional<int> compare;  // with minimum and maximum
    std::optional<int> logic;
    std::optional<int> count;  // leading zeros; population
    std::optional<int> shuffle;
    std::optional<int> vote;
};
constexpr std::optional<int> absent = std::nullopt;
constexpr std::array throughputs = {
    Throughput{"2.0", 32, 16, absent, 4, 32, 16, 16, 32, 32, 16, absent, absent},
    Throughput{"3.0", 192, 8, absent, 32, 160, 32, 32, 160, 160, 32, 32, absent},
    Throughput{"5.0", 128, 4, absent, 32, 128, absent, 64, 64, 128, 32, 32, absent},
    Throughput{"5.2", 128, 4, absent, 32, 128, absent, 64, 64, 128, 32, 32, absent},
    Throughput{"6.0", 64, 32, 128, 16, 64, absent, 32, 32, 64, 16, 32, absent},
    Throughput{"6.1", 128, 4, 2, 32, 128, absent, 64, 64, 128, 32, 32, absent},
    Throughput{"7.0", 64, 32, 128, 16, 64, 64, 64, 64, 64, 16, 32, absent},
    Throughput{"7.5", 64, 2, 128, 16, 64, 64, 64, 64, 64, 16, 32, absent},
    Throughput{"8.0", 64, 32, 256, 16, 64, 64, 64, 64, 64, 16, 32, 64},
    Throughput{"8.6", 128, 2, absent, 16, 64, 64, 64, 64, 64, 16, 32, 64},
    Throughput{"8.9", 128, 2, absent, 16, 64, 64, 64, 64, 64, 16, 32, 64},
    Throughput{"9.0", 128, 64, 256, 16, 64, 64, 64, 64, 64, 16, 32, 64},
};

struct Group {
    std::optional<int> Throughput::*rate;
    int results;  // per lane
    std::initializer_list<std::string_view> instructions;
};
const std::array groups = {
    Group{&Throughput::f32, 1, {"add.f32", "sub.f32", "mul.f32", "fma.f32"}},
    Group{&Throughput::f64, 1, {"add.f64", "sub.f64", "mul.f64", "fma.f64"}},
    Group{&Throughput::half, 2, {"add.f16x2", "mul.f16x2", "fma.f16x2"}},
    Group{&Throughput::special,
          1,
          {"rcp.approx.ftz.f32", "rsqrt.approx.ftz.f32", "lg2.approx.ftz.f32", "ex2.approx.ftz.f32",
           "sin.approx.ftz.f32", "cos.approx.ftz.f32", "cos.approx.f32"}},
    Group{&Throughput::add, 1, {"add.s32"}},
    Group{&Throughput::multiply, 1, {"mul.s32", "mad.s32"}},
    Group{&Throughput::shift, 1, {"shl.b32", "shr.u32", "shr.s32"}},
    Group{&Throughput::compare,
          1,
          {"min.s32", "max.s32", "min.u32", "max.u32", "min.f32", "max.f32"}},
    Group{&Throughput::logic, 1, {"and.b32", "or.b32", "xor.b32", "lop3.b32"}},
    Group{&Throughput::count, 1, {"clz.b32", "popc.b32"}},
    Group{&Throughput::shuffle,
          1,
          {"shfl.sync.idx.b32", "shfl.sync.up.b32", "shfl.sync.down.b32", "shfl.sync.bfly.b32"}},
    Group{&Throughput::vote, 1, {"vote.sync.ballot.b32"}},
};

}  // namespace

std::string beside_published_throughput(const GpuProfile& profile) {
    const auto known =
        std::ranges::find(throughputs, profile.device.compute_capability, &Throughput::capability);
    if (known == throughputs.end()) return {};
    TextTable table{{"instruction", "λ", "results per cycle", "λ of these", ""},
                    {Align::left, Align::right, Align::right, Align::right, Align::right},
                    {}};
    int agreeing = 0;
    for (const Group& group : groups) {
        const std::optional<int> results = (*known).*group.rate;
        if (!results) continue;
        for (const std::string_view id : group.instructions) {
            const InstructionTiming* timing = profile.find_instruction(std::string(id));
            if (!timing) continue;
            const double published = 1.0 * profile.warp_size * group.results / *results;
            const double difference = timing->cpi.value / published - 1;
            const bool comparable = timing->cpi.identifiable;
            if (comparable && std::abs(difference) <= agreement) ++agreeing;
            table.rows.push_back(
                {std::string(id),
                 fmt::format("{}{:.4g}", comparable ? "" : "≤ ", timing->cpi.value),
                 std::to_string(*results), fmt::format("{:.4g}", published),
                 comparable ? fmt::format("{:+.1f} %", 100 * difference) : "-"});
        }
    }
    if (table.rows.empty()) return {};
    return fmt::format(
        "## {} beside NVIDIA's throughput for compute capability {}\n\n{}\n{} of {} agree within "
        "{:g} %. Published: CUDA C++ Programming Guide, results per cycle and core; λ is the warp "
        "size times a lane's results divided by that. Where λ is smaller, instructions were merged "
        "or removed, or several units share them.\n",
        profile.device.name, known->capability, markdown(table), agreeing, table.rows.size(),
        100 * agreement);
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
#include "cli/published_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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

struct Counted {
    std::string_view instruction;
    std::optional<int> Throughput::*rate;
    int results = 1;  // per lane
};
constexpr std::array counted = {
    Counted{"add.f32", &Throughput::f32},
    Counted{"sub.f32", &Throughput::f32},
    Counted{"mul.f32", &Throughput::f32},
    Counted{"fma.f32", &Throughput::f32},
    Counted{"add.f64", &Throughput::f64},
    Counted{"sub.f64", &Throughput::f64},
    Counted{"mul.f64", &Throughput::f64},
    Counted{"fma.f64", &Throughput::f64},
    Counted{"add.f16x2", &Throughput::half, 2},
    Counted{"mul.f16x2", &Throughput::half, 2},
    Counted{"fma.f16x2", &Throughput::half, 2},
    Counted{"rcp.approx.ftz.f32", &Throughput::special},
    Counted{"rsqrt.approx.ftz.f32", &Throughput::special},
    Counted{"lg2.approx.ftz.f32", &Throughput::special},
    Counted{"ex2.approx.ftz.f32", &Throughput::special},
    Counted{"sin.approx.ftz.f32", &Throughput::special},
    Counted{"cos.approx.ftz.f32", &Throughput::special},
    Counted{"cos.approx.f32", &Throughput::special},
    Counted{"add.s32", &Throughput::add},
    Counted{"mul.s32", &Throughput::multiply},
    Counted{"mad.s32", &Throughput::multiply},
    Counted{"shl.b32", &Throughput::shift},
    Counted{"shr.u32", &Throughput::shift},
    Counted{"shr.s32", &Throughput::shift},
    Counted{"min.s32", &Throughput::compare},
    Counted{"max.s32", &Throughput::compare},
    Counted{"min.u32", &Throughput::compare},
    Counted{"max.u32", &Throughput::compare},
    Counted{"min.f32", &Throughput::compare},
    Counted{"max.f32", &Throughput::compare},
    Counted{"and.b32", &Throughput::logic},
    Counted{"or.b32", &Throughput::logic},
    Counted{"xor.b32", &Throughput::logic},
    Counted{"lop3.b32", &Throughput::logic},
    Counted{"clz.b32", &Throughput::count},
    Counted{"popc.b32", &Throughput::count},
    Counted{"shfl.sync.idx.b32", &Throughput::shuffle},
    Counted{"shfl.sync.up.b32", &Throughput::shuffle},
    Counted{"shfl.sync.down.b32", &Throughput::shuffle},
    Counted{"shfl.sync.bfly.b32", &Throughput::shuffle},
    Counted{"vote.sync.ballot.b32", &Throughput::vote},
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
    for (const Counted& one : counted) {
        const std::optional<int> results = (*known).*one.rate;
        const InstructionTiming* timing = profile.find_instruction(std::string(one.instruction));
        if (!results || !timing) continue;
        const double published = 1.0 * profile.warp_size * one.results / *results;
        const double difference = timing->cpi.value / published - 1;
        const bool comparable = timing->cpi.identifiable();
        if (comparable && std::abs(difference) <= agreement) ++agreeing;
        table.rows.push_back({std::string(one.instruction),
                              fmt::format("{}{:.4g}", sign_of(timing->cpi.kind), timing->cpi.value),
                              std::to_string(*results), fmt::format("{:.4g}", published),
                              comparable ? fmt::format("{:+.1f} %", 100 * difference) : "-"});
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

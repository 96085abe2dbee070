// SPDX-License-Identifier: MIT
#include "sim/models/quantitative_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"

namespace occupipe {
namespace {

enum class Part { fp64, fp32, integer, load_store, other };

// By the type that an instruction's name ends with, as profilers class them: conversions, special
// functions, matrix instructions, moves and jumps are other ones.
Part part_of(std::string_view name, InstructionKind kind) {
    if (kind == InstructionKind::load || kind == InstructionKind::store) return Part::load_store;
    if (kind == InstructionKind::barrier) return Part::other;
    const std::string_view first = name.substr(0, name.find('.'));
    constexpr std::array counted = {"add", "sub",  "mul",  "fma",  "mad", "neg",  "abs", "min",
                                    "max", "setp", "lop3", "and",  "or",  "xor",  "not", "shl",
                                    "shr", "shf",  "prmt", "popc", "clz", "sad",  "set", "bfe",
                                    "bfi", "brev", "dp4a", "dp2a", "fns", "bfind"};
    if (std::ranges::find(counted, first) == counted.end()) return Part::other;
    if (name.find(".approx") != std::string_view::npos) return Part::other;
    const std::string_view type = name.substr(name.rfind('.') + 1);
    if (type == "f64") return Part::fp64;
    if (type == "f32") return Part::fp32;
    if (type.starts_with('s') || type.starts_with('u') || type.starts_with('b'))
        return Part::integer;
    return Part::other;
}

bool is_multiply_add(std::string_view name) {
    return name.starts_with("fma.") || name.starts_with("mad.");
}

struct Counted {
    std::string op;
    double times = 0;  // by a warp of the mean
    double cpi = 0;    // λ per core
    Part part = Part::other;
};

void count_items(const Problem& problem, std::size_t program, double share,
                 std::map<std::string, Counted>& counts) {
    for_each_execution(
        problem.kernel().programs[program], share, [&](std::int32_t op, double times) {
            const std::string& name = problem.kernel().ops[static_cast<std::size_t>(op)].name;
            const OpTiming& timing = problem.timings()[static_cast<std::size_t>(op)];
            const Part part = part_of(name, timing.kind);
            Counted& counted = counts[fmt::format("{} {}", name, static_cast<int>(part))];
            const double cpi = timing.cpi * (1.0 / problem.gpu().copies(timing.subsystem));
            counted = {name, counted.times + times, cpi, part};
        });
}

// λ per core of the instruction by which the paper measures this part; where the profile has none,
// the mean of the kernel's own.
double cpi_of(Part part, std::span<const std::string_view> references, const GpuFacts& gpu,
              const std::map<std::string, Counted>& counts, std::vector<std::string>& assumptions) {
    double times = 0, cycles = 0;
    for (const auto& [key, one] : counts) {
        if (one.part != part) continue;
        times += one.times;
        cycles += one.times * one.cpi;
    }
    if (times == 0) return 0;
    for (const std::string_view name : references)
        if (const ReferenceRate* rate = gpu.find_reference(name)) return rate->cpi;
    assumptions.push_back(
        fmt::format("the profile has no {}: λ is the mean of the kernel's own instructions",
                    references.front()));
    return cycles / times;
}

struct Streaming {
    double bytes_per_cycle = 0;  // of one core
    std::string subsystem;
};

// B_mem, where the profile tells it.
std::optional<Streaming> streaming(const GpuFacts& gpu) {
    constexpr double bytes = 4;  // per lane
    for (const std::string_view name : {"ld.global.f32", "ld.global.u32"})
        if (const ReferenceRate* rate = gpu.find_reference(name))
            return Streaming{bytes * gpu.warp_size / rate->cpi, rate->subsystem};
    return std::nullopt;
}

Prediction predict(const Problem& problem, const ModelOptions& options, RooflineVariant variant) {
    const WarpLoad load = warp_load(problem);
    std::map<std::string, Counted> counts;
    const std::vector<double> shares = problem.groups().program_shares();
    for (std::size_t program = 0; program < shares.size(); ++program)
        if (shares[program] > 0) count_items(problem, program, shares[program], counts);

    const GpuFacts& gpu = problem.gpu();
    const double lanes = gpu.warp_size;
    std::map<Part, double> of;
    double multiply_adds = 0;
    for (const auto& [key, one] : counts) of[one.part] += one.times * lanes;
    const Part useful = of[Part::fp64] > 0   ? Part::fp64
                        : of[Part::fp32] > 0 ? Part::fp32
                                             : Part::integer;
    for (const auto& [key, one] : counts)
        if (one.part == useful && is_multiply_add(one.op)) multiply_adds += one.times * lanes;
    // What is arithmetic but not of the chosen kind is "other" to the paper.
    for (auto& [key, one] : counts)
        if (one.part != useful && one.part != Part::load_store) one.part = Part::other;

    Prediction prediction;
    std::vector<std::string> assumptions = {"every latency is hidden, whatever the occupancy",
                                            variant == RooflineVariant::literal
                                                ? "instructions of different units take turns"
                                                : "instructions of different units overlap fully"};
    const std::optional<double> traffic = options.memory.dram_bytes_per_warp;
    const std::optional<Streaming> memory = streaming(gpu);
    if (!traffic)
        assumptions.push_back(
            "traffic to memory is not known: the bound is that of the instructions");
    else if (!memory)
        assumptions.push_back(
            "the profile has no ld.global.f32: the bound is that of the instructions");
    constexpr std::array<std::string_view, 1> fp64 = {"fma.f64"};
    constexpr std::array<std::string_view, 1> fp32 = {"fma.f32"};
    constexpr std::array<std::string_view, 1> integer = {"mad.s32"};
    constexpr std::array<std::string_view, 2> shared = {"ld.shared.u32", "ld.shared.f32"};
    constexpr std::array<std::string_view, 1> addition = {"add.s32"};
    const std::span<const std::string_view> operation =
        useful == Part::fp64 ? fp64 : (useful == Part::fp32 ? fp32 : integer);
    const auto rate = [&](Part part, std::span<const std::string_view> references, double each) {
        const double cpi = cpi_of(part, references, gpu, counts, assumptions);
        return cpi > 0 ? each * lanes / cpi : 1.0;  // without such instructions: not used
    };
    RooflineWork work{.kind = useful == Part::fp64   ? OperationKind::fp64
                              : useful == Part::fp32 ? OperationKind::fp32
                                                     : OperationKind::integer,
                      .operation_instructions = of[useful],
                      .multiply_adds = useful == Part::integer ? 0 : multiply_adds,
                      .load_store = of[Part::load_store],
                      .all = load.instructions * lanes,
                      .traffic = traffic};
    // Sums of the same numbers in another order.
    work.all = std::max(work.all, work.operation_instructions + work.load_store);
    RooflineRates rates{.operation = rate(useful, operation, 2),
                        .load_store = rate(Part::load_store, shared, 1),
                        .other = rate(Part::other, addition, 1),
                        .memory = {},
                        .issue = {}};
    if (memory) rates.memory = memory->bytes_per_cycle;
    if (gpu.issue.limit) rates.issue = *gpu.issue.limit * lanes;
    const RooflineResult result = evaluate(work, rates, variant);

    prediction = throughput_prediction(problem, load, 1 / result.time);
    prediction.limited_by =
        result.memory_bound ? memory->subsystem : roof(problem, load).limited_by;
    prediction.assumptions = std::move(assumptions);
    if (result.mix_efficiency) prediction.values.push_back({"E_mix", *result.mix_efficiency});
    if (result.instruction_efficiency)
        prediction.values.push_back({"E_instr", *result.instruction_efficiency});
    prediction.values.push_back({"D_ops", work.operation_instructions / work.all});
    prediction.values.push_back({"D_ldst", work.load_store / work.all});
    prediction.values.push_back({"operations per warp", result.operations});
    if (traffic) prediction.values.push_back({"DRAM bytes per warp", *traffic});
    return prediction;
}

}  // namespace

std::string_view to_string(OperationKind kind) {
    switch (kind) {
        case OperationKind::fp64:
            return "fp64";
        case OperationKind::fp32:
            return "fp32";
        case OperationKind::integer:
            return "int";
    }
    return "";
}

double useful_operations(const RooflineWork& work) {
    return work.operation_instructions +
           (work.kind == OperationKind::integer ? 0 : work.multiply_adds);
}

RooflineResult evaluate(const RooflineWork& work, const RooflineRates& rates,
                        RooflineVariant variant) {
    double other = work.all - work.operation_instructions - work.load_store;
    if (other < 0) {
        if (other < -1e-9 * work.all)
            throw InputError(fmt::format(
                "{:g} useful operations and {:g} loads and stores are more than all {:g} "
                "instructions together",
                work.operation_instructions, work.load_store, work.all));
        other = 0;
    }
    RooflineResult result;
    result.operations = useful_operations(work);
    result.operation_time = 2 * work.operation_instructions / rates.operation;
    result.load_store_time = work.load_store / rates.load_store;
    result.other_time = other / rates.other;
    if (variant == RooflineVariant::literal) {
        result.compute_time = result.operation_time + result.load_store_time + result.other_time;
    } else {
        if (rates.issue) result.issue_time = work.all / *rates.issue;
        result.compute_time = std::max(std::max(result.operation_time, result.load_store_time),
                                       std::max(result.other_time, result.issue_time));
    }
    if (work.operation_instructions > 0) {
        result.mix_efficiency = result.operations / (2 * work.operation_instructions);
        result.instruction_efficiency = result.operation_time / result.compute_time;
        result.adjusted_rate =
            *result.mix_efficiency * *result.instruction_efficiency * rates.operation;
    }
    result.time = result.compute_time;
    if (work.traffic && rates.memory) {
        result.memory_time = *work.traffic / *rates.memory;
        // O_krn <= O_dev (19)
        result.memory_bound = *result.memory_time >= result.compute_time;
        result.time = std::max(result.time, *result.memory_time);
    }
    return result;
}

Prediction predict_quantitative_roofline(const Problem& problem, const ModelOptions& options) {
    Prediction prediction = predict(problem, options, RooflineVariant::literal);
    prediction.model = "quantitative-roofline";
    return prediction;
}

Prediction predict_quantitative_roofline_units(const Problem& problem,
                                               const ModelOptions& options) {
    Prediction prediction = predict(problem, options, RooflineVariant::overlapped);
    prediction.model = "quantitative-roofline-units";
    return prediction;
}

}  // namespace occupipe

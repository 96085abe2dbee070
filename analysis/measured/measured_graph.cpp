// SPDX-License-Identifier: MIT
#include "analysis/measured/measured_graph.h"

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "bench/kernel/kernel_source.h"
#include "core/row_dependence.h"

namespace occupipe::analysis {
namespace {

std::span<const bench::Row> rows_of(const MeasurementFile& file) {
    const auto backend = file.context.find("backend");
    if (backend == file.context.end()) return {};
    // "carried": what others ran is CUDA's kernels (`measure --dump`).
    if (backend->second == "cuda" || backend->second == "carried")
        return bench::instruction_table();
    if (backend->second == "opencl") return bench::opencl_table();
    return {};
}

std::optional<bench::KernelPlan> plan_of(const MeasurementFile& file, const MeasurementRow& row) {
    const std::span<const bench::Row> rows = rows_of(file);
    bench::KernelPlan plan{.chains = row.shape.chains};
    const auto mix = parse_mix(row.subject);
    plan.first = bench::find_row(rows, mix ? mix->first : row.subject);
    if (!plan.first) return std::nullopt;
    if (mix) {
        plan.second = bench::find_row(rows, mix->second);
        plan.beta = mix->beta;
        if (!plan.second) return std::nullopt;
    }
    return plan;
}

}  // namespace

BenchmarkKernel kernel_of(const MeasurementFile& file, const MeasurementRow& row) {
    BenchmarkKernel kernel;
    if (const auto plan = plan_of(file, row)) {
        kernel = bench::benchmark_kernel(*plan);
    } else {
        kernel = chained_kernel(row.subject, row.shape.chains);
        kernel.first.chained = waits_for_result(row);
    }
    kernel.body = kernel.period();
    const auto unroll = row.counters.find("unroll");
    if (unroll && *unroll >= 1 && *unroll <= 1e6 && std::floor(*unroll) == *unroll)
        kernel.body = static_cast<std::int64_t>(*unroll);
    return kernel;
}

MeasuredGraphs::MeasuredGraphs(const GpuProfile& profile) : profile_(profile) {
    for (const InstructionTiming& timing : profile.instructions) {
        if (!timing.loop_cpi && !timing.loop_latency) continue;
        for (const auto& [cpi, latency] : {std::pair(true, true), {true, false}, {false, true}}) {
            InstructionTiming last = timing;
            last.name = after_loop(timing.name, cpi, latency);
            last.kind = timing.effective_kind();
            last.tables.clear();
            if (cpi && timing.loop_cpi) last.cpi.value += timing.loop_cpi->value;
            if (latency && last.latency && timing.loop_latency)
                last.latency->value += timing.loop_latency->value;
            profile_.instructions.push_back(std::move(last));
        }
    }
}

LoopForm MeasuredGraphs::loop_form(const BenchmarkKernel& kernel) const {
    if (!kernel.counted_loop) return LoopForm::none;
    const auto knows_cost = [&](const BenchmarkInstruction& one) {
        return profile_.find_instruction(after_loop(one.name, true, true)) != nullptr;
    };
    if (knows_cost(kernel.first) && (!kernel.second || knows_cost(*kernel.second)))
        return LoopForm::costs;
    constexpr std::array control = {loop_count, loop_compare, loop_branch};
    for (const char* name : control)
        if (!profile_.find_instruction(name)) return LoopForm::none;
    return LoopForm::instructions;
}

Kernel MeasuredGraphs::graph(const BenchmarkKernel& kernel, const MeasurementShape& shape) const {
    BenchmarkKernel known = kernel;
    for (BenchmarkInstruction* one : {&known.first, known.second ? &*known.second : nullptr})
        if (one && !profile_.find_instruction(one->gathered_by)) one->gathered_by.clear();
    GraphOptions options{.loop = loop_form(known)};
    for (const BenchmarkInstruction* one :
         {&known.first, known.second ? &*known.second : nullptr}) {
        const InstructionTiming* timing = one ? profile_.find_instruction(one->name) : nullptr;
        if (timing && !timing->latency) options.gathers_wait = false;
    }
    if (known.second) {
        const InstructionTiming* first = profile_.find_instruction(known.first.name);
        const InstructionTiming* second = profile_.find_instruction(known.second->name);
        options.first_pays = !first || !second || first->subsystem != second->subsystem;
    }
    return measured_graph(known, shape, options);
}

std::string loop_form_text(LoopForm form) {
    switch (form) {
        case LoopForm::instructions:
            return "with the loop's addition, comparison and branch";
        case LoopForm::costs:
            return "with what the loop around the steps cost each instruction by the profile";
        case LoopForm::none:
            break;
    }
    return "without the loop around the steps, whose cost the profile does not say";
}

}  // namespace occupipe::analysis

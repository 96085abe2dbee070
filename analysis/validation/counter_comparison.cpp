// SPDX-License-Identifier: MIT
#include "analysis/validation/counter_comparison.h"

#include <algorithm>

namespace occupipe::analysis {
namespace {

// Nsight Compute names a kernel with or without its parameters.
bool is_of(const NcuKernel& profiled, const std::string& name) {
    return profiled.kernel == name || profiled.kernel.starts_with(name + "(");
}

std::optional<double> metric(const NcuKernel& kernel, const std::string& name) {
    const auto found = kernel.metrics.find(name);
    if (found == kernel.metrics.end()) return std::nullopt;
    return found->second;
}

std::optional<double> sum(std::optional<double> one, std::optional<double> other) {
    if (!one || !other) return std::nullopt;
    return *one + *other;
}

}  // namespace

std::vector<CounterRow> compare_counters(const ReadyKernel& ready, const GpuProfile& profile,
                                         const std::vector<NcuKernel>& profiled) {
    const auto found = std::ranges::find_if(
        profiled, [&](const NcuKernel& one) { return is_of(one, ready.suite.name); });
    if (found == profiled.end() || !ready.in) return {};
    const KernelIn& in = *ready.in;
    std::vector<CounterRow> rows;
    const auto add = [&](const char* what, std::optional<double> ours,
                         std::optional<double> theirs) {
        rows.push_back({ready.suite.name, what, ours, theirs});
    };
    const double of_all =
        static_cast<double>(in.seen.groups) / static_cast<double>(in.executed_groups);
    const auto sectors = [&](isa::AccessKind kind) {
        return of_all * static_cast<double>(in.memory->counts_of(isa::Space::global, kind).sectors);
    };
    const double* const executed = find_metric(*found, "inst_executed.sum");
    add("warp-instructions", of_all * static_cast<double>(in.execution.warp_instructions),
        executed ? std::optional(*executed) : std::nullopt);
    add("sectors of global loads", sectors(isa::AccessKind::load),
        metric(*found, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
    add("sectors of global stores", sectors(isa::AccessKind::store),
        metric(*found, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"));
    const PricedMemory memory = memory_view(ready.kernel, profile, {});
    std::optional<double> bytes = dram_bytes_per_warp(memory);
    if (!bytes_of(memory.sizes, shared_cache())) bytes.reset();
    if (bytes) *bytes *= static_cast<double>(ready.groups) * ready.group_warps;
    add("bytes from and to DRAM", bytes,
        sum(metric(*found, "dram__bytes_read.sum"), metric(*found, "dram__bytes_write.sum")));
    return rows;
}

}  // namespace occupipe::analysis

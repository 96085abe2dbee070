// SPDX-License-Identifier: MIT
// Every field of a profile, once (core/fields.h has the words; docs/reference/file-formats/ what
// they mean to people). A new field is a member of its type, a line here and a line there.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/fields.h"
#include "core/gpu_profile.h"

namespace occupipe {

constexpr auto words(std::type_identity<Scope>) {
    return std::array{Scope::core, Scope::scheduler};
}
constexpr auto words(std::type_identity<Policy>) {
    return std::array{Policy::lrr, Policy::gto, Policy::oldest};
}
constexpr auto words(std::type_identity<Select>) {
    return std::array{Select::subsystem, Select::warp};
}

template <class Io>
void describe(Io& io, std::type_identity<DeviceIdentity>) {
    using T = DeviceIdentity;
    io("name", &T::name, {.required = true, .fault = &title_fault, .merge = Merge::must_agree});
    io("vendor", &T::vendor, {.fault = &control_character_fault});
    io("architecture", &T::architecture, {.fault = &control_character_fault});
    io("compute_capability", &T::compute_capability, {.fault = &control_character_fault});
}

template <class Io>
void describe(Io& io, std::type_identity<Limits>) {
    using T = Limits;
    io("warps", &T::warps, {.merge = Merge::first});
    io("groups", &T::groups, {.merge = Merge::first});
    io("group_warps", &T::group_warps, {.merge = Merge::first});
    io("registers", &T::registers, {.merge = Merge::first});
    io("shared_memory_bytes", &T::shared_memory_bytes, {.merge = Merge::first});
}

template <class Io>
void describe(Io& io, std::type_identity<Issue>) {
    using T = Issue;
    io.with_error("limit", &T::limit, &T::limit_std_error, {.label = "issue limit"});
    io("schedulers", &T::schedulers, {.most = most_schedulers});
    io("select", &T::select, {.label = "issue select"});
    io("policy", &T::policy, {.label = "issue policy"});
}

template <class Io>
void describe(Io& io, std::type_identity<InstructionCache>) {
    using T = InstructionCache;
    io("bytes", &T::bytes, {.merge = Merge::first});
    io("bytes_per_cycle", &T::bytes_per_cycle, {.merge = Merge::first});
    io("reference", &T::reference, {.fault = &control_character_fault, .merge = Merge::first});
    io.check([](const T& cache) -> std::optional<Fault> {
        if (cache.bytes || !cache.bytes_per_cycle) return std::nullopt;
        return Fault{{"bytes_per_cycle"}, "needs 'bytes'"};
    });
}

template <class Io>
void describe(Io& io, std::type_identity<Overheads>) {
    using T = Overheads;
    io("launch_seconds", &T::launch_seconds,
       {.range = some_seconds, .label = "launch", .unit = "s"});
    io("awaited_launch_seconds", &T::awaited_launch_seconds,
       {.range = some_seconds, .label = "awaited launch", .unit = "s"});
    io("graph_launch_seconds", &T::graph_launch_seconds,
       {.range = some_seconds, .label = "launch in a graph", .unit = "s"});
    io("kernel_seconds", &T::kernel_seconds,
       {.range = some_seconds, .label = "empty kernel", .unit = "s"});
    io("group_seconds", &T::group_seconds,
       {.range = some_seconds, .label = "group launch", .unit = "s"});
    io("loop_cycles", &T::loop_cycles, {.label = "loop iteration"});
}

// Predictions use these two words beside the subsystems' names.
inline std::optional<std::string> reserved_name(std::string_view name) {
    return name == "issue" || name == "latency"
               ? std::optional<std::string>("this name is reserved")
               : std::nullopt;
}

template <class Io>
void describe(Io& io, std::type_identity<Subsystem>) {
    using T = Subsystem;
    io.name(&T::name, &reserved_name);
    // Two ways to see one thing: λ is compared per core, whatever the scope.
    io("scope", &T::scope, {.compared = false, .merge = Merge::first});
    io("contention", &T::contention, {.range = share_below_one});
    constexpr int most_slots = 16;
    io("issue_slots", &T::issue_slots, {.most = most_slots, .merge = Merge::first});
}

template <class Io>
void describe(Io& io, std::type_identity<TableRow>) {
    using T = TableRow;
    io("at", &T::at, {.required = true, .identity = true});
    io("cpi", &T::cpi, {.label = "λ", .per_copy = true});
    io("latency", &T::latency, {.label = "Λ"});
    io.check([](const T& row) -> std::optional<Fault> {
        if (row.cpi || row.latency) return std::nullopt;
        return Fault{{}, "has neither cpi nor latency"};
    });
}

template <class Io>
void describe(Io& io, std::type_identity<ParameterTable>) {
    using T = ParameterTable;
    io("over", &T::over, {.required = true, .fault = &name_fault, .identity = true});
    io("note", &T::note);
    io.list("rows", &T::rows, {.required = true});
    io.check([](const T& table) -> std::optional<Fault> {
        if (table.rows.empty()) return Fault{{"rows"}, "has no rows"};
        for (std::size_t i = 1; i < table.rows.size(); ++i)
            if (!(table.rows[i - 1].at < table.rows[i].at))
                return Fault{{"rows", fmt::format("[{}]", i), "at"}, "rows must ascend"};
        return std::nullopt;
    });
}

template <class Io>
void describe(Io& io, std::type_identity<InstructionTiming>) {
    using T = InstructionTiming;
    constexpr std::int64_t most_warps = 64;
    io.name(&T::name);
    io("subsystem", &T::subsystem, {.required = true, .merge = Merge::first_noting_rest});
    io("cpi", &T::cpi, {.required = true, .label = "λ", .per_copy = true, .spread = "λ"});
    io("latency", &T::latency, {.label = "Λ", .spread = "Λ"});
    io("latency_unknown", &T::latency_unknown);
    io("step", &T::step, {.fault = &control_character_fault});
    io("warps_per_instruction", &T::warps_per_instruction,
       {.most = most_warps, .default_unwritten = true, .label = "warps per instruction"});
    io("latency_growth", &T::latency_growth, {.label = "h"});
    io("loop_cpi", &T::loop_cpi, {.label = "loop λ", .per_copy = true});
    io("loop_latency", &T::loop_latency, {.label = "loop Λ"});
    io("kind", &T::kind, {.compared = false, .merge = Merge::first});
    io("source", &T::source, {.compared = false});
    io("reference", &T::reference);
    io("note", &T::note, {.merge = Merge::notes});
    io.list("tables", &T::tables, {.label = "at"});
    io.check([](const T& timing) -> std::optional<Fault> {
        if (!timing.latency && timing.latency_unknown.empty())
            return Fault{{"latency"}, "is missing, and no latency_unknown says why"};
        if (timing.latency && !timing.latency_unknown.empty())
            return Fault{{"latency_unknown"}, "conflicts with 'latency'; give one of them"};
        if (!timing.latency && timing.latency_growth)
            return Fault{{"latency_growth"}, "needs 'latency'"};
        for (std::size_t i = 0; i < timing.tables.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const ParameterTable& a = timing.tables[j];
                const ParameterTable& b = timing.tables[i];
                if (a.over != b.over || a.rows.empty() || b.rows.empty()) continue;
                if (a.rows.back().at < b.rows.front().at || b.rows.back().at < a.rows.front().at)
                    continue;
                return Fault{{"tables", fmt::format("[{}]", i)},
                             fmt::format("overlaps another table over {}", a.over)};
            }
        return std::nullopt;
    });
}

// In the first version of the format every instruction has a latency.
inline std::optional<Fault> first_version_fault(const GpuProfile& profile) {
    for (const InstructionTiming& timing : profile.instructions) {
        if (!timing.latency) return Fault{{"instructions", timing.name, "latency"}, "is missing"};
        if (!timing.latency_unknown.empty())
            return Fault{{"instructions", timing.name, "latency_unknown"},
                         "is a key of occupipe-profile/2"};
    }
    return std::nullopt;
}

template <class Io>
void describe(Io& io, std::type_identity<MemoryLevel>) {
    using T = MemoryLevel;
    io("instruction", &T::instruction, {.required = true, .fault = &name_fault, .identity = true});
    io("latency", &T::latency, {.required = true, .label = "Λ"});
    io("first_bytes", &T::first_bytes, {.required = true, .compared = false, .grid = true});
    io("last_bytes", &T::last_bytes, {.required = true, .compared = false, .grid = true});
    io("edge_confidence", &T::edge_confidence,
       {.range = probability, .compared = false, .merge = Merge::least});
    io.check([](const T& level) -> std::optional<Fault> {
        if (level.last_bytes >= level.first_bytes) return std::nullopt;
        return Fault{{"last_bytes"}, "last_bytes is below first_bytes"};
    });
}

// A working set is in one level: those of an instruction ascend.
inline std::optional<Fault> levels_fault(const GpuProfile& profile) {
    for (std::size_t i = 0; i < profile.memory_levels.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const MemoryLevel& level = profile.memory_levels[i];
            const MemoryLevel& earlier = profile.memory_levels[j];
            if (level.instruction == earlier.instruction && level.first_bytes <= earlier.last_bytes)
                return Fault{{"memory_levels", fmt::format("[{}]", i), "first_bytes"},
                             fmt::format("{} is not above {}, the last_bytes of an earlier level "
                                         "of {}",
                                         level.first_bytes, earlier.last_bytes, level.instruction)};
        }
    return std::nullopt;
}

template <class Io>
void describe(Io& io, std::type_identity<MatchDevice>) {
    using T = MatchDevice;
    constexpr std::int64_t most_lanes = 1024;
    io("processors", &T::processors, {.merge = Merge::first});
    io("vector_width", &T::vector_width, {.most = most_lanes, .merge = Merge::first});
    io("flops_per_second", &T::flops_per_second, {.range = some_rate, .unit = "FLOP/s"});
    io("f32_flops_per_second", &T::f32_flops_per_second, {.range = some_rate, .unit = "FLOP/s"});
    io("fast_bytes", &T::fast_bytes, {.merge = Merge::first});
    io("line_bytes", &T::line_bytes, {.merge = Merge::first});
    io("fast_bytes_per_second", &T::fast_bytes_per_second, {.range = some_rate, .unit = "B/s"});
    io("fast_latency_seconds", &T::fast_latency_seconds, {.range = some_seconds, .unit = "s"});
    io("slow_bytes_per_second", &T::slow_bytes_per_second, {.range = some_rate, .unit = "B/s"});
    io("slow_latency_seconds", &T::slow_latency_seconds, {.range = some_seconds, .unit = "s"});
    io("synchronisation_seconds", &T::synchronisation_seconds,
       {.range = some_seconds, .unit = "s"});
    io("reference", &T::reference, {.fault = &control_character_fault, .merge = Merge::first});
}

template <class Io>
void describe(Io& io, std::type_identity<GpuProfile>) {
    using T = GpuProfile;
    io.record("device", &T::device, {.required = true});
    io("cores", &T::cores, {.required = true});
    io("warp_size", &T::warp_size, {.required = true, .label = "warp size"});
    io("clock_hz", &T::clock_hz,
       {.required = true, .range = clock_rate, .label = "clock", .unit = "Hz"});
    io.record("limits", &T::limits, {.label = "limits"});
    io.record("issue", &T::issue);
    io.record("instruction_cache", &T::instruction_cache);
    io.record("overheads", &T::overheads);
    io.named("subsystems", &T::subsystems,
             {.required = true, .alike = [](const Subsystem& a, const Subsystem& b) {
                  // A share of λ, which depends on the scope.
                  return a.per_scheduler() == b.per_scheduler();
              }});
    io.named(
        "instructions", &T::instructions,
        {.required = true,
         .copies = [](const T& profile,
                      const InstructionTiming& timing) { return profile.copies(timing.subsystem); },
         .other_copies = "has its subsystem at another scope"});
    io.list("memory_levels", &T::memory_levels, {.ordinal = "level"});
    io.record("match", &T::match, {.label = "match"});
    io("provenance", &T::provenance);
    io.check(&levels_fault);
    io.check([](const T& profile) -> std::optional<Fault> {
        for (const InstructionTiming& timing : profile.instructions)
            if (profile.find_subsystem(timing.subsystem) == nullptr)
                return Fault{{"instructions", timing.name, "subsystem"},
                             fmt::format("'{}' is not among the subsystems", timing.subsystem)};
        return std::nullopt;
    });
}

}  // namespace occupipe

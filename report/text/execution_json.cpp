// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "report/text/execution.h"

namespace occupipe::report {
namespace {

using extract::LaunchResult;
using extract::MemoryCounts;
using Json = nlohmann::ordered_json;

Json counts_of(const std::vector<OpcodeCount>& counts) {
    Json json = Json::object();
    for (const OpcodeCount& one : counts)
        json[one.name] = {{"warp_instructions", one.count.warps},
                          {"lane_instructions", one.count.lanes}};
    return json;
}

void add_memory(Json& json, const MemoryCounts& counts, isa::Space space, isa::AccessKind kind) {
    json["requests"] = counts.requests;
    json["lanes"] = counts.lanes;
    json["bytes_asked"] = counts.bytes_asked;
    if (space == isa::Space::global || space == isa::Space::local) {
        json["sectors"] = counts.sectors;
        json["least_sectors"] = counts.least_sectors;
        json["lines"] = counts.lines;
        json["bytes_moved"] = counts.sectors * extract::sector_bytes;
    }
    if (space != isa::Space::constant) {
        json["passes"] = counts.passes;
        json["least_passes"] = counts.phases;
    }
    if (kind == isa::AccessKind::atomic) json["lanes_at_one_address"] = counts.same_address;
}

constexpr const char* spaces[] = {"global", "shared", "local", "constant"};
constexpr const char* kinds[] = {"load", "store", "atomic", "copy"};

Json instructions_of(const LaunchResult& launch) {
    Json list = Json::array();
    const isa::Execution& run = launch.execution;
    for (std::size_t i = 0; i < run.counts.size(); ++i) {
        if (run.counts[i].warps == 0) continue;
        const isa::Instruction& one = (*run.code)[i];
        Json json;
        json["address"] = one.address;
        json["opcode"] = one.opcode;
        const std::string line = isa::source_line(*launch.kernel, one.address);
        if (!line.empty()) json["source"] = line;
        json["warp_instructions"] = run.counts[i].warps;
        json["lane_instructions"] = run.counts[i].lanes;
        for (const extract::MemorySite& site : launch.sites) {
            if (site.instruction != i) continue;
            Json memory;
            memory["space"] = spaces[static_cast<std::size_t>(site.space)];
            memory["kind"] = kinds[static_cast<std::size_t>(site.kind)];
            memory["bytes_per_lane"] = site.bytes;
            add_memory(memory, site.counts, site.space, site.kind);
            json["memory"].push_back(std::move(memory));
        }
        list.push_back(std::move(json));
    }
    return list;
}

Json occupancy_of(const Occupancy& occupancy) {
    Json limits = Json::array();
    for (const Occupancy::Limit& limit : occupancy.limits)
        limits.push_back({{"what", to_text(limit.what)}, {"groups", limit.groups}});
    return {{"groups_per_core", occupancy.groups},
            {"group_warps", occupancy.group_warps},
            {"warps_per_core", occupancy.warps},
            {"limits", std::move(limits)}};
}

Json launch_json(const LaunchResult& launch) {
    const isa::Execution& run = launch.execution;
    Json json;
    json["kernel"] = launch.kernel->name;
    json["grid"] = launch.launch->grid;
    json["block"] = launch.launch->block;
    json["shared_bytes"] = launch.launch->shared_bytes;
    json["times"] = launch.times;
    json["groups"] = run.groups;
    json["warps"] = run.warps;
    json["warp_instructions"] = run.warp_instructions;
    json["lane_instructions"] = run.lane_instructions;
    json["branches"] = run.branches;
    json["divergent_branches"] = run.divergent_branches;
    json["groups_in_order"] = run.in_order;
    if (!run.printed.empty()) json["printed"] = run.printed;
    json["occupancy"] = occupancy_of(launch.occupancy);
    json["units"] = counts_of(by_unit(launch));
    json["opcodes"] = counts_of(by_opcode(launch));
    json["different_bytes"] = {
        {"read", launch.footprint.sectors_read * extract::sector_bytes},
        {"written", launch.footprint.sectors_written * extract::sector_bytes},
        {"all", launch.footprint.sectors * extract::sector_bytes}};
    json["instructions"] = instructions_of(launch);
    return json;
}

Json buffer_json(const ExecutedBuffer& one) {
    Json json;
    json["name"] = one.buffer.name;
    json["type"] = to_string(one.buffer.type);
    json["count"] = one.buffer.count;
    json["hash"] = one.summary.hash;
    json["first"] = one.summary.first;
    if (one.summary.least) json["least"] = *one.summary.least;
    if (one.summary.greatest) json["greatest"] = *one.summary.greatest;
    if (one.summary.mean) json["mean"] = *one.summary.mean;
    json["not_a_number"] = one.summary.not_a_number;
    json["infinite"] = one.summary.infinite;
    if (!one.comparison) return json;
    const extract::BufferComparison& comparison = *one.comparison;
    Json compared;
    compared["against"] = one.against;
    compared["absolute"] = one.absolute;
    compared["relative"] = one.relative;
    compared["agrees"] = comparison.agrees();
    compared["different"] = comparison.different;
    compared["equal_bits"] = comparison.equal_bits;
    if (comparison.first)
        compared["first"] = {{"element", *comparison.first},
                             {"found", comparison.found},
                             {"expected", comparison.expected}};
    if (comparison.greatest_difference)
        compared["greatest_difference"] = {{"element", comparison.greatest_at},
                                           {"value", *comparison.greatest_difference}};
    json["comparison"] = std::move(compared);
    return json;
}

}  // namespace

std::string to_json(const ExecutionReport& report) {
    Json json;
    json["format"] = "occupipe-execution/1";
    json["kernels"] = report.kernels;
    json["architecture"] = "sm_" + std::to_string(report.architecture);
    if (!report.compiler.empty()) {
        json["compiler"] = report.compiler;
        json["compiler_options"] = report.options;
    }
    json["notes"] = report.notes;
    json["launches"] = Json::array();
    for (const LaunchResult& launch : report.launches)
        json["launches"].push_back(launch_json(launch));
    if (!report.ended_early.empty()) json["ended_early"] = report.ended_early;
    json["buffers"] = Json::array();
    for (const ExecutedBuffer& one : report.buffers) json["buffers"].push_back(buffer_json(one));
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace occupipe::report

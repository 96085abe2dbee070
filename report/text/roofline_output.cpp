// SPDX-License-Identifier: MIT
#include "report/text/roofline_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files/csv.h"
#include "report/text/seconds_text.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using analysis::RooflinePrediction;

std::string percent(std::optional<double> share) {
    return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

const char* unit_of(OperationKind kind) {
    return kind == OperationKind::integer ? "GIOP/s" : "GFLOP/s";
}

// What would have to become less, and to which share, for the other bound to take over.
std::string flip_text(const RooflinePrediction& one) {
    if (!one.distance_to_flip) return "-";
    return fmt::format("{} x {:.3g}", one.result->memory_bound ? "traffic" : "instructions",
                       *one.distance_to_flip);
}

// Of the useful operations; absent without any.
std::optional<double> rate_of(const RooflineResult& result) {
    if (result.operations <= 0 || result.time <= 0) return std::nullopt;
    return result.operations / result.time;
}

std::string count_text(std::optional<double> value) {
    return value ? fmt::format("{:.6g}", *value) : "not counted";
}

}  // namespace

std::string_view model_name(RooflineVariant variant) {
    return variant == RooflineVariant::literal ? "quantitative-roofline"
                                               : "quantitative-roofline-units";
}

std::string to_text(const std::vector<KernelParameters>& kernels,
                    const std::vector<RooflineCell>& cells) {
    using enum Align;
    TextTable what{.header = {"kernel", "type", "operations", "bytes", "operations/byte", "D_ops",
                              "D_ldst", "D_other", "counted by"},
                   .align = {left, left, right, right, right, right, right, right, left},
                   .rows = {}};
    for (const KernelParameters& kernel : kernels) {
        const RooflineWork work = analysis::work_of(kernel);
        const auto intensity = analysis::intensity_of(work);
        const double ops = work.operation_instructions / work.all;
        const double ldst = work.load_store / work.all;
        what.rows.push_back(
            {kernel.kernel, std::string(to_string(work.kind)),
             fmt::format("{:.4g}", useful_operations(work)), fmt::format("{:.4g}", *work.traffic),
             intensity ? fmt::format("{:.4g}", *intensity) : "-", percent(ops), percent(ldst),
             percent(1 - ops - ldst),
             kernel.device.empty() ? kernel.origin
                                   : fmt::format("{}, {}", kernel.origin, kernel.device)});
    }
    TextTable table{
        .header = {"kernel", "device", "model", "time", "bound", "rate", "unit", "E_mix", "E_instr",
                   "compute", "memory", "bound flips at"},
        .align = {left, left, left, right, left, right, left, right, right, right, right, left},
        .rows = {}};
    std::string lacking;
    for (const RooflineCell& cell : cells) {
        const RooflinePrediction& one = cell.prediction;
        if (!one.result) {
            const std::string line =
                fmt::format("{} on {}: not predicted, the profile has no {}\n", cell.kernel->kernel,
                            cell.device->device.name, fmt::join(one.missing, ", "));
            if (lacking.find(line) == std::string::npos) lacking += line;  // once for all models
            continue;
        }
        const RooflineResult& result = *one.result;
        const auto rate = rate_of(result);
        table.rows.push_back(
            {cell.kernel->kernel, cell.device->device.name, std::string(model_name(cell.variant)),
             seconds_text(result.time), result.memory_bound ? "memory" : "compute",
             rate ? fmt::format("{:.4g}", *rate * 1e-9) : "-", unit_of(one.work.kind),
             percent(result.mix_efficiency), percent(result.instruction_efficiency),
             seconds_text(result.compute_time), seconds_text(*result.memory_time), flip_text(one)});
    }
    std::string text = plain_text(what);
    if (!table.rows.empty()) text += "\n" + plain_text(table);
    if (!lacking.empty()) text += "\n" + lacking;
    return text;
}

std::string to_csv(const std::vector<RooflineCell>& cells) {
    std::string text =
        "kernel,device,model,type,operations,bytes,seconds,bound,compute_seconds,memory_seconds,"
        "e_mix,e_instr,flips_at,missing\n";
    const auto number = [](std::optional<double> value) {
        return value ? fmt::format("{}", *value) : std::string();
    };
    for (const RooflineCell& cell : cells) {
        const RooflinePrediction& one = cell.prediction;
        text += fmt::format("{},{},{},{},", csv_text(cell.kernel->kernel),
                            csv_text(cell.device->device.name), model_name(cell.variant),
                            to_string(one.work.kind));
        if (!one.result) {  // the counts alone
            text += fmt::format("{},{},,,,,,,,{}\n", useful_operations(one.work),
                                number(one.work.traffic),
                                csv_text(fmt::format("{}", fmt::join(one.missing, "; "))));
            continue;
        }
        const RooflineResult& result = *one.result;
        text += fmt::format("{},{},{},{},{},{},{},{},{},\n", result.operations,
                            number(one.work.traffic), result.time,
                            result.memory_bound ? "memory" : "compute", result.compute_time,
                            number(result.memory_time), number(result.mix_efficiency),
                            number(result.instruction_efficiency), number(one.distance_to_flip));
    }
    return text;
}

nlohmann::ordered_json to_json(const std::vector<RooflineCell>& cells) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const RooflineCell& cell : cells) {
        const RooflinePrediction& one = cell.prediction;
        nlohmann::ordered_json entry = {{"kernel", cell.kernel->kernel},
                                        {"device", cell.device->device.name},
                                        {"model", model_name(cell.variant)},
                                        {"type", to_string(one.work.kind)}};
        if (!one.result) {
            entry["missing"] = one.missing;
            list.push_back(entry);
            continue;
        }
        const RooflineResult& result = *one.result;
        entry["operations"] = result.operations;
        entry["bytes"] = *one.work.traffic;
        if (const auto intensity = analysis::intensity_of(one.work))
            entry["operations_per_byte"] = *intensity;
        entry["seconds"] = result.time;
        entry["bound"] = result.memory_bound ? "memory" : "compute";
        entry["compute_seconds"] = result.compute_time;
        entry["memory_seconds"] = *result.memory_time;
        entry["parts_seconds"] = {{"operations", result.operation_time},
                                  {"load_store", result.load_store_time},
                                  {"other", result.other_time}};
        if (result.mix_efficiency) entry["e_mix"] = *result.mix_efficiency;
        if (result.instruction_efficiency) entry["e_instr"] = *result.instruction_efficiency;
        if (result.adjusted_rate) entry["adjusted_operations_per_second"] = *result.adjusted_rate;
        if (one.distance_to_flip) entry["flips_at"] = *one.distance_to_flip;
        list.push_back(entry);
    }
    return {{"format", "occupipe-roofline/1"}, {"predictions", list}};
}

std::string counts_text(const std::vector<KernelParameters>& kernels) {
    using enum Align;
    TextTable table{.header = {"kernel", "count", "symbol", "unit", "value"},
                    .align = {left, left, left, left, right},
                    .rows = {}};
    for (const KernelParameters& kernel : kernels)
        for (const KernelCount& count : kernel_counts())
            if (const auto& value = kernel.*count.value)
                table.rows.push_back({kernel.device.empty()
                                          ? kernel.kernel
                                          : fmt::format("{}, {}", kernel.kernel, kernel.device),
                                      std::string(count.key), std::string(count.symbol),
                                      std::string(count.unit), count_text(value)});
    return plain_text(table);
}

std::string difference_text(const KernelParameters& a, const std::string& name_a,
                            const KernelParameters& b, const std::string& name_b) {
    using enum Align;
    TextTable table{.header = {a.kernel, "symbol", name_a, name_b, "difference"},
                    .align = {left, left, right, right, right},
                    .rows = {}};
    for (const KernelCount& count : kernel_counts()) {
        const auto& first = a.*count.value;
        const auto& second = b.*count.value;
        if (!first && !second) continue;
        std::string difference = "-";
        if (first && second) {
            if (*first == *second)
                difference = "equal";
            else if (*first > 0)
                difference = fmt::format("{:+.2f} %", 100 * (*second / *first - 1));
        }
        table.rows.push_back({std::string(count.key), std::string(count.symbol), count_text(first),
                              count_text(second), difference});
    }
    return plain_text(table);
}

}  // namespace occupipe::report

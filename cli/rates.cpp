// SPDX-License-Identifier: MIT
// The rates that other models take as a device's parameters, from a profile's λ and Λ.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/text_table.h"
#include "core/files.h"

namespace occupipe::cli {
namespace {

using Json = nlohmann::ordered_json;

enum class Quantity {
    throughput,  // lanes x amount / λ, of the whole device
    latency,     // Λ
    launch       // of a launch that the host awaits
};

struct Rate {
    std::string_view symbol;
    std::string_view meaning;
    Quantity quantity;
    std::vector<std::string_view> instructions;  // the first that the profile has
    double amount;                               // operations or bytes per lane
    std::string_view unit;
};

// Symbols: quantitative roofline (Konstantinidis and Cotronis, Table 3; a multiply-add counts as
// two operations), AutoMatch (equations 1-5). Peaks in the manner of the Empirical Roofline Tool
// are the best measured rate of a kind.
const std::vector<Rate>& rates() {
    using enum Quantity;
    static const std::vector<Rate> all = {
        {"T_SP", "single-precision multiply-adds", throughput, {"fma.f32"}, 2, "GFLOP/s"},
        {"T_DP", "double-precision multiply-adds", throughput, {"fma.f64"}, 2, "GFLOP/s"},
        {"T_int", "integer multiply-adds", throughput, {"mad.s32"}, 2, "GIOP/s"},
        {"T_add", "integer additions", throughput, {"add.s32"}, 1, "GIOP/s"},
        {"T_ldst",
         "loads from shared memory",
         throughput,
         {"ld.shared.u32", "ld.shared.f32"},
         1,
         "GOP/s"},
        {"B_mem",
         "streaming from global memory",
         throughput,
         {"ld.global.f32", "ld.global.u32"},
         4,
         "GB/s"},
        {"B_mem128", "the same, 128 bits per lane", throughput, {"ld.global.v4.f32"}, 16, "GB/s"},
        {"beta_f",
         "fast memory: loads that the second-level cache holds",
         throughput,
         {"ld.global.l2.f32", "ld.global.l2.u32"},
         4,
         "GB/s"},
        {"beta_s",
         "slow memory: streaming from global memory",
         throughput,
         {"ld.global.f32", "ld.global.u32"},
         4,
         "GB/s"},
        {"alpha_f",
         "latency of fast memory (pointer chase in the second-level cache)",
         latency,
         {"ld.global.l2.u32"},
         0,
         "ns"},
        {"alpha_s",
         "latency of slow memory (pointer chase beyond the caches)",
         latency,
         {"ld.global.u32"},
         0,
         "ns"},
        {"pi_0 n_p", "double-precision peak (AutoMatch's)", throughput, {"fma.f64"}, 2, "GFLOP/s"},
        {"s_0", "global synchronisation through the host", launch, {"launch.awaited"}, 0, "us"},
    };
    return all;
}

struct Value {
    double value;
    std::optional<double> std_error;
    std::string from;  // the instruction
};

std::optional<Value> scaled(const Estimate& estimate, double factor, bool inverse,
                            std::string_view from) {
    if (!(estimate.value > 0) || !estimate.identifiable) return std::nullopt;
    const double value = inverse ? factor / estimate.value : factor * estimate.value;
    Value result{value, std::nullopt, std::string(from)};
    if (estimate.std_error) result.std_error = value * *estimate.std_error / estimate.value;
    return result;
}

std::optional<Value> value_of(const Rate& rate, const GpuProfile& profile) {
    if (rate.quantity == Quantity::launch) {
        const auto& launch = profile.overheads.awaited_launch_seconds;
        return launch ? scaled(*launch, 1e6, false, "launch.awaited") : std::nullopt;
    }
    for (const std::string_view name : rate.instructions) {
        const InstructionTiming* timing = profile.find_instruction(name);
        if (!timing) continue;
        if (rate.quantity == Quantity::latency) {
            return scaled(timing->latency, 1e9 / profile.clock_hz, false, name);
        }
        // λ is of one core, or of one scheduler of it.
        const Subsystem* subsystem = profile.find_subsystem(timing->subsystem);
        const bool per_scheduler = subsystem && subsystem->scope == Scope::scheduler;
        const double units =
            profile.cores * (per_scheduler ? static_cast<double>(profile.issue.schedulers) : 1.0);
        return scaled(timing->cpi,
                      units * profile.warp_size * rate.amount * profile.clock_hz * 1e-9, true,
                      name);
    }
    return std::nullopt;
}

void print_rates(const std::vector<std::string>& paths, bool json) {
    Json all = Json::array();
    for (const std::string& path : paths) {
        const GpuProfile profile = read_profile(path);
        TextTable table{{"rate", "value", "unit", "from", "what it is"},
                        {Align::left, Align::right, Align::left, Align::left, Align::left},
                        {}};
        Json list = Json::array();
        for (const Rate& rate : rates()) {
            const auto found = value_of(rate, profile);
            std::string text = found ? fmt::format("{:.4g}", found->value) : "not measured";
            if (found && found->std_error) text += fmt::format(" ± {:.2g}", *found->std_error);
            table.rows.push_back({std::string(rate.symbol), text,
                                  found ? std::string(rate.unit) : "", found ? found->from : "",
                                  std::string(rate.meaning)});
            Json one = {{"symbol", rate.symbol}, {"meaning", rate.meaning}};
            if (found) {
                one["value"] = found->value;
                one["unit"] = rate.unit;
                one["instruction"] = found->from;
                if (found->std_error) one["std_error"] = *found->std_error;
            }
            list.push_back(one);
        }
        all.push_back({{"profile", path}, {"device", profile.device.name}, {"rates", list}});
        if (!json) fmt::print("{} ({})\n\n{}\n", profile.device.name, path, plain_text(table));
    }
    if (json) fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_rates(CLI::App& app) {
    struct Arguments {
        std::vector<std::string> profiles;
        bool json = false;
    };
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "rates", "The rates that other models ask for (T_SP … B_mem, α, β), from a profile");
    command->add_option("profiles", arguments->profiles, "GPU profiles (YAML)")
        ->required()
        ->type_name("PROFILE");
    command->add_flag("--json", arguments->json, "machine-readable");
    command->footer(
        "Of the whole device at the profile's clock: lanes x operations (or bytes) / λ. What the\n"
        "profile does not have, or does not determine, is 'not measured'.");
    command->callback([arguments] { print_rates(arguments->profiles, arguments->json); });
}

}  // namespace occupipe::cli

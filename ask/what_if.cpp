// SPDX-License-Identifier: MIT
#include "ask/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "ask/memory_levels.h"
#include "core/error.h"
#include "core/estimate.h"
#include "core/suggestions.h"
#include "published/shelf.h"

namespace occupipe::analysis {
namespace {

[[noreturn]] void refuse(const std::string& setting, const std::string& reason,
                         const char* option = "--set") {
    throw BadSetting(option, setting, reason);
}

std::string lacks(const GpuProfile& profile, const std::string& op) {
    return fmt::format("profile '{}' has no instruction '{}'", profile.device.name, op);
}

std::vector<std::string> near_instructions(const GpuProfile& profile, const std::string& op) {
    std::vector<std::string> names;
    for (const InstructionTiming& timing : profile.instructions) names.push_back(timing.name);
    return near_names(op, names);
}

// The entry that a reader would try first: of a name like the op's, else of its kind.
std::string guess(const GpuProfile& profile, const std::string& op) {
    const auto near = near_instructions(profile, op);
    if (!near.empty()) return near.front();
    for (const InstructionTiming& timing : profile.instructions)
        if (timing.effective_kind() == kind_of(op) && kind_of(op) != InstructionKind::compute)
            return timing.name;
    return "INSTRUCTION";
}

double positive_number(const std::string& setting, std::string_view text) {
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
        value <= 0)
        refuse(setting, fmt::format("'{}' is not a positive number", text));
    return value;
}

int count(const std::string& setting, std::string_view text) {
    const double value = positive_number(setting, text);
    constexpr double most = 1e6;
    if (value != std::floor(value))
        refuse(setting, fmt::format("'{}' is not a whole number of at least 1", text));
    if (value > most) refuse(setting, fmt::format("'{}' is above the limit of {:.0f}", text, most));
    return static_cast<int>(value);
}

// What the profile had, in words.
std::string was(const std::optional<Estimate>& estimate) {
    return estimate ? fmt::format("{}{:.6g}", sign_of(estimate->kind), estimate->value) : "none";
}
std::string was(const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : "none";
}

std::string set_contention(const std::string& setting, const std::string& name,
                           const std::string& value, GpuProfile& profile) {
    for (Subsystem& subsystem : profile.subsystems) {
        if (subsystem.name != name) continue;
        std::string before = was(subsystem.contention);
        if (value == "none" || value == "0") {
            subsystem.contention.reset();
            return before;
        }
        const double share = positive_number(setting, value);
        if (share >= 1) refuse(setting, "contention must be at least 0 and below 1");
        subsystem.contention = Estimate{.value = share};
        return before;
    }
    refuse(setting, fmt::format("profile '{}' has no subsystem '{}'", profile.device.name, name));
}

// Returns the assumption in words.
std::string apply_use(const std::string& setting, const Kernel& kernel, GpuProfile& profile,
                      std::set<std::string>& given) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
        refuse(setting, "expected OP=INSTRUCTION", "--use");
    const std::string op = setting.substr(0, equals);
    const std::string name = setting.substr(equals + 1);
    bool has_op = false;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        has_op = has_op || instruction.op == op;
    });
    if (!has_op) refuse(setting, fmt::format("the kernel has no op '{}'", op), "--use");
    if (!given.insert(op).second)
        refuse(setting, fmt::format("'{}' has an earlier --use; choose one", op), "--use");
    const InstructionTiming* const found = profile.find_instruction(name);
    if (!found) refuse(setting, lacks(profile, name), "--use");
    InstructionTiming timing = *found;
    timing.name = op;
    timing.kind = kind_of(op) == InstructionKind::compute ? found->effective_kind() : kind_of(op);
    if (InstructionTiming* const own = profile.find_instruction(op))
        *own = std::move(timing);
    else
        profile.instructions.push_back(std::move(timing));
    return fmt::format("{} uses the numbers of {}", op, name);
}

// The core's clock alone changes: what comes from device memory takes as long as before, in
// seconds, but for the way to the second level.
void set_clock(GpuProfile& profile, double clock_hz) {
    const double cycles = clock_hz / profile.clock_hz;
    const InstructionTiming* const near = profile.find_instruction("ld.global.l2.u32");
    const double way = near && near->latency ? near->latency->value : 0;
    for (InstructionTiming& one : profile.instructions) {
        if (!reaches_device_memory(one.name)) continue;
        one.cpi = one.cpi.times(cycles);
        if (one.latency && one.latency->value > way)
            one.latency = one.latency->times(cycles + (1 - cycles) * way / one.latency->value);
    }
    profile.clock_hz = clock_hz;
}

// What a row is over something, such as bank conflicts, changes with the row.
void scale_tables(InstructionTiming& timing, std::optional<Estimate> TableRow::*quantity,
                  double factor) {
    for (ParameterTable& table : timing.tables)
        for (TableRow& row : table.rows)
            if (row.*quantity) row.*quantity = (row.*quantity)->times(factor);
}

// Returns what the profile had, in words.
std::string change(const std::string& setting, const std::string& name, const std::string& value,
                   GpuProfile& profile) {
    std::string before;
    if (name == "issue.limit") {
        before = was(profile.issue.limit);
        profile.issue.limit =
            value == "none" ? std::nullopt : std::optional(positive_number(setting, value));
        profile.issue.limit_std_error.reset();
    } else if (name == "issue.schedulers") {
        before = fmt::format("{}", profile.issue.schedulers);
        profile.issue.schedulers = count(setting, value);
    } else if (name == "cores") {
        before = fmt::format("{}", profile.cores);
        profile.cores = count(setting, value);
    } else if (name == "clock_hz") {
        before = fmt::format("{:.6g}", profile.clock_hz);
        set_clock(profile, positive_number(setting, value));
    } else {
        const std::size_t dot = name.rfind('.');
        const std::string quantity = dot == std::string::npos ? "" : name.substr(dot + 1);
        if (quantity == "contention")
            return set_contention(setting, name.substr(0, dot), value, profile);
        if (quantity != "cpi" && quantity != "latency")
            refuse(setting,
                   "the name must be OP.cpi, OP.latency, SUBSYSTEM.contention, issue.limit, "
                   "issue.schedulers, cores or clock_hz");
        InstructionTiming* timing = profile.find_instruction(name.substr(0, dot));
        if (!timing) refuse(setting, lacks(profile, name.substr(0, dot)));
        const double given = positive_number(setting, value);
        if (quantity == "cpi") {
            before = was(timing->cpi);
            scale_tables(*timing, &TableRow::cpi, given / timing->cpi.value);
            timing->cpi = {.value = given};
        } else {
            before = was(timing->latency);
            if (timing->latency)
                scale_tables(*timing, &TableRow::latency, given / timing->latency->value);
            timing->latency = {.value = given};
            timing->latency_unknown.clear();
        }
    }
    return before;
}

// The row that a setting of λ or Λ is about; empty: it is of something else.
std::string_view row_of(std::string_view setting) {
    const std::string_view name = setting.substr(0, setting.find('='));
    for (const std::string_view quantity : {".cpi", ".latency"})
        if (name.ends_with(quantity)) return name.substr(0, name.size() - quantity.size());
    return {};
}

}  // namespace

std::optional<std::string> another_value(const std::string& setting) {
    if (row_of(setting).empty()) return std::nullopt;
    const std::size_t equals = setting.find('=');
    return fmt::format("{}={}", setting.substr(0, equals),
                       2 * positive_number(setting, setting.substr(equals + 1)));
}

std::vector<std::string> apply_uses(const std::vector<std::string>& settings, const Kernel& kernel,
                                    GpuProfile& profile) {
    std::vector<std::string> assumptions;
    std::set<std::string> given;
    assumptions.reserve(settings.size());
    for (const std::string& setting : settings)
        assumptions.push_back(apply_use(setting, kernel, profile, given));
    return assumptions;
}

std::vector<LackingOp> lacking_ops(const GpuProfile& profile, const Kernel& kernel,
                                   const GpuProfile& offered) {
    std::vector<LackingOp> missing;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        if (profile.find_instruction(instruction.op) ||
            std::ranges::count(missing, instruction.op, &LackingOp::op) != 0)
            return;
        missing.push_back({instruction.op, guess(offered, instruction.op), instruction.where});
    });
    return missing;
}

void require_timings(const GpuProfile& profile, const Kernel& kernel, const std::string& file,
                     const GpuProfile& offered) {
    const std::vector<LackingOp> missing = lacking_ops(profile, kernel, offered);
    if (missing.empty()) return;
    std::string reason = lacks(profile, missing[0].op);
    for (std::size_t i = 1; i < missing.size(); ++i) reason += fmt::format(", '{}'", missing[i].op);
    reason += "; to use the numbers of others, choose them:";
    for (const LackingOp& one : missing) reason += fmt::format(" --use {}={}", one.op, one.guess);
    if (const ShelfCard* const card = shelf_card_of(profile.device);
        card && shelf_profile(card->id)->find_instruction(missing[0].op))
        reason += fmt::format("; or take all from published figures: --profile shelf:{}", card->id);
    throw InputError(file, missing[0].where, "op", reason);
}

std::vector<std::string> apply_what_ifs(const std::vector<std::string>& settings,
                                        GpuProfile& profile) {
    std::vector<std::string> assumptions;
    std::set<std::string> given;
    // The clock first, as it moves numbers that others may set.
    std::vector<std::string> ordered = settings;
    std::ranges::stable_partition(
        ordered, [](const std::string& setting) { return setting.starts_with("clock_hz="); });
    for (const std::string& setting : ordered) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos) refuse(setting, "expected NAME=VALUE");
        const std::string name = setting.substr(0, equals);
        const std::string value = setting.substr(equals + 1);
        if (!given.insert(name).second)
            refuse(setting, fmt::format("'{}' has an earlier --set; choose one", name));
        const std::string before = change(setting, name, value, profile);
        assumptions.push_back(
            fmt::format("{} is set to {}, where the profile has {}", name, value, before));
    }
    return assumptions;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "core/gpu_profile.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "core/name_rules.h"

namespace occupipe {
namespace {

using Keys = std::vector<std::string>;

class ProfileRules {
public:
    ProfileRules(const GpuProfile& profile, const std::string& file_name, const Locate& locate)
        : profile_(profile), file_name_(file_name), locate_(locate) {}

    void check() const {
        if (profile_.device.name.empty()) {
            fail({"device", "name"}, "must not be empty");
        }
        positive({"cores"}, profile_.cores);
        positive({"warp_size"}, profile_.warp_size);
        positive({"clock_hz"}, profile_.clock_hz);
        limits();
        issue();
        overheads();
        subsystems();
        instructions();
        memory_levels();
    }

private:
    [[noreturn]] void fail(const Keys& keys, const std::string& reason) const {
        throw InputError(file_name_, locate_ ? locate_(keys) : SourcePosition{},
                         fmt::format("{}", fmt::join(keys, ".")), reason);
    }

    void positive(const Keys& keys, double value) const {
        if (!std::isfinite(value) || value <= 0) {
            fail(keys, fmt::format("must be a positive finite number, not {}", value));
        }
    }

    void standard_error(const Keys& keys, const std::optional<double>& value) const {
        if (value && (!std::isfinite(*value) || *value < 0)) {
            fail(keys, fmt::format("must be a finite number of at least 0, not {}", *value));
        }
    }

    void limits() const {
        const auto check = [this](const char* key, const std::optional<std::int64_t>& value) {
            if (value && *value < 1) {
                fail({"limits", key}, fmt::format("must be at least 1, not {}", *value));
            }
        };
        check("warps", profile_.limits.warps);
        check("groups", profile_.limits.groups);
        check("group_warps", profile_.limits.group_warps);
        check("registers", profile_.limits.registers);
        check("shared_memory_bytes", profile_.limits.shared_memory_bytes);
    }

    void issue() const {
        const Issue& issue = profile_.issue;
        if (issue.limit) {
            positive({"issue", "limit"}, *issue.limit);
        } else if (issue.limit_std_error) {
            fail({"issue", "limit"}, "has a standard error but no value");
        }
        standard_error({"issue", "limit", "std_error"}, issue.limit_std_error);
        if (issue.schedulers < 1) {
            fail({"issue", "schedulers"},
                 fmt::format("must be at least 1, not {}", issue.schedulers));
        }
    }

    void subsystems() const {
        std::set<std::string> seen;
        for (const Subsystem& subsystem : profile_.subsystems) {
            const Keys keys = {"subsystems", subsystem.name};
            if (const auto fault = name_fault(subsystem.name)) {
                fail(keys, *fault);
            }
            // Predictions use these two words beside the subsystems' names.
            if (subsystem.name == "issue" || subsystem.name == "latency") {
                fail(keys, "this name is reserved");
            }
            if (!seen.insert(subsystem.name).second) {
                fail(keys, "stands here twice");
            }
            if (subsystem.contention) contention(subsystem.name, *subsystem.contention);
        }
    }

    void contention(const std::string& name, const Estimate& share) const {
        const Keys keys = {"subsystems", name, "contention"};
        if (!std::isfinite(share.value) || share.value < 0 || share.value >= 1) {
            fail(keys, fmt::format("must be at least 0 and below 1, not {}", share.value));
        }
        standard_error({"subsystems", name, "contention", "std_error"}, share.std_error);
    }

    void instructions() const {
        std::set<std::string> seen;
        for (const InstructionTiming& timing : profile_.instructions) {
            const Keys keys = {"instructions", timing.name};
            if (const auto fault = name_fault(timing.name)) {
                fail(keys, *fault);
            }
            if (!seen.insert(timing.name).second) {
                fail(keys, "stands here twice");
            }
            if (profile_.find_subsystem(timing.subsystem) == nullptr) {
                fail({"instructions", timing.name, "subsystem"},
                     fmt::format("'{}' is not among the subsystems", timing.subsystem));
            }
            estimate({"instructions", timing.name, "cpi"}, timing.cpi);
            estimate({"instructions", timing.name, "latency"}, timing.latency);
            if (timing.latency_growth) {
                estimate({"instructions", timing.name, "latency_growth"}, *timing.latency_growth);
            }
            for (const ParameterTable& table : timing.tables) {
                this->table({"instructions", timing.name, "tables"}, table);
            }
        }
    }

    void table(const Keys& keys, const ParameterTable& table) const {
        if (const auto fault = name_fault(table.over)) {
            fail(keys, fmt::format("over: {}", *fault));
        }
        if (table.rows.empty()) {
            fail(keys, "has no rows");
        }
        const TableRow* before = nullptr;
        for (const TableRow& row : table.rows) {
            positive(keys, row.at);
            if (before != nullptr && !(before->at < row.at)) {
                fail(keys, "rows must ascend");
            }
            before = &row;
            if (row.cpi) {
                estimate(keys, *row.cpi);
            }
            if (row.latency) {
                estimate(keys, *row.latency);
            }
        }
    }

    void memory_levels() const {
        const Keys keys = {"memory_levels"};
        for (const MemoryLevel& level : profile_.memory_levels) {
            if (const auto fault = name_fault(level.instruction)) {
                fail(keys, *fault);
            }
            estimate(keys, level.latency);
            positive(keys, level.first_bytes);
            if (!(level.last_bytes >= level.first_bytes) || !std::isfinite(level.last_bytes)) {
                fail(keys, "last_bytes is below first_bytes");
            }
            if (level.edge_confidence &&
                !(*level.edge_confidence >= 0 && *level.edge_confidence <= 1)) {
                fail(keys, "edge_confidence must be from 0 to 1");
            }
        }
    }

    void overheads() const {
        const auto check = [&](const char* key, const std::optional<Estimate>& value) {
            if (value) {
                estimate({"overheads", key}, *value);
            }
        };
        check("launch_seconds", profile_.overheads.launch_seconds);
        check("awaited_launch_seconds", profile_.overheads.awaited_launch_seconds);
        check("graph_launch_seconds", profile_.overheads.graph_launch_seconds);
        check("group_seconds", profile_.overheads.group_seconds);
        check("loop_cycles", profile_.overheads.loop_cycles);
    }

    void estimate(Keys keys, const Estimate& estimate) const {
        positive(keys, estimate.value);
        keys.emplace_back("std_error");
        standard_error(keys, estimate.std_error);
    }

    const GpuProfile& profile_;
    const std::string& file_name_;
    const Locate& locate_;
};

}  // namespace

std::string_view to_string(Scope scope) {
    switch (scope) {
        case Scope::core:
            return "core";
        case Scope::scheduler:
            return "scheduler";
    }
    return {};
}

std::string_view to_string(Source source) {
    switch (source) {
        case Source::measured:
            return "measured";
        case Source::literature:
            return "literature";
        case Source::vendor:
            return "vendor";
        case Source::assumed:
            return "assumed";
    }
    return {};
}

std::string_view to_string(Policy policy) {
    switch (policy) {
        case Policy::lrr:
            return "lrr";
        case Policy::gto:
            return "gto";
        case Policy::oldest:
            return "oldest";
    }
    return {};
}

std::string_view to_string(Select select) {
    switch (select) {
        case Select::subsystem:
            return "subsystem";
        case Select::warp:
            return "warp";
    }
    return {};
}

const Subsystem* GpuProfile::find_subsystem(std::string_view name) const {
    for (const Subsystem& subsystem : subsystems) {
        if (subsystem.name == name) {
            return &subsystem;
        }
    }
    return nullptr;
}

const InstructionTiming* GpuProfile::find_instruction(std::string_view name) const {
    for (const InstructionTiming& timing : instructions) {
        if (timing.name == name) {
            return &timing;
        }
    }
    return nullptr;
}

InstructionTiming* GpuProfile::find_instruction(std::string_view name) {
    for (InstructionTiming& timing : instructions) {
        if (timing.name == name) {
            return &timing;
        }
    }
    return nullptr;
}

int GpuProfile::copies(std::string_view subsystem) const {
    const Subsystem* const found = find_subsystem(subsystem);
    return found != nullptr && found->scope == Scope::scheduler ? issue.schedulers : 1;
}

Estimate GpuProfile::cpi_per_core(const InstructionTiming& timing) const {
    return timing.cpi.times(1.0 / copies(timing.subsystem));
}

void validate(const GpuProfile& profile) { validate(profile, {}, {}); }

void validate(const GpuProfile& profile, const std::string& file_name, const Locate& locate) {
    ProfileRules(profile, file_name, locate).check();
}

}  // namespace occupipe

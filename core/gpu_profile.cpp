// SPDX-License-Identifier: MIT
#include "core/gpu_profile.h"

#include "core/field_rules.h"
#include "core/profile_fields.h"

namespace occupipe {

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
    return found != nullptr && found->per_scheduler() ? issue.schedulers : 1;
}

Estimate GpuProfile::cpi_per_core(const InstructionTiming& timing) const {
    return timing.cpi.times(1.0 / copies(timing.subsystem));
}

void validate(const GpuProfile& profile) {
    check_profile(profile, [](const Keys& keys, const std::string& reason) {
        throw InputError({}, {}, key_path(keys), reason);
    });
}

void check_profile(const GpuProfile& profile, const Refuse& refuse) {
    check_fields(profile, {}, refuse);
}

}  // namespace occupipe

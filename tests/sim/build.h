// SPDX-License-Identifier: MIT
// Short spellings for profiles and kernels in tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::test {

struct Timing {
    std::string name;
    double cpi = 1;
    double latency = 1;
    std::string subsystem = "alu";
};

// One core at 1 GHz whose subsystems are those that the instructions name, of scope core.
inline GpuProfile gpu(const std::vector<Timing>& timings,
                      std::optional<double> issue_limit = std::nullopt, int schedulers = 1) {
    GpuProfile profile;
    profile.device.name = "test";
    profile.cores = 1;
    profile.warp_size = 32;
    profile.clock_hz = 1e9;
    profile.issue.limit = issue_limit;
    profile.issue.schedulers = schedulers;
    for (const Timing& timing : timings) {
        if (!profile.find_subsystem(timing.subsystem))
            profile.subsystems.push_back({timing.subsystem, Scope::core});
        InstructionTiming made;
        made.name = timing.name;
        made.subsystem = timing.subsystem;
        made.cpi.value = timing.cpi;
        made.latency = Estimate{.value = timing.latency};
        profile.instructions.push_back(made);
    }
    return profile;
}

// `after` holds names, NAME@-N for the iteration N before.
inline KernelItem instruction(const std::string& id, const std::string& op,
                              const std::vector<std::string>& after = {}) {
    KernelInstruction made;
    made.id = id;
    made.op = op;
    for (const std::string& name : after) {
        const auto mark = name.find("@-");
        made.after.push_back({name.substr(0, mark),
                              mark == std::string::npos ? 0 : std::stoll(name.substr(mark + 2))});
    }
    return made;
}

inline KernelItem repeat(std::int64_t count, std::vector<KernelItem> body) {
    Repeat made;
    made.count = count;
    made.body = std::move(body);
    return made;
}

inline Kernel kernel(std::vector<KernelItem> items) {
    Kernel made;
    made.name = "test";
    made.warps.push_back({1, std::move(items)});
    return made;
}

// N dependent instructions.
inline Kernel chain(const std::string& op, std::int64_t n) {
    return kernel({repeat(n, {instruction("a", op, {"a@-1"})})});
}

}  // namespace occupipe::test

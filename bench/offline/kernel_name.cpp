// SPDX-License-Identifier: MIT
#include "bench/offline/kernel_name.h"

#include <fmt/format.h>

#include <cctype>

namespace occupipe::bench {

std::string kernel_name(const KernelPlan& plan) {
    std::string name = "occupipe_";
    for (const char c : plan.subject()) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (plain || name.back() != '_') name += plain ? c : '_';
    }
    if (name.back() != '_') name += '_';
    name += fmt::format("chains{}_unroll{}", plan.chains, plan.unroll);
    if (plan.working_set_bytes > 0) name += fmt::format("_set{}", plan.working_set_bytes);
    if (plan.checkpointed) name += "_checkpoints";
    return name;
}

}  // namespace occupipe::bench

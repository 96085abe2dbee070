// SPDX-License-Identifier: MIT
#include "core/measured_kernel.h"

#include <fmt/format.h>

namespace occupipe {

Kernel measured_kernel(std::string_view subject, const MeasurementShape& shape) {
    std::vector<std::string> period = {std::string(subject)};
    if (const auto mix = parse_mix(subject)) {
        period.assign(static_cast<std::size_t>(mix->beta), mix->first);
        period.push_back(mix->second);
    }
    const auto steps = static_cast<std::int64_t>(period.size());
    const std::string name = measurement_name(subject, shape);
    if (shape.chains < 1 || shape.depth < 1) {
        throw InputError(name + ": chains and depth must be at least 1");
    }
    if (shape.depth % steps != 0) {
        throw InputError(
            fmt::format("{}: the depth is no multiple of the mix's period {}", name, steps));
    }
    Repeat loop;
    loop.count = shape.depth / steps;
    for (std::int64_t step = 0; step < steps; ++step) {
        const bool first = step == 0;
        for (int chain = 0; chain < shape.chains; ++chain) {
            const auto id = [chain](std::int64_t s) { return fmt::format("c{}s{}", chain, s); };
            KernelInstruction instruction;
            instruction.id = id(step);
            instruction.op = period[static_cast<std::size_t>(step)];
            instruction.after = {{id(first ? steps - 1 : step - 1), first ? 1 : 0}};
            loop.body.emplace_back(std::move(instruction));
        }
    }
    Kernel kernel;
    kernel.name = name;
    kernel.warps.push_back({1, {std::move(loop)}});
    validate(kernel);
    return kernel;
}

}  // namespace occupipe

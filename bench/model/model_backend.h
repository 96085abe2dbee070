// SPDX-License-Identifier: MIT
// A device whose times come from a function instead of hardware: for teaching, and for testing the
// readers of measurements. All its output is labelled as a model's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/backend.h"
#include "core/gpu_profile.h"

namespace occupipe::bench {

struct ModelOptions {
    double noise = 0;        // relative standard deviation of each time
    std::uint64_t seed = 1;  // same seed, same noise, whatever the order of measuring
};

// One run on one core; a function that only knows the cycles returns these.
struct ModelRun {
    ModelRun(double core_cycles) : cycles(core_cycles) {}
    double cycles = 0;
    // Of the row. Those that are times grow and shrink with the noise (`is_time`).
    std::map<std::string, double> counters{};
    static bool is_time(std::string_view counter);
};

// A run of `subject` in `shape` on one core.
using CyclesFunction =
    std::function<ModelRun(std::string_view subject, const MeasurementShape& shape)>;

// Measures every instruction of `profile`; `id` is the device's name on the command line.
std::unique_ptr<Backend> open_model(const std::string& id, const GpuProfile& profile,
                                    const ModelOptions& options, CyclesFunction cycles);

}  // namespace occupipe::bench

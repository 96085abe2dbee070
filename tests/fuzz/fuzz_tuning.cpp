// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as an expression, as a search space (T1, KTT or YAML), as measured
// runs and as a line of a journal. Whatever comes out has finite numbers, or is refused as it
// should be. Built with clang and -DOCCUPIPE_FUZZ=ON; run: fuzz_tuning -max_total_time=600 CORPUS
// tests/fuzz/tuning_seeds
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "analysis/tuning/enumeration.h"
#include "analysis/tuning/expression.h"
#include "analysis/tuning/measured_runs.h"
#include "analysis/tuning/space.h"
#include "analysis/tuning/tune_journal.h"
#include "core/error.h"
#include "sim/models/registry.h"

using namespace occupipe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        const analysis::Value value = analysis::evaluate(text, [](std::string_view name) {
            return name == "x" ? std::optional<analysis::Value>(32) : std::nullopt;
        });
        const auto* const number = std::get_if<double>(&value.of);
        if (number && !std::isfinite(*number)) std::abort();
    } catch (const std::invalid_argument&) {
    }
    try {
        const analysis::MeasuredRuns runs = analysis::parse_measured_runs(text, "fuzz");
        for (const analysis::MeasuredRun& run : runs.runs)
            if (run.seconds.has_value() == !run.failure.empty() ||
                (run.seconds && !(*run.seconds > 0)))
                std::abort();
        for (const std::size_t i : analysis::drawn_by_time(runs.runs, 3, 1))
            if (!runs.runs.at(i).seconds) std::abort();
    } catch (const InputError&) {
    }
    try {
        const analysis::TuningSpace space = analysis::parse_tuning_space(text, "fuzz");
        analysis::Configuration first;
        for (const auto& one : space.tunables) first[one.name] = one.values.front();
        analysis::excluded_by(space, first);
        if (!space.tunables.empty() && analysis::combinations(space) < 1000)
            for (const std::uint64_t number : analysis::numbers_of(space))
                if (analysis::excluded_by(space, analysis::configuration_of(space, number)))
                    std::abort();
        analysis::launch_of(space, first);
    } catch (const InputError&) {
    }
    try {
        const auto models = find_models({"pipeline"});
        const analysis::TunedConfiguration row = analysis::parse_tuned_line(text, models);
        const std::string line = analysis::tuned_line(row, models);
        if (analysis::tuned_line(analysis::parse_tuned_line(line, models), models) != line)
            std::abort();
    } catch (const InputError&) {
    }
    return 0;
}

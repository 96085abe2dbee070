// SPDX-License-Identifier: MIT
// A search space: every configuration, or a sample, predicted on all cores.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>

#include "analysis/tuning/measured_runs.h"
#include "analysis/tuning/ranking.h"
#include "analysis/tuning/space.h"
#include "analysis/tuning/tune.h"
#include "ask/code_cache.h"
#include "core/error.h"
#include "python/bindings/value.h"
#include "python/bindings/without_lock.h"
#include "sim/models/registry.h"

namespace occupipe::python {
namespace {

struct TuneRequest {
    std::string space;
    GpuProfile profile;
    std::vector<std::string> models;
    std::optional<std::int64_t> draws;
    std::uint64_t seed = 1;
    std::size_t top = 0;
    std::optional<std::string> measured;
    std::optional<double> budget;  // seconds
    std::string journal;
    Shard shard;
    std::vector<std::string> join;  // journals
    unsigned threads = 0;
};

struct TunedSpace {
    analysis::TuningSpace space;
    analysis::Tuned tuned;
    analysis::Ranking ranking;
};

nb::object object_of(const analysis::Value& value) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value.of)) return nb::cast(*whole);
    if (const auto* const real = std::get_if<double>(&value.of)) return nb::cast(*real);
    if (const auto* const word = std::get_if<std::string>(&value.of)) return nb::cast(*word);
    nb::list list;
    for (const analysis::Value& one : std::get<analysis::Value::List>(value.of))
        list.append(object_of(one));
    return list;
}

TunedSpace tune_space(const TuneRequest& request) {
    if (request.draws && *request.draws < 1) throw InputError({}, {}, "draws", "is at least 1");
    if (request.budget && !(*request.budget > 0))
        throw InputError({}, {}, "budget", "is seconds above 0");
    return without_lock([&](const std::atomic<bool>& stop) {
        TunedSpace made{.space = analysis::read_tuning_space(request.space)};
        analysis::MeasuredRuns measured;
        if (request.measured) {
            measured = analysis::read_measured_runs(*request.measured);
            analysis::keep_those_of(made.space, measured);
        }
        analysis::CodeCache cache(analysis::code_cache_folder());
        analysis::TuneOptions options;
        options.models = request.models;
        if (request.draws) options.draws = static_cast<std::size_t>(*request.draws);
        options.seed = request.seed;
        options.budget_seconds = request.budget;
        for (const analysis::MeasuredRun& run : measured.runs)
            if (run.seconds) options.first.push_back(run.configuration);
        options.cache = &cache;
        options.threads = request.threads;
        options.journal = request.journal;
        options.shard = request.shard;
        options.join.assign(request.join.begin(), request.join.end());
        options.stop = [&] { return stop.load(); };
        made.tuned = analysis::tune(made.space, request.profile, options);
        made.ranking = analysis::ranked(made.tuned, measured.runs, request.top);
        return made;
    });
}

// A dict for each configuration: those with a time by rank, then those that are refused.
nb::list rows_of(const TunedSpace& of) {
    std::vector<bool> to_measure(of.tuned.rows.size());
    for (const std::size_t i : of.ranking.top) to_measure[i] = true;
    std::vector<std::size_t> order = of.ranking.order;
    for (std::size_t i = 0; i < of.tuned.rows.size(); ++i)
        if (!of.ranking.expected[i]) order.push_back(i);
    nb::list rows;
    for (std::size_t place = 0; place < order.size(); ++place) {
        const std::size_t i = order[place];
        const analysis::TunedConfiguration& row = of.tuned.rows[i];
        const auto text = [](const std::string& words) {
            return words.empty() ? nb::object(nb::none()) : nb::cast(words);
        };
        nb::dict configuration, seconds, one;
        for (const analysis::TuningSpace::Tunable& tunable : of.space.tunables)
            configuration[tunable.name.c_str()] =
                object_of(row.configuration.find(tunable.name)->second);
        for (std::size_t m = 0; m < of.tuned.models.size(); ++m)
            if (row.predicted[m])
                seconds[std::string(of.tuned.models[m]->name).c_str()] = *row.predicted[m];
        const bool ranked = of.ranking.expected[i].has_value();
        one["rank"] = ranked ? nb::cast(place + 1) : nb::object(nb::none());
        one["configuration"] = configuration;
        one["seconds"] = seconds;
        one["coarse"] = nb::cast(row.estimated);
        one["expected"] = nb::cast(of.ranking.expected[i]);
        one["measured"] = nb::cast(of.ranking.measured[i]);
        one["limited_by"] = text(row.limiter);
        one["code"] = text(row.code);
        one["to_measure"] = static_cast<bool>(to_measure[i]);
        one["refused"] = row.refusal.empty()
                             ? nb::object(nb::none())
                             : nb::cast(std::string(analysis::to_string(row.refused)));
        one["reason"] = text(row.refusal);
        rows.append(one);
    }
    return rows;
}

}  // namespace

void bind_tuning(nb::module_& module) {
    nb::class_<TunedSpace>(module, "TunedSpace", "What tune() returns to Python's own part.")
        .def_prop_ro("gpu", [](const TunedSpace& of) { return of.tuned.gpu; })
        .def_prop_ro("kernel", [](const TunedSpace& of) { return of.space.kernel; })
        .def_prop_ro("configurations", [](const TunedSpace& of) { return of.tuned.of_space; })
        .def_prop_ro("clock_factor",
                     [](const TunedSpace& of) -> std::optional<double> {
                         if (!of.ranking.clock) return std::nullopt;
                         return of.ranking.clock->factor;
                     })
        .def_prop_ro("clock_error",
                     [](const TunedSpace& of) -> std::optional<double> {
                         if (!of.ranking.clock) return std::nullopt;
                         return of.ranking.clock->standard_error;
                     })
        .def_prop_ro(
            "importance",
            [](const TunedSpace& of) {
                nb::dict all;
                for (const analysis::TunableEffect& one : analysis::effects(of.space, of.tuned))
                    all[one.name.c_str()] = nb::cast(one.importance);
                return all;
            })
        .def_prop_ro("rows", &rows_of);
    module.def(
        "tune",
        [](const std::string& space, const GpuProfile& profile,
           const std::vector<std::string>& models, std::optional<std::int64_t> draws,
           std::uint64_t seed, std::size_t top, const std::optional<std::string>& measured,
           std::optional<double> budget, const std::string& journal,
           std::pair<std::int64_t, std::int64_t> shard, const std::vector<std::string>& join,
           unsigned threads) {
            if (shard.first < 1 || shard.first > shard.second)
                throw InputError({}, {}, "shard",
                                 "is (number, count), with a number from 1 to count");
            return tune_space({space,
                               profile,
                               models,
                               draws,
                               seed,
                               top,
                               measured,
                               budget,
                               journal,
                               {shard.first, shard.second},
                               join,
                               threads});
        },
        nb::arg("space"), nb::arg("profile"), nb::arg("models"), nb::arg("draws").none(),
        nb::arg("seed"), nb::arg("top"), nb::arg("measured").none(), nb::arg("budget").none(),
        nb::arg("journal"), nb::arg("shard"), nb::arg("join"), nb::arg("threads"),
        "occupipe.tune() without the table.");
}

}  // namespace occupipe::python

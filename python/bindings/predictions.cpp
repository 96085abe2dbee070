// SPDX-License-Identifier: MIT
// Predictions: one, and arrays of launches × profiles × models on all cores.
#include "python/bindings/predictions.h"

#include <fmt/format.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>

#include "ask/kernels_in.h"
#include "ask/launch_choice.h"
#include "core/enum_text.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/prediction.h"
#include "core/profile_fields.h"
#include "python/bindings/arrays.h"
#include "python/bindings/machine_code.h"
#include "python/bindings/without_lock.h"
#include "sim/models/kernel_analysis.h"
#include "sim/models/registry.h"

namespace occupipe::python {
namespace {

analysis::RunQuestion run_of(const Asked& asked) {
    analysis::RunQuestion run{.policy = enum_of<Policy>(asked.policy, "policy"),
                              .select = enum_of<Select>(asked.select, "select"),
                              .order = enum_of<Order>(asked.order, "order"),
                              .stall_counts = asked.stall_counts,
                              .estimate = asked.estimate,
                              .behaviour = asked.memory};
    validate(run.behaviour);
    return run;
}

ModelOptions options_of(const Asked& asked, const analysis::RunQuestion& run) {
    ModelOptions options = run.options();
    if (asked.max_simulated) options.max_simulated = *asked.max_simulated;
    return options;
}

// What a model refuses, with the file: the model knows lines of it at most.
template <class Run>
auto with_kernel(const analysis::Ready& ready, const Run& run) {
    try {
        return run();
    } catch (const InputError& error) {
        const std::string what = error.what();
        const std::string& name = ready.source.file;
        if (what.find(name) != std::string::npos) throw;
        throw InputError(error.file().empty() ? name : error.file(), error.where(), error.key(),
                         what);
    }
}

// What is wrong with an argument says which one it was.
template <class Run>
decltype(auto) keyed(const char* argument, const Run& run) {
    try {
        return run();
    } catch (const InputError& error) {
        if (!error.key().empty() || !error.file().empty()) throw;
        throw InputError({}, {}, argument, error.what());
    }
}

const Model& model_named(const std::string& name) {
    return keyed("model", [&]() -> const Model& { return find_model(name); });
}

Prediction predict_one(const analysis::Ready& ready, const std::optional<Launch>& wanted,
                       const std::string& model_name, const Asked& asked) {
    const Model& model = model_named(model_name);
    const analysis::RunQuestion run = run_of(asked);
    const auto [launch, fitted] = launch_of(ready, wanted);
    return without_lock([&, launch = launch, fitted = fitted](const std::atomic<bool>& stop) {
        ModelOptions options = options_of(asked, run);
        options.checkpoint = stopped_by(stop);
        const analysis::Told told = analysis::told(ready, launch, {.run = run});
        Prediction found =
            with_kernel(ready, [&] { return analysis::predict(told, model, options); });
        found.assumptions =
            analysis::texts(analysis::notes_of(ready, fitted, told, found, model, run));
        return found;
    });
}

// The columns of the result, by cell (launch, profile, model).
struct Cells {
    explicit Cells(std::size_t n)
        : cycles(n),
          seconds(n),
          warps_per_cycle(n),
          cycles_per_run(n),
          instructions_per_cycle(n),
          estimate_error(n),
          groups_per_core(n),
          limited_by(n),
          estimated(n),
          failed(n),
          errors(n),
          limiters(n) {}

    std::vector<double> cycles, seconds, warps_per_cycle, cycles_per_run, instructions_per_cycle,
        estimate_error;
    std::vector<std::int64_t> groups_per_core, limited_by;
    std::vector<std::uint8_t> estimated, failed;
    std::vector<std::string> errors, limiters;

    void set(std::size_t i, Prediction&& p) {
        cycles[i] = p.cycles;
        seconds[i] = p.seconds;
        warps_per_cycle[i] = p.warps_per_cycle;
        cycles_per_run[i] = p.cycles_per_run;
        instructions_per_cycle[i] = p.instructions_per_cycle;
        groups_per_core[i] = p.groups_per_core;
        estimated[i] = p.estimate_error ? 1 : 0;
        estimate_error[i] = p.estimate_error.value_or(0);
        limiters[i] = std::move(p.limited_by);
    }

    // Limiters by number, in the order of the cells, whatever the threads did.
    std::vector<std::string> number_limiters() {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < limiters.size(); ++i) {
            if (failed[i] != 0) continue;
            const auto found = std::ranges::find(names, limiters[i]);
            limited_by[i] = found - names.begin();
            if (found == names.end()) names.push_back(limiters[i]);
        }
        return names;
    }
};

using Column = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Launch i on this scenario; a number of groups of 0 fills every core once.
Launch launch_at(const Column& group_warps, const Column& concurrent_groups, const Column& groups,
                 std::size_t i, const analysis::Ready& ready) {
    constexpr std::int64_t most = 1'000'000;
    const std::int64_t g = group_warps.data()[i];
    const std::int64_t c = concurrent_groups.data()[i];
    std::int64_t n = groups.data()[i];
    if (g < 1 || c < 1 || n < 0 || g > most || c > most || n > most_groups)
        throw InputError({}, {}, "launches",
                         fmt::format("launch {}: {} warps, {} groups at once and {} groups are not "
                                     "whole numbers of at least 1",
                                     i, g, c, n));
    if (n == 0) n = ready.profile.cores * c;
    std::vector<std::string> said;
    return analysis::chosen_launch(
        {.group_warps = static_cast<int>(g), .concurrent_groups = static_cast<int>(c), .groups = n},
        ready.kernel(), ready.profile, said);
}

nb::dict columns_of(Cells&& cells, std::vector<std::size_t> shape) {
    const std::vector<std::string> names = cells.number_limiters();
    nb::list errors;
    for (std::size_t i = 0; i < cells.failed.size(); ++i)
        if (cells.failed[i] != 0) errors.append(nb::make_tuple(i, cells.errors[i]));
    nb::dict columns;
    columns["cycles"] = array_of(std::move(cells.cycles), shape);
    columns["seconds"] = array_of(std::move(cells.seconds), shape);
    columns["warps_per_cycle"] = array_of(std::move(cells.warps_per_cycle), shape);
    columns["cycles_per_run"] = array_of(std::move(cells.cycles_per_run), shape);
    columns["instructions_per_cycle"] = array_of(std::move(cells.instructions_per_cycle), shape);
    columns["estimate_error"] = array_of(std::move(cells.estimate_error), shape);
    columns["groups_per_core"] = array_of(std::move(cells.groups_per_core), shape);
    columns["limited_by"] = array_of(std::move(cells.limited_by), shape);
    columns["estimated"] = flags_of(cells.estimated, shape);
    columns["failed"] = flags_of(cells.failed, shape);
    columns["limiters"] = nb::cast(names);
    columns["errors"] = errors;
    return columns;
}

nb::dict predict_arrays(const std::vector<analysis::Ready>& scenarios, const Column& group_warps,
                        const Column& concurrent_groups, const Column& groups,
                        const std::vector<std::string>& model_names, const Asked& asked, bool mask,
                        unsigned threads) {
    const std::size_t launches = group_warps.size();
    if (concurrent_groups.size() != launches || groups.size() != launches)
        throw InputError({}, {}, "launches", "the columns have different lengths");
    std::vector<const Model*> models;
    for (const std::string& name : model_names) models.push_back(&model_named(name));
    const analysis::RunQuestion run = run_of(asked);
    const ModelOptions options = options_of(asked, run);
    const std::size_t per_launch = scenarios.size() * models.size();
    Cells cells(launches * per_launch);
    without_lock([&](const std::atomic<bool>& stop) {
        parallel_for(
            launches * per_launch,
            [&](std::size_t i) {
                if (stop) return;
                const analysis::Ready& ready = scenarios[i % per_launch / models.size()];
                ModelOptions own = options;
                own.checkpoint = stopped_by(stop);
                try {
                    const Launch launch =
                        launch_at(group_warps, concurrent_groups, groups, i / per_launch, ready);
                    const analysis::Told told =
                        analysis::told(ready, launch, {.run = run, .threads = 1});
                    cells.set(i, with_kernel(ready, [&] {
                                  return analysis::predict(told, *models[i % models.size()], own);
                              }));
                } catch (const InputError& error) {
                    if (!mask) throw;
                    cells.failed[i] = 1;
                    cells.errors[i] = error.what();
                }
            },
            threads);
        return 0;
    });
    return columns_of(std::move(cells), {launches, scenarios.size(), models.size()});
}

nb::dict numbers_of(const std::vector<Bound>& bounds) {
    nb::dict all;
    for (const Bound& bound : bounds) all[bound.name.c_str()] = bound.utilisation;
    return all;
}

void bind_prediction(nb::module_& m) {
    nb::class_<Prediction>(m, "Prediction",
                           "One model's answer for one kernel on one GPU at one launch.")
        .def_ro("model", &Prediction::model)
        .def_ro("launch", &Prediction::launch, nb::rv_policy::copy)
        .def_ro("groups_per_core", &Prediction::groups_per_core, "That the busiest core runs.")
        .def_ro("cycles", &Prediction::cycles, "Core cycles for all groups of one core.")
        .def_ro("seconds", &Prediction::seconds,
                "cycles / clock [s], and the launch overhead where the profile has it.")
        .def_ro("warps_per_cycle", &Prediction::warps_per_cycle, "WPC [warps/cycle].")
        .def_ro("cycles_per_run", &Prediction::cycles_per_run,
                "CPR = ω / WPC [core cycles]: the warps that are resident at once.")
        .def_ro("instructions_per_cycle", &Prediction::instructions_per_cycle,
                "[warp-instructions per cycle per core]")
        .def_ro("limited_by", &Prediction::limited_by,
                "A bound's name ('fp', 'issue', …) or 'latency'.")
        .def_prop_ro(
            "bounds", [](const Prediction& p) { return numbers_of(p.bounds); },
            nb::sig("def bounds(self) -> dict[str, float]"),
            "Busy fraction of each subsystem in use, and of 'issue', 0 to 1.")
        .def_ro("estimate_error", &Prediction::estimate_error,
                "Bound of the relative error of cycles where they are extrapolated; None: exact.")
        .def_prop_ro(
            "interval",
            [](const Prediction& p) {
                return p.interval ? std::optional(std::pair(p.interval->low, p.interval->high))
                                  : std::nullopt;
            },
            nb::sig("def interval(self) -> tuple[float, float] | None"),
            "95 % of measured times are expected between these [s]; None: nobody knows how far off "
            "the model is here, as it is no simulation of machine code.")
        .def_prop_ro(
            "values",
            [](const Prediction& p) {
                nb::dict all;
                for (const ModelValue& one : p.values) all[one.name.c_str()] = one.value;
                return all;
            },
            nb::sig("def values(self) -> dict[str, float]"),
            "Intermediate results, named as in the model's paper.")
        .def_prop_ro(
            "assumptions", [](const Prediction& p) { return tuple_of(p.assumptions); },
            "What was assumed or left out, a sentence each.")
        .def("__repr__", [](const Prediction& p) {
            return fmt::format("<Prediction {}: {}{:.10g} cycles, {:.4g} us, limited by {}>",
                               p.model, p.estimate_error ? "~" : "", p.cycles, p.seconds * 1e6,
                               p.limited_by);
        });
}

}  // namespace

std::pair<Launch, analysis::Notes> launch_of(const analysis::Ready& ready,
                                             const std::optional<Launch>& wanted) {
    analysis::LaunchChoice choice;
    if (wanted)
        choice = {.group_warps = wanted->group_warps,
                  .concurrent_groups = wanted->concurrent_groups,
                  .groups = wanted->groups};
    std::vector<std::string> said;
    const Launch found = keyed("launch", [&] {
        return analysis::chosen_launch(choice, ready.kernel(), ready.profile, said);
    });
    analysis::Notes fitted;
    analysis::add_notes(fitted, analysis::Note::Kind::fitted, said);
    return {found, fitted};
}

// A level `l1` by the argument `l1_bytes`.
analysis::CacheSizes asked_caches(const Asked& asked) {
    analysis::CacheSizes sizes;
    if (asked.l1_bytes) sizes["l1"] = {*asked.l1_bytes, "l1_bytes"};
    if (asked.l2_bytes) sizes["l2"] = {*asked.l2_bytes, "l2_bytes"};
    return sizes;
}

analysis::Ready prepare(analysis::LoadedKernel kernel, const GpuProfile& profile,
                        const Asked& asked) {
    validate(*kernel.kernel, kernel.file);
    analysis::ProfileChanges changes;
    const auto check = [&](const char* argument) {
        keyed(argument, [&] {
            analysis::check_changes(*kernel.kernel, profile, changes);
            return 0;
        });
    };
    changes.uses = asked.uses;
    check("use");
    changes.what_ifs = asked.settings;
    check("changes");
    changes.classes = asked.assumed_classes;
    check("assume_latency");
    analysis::Ready made = analysis::ready(
        std::move(kernel), profile, changes,
        {.pricing = enum_of<analysis::MemoryPricing>(asked.memory_pricing, "memory"),
         .caches = asked_caches(asked)});
    if (made.priced && made.priced->refusal) throw InputError(*made.priced->refusal);
    return made;
}

void bind_predictions(nb::module_& m) {
    bind_prediction(m);
    nb::class_<MemoryBehaviour>(m, "MemoryBehaviour",
                                "What x-model, gpuperf and mdm need and no profile contains.")
        .def(
            "__init__",
            [](MemoryBehaviour* place, double hit_rate, double hit_latency, double requests) {
                new (place) MemoryBehaviour{hit_rate, hit_latency, requests, std::nullopt};
            },
            nb::kw_only(), nb::arg("hit_rate") = 0.0, nb::arg("hit_latency") = 0.0,
            nb::arg("requests_per_access") = 1.0)
        .def_ro("hit_rate", &MemoryBehaviour::hit_rate, "Of accesses in the cache, 0 to below 1.")
        .def_ro("hit_latency", &MemoryBehaviour::hit_latency, "Λ of a hit [core cycles].")
        .def_ro("requests_per_access", &MemoryBehaviour::requests_per_access,
                "Memory divergence: requests that one access makes.");
    nb::class_<Asked>(m, "PredictionOptions")
        .def(nb::init<>())
        .def_rw("policy", &Asked::policy, nb::arg().none())
        .def_rw("select", &Asked::select, nb::arg().none())
        .def_rw("order", &Asked::order, nb::arg().none())
        .def_rw("stall_counts", &Asked::stall_counts)
        .def_rw("estimate", &Asked::estimate)
        .def_rw("max_simulated", &Asked::max_simulated, nb::arg().none())
        .def_rw("memory", &Asked::memory)
        .def_rw("uses", &Asked::uses)
        .def_rw("settings", &Asked::settings)
        .def_rw("assumed_classes", &Asked::assumed_classes)
        .def_rw("memory_pricing", &Asked::memory_pricing)
        .def_rw("l1_bytes", &Asked::l1_bytes, nb::arg().none())
        .def_rw("l2_bytes", &Asked::l2_bytes, nb::arg().none());
    nb::class_<analysis::Ready>(m, "Scenario")
        .def(
            "launch", [](const analysis::Ready& s) { return launch_of(s, std::nullopt).first; },
            "The launch that the kernel says, or one that fills every core once.")
        .def(
            "occupancies",
            [](const analysis::Ready& s, std::optional<int> group_warps,
               std::optional<std::int64_t> groups) {
                const int warps =
                    group_warps.value_or(s.kernel().launch.value_or(Launch()).group_warps);
                std::vector<std::string> said;
                std::vector<Launch> all;
                for (const int at_once : analysis::all_occupancies(warps, s.profile))
                    all.push_back(analysis::chosen_launch({.group_warps = group_warps,
                                                           .concurrent_groups = at_once,
                                                           .groups = groups},
                                                          s.kernel(), s.profile, said));
                return all;
            },
            nb::arg("group_warps").none(), nb::arg("groups").none());
    m.def(
        "prepare",
        [](const Kernel& kernel, const GpuProfile& profile, const Asked& asked,
           const std::string& name) {
            return prepare(analysis::loaded_kernel(name.empty() ? kernel.name : name, kernel),
                           profile, asked);
        },
        nb::arg("kernel"), nb::arg("profile"), nb::arg("asked"), nb::arg("kernel_name"));
    m.def(
        "prepare",
        [](const Extraction& kernel, const GpuProfile& profile, const Asked& asked,
           const std::string& name) {
            return prepare(analysis::loaded_kernel(name, kernel.in), profile, asked);
        },
        nb::arg("kernel"), nb::arg("profile"), nb::arg("asked"), nb::arg("kernel_name"));
    m.def("predict", &predict_one, nb::arg("scenario"), nb::arg("launch").none(), nb::arg("model"),
          nb::arg("asked"));
    m.def("predict_arrays", &predict_arrays, nb::arg("scenarios"), nb::arg("group_warps"),
          nb::arg("concurrent_groups"), nb::arg("groups"), nb::arg("models"), nb::arg("asked"),
          nb::arg("mask"), nb::arg("threads"),
          nb::sig("def predict_arrays(scenarios: collections.abc.Sequence[Scenario], "
                  "group_warps: numpy.ndarray, concurrent_groups: numpy.ndarray, "
                  "groups: numpy.ndarray, models: collections.abc.Sequence[str], asked: "
                  "PredictionOptions, "
                  "mask: bool, threads: int) -> dict[str, typing.Any]"));
    m.def("models", [] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const Model& model : models()) all.emplace_back(model.name, model.citation);
        return all;
    });
}

}  // namespace occupipe::python

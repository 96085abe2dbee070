// SPDX-License-Identifier: MIT
// Fits: measurements → profile, with the curve of each instruction.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <string>

#include "analysis/measured/curve_points.h"
#include "analysis/measured/fit.h"
#include "core/error.h"
#include "fit/profile/fit_report.h"
#include "python/bindings/arrays.h"
#include "python/bindings/value.h"
#include "python/bindings/without_lock.h"

namespace occupipe::python {
namespace {

// The outcome lives as long as any of its parts.
struct Fit {
    std::shared_ptr<const FitOutcome> outcome;
};

struct InstructionFit {
    std::shared_ptr<const FitOutcome> outcome;
    std::size_t place = 0;

    const SubjectReport& report() const { return outcome->subjects[place]; }
};

struct PairFit {
    std::shared_ptr<const FitOutcome> outcome;
    std::size_t place = 0;

    const MixFit& report() const { return outcome->mixes[place]; }
};

nb::object call_table(const char* function, nb::handle self) {
    return nb::module_::import_("occupipe._tables").attr(function)(self);
}

Fit fit(const std::vector<MeasurementFile>& files, std::optional<double> overhead) {
    FitOptions options;
    options.timing.known_overhead_cycles = overhead;
    return without_lock([&](const std::atomic<bool>&) {
        return Fit{std::make_shared<const FitOutcome>(analysis::fit(files, options))};
    });
}

nb::dict points_of(const InstructionFit& self) {
    const SubjectReport& report = self.report();
    const Curve& curve = report.curve;
    const bool fitted = report.fit.ok && report.fit.predicted.size() == curve.points.size();
    std::vector<std::int64_t> group_warps, concurrent_groups, chains, depth, repetitions;
    std::vector<double> cycles, relative_error, predicted, residual;
    std::vector<std::uint8_t> deepest(curve.points.size(), 0);
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const CurvePoint& point = curve.points[i];
        group_warps.push_back(point.shape.group_warps);
        concurrent_groups.push_back(point.shape.concurrent_groups);
        chains.push_back(point.shape.chains);
        depth.push_back(point.shape.depth);
        repetitions.push_back(static_cast<std::int64_t>(point.repetitions.size()));
        cycles.push_back(point.cycles);
        relative_error.push_back(point.log_error);
        if (!fitted) continue;
        predicted.push_back(report.fit.predicted[i]);
        residual.push_back(report.fit.residuals.size() > i ? report.fit.residuals[i] : 0);
    }
    for (const std::size_t i : analysis::deepest_points(curve)) deepest[i] = 1;
    nb::dict columns;
    columns["group_warps"] = array_of(std::move(group_warps));
    columns["concurrent_groups"] = array_of(std::move(concurrent_groups));
    columns["chains"] = array_of(std::move(chains));
    columns["depth"] = array_of(std::move(depth));
    columns["repetitions"] = array_of(std::move(repetitions));
    columns["cycles"] = array_of(std::move(cycles));
    columns["relative_error"] = array_of(std::move(relative_error));
    columns["deepest"] = flags_of(deepest);
    if (fitted) {
        columns["predicted"] = array_of(std::move(predicted));
        columns["residual"] = array_of(std::move(residual));
    }
    return columns;
}

nb::list families_of(const InstructionFit& self) {
    nb::list list;
    const SubjectReport& report = self.report();
    if (!report.fit.ok) return list;
    for (const analysis::ShapeFamily& family :
         analysis::shape_families(report.curve, report.fit.predicted)) {
        std::vector<std::int64_t> places(family.places.begin(), family.places.end());
        list.append(nb::make_tuple(family.name, array_of(std::move(places))));
    }
    return list;
}

template <class T>
std::optional<T> if_ok(bool ok, const T& value) {
    if (!ok) return std::nullopt;
    return value;
}

void bind_instruction_fit(nb::module_& m) {
    nb::class_<InstructionFit>(m, "InstructionFit",
                               "The measured curve of one instruction and its fitted law "
                               "(docs/background/fitting.md).")
        .def_prop_ro(
            "name", [](const InstructionFit& f) { return f.report().curve.label(); },
            "The instruction, and what its rows have in common beside it.")
        .def_prop_ro("subject", [](const InstructionFit& f) { return f.report().curve.subject; })
        .def_prop_ro(
            "ok", [](const InstructionFit& f) { return f.report().fit.ok; },
            "Whether the law could be fitted.")
        .def_prop_ro(
            "reason", [](const InstructionFit& f) { return f.report().fit.reason; },
            "Why not; empty where it could.")
        .def_prop_ro(
            "primary", [](const InstructionFit& f) { return f.report().primary; },
            "Whether the profile's row has its numbers from this curve.")
        .def_prop_ro(
            "cpi",
            [](const InstructionFit& f) { return if_ok(f.report().fit.ok, f.report().fit.cpi); },
            "λ per core [core cycles per warp-instruction]; None: not fitted.")
        .def_prop_ro(
            "latency",
            [](const InstructionFit& f) {
                return if_ok(f.report().fit.ok && !f.report().curve.independent,
                             f.report().fit.latency);
            },
            "Λ of one instruction alone [core cycles]; None: not fitted, or nothing waited.")
        .def_prop_ro(
            "overhead", [](const InstructionFit& f) { return f.report().fit.overhead; },
            "T0 of the launch [core cycles]; None: given, or not fitted.")
        .def_prop_ro(
            "knee", [](const InstructionFit& f) { return f.report().fit.knee; },
            "q: at the ridge the curve lies 2^q above the corner; None: sharp.")
        .def_prop_ro(
            "contention", [](const InstructionFit& f) { return f.report().fit.contention; },
            "h: growth of Λ per further instruction in flight [core cycles]; None: none.")
        .def_prop_ro(
            "schedulers", [](const InstructionFit& f) { return f.report().fit.schedulers; },
            "Copies of the subsystem that share λ, as the staircase shows; 1: none.")
        .def_prop_ro(
            "subsystem", [](const InstructionFit& f) { return f.report().subsystem; },
            "Of the profile's row; empty: it has none.")
        .def_prop_ro(
            "rows", [](const InstructionFit& f) { return f.report().curve.rows; },
            "Of the files, usable or not.")
        .def_prop_ro(
            "rejected",
            [](const InstructionFit& f) { return f.report().curve.rejection_summary(); },
            "Rows that were not used, and why; empty: none.")
        .def_prop_ro(
            "residual_scale",
            [](const InstructionFit& f) {
                return if_ok(f.report().fit.ok, f.report().fit.residual_scale);
            },
            "Robust; 1: as the repetitions' spread promises.")
        .def_prop_ro("notes",
                     [](const InstructionFit& f) { return tuple_of(f.report().fit.notes); })
        .def("points", &points_of, nb::sig("def points(self) -> dict[str, numpy.ndarray]"),
             "The curve as arrays of shape (points,): group_warps, concurrent_groups, chains,\n"
             "depth, repetitions, cycles (their median) and its relative_error, deepest (whether\n"
             "no other point differs from it by a greater depth alone); where there is a fit\n"
             "predicted [core cycles] and residual [standard errors].")
        .def("families", &families_of,
             nb::sig("def families(self) -> list[tuple[str, numpy.ndarray]]"),
             "Points of one fitted line each: its name, and places in points().")
        .def("__repr__", [](const InstructionFit& f) {
            const SubjectReport& report = f.report();
            if (!report.fit.ok)
                return fmt::format("<InstructionFit {}: {}>", report.curve.label(),
                                   report.fit.reason);
            return fmt::format("<InstructionFit {}: λ {}, Λ {} cycles>", report.curve.label(),
                               estimate_text(report.fit.cpi), latency_text(report));
        });
}

}  // namespace

void bind_fits(nb::module_& m) {
    bind_instruction_fit(m);
    nb::class_<PairFit>(m, "MixFit", "Whether two instructions share a subsystem.")
        .def_prop_ro("first", [](const PairFit& f) { return f.report().first; })
        .def_prop_ro("second", [](const PairFit& f) { return f.report().second; })
        .def_prop_ro("ok", [](const PairFit& f) { return f.report().ok; })
        .def_prop_ro(
            "reason", [](const PairFit& f) { return f.report().reason; },
            "Why there is no verdict at all; empty where there is one.")
        .def_prop_ro(
            "law",
            [](const PairFit& f) {
                return if_ok(f.report().ok, std::string(to_string(f.report().best)));
            },
            "The law that fits best; None: no verdict.")
        .def_prop_ro(
            "margin", [](const PairFit& f) { return if_ok(f.report().ok, f.report().margin); },
            "AICc of the runner-up less the best's; below 2 is undecided.")
        .def_prop_ro(
            "shared", [](const PairFit& f) { return f.report().shared; },
            "Whether both use one subsystem; None: undecided.")
        .def_prop_ro("notes", [](const PairFit& f) { return tuple_of(f.report().notes); })
        .def("__repr__", [](const PairFit& f) {
            return fmt::format(
                "<MixFit {} with {}: {}>", f.report().first, f.report().second,
                f.report().ok ? to_string(f.report().best) : std::string_view(f.report().reason));
        });

    nb::class_<Fit>(m, "Fit", "What fit() found: the profile, and how it was found.")
        .def_prop_ro("profile", [](const Fit& f) { return GpuProfile(f.outcome->profile); })
        .def_prop_ro(
            "instructions",
            [](const Fit& f) {
                std::vector<InstructionFit> all;
                for (std::size_t i = 0; i < f.outcome->subjects.size(); ++i)
                    all.push_back({f.outcome, i});
                return tuple_of(all);
            },
            "One per curve, in order of first appearance.")
        .def_prop_ro("mixes",
                     [](const Fit& f) {
                         std::vector<PairFit> all;
                         for (std::size_t i = 0; i < f.outcome->mixes.size(); ++i)
                             all.push_back({f.outcome, i});
                         return tuple_of(all);
                     })
        .def_prop_ro(
            "notes", [](const Fit& f) { return tuple_of(f.outcome->notes); },
            "About the whole; also in the profile's provenance.")
        .def(
            "__getitem__",
            [](const Fit& f, const std::string& name) {
                std::optional<InstructionFit> found;
                for (std::size_t i = 0; i < f.outcome->subjects.size(); ++i) {
                    const SubjectReport& report = f.outcome->subjects[i];
                    if (report.curve.label() == name) return InstructionFit{f.outcome, i};
                    if (report.curve.subject == name && (!found || report.primary))
                        found = InstructionFit{f.outcome, i};
                }
                if (!found)
                    throw nb::key_error(fmt::format("no curve of '{}' was measured", name).c_str());
                return *found;
            },
            nb::arg("name"), "By its name, or the primary curve of an instruction.")
        .def(
            "table", [](const Fit& f) { return format_fit_table(*f.outcome); },
            "As `occupipe fit` prints it.")
        .def(
            "report", [](const Fit& f) { return format_fit_report(*f.outcome); },
            "As `occupipe fit --report` writes it (Markdown).")
        .def("__repr__",
             [](const Fit& f) {
                 return fmt::format("<Fit of '{}': {} curves, {} mixes>",
                                    f.outcome->profile.device.name, f.outcome->subjects.size(),
                                    f.outcome->mixes.size());
             })
        .def("__str__", [](const Fit& f) { return format_fit_table(*f.outcome); })
        .def(
            "_repr_html_", [](nb::handle self) { return call_table("fit_html", self); },
            nb::sig("def _repr_html_(self) -> str"))
        .def(
            "to_pandas", [](nb::handle self) { return call_table("fit_table", self); },
            nb::sig("def to_pandas(self) -> pandas.DataFrame"),
            "One row per curve: λ per core and Λ [core cycles] with standard errors; <NA> is\n"
            "unknown. Needs pandas.");
    m.def("fit", &fit, nb::arg("files"), nb::arg("overhead").none());
}

}  // namespace occupipe::python

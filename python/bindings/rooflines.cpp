// SPDX-License-Identifier: MIT
// The quantitative roofline: counts of kernels × rates of devices.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>

#include <string>

#include "analysis/profilers/profiler_metrics.h"
#include "analysis/roofline/roofline_predictions.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/kernel_parameters.h"
#include "python/bindings/machine_code.h"
#include "python/bindings/value.h"

namespace occupipe::python {
namespace {

// A prediction with the names of what it is of.
struct RooflineRow {
    std::string kernel, device, model;
    analysis::RooflinePrediction prediction;
};

constexpr const char* literal_model = "quantitative-roofline";
constexpr const char* units_model = "quantitative-roofline-units";

RooflineRow roofline(const KernelParameters& kernel, const GpuProfile& profile,
                     const std::string& model) {
    if (model != literal_model && model != units_model)
        refuse_word(model, "model", {literal_model, units_model});
    const auto variant =
        model == literal_model ? RooflineVariant::literal : RooflineVariant::overlapped;
    return {kernel.kernel, profile.device.name, model,
            analysis::roofline_prediction(kernel, profile, variant)};
}

std::vector<KernelParameters> read_counts(const std::filesystem::path& path) {
    const std::string text = read_text_file(path);
    if (analysis::is_profiler_csv(text) || path.extension() == ".csv")
        return analysis::parameters_from_profiler(text, path.string()).kernels;
    return parse_kernel_parameters(text, path.string());
}

template <class T, class Get>
auto of_result(const Get& get) {
    return [get](const RooflineRow& row) -> std::optional<T> {
        if (!row.prediction.result) return std::nullopt;
        return get(*row.prediction.result);
    };
}

void bind_counts(nb::module_& m) {
    nb::class_<KernelParameters> counts(
        m, "KernelCounts",
        "What one launch of a kernel executed and moved, as profilers count it (Konstantinidis "
        "and\n"
        "Cotronis 2017, Table 1). Lane-instructions but warp_instructions; sectors of 32 bytes.\n"
        "What was not counted is None, not zero.");
    counts.def(
        "__init__",
        [](KernelParameters* place, const std::string& kernel, const nb::kwargs& values) {
            KernelParameters made;
            made.kernel = kernel;
            for (const auto& [key, value] : values) {
                const std::string name = nb::cast<std::string>(key);
                bool known = false;
                for (const KernelCount& count : kernel_counts()) {
                    if (count.key != name) continue;
                    known = true;
                    if (!value.is_none()) made.*count.value = nb::cast<double>(value);
                }
                if (name == "device")
                    made.device = nb::cast<std::string>(value);
                else if (name == "origin")
                    made.origin = nb::cast<std::string>(value);
                else if (!known)
                    throw InputError({}, {}, name, "is not a count of a kernel");
            }
            if (const auto fault = parts_fault(made))
                throw InputError({}, {}, key_path(fault->keys), fault->reason);
            new (place) KernelParameters(std::move(made));
        },
        nb::arg("kernel"), nb::arg("counts"),
        nb::sig("def __init__(self, kernel: str, **counts: float | str | None) -> None"));
    counts.def_ro("kernel", &KernelParameters::kernel)
        .def_ro("device", &KernelParameters::device, "That executed it; empty: not told.")
        .def_ro("origin", &KernelParameters::origin, "'nvprof', 'ncu', 'executed', …")
        .def_ro("launches", &KernelParameters::launches, "That the counts are the mean of.");
    for (const KernelCount& count : kernel_counts()) {
        const std::string key(count.key);
        static std::vector<std::string> kept;  // docstrings and signatures outlive the call
        kept.reserve(100);
        kept.push_back(fmt::format("{} [{}]{}; None: not counted.", count.meaning, count.unit,
                                   count.symbol.empty() ? "" : fmt::format(", {}", count.symbol)));
        const std::string& doc = kept.back();
        kept.push_back(fmt::format("def {}(self) -> float | None", key));
        counts.def_prop_ro(
            key.c_str(), [member = count.value](const KernelParameters& k) { return k.*member; },
            nb::sig(kept.back().c_str()), doc.c_str());
    }
    counts.def(
        "__eq__", [](const KernelParameters& a, const KernelParameters& b) { return a == b; },
        nb::is_operator(), nb::sig("def __eq__(self, arg: object, /) -> bool"));
    counts.def("__repr__", [](const KernelParameters& k) {
        return fmt::format("<KernelCounts '{}'{}>", k.kernel,
                           k.origin.empty() ? "" : fmt::format(", {}", k.origin));
    });
    counts.attr("__hash__") = nb::none();
}

void bind_rows(nb::module_& m) {
    using R = RooflineResult;
    nb::class_<RooflineRow>(
        m, "RooflinePrediction",
        "A kernel on a device by the quantitative roofline (Konstantinidis and\n"
        "Cotronis 2017). Numbers are None where the profile lacks rates.")
        .def_ro("kernel", &RooflineRow::kernel)
        .def_ro("device", &RooflineRow::device)
        .def_ro("model", &RooflineRow::model)
        .def_prop_ro(
            "missing", [](const RooflineRow& r) { return tuple_of(r.prediction.missing); },
            "Rates that the profile lacks and the kernel needs.")
        .def_prop_ro(
            "operation_type",
            [](const RooflineRow& r) { return std::string(to_string(r.prediction.work.kind)); },
            "K_type: what counts as useful operations.")
        .def_prop_ro(
            "operations", [](const RooflineRow& r) { return useful_operations(r.prediction.work); },
            "W_comp (formula 2): a multiply-add counts twice.")
        .def_prop_ro(
            "traffic_bytes", [](const RooflineRow& r) { return r.prediction.work.traffic; },
            "W_traf (formula 3) [bytes]; None: not counted.")
        .def_prop_ro(
            "intensity",
            [](const RooflineRow& r) { return analysis::intensity_of(r.prediction.work); },
            "W_comp / W_traf [operations/byte]; None: nothing is moved.")
        .def_prop_ro("seconds", of_result<double>([](const R& r) { return r.time; }),
                     "Predicted time [s].")
        .def_prop_ro("compute_seconds",
                     of_result<double>([](const R& r) { return r.compute_time; }), "[s]")
        .def_prop_ro(
            "memory_seconds",
            [](const RooflineRow& r) {
                return r.prediction.result ? r.prediction.result->memory_time
                                           : std::optional<double>();
            },
            "[s]")
        .def_prop_ro("bound", of_result<std::string>([](const R& r) {
                         return std::string(r.memory_bound ? "memory" : "compute");
                     }),
                     "'memory' or 'compute'.")
        .def_prop_ro(
            "mix_efficiency",
            [](const RooflineRow& r) {
                return r.prediction.result ? r.prediction.result->mix_efficiency
                                           : std::optional<double>();
            },
            "E_mix (formula 4), 0 to 1.")
        .def_prop_ro(
            "instruction_efficiency",
            [](const RooflineRow& r) {
                return r.prediction.result ? r.prediction.result->instruction_efficiency
                                           : std::optional<double>();
            },
            "E_instr (formula 17), 0 to 1.")
        .def_prop_ro(
            "flips_at", [](const RooflineRow& r) { return r.prediction.distance_to_flip; },
            "The time that is not the bound over the bound; at 1 the other takes over.")
        .def("__repr__", [](const RooflineRow& r) {
            if (!r.prediction.result)
                return fmt::format("<RooflinePrediction '{}' on '{}': rates are missing>", r.kernel,
                                   r.device);
            return fmt::format("<RooflinePrediction '{}' on '{}': {:.4g} us, {}-bound>", r.kernel,
                               r.device, r.prediction.result->time * 1e6,
                               r.prediction.result->memory_bound ? "memory" : "compute");
        });
}

}  // namespace

void bind_rooflines(nb::module_& m) {
    bind_counts(m);
    bind_rows(m);
    m.def("read_counts", &read_counts, nb::arg("path"));
    m.def("format_counts", &format_kernel_parameters, nb::arg("kernels"));
    m.def("executed_counts", &executed_parameters, nb::arg("request"));
    m.def("roofline", &roofline, nb::arg("counts"), nb::arg("profile"), nb::arg("model"));
    m.def("rate_warnings", &analysis::rate_warnings, nb::arg("profile"));
    m.def(
        "peak_rates",
        [](const GpuProfile& profile, const std::string& type) {
            OperationKind kind = OperationKind::fp32;
            if (type == "fp64")
                kind = OperationKind::fp64;
            else if (type == "integer" || type == "int")
                kind = OperationKind::integer;
            else if (type != "fp32")
                refuse_word(type, "type", {"fp32", "fp64", "integer"});
            return std::make_pair(analysis::operation_rate(profile, kind),
                                  analysis::memory_rate(profile));
        },
        nb::arg("profile"), nb::arg("type"));
}

}  // namespace occupipe::python

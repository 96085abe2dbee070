// SPDX-License-Identifier: MIT
// Raw measurements as Python objects and NumPy columns.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/error.h"
#include "core/files/files.h"
#include "core/measurement.h"
#include "python/bindings/arrays.h"
#include "python/bindings/value.h"

namespace occupipe::python {
namespace {

std::vector<std::string> subjects_of(const MeasurementFile& file) {
    std::vector<std::string> subjects;
    std::set<std::string> seen;
    for (const MeasurementRow& row : file.rows)
        if (seen.insert(row.subject).second) subjects.push_back(row.subject);
    return subjects;
}

// One number of each row, and where it is not known (0 there, under the mask).
template <class Get>
nb::tuple column(const MeasurementFile& file, const Get& get) {
    std::vector<double> values;
    std::vector<std::uint8_t> unknown;
    values.reserve(file.rows.size());
    for (const MeasurementRow& row : file.rows) {
        const std::optional<double> value = get(row);
        values.push_back(value.value_or(0));
        unknown.push_back(value ? 0 : 1);
    }
    return nb::make_tuple(array_of(std::move(values)), flags_of(unknown));
}

nb::dict shapes(const MeasurementFile& file) {
    std::vector<std::int64_t> group_warps, concurrent_groups, chains, depth, repetition;
    for (const MeasurementRow& row : file.rows) {
        group_warps.push_back(row.shape.group_warps);
        concurrent_groups.push_back(row.shape.concurrent_groups);
        chains.push_back(row.shape.chains);
        depth.push_back(row.shape.depth);
        repetition.push_back(row.repetition);
    }
    nb::dict columns;
    columns["group_warps"] = array_of(std::move(group_warps));
    columns["concurrent_groups"] = array_of(std::move(concurrent_groups));
    columns["chains"] = array_of(std::move(chains));
    columns["depth"] = array_of(std::move(depth));
    columns["repetition"] = array_of(std::move(repetition));
    return columns;
}

MeasurementFile selected(const MeasurementFile& file, const std::vector<std::int64_t>& places) {
    MeasurementFile kept{file.path, file.content_hash, file.context, {}};
    for (const std::int64_t place : places) {
        if (place < 0 || place >= static_cast<std::int64_t>(file.rows.size()))
            throw nb::index_error("no such row");
        kept.rows.push_back(file.rows[static_cast<std::size_t>(place)]);
    }
    return kept;
}

}  // namespace

void bind_measurements(nb::module_& m) {
    nb::class_<MeasurementRow>(m, "MeasurementRow", "One repetition of one point.")
        .def_prop_ro("name", &MeasurementRow::name, "As in the file: 'fma.f32/group_warps:4/…'.")
        .def_ro("subject", &MeasurementRow::subject, "'fma.f32' or 'mix(fma.f32*8,cos.approx.f32)'")
        .def_prop_ro("group_warps", [](const MeasurementRow& r) { return r.shape.group_warps; })
        .def_prop_ro("concurrent_groups",
                     [](const MeasurementRow& r) { return r.shape.concurrent_groups; })
        .def_prop_ro(
            "chains", [](const MeasurementRow& r) { return r.shape.chains; },
            "Independent dependent chains per warp.")
        .def_prop_ro(
            "depth", [](const MeasurementRow& r) { return r.shape.depth; },
            "Instructions per chain per warp.")
        .def_ro("repetition", &MeasurementRow::repetition)
        .def_ro("cycles", &MeasurementRow::cycles,
                "Core cycles; None: the device does not report them, or the row failed.")
        .def_ro("clock_hz", &MeasurementRow::clock_hz, "[Hz] during this repetition, or None.")
        .def_prop_ro(
            "seconds",
            [](const MeasurementRow& r) { return r.error ? std::optional<double>() : r.seconds; },
            "The device's own event timer [s]; None: the row failed.")
        .def_ro("error", &MeasurementRow::error, "Why the row failed, or None.")
        .def_prop_ro(
            "counters",
            [](const MeasurementRow& r) {
                std::map<std::string, double> counters;
                r.counters.for_each([&](const auto& name, double v) { counters[name] = v; });
                return counters;
            },
            "Every counter of the row.")
        .def("__repr__", [](const MeasurementRow& r) {
            return fmt::format("<MeasurementRow {} repetition {}: {}>", r.name(), r.repetition,
                               r.error    ? *r.error
                               : r.cycles ? fmt::format("{:g} cycles", *r.cycles)
                                          : fmt::format("{:g} s", r.seconds));
        });

    nb::class_<MeasurementFile> file(
        m, "MeasurementFile", "What `occupipe measure` wrote (docs/reference/file-formats/).");
    file.def_static(
            "read", [](const std::filesystem::path& path) { return read_measurements(path); },
            nb::arg("path"))
        .def_static(
            "parse",
            [](const std::string& text, const std::string& name) {
                return parse_measurements(text, name);
            },
            nb::arg("text"), nb::arg("name"))
        .def("selected", &selected, nb::arg("places"))
        .def("shapes", &shapes, nb::sig("def shapes(self) -> dict[str, numpy.ndarray]"))
        .def(
            "counter_column",
            [](const MeasurementFile& f, const std::string& name) {
                return column(f, [&](const MeasurementRow& row) -> std::optional<double> {
                    if (row.error) return std::nullopt;
                    return row.counters.find(name);
                });
            },
            nb::arg("name"),
            nb::sig("def counter_column(self, name: str) -> tuple[numpy.ndarray, numpy.ndarray]"))
        .def(
            "seconds_column",
            [](const MeasurementFile& f) {
                return column(f, [](const MeasurementRow& row) -> std::optional<double> {
                    if (row.error) return std::nullopt;
                    return row.seconds;
                });
            },
            nb::sig("def seconds_column(self) -> tuple[numpy.ndarray, numpy.ndarray]"))
        .def(
            "subject_column",
            [](const MeasurementFile& f) {
                nb::list list;
                for (const MeasurementRow& row : f.rows) list.append(nb::cast(row.subject));
                return list;
            },
            nb::sig("def subject_column(self) -> list[str]"))
        .def_rw("path", &MeasurementFile::path, "Where it was read from.")
        .def_ro("content_hash", &MeasurementFile::content_hash, "Of the file's text: 'xxh128:…'.")
        .def_rw("context", &MeasurementFile::context,
                "Device facts and provenance, as text; a copy: assign it to change it.")
        .def_prop_ro("rows", [](const MeasurementFile& f) { return tuple_of(f.rows); })
        .def_prop_ro("subjects", &subjects_of, "What was measured, in order of first appearance.")
        .def("__len__", [](const MeasurementFile& f) { return f.rows.size(); });
}

}  // namespace occupipe::python

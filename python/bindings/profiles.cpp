// SPDX-License-Identifier: MIT
// GPU profiles as Python objects.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <array>
#include <string>

#include "analysis/roofline/device_rates.h"
#include "ask/shipped_files.h"
#include "ask/what_if.h"
#include "core/enum_text.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/gpu_profile.h"
#include "core/profile_fields.h"
#include "core/suggestions.h"
#include "python/bindings/value.h"

namespace occupipe::python {
namespace {

using Kind = Estimate::Kind;
using ErrorTerms = std::vector<std::pair<std::string, double>>;

constexpr std::array<std::pair<Kind, const char*>, 4> estimate_kinds = {
    {{Kind::value, "value"},
     {Kind::upper_bound, "upper_bound"},
     {Kind::lower_bound, "lower_bound"},
     {Kind::undetermined, "undetermined"}}};

const char* kind_name(const Estimate& estimate) {
    for (const auto& [kind, name] : estimate_kinds)
        if (kind == estimate.kind) return name;
    return "undetermined";
}

void make_estimate(Estimate* place, double value, std::optional<double> std_error,
                   const std::string& kind, const std::string& note,
                   const std::vector<Doubt>& doubts, const ErrorTerms& error_terms) {
    require_finite(value, "value");
    if (std_error) {
        require_finite(*std_error, "std_error");
        if (*std_error < 0) throw InputError({}, {}, "std_error", "must not be negative");
    }
    Estimate made;
    made.value = value;
    made.std_error = std_error;
    made.note = note;
    made.doubts = doubts;
    for (const auto& [name, size] : error_terms) {
        require_finite(size, "error_terms");
        made.error_terms.push_back({name, size});
    }
    const auto* const found = std::find_if(estimate_kinds.begin(), estimate_kinds.end(),
                                           [&](const auto& one) { return kind == one.second; });
    if (found == estimate_kinds.end())
        refuse_word(kind, "kind", {"value", "upper_bound", "lower_bound", "undetermined"});
    made.kind = found->first;
    new (place) Estimate(made);
}

TupleOf<std::pair<std::string, double>> error_terms_of(const Estimate& e) {
    ErrorTerms terms;
    for (const ErrorTerm& term : e.error_terms) terms.emplace_back(term.name, term.size);
    return tuple_of(terms);
}

nb::object annotation_of(const Annotation& tree) {
    if (!tree.entries.empty()) {
        nb::dict map;
        for (const AnnotationEntry& entry : tree.entries)
            map[entry.key.c_str()] = annotation_of(entry.value);
        return map;
    }
    if (!tree.items.empty()) {
        nb::list list;
        for (const Annotation& item : tree.items) list.append(annotation_of(item));
        return list;
    }
    return nb::cast(tree.text);
}

const InstructionTiming& row_of(const GpuProfile& profile, const std::string& name) {
    const InstructionTiming* const found = profile.find_instruction(name);
    if (found != nullptr) return *found;
    std::vector<std::string> names;
    for (const InstructionTiming& row : profile.instructions) names.push_back(row.name);
    const auto near = near_names(name, names);
    throw nb::key_error(fmt::format("profile '{}' has no instruction '{}'{}{}", profile.device.name,
                                    name, near.empty() ? "" : "; near: ", fmt::join(near, ", "))
                            .c_str());
}

void set_row(GpuProfile& profile, const std::string& name, InstructionTiming row) {
    if (row.name != name)
        throw InputError({}, {}, name, fmt::format("the row is of '{}'", row.name));
    if (InstructionTiming* const found = profile.find_instruction(name))
        *found = std::move(row);
    else
        profile.instructions.push_back(std::move(row));
}

std::vector<std::string> names_of(const GpuProfile& profile) {
    std::vector<std::string> names;
    for (const InstructionTiming& row : profile.instructions) names.push_back(row.name);
    return names;
}

nb::object call_table(const char* function, nb::handle self) {
    return nb::module_::import_("occupipe._tables").attr(function)(self);
}

void bind_parts(nb::module_& m) {
    nb::class_<Limits> limits(m, "Limits",
                              "What one core can hold at once; None is unknown, not infinite.");
    limits
        .def(nb::init<std::optional<std::int64_t>, std::optional<std::int64_t>,
                      std::optional<std::int64_t>, std::optional<std::int64_t>,
                      std::optional<std::int64_t>>(),
             nb::kw_only(), nb::arg("warps") = nb::none(), nb::arg("groups") = nb::none(),
             nb::arg("group_warps") = nb::none(), nb::arg("registers") = nb::none(),
             nb::arg("shared_memory_bytes") = nb::none())
        .def_ro("warps", &Limits::warps, "Warps on a core.")
        .def_ro("groups", &Limits::groups, "Groups on a core.")
        .def_ro("group_warps", &Limits::group_warps, "Warps of one group.")
        .def_ro("registers", &Limits::registers, "32-bit registers of a core.")
        .def_ro("shared_memory_bytes", &Limits::shared_memory_bytes, "Bytes of a core.");
    add_value_methods(limits,
                      {"warps", "groups", "group_warps", "registers", "shared_memory_bytes"});

    nb::class_<Issue> issue(m, "Issue", "How a core's schedulers issue.");
    issue
        .def(
            "__init__",
            [](Issue* place, std::optional<double> limit, std::optional<double> limit_std_error,
               int schedulers, const std::optional<std::string>& policy,
               const std::optional<std::string>& select) {
                new (place)
                    Issue{limit, limit_std_error, schedulers, enum_of<Policy>(policy, "policy"),
                          enum_of<Select>(select, "select")};
            },
            nb::kw_only(), nb::arg("limit") = nb::none(), nb::arg("limit_std_error") = nb::none(),
            nb::arg("schedulers") = 1, nb::arg("policy") = nb::none(),
            nb::arg("select") = nb::none())
        .def_ro("limit", &Issue::limit,
                "IL [warp-instructions per cycle per core]; None: no common limit is known.")
        .def_ro("limit_std_error", &Issue::limit_std_error, "Its standard error, same unit.")
        .def_ro("schedulers", &Issue::schedulers, "Schedulers of a core.")
        .def_prop_ro(
            "policy", [](const Issue& i) { return word_of(i.policy); },
            "'lrr', 'gto' or 'oldest'; None: not known, lrr is assumed.")
        .def_prop_ro(
            "select", [](const Issue& i) { return word_of(i.select); },
            "'subsystem' or 'warp'; None: not known, subsystem is assumed.");
    add_value_methods(issue, {"limit", "limit_std_error", "schedulers", "policy", "select"});

    nb::class_<Subsystem> subsystem(m, "Subsystem", "A unit that instructions share.");
    subsystem
        .def(
            "__init__",
            [](Subsystem* place, const std::string& name, const std::optional<std::string>& scope,
               const std::optional<Number>& contention) {
                new (place)
                    Subsystem{name, enum_of<Scope>(scope, "scope"), estimate_of(contention)};
            },
            nb::arg("name"), nb::arg("scope") = nb::none(), nb::arg("contention") = nb::none())
        .def_ro("name", &Subsystem::name)
        .def_prop_ro(
            "scope", [](const Subsystem& s) { return word_of(s.scope); },
            "'core': one per core; 'scheduler': a copy per scheduler; None: not known, one per "
            "core is assumed.")
        .def_ro("contention", &Subsystem::contention,
                "h of the law Λ(ω) = Λ0 + h·ω, as a share of λ: 0 to below 1.");
    add_value_methods(subsystem, {"name", "scope", "contention"});

    nb::class_<TableRow> table_row(m, "TableRow", "λ and Λ at one place of a table.");
    table_row
        .def(
            "__init__",
            [](TableRow* place, double at, const std::optional<Number>& cpi,
               const std::optional<Number>& latency) {
                new (place) TableRow{at, estimate_of(cpi), estimate_of(latency)};
            },
            nb::arg("at"), nb::arg("cpi") = nb::none(), nb::arg("latency") = nb::none())
        .def_ro("at", &TableRow::at)
        .def_ro("cpi", &TableRow::cpi, "λ [core cycles per warp-instruction].")
        .def_ro("latency", &TableRow::latency, "Λ [core cycles].");
    add_value_methods(table_row, {"at", "cpi", "latency"});

    nb::class_<ParameterTable> table(m, "ParameterTable",
                                     "λ and Λ as functions of something: bytes in flight, …");
    table
        .def(
            "__init__",
            [](ParameterTable* place, const std::string& over, const std::vector<TableRow>& rows,
               const std::string& note) {
                new (place) ParameterTable{over, note, rows};
            },
            nb::arg("over"), nb::arg("rows"), nb::arg("note") = "")
        .def_ro("over", &ParameterTable::over)
        .def_prop_ro("rows", [](const ParameterTable& t) { return tuple_of(t.rows); })
        .def_ro("note", &ParameterTable::note);
    add_value_methods(table, {"over", "rows", "note"});

    nb::class_<MemoryLevel> level(m, "MemoryLevel", "Working sets with one latency.");
    level
        .def(
            "__init__",
            [](MemoryLevel* place, const std::string& instruction, const Number& latency,
               double first_bytes, double last_bytes, std::optional<double> edge_confidence) {
                new (place) MemoryLevel{instruction, estimate_of(latency), first_bytes, last_bytes,
                                        edge_confidence};
            },
            nb::arg("instruction"), nb::arg("latency"), nb::arg("first_bytes"),
            nb::arg("last_bytes"), nb::arg("edge_confidence") = nb::none())
        .def_ro("instruction", &MemoryLevel::instruction)
        .def_ro("latency", &MemoryLevel::latency, "Per dependent access [core cycles].")
        .def_ro("first_bytes", &MemoryLevel::first_bytes, "Smallest working set that shows it.")
        .def_ro("last_bytes", &MemoryLevel::last_bytes, "Largest working set that shows it.")
        .def_ro("edge_confidence", &MemoryLevel::edge_confidence,
                "0 to 1, of the edge after it; None for the last level.");
    add_value_methods(level,
                      {"instruction", "latency", "first_bytes", "last_bytes", "edge_confidence"});

    nb::class_<InstructionCache> code(m, "InstructionCache",
                                      "Machine code that a core keeps; None is unknown.");
    code.def(
            "__init__",
            [](InstructionCache* place, std::optional<double> bytes,
               std::optional<double> bytes_per_cycle, const std::string& reference) {
                new (place) InstructionCache{bytes, bytes_per_cycle, reference};
            },
            nb::kw_only(), nb::arg("bytes") = nb::none(), nb::arg("bytes_per_cycle") = nb::none(),
            nb::arg("reference") = "")
        .def_ro("bytes", &InstructionCache::bytes, "Bytes of code.")
        .def_ro("bytes_per_cycle", &InstructionCache::bytes_per_cycle,
                "Bytes of code per cycle and core from beyond it.")
        .def_ro("reference", &InstructionCache::reference);
    add_value_methods(code, {"bytes", "bytes_per_cycle", "reference"});

    nb::class_<Overheads> overheads(m, "Overheads", "Costs of no instruction; None is unknown.");
    overheads
        .def(
            "__init__",
            [](Overheads* place, const std::optional<Number>& launch,
               const std::optional<Number>& awaited, const std::optional<Number>& graph,
               const std::optional<Number>& kernel, const std::optional<Number>& group,
               const std::optional<Number>& loop) {
                new (place) Overheads{estimate_of(launch), estimate_of(awaited), estimate_of(graph),
                                      estimate_of(kernel), estimate_of(group),   estimate_of(loop)};
            },
            nb::kw_only(), nb::arg("launch_seconds") = nb::none(),
            nb::arg("awaited_launch_seconds") = nb::none(),
            nb::arg("graph_launch_seconds") = nb::none(), nb::arg("kernel_seconds") = nb::none(),
            nb::arg("group_seconds") = nb::none(), nb::arg("loop_cycles") = nb::none())
        .def_ro("launch_seconds", &Overheads::launch_seconds, "Per kernel launch [s].")
        .def_ro("awaited_launch_seconds", &Overheads::awaited_launch_seconds,
                "Per launch that the host waits for [s].")
        .def_ro("graph_launch_seconds", &Overheads::graph_launch_seconds,
                "Per launch inside a graph of launches [s].")
        .def_ro("kernel_seconds", &Overheads::kernel_seconds,
                "An empty kernel on the GPU, as profilers time it [s].")
        .def_ro("group_seconds", &Overheads::group_seconds, "Per group of a launch [s].")
        .def_ro("loop_cycles", &Overheads::loop_cycles,
                "Per iteration of an empty loop [core cycles].");
    add_value_methods(overheads,
                      {"launch_seconds", "awaited_launch_seconds", "graph_launch_seconds",
                       "kernel_seconds", "group_seconds", "loop_cycles"});
}

void make_timing(InstructionTiming* place, const std::string& name, const std::string& subsystem,
                 const Number& cpi, const std::optional<Number>& latency,
                 const std::string& latency_unknown, const std::string& step,
                 const std::optional<Number>& growth, const std::optional<Number>& loop_cpi,
                 const std::optional<Number>& loop_latency, int warps_per_instruction,
                 const std::optional<std::string>& kind, const std::string& source,
                 const std::string& reference, const std::string& note,
                 const std::vector<ParameterTable>& tables) {
    InstructionTiming made;
    made.name = name;
    made.subsystem = subsystem;
    made.cpi = estimate_of(cpi);
    made.warps_per_instruction = warps_per_instruction;
    made.latency = estimate_of(latency);
    made.latency_unknown = latency_unknown;
    made.step = step;
    made.latency_growth = estimate_of(growth);
    made.loop_cpi = estimate_of(loop_cpi);
    made.loop_latency = estimate_of(loop_latency);
    made.tables = tables;
    made.kind = enum_of<InstructionKind>(kind, "kind");
    made.source = enum_of<Source>(source, "source");
    made.reference = reference;
    made.note = note;
    new (place) InstructionTiming(std::move(made));
}

void bind_timing(nb::module_& m) {
    nb::class_<InstructionTiming> timing(
        m, "InstructionTiming",
        "One instruction of a profile: what it costs in the Pipeline model.\n\n"
        "λ (cpi) is in core cycles per warp-instruction, Λ (latency) in core cycles.");
    timing
        .def("__init__", &make_timing, nb::arg("name"), nb::arg("subsystem"), nb::arg("cpi"),
             nb::arg("latency") = nb::none(), nb::kw_only(), nb::arg("latency_unknown") = "",
             nb::arg("step") = "", nb::arg("latency_growth") = nb::none(),
             nb::arg("loop_cpi") = nb::none(), nb::arg("loop_latency") = nb::none(),
             nb::arg("warps_per_instruction") = 1, nb::arg("kind") = nb::none(),
             nb::arg("source") = "literature", nb::arg("reference") = "", nb::arg("note") = "",
             nb::arg("tables") = std::vector<ParameterTable>())
        .def_ro("name", &InstructionTiming::name, "In PTX's spelling, such as 'fma.f32'.")
        .def_ro("subsystem", &InstructionTiming::subsystem, "The unit that it occupies.")
        .def_ro("cpi", &InstructionTiming::cpi,
                "λ [core cycles per warp-instruction], of one copy of the subsystem.")
        .def_ro("latency", &InstructionTiming::latency,
                "Λ [core cycles] of one instruction alone; None: not measured.")
        .def_ro("latency_unknown", &InstructionTiming::latency_unknown, "Why there is no Λ.")
        .def_ro("step", &InstructionTiming::step,
                "Machine instructions of a step of the measured chain ('2 FSEL + DSETP'); "
                "empty: this one alone, or not examined.")
        .def_ro("latency_growth", &InstructionTiming::latency_growth,
                "h: Λ grows by this per further instruction in flight [core cycles].")
        .def_ro("loop_cpi", &InstructionTiming::loop_cpi,
                "Of the timed loop, per iteration, on the subsystem [core cycles].")
        .def_ro("loop_latency", &InstructionTiming::loop_latency,
                "Of the timed loop, per iteration, on a warp's chain [core cycles].")
        .def_ro("warps_per_instruction", &InstructionTiming::warps_per_instruction,
                "Warps that execute one instruction together; λ stays per warp.")
        .def_prop_ro(
            "kind", [](const InstructionTiming& t) { return word_of(t.kind); },
            "'compute', 'load', 'store' or 'barrier'; None: as the name says.")
        .def_prop_ro(
            "source", [](const InstructionTiming& t) { return std::string(to_string(t.source)); },
            "'measured', 'literature', 'vendor' or 'assumed'.")
        .def_ro("reference", &InstructionTiming::reference, "Where the numbers stand.")
        .def_ro("note", &InstructionTiming::note)
        .def_prop_ro("tables", [](const InstructionTiming& t) { return tuple_of(t.tables); })
        .def_prop_ro("determined", &InstructionTiming::determined,
                     "Whether λ and Λ are both known as values, not as bounds.");
    add_value_methods(
        timing, {"name", "subsystem", "cpi", "latency", "latency_unknown", "step", "latency_growth",
                 "loop_cpi", "loop_latency", "warps_per_instruction", "kind", "source", "reference",
                 "note", "tables"});
}

void bind_profile_edits(nb::class_<GpuProfile>& profile) {
    profile.def("__len__", [](const GpuProfile& p) { return p.instructions.size(); })
        .def("__contains__",
             [](const GpuProfile& p, const std::string& name) {
                 return p.find_instruction(name) != nullptr;
             })
        .def("__getitem__",
             [](const GpuProfile& p, const std::string& name) { return row_of(p, name); })
        .def("__setitem__", &set_row, nb::arg("name"), nb::arg("row"))
        .def("__delitem__",
             [](GpuProfile& p, const std::string& name) {
                 row_of(p, name);
                 std::erase_if(p.instructions, [&](const auto& row) { return row.name == name; });
             })
        .def(
            "__iter__", [](const GpuProfile& p) { return nb::iter(nb::cast(names_of(p))); },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"))
        .def(
            "set",
            [](GpuProfile& p, const std::string& name, nb::handle value) {
                GpuProfile changed = p;
                const std::string text =
                    value.is_none() ? "none" : nb::cast<std::string>(nb::repr(value));
                auto said = analysis::apply_what_ifs({name + "=" + text}, changed);
                p = std::move(changed);
                return said.empty() ? std::string() : said.front();
            },
            nb::arg("name"), nb::arg("value").none(),
            nb::sig("def set(self, name: str, value: float | None) -> str"),
            "Changes one number, as `occupipe predict --set` does, and says what was changed.\n\n"
            "name: 'OP.cpi', 'OP.latency' [core cycles], 'SUBSYSTEM.contention', 'issue.limit' "
            "(None: no limit), 'issue.schedulers', 'cores' or 'clock_hz'.")
        .def("copy", [](const GpuProfile& p) { return GpuProfile(p); })
        .def("__copy__", [](const GpuProfile& p) { return GpuProfile(p); })
        .def(
            "__deepcopy__", [](const GpuProfile& p, nb::handle) { return GpuProfile(p); },
            nb::arg("memo"))
        .def(
            "__eq__", [](const GpuProfile& a, const GpuProfile& b) { return a == b; },
            nb::is_operator(), nb::sig("def __eq__(self, arg: object, /) -> bool"));
}

void bind_profile_files(nb::class_<GpuProfile>& profile) {
    profile
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return analysis::named_profile(path.string());
            },
            nb::arg("path"),
            "Reads a file, or a shipped profile by its name or the end of it ('rtx-2070').\n\n"
            "Raises InputError with file, line and key.")
        .def_static(
            "parse",
            [](const std::string& text, const std::string& name) {
                return parse_profile(text, name);
            },
            nb::arg("text"), nb::arg("name") = "<text>", "From YAML; `name` is for messages.")
        .def(
            "to_yaml",
            [](const GpuProfile& p) {
                validate(p);
                return format_profile(p);
            },
            "The text of the file. Raises InputError where a rule does not hold.")
        .def(
            "save",
            [](const GpuProfile& p, const std::filesystem::path& path, bool overwrite) {
                validate(p);
                write_text_file(path, format_profile(p),
                                overwrite ? Overwrite::yes : Overwrite::no);
            },
            nb::arg("path"), nb::kw_only(), nb::arg("overwrite") = false,
            "Writes the file at once or not at all. Raises InputError where a rule of\n"
            "docs/reference/file-formats/ does not hold, or the file exists and overwrite is "
            "False.")
        .def(
            "check", [](const GpuProfile& p) { validate(p); },
            "Raises InputError with the key where a rule of docs/reference/file-formats/ does not "
            "hold.");
}

}  // namespace

void bind_estimates(nb::module_& m) {
    nb::class_<Doubt> doubt(m, "Doubt", "What makes a value doubtful, and by how much.");
    doubt
        .def(
            "__init__",
            [](Doubt* place, const std::string& kind, std::optional<double> size) {
                if (size) require_finite(*size, "size");
                new (place) Doubt{enum_of<Doubt::Kind>(kind, "kind"), size};
            },
            nb::arg("kind"), nb::arg("size") = nb::none())
        .def_prop_ro(
            "kind", [](const Doubt& d) { return std::string(to_string(d.kind)); },
            "'law_misses', 'runs_disagree', 'implausible', …: docs/reference/file-formats/ has "
            "them all.")
        .def_ro("size", &Doubt::size, "Relative, of a drift with its sign; None: there is none.")
        .def("__str__", &doubt_text);
    add_value_methods(doubt, {"kind", "size"});
    nb::class_<Estimate> estimate(
        m, "Estimate",
        "One number with its standard error, or a bound where the data give no more.\n\n"
        "float(e) is its value, and raises ValueError for a bound.");
    estimate
        .def("__init__", &make_estimate, nb::arg("value"), nb::arg("std_error") = nb::none(),
             nb::arg("kind") = "value", nb::arg("note") = "",
             nb::arg("doubts") = std::vector<Doubt>(), nb::arg("error_terms") = ErrorTerms())
        .def_ro("value", &Estimate::value, "In the unit of the field that it is of.")
        .def_ro("std_error", &Estimate::std_error, "In the same unit; None: unknown.")
        .def_prop_ro(
            "kind", [](const Estimate& e) { return std::string(kind_name(e)); },
            "'value', 'upper_bound' (the true number is at most `value`), 'lower_bound', "
            "or 'undetermined' (a bound of unknown direction).")
        .def_ro("note", &Estimate::note, "Why it is only a bound, and other remarks.")
        .def_prop_ro(
            "doubts", [](const Estimate& e) { return tuple_of(e.doubts); },
            "What makes the value doubtful.")
        .def_prop_ro("error_terms", &error_terms_of,
                     "What the standard error consists of, as (name, size): the root of the sum of "
                     "their squares is std_error. Empty: not known.")
        .def_prop_ro("identifiable", &Estimate::identifiable, "Whether the data determine it.")
        .def("__float__",
             [](const Estimate& e) {
                 if (!e.identifiable())
                     throw InputError({}, {}, {},
                                      fmt::format("{} is a bound, not a value; .value has the "
                                                  "bound itself",
                                                  estimate_text(e)));
                 return e.value;
             })
        .def("__str__", [](const Estimate& e) { return estimate_text(e); });
    add_value_methods(estimate, {"value", "std_error", "kind", "note", "doubts", "error_terms"});
}

void bind_profiles(nb::module_& m) {
    bind_parts(m);
    bind_timing(m);
    nb::class_<GpuProfile> profile(
        m, "Profile",
        "A GPU as the Pipeline model sees it: a mapping from instruction names to their rows.\n\n"
        "profile['fma.f32'].latency           Λ [core cycles]\n"
        "profile['fma.f32'] = row.replace(latency=8)\n"
        "profile.set('fma.f32.latency', 8)    the same\n\n"
        "Rows are values: they cannot be changed in place, so that no change is lost on a copy.");
    profile
        .def(
            "__init__",
            [](GpuProfile* place, const std::string& name, int cores, int warp_size,
               double clock_hz) {
                GpuProfile made;
                made.device.name = name;
                made.cores = cores;
                made.warp_size = warp_size;
                made.clock_hz = clock_hz;
                new (place) GpuProfile(std::move(made));
            },
            nb::arg("name"), nb::kw_only(), nb::arg("cores"), nb::arg("warp_size") = 32,
            nb::arg("clock_hz"))
        .def_prop_rw(
            "name", [](const GpuProfile& p) { return p.device.name; },
            [](GpuProfile& p, const std::string& v) { p.device.name = v; }, "The GPU's name.")
        .def_prop_rw(
            "vendor", [](const GpuProfile& p) { return p.device.vendor; },
            [](GpuProfile& p, const std::string& v) { p.device.vendor = v; })
        .def_prop_rw(
            "architecture", [](const GpuProfile& p) { return p.device.architecture; },
            [](GpuProfile& p, const std::string& v) { p.device.architecture = v; })
        .def_prop_rw(
            "compute_capability", [](const GpuProfile& p) { return p.device.compute_capability; },
            [](GpuProfile& p, const std::string& v) { p.device.compute_capability = v; },
            "Such as '7.5'; empty where the vendor has none.")
        .def_rw("cores", &GpuProfile::cores, "P: multiprocessors, compute units.")
        .def_rw("warp_size", &GpuProfile::warp_size, "Threads per warp.")
        .def_rw("clock_hz", &GpuProfile::clock_hz, "f [Hz].")
        .def_rw("limits", &GpuProfile::limits, nb::rv_policy::copy)
        .def_rw("issue", &GpuProfile::issue, nb::rv_policy::copy)
        .def_rw("instruction_cache", &GpuProfile::instruction_cache, nb::rv_policy::copy)
        .def_rw("overheads", &GpuProfile::overheads, nb::rv_policy::copy)
        .def_prop_rw(
            "subsystems", [](const GpuProfile& p) { return tuple_of(p.subsystems); },
            [](GpuProfile& p, const std::vector<Subsystem>& v) { p.subsystems = v; })
        .def_prop_rw(
            "instructions", [](const GpuProfile& p) { return tuple_of(p.instructions); },
            [](GpuProfile& p, const std::vector<InstructionTiming>& v) { p.instructions = v; },
            "All rows, in the order of the file.")
        .def_prop_rw(
            "memory_levels", [](const GpuProfile& p) { return tuple_of(p.memory_levels); },
            [](GpuProfile& p, const std::vector<MemoryLevel>& v) { p.memory_levels = v; })
        .def_prop_ro(
            "provenance", [](const GpuProfile& p) { return annotation_of(p.provenance); },
            nb::sig("def provenance(self) -> object"), "Where the numbers come from: dict or ''.")
        .def(
            "copies", [](const GpuProfile& p, const std::string& name) { return p.copies(name); },
            nb::arg("subsystem"),
            "Copies of a subsystem on one core: the schedulers where its scope says so, else 1.")
        .def(
            "cpi_per_core",
            [](const GpuProfile& p, const std::string& name) {
                return p.cpi_per_core(row_of(p, name));
            },
            nb::arg("instruction"),
            "λ per core [core cycles per warp-instruction]: one copy's λ over the copies.")
        .def(
            "rates",
            [](const GpuProfile& p) {
                nb::dict found;
                for (const analysis::Rate& rate : analysis::rates())
                    if (const auto value = analysis::value_of(rate, p))
                        found[nb::str(rate.symbol.data(), rate.symbol.size())] = nb::make_tuple(
                            value->value, std::string(rate.unit), std::string(rate.meaning));
                return found;
            },
            nb::sig("def rates(self) -> dict[str, tuple[float, str, str]]"),
            "Peak rates of the whole device that the profile determines, as `occupipe rates` has\n"
            "them: symbol → (value, unit, meaning).")
        .def("__repr__",
             [](const GpuProfile& p) {
                 return fmt::format("<Profile '{}': {} cores at {:.4g} MHz, {} instructions>",
                                    p.device.name, p.cores, p.clock_hz * 1e-6,
                                    p.instructions.size());
             })
        .def(
            "_repr_html_", [](nb::handle self) { return call_table("profile_html", self); },
            nb::sig("def _repr_html_(self) -> str"))
        .def(
            "to_pandas", [](nb::handle self) { return call_table("profile_table", self); },
            nb::sig("def to_pandas(self) -> pandas.DataFrame"),
            "One row per instruction: λ and Λ [core cycles] with standard errors; what is unknown\n"
            "is <NA>. Needs pandas.");
    bind_profile_edits(profile);
    bind_profile_files(profile);
    profile.attr("__hash__") = nb::none();
}

}  // namespace occupipe::python

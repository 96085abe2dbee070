// SPDX-License-Identifier: MIT
// Kernels (instruction dependence graphs) and launches as Python objects.
#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>

#include <charconv>
#include <string>

#include "ask/shipped_files.h"
#include "core/enum_text.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/kernel.h"
#include "python/bindings/value.h"

namespace occupipe::python {
namespace {

// NAME or NAME@-N.
Dependence dependence_of(const std::string& text) {
    const std::size_t mark = text.find("@-");
    if (mark == std::string::npos) return {text, 0};
    Dependence found{text.substr(0, mark), 0};
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data() + mark + 2, end, found.iterations_back);
    if (fault != std::errc() || stop != end || found.iterations_back < 1)
        throw InputError({}, {}, "after",
                         fmt::format("'{}' is neither NAME nor NAME@-N with N iterations", text));
    return found;
}

nb::object call_table(const char* function, nb::handle self) {
    return nb::module_::import_("occupipe._tables").attr(function)(self);
}

void bind_launch(nb::module_& m) {
    nb::class_<Launch> launch(m, "Launch", "How a kernel is launched.");
    launch
        .def(
            "__init__",
            [](Launch* place, int group_warps, int concurrent_groups, std::int64_t groups) {
                if (group_warps < 1 || concurrent_groups < 1 || groups < 1 || groups > most_groups)
                    throw InputError({}, {}, "launch", "counts are whole numbers of at least 1");
                new (place) Launch{group_warps, concurrent_groups, groups};
            },
            nb::arg("group_warps"), nb::arg("concurrent_groups"), nb::arg("groups"))
        .def_ro("group_warps", &Launch::group_warps, "Warps of one group.")
        .def_ro("concurrent_groups", &Launch::concurrent_groups,
                "Groups that are resident on one core at once.")
        .def_ro("groups", &Launch::groups, "Groups of the whole launch, all cores.")
        .def_prop_ro("warps", &Launch::warps, "ω: warps that are resident on one core.");
    add_value_methods(launch, {"group_warps", "concurrent_groups", "groups"});
}

void bind_memory_use(nb::module_& m) {
    nb::class_<MemoryUse> use(
        m, "MemoryUse",
        "What an instruction asks of the memory, means over its executions by a warp.\n\n"
        "Reuse is a tuple of (bytes, share): from this cache size on, this share of the sectors is "
        "found.");
    const auto reuse = [](const std::optional<Reuse>& points) -> nb::object {
        if (!points) return nb::none();
        nb::list list;
        for (const ReusePoint& point : *points)
            list.append(nb::make_tuple(point.bytes, point.share));
        return nb::tuple(list);
    };
    use.def_ro("bytes", &MemoryUse::bytes, "Asked by all lanes together.")
        .def_ro("sectors", &MemoryUse::sectors, "Of 32 bytes, of global and local memory.")
        .def_ro("least_sectors", &MemoryUse::least_sectors,
                "That the same bytes would take side by side.")
        .def_ro("lines", &MemoryUse::lines, "Of 128 bytes; None: not told.")
        .def_ro("bank_passes", &MemoryUse::bank_passes,
                "Through the banks of the first-level cache; None: not told.")
        .def_ro("passes", &MemoryUse::passes, "Through the banks of shared memory.")
        .def_ro("least_passes", &MemoryUse::least_passes)
        .def_prop_ro(
            "core", [reuse](const MemoryUse& u) { return reuse(u.core); },
            nb::sig("def core(self) -> tuple[tuple[int, float], ...] | None"),
            "Reuse in a core's first-level cache; None: passes it by.")
        .def_prop_ro(
            "device", [reuse](const MemoryUse& u) { return reuse(u.device); },
            nb::sig("def device(self) -> tuple[tuple[int, float], ...] | None"),
            "Reuse in the device's second-level cache.")
        .def_prop_ro(
            "core_requests", [reuse](const MemoryUse& u) { return reuse(u.core_requests); },
            nb::sig("def core_requests(self) -> tuple[tuple[int, float], ...] | None"),
            "Of the requests: all their sectors are found in the first-level cache; None: not "
            "told.")
        .def_prop_ro(
            "device_requests", [reuse](const MemoryUse& u) { return reuse(u.device_requests); },
            nb::sig("def device_requests(self) -> tuple[tuple[int, float], ...] | None"),
            "Likewise in the second-level cache.")
        .def_prop_ro(
            "written", [reuse](const MemoryUse& u) { return reuse(u.written); },
            nb::sig("def written(self) -> tuple[tuple[int, float], ...] | None"),
            "Of the sectors written: these are dirty in the second-level cache already; None: it "
            "writes none.")
        .def_ro("merged", &MemoryUse::merged,
                "Sectors of a store that the warp's store shortly before wrote, too; None: not "
                "told.")
        .def_ro("places", &MemoryUse::places,
                "KiB that a request's lines lie in, of the first of each warp; None: not told.")
        .def_ro("group_places", &MemoryUse::group_places,
                "Likewise of all first requests of a group, per request; None: not told.")
        .def_ro("same_address", &MemoryUse::same_address,
                "Lanes of an atomic operation at one address; None: not told.")
        .def_ro("hottest", &MemoryUse::hottest,
                "Share of the atomic operations that go to the sector that has most, of those that "
                "several groups ask for; None: not told.")
        .def("__repr__", [](const MemoryUse& u) {
            return fmt::format("<MemoryUse: {:g} bytes, {:g} sectors, {:g} passes>", u.bytes,
                               u.sectors, u.passes);
        });
}

void bind_items(nb::module_& m) {
    bind_memory_use(m);
    nb::class_<KernelInstruction> instruction(
        m, "Instruction",
        "One instruction of a kernel.\n\n"
        "after: ids that it depends on; 'NAME@-N' is NAME's instance N iterations before.");
    instruction
        .def(
            "__init__",
            [](KernelInstruction* place, const std::string& op, const std::string& id,
               const std::vector<std::string>& after, const std::optional<std::string>& kind,
               const std::string& at, std::optional<int> stall,
               const std::optional<MemoryUse>& memory) {
                KernelInstruction made;
                made.id = id;
                made.op = op;
                made.kind = enum_of<InstructionKind>(kind, "kind");
                for (const std::string& text : after) made.after.push_back(dependence_of(text));
                made.at = at;
                made.stall = stall;
                made.memory = memory;
                new (place) KernelInstruction(std::move(made));
            },
            nb::arg("op"), nb::arg("id"), nb::arg("after") = std::vector<std::string>(),
            nb::kw_only(), nb::arg("kind") = nb::none(), nb::arg("at") = "",
            nb::arg("stall") = nb::none(), nb::arg("memory") = nb::none())
        .def_ro("op", &KernelInstruction::op, "An instruction name of the profile.")
        .def_ro("id", &KernelInstruction::id, "Unique in its list.")
        .def_prop_ro("after",
                     [](const KernelInstruction& i) {
                         std::vector<std::string> texts;
                         for (const Dependence& one : i.after) texts.push_back(to_string(one));
                         return tuple_of(texts);
                     })
        .def_prop_ro("kind", [](const KernelInstruction& i) { return word_of(i.kind); })
        .def_ro("at", &KernelInstruction::at, "Line of the source code, 'FILE:LINE'.")
        .def_ro("stall", &KernelInstruction::stall,
                "Machine code's own delay after its issue [cycles]; None: not told.")
        .def_ro("memory", &KernelInstruction::memory, nb::rv_policy::copy);
    add_value_methods(instruction, {"op", "id", "after", "kind", "at", "stall", "memory"});

    nb::class_<Repeat> repeat(m, "Repeat", "A loop: its body, so many times.");
    repeat
        .def(
            "__init__",
            [](Repeat* place, std::int64_t count, const std::vector<KernelItem>& body) {
                new (place) Repeat{.count = count, .body = body};
            },
            nb::arg("count"), nb::arg("body"))
        .def_ro("count", &Repeat::count, "Trip count, at least 1.")
        .def_prop_ro("body", [](const Repeat& r) { return tuple_of(r.body); });
    add_value_methods(repeat, {"count", "body"});

    nb::class_<WarpProgram> program(m, "WarpProgram", "What a share of a group's warps executes.");
    program
        .def(
            "__init__",
            [](WarpProgram* place, const std::vector<KernelItem>& instructions, double share) {
                new (place) WarpProgram{share, instructions};
            },
            nb::arg("instructions"), nb::arg("share") = 1.0)
        .def_prop_ro("instructions", [](const WarpProgram& p) { return tuple_of(p.instructions); })
        .def_ro("share", &WarpProgram::share, "Of a group's warps; shares sum to 1.")
        .def_prop_ro("instruction_count", &instruction_count,
                     "Instructions that one of its warps executes, loops multiplied out.");
    add_value_methods(program, {"instructions", "share"});
}

}  // namespace

void bind_kernels(nb::module_& m) {
    bind_launch(m);
    bind_items(m);
    nb::class_<Kernel> kernel(
        m, "Kernel",
        "A kernel as an instruction dependence graph, with loops "
        "(docs/reference/file-formats/).\n\n"
        "Kernel('chain', [Repeat(100, [Instruction('fma.f32', 'a', ['a@-1'])])])");
    kernel
        .def(
            "__init__",
            [](Kernel* place, const std::string& name,
               const std::optional<std::vector<KernelItem>>& instructions,
               const std::optional<std::vector<WarpProgram>>& programs,
               const std::optional<Launch>& launch, const std::optional<std::string>& order) {
                if (instructions.has_value() == programs.has_value())
                    throw InputError({}, {}, "instructions",
                                     "give either `instructions` or `programs`");
                Kernel made;
                made.name = name;
                made.warps = programs ? *programs : std::vector<WarpProgram>{{1, *instructions}};
                made.launch = launch;
                made.order = enum_of<Order>(order, "order");
                validate(made);
                new (place) Kernel(std::move(made));
            },
            nb::arg("name"), nb::arg("instructions") = nb::none(), nb::kw_only(),
            nb::arg("programs") = nb::none(), nb::arg("launch") = nb::none(),
            nb::arg("order") = nb::none())
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return read_kernel(analysis::shipped_kernel(path.string()));
            },
            nb::arg("path"),
            "Reads a file, or a shipped kernel by its name ('saxpy').\n\n"
            "Raises InputError with file, line and key.")
        .def_static(
            "parse",
            [](const std::string& text, const std::string& name) {
                return parse_kernel(text, name);
            },
            nb::arg("text"), nb::arg("name") = "<text>", "From YAML; `name` is for messages.")
        .def(
            "to_yaml",
            [](const Kernel& k) {
                validate(k);
                return format_kernel(k);
            },
            "The text of the file. Raises InputError where a rule does not hold.")
        .def(
            "save",
            [](const Kernel& k, const std::filesystem::path& path, bool overwrite) {
                validate(k);
                write_text_file(path, format_kernel(k), overwrite ? Overwrite::yes : Overwrite::no);
            },
            nb::arg("path"), nb::kw_only(), nb::arg("overwrite") = false,
            "Writes the file at once or not at all.")
        .def(
            "check", [](const Kernel& k) { validate(k); },
            "Raises InputError with the key where a rule of docs/reference/file-formats/ does not "
            "hold.")
        .def_rw("name", &Kernel::name)
        .def_prop_rw(
            "programs", [](const Kernel& k) { return tuple_of(k.warps); },
            [](Kernel& k, const std::vector<WarpProgram>& v) { k.warps = v; },
            "One entry unless warps diverge.")
        .def_prop_rw(
            "launch", [](const Kernel& k) { return k.launch; },
            [](Kernel& k, const std::optional<Launch>& v) { k.launch = v; },
            nb::for_setter(nb::arg("launch").none()),
            "As the file has it; None: each core runs as many groups as it holds at once.")
        .def_prop_rw(
            "order", [](const Kernel& k) { return word_of(k.order); },
            [](Kernel& k, const std::optional<std::string>& v) {
                k.order = enum_of<Order>(v, "order");
            },
            nb::for_setter(nb::arg("order").none()),
            "'dataflow' or 'in_order'; None: nothing said, dataflow is assumed.")
        .def_prop_ro(
            "tells_memory", [](const Kernel& k) { return k.memory.has_value(); },
            "Whether its instructions tell what caches of any size find of their data.")
        .def("copy", [](const Kernel& k) { return Kernel(k); })
        .def("__copy__", [](const Kernel& k) { return Kernel(k); })
        .def(
            "__deepcopy__", [](const Kernel& k, nb::handle) { return Kernel(k); }, nb::arg("memo"))
        .def(
            "__eq__", [](const Kernel& a, const Kernel& b) { return a == b; }, nb::is_operator(),
            nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__repr__",
             [](const Kernel& k) {
                 std::int64_t longest = 0;
                 for (const WarpProgram& program : k.warps)
                     longest = std::max(longest, instruction_count(program));
                 return fmt::format(
                     "<Kernel '{}': {} instructions per warp{}>", k.name, longest,
                     k.warps.size() == 1
                         ? ""
                         : fmt::format(" in the longest of {} programs", k.warps.size()));
             })
        .def(
            "_repr_html_", [](nb::handle self) { return call_table("kernel_html", self); },
            nb::sig("def _repr_html_(self) -> str"))
        .def(
            "to_pandas", [](nb::handle self) { return call_table("kernel_table", self); },
            nb::sig("def to_pandas(self) -> pandas.DataFrame"),
            "One row per instruction of the text, with how often a warp executes it (executions)."
            "\nNeeds pandas.");
    kernel.attr("__hash__") = nb::none();
}

}  // namespace occupipe::python

// SPDX-License-Identifier: MIT
// Machine code in: one launch of a .cu, .ptx or .cubin → a kernel, and what it executed.
#include "python/bindings/machine_code.h"

#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include <atomic>

#include "ask/kernel_file.h"
#include "ask/kernels_in.h"
#include "ask/source.h"
#include "core/error.h"
#include "core/files/launch_files.h"
#include "core/occupancy.h"
#include "extract/kernel_parameters.h"
#include "extract/run_plan.h"
#include "python/bindings/without_lock.h"

namespace occupipe::python {

LaunchPlan plan_of(const CodeRequest& request) {
    if (request.launches) return read_launches(*request.launches);
    if (!request.grid || !request.block)
        throw InputError({}, {}, "launch", "how is it launched? A launch file, or grid and block");
    LaunchPlan plan;
    KernelLaunch launch;
    launch.kernel = request.kernel;
    launch.grid = *request.grid;
    launch.block = *request.block;
    std::uint64_t threads = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        if (launch.grid[i] < 1 || launch.grid[i] > most_grid[i])
            throw InputError({}, {}, "grid", fmt::format("each is from 1 to {}", most_grid[i]));
        if (launch.block[i] < 1 || launch.block[i] > most_block[i])
            throw InputError({}, {}, "block", fmt::format("each is from 1 to {}", most_block[i]));
        threads *= launch.block[i];
    }
    if (threads > most_group_threads)
        throw InputError(
            {}, {}, "block",
            fmt::format("{} threads; a group has at most {}", threads, most_group_threads));
    if (request.shared_bytes > most_shared_bytes)
        throw InputError({}, {}, "shared_bytes", fmt::format("is at most {}", most_shared_bytes));
    launch.shared_bytes = request.shared_bytes;
    launch.arguments = parse_arguments(request.arguments, plan);
    plan.steps.emplace_back(std::move(launch));
    return plan;
}

analysis::KernelFile file_of(const CodeRequest& request, const LaunchPlan& plan) {
    const std::string& path = request.file.empty() ? plan.source : request.file;
    if (path.empty())
        throw InputError({}, {}, "source", "which kernels? Name a .cu, .ptx or .cubin file");
    const GpuProfile* profile = request.profile ? &*request.profile : nullptr;
    analysis::CompileRequest compile = analysis::compile_request(plan, profile);
    compile.architecture = analysis::architecture_for(request.architecture, plan, path, profile);
    compile.options = request.compiler_options;
    compile.kernels.push_back(request.kernel);
    return analysis::read_kernel_file(path, compile);
}

namespace {

std::vector<extract::LaunchResult> executed(extract::PlanRun& run, extract::PlanOptions options,
                                            const CodeRequest& request,
                                            const std::atomic<bool>& stop) {
    options.threads = request.threads;
    options.step_budget = request.step_budget;
    options.progress = [&stop](const extract::PlanProgress&) { return !stop; };
    return run.execute(options);
}

Extraction extract_kernel(const CodeRequest& request) {
    return without_lock([&](const std::atomic<bool>& stop) {
        const LaunchPlan plan = plan_of(request);
        const analysis::KernelFile file = file_of(request, plan);
        analysis::KernelsInOptions options;
        options.kernel = request.kernel;
        options.step = request.step;
        options.classes = request.classes;
        options.memory_cores = request.cores;
        if (request.profile) {
            options.known = analysis::known_names(*request.profile);
            if (!options.memory_cores) options.memory_cores = request.profile->cores;
        }
        if (request.all_groups) options.sample.reset();
        if (request.sample) {
            options.sample = *request.sample;
            options.sample_instructions = 0;
        }
        options.execute = [&](extract::PlanRun& run, extract::PlanOptions plan_options) {
            return executed(run, std::move(plan_options), request, stop);
        };
        return Extraction{
            std::make_shared<const analysis::KernelIn>(analysis::kernel_in(plan, file, options)),
            file.path, file.note};
    });
}

nb::dict names_of(const Extraction& e) {
    nb::dict all;
    for (const auto& [name, machine] : e.in->extracted.names) {
        nb::dict parts;
        for (const auto& [opcode, times] : machine) parts[opcode.c_str()] = times;
        all[name.c_str()] = parts;
    }
    return all;
}

}  // namespace

std::vector<KernelParameters> executed_parameters(const CodeRequest& request) {
    return without_lock([&](const std::atomic<bool>& stop) {
        const LaunchPlan plan = plan_of(request);
        const analysis::KernelFile file = file_of(request, plan);
        extract::PlanRun run(plan, file.cubin, file.ptx);
        return extract::parameters_of(executed(run, {}, request, stop));
    });
}

void bind_machine_code(nb::module_& m) {
    nb::class_<CodeRequest>(m, "CodeRequest")
        .def(nb::init<>())
        .def_rw("file", &CodeRequest::file)
        .def_rw("launches", &CodeRequest::launches, nb::arg().none())
        .def_rw("architecture", &CodeRequest::architecture)
        .def_rw("compiler_options", &CodeRequest::compiler_options)
        .def_rw("kernel", &CodeRequest::kernel)
        .def_rw("grid", &CodeRequest::grid, nb::arg().none())
        .def_rw("block", &CodeRequest::block, nb::arg().none())
        .def_rw("shared_bytes", &CodeRequest::shared_bytes)
        .def_rw("arguments", &CodeRequest::arguments)
        .def_rw("step", &CodeRequest::step)
        .def_rw("sample", &CodeRequest::sample, nb::arg().none())
        .def_rw("all_groups", &CodeRequest::all_groups)
        .def_rw("classes", &CodeRequest::classes)
        .def_rw("cores", &CodeRequest::cores, nb::arg().none())
        .def_rw("profile", &CodeRequest::profile, nb::arg().none())
        .def_rw("threads", &CodeRequest::threads)
        .def_rw("step_budget", &CodeRequest::step_budget);
    nb::class_<Extraction>(m, "Extraction", "A launch of machine code as a kernel for predictions.")
        .def_prop_ro(
            "kernel", [](const Extraction& e) { return Kernel(e.in->kernel()); },
            "The instruction dependence graph, with its launch.")
        .def_prop_ro(
            "architecture", [](const Extraction& e) { return e.in->architecture; },
            "Of the code: 75, 80, …")
        .def_prop_ro(
            "groups", [](const Extraction& e) { return e.in->seen.groups; }, "Of the launch.")
        .def_prop_ro(
            "groups_executed", [](const Extraction& e) { return e.in->seen.executed; },
            "Those that stand for all.")
        .def_prop_ro(
            "standard_error", [](const Extraction& e) { return e.in->seen.standard_error; },
            "Of the instructions per warp, relative; 0: all groups were executed; None:\n"
            "one group at random cannot tell.")
        .def_prop_ro(
            "concurrent_groups", [](const Extraction& e) { return e.in->occupancy.groups; },
            "Groups that one core holds at once.")
        .def_prop_ro(
            "occupancy", [](const Extraction& e) { return e.in->occupancy.share; },
            "Share of the warps that a core can hold, 0 to 1.")
        .def_prop_ro(
            "limited_by",
            [](const Extraction& e) {
                std::vector<std::string> names;
                for (const Occupancy::Limit& limit : e.in->occupancy.limits)
                    if (limit.groups == e.in->occupancy.groups)
                        names.emplace_back(to_text(limit.what));
                return tuple_of(names);
            },
            "What limits the groups at once: 'registers', 'shared memory', …")
        .def_prop_ro(
            "instructions", [](const Extraction& e) { return e.in->extracted.instructions; },
            "Warp-instructions per warp of the launch, the mean.")
        .def_prop_ro(
            "represented", [](const Extraction& e) { return e.in->extracted.represented; },
            "Share of the executed instructions by warps of the classes in the kernel.")
        .def_prop_ro("machine_instructions", &names_of,
                     nb::sig("def machine_instructions(self) -> dict[str, dict[str, float]]"),
                     "Behind each name of the kernel: opcode → executions per warp.")
        .def_ro("file", &Extraction::file, "That holds the machine code, or its source.")
        .def_prop_ro(
            "assumptions",
            [](const Extraction& e) { return tuple_of(analysis::texts(e.in->assumptions)); })
        .def_prop_ro(
            "warnings", [](const Extraction& e) { return tuple_of(e.in->warnings); },
            "Where what is predicted executes much less or more than the launch did.")
        .def_ro("note", &Extraction::note, "Of the compilation; empty: nothing.")
        .def("__repr__", [](const Extraction& e) {
            return fmt::format("<Extraction of '{}' for sm_{}: {}>", e.in->kernel().name,
                               e.in->architecture, analysis::to_text(e.in->seen));
        });
    m.def("extract", &extract_kernel, nb::arg("request"));
}

}  // namespace occupipe::python

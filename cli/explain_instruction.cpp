// SPDX-License-Identifier: MIT
// `explain INSTRUCTION`: what a row's number means, how it is measured, and what it leaves out.
// explain.h has the reports of `predict` that explain a result.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "analysis/device/instruction_receipt.h"
#include "analysis/device/open_device.h"
#include "ask/shipped_files.h"
#include "ask/suggestions.h"
#include "bench/cuda/unsupported.h"
#include "bench/devices.h"
#include "bench/instructions/instruction_table.h"
#include "bench/kernel/kernel_source.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/files.h"
#include "published/shelf.h"
#include "report/text/error_terms.h"
#include "report/text/wrap.h"

namespace occupipe::cli {
namespace {

using bench::Backend;
using bench::Pattern;
using bench::Row;

struct Arguments {
    std::string instruction;
    std::string device;
    std::string profile;
    std::string arch = "sm_90";
    bool source = false;
};

std::string_view shape_of(const Row& row) {
    if (row.own_lines) return "a pointer chase of each warp that stays in one line";
    return bench::facts_of(row.pattern).shape;
}

void print_meaning(const Row& row) {
    fmt::print("{}: {}\n\nWhat the number means\n", row.id, row.meaning);
    if (bench::measures_launches(row.pattern) || row.pattern == Pattern::empty_loop) {
        fmt::print("{}", report::wrapped(
                             "The cost of one more of them, in seconds (a loop's iteration: in "
                             "core cycles): the slope of the time over their number. It is "
                             "in a profile's `overheads`; it is not an instruction.",
                             2));
        return;
    }
    fmt::print("{}",
               report::wrapped("λ (cpi): core cycles per instruction when enough are in flight to "
                               "keep its unit busy; on a GPU per warp-instruction.",
                               2));
    if (row.group_warps > 1) {
        fmt::print("{}",
                   report::wrapped(fmt::format("{0} warps execute one of these together: λ is per "
                                               "warp, the whole instruction takes {0} λ.",
                                               row.group_warps),
                                   2));
    }
    fmt::print(
        "{}", report::wrapped(row.order == bench::Order::none
                                  ? "Λ (latency): not determined, since nothing waits for one."
                                  : "Λ (latency): core cycles from one instruction to the next one "
                                    "that needs its result, with one in flight.",
                              2));
}

void print_method(const Row& row) {
    fmt::print("\nHow it is measured\n");
    fmt::print("{}", report::wrapped(fmt::format("The timed loop is {}.", shape_of(row)), 2));
    if (row.pattern == Pattern::chain) {
        fmt::print("{}",
                   report::wrapped(
                       fmt::format("Operands come from memory at run time, so that no compiler "
                                   "knows them: a = {:.10g}, b = {:.10g}, the first chain "
                                   "starts at {:.10g}, the others a little above. All chains' "
                                   "results are stored.",
                                   row.a, row.b, row.x),
                       2));
    }
    if (bench::measures_launches(row.pattern)) return;
    fmt::print("{}",
               report::wrapped("Three depths (instructions per chain) and many numbers of warps (a "
                               "CPU: of chains in one work-item) are timed; λ and Λ come from the "
                               "slope over depth, which drops the cost of the launch.",
                               2));
}

void print_cuda(const Row& row, const Arguments& arguments) {
    fmt::print("\nBy CUDA\n");
    const int architecture = std::atoi(arguments.arch.c_str() + std::string_view("sm_").size());
    if (const auto reason = bench::cuda_unsupported(row, architecture)) {
        fmt::print("{}", report::wrapped(fmt::format("not measured: {}", *reason), 2));
        return;
    }
    if (bench::measures_launches(row.pattern)) {
        fmt::print("  a kernel of one group that returns at once\n");
        return;
    }
    fmt::print("  step (x: the chain's value): {}\n", analysis::step_of(row.step));
    fmt::print(
        "{}", report::wrapped(fmt::format("counted: {} in PTX and {} in machine code, {} per step, "
                                          "exactly depth x chains steps, or the kernel is refused",
                                          row.ptx, row.sass, row.sass_count),
                              2));
    if (!row.sass_also.empty()) {
        fmt::print("{}", report::wrapped(fmt::format("also in the loop: {}", row.sass_also), 2));
    }
    if (row.least_architecture > 75) {
        fmt::print("  GPUs of sm_{} and later\n", row.least_architecture);
    }
    fmt::print("{}", analysis::cuda_receipt(row, arguments.arch, arguments.source));
}

void print_opencl(Backend& backend, const Row& asked, const Arguments& arguments) {
    fmt::print("\nBy OpenCL, on {} ({})\n", backend.facts().id, backend.facts().name);
    if (const auto reason = backend.unsupported(asked)) {
        fmt::print("{}", report::wrapped("not measured: " + *reason, 2));
        return;
    }
    if (bench::measures_launches(asked.pattern)) {
        fmt::print("  a kernel of one group that returns at once\n");
        return;
    }
    const Row& row = *bench::find_row(backend.rows(), asked.id);
    fmt::print("  step (x: the chain's value): {}\n", analysis::step_of(row.step));
    if (!row.setup.empty()) fmt::print("  before the timed part: {}\n", row.setup);
    if (const auto doubt = backend.unproved(row)) {
        fmt::print("{}", report::wrapped("the count is NOT PROVED: " + *doubt, 2));
    } else {
        fmt::print(
            "{}", report::wrapped(
                      fmt::format("counted: x86-64's {}, {} per step", row.x86, row.x86_count), 2));
        if (!row.x86_also.empty()) {
            fmt::print("{}", report::wrapped(fmt::format("also in the loop: {}", row.x86_also), 2));
        }
    }
    fmt::print("{}", analysis::opencl_receipt(backend, row, arguments.source));
}

void print_limits(const Row& row, bool cpu) {
    fmt::print("\nWhat it does not say\n");
    const auto say = [](std::string_view text) {
        fmt::print("{}", report::wrapped(text, 2, "- "));
    };
    if (row.pattern == Pattern::chain && row.order == bench::Order::registers) {
        say("The latency is that of the operand that the chain runs through, and with these "
            "values; other operands and values may be faster or slower.");
    }
    if (!row.sass_also.empty() || !row.x86_also.empty()) {
        say("What else is in the loop (see above) is part of the number if it is on the "
            "chain or uses the same unit.");
    }
    if (row.order == bench::Order::none) say("Nothing waits for it, so it has no latency.");
    if (row.pattern == Pattern::global_chase || row.pattern == Pattern::global_stream) {
        say("Address translation and other users of the memory are part of it.");
    }
    if (bench::measures_launches(row.pattern)) {
        say("The host's load and its work between launches are part of it.");
        return;
    }
    say("Where one instruction's own time is as long as its latency, or where the device does not "
        "hold enough of them, one of λ and Λ is only bounded: the profile marks it "
        "`identifiable: false` and says in `bound` which side.");
    if (cpu) {
        say("A CPU is not a GPU: one work-item at a time, cycles by a measured clock, chains "
            "instead of warps. This says nothing about many work-items or occupancy.");
    }
}

std::string annotated(const Estimate& value) {
    std::string text = estimate_text(value);
    if (!value.identifiable()) text += fmt::format(", {}", to_string(value.kind));
    if (!value.note.empty()) text += " (" + value.note + ")";
    return text;
}

std::string whole_instruction_text(const GpuProfile& profile, const InstructionTiming& timing) {
    const int warps = timing.warps_per_instruction;
    return fmt::format(
        "λ is per warp; {} warps execute one instruction together: {:.6g} cycles each", warps,
        profile.cpi_per_core(timing).value * warps);
}

void print_profile(const GpuProfile& profile, const InstructionTiming& timing,
                   const std::string& file) {
    fmt::print("\nIn {} ({})\n", file, profile.device.name);
    std::string cpi = "λ " + annotated(profile.cpi_per_core(timing)) + " cycles per core";
    if (profile.copies(timing.subsystem) > 1)
        cpi += fmt::format(", {:.6g} in each scheduler's copy", timing.cpi.value);
    const auto print_error = [](std::string_view symbol, const Estimate& value) {
        if (const std::string terms = report::error_terms_text(value); !terms.empty())
            fmt::print("{}", report::wrapped(fmt::format("error of {}: {}", symbol, terms), 2));
    };
    fmt::print("{}", report::wrapped(cpi, 2));
    print_error("λ", profile.cpi_per_core(timing));
    if (timing.warps_per_instruction > 1) {
        fmt::print("{}", report::wrapped(whole_instruction_text(profile, timing), 2));
    }
    fmt::print("{}", report::wrapped(timing.latency ? "Λ " + annotated(*timing.latency) + " cycles"
                                                    : "Λ not measured: " + timing.latency_unknown,
                                     2));
    if (timing.latency) print_error("Λ", *timing.latency);
    if (timing.latency_growth) {
        fmt::print("{}", report::wrapped("Λ grows by " + annotated(*timing.latency_growth) +
                                             " cycles with each further instruction in flight",
                                         2));
    }
    fmt::print("  subsystem {}, source {}\n", timing.subsystem, to_string(timing.source));
    if (!timing.reference.empty()) fmt::print("{}", report::wrapped(timing.reference, 2));
    if (!timing.note.empty()) fmt::print("{}", report::wrapped("note: " + timing.note, 2));
    const auto evidence = analysis::shelf_evidence(profile.device.compute_capability, timing.name);
    if (evidence.empty()) return;
    fmt::print("  published for compute capability {}, of a core (docs/how-to/self-check.md):\n",
               profile.device.compute_capability);
    for (const std::string& line : evidence) fmt::print("{}", report::wrapped(line, 4));
}

// CUDA needs no GPU here, OpenCL needs a device: without --device, the first one there is.
std::unique_ptr<Backend> opencl_device(const Arguments& arguments) {
    if (!arguments.device.empty()) return analysis::open_named_device(arguments.device);
    for (const auto& facts : bench::list_devices()) {
        if (facts.backend == "opencl") return bench::open_device(facts.id);
    }
    return nullptr;
}

void explain_mix(const Mix& mix) {
    for (const std::string& name : {mix.first, mix.second})
        if (!bench::find_row(name)) throw InputError(analysis::unknown_instruction(name));
    const Row& first = *bench::find_row(mix.first);
    const bench::KernelPlan plan{
        .first = &first, .second = bench::find_row(mix.second), .beta = mix.beta};
    const auto say = [](const std::string& text) { fmt::print("{}", report::wrapped(text, 2)); };
    fmt::print("{}\n\nWhat the number means\n", plan.subject());
    say(fmt::format(
        "{} instructions of {}, then one of {}, over and over, at the largest occupancy. "
        "The throughput of {} over β shows which of three laws holds: β/(β·λ1 + λ2), "
        "the two share a subsystem; min(1/λ1, β/λ2), they do not; the same with "
        "IL·β/(β + 1), the issue limit binds.",
        mix.beta, mix.first, mix.second, mix.first));
    fmt::print("\nHow it is measured\n");
    say(plan.separate_chains()
            ? "Each of the two has its own chains, since they differ in type or one does "
              "not wait: the mix says nothing about latency."
            : "Both are in one dependent chain: with few warps, latency dominates.");
    say("The receipt counts both. `measure --receipts DIR` keeps it; `explain` of each of the two "
        "says what it counts.");
    fmt::print("\nWhat it does not say\n");
    say("A mix is not an entry of a profile. Two instructions that both need the issue port look "
        "like "
        "two of one subsystem where the issue limit is not far above either; the profile then says "
        "that the assignment is uncertain.");
}

void run(const Arguments& arguments) {
    analysis::check_architecture(arguments.arch);
    std::optional<GpuProfile> profile;
    if (!arguments.profile.empty()) profile = analysis::named_profile(arguments.profile);
    const InstructionTiming* timing =
        profile ? profile->find_instruction(arguments.instruction) : nullptr;
    if (const auto mix = parse_mix(arguments.instruction)) return explain_mix(*mix);
    const Row* row = bench::find_row(arguments.instruction);
    if (!row && !timing) throw InputError(analysis::unknown_instruction(arguments.instruction));
    if (profile && !timing) {
        throw InputError(
            fmt::format("{}: no entry for '{}'", arguments.profile, arguments.instruction));
    }
    if (!row) {
        fmt::print("{}: only in the profile, not among the instructions that can be measured\n",
                   arguments.instruction);
        print_profile(*profile, *timing, arguments.profile);
        return;
    }
    const analysis::ScratchCache cache;  // before OpenCL is first used
    const auto device = opencl_device(arguments);
    const bool opencl = device && device->facts().backend == "opencl";
    print_meaning(*row);
    print_method(*row);
    if (arguments.device.empty() || !opencl) print_cuda(*row, arguments);
    if (opencl) print_opencl(*device, *row, arguments);
    print_limits(*row, opencl && device->facts().cpu);
    if (timing) print_profile(*profile, *timing, arguments.profile);
}

}  // namespace

void add_explain_instruction(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand("explain",
                                           "Explain an instruction: what its numbers mean, how "
                                           "they are measured, what they leave out");
    command
        .add_option("instruction", arguments->instruction,
                    "A name of 'occupipe list instructions', or mix(A*β,B)")
        .required()
        .type_name("INSTRUCTION");
    command.add_option("--device", arguments->device, analysis::device_help).type_name("DEVICE");
    command.add_option("--profile", arguments->profile, "Also show the values in this profile")
        .type_name("FILE");
    command
        .add_option("--arch", arguments->arch,
                    "NVIDIA architecture to compile for (needs NVRTC, no GPU)")
        .show_default()
        .type_name("sm_NN");
    command.add_flag("--source", arguments->source, "Also print the kernel's source");
    add_help_end(
        command,
        {.text = "Output: text on stdout. Where a compiler is at hand (NVRTC, or OpenCL with "
                 "--device), the\n"
                 "kernel is compiled and its machine instructions are counted.",
         .exit_codes = {exit_nothing_to_run_on},
         .examples = "occupipe explain fma.f32 --profile profiles/nvidia-gtx-1060.yaml"});
    command.callback([arguments] { run(*arguments); });
}

}  // namespace occupipe::cli

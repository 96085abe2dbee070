// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "ask/answer.h"
#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/kernels_in_request.h"
#include "cli/options.h"
#include "core/files/files.h"
#include "report/text/extraction.h"
#include "report/text/memory_table.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Input: CUDA kernels and how they are launched, as 'occupipe execute' takes them.\n"
    "Output: one launch as a kernel file: the instructions that its warps executed, with loops\n"
    "and dependences, for 'occupipe predict KERNEL --profile P'; and what it contains.\n"
    "Warps that executed the same instructions with the same lanes are one class; rare classes\n"
    "are left out; the output gives the share that the others represent.";

constexpr const char* examples =
    "occupipe extract saxpy.cu --arch sm_90 --launch saxpy.yaml -o saxpy.kernel.yaml\n"
    "occupipe extract saxpy.cu --arch sm_75 --grid 64 --block 256 \\\n"
    "    --args 'x=f32[16384]:random(-1,1) y=f32[16384]:iota 2.5 16384' --profile rtx-2070\n"
    "occupipe predict saxpy.kernel.yaml --profile rtx-2070";

struct Request {
    KernelsInRequest kernel;
    std::string profile;
    std::string output;
    bool json = false;
    bool force = false;
};

// What predictions on the profile do about instructions that it has not got.
report::ProfileNames names_of(const Kernel& kernel, const GpuProfile& profile) {
    const analysis::Ready ready = analysis::ready(analysis::loaded_kernel("", kernel), profile, {},
                                                  {.pricing = analysis::MemoryPricing::none});
    report::ProfileNames names{.stand_ins = {}, .lacking = analysis::lacking(ready)};
    for (const analysis::Note& note : ready.notes)
        if (note.kind == analysis::Note::Kind::substitute)
            names.stand_ins.push_back(analysis::text(note));
    return names;
}

// What stands in the kernel; and what its instructions ask of the memory, and what the profile's
// caches find of that.
std::string told(const Request& request, const analysis::KernelIn& in,
                 const std::optional<GpuProfile>& profile) {
    std::optional<report::ProfileNames> names;
    if (profile) names = names_of(in.kernel(), *profile);
    const analysis::PricedMemory memory =
        analysis::memory_view(in.kernel(), profile.value_or(GpuProfile{}), {});
    if (request.json) {
        nlohmann::ordered_json json = report::to_json(in, names);
        if (!memory.rows.empty()) json["memory"] = report::memory_json(memory, nullptr);
        return json.dump(2) + "\n";
    }
    const std::string table = report::memory_table(memory, nullptr);
    return report::to_text(in, names) + (table.empty() ? "" : "\n" + table);
}

void extract_kernel(const Request& request) {
    const ExecutionRequest& execution = request.kernel.execution;
    const LaunchPlan plan = plan_of(execution);
    const std::string profile_file =
        request.profile.empty() ? "" : analysis::shipped_profile(request.profile).string();
    keep_apart({{"KERNELS", kernels_of(execution, plan)},
                {"--launch", execution.launch},
                {"--profile", profile_file}},
               {{"-o", request.output}});
    std::optional<GpuProfile> profile;
    if (!profile_file.empty()) profile = analysis::named_profile(profile_file);
    KernelsInRequest kernel = request.kernel;
    if (profile && !kernel.memory_cores) kernel.memory_cores = profile->cores;
    const analysis::KernelIn in = read_kernel_in(kernel, plan, profile ? &*profile : nullptr);
    const std::string text = told(request, in, profile);
    if (request.output.empty() && !request.json) {
        fmt::print("{}", format_kernel(in.kernel()));
        fmt::print(stderr, "{}", text);
        return;
    }
    if (!request.output.empty())
        write_text_file(request.output, format_kernel(in.kernel()),
                        request.force ? Overwrite::yes : Overwrite::no);
    fmt::print("{}", text);
}

}  // namespace

void add_extract(const Command& app) {
    const auto request = std::make_shared<Request>();
    const Command command =
        app.subcommand("extract", "Turn an executed CUDA kernel into a kernel file for 'predict'");
    add_help_end(command, {.text = about,
                           .exit_codes = {exit_limit_reached, exit_interrupted},
                           .examples = examples});
    add_execution_options(command, request->kernel.execution,
                          "Which kernel (default: that of the first launch)");
    add_extraction_options(command, request->kernel);
    command
        .add_option("--profile", request->profile,
                    "Call instructions as this GPU profile does, where there is a choice, and\n"
                    "say what it lacks")
        .type_name("PROFILE");
    command
        .add_option("--given cores|--cores", request->kernel.memory_cores,
                    "Cores of the GPU on which the groups meet in the caches (default: the\n"
                    "profile's; without either the file says nothing about memory)")
        .check(in_range(1, 100'000))
        .type_name("N");
    command
        .add_option("-o,--output", request->output,
                    "Where the kernel file goes (default: stdout, its contents in words to stderr)")
        .type_name("FILE");
    command.add_flag("--json", request->json,
                     "Print its contents as JSON; the kernel file goes to -o alone");
    command.add_flag("--force", request->force, "Replace the file if it exists");
    command.show_first({"--launch", "--grid", "--block", "--args", "--arch", "--kernel",
                        "--profile", "-o,--output", "--json", "--force"});
    command.callback([request] { extract_kernel(*request); });
}

}  // namespace occupipe::cli

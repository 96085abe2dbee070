// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "automatch/cli/commands.h"
#include "automatch/fit/fit_match.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/gpu_profile.h"
#include "core/measurement.h"
#include "fit/profile/build_profile.h"
#include "fit/profile/fit_report.h"

namespace occupipe::automatch {
namespace {

struct Request {
    std::vector<std::string> results;
    std::string output;
    std::string into;
    std::string report;
    bool force = false;
};

void refuse_existing(const std::string& path, bool force) {
    if (!path.empty() && !force && std::filesystem::exists(path))
        throw InputError(path, SourcePosition{}, "", "exists; --force replaces it");
}

// The section and where it comes from, into a profile of the same device.
void fit_into(const Request& request, const FitOutcome& outcome) {
    GpuProfile profile = read_profile(request.into);
    if (profile.device.name != outcome.profile.device.name)
        throw InputError(fmt::format("{}: is a profile of {}; what was measured is {}",
                                     request.into, profile.device.name,
                                     outcome.profile.device.name));
    profile.match = outcome.profile.match;
    auto& entries = profile.provenance.entries;
    auto own = std::ranges::find(entries, "notes", &AnnotationEntry::key);
    if (own == entries.end()) {  // before what was chosen by simulations, as in any profile
        const auto is_choice = [](const AnnotationEntry& e) { return e.key.ends_with("_choice"); };
        own =
            entries.insert(std::ranges::find_if(entries, is_choice), AnnotationEntry("notes", {}));
    }
    std::vector<Annotation> notes;
    for (const std::string& note : outcome.notes) {
        fmt::print("note: {}\n", note);
        Annotation one{.text = note, .items = {}, .entries = {}};
        if (std::ranges::find(own->value.items, one) == own->value.items.end())
            notes.push_back(std::move(one));
    }
    own->value.items.insert(own->value.items.begin(), notes.begin(), notes.end());
    write_text_file(request.into, format_profile(profile), Overwrite::yes);
    fmt::print(stderr, "wrote {}\n", request.into);
}

void run_fit(const Request& request) {
    if (request.output.empty() == request.into.empty())
        throw InputError(
            "where to? Give -o PROFILE.yaml for a new profile, or --into PROFILE.yaml");
    if (!request.into.empty() && !request.report.empty())
        throw InputError("--report: is of a new profile; leave out --into");
    std::vector<cli::NamedPath> inputs;
    cli::add_paths(inputs, "FILE.json", request.results);
    cli::keep_apart(
        inputs,
        {{"--output", request.output}, {"--into", request.into}, {"--report", request.report}});
    refuse_existing(request.output, request.force);
    refuse_existing(request.report, request.force);
    std::vector<MeasurementFile> files;
    for (const std::string& path : request.results) files.push_back(read_measurements(path));
    const FitOutcome outcome = fit_match_profile(files);
    if (!request.into.empty()) return fit_into(request, outcome);
    const Overwrite overwrite = request.force ? Overwrite::yes : Overwrite::no;
    write_text_file(request.output, format_profile(outcome.profile), overwrite);
    if (!request.report.empty())
        write_text_file(request.report, format_fit_report(outcome), overwrite);
    fmt::print("{}", format_fit_table(outcome));
    fmt::print(stderr, "wrote {}\n", request.output);
}

}  // namespace

void add_fit(const cli::Command& app) {
    const auto request = std::make_shared<Request>();
    const cli::Command command =
        app.subcommand("fit", "Make a profile's `match` section of what was measured");
    command.add_option("results", request->results, "Measurement files of one device (JSON)")
        .required()
        .type_name("FILE.json");
    command.add_option("-o,--output", request->output, "PROFILE.yaml to write")
        .type_name("PROFILE.yaml");
    command
        .add_option("--into", request->into,
                    "Instead, put the section into this profile of the same device")
        .type_name("PROFILE.yaml");
    command
        .add_option("--report", request->report,
                    "FILE.md to write: the device and where its numbers come from")
        .type_name("FILE.md");
    command.add_flag("--force", request->force, "Replace existing files");
    cli::add_help_end(
        command,
        {.text = "Input: what 'automatch measure' wrote. Output: a profile (YAML) with a `match` "
                 "section, or that\n"
                 "section in a profile that 'occupipe fit' made. docs/background/automatch.md has "
                 "what is "
                 "made of what.",
         .exit_codes = {},
         .examples = "automatch fit cpu.json -o cpu.yaml\n"
                     "automatch fit gpu-match.json --into gpu.yaml"});
    command.callback([request] { run_fit(*request); });
}

}  // namespace occupipe::automatch

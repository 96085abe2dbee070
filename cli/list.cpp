// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "analysis/device/open_device.h"
#include "analysis/validation/suite.h"
#include "ask/kernel_list.h"
#include "ask/shipped_files.h"
#include "bench/devices.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/files.h"
#include "published/shelf.h"
#include "report/text/list_instructions.h"
#include "report/text/model_table.h"
#include "report/text/text_table.h"
#include "sim/models/registry.h"

namespace occupipe::cli {
namespace {

using Json = nlohmann::ordered_json;

report::TextTable table_of(std::vector<std::string> header) {
    std::vector<report::Align> align(header.size(), report::Align::left);
    return {std::move(header), std::move(align), {}};
}

void print_json(const Json& json) { fmt::print("{}\n", json.dump(2)); }

void list_devices(bool json) {
    const auto devices = bench::list_devices();
    Json all = Json::array();
    report::TextTable table = table_of({"device", "type", "name", "cores", "driver"});
    for (const bench::DeviceFacts& facts : devices) {
        const char* type = facts.cpu ? "cpu" : "gpu";
        table.rows.push_back(
            {facts.id, type, facts.name, std::to_string(facts.cores), facts.driver});
        all.push_back({{"id", facts.id},
                       {"type", type},
                       {"name", facts.name},
                       {"vendor", facts.vendor},
                       {"compute_capability", facts.compute_capability},
                       {"cores", facts.cores},
                       {"driver", facts.driver}});
    }
    if (json) {
        print_json(all);
    } else if (!devices.empty()) {
        fmt::print("{}", report::plain_text(table));
    }
    if (devices.empty()) {
        throw NothingToRunOn(
            "no CUDA GPU and no OpenCL platform on this machine; install a driver (for a CPU: "
            "PoCL)");
    }
}

void list_models(bool json) {
    Json all = Json::array();
    report::TextTable table = table_of({"model", "source"});
    for (const Model& model : models()) {
        table.rows.push_back({std::string(model.name), std::string(model.citation)});
        Json aspects = Json::object();
        for (const ModelAspect& aspect : model_aspects())
            aspects[aspect.name] = model.aspects.*aspect.member;
        Json reads = Json::array();
        if (model.reads.hits) reads.insert(reads.end(), {"hit_rate", "hit_latency"});
        if (model.reads.requests) reads.push_back("requests_per_access");
        if (model.reads.dram) reads.push_back("dram_bytes_per_warp");
        if (model.reads.references) reads.push_back("references");
        all.push_back({{"name", model.name},
                       {"source", model.citation},
                       {"aspects", aspects},
                       {"reads", reads}});
    }
    json ? print_json(all) : fmt::print("{}", report::plain_text(table));
}

// The greatest relative error of a λ or Λ; absent: none is known.
std::optional<double> worst_error(const GpuProfile& profile) {
    std::optional<double> worst;
    for (const InstructionTiming& one : profile.instructions)
        for (const Estimate* const value : {&one.cpi, one.latency ? &*one.latency : nullptr})
            if (value != nullptr && value->std_error)
                worst = std::max(worst.value_or(0), *value->std_error / value->value);
    return worst;
}

// "measured", "published" or "mixed".
std::string how_made(const GpuProfile& profile) {
    const auto measured =
        std::ranges::count(profile.instructions, Source::measured, &InstructionTiming::source);
    if (profile.instructions.empty()) return "published";
    if (measured == 0) return "published";
    return std::cmp_equal(measured, profile.instructions.size()) ? "measured" : "mixed";
}

void list_profiles(const std::filesystem::path& folder, bool json) {
    const auto paths = folder.empty() ? analysis::shipped_profiles() : analysis::yaml_files(folder);
    if (paths.empty() && !folder.empty())
        throw InputError(fmt::format("{}: contains no profiles (*.yaml); name another --folder",
                                     folder.string()));
    Json all = Json::array();
    report::TextTable table = table_of(
        {"profile", "device", "architecture", "year", "made", "instructions", "worst error"});
    // `name`: as --profile takes it; JSON has `spelling`, of a file its path.
    const auto add = [&](const char* key, const std::string& spelling, const std::string& name,
                         const GpuProfile& profile, std::optional<int> year) {
        const auto worst = worst_error(profile);
        table.rows.push_back({name, profile.device.name, profile.device.architecture,
                              year ? std::to_string(*year) : "-", how_made(profile),
                              std::to_string(profile.instructions.size()),
                              worst ? fmt::format("{:.0f} %", 100 * *worst) : "not known"});
        Json one = {
            {key, spelling},
            {"device", profile.device.name},
            {"architecture", profile.device.architecture},
            {"compute_capability", profile.device.compute_capability},
            {"cores", profile.cores},
            {"warp_size", profile.warp_size},
            {"clock_hz", profile.clock_hz},
            {"instructions", profile.instructions.size()},
            {"source",
             profile.instructions.empty() ? "" : to_string(profile.instructions.front().source)},
            {"made", how_made(profile)}};
        if (year) one["year"] = *year;
        if (worst) one["worst_error"] = *worst;
        all.push_back(std::move(one));
    };
    for (const auto& path : paths) {
        const std::string stem = path.stem();
        const std::string card = stem.substr(stem.find('-') + 1);  // "h100" of nvidia-h100
        const bool shipped = folder.empty() && analysis::shipped_profile(card) == path;
        add("file", path.string(), shipped ? card : path.string(), read_profile(path), {});
    }
    if (folder.empty())
        for (const analysis::ShelfCard& card : analysis::built_in_shelf().cards) {
            const std::string spelling = analysis::shelf_spelling(card.id);
            add("name", spelling, spelling, analysis::shelf_profile(card), card.year);
        }
    json ? print_json(all) : fmt::print("{}", report::plain_text(table));
}

void list_kernels(bool json) {
    const std::vector<analysis::SuiteKernel> suite = analysis::shipped_suite();
    if (suite.empty()) throw InputError("no kernels found beside the program");
    Json all = Json::array();
    report::TextTable table = table_of({"kernel", "source", "published as", "what"});
    for (const analysis::SuiteKernel& one : suite) {
        table.rows.push_back({one.name, one.source.filename().string(), one.published, one.about});
        Json entry = {{"name", one.name},
                      {"about", one.about},
                      {"source", one.source.string()},
                      {"small", one.small.string()},
                      {"large", one.large.string()}};
        if (!one.published.empty()) entry["published"] = one.published;
        all.push_back(std::move(entry));
    }
    json ? print_json(all) : fmt::print("{}", report::plain_text(table));
}

// Of a file of the user.
void list_kernels_of(const std::string& path, bool json) {
    const std::vector<analysis::ListedKernel> kernels = analysis::kernels_of_file(path);
    if (kernels.empty()) throw InputError(path + ": there is no kernel in it");
    Json all = Json::array();
    report::TextTable table = table_of({"kernel", "where", "template", "parameters"});
    for (const analysis::ListedKernel& one : kernels) {
        table.rows.push_back({one.name, one.where, one.templates, one.parameters});
        Json entry = {{"name", one.name}, {"where", one.where}, {"parameters", one.parameters}};
        if (!one.templates.empty()) entry["template"] = one.templates;
        all.push_back(std::move(entry));
    }
    json ? print_json(all) : fmt::print("{}", report::plain_text(table));
}

}  // namespace

void add_list(const Command& app) {
    struct Arguments {
        report::InstructionListing instructions;
        std::string folder;
        std::string file;
        bool json = false;
        bool aspects = false;
    };
    auto arguments = std::make_shared<Arguments>();
    const Command command =
        app.subcommand("list", "List devices, instructions, models, profiles or kernels");
    add_help_end(command, {.text = "Output: a table on stdout, or JSON with --json.",
                           .exit_codes = {exit_nothing_to_run_on},
                           .examples = "occupipe list devices\n"
                                       "occupipe list instructions --arch sm_75,sm_90\n"
                                       "occupipe list kernels saxpy.cu\n"
                                       "occupipe list profiles"});
    command.callback([command] {
        if (!command.chose_subcommand()) {
            throw InputError(
                "list what? devices, instructions, models, profiles or kernels; see 'occupipe list "
                "--help'");
        }
    });
    const auto add = [&](const char* name, const char* about, std::function<void()> run) {
        const Command what = command.subcommand(name, about);
        what.add_flag("--json", arguments->json, "Print JSON");
        what.callback(std::move(run));
        return what;
    };
    add("devices", "Devices of this machine that can be measured",
        [arguments] { list_devices(arguments->json); });
    const Command instructions = add(
        "instructions",
        "Instructions that can be measured, on which devices, and why not on others", [arguments] {
            arguments->instructions.json = arguments->json;
            report::list_instructions(arguments->instructions);
        });
    const Option device =
        instructions.add_option("--device", arguments->instructions.device, analysis::device_help)
            .type_name("DEVICE");
    instructions.add_option("--kernels", arguments->instructions.kernels, analysis::kernels_help)
        .needs(device)
        .type_name("PATH");
    instructions
        .add_option("--arch", arguments->instructions.architectures,
                    "NVIDIA architectures, such as sm_75,sm_90; no such GPU is needed")
        .delimiter(',')
        .excludes(device)
        .type_name("ARCH");
    add("models", "Performance models that predict and compare offer",
        [arguments] {
            if (arguments->aspects)
                fmt::print("{}", report::model_aspect_table());
            else
                list_models(arguments->json);
        })
        .add_flag("--all|--aspects", arguments->aspects,
                  "Print what each model takes into account, as Markdown");
    add("kernels", "Kernels of the suite, with launch files at two sizes; or of a file",
        [arguments] {
            arguments->file.empty() ? list_kernels(arguments->json)
                                    : list_kernels_of(arguments->file, arguments->json);
        })
        .add_option("file", arguments->file,
                    "Source (.cu, .cuh), PTX, machine code or what holds some: its kernels and\n"
                    "templates of kernels, without compiling it")
        .type_name("FILE");
    add("profiles", "GPU profiles that come with the program",
        [arguments] { list_profiles(arguments->folder, arguments->json); })
        .add_option("--folder", arguments->folder,
                    "Folder to look in (default: the profiles that come with the program)")
        .type_name("FOLDER");
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ask/assumed_latency.h"
#include "ask/question.h"
#include "ask/shipped_files.h"
#include "ask/what_if.h"
#include "core/error.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;

bool same_file(const fs::path& a, const fs::path& b) {
    std::error_code fault;
    if (fs::equivalent(a, b, fault) && !fault) return true;
    std::error_code fault_a;
    std::error_code fault_b;
    const fs::path full_a = fs::weakly_canonical(fs::absolute(a), fault_a);
    const fs::path full_b = fs::weakly_canonical(fs::absolute(b), fault_b);
    return !fault_a && !fault_b && full_a == full_b;
}

std::vector<fs::path> files_behind(const fs::path& input) {
    std::error_code none;
    if (!fs::is_directory(input, none)) return {input};
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(input, none)) {
        const fs::path extension = entry.path().extension();
        if (extension == ".json" || extension == ".yaml" || extension == ".yml")
            files.push_back(entry.path());
    }
    return files;
}

}  // namespace

namespace {

// Whether writing this output may write this file.
bool may_write(const NamedPath& output, const fs::path& file) {
    if (same_file(output.path, file)) return true;
    if (std::ranges::find(output.fills, file.extension().string()) == output.fills.end())
        return false;
    const fs::path folder = file.parent_path();
    return same_file(output.path, folder.empty() ? fs::path(".") : folder);
}

}  // namespace

void keep_apart(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        if (output->path.empty()) continue;
        for (const NamedPath& input : inputs) {
            if (input.path.empty()) continue;
            std::vector<fs::path> files = files_behind(input.path);
            files.push_back(input.path);
            for (const fs::path& file : files)
                if (may_write(*output, file))
                    throw InputError(fmt::format(
                        "{} {}: is {}, which is read ({}); choose another name", output->name,
                        output->path.string(), file.string(), input.name));
        }
        for (auto other = outputs.begin(); other != output; ++other)
            if (!other->path.empty() &&
                (may_write(*output, other->path) || may_write(*other, output->path)))
                throw InputError(fmt::format("{} {}: is what {} writes, too; choose another name",
                                             output->name, output->path.string(), other->name));
    }
}

void add_paths(std::vector<NamedPath>& inputs, const std::string& name,
               const std::vector<std::string>& paths) {
    for (const std::string& path : paths) inputs.push_back({name, path});
}

NamedPath device_file(const std::string& device) {
    constexpr std::string_view model = "model:";
    if (!device.starts_with(model)) return {"--device", {}};
    const std::string path = device.substr(model.size(), device.find('?') - model.size());
    return {"--device", analysis::shipped_profile(path)};
}

void add_help_end(const Command& command, const HelpEnd& end) {
    std::string codes = "0 ok, 1 failed, 2 wrong usage or bad input";
    const std::set<ExitCode> others(end.exit_codes.begin(), end.exit_codes.end());
    if (others.contains(exit_nothing_to_run_on)) codes += ", 3 no device to run on";
    if (others.contains(exit_limit_reached)) codes += ", 4 no answer within --limit";
    if (others.contains(exit_device_lost))
        codes +=
            ",\n  5 the device was lost at one point, which is recorded: run the same command "
            "again to go on";
    if (others.contains(exit_moved)) codes += ", 6 a number moved";
    if (others.contains(exit_interrupted)) codes += ", 130 interrupted";
    std::string examples = end.examples;
    for (std::size_t at = 0; (at = examples.find('\n', at)) != std::string::npos; at += 3)
        examples.insert(at + 1, "  ");
    command.footer(
        fmt::format("{}\n\nExit codes: {}.\n\nExamples:\n  {}\n", end.text, codes, examples));
}

void add_plot_option(const Command& command, std::string& path, const std::string& picture) {
    command.add_option("--plot", path, "Draw to FILE.svg, .png or .html with gnuplot: " + picture)
        .type_name("FILE");
}

namespace {

void add_changes(const Command& command, const char* name, std::vector<std::string>& changes,
                 const char* help, const char* type, const std::string& group) {
    const Option option = command.add_option(name, changes, help).type_name(type).one_value_each();
    if (!group.empty()) option.group(group);
}

}  // namespace

void add_use_option(const Command& command, analysis::ProfileChanges& changes,
                    const std::string& group) {
    add_changes(command, "--use", changes.uses, analysis::use_help, "OP=INSTRUCTION", group);
}

void add_assume_latency_option(const Command& command, analysis::ProfileChanges& changes,
                               const std::string& group) {
    add_changes(command, "--assume-latency", changes.classes, analysis::assume_latency_help,
                "CLASS", group);
}

void add_set_option(const Command& command, analysis::ProfileChanges& changes,
                    const std::string& group) {
    add_changes(command, "--set", changes.what_ifs, analysis::what_if_help, "NAME=VALUE", group);
}

void add_change_options(const Command& command, analysis::ProfileChanges& changes,
                        const std::string& group) {
    add_use_option(command, changes, group);
    add_assume_latency_option(command, changes, group);
    add_set_option(command, changes, group);
}

bool CacheOptions::given() const {
    return std::ranges::any_of(bytes, [](const auto& one) { return one.has_value(); });
}

analysis::CacheSizes CacheOptions::sizes() const {
    analysis::CacheSizes sizes;
    for (std::size_t cache = 0; cache < bytes.size(); ++cache) {
        const std::string name(analysis::cache_levels()[cache].name);
        if (bytes[cache]) sizes[name] = {*bytes[cache], "--cache " + name};
    }
    return sizes;
}

std::vector<Option> add_cache_options(const Command& command, CacheOptions& caches,
                                      const std::string& group) {
    caches.bytes.resize(analysis::cache_levels().size());
    std::vector<Option> options;
    for (std::size_t cache = 0; cache < caches.bytes.size(); ++cache) {
        const analysis::LevelRow& level = analysis::cache_levels()[cache];
        const bool of_core = level.sharer == analysis::Sharer::core;
        std::string nth(level.nth);
        nth.front() = static_cast<char>(std::toupper(nth.front()));
        options.push_back(
            command
                .add_option(fmt::format("--cache {0}|--{0}-bytes", level.name), caches.bytes[cache],
                            fmt::format("{}-level cache{} (default: as the profile tells)", nth,
                                        of_core ? " of a core, without shared memory" : ""))
                .check(positive_number())
                .type_name("BYTES"));
        if (!group.empty()) options.back().group(group);
    }
    return options;
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "ask/launch_choice.h"
#include "ask/shipped_files.h"
#include "core/error.h"

namespace occupipe::cli {
namespace {

constexpr int most_warps = 65'536;  // the simulator's limit

int parse_warps(const std::string& list, std::string_view text) {
    int value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size() || value < 1 || value > most_warps)
        throw InputError(fmt::format("--occupancy {}: '{}' is not a number of warps from 1 to {}",
                                     list, text, most_warps));
    return value;
}

// A range means the multiples of the group size in it; a single number must be one.
void add_range(const std::string& list, std::string_view part, int group_warps,
               std::set<int>& concurrent) {
    const std::size_t dash = part.find('-');
    const int low = parse_warps(list, part.substr(0, dash));
    const int high =
        dash == std::string_view::npos ? low : parse_warps(list, part.substr(dash + 1));
    if (low > high)
        throw InputError(
            fmt::format("--occupancy {}: {} is above {}; write {}-{}", list, low, high, high, low));
    bool any = false;
    for (int warps = low; warps <= high; ++warps) {
        if (warps % group_warps != 0) continue;
        concurrent.insert(warps / group_warps);
        any = true;
    }
    if (!any)
        throw InputError(
            fmt::format("--occupancy {}: '{}' contains no multiple of the group size, "
                        "{} warps",
                        list, part, group_warps));
}

std::set<int> listed_occupancies(const std::string& list, int group_warps) {
    std::set<int> concurrent;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        add_range(list, std::string_view(list).substr(begin, end - begin), group_warps, concurrent);
        begin = end + 1;
    }
    return concurrent;
}

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

std::vector<Launch> launches(const LaunchOptions& options, const Kernel& kernel,
                             const GpuProfile& profile, std::vector<std::string>& assumptions) {
    analysis::LaunchChoice choice{.group_warps = options.group_warps,
                                  .concurrent_groups = options.concurrent_groups,
                                  .groups = options.groups};
    if (!options.occupancy) return {analysis::chosen_launch(choice, kernel, profile, assumptions)};
    const int group_warps =
        options.group_warps.value_or(kernel.launch.value_or(Launch()).group_warps);
    const std::set<int> concurrent = *options.occupancy == "all"
                                         ? analysis::all_occupancies(group_warps, profile)
                                         : listed_occupancies(*options.occupancy, group_warps);
    std::vector<Launch> result;
    for (const int groups : concurrent) {
        choice.concurrent_groups = groups;
        result.push_back(analysis::chosen_launch(choice, kernel, profile, assumptions));
    }
    return result;
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_codes.h"
#include "cli/option.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"

namespace occupipe::cli {

// What follows the options in a command's --help.
struct HelpEnd {
    const char* text;  // input, output and what a reader must know, in lines of at most 90 columns
    std::vector<ExitCode> exit_codes;  // besides 0, 1 and 2, which every command has
    const char* examples;              // commands to paste, a line each
};

void add_help_end(const Command& command, const HelpEnd& end);

struct NamedPath {
    std::string name;            // as in a message: "--output", "RESULTS"
    std::filesystem::path path;  // empty = not given
    // Of an output that is a folder: files of these extensions are written into it, under names
    // that are not known yet. Empty: the path is a file.
    std::vector<std::string> fills = {};
};

// Throws InputError when writing an output would replace an input or another output, however the
// paths are spelt (./, links), or lies in a folder that an output fills with files of its
// extension, or is that folder; --force does not change that. An input that is a folder stands for
// its .json, .yaml and .yml files. To be called before anything is read or measured.
void keep_apart(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

// Several paths of one argument, as inputs.
void add_paths(std::vector<NamedPath>& inputs, const std::string& name,
               const std::vector<std::string>& paths);
// The profile of `--device model:PROFILE.yaml?…`; an empty path for any other device.
NamedPath device_file(const std::string& device);

// Adds --plot. `picture` says what is drawn, for the help text.
void add_plot_option(const Command& command, std::string& path, const std::string& picture);

// The launch from the command line; what is absent comes from the kernel file.
struct LaunchOptions {
    std::optional<int> group_warps;
    std::optional<int> concurrent_groups;
    std::optional<std::int64_t> groups;
    std::optional<std::string> occupancy;  // "all", or a list such as "1-10" or "4,8,16" [warps]
};

// The launches to predict: one, or one per occupancy. Without any number of groups each core runs
// as many as it holds at once. A launch that is the kernel file's alone is made to fit the
// profile's limits where that leaves its work as it is, and the assumptions say so. Throws
// InputError when the limits do not admit a launch.
std::vector<Launch> launches(const LaunchOptions& options, const Kernel& kernel,
                             const GpuProfile& profile, std::vector<std::string>& assumptions);

}  // namespace occupipe::cli

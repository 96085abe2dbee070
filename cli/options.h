// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ask/memory_levels.h"
#include "cli/exit_codes.h"
#include "cli/option.h"

namespace occupipe::analysis {
struct ProfileChanges;
}  // namespace occupipe::analysis

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

// Adds --use, --assume-latency and --set, or one of them; `group`: of --help, empty: the first.
void add_change_options(const Command& command, analysis::ProfileChanges& changes,
                        const std::string& group = "");
void add_use_option(const Command& command, analysis::ProfileChanges& changes,
                    const std::string& group = "");
void add_assume_latency_option(const Command& command, analysis::ProfileChanges& changes,
                               const std::string& group = "");
void add_set_option(const Command& command, analysis::ProfileChanges& changes,
                    const std::string& group = "");

// Sizes that --cache l1=BYTES and --cache l2=BYTES give; absent: not known from there.
// --cache l1, l2, … of the levels in memory_levels().
struct CacheOptions {
    std::vector<std::optional<double>> bytes;

    bool given() const;
    analysis::CacheSizes sizes() const;
};
std::vector<Option> add_cache_options(const Command& command, CacheOptions& caches,
                                      const std::string& group = "");

}  // namespace occupipe::cli

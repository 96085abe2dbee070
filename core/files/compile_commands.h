// SPDX-License-Identifier: MIT
// How a project compiles a file: compile_commands.json, as CMake and others write it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace occupipe {

// Options of the file's entry that matter to what a compiler sees: -I, -isystem, -D, -U, -include,
// -std, and NVIDIA's that change the code; paths are absolute. Empty where the file has no entry.
// Throws InputError where the text is no such file.
std::vector<std::string> compile_commands_options(const std::string& text,
                                                  const std::filesystem::path& name,
                                                  const std::filesystem::path& source);

// Of the compile_commands.json in the source's folder or the nearest one above it, or in `build`
// of one of these. Empty where there is none.
std::vector<std::string> options_of_project(const std::filesystem::path& source);

}  // namespace occupipe

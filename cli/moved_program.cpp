// SPDX-License-Identifier: MIT
#include "cli/moved_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "core/files/files.h"
#include "core/run_tool.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;

fs::path own_folder() {
    std::error_code none;
    return fs::read_symlink("/proc/self/exe", none).parent_path();
}

// In the same folder where it is installed or unpacked, in the next one in a build tree.
std::optional<fs::path> find_automatch() {
    const fs::path folder = own_folder();
    std::error_code none;
    for (const fs::path& program :
         {folder / "automatch", folder.parent_path() / "automatch" / "automatch"})
        if (fs::is_regular_file(program, none)) return program;
    return std::nullopt;
}

fs::path automatch_program() {
    if (const auto program = find_automatch()) return *program;
    throw std::runtime_error(
        fmt::format("{}: no such program; AutoMatch's commands need it beside this one (it is "
                    "built and installed with it)",
                    (own_folder() / "automatch").string()));
}

}  // namespace

bool has_automatch() { return find_automatch().has_value(); }

void become_automatch(const std::vector<std::string>& words) {
    const fs::path program = automatch_program();
    std::vector<std::string> all = {"automatch"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::fflush(stdout);
    ::execv(program.c_str(), arguments.data());
    throw std::runtime_error(
        fmt::format("{}: cannot be run: {}", program.string(), std::strerror(errno)));
}

AutomatchRun run_automatch(const std::vector<std::string>& words) {
    const WorkFolder folder;
    const fs::path said = folder.path / "said";
    const int code = run_tool(automatch_program(), words, said);
    return {code, read_text_file(said)};
}

void run_moved_command(const std::vector<std::string>& words) {
    if (words.empty()) return;
    std::vector<std::string> rest(words.begin() + 1, words.end());
    if (words.front() == "match") {
        fmt::print(stderr, "occupipe: note: 'occupipe match' is 'automatch predict' by now\n");
        rest.insert(rest.begin(), "predict");
        become_automatch(rest);
    }
    const auto options_end = std::ranges::find(rest, "--");
    const auto match = std::find_if(rest.begin(), options_end, [](const std::string& word) {
        return word == "--match" || word == "--match=true";
    });
    if (words.front() == "measure" && match != options_end) {
        rest.erase(match);
        fmt::print(stderr,
                   "occupipe: note: 'occupipe measure --match' is 'automatch measure' by now\n");
        rest.insert(rest.begin(), "measure");
        become_automatch(rest);
    }
}

}  // namespace occupipe::cli

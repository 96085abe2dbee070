// SPDX-License-Identifier: MIT
#include "core/run_tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "core/error.h"

extern char** environ;

namespace occupipe {

namespace fs = std::filesystem;

WorkFolder::WorkFolder() {
    std::string name = (fs::temp_directory_path() / "occupipe-compile-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw std::runtime_error(fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
    path = name;
}

WorkFolder::~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

int run_tool(const fs::path& program, const std::vector<std::string>& arguments,
             const fs::path& said, const fs::path& temporary) {
    std::vector<std::string> words = {program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::string variable = "TMPDIR=" + temporary.string();
    std::vector<char*> environment;
    for (char** one = environ; *one != nullptr; ++one)
        if (temporary.empty() || !std::string_view(*one).starts_with("TMPDIR="))
            environment.push_back(*one);
    if (!temporary.empty()) environment.push_back(variable.data());
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int fault =
        posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (fault != 0)
        throw DeviceError(
            fmt::format("{}: cannot be run: {}", program.string(), std::strerror(fault)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace occupipe

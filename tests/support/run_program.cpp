// SPDX-License-Identifier: MIT
#include "tests/support/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace occupipe::cli::testing {
namespace {

std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

[[noreturn]] void become_program(std::vector<std::string> words,
                                 const std::vector<std::string>& environment,
                                 const std::string& out, const std::string& err) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(open(out.c_str(), flags, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), flags, 0600), STDERR_FILENO);
    if (chdir(OCCUPIPE_SOURCE_DIR) == 0) execv(argv[0], argv.data());
    _exit(127);
}

}  // namespace

ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment, double signal_after_s,
                       int signal) {
    std::string folder = (std::filesystem::temp_directory_path() / "occupipe-run-XXXXXX").string();
    if (!mkdtemp(folder.data())) throw std::runtime_error("no temporary folder");
    std::vector<std::string> words = {OCCUPIPE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const pid_t child = fork();
    if (child == 0) become_program(words, environment, folder + "/out", folder + "/err");
    if (signal_after_s > 0) {
        usleep(static_cast<useconds_t>(signal_after_s * 1e6));
        kill(child, signal);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ProgramRun run{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                   .out = text_of(folder + "/out"),
                   .err = text_of(folder + "/err")};
    std::filesystem::remove_all(folder);
    return run;
}

bool program_has_nvrtc() {
    return run_program({"--version"}).out.find("\nNVRTC ") != std::string::npos;
}

}  // namespace occupipe::cli::testing

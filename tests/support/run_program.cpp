// SPDX-License-Identifier: MIT
#include "tests/support/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
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

// A program under way, and the folder where it writes.
class Started {
public:
    Started(const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment) {
        folder_ = (std::filesystem::temp_directory_path() / "occupipe-run-XXXXXX").string();
        if (!mkdtemp(folder_.data())) throw std::runtime_error("no temporary folder");
        std::vector<std::string> words = {OCCUPIPE_PROGRAM};
        words.insert(words.end(), arguments.begin(), arguments.end());
        child_ = fork();
        if (child_ == 0) become_program(words, environment, folder_ + "/out", folder_ + "/err");
    }

    std::string err() const { return text_of(folder_ + "/err"); }
    void send(int signal) const { kill(child_, signal); }
    // Whether it has ended; it can be waited for all the same.
    bool ended() const {
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT);
        return info.si_pid != 0;
    }

    ProgramRun wait() const {
        int status = 0;
        rusage used{};
        wait4(child_, &status, 0, &used);
        ProgramRun run{
            .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = text_of(folder_ + "/out"),
            .err = err(),
            .peak_bytes = 1024.0 * static_cast<double>(used.ru_maxrss)};
        std::filesystem::remove_all(folder_);
        return run;
    }

private:
    std::string folder_;
    pid_t child_ = -1;
};

}  // namespace

ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment, double signal_after_s,
                       int signal) {
    const Started program(arguments, environment);
    if (signal_after_s > 0) {
        usleep(static_cast<useconds_t>(signal_after_s * 1e6));
        program.send(signal);
    }
    return program.wait();
}

ProgramRun run_program_until(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment,
                             const std::string& awaited, int signal) {
    const Started program(arguments, environment);
    while (!program.ended() && program.err().find(awaited) == std::string::npos) usleep(20'000);
    program.send(signal);  // one that has ended is still there to take it
    return program.wait();
}

bool program_has_nvrtc() {
    return run_program({"--version"}).out.find("\nNVRTC ") != std::string::npos;
}

}  // namespace occupipe::cli::testing

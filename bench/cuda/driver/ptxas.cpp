// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/ptxas.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bench/cuda/driver/find_cuda.h"
#include "core/error.h"
#include "core/files/files.h"

extern char** environ;

namespace occupipe::bench {
namespace {

namespace fs = std::filesystem;

// Gone with the object.
class WorkFolder {
public:
    WorkFolder() {
        std::string name = (fs::temp_directory_path() / "occupipe-ptxas-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw std::runtime_error(
                fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
        path = name;
    }
    ~WorkFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    fs::path path;
};

// Its exit code; what it says goes to the file.
int run(const fs::path& program, const std::vector<std::string>& arguments, const fs::path& said) {
    std::vector<std::string> words = {program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int fault = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (fault != 0)
        throw DeviceError(fmt::format("ptxas: {}: {}", program.string(), std::strerror(fault)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

NvrtcOutput assemble_ptx(const std::string& ptx, const std::string& architecture,
                         const std::vector<std::string>& options) {
    const Surroundings here = Surroundings::of_this_process();
    if (here.variable("OCCUPIPE_NVRTC") == nvrtc_hidden)
        throw DeviceError("ptxas: not searched, because OCCUPIPE_NVRTC is 'none'");
    const auto program = find_cuda_tool("ptxas", here);
    if (!program)
        throw DeviceError(
            "ptxas: not found, and PTX needs it (tools/setup.sh --wheels fetches it; "
            "docs/cuda.md lists where it is searched)");
    const WorkFolder folder;
    const fs::path text = folder.path / "kernel.ptx";
    const fs::path code = folder.path / "kernel.cubin";
    const fs::path said = folder.path / "messages.txt";
    write_text_file(text, ptx, Overwrite::no);
    std::vector<std::string> arguments = {"--gpu-name=" + architecture,
                                          "--output-file=" + code.string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(text.string());
    const int exit_code = run(*program, arguments, said);
    NvrtcOutput output;
    output.log = read_text_file(said);
    output.compiler = "ptxas";
    if (exit_code != 0)
        throw CompileError(fmt::format("ptxas for {}: {}", architecture,
                                       output.log.empty() ? "it failed" : output.log));
    output.ptx = ptx;
    output.cubin = read_text_file(code);
    return output;
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "plot/draw.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "core/files/files.h"

namespace occupipe::plot {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "occupipe-plot-XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw std::runtime_error(
                fmt::format("cannot make a temporary folder {}: {}", name, std::strerror(errno)));
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

// What a spawned process opens.
class FileActions {
public:
    FileActions() { posix_spawn_file_actions_init(&actions_); }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    void open(int descriptor, const char* path, int flags) {
        posix_spawn_file_actions_addopen(&actions_, descriptor, path, flags, 0600);
    }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

constexpr const char* missing =
    "gnuplot is not installed, and drawing needs it; on Debian and Ubuntu: apt-get install "
    "gnuplot-nox";

// A text of gnuplot's: only ' means something in it, and is doubled.
std::string quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2)
        text.insert(at, 1, '\'');
    return "'" + text + "'";
}

// No shell: no text of a user's stands outside the script. gnuplot itself goes to the folder, since
// posix_spawn() can do so only from glibc 2.29 on.
void run_gnuplot(const fs::path& folder) {
    const std::string messages_file = (folder / "messages.txt").string();
    FileActions actions;
    actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    actions.open(STDOUT_FILENO, "/dev/null", O_WRONLY);
    actions.open(STDERR_FILENO, messages_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    std::string program = "gnuplot";
    std::string defaults = "-d";  // no start-up files of the user's
    std::string command = "-e";
    std::string go = "cd " + quoted(folder.string());
    std::string script = (folder / "script.gp").string();
    const std::array<char*, 6> arguments = {program.data(), defaults.data(), command.data(),
                                            go.data(),      script.data(),   nullptr};
    pid_t child = 0;
    const int error =
        posix_spawnp(&child, program.c_str(), actions.get(), nullptr, arguments.data(), environ);
    if (error == ENOENT) throw std::runtime_error(missing);
    if (error != 0)
        throw std::runtime_error(fmt::format("gnuplot does not start: {}", std::strerror(error)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            throw std::runtime_error(fmt::format("waiting for gnuplot: {}", std::strerror(errno)));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) throw std::runtime_error(missing);
    throw std::runtime_error(fmt::format("gnuplot failed: {}", fs::exists(messages_file)
                                                                   ? read_text_file(messages_file)
                                                                   : "no message"));
}

}  // namespace

std::vector<std::string> draw(std::span<const Picture> pictures, ImageFormat format) {
    const std::string script = gnuplot_script(pictures, format);
    const TemporaryFolder folder;
    write_text_file(folder.path() / "script.gp", script, Overwrite::no);
    run_gnuplot(folder.path());
    std::vector<std::string> images;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        const fs::path file = folder.path() / fmt::format("{}.{}", i, extension(format));
        if (!fs::exists(file) || fs::file_size(file) == 0)
            throw std::runtime_error(fmt::format("gnuplot drew nothing for '{}': {}",
                                                 pictures[i].description,
                                                 read_text_file(folder.path() / "messages.txt")));
        images.push_back(read_text_file(file));
    }
    return images;
}

}  // namespace occupipe::plot

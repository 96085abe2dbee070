// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/find_cuda.h"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>

#include "core/text.h"

namespace occupipe::bench {
namespace {

using std::filesystem::path;

// Names in a pattern of glob(3) that stand for themselves.
std::string escaped(const path& name) {
    std::string text;
    for (const char c : name.string()) {
        if (std::string_view("*?[]{}\\,").find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
    return text;
}

// Everything that matches, last in the order of names first: the newest version.
std::vector<path> matches(const std::string& pattern) {
    glob_t found = {};
    std::vector<path> paths;
    if (glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0) {
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    }
    globfree(&found);
    std::ranges::reverse(paths);
    return paths;
}

// Collects folders that exist, each once.
class Folders {
public:
    explicit Folders(const Surroundings& from) : from_(from) {}

    void add(const path& folder) {
        std::error_code none;
        const path whole = std::filesystem::canonical(folder, none);
        if (none || !std::filesystem::is_directory(whole, none)) return;
        if (std::ranges::find(found_, whole) == found_.end()) found_.push_back(whole);
    }
    void add_matches(const std::string& pattern) {
        for (const path& folder : matches(pattern)) add(folder);
    }
    // All wheels of NVIDIA that are unpacked in a folder of Python packages.
    void add_packages(const path& folder) { add_matches(escaped(folder) + "/nvidia/*"); }
    // …of all package folders of a Python installation or virtual environment.
    void add_python(const path& prefix) {
        add_matches(escaped(prefix) + "/lib/python3*/{site,dist}-packages/nvidia/*");
    }
    path fixed(const char* place) const { return from_.root / path(place).relative_path(); }
    std::vector<path> take() { return std::move(found_); }

private:
    const Surroundings& from_;
    std::vector<path> found_;
};

// Every program of this name on $PATH.
std::vector<path> on_path(const Surroundings& from, std::string_view name) {
    std::vector<path> found;
    const std::string folders = from.variable("PATH").value_or("");
    for (const std::string_view folder : words_in(folders, ":")) {
        const path file = path(folder) / name;
        std::error_code none;
        if (std::filesystem::is_regular_file(file, none) && access(file.c_str(), X_OK) == 0) {
            found.push_back(file);
        }
    }
    return found;
}

// Two folders up from a program, both from where its name lies and from where its links lead.
std::vector<path> prefixes_of(const path& program) {
    std::error_code none;
    std::vector<path> prefixes = {program.parent_path().parent_path()};
    const path whole = std::filesystem::canonical(program, none);
    if (!none) prefixes.push_back(whole.parent_path().parent_path());
    return prefixes;
}

void add_toolkits(const Surroundings& from, Folders& folders) {
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const auto value = from.variable(name)) folders.add(*value);
    }
    for (const path& nvcc : on_path(from, "nvcc")) {
        for (const path& prefix : prefixes_of(nvcc)) folders.add(prefix);
    }
    folders.add(folders.fixed("/usr/local/cuda"));
    folders.add_matches(escaped(folders.fixed("/usr/local")) + "/cuda-*");
    folders.add(folders.fixed("/opt/cuda"));
}

void add_own_wheels(const Surroundings& from, Folders& folders) {
    if (const auto value = from.variable("OCCUPIPE_CUDA_WHEELS")) folders.add_packages(*value);
    // build/PRESET/cli/occupipe, and the tests' programs, stand two levels below build/.
    path above = from.program.parent_path();
    for (int level = 0; level < 4 && above.has_relative_path(); ++level) {
        folders.add_packages(above / "cuda-wheels");
        above = above.parent_path();
    }
}

void add_python_wheels(const Surroundings& from, Folders& folders) {
    const std::string entries = from.variable("PYTHONPATH").value_or("");
    for (const std::string_view entry : words_in(entries, ":")) {
        folders.add_packages(entry);
    }
    if (const auto value = from.variable("VIRTUAL_ENV")) folders.add_python(*value);
    if (const auto value = from.variable("CONDA_PREFIX")) {
        folders.add_python(*value);
        folders.add(*value);
    }
    for (const path& python : on_path(from, "python3")) {
        for (const path& prefix : prefixes_of(python)) folders.add_python(prefix);
    }
    if (const auto home = from.variable("HOME")) {
        folders.add_python(path(*home) / ".local");
        folders.add_matches(escaped(path(*home) / ".pyenv/versions") +
                            "/*/lib/python3*/site-packages/nvidia/*");
    }
    for (const char* prefix : {"/usr/local", "/usr", "/opt/conda"}) {
        folders.add_python(folders.fixed(prefix));
    }
}

}  // namespace

Surroundings Surroundings::of_this_process() {
    std::error_code none;
    return {.variable = [](const char* name) -> std::optional<std::string> {
                const char* value = std::getenv(name);
                if (!value || !*value) return std::nullopt;
                return value;
            },
            .program = std::filesystem::read_symlink("/proc/self/exe", none)};
}

std::vector<path> cuda_folders(const Surroundings& from) {
    Folders folders(from);
    add_toolkits(from, folders);
    add_own_wheels(from, folders);
    add_python_wheels(from, folders);
    return folders.take();
}

std::vector<std::string> nvrtc_names(const Surroundings& from) {
    if (const auto chosen = from.variable("OCCUPIPE_NVRTC")) {
        if (*chosen == nvrtc_hidden) return {};
        return {*chosen};
    }
    constexpr std::array tested = {"libnvrtc.so.13", "libnvrtc.so.12"};
    constexpr std::array others = {"libnvrtc.so"};  // may be of any version
    const std::vector<path> folders = cuda_folders(from);
    std::vector<std::string> names;
    const auto add_all = [&](const auto& files) {
        names.insert(names.end(), files.begin(), files.end());
        for (const path& folder : folders) {
            for (const char* library : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
                for (const char* file : files) {
                    const path whole = folder / library / file;
                    std::error_code none;
                    if (std::filesystem::exists(whole, none)) names.push_back(whole.string());
                }
            }
        }
    };
    add_all(tested);
    add_all(others);
    return names;
}

std::optional<path> find_cuda_tool(std::string_view name, const Surroundings& from) {
    std::vector<path> found = on_path(from, name);
    for (const path& folder : cuda_folders(from)) {
        const path file = folder / "bin" / name;
        if (access(file.c_str(), X_OK) == 0) found.push_back(file);
    }
    if (found.empty()) return std::nullopt;
    return found.front();
}

}  // namespace occupipe::bench

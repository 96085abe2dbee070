// SPDX-License-Identifier: MIT
#include "program/executable.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::program {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view runtime = "libcudart.so.";
constexpr std::string_view replaced_runtimes[] = {"libcudart.so.12", "libcudart.so.13"};

template <typename T>
T at(std::string_view bytes, std::size_t offset) {
    T value{};
    if (offset > bytes.size() || bytes.size() - offset < sizeof value)
        throw InputError("a broken ELF file");
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::string_view text_at(std::string_view bytes, std::size_t offset) {
    if (offset >= bytes.size()) throw InputError("a broken ELF file");
    bytes.remove_prefix(offset);
    return bytes.substr(0, bytes.find('\0'));
}

std::string_view bytes_of(std::string_view file, const Elf64_Shdr& section) {
    if (section.sh_offset > file.size() || file.size() - section.sh_offset < section.sh_size)
        throw InputError("a broken ELF file");
    return file.substr(section.sh_offset, section.sh_size);
}

void read_dynamic(std::string_view entries, std::string_view names, Executable& found) {
    for (std::size_t i = 0; i + sizeof(Elf64_Dyn) <= entries.size(); i += sizeof(Elf64_Dyn)) {
        const auto entry = at<Elf64_Dyn>(entries, i);
        if (entry.d_tag == DT_NEEDED) found.needs.emplace_back(text_at(names, entry.d_un.d_val));
        if (entry.d_tag == DT_RPATH) found.fixed_search = true;
    }
}

void read_sections(std::string_view file, Executable& found) {
    const auto header = at<Elf64_Ehdr>(file, 0);
    if (header.e_ident[EI_CLASS] != ELFCLASS64) throw InputError("a program for 32 bits");
    const auto section = [&](std::size_t number) {
        return at<Elf64_Shdr>(file, header.e_shoff + number * sizeof(Elf64_Shdr));
    };
    if (header.e_shnum == 0) return;
    const std::string_view names = bytes_of(file, section(header.e_shstrndx));
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr one = section(i);
        if (text_at(names, one.sh_name) == ".nv_fatbin" && one.sh_size > 0)
            found.has_device_code = true;
        if (one.sh_type == SHT_DYNAMIC)
            read_dynamic(bytes_of(file, one), bytes_of(file, section(one.sh_link)), found);
    }
}

constexpr std::string_view closed_libraries[] = {"libcublas",   "libcufft",    "libcurand",
                                                 "libcusparse", "libcusolver", "libcudnn",
                                                 "libnccl",     "libnvrtc",    "libnpp"};

}  // namespace

std::string Executable::needs_like(const std::string& begin) const {
    const auto found =
        std::ranges::find_if(needs, [&](const std::string& one) { return one.starts_with(begin); });
    return found == needs.end() ? "" : *found;
}

Executable look_at_executable(const fs::path& path) {
    const std::string file = read_text_file(path);
    Executable found;
    found.is_elf = file.starts_with("\177ELF");
    try {
        if (found.is_elf) read_sections(file, found);
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", path.string(), error.what()));
    }
    return found;
}

fs::path find_program(const std::string& name) {
    if (name.empty()) throw InputError("the name of the program is empty");
    std::error_code none;
    const auto can_run = [&](const fs::path& path) {
        return fs::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string::npos) {
        if (can_run(name)) return name;
        throw InputError(fmt::format("{}: {}", name,
                                     !fs::exists(name, none) ? "there is no such file"
                                     : fs::is_directory(name, none)
                                         ? "is a folder, not a program"
                                         : "is not executable (chmod +x)"));
    }
    const char* const paths = std::getenv("PATH");
    std::string_view rest = paths == nullptr ? "" : paths;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const fs::path path = fs::path(rest.substr(0, end)) / name;
        if (can_run(path)) return path;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    throw InputError(fmt::format("{}: no program of that name is on the PATH{}", name,
                                 fs::exists(name, none) ? "; the one here is ./" + name : ""));
}

std::string why_not_run(const Executable& executable, const std::string& name) {
    const std::string needed = executable.needs_like(std::string(runtime));
    if (std::ranges::find(replaced_runtimes, needed) != std::end(replaced_runtimes)) return {};
    if (!needed.empty())
        return fmt::format("{} is linked with {}; {} are stood for: compile it with CUDA 12 or 13",
                           name, needed, fmt::join(replaced_runtimes, " and "));
    if (!executable.needs_like("libcuda.so").empty())
        return fmt::format(
            "{} uses the driver's API (libcuda.so.1), which is not stood for: no "
            "flag mends that, the runtime's API would",
            name);
    if (executable.has_device_code)
        return fmt::format(
            "{} has the CUDA runtime linked in statically, as nvcc does unasked: "
            "link it again with nvcc -cudart shared (make: NVCC_APPEND_FLAGS='-cudart shared' in "
            "the "
            "environment; CMake: -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared)",
            name);
    return {};
}

std::vector<std::string> needed_closed_libraries(const Executable& executable) {
    std::vector<std::string> all;
    for (const std::string& one : executable.needs)
        for (const std::string_view closed : closed_libraries)
            if (one.starts_with(closed)) all.push_back(one);
    return all;
}

}  // namespace occupipe::program

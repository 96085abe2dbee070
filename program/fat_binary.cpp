// SPDX-License-Identifier: MIT
#include "program/fat_binary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "core/architectures.h"
#include "core/error.h"

namespace occupipe::program {
namespace {

namespace fs = std::filesystem;
using isa::DeviceImage;

// What compilers put into the section .nvFatBinSegment.
struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const char* container;
    const void* more;  // version 2: objects that were linked on the device's side, as they were
};
constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t container_magic = 0xba55ed50;
constexpr std::size_t container_header = 16;

analysis::KernelFile read_machine_code(const DeviceImage& image, const std::string& name) {
    analysis::KernelFile file;
    file.path = name;
    file.bytes = image.bytes;
    file.cubin = isa::read_cubin(image.bytes);
    file.cubin.file = name;
    return file;
}

// The newest that is not newer than wanted.
const DeviceImage* best(const std::vector<DeviceImage>& images, DeviceImage::Kind kind,
                        int architecture, bool same_generation) {
    const DeviceImage* found = nullptr;
    for (const DeviceImage& one : images) {
        if (one.kind != kind || one.relocatable || one.architecture > architecture) continue;
        if (same_generation && one.architecture / 10 != architecture / 10) continue;
        if (found == nullptr || one.architecture > found->architecture) found = &one;
    }
    return found;
}

// Of any generation whose code is read: the nearest.
const DeviceImage* nearest(const std::vector<DeviceImage>& images, int architecture) {
    const DeviceImage* found = nullptr;
    const auto distance = [&](const DeviceImage& one) {
        return std::abs(one.architecture - architecture);
    };
    for (const DeviceImage& one : images) {
        if (one.kind != DeviceImage::Kind::machine_code || one.relocatable) continue;
        if (find_architecture(one.architecture) == nullptr) continue;
        if (found == nullptr || distance(one) < distance(*found)) found = &one;
    }
    return found;
}

// A file in the folder of temporary ones, as assemblers want one.
class PtxFile {
public:
    explicit PtxFile(const std::string& text) {
        std::string pattern = (fs::temp_directory_path() / "occupipe-XXXXXX.ptx").string();
        const int file = mkstemps(pattern.data(), 4);
        if (file < 0) throw InputError("no file for PTX can be made in " + pattern);
        close(file);
        path_ = pattern;
        std::ofstream(path_) << text;
    }
    ~PtxFile() {
        std::error_code none;
        fs::remove(path_, none);
    }
    PtxFile(const PtxFile&) = delete;
    PtxFile& operator=(const PtxFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

std::string images_in_words(const std::vector<DeviceImage>& images) {
    std::string all;
    for (const DeviceImage& one : images) all += (all.empty() ? "" : ", ") + one.name();
    return all.empty() ? "none" : all;
}

}  // namespace

std::string_view wrapped_bytes(const void* wrapper) {
    Wrapper one{};
    std::memcpy(&one, wrapper, sizeof one);
    if (one.magic != wrapper_magic || one.container == nullptr) return {};
    std::uint32_t magic = 0;
    std::uint64_t size = 0;
    std::memcpy(&magic, one.container, sizeof magic);
    if (magic != container_magic) return {};
    std::memcpy(&size, one.container + 8, sizeof size);
    return {one.container, container_header + size};
}

ChosenCode choose_code(const std::vector<DeviceImage>& images, int architecture,
                       const std::string& name) {
    constexpr auto code = DeviceImage::Kind::machine_code, ptx = DeviceImage::Kind::ptx;
    if (const DeviceImage* one = best(images, code, architecture, true))
        return {.file = read_machine_code(*one, name), .note = {}};
    std::string why = "no PTX that it could be made of";
    if (const DeviceImage* one = best(images, ptx, architecture, false)) {
        const PtxFile file(one->bytes);
        try {
            ChosenCode chosen{.file = analysis::read_kernel_file(
                                  file.path(), fmt::format("sm_{}", architecture), {}),
                              .note = {}};
            chosen.file.path = chosen.file.cubin.file = name;
            return chosen;
        } catch (const std::exception& error) {
            why = fmt::format("its PTX could not be compiled here ({})", error.what());
        }
    }
    if (const DeviceImage* one = nearest(images, architecture))
        return {.file = read_machine_code(*one, name),
                .note = fmt::format("the program has no machine code for sm_{} ({}): its code "
                                    "for sm_{} was executed and predicted in its place; nvcc "
                                    "-arch=sm_{} compiles for it",
                                    architecture, why, one->architecture, architecture)};
    throw InputError(fmt::format("{}: no code that runs on sm_{} ({}); what there is: {}", name,
                                 architecture, why, images_in_words(images)));
}

}  // namespace occupipe::program

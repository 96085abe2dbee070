// SPDX-License-Identifier: MIT
#include "tests/kernels/run_on_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "core/error.h"

namespace occupipe::test {
namespace {

constexpr std::size_t guard_bytes = 4096;
constexpr std::byte guard{0xa5};

// A buffer as kernels see it: between two guards, aligned as device memory is.
class DeviceBuffer {
public:
    explicit DeviceBuffer(const Buffer& buffer)
        : name_(buffer.name),
          size_(buffer.bytes.size()),
          memory_(buffer.bytes.size() + 2 * guard_bytes + alignment, guard) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + guard_bytes;
        begin_ = memory_.data() + guard_bytes + (alignment - address % alignment) % alignment;
        std::memcpy(begin_, buffer.bytes.data(), size_);
    }
    DeviceBuffer(DeviceBuffer&&) = default;

    std::byte* begin() const { return begin_; }

    void check_guards() const {
        const auto whole = [](std::byte byte) { return byte == guard; };
        const std::byte* const first = memory_.data();
        if (!std::all_of<const std::byte*>(first, begin_, whole) ||
            !std::all_of<const std::byte*>(begin_ + size_, first + memory_.size(), whole))
            throw host::KernelFault("something was written beside the buffer '" + name_ + "'");
    }

private:
    static constexpr std::size_t alignment = 256;
    std::string name_;
    std::size_t size_;
    std::vector<std::byte> memory_;
    std::byte* begin_ = nullptr;
};

const HostKernel& kernel_of(const LaunchFile& file, const Launch& launch) {
    for (const HostKernel& kernel : host_kernels()) {
        if (kernel.source == file.source && kernel.name == launch.kernel) return kernel;
    }
    throw InputError(fmt::format("{}: no kernel '{}' of {} was compiled for the host",
                                 file.path.string(), launch.kernel, file.source));
}

}  // namespace

std::vector<Buffer> run_on_cpu(const LaunchFile& file, host::Order order) {
    std::map<std::string, DeviceBuffer> device;
    for (const Buffer& buffer : file.buffers) device.emplace(buffer.name, DeviceBuffer(buffer));
    for (const Launch& launch : file.launches) {
        const HostKernel& kernel = kernel_of(file, launch);
        if (launch.shared_bytes > host::dynamic_shared_bytes)
            throw InputError(fmt::format("{}: the tests' host gives {} bytes of shared memory",
                                         file.path.string(), host::dynamic_shared_bytes));
        std::vector<Argument> arguments = launch.arguments;
        for (Argument& argument : arguments) {
            if (argument.buffer.empty()) continue;
            const auto found = device.find(argument.buffer);
            if (found == device.end())
                throw InputError(
                    fmt::format("{}: no buffer '{}'", file.path.string(), argument.buffer));
            std::byte* const address = found->second.begin();
            argument.bytes.resize(sizeof address);
            std::memcpy(argument.bytes.data(), &address, sizeof address);
        }
        const auto shape = [](const std::array<unsigned, 3>& n) { return dim3(n[0], n[1], n[2]); };
        try {
            kernel.run(shape(launch.grid), shape(launch.block), arguments, order);
        } catch (const host::KernelFault& fault) {
            throw host::KernelFault(fmt::format("{}: {}: {}", file.path.filename().string(),
                                                launch.kernel, fault.what()));
        }
    }
    std::vector<Buffer> after = file.buffers;
    for (Buffer& buffer : after) {
        const DeviceBuffer& memory = device.at(buffer.name);
        memory.check_guards();
        std::memcpy(buffer.bytes.data(), memory.begin(), buffer.bytes.size());
    }
    return after;
}

std::filesystem::path kernels_folder() {
    return std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "tests/kernels";
}

std::vector<std::filesystem::path> launch_files() {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(kernels_folder())) {
        if (entry.path().extension() == ".yaml") found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace occupipe::test

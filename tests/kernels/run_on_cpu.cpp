// SPDX-License-Identifier: MIT
#include "tests/kernels/run_on_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

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
        std::ranges::copy(buffer.bytes, begin_);
    }
    DeviceBuffer(DeviceBuffer&&) = default;

    std::span<std::byte> content() const { return {begin_, size_}; }

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

class Host : public PlanTarget {
public:
    Host(const LaunchPlan& plan, host::Order order) : plan_(plan), order_(order) {}

    void add(const Buffer& buffer) override { memory_.emplace(buffer.name, DeviceBuffer(buffer)); }
    std::span<std::byte> content(const std::string& buffer) override {
        return memory_.at(buffer).content();
    }
    std::uint64_t address(const std::string& buffer) override {
        return reinterpret_cast<std::uintptr_t>(content(buffer).data());
    }

    std::span<std::byte> symbol(const std::string& name) override {
        for (const HostSymbol& symbol : host_symbols()) {
            if (symbol.source == source() && symbol.name == name) return symbol.content();
        }
        throw InputError(fmt::format("{}: no variable '{}' on the host", plan_.file, name));
    }

    void launch(const KernelLaunch& launch, const std::vector<Argument>& arguments) override {
        if (launch.shared_bytes > host::dynamic_shared_bytes)
            throw InputError(fmt::format("{}: the tests' host gives {} bytes of shared memory",
                                         plan_.file, host::dynamic_shared_bytes));
        const auto shape = [](const auto& n) { return dim3(n[0], n[1], n[2]); };
        try {
            kernel(launch).run(shape(launch.grid), shape(launch.block), arguments, order_);
        } catch (const host::KernelFault& fault) {
            throw host::KernelFault(
                fmt::format("{}: {}: {}", plan_.file, launch.kernel, fault.what()));
        }
    }

    void check_guards() const {
        for (const auto& [name, buffer] : memory_) buffer.check_guards();
    }

private:
    std::string source() const { return std::filesystem::path(plan_.source).filename().string(); }

    const HostKernel& kernel(const KernelLaunch& launch) const {
        for (const HostKernel& kernel : host_kernels()) {
            if (kernel.source == source() && kernel.name == launch.kernel) return kernel;
        }
        throw InputError(fmt::format("{}: no kernel '{}' of {} was compiled for the host",
                                     plan_.file, launch.kernel, source()));
    }

    const LaunchPlan& plan_;
    host::Order order_;
    std::map<std::string, DeviceBuffer> memory_;
};

}  // namespace

std::vector<Buffer> run_on_cpu(const LaunchPlan& plan, host::Order order) {
    Host host(plan, order);
    std::vector<Buffer> after = run_plan(plan, host);
    host.check_guards();
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

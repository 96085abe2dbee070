// SPDX-License-Identifier: MIT
#include "tests/kernels/run_on_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/files/launch_files.h"

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

class Device {
public:
    Device(const LaunchPlan& plan, host::Order order) : plan_(plan), order_(order) {
        for (const BufferPlan& one : plan.symbols) {
            const std::vector<std::byte> value = buffer_contents(plan, one, one.fill);
            const std::span<std::byte> to = symbol(one.name);
            if (to.size() < value.size())
                throw InputError(fmt::format("{}: '{}' is smaller", plan.file, one.name));
            std::ranges::copy(value, to.begin());
        }
        for (const Buffer& buffer : buffers_before(plan)) {
            named_[buffer.name] = memory_.size();
            memory_.emplace_back(buffer);
        }
    }

    void run(const std::vector<PlanStep>& steps) {
        for (const PlanStep& step : steps) std::visit([&](const auto& one) { take(one); }, step);
    }

    std::span<std::byte> content(const std::string& name) const {
        const auto found = named_.find(name);
        if (found == named_.end())
            throw InputError(fmt::format("{}: no buffer '{}'", plan_.file, name));
        return memory_[found->second].content();
    }

    void check_guards() const { std::ranges::for_each(memory_, &DeviceBuffer::check_guards); }

private:
    void take(const RepeatSteps& repeat) {
        for (std::uint64_t i = 0; i < repeat.times; ++i) run(repeat.steps);
    }
    void take(const SwapBuffers& swap) {
        std::swap(named_.at(swap.names[0]), named_.at(swap.names[1]));
    }
    void take(const SetBuffer& set) {
        std::ranges::copy(buffer_contents(plan_, *plan_.find_buffer(set.buffer), set.fill),
                          content(set.buffer).begin());
    }
    void take(const CopyBuffer& copy) {
        std::ranges::copy(content(copy.from), content(copy.to).begin());
    }
    void take(const KernelLaunch& launch) {
        if (launch.shared_bytes > host::dynamic_shared_bytes)
            throw InputError(fmt::format("{}: the tests' host gives {} bytes of shared memory",
                                         plan_.file, host::dynamic_shared_bytes));
        std::vector<Argument> arguments;
        for (const ArgumentPlan& argument : launch.arguments)
            arguments.push_back({bytes(argument)});
        const auto shape = [](const auto& n) { return dim3(n[0], n[1], n[2]); };
        try {
            kernel(launch).run(shape(launch.grid), shape(launch.block), arguments, order_);
        } catch (const host::KernelFault& fault) {
            throw host::KernelFault(
                fmt::format("{}: {}: {}", plan_.file, launch.kernel, fault.what()));
        }
    }

    std::string source() const { return std::filesystem::path(plan_.source).filename().string(); }

    const HostKernel& kernel(const KernelLaunch& launch) const {
        for (const HostKernel& kernel : host_kernels()) {
            if (kernel.source == source() && kernel.name == launch.kernel) return kernel;
        }
        throw InputError(fmt::format("{}: no kernel '{}' of {} was compiled for the host",
                                     plan_.file, launch.kernel, source()));
    }

    std::span<std::byte> symbol(const std::string& name) const {
        for (const HostSymbol& symbol : host_symbols()) {
            if (symbol.source == source() && symbol.name == name) return symbol.content();
        }
        throw InputError(fmt::format("{}: no variable '{}' on the host", plan_.file, name));
    }

    std::vector<std::byte> bytes(const ArgumentPlan& argument) const {
        std::vector<std::byte> made;
        const auto add = [&](const void* from, std::size_t size) {
            const std::size_t at = made.size();
            made.resize(at + size);
            std::memcpy(made.data() + at, from, size);
        };
        switch (argument.kind) {
            case ArgumentPlan::Kind::buffer: {
                const std::byte* const address = content(argument.buffer).data() + argument.offset;
                add(&address, sizeof address);
                return made;
            }
            case ArgumentPlan::Kind::scalar: {
                std::string why;
                const auto bits = parse_element(argument.type, argument.text, why);
                if (!bits) throw InputError(plan_.file + ": " + why);
                made.resize(bytes_of(argument.type));
                put_element(made.data(), argument.type, *bits);
                return made;
            }
            case ArgumentPlan::Kind::bytes:
                add(argument.content.data(), argument.content.size());
                return made;
            case ArgumentPlan::Kind::record: {
                std::size_t widest = 1;
                for (const ArgumentPlan& field : argument.fields) {
                    const std::vector<std::byte> part = bytes(field);
                    const std::size_t at = (made.size() + part.size() - 1) / part.size();
                    made.resize(at * part.size());
                    add(part.data(), part.size());
                    widest = std::max(widest, part.size());
                }
                made.resize((made.size() + widest - 1) / widest * widest);
                return made;
            }
            default:
                throw InputError(plan_.file + ": an argument that the tests' host does not know");
        }
    }

    const LaunchPlan& plan_;
    host::Order order_;
    std::vector<DeviceBuffer> memory_;
    std::map<std::string, std::size_t> named_;
};

}  // namespace

std::vector<Buffer> buffers_before(const LaunchPlan& plan) {
    std::vector<Buffer> buffers;
    for (const BufferPlan& one : plan.buffers)
        buffers.push_back({one.name, one.type, buffer_contents(plan, one, one.fill)});
    return buffers;
}

std::vector<Buffer> run_on_cpu(const LaunchPlan& plan, host::Order order) {
    Device device(plan, order);
    device.run(plan.steps);
    device.check_guards();
    std::vector<Buffer> after;
    for (const BufferPlan& one : plan.buffers) {
        const std::span<const std::byte> content = device.content(one.name);
        after.push_back({one.name, one.type, {content.begin(), content.end()}});
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

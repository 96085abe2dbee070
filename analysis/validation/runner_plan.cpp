// SPDX-License-Identifier: MIT
#include "analysis/validation/runner_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/files/launch_files.h"
#include "extract/run_plan.h"
#include "extract/signature.h"

namespace occupipe::analysis {
namespace {

class Writer {
public:
    Writer(const LaunchPlan& plan, const isa::Cubin& cubin, std::string name)
        : plan_(plan), cubin_(cubin), name_(std::move(name)) {}

    RunnerPlan run(const std::string& code) {
        if (!plan_.symbols.empty())
            throw InputError(plan_.file, {}, "symbols", "are not set by the runner of a dump");
        made_.text = fmt::format("occupipe-plan 1\ncode {}\n", code);
        for (const BufferPlan& one : plan_.buffers)
            made_.text += fmt::format("buffer {} {} {}\n", to_string(one.type), one.count,
                                      fill_words(one, one.fill));
        steps(plan_.steps);
        return std::move(made_);
    }

private:
    std::size_t number_of(const std::string& buffer) const {
        return static_cast<std::size_t>(
            std::ranges::find(plan_.buffers, buffer, &BufferPlan::name) - plan_.buffers.begin());
    }

    // The runner makes zeros and random numbers of the common types itself; all else is a file.
    std::string fill_words(const BufferPlan& buffer, const BufferFill& fill) {
        if (fill.kind == BufferFill::Kind::zeros) return "zeros";
        const bool small_float =
            buffer.type == ElementType::f16 || buffer.type == ElementType::bf16;
        const auto decimal = [](const std::string& text) { return text.find('x') == text.npos; };
        if (fill.kind == BufferFill::Kind::random && !small_float && decimal(fill.low) &&
            decimal(fill.high))
            return fmt::format("random {} {} {}", fill.low, fill.high, fill.seed);
        const std::string path = fmt::format("{}.{}.bin", name_, made_.files.size());
        made_.files[path] = buffer_contents(plan_, buffer, fill);
        return "file " + path;
    }

    void steps(const std::vector<PlanStep>& all) {
        for (const PlanStep& step : all) std::visit([&](const auto& one) { take(one); }, step);
    }
    void take(const RepeatSteps& repeat) {
        made_.text += fmt::format("repeat {}\n", repeat.times);
        steps(repeat.steps);
        made_.text += "end\n";
    }
    void take(const SwapBuffers& swap) {
        made_.text +=
            fmt::format("swap {} {}\n", number_of(swap.names[0]), number_of(swap.names[1]));
    }
    void take(const SetBuffer& set) {
        made_.text += fmt::format("set {} {}\n", number_of(set.buffer),
                                  fill_words(*plan_.find_buffer(set.buffer), set.fill));
    }
    void take(const CopyBuffer& copy) {
        made_.text += fmt::format("copy {} {}\n", number_of(copy.from), number_of(copy.to));
    }
    void take(const KernelLaunch& launch) {
        if (extract::find_kernel(cubin_, launch.kernel).name != launch.kernel)
            throw InputError(plan_.file, launch.where, "kernel",
                             fmt::format("'{}' has another name in the machine code; the runner of "
                                         "a dump takes extern \"C\" kernels",
                                         launch.kernel));
        made_.text +=
            fmt::format("launch {} {} {} {}\n", launch.kernel, fmt::join(launch.grid, " "),
                        fmt::join(launch.block, " "), launch.shared_bytes);
        for (const ArgumentPlan& one : launch.arguments) argument(one);
    }

    void argument(const ArgumentPlan& one) {
        std::vector<std::byte> bytes;
        switch (one.kind) {
            case ArgumentPlan::Kind::buffer:
                made_.text +=
                    fmt::format("argument buffer {} {}\n", number_of(one.buffer), one.offset);
                return;
            case ArgumentPlan::Kind::scalar: {
                std::string why;
                const auto bits = parse_element(one.type, one.text, why);
                if (!bits) throw InputError(plan_.file, one.where, "arguments", why);
                bytes.resize(bytes_of(one.type));
                put_element(bytes.data(), one.type, *bits);
                break;
            }
            case ArgumentPlan::Kind::bytes:
                for (const std::uint8_t byte : one.content) bytes.push_back(std::byte{byte});
                break;
            default:
                throw InputError(plan_.file, one.where, "arguments",
                                 "is of a kind that the runner of a dump does not take");
        }
        std::string hex;
        for (const std::byte byte : bytes) hex += fmt::format("{:02x}", std::to_integer<int>(byte));
        made_.text += fmt::format("argument bytes {}\n", hex);
    }

    const LaunchPlan& plan_;
    const isa::Cubin& cubin_;
    std::string name_;
    RunnerPlan made_;
};

}  // namespace

std::string capability_of(const std::string& architecture) {
    const std::string digits = architecture.substr(architecture.find('_') + 1);
    return digits.substr(0, digits.size() - 1) + "." + digits.substr(digits.size() - 1);
}

RunnerPlan runner_plan(const LaunchPlan& plan, const isa::Cubin& cubin, const std::string& name,
                       const std::string& code) {
    return Writer(plan, cubin, name).run(code);
}

void add_expected(RunnerPlan& made, const LaunchPlan& plan, const KernelFile& file,
                  const std::string& name) {
    extract::PlanRun executed(plan, file.cubin, file.ptx);
    executed.execute({.measure_memory = false});
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const std::string& buffer = plan.buffers[i].name;
        if (std::ranges::find(plan.checks, buffer, &BufferCheck::buffer) == plan.checks.end())
            continue;
        const std::string path = fmt::format("{}.expected.{}.bin", name, i);
        const auto bytes = executed.bytes(buffer);
        made.files[path].assign(bytes.begin(), bytes.end());
        made.text += fmt::format("check {} {}\n", i, path);
    }
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "tests/kernels/plan_target.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/files/launch_files.h"

namespace occupipe::test {
namespace {

class PlanRun {
public:
    PlanRun(const LaunchPlan& plan, PlanTarget& target) : plan_(plan), target_(target) {
        for (const Buffer& buffer : buffers_before(plan)) {
            target.add(buffer);
            stands_for_[buffer.name] = buffer.name;
        }
        for (const BufferPlan& one : plan.symbols) {
            const std::vector<std::byte> value = buffer_contents(plan, one, one.fill);
            const std::span<std::byte> to = target.symbol(one.name);
            if (to.size() < value.size())
                throw InputError(plan.file + ": the variable '" + one.name + "' is smaller");
            std::ranges::copy(value, to.begin());
        }
    }

    void run(const std::vector<PlanStep>& steps) {
        for (const PlanStep& step : steps) std::visit([&](const auto& one) { take(one); }, step);
    }

    std::span<std::byte> content(const std::string& name) const {
        return target_.content(stands_for_.at(name));
    }

private:
    void take(const RepeatSteps& repeat) {
        for (std::uint64_t i = 0; i < repeat.times; ++i) run(repeat.steps);
    }
    void take(const SwapBuffers& swap) {
        std::swap(stands_for_.at(swap.names[0]), stands_for_.at(swap.names[1]));
    }
    void take(const SetBuffer& set) {
        std::ranges::copy(buffer_contents(plan_, *plan_.find_buffer(set.buffer), set.fill),
                          content(set.buffer).begin());
    }
    void take(const CopyBuffer& copy) {
        std::ranges::copy(content(copy.from), content(copy.to).begin());
    }
    void take(const KernelLaunch& launch) {
        std::vector<Argument> arguments;
        for (const ArgumentPlan& argument : launch.arguments)
            arguments.push_back({bytes(argument)});
        target_.launch(launch, arguments);
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
                const std::uint64_t address =
                    target_.address(stands_for_.at(argument.buffer)) + argument.offset;
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
            case ArgumentPlan::Kind::local:  // the launch has its size
                return made;
            default:
                throw InputError(plan_.file + ": an argument that these tests do not know");
        }
    }

    const LaunchPlan& plan_;
    PlanTarget& target_;
    std::map<std::string, std::string> stands_for_;  // name → buffer, after swaps
};

}  // namespace

std::vector<Buffer> buffers_before(const LaunchPlan& plan) {
    std::vector<Buffer> buffers;
    for (const BufferPlan& one : plan.buffers)
        buffers.push_back({one.name, one.type, buffer_contents(plan, one, one.fill)});
    return buffers;
}

std::vector<Buffer> run_plan(const LaunchPlan& plan, PlanTarget& target) {
    PlanRun run(plan, target);
    run.run(plan.steps);
    std::vector<Buffer> after;
    for (const BufferPlan& one : plan.buffers) {
        const std::span<const std::byte> content = run.content(one.name);
        after.push_back({one.name, one.type, {content.begin(), content.end()}});
    }
    return after;
}

}  // namespace occupipe::test

// SPDX-License-Identifier: MIT
// What the kernels of the suite should leave, by plain loops that know nothing of groups and
// threads.
//   Expected expected(read_launches("kernels/small/lud.yaml"));
//   reference_of("lud")->run(expected);
//   expected.of<float>("m")
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/launch_files.h"

namespace occupipe::test {

// The buffers of a launch file before the first launch; a reference changes them.
class Expected {
public:
    explicit Expected(const LaunchPlan& plan) : plan_(plan) {
        for (const BufferPlan& one : plan.buffers)
            buffers_[one.name] = buffer_contents(plan, one, one.fill);
        collect(plan.steps);
    }

    template <typename T>
    std::span<T> of(const std::string& name) {
        std::vector<std::byte>& bytes = buffers_.at(name);
        if (bytes_of(plan_.find_buffer(name)->type) != sizeof(T))
            throw std::logic_error("another type: " + name);
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    const std::vector<std::byte>& bytes(const std::string& name) const { return buffers_.at(name); }

    // Every launch of the kernel, in order; repeated ones as often as they are made.
    const std::vector<const KernelLaunch*>& launches(const std::string& kernel) const {
        return launches_.at(kernel);
    }
    // Argument `index` of the kernel's first launch, a number.
    double number(const std::string& kernel, std::size_t index) const {
        return number(*launches(kernel).front(), index);
    }
    static double number(const KernelLaunch& launch, std::size_t index) {
        return std::stod(launch.arguments.at(index).text);
    }
    int integer(const std::string& kernel, std::size_t index) const {
        return static_cast<int>(number(kernel, index));
    }
    int swaps() const { return swaps_; }

private:
    void collect(const std::vector<PlanStep>& steps) {
        for (const PlanStep& step : steps) {
            if (const auto* launch = std::get_if<KernelLaunch>(&step))
                launches_[launch->kernel].push_back(launch);
            if (std::holds_alternative<SwapBuffers>(step)) ++swaps_;
            if (const auto* repeat = std::get_if<RepeatSteps>(&step))
                for (std::uint64_t i = 0; i < repeat->times; ++i) collect(repeat->steps);
        }
    }

    const LaunchPlan& plan_;
    std::map<std::string, std::vector<std::byte>> buffers_;
    std::map<std::string, std::vector<const KernelLaunch*>> launches_;
    int swaps_ = 0;
};

// How far from the reference a buffer may be: |found - expected| <= absolute + relative |expected|.
struct Tolerance {
    std::string_view buffer;
    double absolute = 0;
    double relative = 0;
    std::string_view reason;
};

struct Reference {
    std::string_view source;  // "lud": kernels/lud.cu
    void (*run)(Expected&);
    std::vector<Tolerance> tolerances = {};  // buffers that are not here agree bit for bit
};

// Of the kernels of the papers, and of the others.
std::span<const Reference> paper_references();
std::span<const Reference> other_references();
// Null where there is none.
const Reference* reference_of(std::string_view source);

}  // namespace occupipe::test

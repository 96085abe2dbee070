// SPDX-License-Identifier: MIT
// One launch file run on the host, for tests that compare it with a formula.
#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/launch_files.h"
#include "tests/kernels/run_on_cpu.h"

namespace occupipe::test {

template <typename T>
std::vector<T> values(const std::vector<Buffer>& buffers, std::string_view name) {
    for (const Buffer& buffer : buffers) {
        if (buffer.name != name) continue;
        if (bytes_of(buffer.type) > sizeof(T) * 2) throw std::logic_error("another type");
        std::vector<T> made(buffer.bytes.size() / sizeof(T));
        std::memcpy(static_cast<void*>(made.data()), buffer.bytes.data(), buffer.bytes.size());
        return made;
    }
    throw std::logic_error("no such buffer");
}

struct Case {
    LaunchPlan plan;
    std::vector<Buffer> before, after;

    explicit Case(const std::string& name)
        : plan(read_launches(kernels_folder() / (name + ".yaml"))),
          before(buffers_before(plan)),
          after(run_on_cpu(plan)) {}
    template <typename T>
    std::vector<T> before_of(std::string_view name) const {
        return values<T>(before, name);
    }
    template <typename T>
    std::vector<T> after_of(std::string_view name) const {
        return values<T>(after, name);
    }
};

}  // namespace occupipe::test

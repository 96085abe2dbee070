// SPDX-License-Identifier: MIT
// Calls a kernel with the bytes of its arguments.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "core/error.h"
#include "tests/kernels/run_on_cpu.h"

namespace occupipe::test::host {

template <auto Kernel>
struct KernelCall;

template <typename... Parameters, void (*Kernel)(Parameters...)>
struct KernelCall<Kernel> {
    using Values = std::tuple<std::remove_cv_t<Parameters>...>;

    static void run(dim3 grid, dim3 block, std::span<const Argument> arguments, Order order) {
        if (arguments.size() != sizeof...(Parameters))
            throw InputError("the kernel has " + std::to_string(sizeof...(Parameters)) +
                             " parameters, not " + std::to_string(arguments.size()));
        Values values;
        std::size_t next = 0;
        std::apply([&](auto&... value) { (take(value, arguments[next++]), ...); }, values);
        run_grid(
            grid, block, [](void* data) { std::apply(Kernel, *static_cast<Values*>(data)); },
            &values, order);
    }

private:
    template <typename Value>
    static void take(Value& value, const Argument& argument) {
        static_assert(std::is_trivially_copyable_v<Value>);
        if (argument.bytes.size() != sizeof value)
            throw InputError("a parameter of " + std::to_string(sizeof value) + " bytes is given " +
                             std::to_string(argument.bytes.size()));
        std::memcpy(static_cast<void*>(&value), argument.bytes.data(), sizeof value);
    }
};

}  // namespace occupipe::test::host

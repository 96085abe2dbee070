// SPDX-License-Identifier: MIT
#include "bench/cuda/run_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "bench/cuda/driver/session.h"
#include "core/error.h"
#include "core/files/launch_files.h"
#include "isa/cubin.h"

namespace occupipe::bench {
namespace {

// Machine code on the GPU; its kernels share their variables.
class Module {
public:
    Module(std::shared_ptr<const Session> session, const std::string& machine_code)
        : session_(std::move(session)) {
        const Driver& driver = session_->driver();
        driver.check(driver.module_load_data(&module_, machine_code.c_str()), "cuModuleLoadData");
    }
    ~Module() {
        if (session_->usable()) session_->driver().module_unload(module_);
    }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    cu::Function function(const std::string& name) const {
        cu::Function function = nullptr;
        const Driver& driver = session_->driver();
        driver.check(driver.module_get_function(&function, module_, name.c_str()),
                     "cuModuleGetFunction");
        return function;
    }

private:
    std::shared_ptr<const Session> session_;
    cu::Module module_ = nullptr;
};

class PlanOnGpu {
public:
    PlanOnGpu(std::shared_ptr<const Session> session, const LaunchPlan& plan,
              const std::string& machine_code, const PlanLimit& limit)
        : plan_(plan),
          limit_(limit),
          session_(std::move(session)),
          cubin_(isa::read_cubin(machine_code)),
          module_(session_, machine_code) {
        if (!plan.symbols.empty())
            throw InputError(plan.file, {}, "symbols", "are not set on GPUs");
        for (const BufferPlan& one : plan.buffers) {
            const std::vector<std::byte> content = buffer_contents(plan, one, one.fill);
            buffers_[one.name] = std::make_unique<DeviceBuffer>(session_, content.size());
            buffers_[one.name]->write(content);
        }
    }

    void run(const std::vector<PlanStep>& steps) {
        for (const PlanStep& step : steps) std::visit([&](const auto& one) { take(one); }, step);
    }

    LaunchedPlan result() {
        for (const BufferPlan& one : plan_.buffers) done_.buffers[one.name] = content(one.name);
        return std::move(done_);
    }

private:
    using Bytes = std::vector<std::byte>;

    Bytes content(const std::string& name) const {
        Bytes bytes(plan_.find_buffer(name)->bytes());
        buffers_.at(name)->read(bytes);
        return bytes;
    }
    void take(const RepeatSteps& repeat) {
        for (std::uint64_t i = 0; i < repeat.times; ++i) run(repeat.steps);
    }
    void take(const SwapBuffers& swap) {
        std::swap(buffers_.at(swap.names[0]), buffers_.at(swap.names[1]));
    }
    void take(const SetBuffer& set) {
        buffers_.at(set.buffer)
            ->write(buffer_contents(plan_, *plan_.find_buffer(set.buffer), set.fill));
    }
    void take(const CopyBuffer& copy) { buffers_.at(copy.to)->write(content(copy.from)); }
    void take(const KernelLaunch& launch);
    Bytes bytes_of_argument(const ArgumentPlan& argument) const;
    const isa::Kernel& kernel_of(const KernelLaunch& launch) const;

    const LaunchPlan& plan_;
    PlanLimit limit_;
    std::shared_ptr<const Session> session_;
    isa::Cubin cubin_;
    Module module_;
    std::map<std::string, std::unique_ptr<DeviceBuffer>> buffers_;
    LaunchedPlan done_;
};

PlanOnGpu::Bytes PlanOnGpu::bytes_of_argument(const ArgumentPlan& argument) const {
    const auto refuse = [&](const std::string& why) {
        throw InputError(plan_.file, argument.where, "arguments", why);
    };
    Bytes bytes;
    switch (argument.kind) {
        case ArgumentPlan::Kind::buffer: {
            const cu::DevicePointer address =
                buffers_.at(argument.buffer)->address() + argument.offset;
            bytes.resize(sizeof address);
            std::memcpy(bytes.data(), &address, sizeof address);
            break;
        }
        case ArgumentPlan::Kind::scalar: {
            std::string why;
            const auto bits = parse_element(argument.type, argument.text, why);
            if (!bits) refuse(why);
            bytes.resize(bytes_of(argument.type));
            put_element(bytes.data(), argument.type, *bits);
            break;
        }
        case ArgumentPlan::Kind::bytes:
            std::ranges::transform(argument.content, std::back_inserter(bytes),
                                   [](std::uint8_t one) { return std::byte{one}; });
            break;
        default:
            refuse("is of a kind that is not given to GPUs");
    }
    return bytes;
}

const isa::Kernel& PlanOnGpu::kernel_of(const KernelLaunch& launch) const {
    const auto found = std::ranges::find(cubin_.kernels, launch.kernel, &isa::Kernel::name);
    if (found == cubin_.kernels.end())
        throw InputError(plan_.file, launch.where, "kernel",
                         fmt::format("the machine code has no '{}'", launch.kernel));
    return *found;
}

void PlanOnGpu::take(const KernelLaunch& launch) {
    const isa::Kernel& kernel = kernel_of(launch);
    std::vector<Bytes> values;
    for (const ArgumentPlan& one : launch.arguments) values.push_back(bytes_of_argument(one));
    if (values.size() != kernel.parameters.size())
        throw InputError(plan_.file, launch.where, "arguments",
                         fmt::format("'{}' has {} parameters, {} arguments are given",
                                     launch.kernel, kernel.parameters.size(), values.size()));
    std::vector<void*> arguments;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::cmp_not_equal(values[i].size(), kernel.parameters[i].size))
            throw InputError(
                plan_.file, launch.arguments[i].where, "arguments",
                fmt::format("parameter {} of '{}' has {} bytes, {} are given", i + 1, launch.kernel,
                            kernel.parameters[i].size, values[i].size()));
        arguments.push_back(values[i].data());
    }
    const std::uint32_t shared =
        launch.kernel == limit_.limited ? limit_.shared_bytes : launch.shared_bytes;
    const Driver& driver = session_->driver();
    cu::Function const function = module_.function(launch.kernel);
    if (shared > 0)
        driver.check(
            driver.function_set_attribute(function, cu::FunctionAttribute::max_dynamic_shared_bytes,
                                          static_cast<int>(shared)),
            "cuFuncSetAttribute");
    const auto& [gx, gy, gz] = launch.grid;
    const auto& [bx, by, bz] = launch.block;
    Stopwatch watch(session_);
    watch.start();
    driver.check(driver.launch_kernel(function, gx, gy, gz, bx, by, bz, shared, nullptr,
                                      arguments.data(), nullptr),
                 "cuLaunchKernel");
    done_.times.push_back({launch.kernel, watch.stop()});
}

}  // namespace

LaunchedPlan run_cuda_launches(const std::string& driver_library, int ordinal,
                               const LaunchPlan& plan, const std::string& machine_code,
                               const PlanLimit& limit) {
    const auto session = std::make_shared<const Session>(driver_library, ordinal);
    session->make_current();
    PlanOnGpu run(session, plan, machine_code, limit);
    run.run(plan.steps);
    return run.result();
}

}  // namespace occupipe::bench

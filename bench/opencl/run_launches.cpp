// SPDX-License-Identifier: MIT
#include "bench/opencl/run_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "bench/opencl/api.h"
#include "bench/opencl/facts.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"

namespace occupipe::bench {
namespace {

cl::Device device_of(int platform, int device) {
    const auto platforms = opencl_platforms();
    if (platform < 0 || static_cast<std::size_t>(platform) >= platforms.size())
        throw NothingToRunOn(fmt::format("no OpenCL platform {}", platform));
    const auto devices = opencl_devices_of(platforms[static_cast<std::size_t>(platform)]);
    if (device < 0 || static_cast<std::size_t>(device) >= devices.size())
        throw NothingToRunOn(fmt::format("no OpenCL device {}:{}", platform, device));
    return devices[static_cast<std::size_t>(device)];
}

template <typename Work>
auto with_named_errors(const Work& work) {
    try {
        return work();
    } catch (const cl::Error& error) {
        throw DeviceError(
            fmt::format("OpenCL: {}: {}", error.what(), opencl_error_name(error.err())));
    }
}

class PlanOnOpenCl final : public PlanOnDevice {
public:
    PlanOnOpenCl(const cl::Device& device, const LaunchPlan& plan)
        : plan_(plan),
          device_(device),
          context_(device_),
          queue_(context_, device_, CL_QUEUE_PROFILING_ENABLE),
          program_(context_, read_text_file(plan.source)) {
        if (!plan.symbols.empty())
            throw InputError(plan.file, {}, "symbols", "OpenCL has no variables to set by name");
        const std::string folder = std::filesystem::path(plan.source).parent_path().string();
        const std::string options =
            opencl_build_options(device_) + " -I " + (folder.empty() ? "." : folder);
        try {
            program_.build({device_}, options.c_str());
        } catch (const cl::Error&) {
            throw InputError(plan.source + ": does not compile as OpenCL C: " +
                             program_.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_));
        }
        for (const BufferPlan& one : plan.buffers)
            buffers_.emplace(one.name, cl::Buffer(context_, CL_MEM_READ_WRITE, one.bytes()));
    }

    LaunchedPlan run() override {
        until_.clear();
        seconds_.reset();
        return with_named_errors([&] {
            steps();
            LaunchedPlan done;
            for (const BufferPlan& one : plan_.buffers) {
                std::vector<std::byte>& content = done.buffers[one.name];
                content.resize(one.bytes());
                queue_.enqueueReadBuffer(buffers_.at(one.name), CL_TRUE, 0, content.size(),
                                         content.data());
            }
            return done;
        });
    }

    std::optional<double> run_until(const std::string& kernel,
                                    std::uint32_t shared_bytes) override {
        until_ = kernel;
        until_shared_bytes_ = shared_bytes;
        seconds_.reset();
        with_named_errors([&] { steps(); });
        return seconds_;
    }

    std::string doubt() const override {
        return "caches were not emptied, and short launches look longer";
    }

private:
    void steps() {
        for (const BufferPlan& one : plan_.buffers)
            write(one.name, buffer_contents(plan_, one, one.fill));
        run(plan_.steps);
    }
    void run(const std::vector<PlanStep>& steps) {
        for (const PlanStep& step : steps)
            if (!seconds_) std::visit([&](const auto& one) { take(one); }, step);
    }
    void write(const std::string& name, const std::vector<std::byte>& content) {
        queue_.enqueueWriteBuffer(buffers_.at(name), CL_TRUE, 0, content.size(), content.data());
    }
    void take(const RepeatSteps& repeat) {
        for (std::uint64_t i = 0; i < repeat.times && !seconds_; ++i) run(repeat.steps);
    }
    void take(const SwapBuffers& swap) {
        std::swap(buffers_.at(swap.names[0]), buffers_.at(swap.names[1]));
    }
    void take(const SetBuffer& set) {
        write(set.buffer, buffer_contents(plan_, *plan_.find_buffer(set.buffer), set.fill));
    }
    void take(const CopyBuffer& copy) {
        queue_.enqueueCopyBuffer(buffers_.at(copy.from), buffers_.at(copy.to), 0, 0,
                                 plan_.find_buffer(copy.from)->bytes());
    }
    void take(const KernelLaunch& launch);
    void set_argument(cl::Kernel& kernel, cl_uint index, const ArgumentPlan& argument);

    const LaunchPlan& plan_;
    cl::Device device_;
    cl::Context context_;
    cl::CommandQueue queue_;
    cl::Program program_;
    std::map<std::string, cl::Buffer> buffers_;
    std::string until_;  // the kernel whose first launch is timed; empty: all steps are taken
    std::uint32_t until_shared_bytes_ = 0;
    std::optional<double> seconds_;
};

void PlanOnOpenCl::set_argument(cl::Kernel& kernel, cl_uint index, const ArgumentPlan& argument) {
    const auto refuse = [&](const std::string& why) {
        throw InputError(plan_.file, argument.where, "arguments", why);
    };
    switch (argument.kind) {
        case ArgumentPlan::Kind::buffer:
            if (argument.offset != 0) refuse("OpenCL takes buffers from their begin");
            kernel.setArg(index, buffers_.at(argument.buffer));
            return;
        case ArgumentPlan::Kind::scalar: {
            std::string why;
            const auto bits = parse_element(argument.type, argument.text, why);
            if (!bits) refuse(why);
            std::vector<std::byte> value(bytes_of(argument.type));
            put_element(value.data(), argument.type, *bits);
            kernel.setArg(index, value.size(), value.data());
            return;
        }
        case ArgumentPlan::Kind::bytes:
            kernel.setArg(index, argument.content.size(), argument.content.data());
            return;
        case ArgumentPlan::Kind::local:
            kernel.setArg(index, argument.size, nullptr);
            return;
        default:
            refuse("is of a kind that is not given to OpenCL devices");
    }
}

void PlanOnOpenCl::take(const KernelLaunch& launch) {
    cl::Kernel kernel(program_, launch.kernel.c_str());
    const auto parameters = kernel.getInfo<CL_KERNEL_NUM_ARGS>();
    const auto given = static_cast<cl_uint>(launch.arguments.size());
    if (parameters != given && parameters != given + 1)
        throw InputError(plan_.file, launch.where, "arguments",
                         fmt::format("'{}' has {} parameters as OpenCL C, {} arguments are given",
                                     launch.kernel, parameters, given));
    for (cl_uint i = 0; i < given; ++i) set_argument(kernel, i, launch.arguments[i]);
    if (parameters > given) {
        const std::uint32_t bytes =
            launch.kernel == until_ ? until_shared_bytes_ : launch.shared_bytes;
        kernel.setArg(given, std::max<std::size_t>(bytes, 1), nullptr);
    }
    const auto& [gx, gy, gz] = launch.grid;
    const auto& [bx, by, bz] = launch.block;
    const cl::NDRange all(std::size_t{gx} * bx, std::size_t{gy} * by, std::size_t{gz} * bz);
    cl::Event event;
    queue_.enqueueNDRangeKernel(kernel, cl::NullRange, all, cl::NDRange(bx, by, bz), nullptr,
                                &event);
    event.wait();
    if (launch.kernel != until_) return;
    const auto begin = event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
    const auto end = event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    seconds_ = static_cast<double>(end - begin) * 1e-9;
}

}  // namespace

std::unique_ptr<PlanOnDevice> plan_on_opencl(int platform, int device, const LaunchPlan& plan) {
    return with_named_errors(
        [&] { return std::make_unique<PlanOnOpenCl>(device_of(platform, device), plan); });
}

}  // namespace occupipe::bench

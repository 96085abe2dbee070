// SPDX-License-Identifier: MIT
#include "tests/opencl_c/run_on_opencl.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

#include "bench/opencl/api.h"
#include "bench/opencl/build.h"
#include "bench/opencl/facts.h"

namespace occupipe::test {
namespace {

std::optional<cl::Device> cpu() {
    for (const cl::Platform& platform : bench::opencl_platforms())
        for (const cl::Device& device : bench::opencl_devices_of(platform))
            if (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) return device;
    return std::nullopt;
}

// A buffer's "address" is its number; run_plan() follows swaps by it.
class OpenClTarget : public PlanTarget {
public:
    OpenClTarget(const cl::Device& device, const std::string& text)
        : context_(device),
          queue_(context_, device),
          program_(bench::opencl_build(context_, device, text)) {}

    void add(const Buffer& buffer) override {
        numbers_[buffer.name] = contents_.size();
        contents_.push_back(buffer.bytes);
    }
    std::span<std::byte> content(const std::string& buffer) override {
        return contents_[numbers_.at(buffer)];
    }
    std::uint64_t address(const std::string& buffer) override { return numbers_.at(buffer); }
    std::span<std::byte> symbol(const std::string& name) override {
        throw std::logic_error(name + ": OpenCL has no variables of a module");
    }

    void launch(const KernelLaunch& launch, const std::vector<Argument>& arguments) override {
        std::vector<cl::Buffer> buffers;
        for (const auto& bytes : contents_) {
            buffers.emplace_back(context_, CL_MEM_READ_WRITE, bytes.size());
            queue_.enqueueWriteBuffer(buffers.back(), CL_TRUE, 0, bytes.size(), bytes.data());
        }
        cl::Kernel kernel(program_, launch.kernel.c_str());
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const ArgumentPlan& plan = launch.arguments[i];
            const auto index = static_cast<cl_uint>(i);
            if (plan.kind == ArgumentPlan::Kind::buffer) {
                if (plan.offset != 0) throw std::logic_error("OpenCL passes whole buffers");
                std::uint64_t number = 0;
                std::memcpy(&number, arguments[i].bytes.data(), sizeof number);
                kernel.setArg(index, buffers.at(number));
            } else if (plan.kind == ArgumentPlan::Kind::local) {
                kernel.setArg(index, plan.size, nullptr);
            } else {
                kernel.setArg(index, arguments[i].bytes.size(), arguments[i].bytes.data());
            }
        }
        const auto range = [](const std::array<std::uint32_t, 3>& one) {
            return cl::NDRange(one[0], one[1], one[2]);
        };
        std::array<std::uint32_t, 3> all = launch.grid;
        for (std::size_t d = 0; d < 3; ++d) all[d] *= launch.block[d];
        queue_.enqueueNDRangeKernel(kernel, cl::NullRange, range(all), range(launch.block));
        for (std::size_t b = 0; b < buffers.size(); ++b)
            queue_.enqueueReadBuffer(buffers[b], CL_TRUE, 0, contents_[b].size(),
                                     contents_[b].data());
    }

private:
    cl::Context context_;
    cl::CommandQueue queue_;
    cl::Program program_;
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::vector<std::byte>> contents_;
};

}  // namespace

std::optional<std::string> opencl_cpu() {
    const auto device = cpu();
    if (!device) return std::nullopt;
    return device->getInfo<CL_DEVICE_NAME>();
}

std::vector<Buffer> run_on_opencl(const LaunchPlan& plan, const std::string& text) {
    const auto device = cpu();
    if (!device) throw std::logic_error("no OpenCL device");
    OpenClTarget target(*device, text);
    return run_plan(plan, target);
}

}  // namespace occupipe::test

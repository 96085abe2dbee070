// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstring>

#include "automatch/gpu/device.h"
#include "bench/opencl/api.h"
#include "bench/opencl/build.h"
#include "bench/opencl/facts.h"
#include "core/error.h"

namespace occupipe::automatch {

using bench::DeviceFacts;
using bench::opencl_build;
using bench::opencl_devices_of;
using bench::opencl_error_name;
using bench::opencl_facts;
using bench::opencl_platforms;
using bench::preferred_multiple;

namespace {

// Vendor queries (cl_nv_device_attribute_query, cl_amd_device_attribute_query).
constexpr cl_device_info capability_major_nv = 0x4000, capability_minor_nv = 0x4001,
                         simds_amd = 0x4040, simd_width_amd = 0x4041;

std::optional<cl_uint> told(const cl::Device& device, cl_device_info query) {
    cl_uint value = 0;
    if (clGetDeviceInfo(device(), query, sizeof value, &value, nullptr) != CL_SUCCESS)
        return std::nullopt;
    return value;
}

[[noreturn]] void fail(const cl::Error& error) {
    throw DeviceError(fmt::format("OpenCL: {}: {}", error.what(), opencl_error_name(error.err())));
}

ProbedFacts facts_of(const cl::Platform& platform, const cl::Device& device,
                     const std::string& id) {
    const DeviceFacts all = opencl_facts(platform, device, id);
    ProbedFacts facts;
    facts.id = id;
    facts.backend = all.backend;
    facts.name = all.name;
    facts.vendor = all.vendor;
    facts.architecture = all.architecture;
    facts.driver = all.driver;
    facts.cpu = all.cpu;
    facts.f64 = device.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() != 0;
    facts.cores = all.cores;
    facts.warp_size = all.warp_size;
    facts.most_items = static_cast<int>(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
    facts.memory_bytes = all.global_memory_bytes;
    facts.nominal_clock_hz = all.nominal_clock_hz;
    if (const auto line = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE>(); line > 0)
        facts.line_bytes = line;
    if (device.getInfo<CL_DEVICE_LOCAL_MEM_TYPE>() == CL_LOCAL)
        facts.shared_bytes = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>());
    const auto cores = static_cast<std::int64_t>(facts.cores);
    const auto major = told(device, capability_major_nv), minor = told(device, capability_minor_nv);
    const auto simds = told(device, simds_amd), width = told(device, simd_width_amd);
    bool tells_last_cache = true;
    if (facts.cpu) {
        facts.lanes = cores;
        facts.lanes_source = "compute units of a CPU";
    } else if (major && minor) {
        facts.compute_capability = fmt::format("{}.{}", *major, *minor);
        tells_last_cache = false;  // NVIDIA's OpenCL tells the first level's size there
        if (const auto lanes = nvidia_lanes(static_cast<int>(*major), static_cast<int>(*minor))) {
            facts.lanes = cores * *lanes;
            facts.lanes_source = fmt::format("{} a core, CUDA C++ Programming Guide", *lanes);
        }
    } else if (simds && width && *simds > 0 && *width > 0) {
        tells_last_cache = false;  // AMD's, too
        facts.lanes = cores * *simds * *width;
        facts.lanes_source =
            fmt::format("{} SIMD units of {} a core, as the device tells", *simds, *width);
    }
    const auto cache = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>());
    if (tells_last_cache && cache > 0) facts.last_cache_bytes = cache;
    return facts;
}

class OpenClDevice : public ProbedDevice {
public:
    OpenClDevice(const cl::Platform& platform, cl::Device device, const std::string& id)
        : device_(std::move(device)),
          context_(device_),
          queue_(context_, device_, CL_QUEUE_PROFILING_ENABLE),
          facts_(facts_of(platform, device_, id)),
          program_(opencl_build(context_, device_, probe_kernels())),
          results_(context_, CL_MEM_READ_WRITE, probe_result_bytes) {
        if (facts_.warp_size == 0) facts_.warp_size = preferred_multiple(context_, device_);
    }

    const ProbedFacts& facts() const override { return facts_; }

    void set_memory(std::span<const std::byte> bytes) override {
        try {
            memory_ = cl::Buffer();  // the old one goes first
            memory_ = cl::Buffer(context_, CL_MEM_READ_ONLY, bytes.size());
            queue_.enqueueWriteBuffer(memory_, CL_TRUE, 0, bytes.size(), bytes.data());
        } catch (const cl::Error& error) {
            fail(error);
        }
    }
    void set_first_result(std::uint32_t word) override {
        try {
            queue_.enqueueWriteBuffer(results_, CL_TRUE, 0, sizeof word, &word);
        } catch (const cl::Error& error) {
            fail(error);
        }
    }
    void read_results(std::span<std::byte> into) override {
        try {
            queue_.enqueueReadBuffer(results_, CL_TRUE, 0, into.size(), into.data());
        } catch (const cl::Error& error) {
            fail(error);
        }
    }
    double run(const ProbeLaunch& launch) override {
        try {
            cl::Kernel kernel(program_, launch.kernel);
            kernel.setArg(0, memory_);
            kernel.setArg(1, launch.mask);
            kernel.setArg(2, launch.rounds);
            kernel.setArg(3, results_);
            const cl::NDRange all(std::size_t{launch.groups} * launch.items), group(launch.items);
            cl::Event first, last;
            for (unsigned i = 0; i < launch.launches; ++i) {
                const bool is_first = i == 0, is_last = i + 1 == launch.launches;
                queue_.enqueueNDRangeKernel(kernel, cl::NullRange, all, group, nullptr,
                                            is_first  ? &first
                                            : is_last ? &last
                                                      : nullptr);
            }
            queue_.finish();
            const cl::Event& end = launch.launches > 1 ? last : first;
            return 1e-9 * static_cast<double>(end.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                              first.getProfilingInfo<CL_PROFILING_COMMAND_START>());
        } catch (const cl::Error& error) {
            fail(error);
        }
    }

private:
    cl::Device device_;
    cl::Context context_;
    cl::CommandQueue queue_;
    ProbedFacts facts_;
    cl::Program program_;
    cl::Buffer memory_, results_;
};

}  // namespace

std::unique_ptr<ProbedDevice> open_probed_opencl(int platform, int device) {
    try {
        const auto platforms = opencl_platforms();
        const std::string id = fmt::format("opencl:{}.{}", platform, device);
        if (platform < 0 || static_cast<std::size_t>(platform) >= platforms.size())
            throw NothingToRunOn(
                fmt::format("no device {}: there are {} OpenCL platforms", id, platforms.size()));
        const cl::Platform& own = platforms[static_cast<std::size_t>(platform)];
        const auto devices = opencl_devices_of(own);
        if (device < 0 || static_cast<std::size_t>(device) >= devices.size())
            throw NothingToRunOn(
                fmt::format("no device {}: its platform has {} devices", id, devices.size()));
        return std::make_unique<OpenClDevice>(own, devices[static_cast<std::size_t>(device)], id);
    } catch (const cl::Error& error) {
        fail(error);
    }
}

}  // namespace occupipe::automatch

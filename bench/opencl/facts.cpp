// SPDX-License-Identifier: MIT
#include "bench/opencl/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

namespace occupipe::bench {
namespace {

// Vendor queries for the width of a warp (cl_nv_device_attribute_query,
// cl_amd_device_attribute_query).
constexpr cl_device_info warp_size_nv = 0x4003;
constexpr cl_device_info wavefront_width_amd = 0x4043;

// OpenCL cannot say how many warps or groups one compute unit holds. These are reachable on every
// GPU of the last ten years, so a sweep up to here never queues groups behind each other.
constexpr std::int64_t assumed_gpu_warps = 32;
constexpr std::int64_t assumed_gpu_groups = 16;

int vendor_warp_size(const cl::Device& device) {
    for (const cl_device_info query : {warp_size_nv, wavefront_width_amd}) {
        cl_uint value = 0;
        if (clGetDeviceInfo(device(), query, sizeof value, &value, nullptr) == CL_SUCCESS &&
            value > 0) {
            return static_cast<int>(value);
        }
    }
    return 0;
}

// Which CPU this is, by its own numbers: what tables of CPU instructions are looked up by.
void add_cpu_numbers(DeviceFacts& facts) {
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
        const std::string value = colon + 2 < line.size() ? line.substr(colon + 2) : "";
        if (key == "vendor_id") facts.more["cpu_vendor"] = value;
        if (key == "cpu family") facts.more["cpu_family"] = value;
        if (key == "model") facts.more["cpu_model"] = value;
        if (key == "model name") facts.more["cpu_name"] = value;
    }
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
    return text;
}

}  // namespace

DeviceFacts opencl_facts(const cl::Platform& platform, const cl::Device& device,
                         const std::string& id) {
    DeviceFacts facts;
    facts.id = id;
    facts.backend = "opencl";
    facts.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
    facts.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
    facts.cpu = (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0;
    const std::string platform_name = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
    facts.driver = platform_name + ", " + trimmed(device.getInfo<CL_DRIVER_VERSION>());
    facts.architecture = facts.cpu ? "CPU" : "";
    facts.cores = static_cast<int>(device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
    facts.warp_size = facts.cpu ? 1 : vendor_warp_size(device);
    facts.nominal_clock_hz = device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>() * 1e6;
    const auto group_items =
        static_cast<std::int64_t>(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
    facts.limits.shared_memory_bytes =
        static_cast<std::int64_t>(device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>());
    if (facts.cpu) {
        add_cpu_numbers(facts);
        // PoCL's own name is that of its compiler's target, which is not the name of a processor.
        const auto found = facts.more.find("cpu_name");
        if (found != facts.more.end() && !found->second.empty()) {
            facts.more["opencl_device_name"] = facts.name;
            facts.name = found->second;
        }
        facts.limits.warps = 1;  // work-items of a core run one after the other
        facts.limits.groups = 1;
        facts.clock_source =
            "measured around each sample: a chain of dependent integer additions, assumed to take "
            "one cycle each, as on every x86-64 and Arm core in use";
    } else {
        facts.limits.warps = assumed_gpu_warps;
        facts.limits.groups = assumed_gpu_groups;
        facts.clock_source = "none: OpenCL reports no core clock";
        facts.more["limits_source"] =
            "warps and groups per core are assumed; OpenCL does not report them";
    }
    if (facts.warp_size > 1) facts.limits.group_warps = group_items / facts.warp_size;
    facts.global_memory_bytes =
        static_cast<std::int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>());
    facts.more["opencl_device_version"] = trimmed(device.getInfo<CL_DEVICE_VERSION>());
    facts.more["opencl_platform"] =
        platform_name + ", " + trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
    facts.more["global_cache_bytes"] =
        std::to_string(device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>());
    facts.more["timer_resolution_ns"] =
        std::to_string(device.getInfo<CL_DEVICE_PROFILING_TIMER_RESOLUTION>());
    return facts;
}

std::vector<cl::Platform> opencl_platforms() {
    std::vector<cl::Platform> found;
    try {
        cl::Platform::get(&found);
    } catch (const cl::Error&) {
        return {};  // no ICD: the loader says CL_PLATFORM_NOT_FOUND_KHR
    }
    return found;
}

std::vector<cl::Device> opencl_devices_of(const cl::Platform& platform) {
    std::vector<cl::Device> found;
    try {
        platform.getDevices(CL_DEVICE_TYPE_ALL, &found);
    } catch (const cl::Error&) {
        return {};  // a platform without devices says CL_DEVICE_NOT_FOUND
    }
    return found;
}

std::string opencl_build_options(const cl::Device& device) {
    std::string options = "-cl-std=CL1.2";
    const std::string extensions = " " + device.getInfo<CL_DEVICE_EXTENSIONS>() + " ";
    if (extensions.find(" cl_khr_subgroups ") != std::string::npos) {
        const std::string version = device.getInfo<CL_DEVICE_OPENCL_C_VERSION>();
        options = version.starts_with("OpenCL C 3") ? "-cl-std=CL3.0" : "-cl-std=CL2.0";
    }
    if (device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) {
        options += " -cl-fp32-correctly-rounded-divide-sqrt";
    }
    return options;
}

std::string opencl_error_name(cl_int code) {
    static constexpr std::array names = {
        std::pair{-1, "CL_DEVICE_NOT_FOUND"},
        std::pair{-2, "CL_DEVICE_NOT_AVAILABLE"},
        std::pair{-3, "CL_COMPILER_NOT_AVAILABLE"},
        std::pair{-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        std::pair{-5, "CL_OUT_OF_RESOURCES"},
        std::pair{-6, "CL_OUT_OF_HOST_MEMORY"},
        std::pair{-11, "CL_BUILD_PROGRAM_FAILURE"},
        std::pair{-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
        std::pair{-30, "CL_INVALID_VALUE"},
        std::pair{-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
        std::pair{-46, "CL_INVALID_KERNEL_NAME"},
        std::pair{-52, "CL_INVALID_KERNEL_ARGS"},
        std::pair{-54, "CL_INVALID_WORK_GROUP_SIZE"},
        std::pair{-55, "CL_INVALID_WORK_ITEM_SIZE"},
        std::pair{-61, "CL_INVALID_BUFFER_SIZE"},
        std::pair{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
    };
    const auto found = std::ranges::find(names, code, &std::pair<int, const char*>::first);
    return found == names.end() ? fmt::format("OpenCL error {}", code) : found->second;
}

}  // namespace occupipe::bench

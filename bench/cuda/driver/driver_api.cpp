// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/driver_api.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "bench/harness/device_errors.h"
#include "core/error.h"

namespace occupipe::bench {

// cuda.h, enum cudaError_enum: 700 illegal address, 702 launch time-out, 709 context destroyed, 710
// assertion, 714 hardware stack, 715 illegal instruction, 716 misaligned address, 717 invalid
// address space, 718 invalid program counter, 719 launch failed, 999 unknown; and of memory and
// links that cannot be trusted: 214 and 220, not correctable.
bool ends_context(cu::Result result) {
    switch (result) {
        case 214:
        case 220:
        case 700:
        case 702:
        case 709:
        case 710:
        case 714:
        case 715:
        case 716:
        case 717:
        case 718:
        case 719:
        case 999:
            return true;
        default:
            return false;
    }
}

std::string cuda_driver_library() {
    const char* named = std::getenv("OCCUPIPE_CUDA_DRIVER");
    return named && *named ? named : "libcuda.so.1";
}

Driver::Driver(const std::string& library)
    : library_(library == "none" ? SharedLibrary() : SharedLibrary({library})) {
    if (library == "none") {
        throw NothingToRunOn("no CUDA driver: OCCUPIPE_CUDA_DRIVER is 'none'; unset it to search");
    }
    if (!library_.open()) throw NothingToRunOn("no CUDA driver: " + library_.why_not());
    load();
    if (const cu::Result result = init(0); result == cu::no_device) {
        throw NothingToRunOn("the CUDA driver finds no GPU");
    } else {
        check(result, "cuInit");
    }
}

void Driver::load() {
    const auto need = [this](auto*& function, const char* symbol) {
        if (!library_.load(function, symbol)) {
            throw DeviceError(fmt::format(
                "CUDA: {} has no {}: the driver is too old or broken; install a newer one",
                library_.name(), symbol));
        }
    };
    need(init, "cuInit");
    need(driver_get_version, "cuDriverGetVersion");
    need(get_error_name, "cuGetErrorName");
    need(device_get_count, "cuDeviceGetCount");
    need(device_get, "cuDeviceGet");
    need(device_get_name, "cuDeviceGetName");
    library_.load(device_get_pci_bus_id, "cuDeviceGetPCIBusId");
    need(device_total_mem, "cuDeviceTotalMem_v2");
    need(device_get_attribute, "cuDeviceGetAttribute");
    need(primary_context_retain, "cuDevicePrimaryCtxRetain");
    need(primary_context_release, "cuDevicePrimaryCtxRelease_v2");
    need(context_set_current, "cuCtxSetCurrent");
    need(module_load_data, "cuModuleLoadData");
    need(module_unload, "cuModuleUnload");
    need(module_get_function, "cuModuleGetFunction");
    need(function_get_attribute, "cuFuncGetAttribute");
    need(function_set_attribute, "cuFuncSetAttribute");
    need(max_active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    need(launch_kernel, "cuLaunchKernel");
    need(mem_alloc, "cuMemAlloc_v2");
    need(mem_free, "cuMemFree_v2");
    need(copy_to_device, "cuMemcpyHtoD_v2");
    need(copy_to_host, "cuMemcpyDtoH_v2");
    need(fill_bytes, "cuMemsetD8_v2");
    need(event_create, "cuEventCreate");
    need(event_destroy, "cuEventDestroy_v2");
    need(event_record, "cuEventRecord");
    need(event_query, "cuEventQuery");
    need(event_elapsed_time, "cuEventElapsedTime");
    need(stream_create, "cuStreamCreate");
    need(stream_destroy, "cuStreamDestroy_v2");
    need(stream_begin_capture, "cuStreamBeginCapture_v2");
    need(stream_end_capture, "cuStreamEndCapture");
    need(graph_instantiate, "cuGraphInstantiateWithFlags");
    need(graph_launch, "cuGraphLaunch");
    need(graph_exec_destroy, "cuGraphExecDestroy");
    need(graph_destroy, "cuGraphDestroy");
    need(texture_create, "cuTexObjectCreate");
    need(texture_destroy, "cuTexObjectDestroy");
}

void Driver::check(cu::Result result, const char* call) const {
    if (result == cu::success) return;
    const char* name = nullptr;
    if (get_error_name(result, &name) != cu::success || !name) name = "an unknown error";
    const std::string words = fmt::format("CUDA: {}: {} ({})", call, name, result);
    if (!ends_context(result)) throw DeviceError(words);
    lost_ = true;
    throw DeviceLost(DeviceLost::Cause::fault, words);
}

std::string Driver::version() const {
    int version = 0;
    check(driver_get_version(&version), "cuDriverGetVersion");
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

int Driver::device_attribute(cu::Device device, cu::DeviceAttribute attribute) const {
    int value = 0;
    check(device_get_attribute(&value, attribute, device), "cuDeviceGetAttribute");
    return value;
}

int Driver::function_attribute(cu::Function function, cu::FunctionAttribute attribute) const {
    int value = 0;
    check(function_get_attribute(&value, attribute, function), "cuFuncGetAttribute");
    return value;
}

std::string driver_package_version() {
    const SharedLibrary library({"libnvidia-ml.so.1"});
    int (*start)() = nullptr;
    int (*stop)() = nullptr;
    int (*version)(char*, unsigned) = nullptr;
    if (!library.load(start, "nvmlInit_v2") || !library.load(stop, "nvmlShutdown") ||
        !library.load(version, "nvmlSystemGetDriverVersion") || start() != 0) {
        return {};
    }
    std::array<char, 80> text = {};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
    const bool known = version(text.data(), text.size()) == 0;
    stop();
    return known ? std::string(text.data()) : std::string();
}

}  // namespace occupipe::bench

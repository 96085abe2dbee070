// SPDX-License-Identifier: MIT
// The part of CUDA's driver interface in use, opened at run time: neither building nor starting
// this program needs CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/cuda/driver/shared_library.h"

namespace occupipe::bench {

// Types and numbers of cuda.h (they never change: they are the driver's binary interface).
namespace cu {
using Result = int;
using Device = int;
using DevicePointer = unsigned long long;
using Context = struct CUctx_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Graph = struct CUgraph_st*;
using GraphExec = struct CUgraphExec_st*;

enum class DeviceAttribute : int {
    max_threads_per_block = 1,
    warp_size = 10,
    clock_rate_khz = 13,
    multiprocessors = 16,
    ecc_enabled = 32,
    memory_clock_rate_khz = 36,
    memory_bus_width_bits = 37,
    l2_bytes = 38,
    max_threads_per_multiprocessor = 39,
    compute_capability_major = 75,
    compute_capability_minor = 76,
    shared_bytes_per_multiprocessor = 81,
    registers_per_multiprocessor = 82,
    shared_bytes_per_block_optin = 97,
    max_blocks_per_multiprocessor = 106,
    reserved_shared_bytes_per_block = 111,
};

enum class FunctionAttribute : int {
    max_threads_per_block = 0,
    static_shared_bytes = 1,
    local_bytes = 3,
    registers = 4,
    max_dynamic_shared_bytes = 8,
    preferred_shared_carveout_percent = 9,
};

using TextureObject = unsigned long long;

// CUDA_RESOURCE_DESC for linear memory.
struct LinearResource {
    int type = 2;  // CU_RESOURCE_TYPE_LINEAR
    DevicePointer address = 0;
    int format = 3;  // CU_AD_FORMAT_UNSIGNED_INT32
    unsigned channels = 1;
    std::size_t bytes = 0;
    std::array<int, 26> other_resources = {};
    unsigned flags = 0;
};
static_assert(sizeof(LinearResource) == 144);

// CUDA_TEXTURE_DESC
struct TextureDescription {
    std::array<int, 3> address_modes = {};
    int filter_mode = 0;  // CU_TR_FILTER_MODE_POINT
    unsigned flags = 1;   // CU_TRSF_READ_AS_INTEGER
    std::array<int, 21> mipmaps_border_and_reserved = {};
};
static_assert(sizeof(TextureDescription) == 104);

constexpr Result success = 0;
constexpr Result no_device = 100;
constexpr Result not_ready = 600;
}  // namespace cu

// Errors behind which a context answers every call with the same error ("the process must be
// terminated and relaunched", cuda.h), or behind which nothing that it computes can be trusted.
bool ends_context(cu::Result result);

// The library that is opened: $OCCUPIPE_CUDA_DRIVER, else the loader's libcuda.so.1; "none" hides
// every driver.
std::string cuda_driver_library();

// The entry points, named as in cuda.h without "cu". check() turns a result into DeviceError with
// the call's name and CUDA's own name of the error, and into DeviceLost where it ends the context.
class Driver {
public:
    // Throws NothingToRunOn when the library cannot be opened or finds no GPU; DeviceError when
    // it is broken.
    explicit Driver(const std::string& library = cuda_driver_library());

    void check(cu::Result result, const char* call) const;
    // Nothing may be called any more: an error ended the context, or lose() was called.
    bool lost() const { return lost_; }
    void lose() const { lost_ = true; }
    std::string version() const;  // "13.0": the newest CUDA that this driver can run
    int device_attribute(cu::Device device, cu::DeviceAttribute attribute) const;
    int function_attribute(cu::Function function, cu::FunctionAttribute attribute) const;

    cu::Result (*init)(unsigned) = nullptr;
    cu::Result (*driver_get_version)(int*) = nullptr;
    cu::Result (*get_error_name)(cu::Result, const char**) = nullptr;
    cu::Result (*device_get_count)(int*) = nullptr;
    cu::Result (*device_get)(cu::Device*, int) = nullptr;
    cu::Result (*device_get_name)(char*, int, cu::Device) = nullptr;
    // May be missing (null): only for what else knows the GPU by it (nvml.h).
    cu::Result (*device_get_pci_bus_id)(char*, int, cu::Device) = nullptr;
    cu::Result (*device_total_mem)(std::size_t*, cu::Device) = nullptr;
    cu::Result (*device_get_attribute)(int*, cu::DeviceAttribute, cu::Device) = nullptr;
    cu::Result (*primary_context_retain)(cu::Context*, cu::Device) = nullptr;
    cu::Result (*primary_context_release)(cu::Device) = nullptr;
    cu::Result (*context_set_current)(cu::Context) = nullptr;
    cu::Result (*module_load_data)(cu::Module*, const void*) = nullptr;
    cu::Result (*module_unload)(cu::Module) = nullptr;
    cu::Result (*module_get_function)(cu::Function*, cu::Module, const char*) = nullptr;
    cu::Result (*function_get_attribute)(int*, cu::FunctionAttribute, cu::Function) = nullptr;
    cu::Result (*function_set_attribute)(cu::Function, cu::FunctionAttribute, int) = nullptr;
    cu::Result (*max_active_blocks)(int*, cu::Function, int, std::size_t) = nullptr;
    cu::Result (*launch_kernel)(cu::Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, unsigned, cu::Stream, void**, void**) = nullptr;
    cu::Result (*mem_alloc)(cu::DevicePointer*, std::size_t) = nullptr;
    cu::Result (*mem_free)(cu::DevicePointer) = nullptr;
    cu::Result (*copy_to_device)(cu::DevicePointer, const void*, std::size_t) = nullptr;
    cu::Result (*copy_to_host)(void*, cu::DevicePointer, std::size_t) = nullptr;
    cu::Result (*fill_bytes)(cu::DevicePointer, unsigned char, std::size_t) = nullptr;
    cu::Result (*event_create)(cu::Event*, unsigned) = nullptr;
    cu::Result (*event_destroy)(cu::Event) = nullptr;
    cu::Result (*event_record)(cu::Event, cu::Stream) = nullptr;
    cu::Result (*event_query)(cu::Event) = nullptr;
    cu::Result (*event_elapsed_time)(float*, cu::Event, cu::Event) = nullptr;
    cu::Result (*stream_create)(cu::Stream*, unsigned) = nullptr;
    cu::Result (*stream_destroy)(cu::Stream) = nullptr;
    cu::Result (*stream_begin_capture)(cu::Stream, int mode) = nullptr;
    cu::Result (*stream_end_capture)(cu::Stream, cu::Graph*) = nullptr;
    cu::Result (*graph_instantiate)(cu::GraphExec*, cu::Graph, unsigned long long) = nullptr;
    cu::Result (*graph_launch)(cu::GraphExec, cu::Stream) = nullptr;
    cu::Result (*graph_exec_destroy)(cu::GraphExec) = nullptr;
    cu::Result (*graph_destroy)(cu::Graph) = nullptr;
    cu::Result (*texture_create)(cu::TextureObject*, const cu::LinearResource*,
                                 const cu::TextureDescription*, const void* view) = nullptr;
    cu::Result (*texture_destroy)(cu::TextureObject) = nullptr;

private:
    void load();

    SharedLibrary library_;
    mutable bool lost_ = false;
};

// The driver package's version ("580.65.06"), from NVIDIA's management library; empty where that
// is not installed.
std::string driver_package_version();

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
// The device that programs see: the first profile's.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "core/launch_plan.h"
#include "program/cudart/entry.h"

namespace occupipe::program {
namespace {

constexpr int version = 13000;
constexpr std::size_t static_shared_bytes = std::size_t{48} << 10;  // of a group, without opting in
constexpr std::size_t constant_bytes = std::size_t{64} << 10;

// As CUDA 13.0 lays it out; fields that no program of those looked at asks for are `reserved`.
struct DeviceProperties {
    char name[256];
    std::byte uuid[16];
    char luid[8];
    unsigned luid_node_mask;
    std::size_t total_memory, shared_per_group;
    int registers_per_group, warp_size;
    std::size_t memory_pitch;
    int group_threads, block[3], grid[3];
    std::size_t total_constant;
    int major, minor;
    std::size_t texture_alignment, texture_pitch_alignment;
    int cores, integrated, maps_host_memory;
    int textures[39];
    std::size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, copy_engines,
        unified_addressing, bus_bits, l2_bytes, persisting_l2_bytes, core_threads,
        stream_priorities, global_l1, local_l1;
    std::size_t shared_per_core;
    int registers_per_core, managed_memory, is_multi_gpu_board, board_group, host_atomics,
        pageable_access, concurrent_managed, preemption, host_pointer_of_registered,
        cooperative_launch;
    std::size_t shared_opt_in;
    int host_page_tables, direct_managed, groups_per_core, window_bytes;
    std::size_t reserved_shared;
    int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools,
        rdma, rdma_flush, rdma_order;
    unsigned pool_handles;
    int deferred_arrays, ipc_events, cluster_launch, unified_functions;
    int reserved[63];
};
static_assert(sizeof(DeviceProperties) == 1008);
static_assert(offsetof(DeviceProperties, total_memory) == 288);
static_assert(offsetof(DeviceProperties, total_constant) == 352);
static_assert(offsetof(DeviceProperties, cores) == 384);
static_assert(offsetof(DeviceProperties, surface_alignment) == 552);
static_assert(offsetof(DeviceProperties, l2_bytes) == 596);
static_assert(offsetof(DeviceProperties, shared_per_core) == 624);
static_assert(offsetof(DeviceProperties, cooperative_launch) == 668);
static_assert(offsetof(DeviceProperties, shared_opt_in) == 672);
static_assert(offsetof(DeviceProperties, reserved_shared) == 696);
static_assert(offsetof(DeviceProperties, memory_pools) == 720);
static_assert(offsetof(DeviceProperties, cluster_launch) == 748);

int as_int(double value) { return static_cast<int>(std::min(value, 2147483647.0)); }

// Programs compute the peak of memory from its clock and its bus: of the bus one that is usual for
// so much.
int bus_bits(const DeviceFacts& facts) {
    constexpr double stacked = 1.2e12;  // bytes per second and more
    return facts.dram_peak.value_or(0) < stacked ? 256 : 4096;
}

// By number; what a profile does not tell is refused, not invented.
std::optional<int> attribute(const DeviceFacts& facts, int number) {
    const OccupancyLimits& limits = facts.limits;
    switch (number) {
        case 1:
            return static_cast<int>(most_group_threads);
        case 2:
        case 3:
        case 4:
            return static_cast<int>(most_block[static_cast<std::size_t>(number - 2)]);
        case 5:
        case 6:
        case 7:
            return static_cast<int>(most_grid[static_cast<std::size_t>(number - 5)]);
        case 8:
            return static_cast<int>(static_shared_bytes);
        case 9:
            return static_cast<int>(constant_bytes);
        case 10:
            return OccupancyLimits::warp_threads;
        case 11:
            return 2147483647;
        case 12:
        case 82:
            return OccupancyLimits::registers;
        case 13:  // kHz
            return as_int(facts.clock_hz / 1e3);
        case 14:
        case 51:
            return 512;
        case 16:
            return facts.cores;
        case 36:  // kHz of memory, of which twice the bus is moved
            if (!facts.dram_peak) return std::nullopt;
            return as_int(*facts.dram_peak / (2.0 * bus_bits(facts) / 8) / 1e3);
        case 37:
            if (!facts.dram_peak) return std::nullopt;
            return bus_bits(facts);
        case 38:
            if (facts.l2_bytes) return as_int(*facts.l2_bytes);
            return std::nullopt;
        case 39:
            return limits.warps * OccupancyLimits::warp_threads;
        case 75:
            return facts.major();
        case 76:
            return facts.minor();
        case 81:
            return static_cast<int>(limits.shared_bytes);
        case 97:
            return static_cast<int>(limits.group_shared_bytes);
        case 106:
            return limits.groups;
        case 111:
            return static_cast<int>(limits.reserved_bytes);
        case 15:  // copies beside kernels
        case 19:  // maps memory of the host
        case 31:  // kernels beside kernels
        case 40:  // engines of copies
        case 41:  // unified addresses
        case 78:  // priorities
        case 79:
        case 80:
        case 83:  // managed memory
        case 89:  // that the host may use beside kernels
        case 90:
        case 91:
        case 95:  // cooperative launches
        case 99:
        case 115:
            return 1;
        case 17:
        case 18:
        case 20:
        case 32:
        case 33:
        case 34:
        case 35:
        case 50:
        case 84:
        case 85:
        case 86:
        case 88:
        case 100:
        case 101:
        case 112:
        case 116:
        case 120:  // clusters that a launch asks for
            return 0;
        default:
            return std::nullopt;
    }
}

int value_of(const DeviceFacts& facts, int number) { return attribute(facts, number).value_or(0); }

DeviceProperties properties(const DeviceFacts& facts) {
    DeviceProperties all{};
    facts.name.copy(all.name, sizeof all.name - 1);
    all.total_memory = facts.memory_bytes;
    all.shared_per_group = static_shared_bytes;
    all.registers_per_group = all.registers_per_core = OccupancyLimits::registers;
    all.warp_size = OccupancyLimits::warp_threads;
    all.memory_pitch = 2147483647;
    all.group_threads = static_cast<int>(most_group_threads);
    for (std::size_t i = 0; i < 3; ++i) {
        all.block[i] = static_cast<int>(most_block[i]);
        all.grid[i] = static_cast<int>(most_grid[i]);
    }
    all.total_constant = constant_bytes;
    all.major = facts.major();
    all.minor = facts.minor();
    all.texture_alignment = all.texture_pitch_alignment = all.surface_alignment = 512;
    all.cores = facts.cores;
    all.maps_host_memory = all.concurrent_kernels = all.copy_engines = all.unified_addressing = 1;
    all.bus_bits = value_of(facts, 37);
    all.l2_bytes = value_of(facts, 38);
    all.core_threads = value_of(facts, 39);
    all.stream_priorities = all.global_l1 = all.local_l1 = 1;
    all.shared_per_core = static_cast<std::size_t>(facts.limits.shared_bytes);
    all.managed_memory = all.concurrent_managed = all.preemption = 1;
    all.host_pointer_of_registered = all.cooperative_launch = 1;
    all.shared_opt_in = static_cast<std::size_t>(facts.limits.group_shared_bytes);
    all.groups_per_core = facts.limits.groups;
    all.reserved_shared = static_cast<std::size_t>(facts.limits.reserved_bytes);
    all.host_register = all.memory_pools = 1;
    return all;
}

void require_device(int device) { require(device == 0, CudaError::invalid_device); }

// Numbers that are kept for those who ask, and change nothing but the heap.
constexpr std::size_t limit_count = 8;
constexpr int heap_limit = 2;  // cudaLimitMallocHeapSize
std::array<std::size_t, limit_count>& device_limits() {
    static std::array<std::size_t, limit_count> all = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0};
    return all;
}
unsigned& device_flags() {
    static unsigned flags = 0;
    return flags;
}

constexpr const char* bus_id = "0000:01:00.0";

CudaError refuse_entry(const char* name, const char* symbol, void** out, int* found) {
    return call(name, [&](Runtime& runtime) {
        require(symbol != nullptr && out != nullptr);
        *out = nullptr;
        constexpr int not_found = 1;
        if (found != nullptr) *found = not_found;
        runtime.refuse(std::string(symbol) + " (of the driver's API)");
    });
}

}  // namespace

extern "C" {

CudaError cudaGetDeviceCount(int* count) {
    if (count != nullptr) *count = 0;
    return call<Needs::nothing>("cudaGetDeviceCount", [&](Runtime&) {
        require(count != nullptr);
        *count = 1;
    });
}

CudaError cudaGetDevice(int* device) {
    return call<Needs::nothing>("cudaGetDevice", [&](Runtime&) {
        require(device != nullptr);
        *device = 0;
    });
}
CudaError cudaSetDevice(int device) {
    return call("cudaSetDevice", [&](Runtime&) { require_device(device); });
}
CudaError cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
CudaError cudaSetValidDevices(int*, int) {
    return call("cudaSetValidDevices", [](Runtime&) {});
}
CudaError cudaChooseDevice(int* device, const DeviceProperties*) { return cudaGetDevice(device); }

CudaError cudaGetDeviceProperties(DeviceProperties* out, int device) {
    return call<Needs::nothing>("cudaGetDeviceProperties", [&](Runtime& runtime) {
        require(out != nullptr);
        require_device(device);
        *out = properties(runtime.facts());
    });
}

CudaError cudaDeviceGetAttribute(int* value, int number, int device) {
    return call<Needs::nothing>("cudaDeviceGetAttribute", [&](Runtime& runtime) {
        require(value != nullptr);
        require_device(device);
        const std::optional<int> found = attribute(runtime.facts(), number);
        if (!found) {
            runtime.refuse("cudaDeviceGetAttribute of number " + std::to_string(number));
            throw CudaFailure(CudaError::not_supported);
        }
        *value = *found;
    });
}

// For libcudart.so.12, whose cudaDeviceProp has more fields; 0: not known.
int occupipe_known_attribute(int number) {
    int value = 0;
    call<Needs::nothing>("cudaGetDeviceProperties",
                         [&](Runtime& runtime) { value = value_of(runtime.facts(), number); });
    return value;
}

CudaError cudaDriverGetVersion(int* out) {
    if (out == nullptr) return CudaError::invalid_value;
    *out = version;
    return CudaError::success;
}
CudaError cudaRuntimeGetVersion(int* out) { return cudaDriverGetVersion(out); }

CudaError cudaDeviceReset() {
    return call<Needs::nothing>("cudaDeviceReset", [](Runtime& runtime) {
        runtime.wait_for_all();
        runtime.reset();
        last_error() = CudaError::success;
    });
}

CudaError cudaSetDeviceFlags(unsigned flags) {
    return call("cudaSetDeviceFlags", [&](Runtime&) { device_flags() = flags; });
}
CudaError cudaGetDeviceFlags(unsigned* flags) {
    return call("cudaGetDeviceFlags", [&](Runtime&) {
        require(flags != nullptr);
        *flags = device_flags();
    });
}

CudaError cudaDeviceSetLimit(int limit, std::size_t value) {
    return call("cudaDeviceSetLimit", [&](Runtime& runtime) {
        require(limit >= 0 && static_cast<std::size_t>(limit) < limit_count);
        if (limit == heap_limit)
            require(value > 0 && value <= runtime.facts().memory_bytes &&
                    runtime.set_heap_bytes(value));
        device_limits()[static_cast<std::size_t>(limit)] = value;
    });
}
CudaError cudaDeviceGetLimit(std::size_t* value, int limit) {
    return call("cudaDeviceGetLimit", [&](Runtime&) {
        require(value != nullptr && limit >= 0 && static_cast<std::size_t>(limit) < limit_count);
        *value = device_limits()[static_cast<std::size_t>(limit)];
    });
}

// Hints.
CudaError cudaDeviceSetCacheConfig(int) {
    return call("cudaDeviceSetCacheConfig", [](Runtime&) {});
}
CudaError cudaDeviceGetCacheConfig(int* config) {
    return call("cudaDeviceGetCacheConfig", [&](Runtime&) {
        require(config != nullptr);
        *config = 0;
    });
}
CudaError cudaDeviceSetSharedMemConfig(int) {
    return call("cudaDeviceSetSharedMemConfig", [](Runtime&) {});
}
CudaError cudaDeviceGetSharedMemConfig(int* config) {
    return call("cudaDeviceGetSharedMemConfig", [&](Runtime&) {
        require(config != nullptr);
        *config = 1;
    });
}
CudaError cudaCtxResetPersistingL2Cache() {
    return call("cudaCtxResetPersistingL2Cache", [](Runtime&) {});
}
CudaError cudaProfilerStart() {
    return call("cudaProfilerStart", [](Runtime&) {});
}
CudaError cudaProfilerStop() {
    return call("cudaProfilerStop", [](Runtime&) {});
}

CudaError cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call("cudaDeviceGetStreamPriorityRange", [&](Runtime&) {
        if (least != nullptr) *least = 0;
        if (greatest != nullptr) *greatest = -5;
    });
}

CudaError cudaDeviceGetPCIBusId(char* out, int size, int device) {
    return call("cudaDeviceGetPCIBusId", [&](Runtime&) {
        require(out != nullptr && size > static_cast<int>(std::strlen(bus_id)));
        require_device(device);
        std::strcpy(out, bus_id);
    });
}
CudaError cudaDeviceGetByPCIBusId(int* device, const char* id) {
    return call("cudaDeviceGetByPCIBusId", [&](Runtime&) {
        require(device != nullptr && id != nullptr);
        require(std::string_view(id) == bus_id, CudaError::invalid_device);
        *device = 0;
    });
}

// There is one device, which is no peer of itself.
CudaError cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    return call("cudaDeviceCanAccessPeer", [&](Runtime&) {
        require(can != nullptr);
        require_device(device);
        require_device(peer);
        *can = 0;
    });
}
CudaError cudaDeviceEnablePeerAccess(int, unsigned) {
    return call("cudaDeviceEnablePeerAccess",
                [](Runtime&) { throw CudaFailure(CudaError::invalid_device); });
}
CudaError cudaDeviceDisablePeerAccess(int) {
    return call("cudaDeviceDisablePeerAccess",
                [](Runtime&) { throw CudaFailure(CudaError::peer_access_not_enabled); });
}

CudaError cudaGetDriverEntryPoint(const char* symbol, void** out, unsigned long long, int* found) {
    return refuse_entry("cudaGetDriverEntryPoint", symbol, out, found);
}
CudaError cudaGetDriverEntryPointByVersion(const char* symbol, void** out, unsigned,
                                           unsigned long long, int* found) {
    return refuse_entry("cudaGetDriverEntryPointByVersion", symbol, out, found);
}

// Of textures and surfaces, which are refused; a value all the same.
struct ChannelFormat {
    int x, y, z, w, kind;
};
ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return {x, y, z, w, kind};
}

}  // extern "C"

}  // namespace occupipe::program

// SPDX-License-Identifier: MIT
// Allocation: of the device, pinned, managed, pitched, in pools.
#include <algorithm>
#include <cstring>

#include "program/cudart/entry.h"

namespace occupipe::program {
namespace {

constexpr std::size_t pitch = 512;  // rows begin at multiples of it

struct PointerAttributes {
    int type;  // 0: not CUDA's, 1: host, 2: device, 3: managed
    int device;
    void* device_pointer;
    void* host_pointer;
    long reserved[8];
};
static_assert(sizeof(PointerAttributes) == 88);

struct PitchedPointer {
    void* begin;
    std::size_t pitch, width, height;
};
struct Extent {
    std::size_t width, height, depth;
};

// One pool, the default one, in which nothing is kept.
int default_pool;

void allocate(Runtime& runtime, MemoryKind kind, void** out, std::size_t size) {
    require(out != nullptr);
    *out = nullptr;
    *out = pointer<void>(runtime.allocate(kind, size));
}

void release_device(Runtime& runtime, void* begin) {
    if (begin == nullptr) return;
    runtime.wait_for_all();
    runtime.release(reinterpret_cast<std::uint64_t>(begin),
                    {MemoryKind::device, MemoryKind::managed});
}

}  // namespace

extern "C" {

CudaError cudaMalloc(void** out, std::size_t size) {
    return call("cudaMalloc",
                [&](Runtime& runtime) { allocate(runtime, MemoryKind::device, out, size); });
}

CudaError cudaMallocManaged(void** out, std::size_t size, unsigned) {
    return call("cudaMallocManaged", [&](Runtime& runtime) {
        require(size > 0);
        allocate(runtime, MemoryKind::managed, out, size);
    });
}

CudaError cudaMallocHost(void** out, std::size_t size) {
    return call("cudaMallocHost",
                [&](Runtime& runtime) { allocate(runtime, MemoryKind::pinned, out, size); });
}

CudaError cudaHostAlloc(void** out, std::size_t size, unsigned) {
    return cudaMallocHost(out, size);
}

CudaError cudaMallocAsync(void** out, std::size_t size, void* stream) {
    return call("cudaMallocAsync", [&](Runtime& runtime) {
        stream_of(runtime, stream);
        allocate(runtime, MemoryKind::device, out, size);
    });
}

CudaError cudaMallocFromPoolAsync(void** out, std::size_t size, void* pool, void* stream) {
    if (pool != &default_pool) return CudaError::invalid_value;
    return cudaMallocAsync(out, size, stream);
}

CudaError cudaMallocPitch(void** out, std::size_t* row, std::size_t width, std::size_t height) {
    return call("cudaMallocPitch", [&](Runtime& runtime) {
        require(row != nullptr);
        *row = (width + pitch - 1) / pitch * pitch;
        allocate(runtime, MemoryKind::device, out, *row * height);
    });
}

CudaError cudaMalloc3D(PitchedPointer* out, Extent extent) {
    return call("cudaMalloc3D", [&](Runtime& runtime) {
        require(out != nullptr);
        *out = {.begin = nullptr,
                .pitch = (extent.width + pitch - 1) / pitch * pitch,
                .width = extent.width,
                .height = extent.height};
        allocate(runtime, MemoryKind::device, &out->begin,
                 out->pitch * extent.height * extent.depth);
    });
}

CudaError cudaFree(void* begin) {
    return call("cudaFree", [&](Runtime& runtime) { release_device(runtime, begin); });
}

CudaError cudaFreeAsync(void* begin, void* stream) {
    return call("cudaFreeAsync", [&](Runtime& runtime) {
        stream_of(runtime, stream);
        require(begin != nullptr);
        runtime.release(reinterpret_cast<std::uint64_t>(begin), {MemoryKind::device});
    });
}

CudaError cudaFreeHost(void* begin) {
    return call("cudaFreeHost", [&](Runtime& runtime) {
        if (begin == nullptr) return;
        runtime.wait_for_all();
        runtime.release(reinterpret_cast<std::uint64_t>(begin), {MemoryKind::pinned});
    });
}

CudaError cudaHostRegister(void* begin, std::size_t size, unsigned) {
    return call("cudaHostRegister", [&](Runtime& runtime) { runtime.register_host(begin, size); });
}

CudaError cudaHostUnregister(void* begin) {
    return call("cudaHostUnregister", [&](Runtime& runtime) {
        const Allocation* const one = runtime.allocation(reinterpret_cast<std::uint64_t>(begin));
        require(one != nullptr && one->kind == MemoryKind::registered,
                CudaError::host_memory_not_registered);
        runtime.release(reinterpret_cast<std::uint64_t>(begin), {MemoryKind::registered});
    });
}

CudaError cudaHostGetDevicePointer(void** out, void* host, unsigned) {
    return call("cudaHostGetDevicePointer", [&](Runtime& runtime) {
        const Allocation* const one = runtime.allocation(reinterpret_cast<std::uint64_t>(host));
        require(out != nullptr && one != nullptr && one->kind != MemoryKind::device);
        *out = host;
    });
}

CudaError cudaHostGetFlags(unsigned* flags, void* host) {
    return call("cudaHostGetFlags", [&](Runtime& runtime) {
        const Allocation* const one = runtime.allocation(reinterpret_cast<std::uint64_t>(host));
        require(flags != nullptr && one != nullptr && one->kind == MemoryKind::pinned);
        constexpr unsigned mapped = 2;
        *flags = mapped;
    });
}

CudaError cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all) {
    return call("cudaMemGetInfo", [&](Runtime& runtime) {
        require(free_bytes != nullptr && all != nullptr);
        *free_bytes = runtime.free_bytes();
        *all = runtime.facts().memory_bytes;
    });
}

CudaError cudaPointerGetAttributes(PointerAttributes* out, const void* address) {
    return call("cudaPointerGetAttributes", [&](Runtime& runtime) {
        require(out != nullptr);
        *out = {};
        void* const given = const_cast<void*>(address);
        const Allocation* const one = runtime.allocation(reinterpret_cast<std::uint64_t>(address));
        if (one == nullptr && !runtime.is_device(address)) {
            out->device = -2;
            out->host_pointer = given;
            return;
        }
        const MemoryKind kind = one == nullptr ? MemoryKind::device : one->kind;
        out->type = kind == MemoryKind::device ? 2 : kind == MemoryKind::managed ? 3 : 1;
        out->device_pointer = given;
        if (kind != MemoryKind::device) out->host_pointer = given;
    });
}

// Hints: memory is where it is.
struct MemoryLocation {
    int type, id;
};
CudaError cudaMemPrefetchAsync(const void* begin, std::size_t size, MemoryLocation, unsigned,
                               void* stream) {
    return call("cudaMemPrefetchAsync", [&](Runtime& runtime) {
        stream_of(runtime, stream);
        runtime.bytes_at(begin, size, Runtime::Side::device, "cudaMemPrefetchAsync");
    });
}
CudaError cudaMemAdvise(const void* begin, std::size_t size, int, MemoryLocation) {
    return call("cudaMemAdvise", [&](Runtime& runtime) {
        runtime.bytes_at(begin, size, Runtime::Side::device, "cudaMemAdvise");
    });
}
CudaError cudaStreamAttachMemAsync(void* stream, void*, std::size_t, unsigned) {
    return call("cudaStreamAttachMemAsync", [&](Runtime& runtime) { stream_of(runtime, stream); });
}

CudaError cudaDeviceGetDefaultMemPool(void** pool, int device) {
    return call("cudaDeviceGetDefaultMemPool", [&](Runtime&) {
        require(pool != nullptr && device == 0, CudaError::invalid_device);
        *pool = &default_pool;
    });
}
CudaError cudaDeviceGetMemPool(void** pool, int device) {
    return cudaDeviceGetDefaultMemPool(pool, device);
}
CudaError cudaMemPoolSetAttribute(void* pool, int, void*) {
    return call("cudaMemPoolSetAttribute", [&](Runtime&) { require(pool == &default_pool); });
}
CudaError cudaMemPoolTrimTo(void* pool, std::size_t) {
    return call("cudaMemPoolTrimTo", [&](Runtime&) { require(pool == &default_pool); });
}

}  // extern "C"

}  // namespace occupipe::program

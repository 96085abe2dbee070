// SPDX-License-Identifier: MIT
// Copies and fills. What is asynchronous is done when it is called, which every order of the
// device allows; its stream's clock alone goes on.
#include <cstring>

#include "program/cudart/entry.h"

namespace occupipe::program {
namespace {

using Side = Runtime::Side;

struct Sides {
    Side to, from;
};

Sides sides_of(CopyDirection direction) {
    switch (direction) {
        case CopyDirection::host_to_host:
            return {Side::host, Side::host};
        case CopyDirection::host_to_device:
            return {Side::device, Side::host};
        case CopyDirection::device_to_host:
            return {Side::host, Side::device};
        case CopyDirection::device_to_device:
            return {Side::device, Side::device};
        case CopyDirection::by_address:
            return {Side::any, Side::any};
    }
    throw CudaFailure(CudaError::invalid_memcpy_direction);
}

CopyKind kind_of(Runtime& runtime, const void* to, const void* from) {
    // Pinned memory is the host's, though kernels reach it.
    const auto is_device = [&](const void* address) {
        const Allocation* const one = runtime.allocation(reinterpret_cast<std::uint64_t>(address));
        const bool of_host =
            one && (one->kind == MemoryKind::pinned || one->kind == MemoryKind::registered);
        return runtime.is_device(address) && !of_host;
    };
    const bool to_device = is_device(to), from_device = is_device(from);
    if (to_device && from_device) return CopyKind::device_to_device;
    return from_device ? CopyKind::device_to_host : CopyKind::host_to_device;
}

// Rows of `width` bytes; one of them where height is 1.
struct Rows {
    void* to;
    std::size_t to_pitch;
    const void* from;
    std::size_t from_pitch;
    std::size_t width, height;
};

void copy_rows(Runtime& runtime, const char* name, const Rows& rows, CopyDirection direction,
               Stream& stream, bool asynchronous) {
    if (rows.width == 0 || rows.height == 0) return;
    require(rows.height == 1 || (rows.width <= rows.to_pitch && rows.width <= rows.from_pitch),
            CudaError::invalid_pitch_value);
    const Sides sides = sides_of(direction);
    for (std::size_t row = 0; row < rows.height; ++row) {
        const auto to = runtime.bytes_at(static_cast<std::byte*>(rows.to) + row * rows.to_pitch,
                                         rows.width, sides.to, name);
        const auto from =
            runtime.bytes_at(static_cast<const std::byte*>(rows.from) + row * rows.from_pitch,
                             rows.width, sides.from, name);
        std::memmove(to.data(), from.data(), rows.width);
        runtime.copied_bytes(static_cast<std::byte*>(rows.to) + row * rows.to_pitch,
                             static_cast<const std::byte*>(rows.from) + row * rows.from_pitch,
                             rows.width);
    }
    runtime.copied(kind_of(runtime, rows.to, rows.from), rows.width * rows.height, stream,
                   asynchronous);
}

void copy(Runtime& runtime, const char* name, void* to, const void* from, std::size_t size,
          CopyDirection direction, void* stream, bool asynchronous) {
    copy_rows(runtime, name, {to, size, from, size, size, 1}, direction, stream_of(runtime, stream),
              asynchronous);
}

void fill_rows(Runtime& runtime, const char* name, void* to, std::size_t pitch, int value,
               std::size_t width, std::size_t height, void* stream, bool asynchronous) {
    Stream& in = stream_of(runtime, stream);
    if (width == 0 || height == 0) return;
    require(height == 1 || width <= pitch, CudaError::invalid_pitch_value);
    for (std::size_t row = 0; row < height; ++row) {
        const auto bytes =
            runtime.bytes_at(static_cast<std::byte*>(to) + row * pitch, width, Side::device, name);
        std::memset(bytes.data(), value, bytes.size());
        runtime.written(static_cast<std::byte*>(to) + row * pitch, width);
    }
    runtime.copied(CopyKind::memset, width * height, in, asynchronous);
}

// Between a variable and memory.
void copy_symbol(Runtime& runtime, const char* name, const void* symbol, std::size_t offset,
                 void* other, std::size_t size, CopyDirection direction, bool to_symbol,
                 void* stream, bool asynchronous) {
    const Runtime::PlacedVariable variable = runtime.variable(symbol);
    require(offset <= variable.bytes.size() && size <= variable.bytes.size() - offset);
    void* const place = pointer<void>(variable.address + offset);
    if (direction == CopyDirection::host_to_device && !to_symbol)
        throw CudaFailure(CudaError::invalid_memcpy_direction);
    if (to_symbol)
        copy(runtime, name, place, other, size, direction, stream, asynchronous);
    else
        copy(runtime, name, other, place, size, direction, stream, asynchronous);
}

// Of cudaMemcpy3D: through pitched memory; arrays are textures' and not here.
struct Position {
    std::size_t x, y, z;
};
struct Pitched {
    void* begin;
    std::size_t pitch, width, height;
};
struct Copy3D {
    void* from_array;
    Position from_position;
    Pitched from;
    void* to_array;
    Position to_position;
    Pitched to;
    std::size_t width, height, depth;
    int direction;
};

struct Extent {
    std::size_t width, height, depth;
};

void* place(const Pitched& of, const Position& at, std::size_t slice) {
    return static_cast<std::byte*>(of.begin) + ((at.z + slice) * of.height + at.y) * of.pitch +
           at.x;
}

void fill_3d(Runtime& runtime, const char* name, const Pitched& to, int value, const Extent& extent,
             void* stream) {
    for (std::size_t slice = 0; slice < extent.depth; ++slice)
        fill_rows(runtime, name, place(to, {}, slice), to.pitch, value, extent.width, extent.height,
                  stream, true);
}

void copy_3d(Runtime& runtime, const char* name, const Copy3D* copy, void* stream,
             bool asynchronous) {
    require(copy != nullptr);
    if (copy->from_array != nullptr || copy->to_array != nullptr) {
        runtime.refuse("cudaMemcpy3D of arrays");
        throw CudaFailure(CudaError::not_supported);
    }
    for (std::size_t slice = 0; slice < copy->depth; ++slice)
        copy_rows(runtime, name,
                  {.to = place(copy->to, copy->to_position, slice),
                   .to_pitch = copy->to.pitch,
                   .from = place(copy->from, copy->from_position, slice),
                   .from_pitch = copy->from.pitch,
                   .width = copy->width,
                   .height = copy->height},
                  static_cast<CopyDirection>(copy->direction), stream_of(runtime, stream),
                  asynchronous);
}

}  // namespace

extern "C" {

CudaError cudaMemcpy(void* to, const void* from, std::size_t size, CopyDirection direction) {
    return call("cudaMemcpy", [&](Runtime& runtime) {
        copy(runtime, "cudaMemcpy", to, from, size, direction, nullptr, false);
    });
}

CudaError cudaMemcpyAsync(void* to, const void* from, std::size_t size, CopyDirection direction,
                          void* stream) {
    return call("cudaMemcpyAsync", [&](Runtime& runtime) {
        copy(runtime, "cudaMemcpyAsync", to, from, size, direction, stream, true);
    });
}

CudaError cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t size) {
    return cudaMemcpy(to, from, size, CopyDirection::by_address);
}

CudaError cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size,
                              void* stream) {
    return cudaMemcpyAsync(to, from, size, CopyDirection::by_address, stream);
}

CudaError cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                       std::size_t width, std::size_t height, CopyDirection direction) {
    return call("cudaMemcpy2D", [&](Runtime& runtime) {
        copy_rows(runtime, "cudaMemcpy2D", {to, to_pitch, from, from_pitch, width, height},
                  direction, stream_of(runtime, nullptr), false);
    });
}

CudaError cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                            std::size_t from_pitch, std::size_t width, std::size_t height,
                            CopyDirection direction, void* stream) {
    return call("cudaMemcpy2DAsync", [&](Runtime& runtime) {
        copy_rows(runtime, "cudaMemcpy2DAsync", {to, to_pitch, from, from_pitch, width, height},
                  direction, stream_of(runtime, stream), true);
    });
}

CudaError cudaMemcpy3D(const Copy3D* copy) {
    return call("cudaMemcpy3D",
                [&](Runtime& runtime) { copy_3d(runtime, "cudaMemcpy3D", copy, nullptr, false); });
}

CudaError cudaMemcpy3DAsync(const Copy3D* copy, void* stream) {
    return call("cudaMemcpy3DAsync", [&](Runtime& runtime) {
        copy_3d(runtime, "cudaMemcpy3DAsync", copy, stream, true);
    });
}

CudaError cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t size,
                             std::size_t offset, CopyDirection direction) {
    return call("cudaMemcpyToSymbol", [&](Runtime& runtime) {
        copy_symbol(runtime, "cudaMemcpyToSymbol", symbol, offset, const_cast<void*>(from), size,
                    direction, true, nullptr, false);
    });
}

CudaError cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t size,
                                  std::size_t offset, CopyDirection direction, void* stream) {
    return call("cudaMemcpyToSymbolAsync", [&](Runtime& runtime) {
        copy_symbol(runtime, "cudaMemcpyToSymbolAsync", symbol, offset, const_cast<void*>(from),
                    size, direction, true, stream, true);
    });
}

CudaError cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t size, std::size_t offset,
                               CopyDirection direction) {
    return call("cudaMemcpyFromSymbol", [&](Runtime& runtime) {
        copy_symbol(runtime, "cudaMemcpyFromSymbol", symbol, offset, to, size, direction, false,
                    nullptr, false);
    });
}

CudaError cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t size,
                                    std::size_t offset, CopyDirection direction, void* stream) {
    return call("cudaMemcpyFromSymbolAsync", [&](Runtime& runtime) {
        copy_symbol(runtime, "cudaMemcpyFromSymbolAsync", symbol, offset, to, size, direction,
                    false, stream, true);
    });
}

CudaError cudaMemset(void* to, int value, std::size_t size) {
    return call("cudaMemset", [&](Runtime& runtime) {
        fill_rows(runtime, "cudaMemset", to, size, value, size, 1, nullptr, true);
    });
}

CudaError cudaMemsetAsync(void* to, int value, std::size_t size, void* stream) {
    return call("cudaMemsetAsync", [&](Runtime& runtime) {
        fill_rows(runtime, "cudaMemsetAsync", to, size, value, size, 1, stream, true);
    });
}

CudaError cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                       std::size_t height) {
    return call("cudaMemset2D", [&](Runtime& runtime) {
        fill_rows(runtime, "cudaMemset2D", to, pitch, value, width, height, nullptr, true);
    });
}

CudaError cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                            std::size_t height, void* stream) {
    return call("cudaMemset2DAsync", [&](Runtime& runtime) {
        fill_rows(runtime, "cudaMemset2DAsync", to, pitch, value, width, height, stream, true);
    });
}

CudaError cudaMemset3D(Pitched to, int value, Extent extent) {
    return call("cudaMemset3D", [&](Runtime& runtime) {
        fill_3d(runtime, "cudaMemset3D", to, value, extent, nullptr);
    });
}

CudaError cudaMemset3DAsync(Pitched to, int value, Extent extent, void* stream) {
    return call("cudaMemset3DAsync", [&](Runtime& runtime) {
        fill_3d(runtime, "cudaMemset3DAsync", to, value, extent, stream);
    });
}

CudaError cudaGetSymbolAddress(void** out, const void* symbol) {
    return call("cudaGetSymbolAddress", [&](Runtime& runtime) {
        require(out != nullptr);
        *out = pointer<void>(runtime.variable(symbol).address);
    });
}

CudaError cudaGetSymbolSize(std::size_t* size, const void* symbol) {
    return call("cudaGetSymbolSize", [&](Runtime& runtime) {
        require(size != nullptr);
        *size = runtime.variable(symbol).bytes.size();
    });
}

}  // extern "C"

}  // namespace occupipe::program

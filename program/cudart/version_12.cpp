// SPDX-License-Identifier: MIT
// Where the runtime of CUDA 12 differs from that of CUDA 13, which does the work: `of_13` has its
// functions.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "program/cuda_error.h"

// What libcudart.so.13 has under `symbol`, which is a name of this library, too.
#define OF_13(symbol, name, arguments)                                     \
    asm(".symver occupipe_13_" #symbol ", " #symbol "@libcudart.so.13\n"); \
    extern "C" CudaError name arguments asm("occupipe_13_" #symbol)

extern "C" int occupipe_refuse_call(const char* name);
extern "C" int occupipe_known_attribute(int number);

namespace occupipe::program {

struct MemoryLocation {
    int type, id;
};

namespace of_13 {
OF_13(cudaGetDeviceProperties, get_properties, (void* out, int device));
OF_13(cudaPointerGetAttributes, get_pointer_attributes, (void* out, const void* address));
OF_13(cudaMemPrefetchAsync, prefetch, (const void*, std::size_t, MemoryLocation, unsigned, void*));
}  // namespace of_13

namespace {

// cudaDeviceProp of CUDA 12 is that of CUDA 13 with eight more fields, of which these are
// attributes.
struct Kept {
    std::size_t to, from, size;
};
constexpr Kept kept[] = {{0, 0, 348},    {352, 352, 32},  {388, 384, 4},  {396, 388, 8},
                         {408, 396, 8},  {420, 404, 188}, {612, 592, 28}, {640, 624, 28},
                         {672, 652, 20}, {696, 672, 84}};
struct Added {
    std::size_t to;
    int attribute;
};
constexpr Added added[] = {
    {348, 13},  // clock, kHz
    {384, 15},  // copies beside kernels
    {392, 17},  // time limit of kernels
    {404, 20},  // mode
    {608, 36},  // clock of memory, kHz
};
using Properties12 = std::array<std::byte, 1032>;
using Properties13 = std::array<std::byte, 1008>;

}  // namespace

extern "C" {

CudaError cudaGetDeviceProperties_v2(Properties12* out, int device) {
    alignas(8) Properties13 all{};
    const CudaError error = of_13::get_properties(out == nullptr ? nullptr : &all, device);
    if (error != CudaError::success) return error;
    *out = {};
    for (const Kept& one : kept) std::memcpy(out->data() + one.to, all.data() + one.from, one.size);
    for (const Added& one : added) {
        const int value = occupipe_known_attribute(one.attribute);
        std::memcpy(out->data() + one.to, &value, sizeof value);
    }
    return CudaError::success;
}
// The layout of CUDA 11, which no program has that is compiled with CUDA 12.
CudaError cudaGetDeviceProperties(void*, int) {
    return CudaError{occupipe_refuse_call("cudaGetDeviceProperties of CUDA 11")};
}

CudaError cudaPointerGetAttributes(void* out, const void* address) {
    constexpr std::size_t size_12 = 24, size_13 = 88;
    alignas(8) std::array<std::byte, size_13> all{};
    const CudaError error = of_13::get_pointer_attributes(out == nullptr ? nullptr : &all, address);
    if (error == CudaError::success) std::memcpy(out, all.data(), size_12);
    return error;
}

CudaError cudaMemPrefetchAsync(const void* begin, std::size_t size, int device, void* stream) {
    return of_13::prefetch(begin, size, {.type = 1, .id = device}, 0, stream);
}

// Did something on GPUs without double precision.
CudaError cudaSetDoubleForDevice(double*) { return CudaError::success; }
CudaError cudaSetDoubleForHost(double*) { return CudaError::success; }

CudaError cudaRuntimeGetVersion(int* out) {
    if (out == nullptr) return CudaError::invalid_value;
    *out = 12090;
    return CudaError::success;
}

}  // extern "C"

}  // namespace occupipe::program

// SPDX-License-Identifier: MIT
// What compiled programs call before main(): their fat binaries, kernels and variables.
#include "program/cudart/entry.h"

namespace occupipe::program {
namespace {

Module* module_of(void** handle) { return reinterpret_cast<Module*>(handle); }

// Without asking for a device: programs register before they ask.
template <typename Body>
void registered(Body body) {
    Runtime& runtime = Runtime::get();
    const std::scoped_lock lock(runtime.mutex());
    body(runtime);
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(const void* wrapper) {
    Module* module = nullptr;
    registered([&](Runtime& runtime) { module = runtime.add_module(wrapper); });
    return reinterpret_cast<void**>(module);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
    registered([&](Runtime& runtime) { runtime.remove_module(module_of(handle)); });
}

void __cudaRegisterFunction(void** handle, const void* host, const char*, const char* name, int,
                            void*, void*, void*, void*, int*) {
    registered([&](Runtime& runtime) { runtime.add_function(module_of(handle), host, name); });
}

void __cudaRegisterVar(void** handle, const void* host, const char*, const char* name, int,
                       std::size_t size, int, int) {
    registered(
        [&](Runtime& runtime) { runtime.add_variable(module_of(handle), host, name, size); });
}

void __cudaRegisterHostVar(void** handle, const char* name, const void* host, std::size_t size) {
    registered(
        [&](Runtime& runtime) { runtime.add_variable(module_of(handle), host, name, size); });
}

void __cudaRegisterManagedVar(void** handle, void** host, const void*, const char* name, int,
                              std::size_t size, int, int) {
    registered([&](Runtime& runtime) {
        runtime.add_variable(module_of(handle), host, name, size);
        module_of(handle)->managed.push_back({.host = host, .name = name});
    });
}

char __cudaInitModule(void** handle) {
    return call("__cudaInitModule",
                [&](Runtime& runtime) { runtime.place_managed(module_of(handle)); }) ==
                   CudaError::success
               ? 1
               : 0;
}

}  // extern "C"

}  // namespace occupipe::program

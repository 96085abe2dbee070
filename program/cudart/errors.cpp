// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "program/cudart/entry.h"

namespace occupipe::program {

CudaError& last_error() {
    thread_local CudaError error = CudaError::success;
    return error;
}

CudaError tell_failure(Runtime& runtime, const char* name, const std::exception& error) {
    runtime.tell(fmt::format("{}: {}", name, error.what()));
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? CudaError::memory_allocation
                                                                  : CudaError::unknown;
}

namespace {

// The error of a kernel stays until the device is reset.
bool is_sticky(CudaError error) {
    Runtime& runtime = Runtime::get();
    const std::scoped_lock lock(runtime.mutex());
    return error != CudaError::success && runtime.sticky() == error;
}

}  // namespace

extern "C" {

CudaError cudaGetLastError() {
    const CudaError error = last_error();
    if (!is_sticky(error)) last_error() = CudaError::success;
    return error;
}

CudaError cudaPeekAtLastError() { return last_error(); }

const char* cudaGetErrorName(int error) {
    const CudaErrorText* const found = find_error(error);
    return found == nullptr ? "unrecognized error code" : found->name;
}

const char* cudaGetErrorString(int error) {
    const CudaErrorText* const found = find_error(error);
    return found == nullptr ? "unrecognized error code" : found->text;
}

// What the table exports.txt has and no file here defines.
CudaError occupipe_refuse_call(const char* name) {
    return call<Needs::nothing>(name, [&](Runtime& runtime) {
        runtime.refuse(name);
        throw CudaFailure(CudaError::not_supported);
    });
}

}  // extern "C"

}  // namespace occupipe::program

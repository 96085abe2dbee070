// SPDX-License-Identifier: MIT
// What every entry point does: takes the lock, asks whether there is a device and whether an error
// has ended it, keeps what is returned for cudaGetLastError().
//   extern "C" CudaError cudaFree(void* at) {
//       return call("cudaFree", [&](Runtime& runtime) { … });
//   }
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <type_traits>

#include "program/runtime.h"

namespace occupipe::program {

// As the compiler's host code passes them.
struct Dim3 {
    unsigned x, y, z;
};
enum class CopyDirection : int {
    host_to_host = 0,
    host_to_device = 1,
    device_to_host = 2,
    device_to_device = 3,
    by_address = 4,
};

// Of this thread of the program.
CudaError& last_error();

enum class Needs : std::uint8_t {
    nothing,         // answers whatever has happened
    working_device,  // no error of a kernel before
};

// The host's clock stands while the runtime is at work.
class AtWork {
public:
    explicit AtWork(Runtime& runtime) : runtime_(runtime) { runtime_.enter(); }
    ~AtWork() { runtime_.leave(); }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;

private:
    Runtime& runtime_;
};

CudaError tell_failure(Runtime& runtime, const char* name, const std::exception& error);

template <Needs needs = Needs::working_device, typename Body>
CudaError call(const char* name, Body body) {
    Runtime& runtime = Runtime::get();
    const std::scoped_lock lock(runtime.mutex());
    const AtWork at_work(runtime);
    CudaError result = CudaError::success;
    try {
        if (!runtime.why_no_device().empty()) {
            runtime.tell(runtime.why_no_device());
            throw CudaFailure(CudaError::no_device);
        }
        if (needs == Needs::working_device && runtime.sticky() != CudaError::success)
            throw CudaFailure(runtime.sticky());
        body(runtime);
    } catch (const CudaFailure& failure) {
        result = failure.error;
        if (*failure.what() != '\0') runtime.tell(failure.what());
    } catch (const std::exception& error) {
        result = tell_failure(runtime, name, error);
    }
    if (result != CudaError::success) last_error() = result;
    return result;
}

inline void require(bool holds, CudaError otherwise = CudaError::invalid_value) {
    if (!holds) throw CudaFailure(otherwise);
}

inline Stream& stream_of(Runtime& runtime, void* handle) {
    Stream* const found = runtime.stream(handle);
    require(found != nullptr, CudaError::invalid_resource_handle);
    return *found;
}

template <typename T>
T* pointer(std::uint64_t address) {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

}  // namespace occupipe::program

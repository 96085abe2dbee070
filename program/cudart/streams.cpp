// SPDX-License-Identifier: MIT
// Streams, events and their clocks: predicted time, as if each stream had the device alone.
#include <algorithm>
#include <cmath>

#include "program/cudart/entry.h"

namespace occupipe::program {
namespace {

constexpr double event_resolution = 0.5e-6;  // seconds, as CUDA documents it
constexpr double event_seconds = 1.3e-6;     // between two with nothing between them (H100, H200)
constexpr unsigned without_timing = 2;

Event& event_of(Runtime& runtime, Event* event) {
    require(runtime.is_event(event), CudaError::invalid_resource_handle);
    return *event;
}

void record(Runtime& runtime, Event* event, void* stream) {
    Event& one = event_of(runtime, event);
    Stream& in = stream_of(runtime, stream);
    runtime.advance(in, (one.flags & without_timing) == 0 ? event_seconds : 0);
    one.clock = in.clock;
    one.recorded = true;
}

}  // namespace

extern "C" {

CudaError cudaStreamCreateWithPriority(void** out, unsigned flags, int priority) {
    return call("cudaStreamCreate", [&](Runtime& runtime) {
        require(out != nullptr && flags <= 1);
        *out = runtime.add_stream(flags, priority);
    });
}
CudaError cudaStreamCreateWithFlags(void** out, unsigned flags) {
    return cudaStreamCreateWithPriority(out, flags, 0);
}
CudaError cudaStreamCreate(void** out) { return cudaStreamCreateWithPriority(out, 0, 0); }

CudaError cudaStreamDestroy(void* stream) {
    return call("cudaStreamDestroy", [&](Runtime& runtime) {
        require(reinterpret_cast<std::uintptr_t>(stream) > 2, CudaError::invalid_resource_handle);
        runtime.remove_stream(&stream_of(runtime, stream));
    });
}

CudaError cudaStreamSynchronize(void* stream) {
    return call("cudaStreamSynchronize", [&](Runtime& runtime) {
        Stream& one = stream_of(runtime, stream);
        runtime.advance(one, 0);
        runtime.wait(one);
    });
}

// Everything has been executed by the time that anybody asks.
CudaError cudaStreamQuery(void* stream) {
    return call("cudaStreamQuery", [&](Runtime& runtime) { stream_of(runtime, stream); });
}

CudaError cudaStreamWaitEvent(void* stream, Event* event, unsigned) {
    return call("cudaStreamWaitEvent", [&](Runtime& runtime) {
        Stream& one = stream_of(runtime, stream);
        one.clock = std::max(one.clock, event_of(runtime, event).clock);
    });
}

CudaError cudaStreamGetFlags(void* stream, unsigned* flags) {
    return call("cudaStreamGetFlags", [&](Runtime& runtime) {
        require(flags != nullptr);
        *flags = stream_of(runtime, stream).flags;
    });
}
CudaError cudaStreamGetPriority(void* stream, int* priority) {
    return call("cudaStreamGetPriority", [&](Runtime& runtime) {
        require(priority != nullptr);
        *priority = stream_of(runtime, stream).priority;
    });
}
CudaError cudaStreamGetId(void* stream, unsigned long long* id) {
    return call("cudaStreamGetId", [&](Runtime& runtime) {
        require(id != nullptr);
        *id = stream_of(runtime, stream).number;
    });
}
CudaError cudaStreamGetDevice(void* stream, int* device) {
    return call("cudaStreamGetDevice", [&](Runtime& runtime) {
        require(device != nullptr);
        stream_of(runtime, stream);
        *device = 0;
    });
}

// Nothing is ever captured: cudaStreamBeginCapture is refused.
CudaError cudaStreamIsCapturing(void* stream, int* status) {
    return call("cudaStreamIsCapturing", [&](Runtime& runtime) {
        require(status != nullptr);
        stream_of(runtime, stream);
        *status = 0;
    });
}
CudaError cudaStreamGetCaptureInfo(void* stream, int* status, void*, void*, void*, void*, void*) {
    return cudaStreamIsCapturing(stream, status);
}
CudaError cudaThreadExchangeStreamCaptureMode(int*) { return CudaError::success; }

// The caller's thread runs it, without the lock: it may call what is allowed in callbacks.
CudaError cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
    const CudaError error = call("cudaLaunchHostFunc", [&](Runtime& runtime) {
        require(function != nullptr);
        stream_of(runtime, stream);
    });
    if (error == CudaError::success) function(data);
    return error;
}
CudaError cudaStreamAddCallback(void* stream, void (*function)(void*, CudaError, void*), void* data,
                                unsigned) {
    const CudaError error = call("cudaStreamAddCallback", [&](Runtime& runtime) {
        require(function != nullptr);
        stream_of(runtime, stream);
    });
    if (error == CudaError::success) function(stream, error, data);
    return error;
}

CudaError cudaEventCreateWithFlags(Event** out, unsigned flags) {
    return call("cudaEventCreate", [&](Runtime& runtime) {
        require(out != nullptr && flags <= 7);
        *out = runtime.add_event(flags);
    });
}
CudaError cudaEventCreate(Event** out) { return cudaEventCreateWithFlags(out, 0); }

CudaError cudaEventDestroy(Event* event) {
    return call("cudaEventDestroy",
                [&](Runtime& runtime) { runtime.remove_event(&event_of(runtime, event)); });
}

CudaError cudaEventRecordWithFlags(Event* event, void* stream, unsigned) {
    return call("cudaEventRecord", [&](Runtime& runtime) { record(runtime, event, stream); });
}
CudaError cudaEventRecord(Event* event, void* stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}

CudaError cudaEventSynchronize(Event* event) {
    return call("cudaEventSynchronize",
                [&](Runtime& runtime) { runtime.wait(event_of(runtime, event).clock); });
}
CudaError cudaEventQuery(Event* event) {
    return call("cudaEventQuery", [&](Runtime& runtime) { event_of(runtime, event); });
}

CudaError cudaEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
    return call("cudaEventElapsedTime", [&](Runtime& runtime) {
        require(milliseconds != nullptr);
        const Event& first = event_of(runtime, begin);
        const Event& last = event_of(runtime, end);
        require(first.recorded && last.recorded && (first.flags & without_timing) == 0 &&
                    (last.flags & without_timing) == 0,
                CudaError::invalid_resource_handle);
        double seconds = last.clock - first.clock;
        // Two records are never at one time; programs divide by what lies between.
        if (std::abs(seconds) < event_resolution) seconds = event_resolution;
        *milliseconds = static_cast<float>(seconds * 1e3);
    });
}

CudaError cudaDeviceSynchronize() {
    return call("cudaDeviceSynchronize", [](Runtime& runtime) { runtime.wait_for_all(); });
}

}  // extern "C"

}  // namespace occupipe::program

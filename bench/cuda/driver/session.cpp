// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/session.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "bench/harness/device_errors.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

// Launches are shorter than this: looking without pause tells of their end at once. What takes
// longer is not worth a busy core.
constexpr double seconds_without_pause = 5e-3;
constexpr std::chrono::microseconds pause{200};

}  // namespace

Session::Session(const std::string& driver_library, int ordinal) : driver_(driver_library) {
    int count = 0;
    driver_.check(driver_.device_get_count(&count), "cuDeviceGetCount");
    if (ordinal < 0 || ordinal >= count) {
        throw NothingToRunOn(fmt::format("no device cuda:{}: the driver finds {} GPU{}", ordinal,
                                         count, count == 1 ? "" : "s"));
    }
    driver_.check(driver_.device_get(&device_, ordinal), "cuDeviceGet");
    driver_.check(driver_.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    try {
        make_current();
    } catch (const DeviceError&) {
        driver_.primary_context_release(device_);
        throw;
    }
}

Session::~Session() {
    if (usable()) driver_.primary_context_release(device_);
}

void Session::make_current() const {
    driver_.check(driver_.context_set_current(context_), "cuCtxSetCurrent");
}

DeviceWatch::Wait Session::waiting(const char* call) const {
    if (!usable()) {
        throw DeviceLost(
            DeviceLost::Cause::fault,
            fmt::format("CUDA: {}: the device was lost earlier; run the same command again", call));
    }
    return {*watch_, call};
}

void Session::await(cu::Event event) const {
    const DeviceWatch::Wait wait = waiting("cuEventQuery");
    for (;;) {
        const cu::Result result = driver_.event_query(event);
        if (result == cu::success) return;
        if (result != cu::not_ready) driver_.check(result, "cuEventQuery");
        try {
            wait.check();
        } catch (const DeviceLost&) {
            driver_.lose();
            throw;
        }
        if (wait.seconds() > seconds_without_pause) std::this_thread::sleep_for(pause);
    }
}

DeviceBuffer::DeviceBuffer(std::shared_ptr<const Session> session, std::size_t bytes)
    : session_(std::move(session)), bytes_(bytes) {
    const Driver& driver = session_->driver();
    const auto wait = session_->waiting("cuMemAlloc");
    driver.check(driver.mem_alloc(&address_, bytes), "cuMemAlloc");
}

DeviceBuffer::~DeviceBuffer() {
    if (!session_->usable()) return;
    const DeviceWatch::Wait wait(session_->device_watch(), "cuMemFree");
    session_->driver().mem_free(address_);
}

void DeviceBuffer::fill(unsigned char value, std::size_t bytes) {
    const Driver& driver = session_->driver();
    const auto wait = session_->waiting("cuMemsetD8");
    driver.check(driver.fill_bytes(address_, value, bytes), "cuMemsetD8");
}

void DeviceBuffer::write(std::span<const std::byte> bytes, std::size_t offset) {
    const Driver& driver = session_->driver();
    const auto wait = session_->waiting("cuMemcpyHtoD");
    driver.check(driver.copy_to_device(address_ + offset, bytes.data(), bytes.size()),
                 "cuMemcpyHtoD");
}

void DeviceBuffer::read(std::span<std::byte> bytes, std::size_t offset) const {
    const Driver& driver = session_->driver();
    const auto wait = session_->waiting("cuMemcpyDtoH");
    driver.check(driver.copy_to_host(bytes.data(), address_ + offset, bytes.size()),
                 "cuMemcpyDtoH");
}

Texture::Texture(std::shared_ptr<const Session> session, cu::DevicePointer address,
                 std::size_t bytes)
    : session_(std::move(session)) {
    const cu::LinearResource resource{.address = address, .bytes = bytes};
    const cu::TextureDescription description;
    const Driver& driver = session_->driver();
    driver.check(driver.texture_create(&handle_, &resource, &description, nullptr),
                 "cuTexObjectCreate");
}

Texture::~Texture() {
    if (session_->usable()) session_->driver().texture_destroy(handle_);
}

LoadedKernel::LoadedKernel(std::shared_ptr<const Session> session, const std::string& cubin,
                           const char* entry)
    : session_(std::move(session)) {
    const Driver& driver = session_->driver();
    const auto wait = session_->waiting("cuModuleLoadData");
    driver.check(driver.module_load_data(&module_, cubin.data()), "cuModuleLoadData");
    try {
        driver.check(driver.module_get_function(&function_, module_, entry), "cuModuleGetFunction");
    } catch (const DeviceError&) {
        driver.module_unload(module_);
        throw;
    }
}

LoadedKernel::~LoadedKernel() {
    if (!session_->usable()) return;
    const DeviceWatch::Wait wait(session_->device_watch(), "cuModuleUnload");
    session_->driver().module_unload(module_);
}

void LoadedKernel::launch(unsigned groups, unsigned threads, unsigned shared_bytes,
                          std::span<void*> arguments, cu::Stream stream) const {
    const Driver& driver = session_->driver();
    driver.check(driver.launch_kernel(function_, groups, 1, 1, threads, 1, 1, shared_bytes, stream,
                                      arguments.data(), nullptr),
                 "cuLaunchKernel");
}

LaunchGraph::LaunchGraph(std::shared_ptr<const Session> session,
                         const std::function<void(cu::Stream)>& record)
    : session_(std::move(session)) {
    constexpr int thread_local_mode = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    const Driver& driver = session_->driver();
    driver.check(driver.stream_create(&stream_, 0), "cuStreamCreate");
    try {
        driver.check(driver.stream_begin_capture(stream_, thread_local_mode),
                     "cuStreamBeginCapture");
        record(stream_);
        driver.check(driver.stream_end_capture(stream_, &graph_), "cuStreamEndCapture");
        driver.check(driver.graph_instantiate(&executable_, graph_, 0), "cuGraphInstantiate");
    } catch (const DeviceError&) {
        release();
        throw;
    }
}

LaunchGraph::~LaunchGraph() { release(); }

void LaunchGraph::release() const {
    if (!session_->usable()) return;
    const Driver& driver = session_->driver();
    if (executable_) driver.graph_exec_destroy(executable_);
    if (graph_) driver.graph_destroy(graph_);
    driver.stream_destroy(stream_);
}

void LaunchGraph::launch() const {
    const Driver& driver = session_->driver();
    driver.check(driver.graph_launch(executable_, nullptr), "cuGraphLaunch");
}

Stopwatch::Stopwatch(std::shared_ptr<const Session> session) : session_(std::move(session)) {
    const Driver& driver = session_->driver();
    driver.check(driver.event_create(&begin_, 0), "cuEventCreate");
    const cu::Result second = driver.event_create(&end_, 0);
    if (second != cu::success) {
        driver.event_destroy(begin_);
        driver.check(second, "cuEventCreate");
    }
}

Stopwatch::~Stopwatch() {
    if (!session_->usable()) return;
    session_->driver().event_destroy(begin_);
    session_->driver().event_destroy(end_);
}

void Stopwatch::start() {
    const Driver& driver = session_->driver();
    driver.check(driver.event_record(begin_, nullptr), "cuEventRecord");
}

double Stopwatch::stop() {
    const Driver& driver = session_->driver();
    driver.check(driver.event_record(end_, nullptr), "cuEventRecord");
    session_->await(end_);
    float milliseconds = 0;
    driver.check(driver.event_elapsed_time(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return milliseconds * 1e-3;
}

}  // namespace occupipe::bench

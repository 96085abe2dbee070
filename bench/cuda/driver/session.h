// SPDX-License-Identifier: MIT
// One GPU in use: driver and context, and what lives in them. Everything is given back on the way
// out, whatever happened.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "bench/cuda/driver/driver_api.h"
#include "bench/harness/device_watch.h"

namespace occupipe::bench {

class Session {
public:
    Session(const std::string& driver_library, int ordinal);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const Driver& driver() const { return driver_; }
    cu::Device device() const { return device_; }
    int attribute(cu::DeviceAttribute attribute) const {
        return driver_.device_attribute(device_, attribute);
    }
    void make_current() const;  // the context belongs to a thread: call before anything else

    // Looks at the event until it has happened. Throws DeviceLost when it does not within the
    // watch's limit.
    void await(cu::Event event) const;
    // Around a call that may wait for the GPU. Throws DeviceLost where the device is lost already.
    DeviceWatch::Wait waiting(const char* call) const;
    DeviceWatch& device_watch() const { return *watch_; }
    // False: the device is lost, and what lives on it is left to the end of the process.
    bool usable() const { return !driver_.lost(); }
    void watch(const std::shared_ptr<DeviceWatch>& watch) { watch_ = watch; }

private:
    Driver driver_;
    cu::Device device_ = 0;
    cu::Context context_ = nullptr;
    std::shared_ptr<DeviceWatch> watch_ = std::make_shared<DeviceWatch>();
};

// Memory on the GPU.
class DeviceBuffer {
public:
    DeviceBuffer(std::shared_ptr<const Session> session, std::size_t bytes);
    ~DeviceBuffer();
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    cu::DevicePointer address() const { return address_; }
    std::size_t size() const { return bytes_; }
    void fill(unsigned char value, std::size_t bytes);
    void write(std::span<const std::byte> bytes, std::size_t offset = 0);
    void read(std::span<std::byte> bytes, std::size_t offset = 0) const;

private:
    std::shared_ptr<const Session> session_;
    cu::DevicePointer address_ = 0;
    std::size_t bytes_ = 0;
};

// 32-bit words on the GPU as a texture of one dimension, read by their indices.
class Texture {
public:
    Texture(std::shared_ptr<const Session> session, cu::DevicePointer address, std::size_t bytes);
    ~Texture();
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;

    cu::TextureObject handle() const { return handle_; }

private:
    std::shared_ptr<const Session> session_;
    cu::TextureObject handle_ = 0;
};

// A loaded kernel.
class LoadedKernel {
public:
    LoadedKernel(std::shared_ptr<const Session> session, const std::string& cubin,
                 const char* entry);
    ~LoadedKernel();
    LoadedKernel(const LoadedKernel&) = delete;
    LoadedKernel& operator=(const LoadedKernel&) = delete;

    cu::Function function() const { return function_; }
    int attribute(cu::FunctionAttribute attribute) const {
        return session_->driver().function_attribute(function_, attribute);
    }
    // stream: nullptr is the default one.
    void launch(unsigned groups, unsigned threads, unsigned shared_bytes,
                std::span<void*> arguments, cu::Stream stream = nullptr) const;

private:
    std::shared_ptr<const Session> session_;
    cu::Module module_ = nullptr;
    cu::Function function_ = nullptr;
};

// Launches that the GPU gets as one graph, each node behind the one before it.
class LaunchGraph {
public:
    // `record` launches into the stream that it is given; nothing runs yet.
    LaunchGraph(std::shared_ptr<const Session> session,
                const std::function<void(cu::Stream)>& record);
    ~LaunchGraph();
    LaunchGraph(const LaunchGraph&) = delete;
    LaunchGraph& operator=(const LaunchGraph&) = delete;

    void launch() const;  // into the default stream

private:
    void release() const;

    std::shared_ptr<const Session> session_;
    cu::Stream stream_ = nullptr;
    cu::Graph graph_ = nullptr;
    cu::GraphExec executable_ = nullptr;
};

// Two events around a launch.
class Stopwatch {
public:
    explicit Stopwatch(std::shared_ptr<const Session> session);
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    void start();
    double stop();  // waits for all work; seconds since start()

private:
    std::shared_ptr<const Session> session_;
    cu::Event begin_ = nullptr;
    cu::Event end_ = nullptr;
};

}  // namespace occupipe::bench

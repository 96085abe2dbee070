// SPDX-License-Identifier: MIT
// NVIDIA's run-time compiler, opened when first needed: CUDA text → PTX and machine code. Works
// without a GPU and without a driver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/shared_library.h"

namespace occupipe::bench {

struct NvrtcOutput {
    std::string ptx;
    std::string cubin;
    std::string log;  // warnings; empty when the compiler had nothing to say
};

struct NvrtcCalls;

class Nvrtc {
public:
    // Opens the first of `names` (find_cuda.h) that is a usable NVRTC. Throws DeviceError, with
    // the loader's words, when none is.
    explicit Nvrtc(const std::vector<std::string>& names);
    ~Nvrtc();
    Nvrtc(const Nvrtc&) = delete;
    Nvrtc& operator=(const Nvrtc&) = delete;

    std::string version() const;                                              // "13.0"
    std::string path() const { return library_.path(); }                      // of the library
    const std::vector<int>& architectures() const { return architectures_; }  // 75, 80, … ascending
    // The architecture to compile for: the GPU's own where the compiler knows it, else the
    // newest older one of the same generation, whose machine code the GPU also runs. Throws
    // DeviceError when there is none.
    std::string architecture_for(int major, int minor) const;

    // `architecture`: "sm_90". Throws DeviceError with the compiler's words.
    NvrtcOutput compile(const std::string& text, const std::string& architecture) const;

    // Options that every kernel is compiled with.
    static std::vector<std::string> options(const std::string& architecture);

private:
    bool open(const std::string& name, std::string& why_not);

    SharedLibrary library_;
    SharedLibrary builtins_;
    std::vector<int> architectures_;
    int major_ = 0;
    int minor_ = 0;
    // The few entry points in use; nvrtc.cpp declares them.
    std::unique_ptr<NvrtcCalls> calls_;
};

// The one compiler of this process. Throws DeviceError when it is not installed, or hidden.
const Nvrtc& nvrtc();

}  // namespace occupipe::bench

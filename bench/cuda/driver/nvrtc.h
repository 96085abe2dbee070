// SPDX-License-Identifier: MIT
// NVIDIA's run-time compiler, opened when first needed: CUDA text → PTX and machine code. Works
// without a GPU and without a driver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/driver/host_headers.h"
#include "bench/cuda/driver/kernel_compiler.h"
#include "bench/cuda/driver/shared_library.h"

namespace occupipe::bench {

struct NvrtcCalls;

struct SourceText {
    std::string text;
    std::string file = "occupipe.cu";         // how messages and line numbers call it
    std::vector<Header> headers = {};         // that it may include
    std::vector<std::string> instances = {};  // kernels that are wanted, such as "fill<4>"
};

class Nvrtc : public KernelCompiler {
public:
    // Opens the first of `names` (find_cuda.h) that is a usable NVRTC. Throws DeviceError, with
    // the loader's words, when none is.
    explicit Nvrtc(const std::vector<std::string>& names);
    ~Nvrtc() override;
    Nvrtc(const Nvrtc&) = delete;
    Nvrtc& operator=(const Nvrtc&) = delete;

    std::string version() const;                                              // "13.0"
    std::string path() const { return library_.path(); }                      // of the library
    const std::vector<int>& architectures() const { return architectures_; }  // 75, 80, … ascending
    std::string name() const override { return "NVRTC " + version(); }
    std::string architecture_for(int major, int minor) const override;
    // Throws DeviceError, saying which it does, when it does not compile for this one ("sm_70").
    void require(const std::string& architecture) const;
    NvrtcOutput compile(const std::string& text, const std::string& architecture) const override;
    // With the caller's options beside the architecture instead of those of measured kernels.
    NvrtcOutput compile(const SourceText& source, const std::string& architecture,
                        const std::vector<std::string>& more_options) const;

private:
    bool open(const std::string& name, std::string& why_not);
    NvrtcOutput compile_with(const SourceText& source, const std::string& architecture,
                             const std::vector<std::string>& all_options) const;

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

// SPDX-License-Identifier: MIT
// What turns CUDA text into PTX and machine code: NVRTC here (nvrtc.h), or on another machine,
// whose results were brought along (bench/offline/stored_compiler.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"

namespace occupipe::bench {

struct NvrtcOutput {
    std::string ptx;
    std::string cubin;
    std::string log;       // warnings; empty when the compiler had nothing to say
    std::string compiler;  // "NVRTC 13.0"
    // Names in the machine code of kernels that were asked for in words of the source.
    std::map<std::string, std::string> lowered = {};
};

// The compiler refuses the text; what() holds its words, in lines.
class CompileError : public DeviceError {
public:
    using DeviceError::DeviceError;
};

class KernelCompiler {
public:
    virtual ~KernelCompiler() = default;
    // For people and for the measurement file: "NVRTC 13.0".
    virtual std::string name() const = 0;
    // The architecture to compile for: the GPU's own where the compiler knows it, else the
    // newest older one of the same generation, whose machine code the GPU also runs. Throws
    // DeviceError when there is none.
    virtual std::string architecture_for(int major, int minor) const = 0;
    // `architecture`: "sm_90". Throws DeviceError with the compiler's words. May be called from
    // several threads at once.
    virtual NvrtcOutput compile(const std::string& text, const std::string& architecture) const = 0;

    // What the reader of the measurements has to know about where kernels came from; empty:
    // nothing.
    virtual std::string remark() const { return {}; }

    // Options that every kernel is compiled with.
    static std::vector<std::string> options(const std::string& architecture);
};

// Tells apart everything that goes into a kernel's machine code: 32 hexadecimal digits.
std::string kernel_key(const std::string& text, const std::string& architecture,
                       const std::string& compiler);

}  // namespace occupipe::bench

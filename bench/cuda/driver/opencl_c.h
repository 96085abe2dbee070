// SPDX-License-Identifier: MIT
// OpenCL C → PTX with clang and libclc, both found at run time. Needs no GPU and no OpenCL driver.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/cuda/driver/find_cuda.h"

namespace occupipe::bench {

// clang with the built-in functions for NVIDIA's GPUs that it links.
struct OpenClCompiler {
    std::filesystem::path clang;
    std::filesystem::path builtins;  // nvptx64--nvidiacl.bc
    std::string version;             // "19.1.7"
};

// `wanted`: a path or a name on $PATH; empty: $OCCUPIPE_CLANG ("none": there is no clang), else
// clang-19, then newer and older versions, then clang. The built-in functions: $OCCUPIPE_LIBCLC (a
// folder), else where distributions put them. Throws DeviceError, naming the packages, when either
// is missing; InputError when `wanted` is not there.
OpenClCompiler find_opencl_compiler(const std::string& wanted, const Surroundings& from);

struct OpenClOutput {
    std::string ptx;
    std::string compiler;              // "clang 19.1.7 with libclc"
    std::vector<std::string> options;  // all that has to do with the code
    std::string arithmetic;            // for people: what is fused, how / and sqrt are rounded
};

// `architecture`: "sm_90"; clang compiles for sm_90 where it is newer, which PTX allows. `more`:
// options for clang; what they say of contraction, division and the language's version takes the
// place of the default. Throws CompileError with clang's words.
OpenClOutput compile_opencl(const std::filesystem::path& source, const std::string& architecture,
                            const std::vector<std::string>& more, const OpenClCompiler& compiler);

// What ptxas says of such PTX, where a function is missing in words of OpenCL C.
std::string plain_words(const std::string& of_ptxas);

}  // namespace occupipe::bench

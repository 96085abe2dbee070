// SPDX-License-Identifier: MIT
// The kernels that come with the program to measure and to predict (kernels/README.md).
//   for (const SuiteKernel& one : shipped_suite()) read_launches(one.small);
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace occupipe::analysis {

struct SuiteKernel {
    std::string name;       // of the kernel in its file
    std::string published;  // what published tables call the kernel that it follows; empty: none
    std::string about;
    std::filesystem::path source;  // CUDA and OpenCL C
    std::filesystem::path small;   // launch files
    std::filesystem::path large;
};

// A file in the form of kernels/suite.yaml; throws InputError.
std::vector<SuiteKernel> read_suite(const std::filesystem::path& index);

// Empty where the program was moved away from its data.
std::vector<SuiteKernel> shipped_suite();

// Throws InputError that lists near names.
const SuiteKernel& find_suite_kernel(const std::vector<SuiteKernel>& suite,
                                     const std::string& name);

}  // namespace occupipe::analysis

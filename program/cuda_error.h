// SPDX-License-Identifier: MIT
// Errors of the CUDA runtime, by their numbers.
#pragma once

#include <stdexcept>
#include <string>

namespace occupipe::program {

enum class CudaError : int {
    success = 0,
    invalid_value = 1,
    memory_allocation = 2,
    initialization_error = 3,
    invalid_configuration = 9,
    invalid_pitch_value = 12,
    invalid_symbol = 13,
    invalid_host_pointer = 16,
    invalid_device_pointer = 17,
    invalid_memcpy_direction = 21,
    missing_configuration = 52,
    invalid_device_function = 98,
    no_device = 100,
    invalid_device = 101,
    invalid_kernel_image = 200,
    no_kernel_image_for_device = 209,
    invalid_resource_handle = 400,
    symbol_not_found = 500,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_timeout = 702,
    peer_access_already_enabled = 704,
    peer_access_not_enabled = 705,
    assert_failed = 710,
    host_memory_already_registered = 712,
    host_memory_not_registered = 713,
    illegal_instruction = 715,
    misaligned_address = 716,
    launch_failure = 719,
    cooperative_launch_too_large = 720,
    not_permitted = 800,
    not_supported = 801,
    unknown = 999,
};

struct CudaErrorText {
    CudaError error;
    const char* name;  // "cudaErrorInvalidValue"
    const char* text;
};

// nullptr: no error has the number.
const CudaErrorText* find_error(int number);

// An entry point returns this error; what(): why, empty where the error says it all.
struct CudaFailure : std::runtime_error {
    explicit CudaFailure(CudaError of, const std::string& why = "")
        : std::runtime_error(why), error(of) {}
    CudaError error;
};

}  // namespace occupipe::program

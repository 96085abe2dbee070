// SPDX-License-Identifier: MIT
// From what a compiled program registers to the machine code that a GPU would run of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ask/kernel_file.h"
#include "isa/containers/device_images.h"

namespace occupipe::program {

// The bytes that the wrapper of a fat binary points to, which __cudaRegisterFatBinary gets; empty:
// it is no wrapper that is known.
std::string_view wrapped_bytes(const void* wrapper);

struct ChosenCode {
    analysis::KernelFile file;
    std::string note;  // where a GPU of the architecture would not run just this; empty: it would
};

// As a driver chooses for an architecture (86): its machine code, or that of the nearest older one
// of its generation, else PTX, compiled (ptxas), else, where no compiler is here, machine code of
// another generation, which the note says. Throws InputError where there is none at all.
ChosenCode choose_code(const std::vector<isa::DeviceImage>& images, int architecture,
                       const std::string& name);

}  // namespace occupipe::program

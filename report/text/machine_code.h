// SPDX-License-Identifier: MIT
// A kernel's machine code as a person reads it:
//   saxpy for sm_90: 16 instructions, 10 registers, no local memory
//   parameters: 0 at c[0x0][0x210], 8 bytes; 1 at c[0x0][0x218], 4 bytes
//   address waits for  sets      stall
//   0030               SB0           2    LDC R7, c[0x0][RZ]
//   0040    SB0                      5 y  IMAD R7, R7, UR4, R0
#pragma once

#include <cstddef>
#include <string>

#include "isa/cubin.h"

namespace occupipe::report {

struct Listing {
    std::string text;
    std::size_t unknown = 0;    // instructions that are not understood in full
    std::string first_unknown;  // address, name and bits of the first
};

// `bits`: with the 128 bits of each instruction.
Listing machine_code_listing(const isa::Kernel& kernel, int architecture, bool bits);

}  // namespace occupipe::report

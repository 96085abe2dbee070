// SPDX-License-Identifier: MIT
// Device code in files that hold several images of it: fat binaries, and what they are in.
//   for (const DeviceImage& one : device_images(bytes)) …
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace occupipe::isa {

struct DeviceImage {
    enum class Kind : std::uint8_t { machine_code, ptx };
    Kind kind = Kind::machine_code;
    int architecture = 0;  // 75, 90, …; of PTX: its virtual one
    std::size_t container =
        0;  // which of the file's, from 0 on: one for each text that nvcc compiled
    bool relocatable = false;  // machine code that is not linked
    std::string bytes;         // unpacked: a cubin; PTX

    // "sm_75", "PTX of compute_90"
    std::string name() const;
};

// Whether it is a cubin: ELF for NVIDIA's machine.
bool is_cubin(std::string_view bytes);

// Whether it is an ELF file for the host's processor.
bool is_host_object(std::string_view bytes);

// All images of all fat binaries in the bytes, wherever they lie, in order; empty: there are none.
// Throws InputError where one is broken.
std::vector<DeviceImage> device_images(std::string_view bytes);

// PTX as cuobjdump and assemblers print it: each text from its .version on, without what stands
// before it and between them. One whose end is nowhere told reaches to the next. A text without
// .version comes back as it is.
std::vector<std::string> ptx_texts(std::string_view text);

// What the first .target says, "sm_90"; empty: nothing.
std::string ptx_target(std::string_view ptx);

}  // namespace occupipe::isa

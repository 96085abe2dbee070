// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a file with fat binaries in it (a host object, an executable, an
// archive), what comes out of them as machine code and PTX; and as compressed code of any size.
// Whatever comes out is images, or an InputError.
// Built with clang and -DOCCUPIPE_FUZZ=ON; run: fuzz_images -max_total_time=600 tests/containers
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "isa/containers/decompress.h"
#include "isa/containers/device_images.h"
#include "isa/cubin.h"

namespace {

using namespace occupipe;
using namespace occupipe::isa;

template <typename Read>
void refused_or(Read read) {
    try {
        read();
    } catch (const InputError&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(data, data + size);
    refused_or([&] {
        for (const DeviceImage& one : device_images(bytes)) {
            if (one.name().empty()) std::abort();
            if (one.kind == DeviceImage::Kind::machine_code)
                refused_or([&] { read_cubin(one.bytes); });
            else if (ptx_texts(one.bytes).empty())
                std::abort();
        }
    });
    if (size < 3) return 0;
    const std::size_t unpacked = data[0] | static_cast<std::size_t>(data[1]) << 8;
    for (const auto unpack : {&unpack_lz4, &unpack_zstd})
        refused_or([&] {
            if (unpack(std::string_view(bytes).substr(2), unpacked).size() != unpacked)
                std::abort();
        });
    return 0;
}

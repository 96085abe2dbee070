// SPDX-License-Identifier: MIT
// What fat binaries hold compressed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace occupipe::isa {

// Both throw InputError where the input is broken or does not give `size` bytes. What stands behind
// the end of the compressed data is passed over.
std::string unpack_lz4(std::string_view packed, std::size_t size);  // one block, without a frame
std::string unpack_zstd(std::string_view packed, std::size_t size);

}  // namespace occupipe::isa

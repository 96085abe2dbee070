// SPDX-License-Identifier: MIT
// Steers executing_driver.cpp.
#pragma once

#include <cstddef>
#include <optional>

namespace occupipe::test {

// Of everything that is copied from the device one bit of this byte is turned; absent: none.
extern std::optional<std::size_t> spoilt_byte;

}  // namespace occupipe::test

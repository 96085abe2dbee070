// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace occupipe {

// What is wrong with the core clock that a file's context claims, where a person or a driver may
// have written anything: "'1980' is no core clock in Hz: is it in MHz or GHz?".
std::optional<std::string> fault_of_claimed_clock(const std::string& text);

}  // namespace occupipe

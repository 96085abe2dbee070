// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace occupipe {

// Why `name` cannot name an instruction, subsystem or node of a graph; nullopt when it can.
// Names end up in measurement names, in `after` lists and on command lines, hence no blanks and
// none of @ / * , ( ) [ ] { } = : # " '
std::optional<std::string> name_fault(std::string_view name);

// The same for a text that may hold blanks, or be empty: a device's or a kernel's name.
std::optional<std::string> control_character_fault(std::string_view text);

}  // namespace occupipe

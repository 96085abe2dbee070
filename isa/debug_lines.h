// SPDX-License-Identifier: MIT
// Source lines of machine code: the line number program of DWARF 2 to 4 (.debug_line), which
// -lineinfo makes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "isa/cubin.h"

namespace occupipe::isa {

// By the section that the lines are about (".text.saxpy"), ascending by address, one entry where
// the line changes. `relocations`: those of the section, which say which code an address belongs
// to. Code of another file that was put in place of a call has the line of that call. Of another
// version, or cut off, it tells nothing from there on: line numbers are a help, and never a reason
// to refuse a file.
std::map<std::string, std::vector<SourceLine>> read_debug_lines(
    std::string_view section, const std::vector<Relocation>& relocations);

}  // namespace occupipe::isa

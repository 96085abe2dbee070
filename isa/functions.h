// SPDX-License-Identifier: MIT
// Functions in sections of their own (debug builds, separate compilation): a kernel's code with
// those behind it that it may call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "isa/cubin.h"

namespace occupipe::isa {

// Addresses of functions begin here, whichever kernel calls them: those of a kernel's own section
// begin at 0.
inline constexpr std::uint64_t first_function = 0x0000'5000'0000'0000;

// Sections of code that another section names in a relocation and that take no parameters are
// functions. The code of those that a kernel can reach, through relocations of code or because
// data (tables of functions) name them, is added behind the kernel's.
void add_functions(Cubin& cubin);

// Where the code at an address from first_function on stands in the kernel's; none where it has no
// such function.
std::optional<std::uint64_t> place_of_function(const Kernel& kernel, std::uint64_t address);

// Where a function's section begins among all functions, in bytes; none where it is not one.
std::optional<std::uint64_t> function_offset(const Cubin& cubin, std::string_view section);

// Puts addresses where the relocations of the kernel's section and its functions' want them.
// `address(relocation)`: of what it names. Throws InputError where a kind is not known.
void relocate_code(const Cubin& cubin, const Kernel& kernel, std::vector<Word>& code,
                   const std::function<std::uint64_t(const Relocation&)>& address);

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
// Places in memory for the lanes of one instruction: chosen first, registers set so that the
// instruction goes there.
#pragma once

#include <random>

#include "tests/isa/machine/formulas.h"

namespace occupipe::isa::test {

// Which memory an instruction's address means; generic ones are global here.
Space space_of(const Instruction& one);

// Sets the registers of the address. False where that is not possible: an address without a
// register, or one whose register is also the data of a store.
bool set_addresses(const Instruction& one, int architecture, const SingleStep& machine,
                   State& state, std::mt19937_64& random);

// Index of a lane's first byte in State::global, shared or local, from the registers.
std::size_t place_of(const Case& of, int lane);

// Offset in the constant bank.
std::int64_t constant_place(const Case& of, int lane);

}  // namespace occupipe::isa::test

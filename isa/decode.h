// SPDX-License-Identifier: MIT
// Decoder of machine code. NVIDIA does not document the encoding: rows and fields of the table
// (encoding.h) were found by comparing machine code with the vendor's disassembler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/instruction.h"

namespace occupipe::isa {

// What was compared with the vendor's disassembler: core/architectures.h.
bool known_architecture(int architecture);

// Never throws on a word: what is not understood stands in `unknown`. `architecture`: 75, 80, …;
// `address`: of the instruction in its section, in bytes.
Instruction decode(Word word, std::int64_t address, int architecture);

// Instructions that follow each other from address 0 on.
std::vector<Instruction> decode(const std::vector<Word>& code, int architecture);

// Throws InputError with address, name and bits unless the instruction is understood in full.
void require_known(const Instruction& instruction, int architecture);

// As the vendor's disassembler writes it, with addresses in place of labels:
// "@!P0 IMAD.WIDE.U32 R4, R3.reuse, 0x4, R4". An instruction that is not understood is its name
// as far as known and a question mark.
std::string to_text(const Instruction& instruction, int architecture);

// "stall 4 yield write 0 read 1 wait 03", with the parts that there are.
std::string to_text(const Control& control);

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
#include "extract/registers.h"

#include <algorithm>

namespace occupipe::extract {
namespace {

using Name = RegisterName;
using Kind = isa::Operand::Kind;

constexpr int predicates = 7;  // P0 to P6

Name::File file_of(isa::File file) {
    switch (file) {
        case isa::File::general:
            return Name::File::general;
        case isa::File::predicate:
            return Name::File::predicate;
        case isa::File::uniform:
            return Name::File::uniform;
        case isa::File::uniform_predicate:
            return Name::File::uniform_predicate;
    }
    return Name::File::general;
}

void add(std::vector<Name>& names, Name::File file, std::optional<int> first, int count) {
    if (!first) return;
    for (int i = 0; i < count; ++i) {
        const Name name{file, *first + i};
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
}

void add_operand(RegisterUse& use, const isa::Operand& operand) {
    std::vector<Name>& names = operand.written ? use.written : use.read;
    switch (operand.kind) {
        case Kind::registers:
            add(names, file_of(operand.file), operand.number, operand.count);
            break;
        case Kind::predicate:
            add(names,
                operand.file == isa::File::uniform_predicate ? Name::File::uniform_predicate
                                                             : Name::File::predicate,
                operand.number, 1);
            break;
        case Kind::address:
            add(use.read, file_of(operand.file), operand.number, operand.count);
            add(use.read, Name::File::uniform, operand.uniform,
                operand.count == 2 || operand.part == ".U32" ? 2 : 1);
            add(use.read, Name::File::uniform, operand.descriptor, 2);
            break;
        case Kind::constant:
        case Kind::target:
            add(use.read, file_of(operand.file), operand.number, operand.count);
            break;
        case Kind::all_predicates:
            add(names, Name::File::predicate, 0, predicates);
            break;
        case Kind::barrier:
            add(names, Name::File::barrier, operand.number, 1);
            break;
        case Kind::immediate:
        case Kind::real:
        case Kind::half_pair:
        case Kind::special:
        case Kind::scoreboard:
            break;
    }
}

}  // namespace

RegisterUse registers_of(const isa::Instruction& instruction) {
    RegisterUse use;
    if (instruction.guard) {
        add(use.read,
            instruction.guard->file == isa::File::uniform_predicate ? Name::File::uniform_predicate
                                                                    : Name::File::predicate,
            instruction.guard->number, 1);
    }
    for (const isa::Operand& operand : instruction.operands) add_operand(use, operand);
    return use;
}

}  // namespace occupipe::extract

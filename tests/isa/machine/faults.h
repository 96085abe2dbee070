// SPDX-License-Identifier: MIT
// Faults that somebody could have made in the semantics, planted one at a time: another word is
// executed than the one shown (a mark that is not heeded is a bit that is not set), or something
// stands around the handler.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/isa/machine/single_step.h"

namespace occupipe::isa::test {

struct Fault {
    std::string_view name;
    // Whether it can show in this instruction.
    std::function<bool(const Instruction&)> concerns;
    std::function<Word(Word, const Instruction&)> altered;  // none: the word stays
    Wrap wrap = nullptr;
};

const std::vector<Fault>& faults();

}  // namespace occupipe::isa::test

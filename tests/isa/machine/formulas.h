// SPDX-License-Identifier: MIT
// What instructions do, written a second time, from their description and with the host's own
// arithmetic; shares nothing with isa/machine but the decoder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/instruction.h"
#include "tests/isa/machine/single_step.h"

namespace occupipe::isa::test {

// One instruction, the state that it meets, and the state that the formula says it leaves.
struct Case {
    const Instruction& one;
    int architecture;
    const SingleStep& machine;
    Mask active;
    const State& before;
    State& after;
    std::vector<const Operand*> sources;       // read, predicates apart, in the order of the text
    std::vector<const Operand*> destinations;  // registers written
    // What the formula leaves open: predicate (or uniform) number and lanes.
    std::vector<std::pair<std::uint32_t*, Mask>> open;
    std::set<const std::uint32_t*> open_registers;  // words of `after`
    std::vector<std::size_t> open_global;           // bytes of global memory

    Case(const Instruction& instruction, int arch, const SingleStep& step, Mask lanes,
         const State& from, State& to);

    bool uniform() const;  // of the uniform datapath: one lane for all
    bool has(std::string_view name) const { return one.has(name); }
};

// What one lane sees and writes.
class Lane {
public:
    Lane(Case& of, int lane) : case_(of), lane_(lane) {}

    int number() const { return lane_; }
    Case& whole() const { return case_; }

    std::uint32_t raw(std::size_t i, int word = 0) const;  // without marks
    std::uint64_t raw64(std::size_t i) const;
    std::uint32_t integer(std::size_t i) const;  // -R, ~R applied
    std::uint64_t integer64(std::size_t i) const;
    std::uint32_t single(std::size_t i) const;  // |R|, -R applied to the sign
    std::uint64_t real64(std::size_t i) const;
    // Both halves by the selector, signs applied.
    std::pair<std::uint16_t, std::uint16_t> halves(std::size_t i) const;

    // A predicate read, by its place in the word; true where the instruction has none there.
    bool predicate(int place) const;
    bool has_predicate(int place, bool written) const;

    void write(std::uint32_t value, int word = 0);
    void write64(std::uint64_t value);
    void set(int place, bool value);  // a predicate written, by its place
    void leave_open(int place);       // nothing is said of this predicate in this lane

private:
    Case& case_;
    int lane_;
};

// Every active lane by itself, or once for the uniform datapath.
void each_lane_of(Case& of, const std::function<void(Lane&)>& formula);

// Fills `after`; false where there is no formula for this instruction.
using Formula = bool (*)(Case&);
Formula formula_of(const Instruction& one);

struct NamedFormula {
    std::string_view opcode;  // without the U of the uniform datapath where both are alike
    Formula formula;
};
std::vector<NamedFormula> integer_formulas();
std::vector<NamedFormula> real_formulas();
std::vector<NamedFormula> half_formulas();
std::vector<NamedFormula> warp_formulas();
std::vector<NamedFormula> memory_formulas();

// Two binary16 or bfloat16 in a word, each rounded to nearest.
std::uint32_t sums_of_halves(std::uint32_t a, std::uint32_t b, bool brain);

}  // namespace occupipe::isa::test

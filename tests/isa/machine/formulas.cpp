// SPDX-License-Identifier: MIT
#include "tests/isa/machine/formulas.h"

#include <map>

#include "isa/decode.h"

namespace occupipe::isa::test {

Case::Case(const Instruction& instruction, int arch, const SingleStep& step, Mask lanes,
           const State& from, State& to)
    : one(instruction), architecture(arch), machine(step), active(lanes), before(from), after(to) {
    for (const Operand& operand : one.operands) {
        if (operand.kind == Operand::Kind::predicate) continue;
        (operand.written ? destinations : sources).push_back(&operand);
    }
}

bool Case::uniform() const {
    return one.opcode.starts_with('U') ||
           (!destinations.empty() && destinations[0]->file == File::uniform);
}

std::uint32_t Lane::raw(std::size_t i, int word) const {
    const Operand& operand = *case_.sources.at(i);
    switch (operand.kind) {
        case Operand::Kind::registers: {
            const int zero = constant_register(operand.file, case_.architecture);
            if (!operand.number || *operand.number == zero) return 0;
            const auto number = static_cast<std::size_t>(*operand.number + word);
            if (operand.file == File::uniform) return case_.before.uniform.at(number);
            return case_.before.general.at(number)[static_cast<std::size_t>(lane_)];
        }
        case Operand::Kind::constant:
            return case_.machine.constant(operand.bank, operand.value + 4 * word);
        case Operand::Kind::real:
        case Operand::Kind::immediate:
            if (operand.wide) return word == 0 ? 0 : static_cast<std::uint32_t>(operand.value);
            [[fallthrough]];
        default:
            return static_cast<std::uint32_t>(static_cast<std::uint64_t>(operand.value) >>
                                              (word == 0 ? 0 : 32));
    }
}

std::uint64_t Lane::raw64(std::size_t i) const {
    return raw(i, 0) | static_cast<std::uint64_t>(raw(i, 1)) << 32;
}

std::uint32_t Lane::integer(std::size_t i) const {
    const Operand& operand = *case_.sources.at(i);
    const std::uint32_t value = raw(i);
    return operand.negated ? ~value + 1 : operand.inverted ? ~value : value;
}

std::uint64_t Lane::integer64(std::size_t i) const {
    const Operand& operand = *case_.sources.at(i);
    const std::uint64_t value = raw64(i);
    return operand.negated ? ~value + 1 : operand.inverted ? ~value : value;
}

std::uint32_t Lane::single(std::size_t i) const {
    const Operand& operand = *case_.sources.at(i);
    std::uint32_t value = raw(i);
    if (operand.absolute) value &= 0x7fffffff;
    if (operand.negated) value ^= 0x80000000;
    return value;
}

std::uint64_t Lane::real64(std::size_t i) const {
    const Operand& operand = *case_.sources.at(i);
    std::uint64_t value = raw64(i);
    if (operand.absolute) value &= ~(std::uint64_t{1} << 63);
    if (operand.negated) value ^= std::uint64_t{1} << 63;
    return value;
}

std::pair<std::uint16_t, std::uint16_t> Lane::halves(std::size_t i) const {
    const Operand& operand = *case_.sources.at(i);
    const std::uint32_t value = raw(i);
    auto low = static_cast<std::uint16_t>(value), high = static_cast<std::uint16_t>(value >> 16);
    if (operand.part == ".H0_H0") high = low;
    if (operand.part == ".H1_H1") low = high;
    for (std::uint16_t* const half : {&low, &high}) {
        if (operand.absolute) *half &= 0x7fff;
        if (operand.negated) *half ^= 0x8000;
    }
    return {low, high};
}

namespace {

const Operand* predicate_at(const Instruction& one, int place, bool written) {
    for (const Operand& operand : one.operands) {
        const bool here = operand.kind == Operand::Kind::predicate && operand.place == place;
        if (here && operand.written == written) return &operand;
    }
    return nullptr;
}

}  // namespace

bool Lane::has_predicate(int place, bool written) const {
    const Operand* const operand = predicate_at(case_.one, place, written);
    return operand && (!written || operand->number);
}

bool Lane::predicate(int place) const {
    const Operand* const operand = predicate_at(case_.one, place, false);
    if (!operand) return true;
    std::uint32_t mask = 0xffffffff;
    if (operand->number) {
        const auto number = static_cast<std::size_t>(*operand->number);
        mask = operand->file == File::uniform_predicate ? case_.before.uniform_predicate.at(number)
                                                        : case_.before.predicate.at(number);
    }
    const bool value = (mask >> lane_ & 1) != 0;
    return value != operand->inverted;
}

void Lane::write(std::uint32_t value, int word) {
    if (case_.destinations.empty() || !case_.destinations[0]->number) return;
    const Operand& operand = *case_.destinations[0];
    const auto number = static_cast<std::size_t>(*operand.number + word);
    if (operand.file == File::uniform) {
        if (*operand.number == constant_register(File::uniform, case_.architecture)) return;
        case_.after.uniform.at(number) = value;
    } else {
        case_.after.general.at(number)[static_cast<std::size_t>(lane_)] = value;
    }
}

void Lane::write64(std::uint64_t value) {
    write(static_cast<std::uint32_t>(value), 0);
    write(static_cast<std::uint32_t>(value >> 32), 1);
}

void Lane::set(int place, bool value) {
    const Operand* const operand = predicate_at(case_.one, place, true);
    if (!operand || !operand->number) return;
    const auto number = static_cast<std::size_t>(*operand->number);
    if (operand->file == File::uniform_predicate) {
        case_.after.uniform_predicate.at(number) = value ? 0xffffffff : 0;
        return;
    }
    std::uint32_t& mask = case_.after.predicate.at(number);
    const std::uint32_t bit = std::uint32_t{1} << lane_;
    mask = value ? mask | bit : mask & ~bit;
}

void Lane::leave_open(int place) {
    const Operand* const operand = predicate_at(case_.one, place, true);
    if (!operand || !operand->number) return;
    const auto number = static_cast<std::size_t>(*operand->number);
    const bool is_uniform = operand->file == File::uniform_predicate;
    std::uint32_t& mask =
        is_uniform ? case_.after.uniform_predicate.at(number) : case_.after.predicate.at(number);
    case_.open.emplace_back(&mask, is_uniform ? 0xffffffff : std::uint32_t{1} << lane_);
}

void each_lane_of(Case& of, const std::function<void(Lane&)>& formula) {
    for (int i = 0; i < 32; ++i) {
        if (of.uniform() ? i > 0 : (of.active >> i & 1) == 0) continue;
        Lane lane(of, i);
        formula(lane);
    }
}

Formula formula_of(const Instruction& one) {
    static const std::map<std::string_view, Formula> all = [] {
        std::map<std::string_view, Formula> found;
        for (const auto& list : {integer_formulas(), real_formulas(), half_formulas(),
                                 warp_formulas(), memory_formulas()}) {
            for (const NamedFormula& named : list) found.emplace(named.opcode, named.formula);
        }
        return found;
    }();
    auto at = all.find(one.opcode);
    if (at == all.end() && one.opcode.starts_with('U')) at = all.find(one.opcode.substr(1));
    return at == all.end() ? nullptr : at->second;
}

}  // namespace occupipe::isa::test

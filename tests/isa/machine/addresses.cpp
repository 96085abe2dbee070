// SPDX-License-Identifier: MIT
#include "tests/isa/machine/addresses.h"

#include "isa/decode.h"

namespace occupipe::isa::test {
namespace {

const Operand* address_of(const Instruction& one) {
    for (const Operand& operand : one.operands) {
        if (operand.kind == Operand::Kind::address) return &operand;
    }
    return nullptr;
}

constexpr std::uint64_t stride = 64;  // bytes from one lane's place to the next's

std::uint64_t base_value(const State& state, const Operand& address, int lane) {
    if (!address.number) return 0;
    const auto at = static_cast<std::size_t>(*address.number);
    const auto l = static_cast<std::size_t>(lane);
    std::uint64_t base = state.general.at(at)[l];
    if (address.count == 2) base |= static_cast<std::uint64_t>(state.general.at(at + 1)[l]) << 32;
    return base;
}

}  // namespace

Space space_of(const Instruction& one) {
    const std::string_view name = one.opcode;
    if (name == "LDS" || name == "STS" || name == "ATOMS" || name == "LDSM" || name == "STSM")
        return Space::shared;
    if (name == "LDL" || name == "STL") return Space::local;
    if (name == "LDC" || name == "ULDC" || name == "LDCU") return Space::constant;
    return Space::global;
}

bool set_addresses(const Instruction& one, int architecture, const SingleStep& machine,
                   State& state, std::mt19937_64& random) {
    const Space space = space_of(one);
    if (space == Space::constant) {
        for (const Operand& operand : one.operands) {
            if (operand.kind != Operand::Kind::constant || !operand.number) continue;
            const auto at = static_cast<std::size_t>(*operand.number);
            const bool bytes = one.has("U8") || one.has("S8");
            const bool halves = one.has("U16") || one.has("S16");
            const std::uint32_t step = bytes ? 1 : halves ? 2 : one.has("64") ? 8 : 4;
            const auto next = [&] { return static_cast<std::uint32_t>(random() % 256) * step; };
            for (auto& word : state.general.at(at)) word = next();
            state.uniform.at(at) = next();
        }
        return true;
    }
    const Operand* const address = address_of(one);
    if (!address || !address->number) return false;
    const auto number = static_cast<std::size_t>(*address->number);
    for (const Operand& operand : one.operands) {
        if (operand.written || operand.kind != Operand::Kind::registers || !operand.number)
            continue;
        if (operand.file != File::general) continue;
        const auto first = static_cast<std::size_t>(*operand.number);
        const auto last = first + static_cast<std::size_t>(operand.count);
        if (first < number + static_cast<std::size_t>(address->count) && number < last)
            return false;
    }
    std::uint64_t added = 0;
    if (address->uniform && *address->uniform != constant_register(File::uniform, architecture)) {
        const auto uniform = static_cast<std::size_t>(*address->uniform);
        state.uniform.at(uniform) = 32;
        if (uniform + 1 < state.uniform.size()) state.uniform.at(uniform + 1) = 0;
        added = 32;
    }
    // Lanes in a random order, each with its own place.
    const std::uint64_t turn = random() % 32;
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
        const std::uint64_t slot = (lane * 5 + turn) % 32;
        std::uint64_t target = slot * stride + 16 * (random() % 3);
        if (space == Space::global) target += machine.buffer();
        if (space == Space::shared) target += machine.shared_base() + 64;
        if (space == Space::local) target = 16 * (random() % 20);
        const auto scale = static_cast<std::uint64_t>(address->scale);
        const std::uint64_t offset = static_cast<std::uint64_t>(address->value) + added;
        // A scaled register reaches whole multiples: offsets that are none go without.
        const std::uint64_t base = scale == 1
                                       ? target - offset
                                       : (target - offset % scale - offset / scale * scale) / scale;
        state.general.at(number)[lane] = static_cast<std::uint32_t>(base);
        if (address->count == 2) {
            state.general.at(number + 1)[lane] = static_cast<std::uint32_t>(base >> 32);
        } else if (space == Space::global) {
            return false;  // 32 bits do not reach the buffer
        }
    }
    return true;
}

std::size_t place_of(const Case& of, int lane) {
    const Operand& address = *address_of(of.one);
    std::uint64_t at =
        base_value(of.before, address, lane) * static_cast<std::uint64_t>(address.scale);
    if (address.uniform && *address.uniform != constant_register(File::uniform, of.architecture)) {
        at += of.before.uniform.at(static_cast<std::size_t>(*address.uniform));
    }
    at += static_cast<std::uint64_t>(address.value);
    switch (space_of(of.one)) {
        case Space::shared:
            return static_cast<std::uint32_t>(at);
        case Space::local:
            return static_cast<std::uint32_t>(at) +
                   static_cast<std::size_t>(lane) * of.machine.local_bytes();
        default:
            return at - of.machine.buffer();
    }
}

std::int64_t constant_place(const Case& of, int lane) {
    const Operand& operand = *of.sources[0];
    std::int64_t at = operand.value;
    if (!operand.number) return at;
    const auto number = static_cast<std::size_t>(*operand.number);
    if (operand.file == File::uniform) return at + of.before.uniform.at(number);
    return at + of.before.general.at(number)[static_cast<std::size_t>(lane)];
}

}  // namespace occupipe::isa::test

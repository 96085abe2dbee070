// SPDX-License-Identifier: MIT
#include "isa/machine/waiting.h"

#include <algorithm>
#include <array>
#include <optional>

namespace occupipe::isa {
namespace {

using Kind = Operand::Kind;

bool starts_with_any(std::string_view opcode, std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(names, [&](std::string_view n) { return opcode.starts_with(n); });
}

// Of global memory, or of generic addresses.
bool loads(const Instruction& one) {
    return one.opcode == "LDG" || one.opcode == "LD" || one.opcode == "LDGSTS";
}

bool promised_to_all(const Instruction& one) {
    return one.has("MMIO") || (one.has("STRONG") && (one.has("GPU") || one.has("SYS")));
}

constexpr std::size_t files = 2, registers = 256;  // general, uniform

// The instructions of a loop, functions that it calls included.
class Loop {
public:
    Loop(const std::vector<Instruction>& code, std::size_t first, std::size_t last) : code_(code) {
        inside_.resize(code.size());
        take(first, last);
    }

    bool may_wait() {
        for (std::size_t i = 0; i < code_.size(); ++i) {
            if (!inside_[i] || !loads(code_[i])) continue;
            if (promised_to_all(code_[i]) || same_address(code_[i])) return true;
        }
        return false;
    }

private:
    enum class Known : std::uint8_t { nothing, being_found, changes, stays };

    void take(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i <= last; ++i) {
            if (inside_[i]) continue;
            inside_[i] = true;
            for (const Operand& operand : code_[i].operands) {
                if (operand.written && operand.number && operand.kind == Kind::registers) {
                    // Broken code may name more registers than there are.
                    const int end =
                        std::min(*operand.number + operand.count, static_cast<int>(registers));
                    for (int number = *operand.number; number < end; ++number) {
                        writers(operand.file, number).push_back(i);
                    }
                }
                if (code_[i].opcode != "CALL" || operand.kind != Kind::target) continue;
                // A function ends with a return that no guard holds back; by address it may be any.
                std::size_t begin = operand.number ? 0 : index_of(operand.value);
                std::size_t end = begin;
                while (end + 1 < code_.size() &&
                       (operand.number || code_[end].opcode != "RET" || code_[end].guard)) {
                    ++end;
                }
                if (begin < code_.size()) take(begin, end);
            }
        }
    }

    static std::size_t index_of(std::int64_t address) {
        return static_cast<std::size_t>(address / instruction_bytes);
    }

    std::vector<std::size_t>& writers(File file, int number) {
        return writers_[file == File::uniform ? 1 : 0][static_cast<std::size_t>(number)];
    }

    // Whether a register holds the same in every iteration: nothing in the loop writes it, or what
    // does reads such registers alone. One that depends on itself changes.
    bool stays(File file, int number) {
        Known& known = known_[file == File::uniform ? 1 : 0][static_cast<std::size_t>(number)];
        if (known != Known::nothing) return known == Known::stays;
        known = Known::being_found;
        bool same = true;
        for (const std::size_t i : writers(file, number)) {
            if (starts_with_any(code_[i].opcode, {"LD", "ATOM", "SHFL"}) &&
                code_[i].opcode != "LDC" && code_[i].opcode != "LDCU") {
                same = false;
            }
            for (const Operand& operand : code_[i].operands) {
                if (!operand.written) same = same && stays(operand);
            }
        }
        known = same ? Known::stays : Known::changes;
        return same;
    }

    bool stays(const Operand& operand) {
        const bool named = operand.kind == Kind::registers || operand.kind == Kind::address ||
                           operand.kind == Kind::constant;
        if (!named) return true;
        bool same = true;
        for (int k = 0; operand.number && k < operand.count; ++k) {
            if (*operand.number + k >= static_cast<int>(registers)) break;
            same = same && stays(operand.file == File::uniform ? File::uniform : File::general,
                                 *operand.number + k);
        }
        for (int k = 0; operand.uniform && k < 2; ++k) {
            if (*operand.uniform + k >= static_cast<int>(registers)) break;
            same = same && stays(File::uniform, *operand.uniform + k);
        }
        return same;
    }

    // Of a copy to shared memory the address in global memory is the last.
    bool same_address(const Instruction& one) {
        const Operand* address = nullptr;
        for (const Operand& operand : one.operands) {
            if (operand.kind == Kind::address) address = &operand;
        }
        return address != nullptr && stays(*address);
    }

    const std::vector<Instruction>& code_;
    std::vector<bool> inside_;
    std::array<std::array<std::vector<std::size_t>, registers>, files> writers_;
    std::array<std::array<Known, registers>, files> known_{};
};

// Where a loop begins that the code's instruction i ends; absent: it ends none.
std::optional<std::size_t> begin_of_loop(const std::vector<Instruction>& code, std::size_t i) {
    const Instruction& one = code[i];
    if (one.opcode == "BRX" || one.opcode == "BRXU" || one.opcode == "JMX") return 0;
    if (one.opcode != "BRA" && one.opcode != "JMP") return std::nullopt;
    std::optional<std::size_t> first;
    for (const Operand& operand : one.operands) {
        if (operand.kind != Kind::target) continue;
        if (operand.value >= 0 && operand.value <= one.address && !operand.number) {
            first = static_cast<std::size_t>(operand.value / instruction_bytes);
        }
    }
    return first && *first <= i ? first : std::nullopt;
}

}  // namespace

bool may_wait_for_groups(const std::vector<Instruction>& code) {
    if (std::ranges::none_of(code, loads)) return false;
    for (std::size_t i = 0; i < code.size(); ++i) {
        const std::optional<std::size_t> first = begin_of_loop(code, i);
        if (first && Loop(code, *first, i).may_wait()) return true;
    }
    return false;
}

std::vector<bool> in_waiting_loop(const std::vector<Instruction>& code) {
    constexpr std::size_t most = 32;  // instructions
    std::vector<bool> result(code.size());
    for (std::size_t i = 0; i < code.size(); ++i) {
        const std::optional<std::size_t> first = begin_of_loop(code, i);
        if (!first || i - *first >= most) continue;
        const auto begin = code.begin() + static_cast<std::ptrdiff_t>(*first);
        const bool looks =
            std::any_of(begin, code.begin() + static_cast<std::ptrdiff_t>(i),
                        [](const Instruction& one) { return loads(one) && promised_to_all(one); });
        if (looks)
            std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(*first), i - *first + 1, true);
    }
    return result;
}

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
// Instructions as the vendor's disassembler writes them, so that the two can be compared.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <map>

#include "core/architectures.h"
#include "isa/decode.h"

namespace occupipe::isa {
namespace {

// Special registers that compute kernels read; any other one is written by its number.
const std::map<std::int64_t, std::string_view>& special_registers() {
    static const std::map<std::int64_t, std::string_view> names = {{0, "SR_LANEID"},
                                                                   {1, "SR_CLOCK"},
                                                                   {2, "SR_VIRTCFG"},
                                                                   {3, "SR_VIRTID"},
                                                                   {32, "SR_TID"},
                                                                   {33, "SR_TID.X"},
                                                                   {34, "SR_TID.Y"},
                                                                   {35, "SR_TID.Z"},
                                                                   {37, "SR_CTAID.X"},
                                                                   {38, "SR_CTAID.Y"},
                                                                   {39, "SR_CTAID.Z"},
                                                                   {40, "SR_NTID"},
                                                                   {46, "SR_LWINHI"},
                                                                   {47, "SR_SWINHI"},
                                                                   {48, "SR_SWINLO"},
                                                                   {49, "SR_SWINSZ"},
                                                                   {50, "SR_SMEMSZ"},
                                                                   {52, "SR_LWINLO"},
                                                                   {53, "SR_LWINSZ"},
                                                                   {56, "SR_EQMASK"},
                                                                   {57, "SR_LTMASK"},
                                                                   {58, "SR_LEMASK"},
                                                                   {59, "SR_GTMASK"},
                                                                   {60, "SR_GEMASK"},
                                                                   {67, "SR_VIRTUALSMID"},
                                                                   {80, "SR_CLOCKLO"},
                                                                   {81, "SR_CLOCKHI"},
                                                                   {82, "SR_GLOBALTIMERLO"},
                                                                   {83, "SR_GLOBALTIMERHI"},
                                                                   {100, "SR_PM0"},
                                                                   {102, "SR_PM1"},
                                                                   {104, "SR_PM2"},
                                                                   {106, "SR_PM3"},
                                                                   {108, "SR_PM4"},
                                                                   {110, "SR_PM5"},
                                                                   {112, "SR_PM6"},
                                                                   {114, "SR_PM7"},
                                                                   {136, "SR_CgaCtaId"},
                                                                   {137, "SR_GpcLocalCgaId"},
                                                                   {138, "SR_CgaSize"},
                                                                   {255, "SRZ"}};
    return names;
}

std::string hex(std::int64_t value) {
    const bool negative = value < 0;
    const auto size =
        negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    return fmt::format("{}{:#x}", negative ? "-" : "", size);
}

// Not finite, and the zero with a sign, have words of their own.
std::string real_text(double value) {
    if (std::isnan(value)) return std::signbit(value) ? "-QNAN" : "+QNAN";
    if (std::isinf(value)) return value < 0 ? "-INF" : "+INF";
    if (value == 0 && std::signbit(value)) return "-0.0";
    // Large values get all of their 21 digits.
    return std::abs(value) < 1e9 ? fmt::format("{:.20g}", value) : fmt::format("{:.20e}", value);
}

double half_value(std::uint64_t bits) {
    const double sign = bits & 0x8000 ? -1 : 1;
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const auto mantissa = static_cast<double>(bits & 0x3ff);
    if (exponent == 31) return sign * (mantissa != 0 ? std::nan("") : INFINITY);
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double brain_value(std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
}

std::string half_text(std::uint64_t bits, bool brain) {
    const double value = brain ? brain_value(bits) : half_value(bits);
    if (std::isnan(value)) return bits & 0x8000 ? "-QNAN" : "+QNAN";
    return real_text(value);
}

class Writer {
public:
    Writer(const Instruction& instruction, int architecture)
        : instruction_(instruction),
          architecture_(architecture),
          code_(architecture_like(architecture).code) {}

    std::string run() const {
        std::string text;
        if (instruction_.guard) {
            const Guard& guard = *instruction_.guard;
            text +=
                fmt::format("@{}{} ", guard.inverted ? "!" : "", name(guard.file, guard.number));
        }
        if (instruction_.opcode.empty()) return text + "?";
        text += instruction_.opcode;
        for (const std::string_view one : instruction_.modifiers) text += fmt::format(".{}", one);
        if (!instruction_.unknown.empty()) return text + " ?";
        const char* separator = " ";
        for (const Operand& operand : instruction_.operands) {
            text += separator + operand_text(operand);
            separator = ", ";
        }
        return text;
    }

private:
    static std::string name(File file, std::optional<int> number) {
        constexpr std::string_view prefix[] = {"R", "P", "UR", "UP"};
        constexpr std::string_view constant[] = {"RZ", "PT", "URZ", "UPT"};
        const auto at = static_cast<std::size_t>(file);
        return number ? fmt::format("{}{}", prefix[at], *number) : std::string(constant[at]);
    }

    static std::string signs(const Operand& operand, const std::string& inside) {
        const std::string_view bar = operand.absolute ? "|" : "";
        const bool predicate = operand.kind == Operand::Kind::predicate;
        const std::string_view inversion = !operand.inverted ? "" : predicate ? "!" : "~";
        return fmt::format("{}{}{}{}{}", inversion, operand.negated ? "-" : "", bar, inside, bar);
    }

    std::string operand_text(const Operand& operand) const {
        using Kind = Operand::Kind;
        switch (operand.kind) {
            case Kind::registers:
                return signs(operand, name(operand.file, operand.number)) +
                       (operand.reuse ? ".reuse" : "") + std::string(operand.part);
            case Kind::predicate:
                return signs(operand, name(operand.file, operand.number));
            case Kind::immediate:
                return operand.is_signed
                           ? hex(operand.value)
                           : fmt::format("{:#x}", static_cast<std::uint64_t>(operand.value));
            case Kind::real:
                return real(operand);
            case Kind::half_pair:
                return halves(operand);
            case Kind::constant:
                return signs(operand, constant(operand)) + std::string(operand.part);
            case Kind::address:
                return address(operand);
            case Kind::special:
                return special(operand.value);
            case Kind::barrier:
                return fmt::format("B{}", operand.number.value_or(0));
            case Kind::scoreboard:
                if (!operand.number) return scoreboards(operand.value);  // one bit each
                return fmt::format("SB{}", *operand.number);
            case Kind::target:
                return operand.number ? fmt::format("{} {}", name(operand.file, operand.number),
                                                    hex(operand.value))
                                      : hex(operand.value);
            case Kind::all_predicates:
                return "PR";
        }
        return "?";
    }

    static std::string scoreboards(std::int64_t mask) {
        std::string inside;
        for (int i = 5; i >= 0; --i) {
            if ((mask >> i & 1) == 0) continue;
            inside += fmt::format("{}{}", inside.empty() ? "" : ",", i);
        }
        return "{" + inside + "}";
    }

    std::string real(const Operand& operand) const {
        const auto pattern = static_cast<std::uint32_t>(operand.value);
        if (operand.bits == 16) return half_text(pattern & 0xffff, instruction_.has("BF16"));
        const std::uint32_t infinity = operand.wide ? 0x7ff00000 : 0x7f800000;
        if ((pattern & 0x7fffffff) > infinity) {
            const bool quiet = (pattern & (operand.wide ? 0x00080000 : 0x00400000)) != 0;
            return fmt::format("{}{}NAN", pattern >> 31 ? "-" : "+", quiet ? "Q" : "S");
        }
        if (operand.wide) return real_text(std::bit_cast<double>(std::uint64_t{pattern} << 32));
        return real_text(std::bit_cast<float>(pattern));
    }

    std::string halves(const Operand& operand) const {
        const bool brain = instruction_.has("BF16_V2");
        const auto pattern = static_cast<std::uint64_t>(operand.value);
        return fmt::format("{}, {}", half_text(pattern >> 16, brain),
                           half_text(pattern & 0xffff, brain));
    }

    std::string constant(const Operand& operand) const {
        std::string offset = hex(operand.value);
        const bool indexed = instruction_.opcode == "LDC" || instruction_.opcode == "LDCU" ||
                             (instruction_.opcode == "ULDC" && operand.number);
        if (indexed && (operand.number || operand.value == 0)) {
            offset = name(operand.file, operand.number);
            if (operand.value != 0) offset += "+" + hex(operand.value);
        }
        return fmt::format("c[{:#x}]{}[{}]", operand.bank, operand.half_spacing ? " " : "", offset);
    }

    std::string address(const Operand& operand) const {
        std::string inside;
        const auto add = [&](const std::string& part) {
            if (!inside.empty()) inside += "+";
            inside += part;
        };
        const bool only_uniform =
            operand.uniform && !operand.number && (!code_.memory_descriptors || !operand.wide);
        const bool plain_offset =
            !operand.number && !operand.wide && !operand.uniform && operand.value != 0;
        if (!only_uniform && !plain_offset) {
            std::string base = name(File::general, operand.number) + std::string(operand.part);
            if (operand.scale != 1) base += fmt::format(".X{}", operand.scale);
            add(base);
        }
        if (operand.uniform) {
            const bool zero = *operand.uniform == constant_register(File::uniform, architecture_);
            add(zero ? "URZ" : name(File::uniform, operand.uniform));
        }
        if (operand.value != 0) add(hex(operand.value));
        std::string text = "[" + inside + "]";
        // On Ampere the descriptor is not written, but where bit 101 says that it is another one.
        if (operand.descriptor && (code_.written_descriptors || instruction_.word.bit(101))) {
            text = fmt::format("desc[{}]{}", name(File::uniform, operand.descriptor), text);
        }
        return text;
    }

    static std::string special(std::int64_t number) {
        const auto found = special_registers().find(number);
        return found == special_registers().end() ? fmt::format("SR{}", number)
                                                  : std::string(found->second);
    }

    const Instruction& instruction_;
    int architecture_;
    const MachineCode& code_;
};

}  // namespace

std::string to_text(const Instruction& instruction, int architecture) {
    return Writer(instruction, architecture).run();
}

std::string to_text(const Control& control) {
    std::string text = fmt::format("stall {}", control.stall);
    if (control.yield) text += " yield";
    if (control.result_scoreboard) text += fmt::format(" result SB{}", *control.result_scoreboard);
    if (control.operand_scoreboard) {
        text += fmt::format(" operands SB{}", *control.operand_scoreboard);
    }
    const char* separator = " wait ";
    for (int i = 0; i < 6; ++i) {
        if ((control.awaited_scoreboards >> i & 1) == 0) continue;
        text += fmt::format("{}SB{}", separator, i);
        separator = ",";
    }
    return text;
}

}  // namespace occupipe::isa

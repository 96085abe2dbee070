// SPDX-License-Identifier: MIT
#include "isa/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "core/architectures.h"
#include "core/error.h"
#include "isa/encoding.h"

namespace occupipe::isa {
namespace {

constexpr std::array half_selectors = {std::string_view(""), std::string_view(".F32"),
                                       std::string_view(".H0_H0"), std::string_view(".H1_H1")};
constexpr std::array pair_selectors = {std::string_view(".F32x2.HI_LO"),
                                       std::string_view(".F32x2.LO_HI"), std::string_view(".F32")};
constexpr std::array byte_selectors = {std::string_view(""), std::string_view(".B1"),
                                       std::string_view(".B2"), std::string_view(".B3")};

std::int64_t sign_extended(std::uint64_t value, int bits) {
    const int unused = 64 - bits;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

// Registers that a matrix instruction's operand takes, by opcode and shape.
int matrix_registers(const Instruction& instruction, int bit) {
    const auto has = [&](std::string_view shape) { return instruction.has(shape); };
    if (instruction.opcode == "LDSM" || instruction.opcode == "STSM")
        return has("4") ? 4 : has("2") ? 2 : 1;
    if (instruction.opcode == "DMMA") {
        if (has("16x8x4")) return bit == 24 ? 4 : bit == 32 ? 2 : 8;
        if (has("16x8x8")) return bit == 32 ? 4 : 8;
        if (has("16x8x16")) return bit == 24 ? 16 : 8;
        return bit == 24 || bit == 32 ? 2 : 4;
    }
    const bool result = bit == 16 || bit == 64;
    if (instruction.opcode == "HMMA") {
        if (result) return has("F32") ? 4 : 2;
        const int deep = has("16816") || (has("TF32") && has("1688")) ? 2 : 1;
        return bit == 24 ? 2 * deep : deep;
    }
    // IMMA: rows of 8 or 16, K of 16, 32 or 64 elements of one or a half byte.
    const bool tall = has("16816") || has("16832") || has("16864");
    if (result) return tall ? 4 : 2;
    const bool deep = has("16864") || (has("16832") && (has("S8") || has("U8")));
    const int part = deep ? 2 : 1;
    return bit == 24 ? (tall ? 2 * part : part) : part;
}

class Decoder {
public:
    Decoder(Word word, std::int64_t address, int architecture)
        : word_(word),
          architecture_(architecture),
          code_(architecture_like(architecture).code),
          form_(static_cast<int>(word.bits(9, 3))) {
        out_.word = word;
        out_.address = address;
    }

    Instruction run() {
        read_control();
        read_guard();
        const Encoding* const encoding = find();
        if (!encoding) return out_;
        out_.opcode = encoding->row->name;
        out_.modifiers.reserve(encoding->modifiers.size());
        out_.operands.reserve(encoding->operands.size());
        read_modifiers(*encoding);
        for (const OperandField& field : encoding->operands) read_operand(field, *encoding);
        for (const BitTest& test : encoding->fixed) {
            if (!holds(test)) {
                not_known(fmt::format("bits {}+{} are {}", test.bit, test.width,
                                      bits(test.bit, test.width)));
            }
        }
        if (encoding->row->code == 0x024) name_multiply_add();
        if (out_.opcode.starts_with('U')) bit(91);  // set with every uniform register
        if (encoding->partial) {
            not_known("its operands are not read");
        } else {
            check_the_rest();
        }
        return out_;
    }

private:
    // Every bit that is looked at counts as understood.
    std::uint64_t bits(int first, int count) const {
        const std::uint64_t ones =
            count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
        if (first < 64) {
            seen_.low |= ones << first;
            if (first + count > 64) seen_.high |= ones >> (64 - first);
        } else {
            seen_.high |= ones << (first - 64);
        }
        return word_.bits(first, count);
    }
    bool bit(int at) const { return bits(at, 1) != 0; }
    bool holds(const BitTest& test) const { return bits(test.bit, test.width) == test.value; }

    // Bits that nobody looked at have to be clear. Places of registers and predicates that an
    // instruction does not use may be all ones, too: that is how RZ, PT and !PT are written.
    void check_the_rest() {
        struct Place {
            int first, count;
        };
        constexpr std::array places = {Place{16, 8}, Place{24, 8}, Place{32, 6}, Place{32, 8},
                                       Place{64, 8}, Place{64, 6}, Place{70, 2}, Place{68, 4},
                                       Place{77, 4}, Place{81, 3}, Place{84, 3}, Place{87, 4}};
        Word rest = {word_.low & ~seen_.low,
                     word_.high & ~seen_.high & ((std::uint64_t{1} << (105 - 64)) - 1)};
        for (const Place place : places) {
            const std::uint64_t ones = (std::uint64_t{1} << place.count) - 1;
            const std::uint64_t value = rest.bits(place.first, place.count);
            if (value != ones && !(place.count == 4 && value == 7)) continue;
            if (place.first < 64) {
                rest.low &= ~(ones << place.first);
            } else {
                rest.high &= ~(ones << (place.first - 64));
            }
        }
        if (rest.low != 0) not_known(fmt::format("bit {} is set", std::countr_zero(rest.low)));
        if (rest.high != 0) {
            not_known(fmt::format("bit {} is set", 64 + std::countr_zero(rest.high)));
        }
    }

    void not_known(const std::string& why) {
        if (out_.unknown.empty()) out_.unknown = why;
    }

    void read_control() {
        Control& control = out_.control;
        const auto scoreboard = [&](int first) {
            const auto number = static_cast<int>(bits(first, 3));
            return number == 7 ? std::nullopt : std::optional(number);
        };
        control.stall = static_cast<int>(bits(105, 4));
        control.yield = !bit(109);
        control.result_scoreboard = scoreboard(110);
        control.operand_scoreboard = scoreboard(113);
        control.awaited_scoreboards = static_cast<unsigned>(bits(116, 6));
    }

    void read_guard() {
        const auto number = static_cast<int>(bits(12, 3));
        const bool inverted = bit(15);
        if (number == 7 && !inverted) return;
        // The uniform datapath has its own predicates.
        const int code = static_cast<int>(bits(0, 9));
        constexpr int exchange_of_barrier = 0x1b2;  // SYNCS.EXCH
        const bool uniform = (code >= 0x080 && code < 0x0c0) || code == exchange_of_barrier;
        out_.guard = Guard{.file = uniform ? File::uniform_predicate : File::predicate,
                           .number = number == 7 ? std::nullopt : std::optional(number),
                           .inverted = inverted};
    }

    const Encoding* find() {
        const int code = static_cast<int>(bits(0, 9));
        bits(9, 3);
        const std::vector<Encoding>& candidates = encodings(code);
        const char form = static_cast<char>('0' + form_);
        for (const Encoding& one : candidates) {
            const bool here = architecture_ >= one.row->first && architecture_ <= one.row->last;
            if (!here || one.row->forms.find(form) == std::string_view::npos) continue;
            if (std::ranges::all_of(one.conditions, [&](const BitTest& test) {
                    return word_.bits(test.bit, test.width) == test.value;
                })) {
                for (const BitTest& test : one.conditions) holds(test);
                return &one;
            }
        }
        out_.unknown = fmt::format("no such opcode: {:#05x}, form {}", code, form_);
        for (const Encoding& one : candidates) {
            if (architecture_ < one.row->first || architecture_ > one.row->last) continue;
            out_.opcode = one.row->name;
            out_.unknown = fmt::format("no such form of {}: {}", one.row->name, form_);
            break;
        }
        return nullptr;
    }

    void read_modifiers(const Encoding& encoding) {
        for (const ModifierField& field : encoding.modifiers) {
            std::size_t value = 0;
            for (std::size_t i = 0; i < field.bits.size(); ++i) {
                value |= std::size_t{bit(field.bits[i])} << i;
            }
            if (value >= field.names.size() || field.names[value] == "-") {
                not_known(fmt::format("value {} of the modifier at bit {}", value, field.bits[0]));
                continue;
            }
            if (!field.names[value].empty()) add_modifier(field.names[value]);
        }
    }

    void add_modifier(std::string_view name) {
        while (true) {
            const std::size_t dot = name.find('.');
            out_.modifiers.push_back(name.substr(0, dot));
            if (dot == name.npos) return;
            name.remove_prefix(dot + 1);
        }
    }

    Operand general_or_uniform(bool uniform, int at) const {
        Operand operand;
        operand.file = uniform ? File::uniform : File::general;
        const int width = uniform && code_.uniform_registers < 64 ? 6 : 8;
        const auto number = static_cast<int>(bits(at, width));
        if (number != constant_register(operand.file, architecture_)) operand.number = number;
        operand.written = at == 16;
        if (!uniform && at == 24) operand.reuse = bit(122);
        if (!uniform && at == 32) operand.reuse = bit(123);
        if (!uniform && at == 64) operand.reuse = bit(124);
        return operand;
    }

    Operand predicate(bool uniform, int at, bool written) const {
        Operand operand;
        operand.kind = Operand::Kind::predicate;
        operand.file = uniform ? File::uniform_predicate : File::predicate;
        const auto number = static_cast<int>(bits(at, 3));
        if (number != 7) operand.number = number;
        operand.written = written;
        if (!written) operand.inverted = bit(at + 3);
        return operand;
    }

    void read_marks(Operand& operand, const OperandField& field, int place) {
        const int negation = place == 24 ? 72 : place == 32 ? 63 : field.half_places ? 84 : 75;
        const int absolute = place == 24 ? 73 : place == 32 ? 62 : field.half_places ? 83 : 74;
        if (field.negation) operand.negated = bit(field.negation_bit.value_or(negation));
        if (field.absolute) operand.absolute = bit(field.absolute_bit.value_or(absolute));
        if (field.inversion) operand.inverted = bit(field.inversion_bit.value_or(negation));
        if (field.carry_negation) {
            const bool set = bit(field.negation_bit.value_or(negation));
            (bit(74) ? operand.inverted : operand.negated) = set;
        }
        if (field.halves) {
            const std::uint64_t selector = bits(place == 24 ? 74 : place == 32 ? 60 : 81, 2);
            operand.part = half_selectors[selector];
            // The compiler has it of constants in sums, where it packs a binary32.
            const bool packs = out_.opcode == "HADD2" && !out_.has("F32") &&
                               operand.kind == Operand::Kind::constant;
            if (selector == 1 && !packs) not_known("a half read as binary32");
        }
        if (!field.part.empty()) operand.part = field.part;
        if (field.reuse_of_last && place == 32) operand.reuse = bit(124);
    }

    // Two binary32 in a pair of registers, in order or exchanged, or one for both. An immediate is
    // one for both.
    void read_pair_selector(Operand& operand, const OperandField& field) {
        const std::uint64_t selector = bits(*field.pair_selector_bit, 3);
        if (operand.kind == Operand::Kind::real) {
            if (selector != 2) not_known("an immediate that is not for both");
        } else if (selector >= pair_selectors.size()) {
            not_known(fmt::format("value {} of a selector", selector));
        } else {
            operand.part = pair_selectors[selector];
            operand.count = selector == 2 ? 1 : 2;
        }
    }

    // A byte or a half of a register that holds smaller integers.
    void read_integer_part(Operand& operand) {
        const bool bytes = out_.has("U8") || out_.has("S8");
        const bool halves = out_.has("U16") || out_.has("S16");
        if (operand.kind != Operand::Kind::registers || (!bytes && !halves)) return;
        const std::uint64_t selector = bits(60, 2);
        if (halves && selector > 1) not_known(fmt::format("half {} of a register", selector));
        if (selector != 0) operand.part = halves ? ".H1" : byte_selectors[selector];
    }

    // Whether the format that is named last, a conversion's source, is one of 16 bits.
    bool reads_half() const {
        const auto is_format = [](std::string_view name) {
            return name == "F16" || name == "BF16" || name == "F32" || name == "F64";
        };
        const auto source = std::find_if(out_.modifiers.rbegin(), out_.modifiers.rend(), is_format);
        return source != out_.modifiers.rend() && source->ends_with("16");
    }

    // The upper or lower half of a register, as a conversion reads it.
    void read_half_part(Operand& operand, const OperandField& field) {
        if (operand.kind != Operand::Kind::registers) return;
        if (field.half_part_bit) {
            if (bit(*field.half_part_bit)) operand.part = ".H1";
            return;
        }
        if (!reads_half()) return;
        const std::uint64_t selector = bits(60, 2);
        if (selector > 1) not_known(fmt::format("half {} of a register", selector));
        if (selector == 1) operand.part = ".H1";
    }

    Operand immediate(const OperandField& field) const {
        Operand operand;
        const std::uint64_t pattern = bits(32, 32);
        operand.bits = 32;
        operand.is_signed = field.type == 's';
        operand.value =
            operand.is_signed ? sign_extended(pattern, 32) : static_cast<std::int64_t>(pattern);
        operand.kind = field.type == 'f' || field.type == 'd' ? Operand::Kind::real
                       : field.type == 'h'                    ? Operand::Kind::half_pair
                                                              : Operand::Kind::immediate;
        operand.wide = field.type == 'd';
        return operand;
    }

    // The middle or the last source, wherever the form has it.
    void read_source(const OperandField& field, const Encoding& encoding) {
        const bool uniform_row = field.kind.size() == 2;
        const bool last = field.kind.ends_with('c');
        const bool last_replaced = form_ == 2 || form_ == 3 || form_ == 7;
        // Which of the two places, 32 or 64, it has.
        const bool at_32 = last ? last_replaced : !(last_replaced && encoding.has_last_source);
        if (!at_32 || form_ == 1) {  // a register
            const int place = at_32 ? 32 : 64;
            Operand operand = general_or_uniform(uniform_row, place);
            if (!last && operand.file == File::general) operand.reuse = bit(123);
            read_marks(operand, field, place);
            finish(operand, field);
            return;
        }
        if (form_ == 2 || form_ == 4) {
            finish(immediate(field), field);
            return;
        }
        Operand operand;
        if (form_ == 3 || form_ == 5) {
            operand.kind = Operand::Kind::constant;
            operand.bank = static_cast<int>(bits(54, 5));
            operand.value = sign_extended(bits(38, 16), 16);
            if (operand.value % 4 != 0) not_known("a constant at an odd address");
            operand.half_spacing = field.type == 'h' && field.halves;
            if (bit(91)) not_known("a constant of a bank in a uniform register");
        } else if (form_ == 6 || form_ == 7) {
            operand = general_or_uniform(true, 32);
            if (!bit(91) && !uniform_row) not_known("bit 91 is clear");
        }
        read_marks(operand, field, 32);
        finish(operand, field);
    }

    int counted(const OperandField& field) const {
        switch (field.counted_by) {
            case 'm':
                return matrix_registers(out_, field.bit);
            case 'w':
                return bits(73, 3) == 5 ? 2 : bits(73, 3) >= 6 ? 4 : 1;
            case 'd':
                return bits(75, 2) == 3 ? 2 : 1;
            case 'e':
                return bits(84, 2) == 3 ? 2 : 1;
            case 'u':
                return bit(73) ? 2 : 1;
            case 't':
                return out_.has("64") || out_.has("S64") || out_.has("F64") ? 2 : 1;
            case 'f':
                return vector_registers();
            default:
                return field.count;
        }
    }

    // Of an atomic operation on several numbers at once.
    int vector_registers() const {
        const auto any = [&](std::initializer_list<std::string_view> names) {
            return std::ranges::any_of(names, [&](std::string_view n) { return out_.has(n); });
        };
        return any({"F32x4", "F16x8", "BF16x8"})          ? 4
               : any({"F64", "F32x2", "F16x4", "BF16x4"}) ? 2
                                                          : 1;
    }

    // What a conversion's immediate is depends on the format that it is read in: one of 64 bits has
    // the upper half here.
    void read_converted(Operand& operand, const OperandField& field) const {
        const bool from_integer = out_.opcode.find("I2F") != std::string_view::npos;
        if (field.counted_by == 'e') operand.wide = counted(field) == 2;
        if (operand.kind == Operand::Kind::real) {
            if (reads_half()) operand.bits = 16;
        } else if (from_integer && std::ranges::any_of(out_.modifiers, [](std::string_view name) {
                       return name.starts_with('U');
                   })) {
            operand.is_signed = false;
            operand.value &= 0xffffffff;
        }
    }

    void finish(Operand operand, const OperandField& field) {
        if (operand.kind == Operand::Kind::registers) operand.count = counted(field);
        if (operand.kind == Operand::Kind::real || operand.kind == Operand::Kind::immediate)
            read_converted(operand, field);
        if (field.integer_part) read_integer_part(operand);
        if (field.half_part) read_half_part(operand, field);
        if (field.pair_selector_bit) read_pair_selector(operand, field);
        out_.operands.push_back(operand);
    }

    void read_operand(const OperandField& field, const Encoding& encoding);
    Operand memory_address();
    Operand global_address();
    Operand branch_target(bool with_register, bool short_form) const;
    void name_multiply_add();

    Word word_;
    mutable Word seen_;
    int architecture_;
    const MachineCode& code_;
    int form_;
    Instruction out_;
};

void Decoder::read_operand(const OperandField& field, const Encoding& encoding) {
    if (field.only && !holds(*field.only)) return;
    const std::string_view kind = field.kind;
    if (kind == "b" || kind == "c" || kind == "ub" || kind == "uc") {
        read_source(field, encoding);
        return;
    }
    Operand operand;
    using Kind = Operand::Kind;
    if (kind == "R" || kind == "U") {
        operand = general_or_uniform(kind == "U", field.bit);
        read_marks(operand, field, field.bit);
    } else if (kind == "P" || kind == "UP") {
        operand = predicate(kind == "UP", field.bit, true);
        operand.place = field.bit;
    } else if (kind == "p" || kind == "up") {
        operand = predicate(kind == "up", field.bit, false);
        operand.place = field.bit;
    } else if (kind == "x" || kind == "s") {
        operand.kind = Kind::immediate;
        operand.bits = field.width;
        operand.is_signed = kind == "s";
        const std::uint64_t value = bits(field.bit, field.width);
        operand.value = operand.is_signed ? sign_extended(value, field.width)
                                          : static_cast<std::int64_t>(value);
    } else if (kind == "X") {
        operand.kind = Kind::immediate;
        operand.bits = 64;
        operand.value = static_cast<std::int64_t>(bits(24, 40) | bits(64, 24) << 40);
    } else if (kind == "LUT") {
        operand.kind = Kind::immediate;
        operand.bits = 8;
        operand.value = static_cast<std::int64_t>(bits(64, 3) | bits(72, 5) << 3);
    } else if (kind == "K" || kind == "UK" || kind == "KN") {
        if (kind != "KN") operand = general_or_uniform(kind == "UK", 24);
        operand.kind = Kind::constant;
        operand.bank = static_cast<int>(bits(54, 5));
        operand.value = out_.opcode == "LDCU" ? sign_extended(bits(37, 17), 17)
                                              : sign_extended(bits(38, 16), 16);
        if (bit(91) && kind != "UK") {
            not_known("a constant of a bank in a uniform register");
        }
    } else if (kind == "G") {
        operand = global_address();
    } else if (kind == "M") {
        operand = memory_address();
    } else if (kind == "Y") {
        operand = general_or_uniform(false, 16);
        operand.kind = Kind::address;
        operand.written = false;
        operand.value = sign_extended(bits(44, 20), 20);
    } else if (kind == "S") {
        operand.kind = Kind::special;
        operand.value = static_cast<std::int64_t>(bits(72, 8));
    } else if (kind == "TL") {
        operand.kind = Kind::target;
        const auto next = static_cast<std::uint64_t>(out_.address + instruction_bytes);
        operand.value = static_cast<std::int64_t>(next + (bits(24, 40) | bits(64, 24) << 40));
    } else if (kind.starts_with('T')) {
        operand = branch_target(kind == "TR" || kind == "TX", kind == "TS");
        if (kind == "TU") {
            operand.file = File::uniform;
            operand.number = general_or_uniform(true, 24).number;
            bit(91);
        }
        const bool absolute = out_.has("ABS");  // of CALL and RET
        if (kind == "TX" || kind == "TU" || absolute)
            operand.value -= out_.address + instruction_bytes;
    } else if (kind == "V" || kind == "W") {
        operand.kind = Kind::barrier;
        operand.number = static_cast<int>(bits(kind == "V" ? 16 : 24, 4));
    } else if (kind == "B") {
        operand.kind = Kind::scoreboard;
        operand.number = static_cast<int>(bits(44, 3));
    } else if (kind == "Q") {
        operand.kind = Kind::scoreboard;
        operand.value = static_cast<std::int64_t>(bits(field.bit, field.width));
    } else {
        operand.kind = Kind::all_predicates;
    }
    if (field.hidden_when_zero && operand.value == 0) return;
    if (field.part == ".B") operand.part = byte_selectors[bits(76, 2)];
    const bool hidden = field.hidden_when_constant && !operand.number && !operand.inverted;
    if (!hidden) finish(operand, field);
}

// Shared and local memory: a register, scaled where the access says so, a uniform register where
// bit 91 is set, and 24 bits of offset.
Operand Decoder::memory_address() {
    if (out_.opcode == "SYNCS" && out_.has("EXCH")) {
        Operand operand;
        operand.kind = Operand::Kind::address;
        operand.uniform = general_or_uniform(true, 24).number;
        operand.value = sign_extended(bits(40, 24), 24);
        if (!bit(91)) not_known("no uniform register in the address");
        return operand;
    }
    Operand operand = general_or_uniform(false, 24);
    operand.kind = Operand::Kind::address;
    operand.reuse = false;
    operand.value = sign_extended(bits(40, 24), 24);
    if (bit(91)) {
        const bool store = form_ == 4 && (out_.opcode == "STS" || out_.opcode == "STL");
        const bool atomic = out_.opcode == "ATOMS";
        const bool barrier = out_.opcode == "SYNCS" || out_.opcode == "ARRIVES";
        operand.uniform =
            general_or_uniform(true, store || barrier || (atomic && form_ != 1) ? 64 : 32).number;
        if (!operand.uniform) operand.uniform = constant_register(File::uniform, architecture_);
    }
    const std::string_view scaled[] = {"LDS", "STS", "ATOMS", "LDSM"};
    if (std::ranges::find(scaled, out_.opcode) != std::end(scaled) && out_.opcode != "LDSM") {
        constexpr std::array scales = {1, 4, 8, 16};
        operand.scale = scales[bits(78, 2)];
    }
    return operand;
}

// Global and generic memory. Form 1: a register pair. Form 4 and others: a uniform register pair
// that is added (on Turing, or where bit 76 is set) or that describes the memory, and a register of
// 32 bits or a pair (bit 90).
Operand Decoder::global_address() {
    Operand operand = general_or_uniform(false, 24);
    operand.kind = Operand::Kind::address;
    operand.reuse = false;
    operand.count = 2;
    const bool load = out_.opcode == "LD" || out_.opcode == "LDG" || out_.opcode == "QSPC";
    const int code = static_cast<int>(bits(0, 9));
    const bool always = code == 0x1a2 || code == 0x1a3 || code == 0x18e ||
                        code == 0x1a6;  // bit 76 belongs to the type, or is clear
    const bool copy = out_.opcode == "LDGSTS";
    const bool atomic = out_.opcode.starts_with("ATOM") || out_.opcode.starts_with("RED");
    const bool generic = ((out_.opcode == "LD" ||
                           (out_.opcode == "ST" && (!code_.memory_descriptors || form_ == 1))) &&
                          !bit(91)) ||
                         out_.opcode == "CCTL";
    const int short_offset =
        code_.short_atomic_offsets && form_ == 4 && out_.opcode.starts_with("ATOM") ? 23 : 24;
    if (short_offset == 23 && !bit(63)) not_known("bit 63 is clear");
    operand.value = generic ? sign_extended(bits(32, 32), 32)
                    : copy  ? sign_extended(bits(32, 12), 12)
                            : sign_extended(bits(40, short_offset), short_offset);
    const bool plain = !code_.memory_descriptors || out_.opcode == "LD";
    const bool nothing_added = form_ != 1 && plain && !bit(91);
    if (form_ == 1 || out_.opcode == "CCTL" || nothing_added) {
        if (!bit(72)) operand.count = 1;
        return operand;
    }
    if (code_.memory_descriptors && !bit(90) && !copy && !atomic) {
        not_known("an address of 32 bits");
    }
    if (!bit(91)) not_known("no uniform register in the address");
    Operand uniform = general_or_uniform(true, load && !generic ? 32 : 64);
    if (!code_.optional_descriptors && (atomic || copy)) {
        // How the register is meant; on Turing it is the base of the address.
        const std::uint64_t kind = bits(70, copy ? 1 : 2);  // a copy's next bit is of its modifiers
        const bool reduction = out_.opcode.starts_with("RED");
        const std::uint64_t expected = !code_.memory_descriptors ? (reduction ? 0 : 1)
                                       : copy                    ? 1
                                       : reduction               ? 2
                                                                 : 3;
        if (kind != expected) not_known("no descriptor of the memory");
    }
    const std::optional<int> number =
        uniform.number ? uniform.number : constant_register(File::uniform, architecture_);
    const bool described = code_.memory_descriptors &&
                           (bit(76) || (atomic && (!code_.optional_descriptors || always)));
    const bool added = !described;
    (added ? operand.uniform : operand.descriptor) = number;
    if (described && !code_.written_descriptors)
        bit(101);  // with a cache policy; memory is the same
    operand.wide = code_.memory_descriptors || out_.opcode.starts_with("ATOM") || bit(90);
    if (operand.number || operand.wide) operand.part = operand.wide ? ".64" : ".U32";
    if (!operand.wide) operand.count = 1;
    return operand;
}

// In units of 4 bytes from the next instruction; Hopper put the lowest eight bits elsewhere.
Operand Decoder::branch_target(bool with_register, bool short_form) const {
    Operand operand;
    operand.kind = Operand::Kind::target;
    if (with_register) operand.number = general_or_uniform(false, 24).number;
    if (short_form) {
        operand.value = sign_extended(bits(32, 32), 32) + out_.address + instruction_bytes;
        return operand;
    }
    const std::int64_t high = sign_extended(bits(34, 48), 48);
    std::int64_t offset = high * 4;
    if (code_.scattered_targets) {
        offset = (high * 256 + static_cast<std::int64_t>(bits(16, 8))) * 4;
    }
    operand.value = offset + out_.address + instruction_bytes;
    return operand;
}

// The multiply-add pipe also moves (0 * 0 + C), adds (A * 1 + C) and shifts (A * 2^n + 0) for the
// integer one; the disassembler says so.
void Decoder::name_multiply_add() {
    const auto zero = [](const Operand& operand) {
        return operand.kind == Operand::Kind::registers && operand.file == File::general &&
               !operand.number;
    };
    if (out_.operands.size() != 4 || bit(74)) return;
    const Operand& b = out_.operands[2];
    const Operand& c = out_.operands[3];
    std::string_view name;
    const bool no_factor = zero(b) || (b.kind == Operand::Kind::immediate && b.value == 0);
    if ((zero(out_.operands[1]) || no_factor) && form_ != 7 && form_ != 6) name = "MOV";
    const auto factor = static_cast<std::uint32_t>(b.value);
    if (form_ == 4 && factor == 1) name = "IADD";
    if (form_ == 4 && factor > 1 && factor != 0x10000 && std::has_single_bit(factor) && zero(c))
        name = "SHL";
    if (name.empty()) return;
    out_.modifiers.insert(out_.modifiers.begin(), name);
}

}  // namespace

int constant_register(File file, int architecture) {
    switch (file) {
        case File::general:
            return 255;
        case File::uniform:
            return architecture_like(architecture).code.uniform_registers;
        case File::predicate:
        case File::uniform_predicate:
            return 7;
    }
    return 255;
}

bool Instruction::has(std::string_view modifier) const {
    return std::ranges::find(modifiers, modifier) != modifiers.end();
}

bool known_architecture(int architecture) { return find_architecture(architecture) != nullptr; }

Instruction decode(Word word, std::int64_t address, int architecture) {
    return Decoder(word, address, architecture).run();
}

std::vector<Instruction> decode(const std::vector<Word>& code, int architecture) {
    std::vector<Instruction> instructions;
    instructions.reserve(code.size());
    std::int64_t address = 0;
    for (const Word word : code) {
        instructions.push_back(decode(word, address, architecture));
        address += instruction_bytes;
    }
    return instructions;
}

void require_known(const Instruction& instruction, int architecture) {
    if (instruction.unknown.empty()) return;
    throw InputError(fmt::format(
        "address {:#06x}: {} of sm_{} is not understood ({}); its bits: "
        "{:#018x} {:#018x}",
        instruction.address, instruction.opcode.empty() ? "an instruction" : instruction.opcode,
        architecture, instruction.unknown, instruction.word.low, instruction.word.high));
}

}  // namespace occupipe::isa

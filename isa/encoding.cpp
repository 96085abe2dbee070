// SPDX-License-Identifier: MIT
#include "isa/encoding.h"

#include <array>
#include <charconv>
#include <stdexcept>
#include <string>

#include "core/text.h"

namespace occupipe::isa {
namespace {

[[noreturn]] void broken(const Row& row, std::string_view token) {
    throw std::logic_error("encoding table: " + std::string(row.name) + ": '" + std::string(token) +
                           "'");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

// Takes a number off the front of `text`, if there is one.
std::optional<int> take_number(std::string_view& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

int must_take(std::string_view& text, const Row& row, std::string_view token) {
    const auto number = take_number(text);
    if (!number) broken(row, token);
    return *number;
}

bool take(std::string_view& text, char wanted) {
    if (!text.starts_with(wanted)) return false;
    text.remove_prefix(1);
    return true;
}

// "80=1", "72+4=15"
BitTest bit_test(std::string_view text, const Row& row, std::string_view token) {
    BitTest test{.bit = must_take(text, row, token), .width = 1, .value = 1};
    if (take(text, '+')) test.width = must_take(text, row, token);
    if (!take(text, '=')) broken(row, token);
    test.value = static_cast<std::uint64_t>(must_take(text, row, token));
    if (!text.empty()) broken(row, token);
    return test;
}

// Behind the @: "74+2", "75,85,86", "80"
std::vector<int> field_bits(std::string_view text, const Row& row, std::string_view token) {
    std::vector<int> bits = {must_take(text, row, token)};
    if (take(text, '+')) {
        const int width = must_take(text, row, token);
        for (int i = 1; i < width; ++i) bits.push_back(bits[0] + i);
    }
    while (take(text, ',')) bits.push_back(must_take(text, row, token));
    if (!text.empty()) broken(row, token);
    return bits;
}

void add_modifier(Encoding& into, std::string_view token) {
    const Row& row = *into.row;
    if (token == "...") {
        into.partial = true;
        return;
    }
    if (token.starts_with('?')) {
        into.conditions.push_back(bit_test(token.substr(1), row, token));
        return;
    }
    if (token.starts_with('#')) {
        into.fixed.push_back(bit_test(token.substr(1), row, token));
        return;
    }
    const std::size_t at = token.find('@');
    ModifierField field;
    if (at != token.npos) field.bits = field_bits(token.substr(at + 1), row, token);
    const std::string_view what = token.substr(0, at);
    if (what.starts_with('{') && what.ends_with('}')) {
        field.names = split(what.substr(1, what.size() - 2), '|');
    } else if (what.starts_with('.') && field.bits.empty()) {
        field.names = {what.substr(1)};
    } else if (what.starts_with('.')) {
        field.names = {"", what.substr(1)};
    } else if (what.starts_with('!')) {
        field.names = {what.substr(1), ""};
    } else {
        broken(row, token);
    }
    if (field.names.size() > std::size_t{1} << field.bits.size()) broken(row, token);
    into.modifiers.push_back(field);
}

// Longer names first.
constexpr std::array<std::string_view, 32> kinds = {
    "UP", "UK", "KN", "PR", "LUT", "TR", "TS", "TX", "TU", "TL", "ub", "uc", "up", "R", "U", "b",
    "c",  "P",  "p",  "x",  "s",   "K",  "G",  "M",  "Y",  "S",  "T",  "V",  "W",  "B", "X", "Q"};
std::string_view take_kind(std::string_view& text, const Row& row, std::string_view token) {
    for (const auto& kind : kinds) {
        if (!text.starts_with(kind)) continue;
        text.remove_prefix(kind.size());
        return kind;
    }
    broken(row, token);
}

void add_mark(OperandField& field, std::string_view& text, const Row& row, std::string_view token) {
    if (take(text, '-')) {
        field.negation = true;
        field.negation_bit = take_number(text);
    } else if (take(text, '|')) {
        field.absolute = true;
        field.absolute_bit = take_number(text);
    } else if (take(text, '~')) {
        field.inversion = true;
        field.inversion_bit = take_number(text);
    } else if (take(text, '^')) {
        field.carry_negation = true;
        field.negation_bit = take_number(text);
    } else if (take(text, '*')) {
        if (const auto count = take_number(text)) {
            field.count = *count;
        } else {
            field.counted_by = text.front();
            text.remove_prefix(1);
        }
    } else if (take(text, 'h')) {
        field.halves = field.half_places = true;
    } else if (take(text, 'g')) {
        field.half_places = true;
    } else if (take(text, 'v')) {
        field.pair_selector_bit = must_take(text, row, token);
    } else if (take(text, 'p')) {
        field.half_part = true;
        field.half_part_bit = take_number(text);
    } else if (take(text, 'i')) {
        field.integer_part = true;
    } else if (take(text, 'r')) {
        field.reuse_of_last = true;
    } else if (take(text, 'z')) {
        field.hidden_when_zero = true;
    } else if (take(text, '?')) {
        field.hidden_when_constant = true;
    } else if (take(text, '[')) {
        const std::uint64_t value = take(text, '!') ? 0 : 1;
        field.only = BitTest{.bit = must_take(text, row, token), .width = 1, .value = value};
        if (!take(text, ']')) broken(row, token);
    } else if (take(text, ':') && !text.empty()) {
        field.type = text.front();
        text.remove_prefix(1);
    } else if (text.starts_with('.')) {
        field.part = text;
        text = {};
    } else {
        broken(row, token);
    }
}

void add_operand(Encoding& into, std::string_view token) {
    std::string_view text = token;
    OperandField field;
    field.kind = take_kind(text, *into.row, token);
    if (const auto bit = take_number(text)) field.bit = *bit;
    if (take(text, '+')) field.width = must_take(text, *into.row, token);
    while (!text.empty()) add_mark(field, text, *into.row, token);
    if (field.kind == "c" || field.kind == "uc") into.has_last_source = true;
    into.operands.push_back(field);
}

std::array<std::vector<Encoding>, 512> compile() {
    std::array<std::vector<Encoding>, 512> table;
    for (const Row& row : rows()) {
        Encoding one;
        one.row = &row;
        for (const std::string_view token : words_in(row.modifiers)) add_modifier(one, token);
        for (const std::string_view token : words_in(row.operands)) add_operand(one, token);
        table.at(static_cast<std::size_t>(row.code)).push_back(std::move(one));
    }
    return table;
}

}  // namespace

const std::vector<Encoding>& encodings(int code) {
    static const std::array<std::vector<Encoding>, 512> table = compile();
    return table.at(static_cast<std::size_t>(code));
}

}  // namespace occupipe::isa

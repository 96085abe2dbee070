// SPDX-License-Identifier: MIT
// Buffers and arguments as a command line spells them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/files/launch_files.h"
#include "core/name_rules.h"
#include "core/suggestions.h"
#include "core/text.h"

namespace occupipe {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw InputError(fmt::format("'{}': {}", text, why));
}

std::uint64_t whole_number(std::string_view all, std::string_view text) {
    std::string why;
    const auto value = parse_element(ElementType::u64, text, why);
    if (!value) refuse(all, why);
    return *value;
}

ElementType type_of(std::string_view all, std::string_view name) {
    const auto type = element_type(name);
    if (!type) {
        std::vector<std::string_view> names;
        for (const ElementType one : element_types()) names.push_back(to_string(one));
        refuse(all, fmt::format("'{}' is not one of {}", name, fmt::join(names, ", ")));
    }
    return *type;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

struct Pattern {
    const char* name;
    BufferFill::Kind kind;
    std::size_t least, most;  // words in brackets
};

constexpr Pattern patterns[] = {
    {"zeros", BufferFill::Kind::zeros, 0, 0},
    {"ones", BufferFill::Kind::value, 0, 0},
    {"iota", BufferFill::Kind::iota, 0, 2},
    {"value", BufferFill::Kind::value, 1, 1},
    {"values", BufferFill::Kind::values, 1, 1U << 20},
    {"random", BufferFill::Kind::random, 0, 3},
    {"integers", BufferFill::Kind::whole, 2, 3},
    {"permutation", BufferFill::Kind::permutation, 0, 1},
    {"file", BufferFill::Kind::file, 1, 1},
};

BufferFill parse_fill(std::string_view all, std::string_view text, ElementType type) {
    const std::size_t open = text.find('(');
    const std::string_view name = text.substr(0, open);
    std::vector<std::string> words;
    if (open != std::string_view::npos) {
        if (!text.ends_with(')')) refuse(all, "the bracket is not closed");
        const std::string_view inner = text.substr(open + 1, text.size() - open - 2);
        words = name == "file" ? std::vector<std::string>{std::string(inner)} : split(inner, ',');
    }
    const auto pattern = std::ranges::find(
        patterns, name, [](const Pattern& one) { return std::string_view(one.name); });
    if (pattern == std::end(patterns)) {
        std::vector<std::string> names;
        for (const Pattern& one : patterns) names.emplace_back(one.name);
        refuse(all, fmt::format("'{}' is not one of {}", name, fmt::join(names, ", ")));
    }
    if (words.size() < pattern->least || words.size() > pattern->most ||
        (pattern->kind == BufferFill::Kind::random && words.size() == 1))
        refuse(all, fmt::format("{} does not take {} word{} in brackets", name, words.size(),
                                words.size() == 1 ? "" : "s"));
    BufferFill fill;
    fill.kind = pattern->kind;
    if (fill.kind == BufferFill::Kind::whole && !is_floating(type))
        fill.kind = BufferFill::Kind::random;
    switch (fill.kind) {
        case BufferFill::Kind::value:
            fill.low = words.empty() ? "1" : words[0];
            break;
        case BufferFill::Kind::iota:
            if (!words.empty()) fill.low = words[0];
            if (words.size() == 2) fill.high = words[1];
            break;
        case BufferFill::Kind::values:
            fill.listed = words;
            break;
        case BufferFill::Kind::file:
            fill.path = words[0];
            break;
        case BufferFill::Kind::permutation:
            if (!words.empty()) fill.seed = whole_number(all, words[0]);
            break;
        case BufferFill::Kind::random:
        case BufferFill::Kind::whole:
            fill.low = words.empty() ? "0" : words[0];
            fill.high = !words.empty() ? words[1] : is_floating(type) ? "1" : "99";
            if (words.size() == 3) fill.seed = whole_number(all, words[2]);
            break;
        default:
            break;
    }
    return fill;
}

bool is_buffer(std::string_view text) {
    const std::size_t bracket = text.find('[');
    return bracket != std::string_view::npos && text.find(']', bracket) != std::string_view::npos;
}

bool begins_like_a_number(std::string_view text) {
    return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 ||
                             text[0] == '-' || text[0] == '+' || text[0] == '.');
}

// "NAME=TYPE[COUNT]:FILL", or without a name.
ArgumentPlan new_buffer(const std::string& word, std::size_t index, LaunchPlan& plan) {
    const std::size_t equals = std::min(word.find('='), word.find('['));
    const bool named = equals != std::string::npos && word[equals] == '=';
    BufferPlan buffer = parse_buffer(std::string_view(word).substr(named ? equals + 1 : 0));
    buffer.name = named ? word.substr(0, equals) : fmt::format("argument{}", index);
    if (const auto fault = name_fault(buffer.name)) refuse(word, *fault);
    if (plan.find_buffer(buffer.name) != nullptr)
        refuse(word, fmt::format("there is a buffer '{}' already; its name alone passes it again",
                                 buffer.name));
    std::uint64_t before = 0;
    for (const BufferPlan& one : plan.buffers) before += one.bytes();
    if (buffer.bytes() > most_plan_bytes - before)
        refuse(word, fmt::format("all buffers together may have {} GiB", most_plan_bytes >> 30));
    ArgumentPlan argument;
    argument.kind = ArgumentPlan::Kind::buffer;
    argument.buffer = buffer.name;
    plan.buffers.push_back(std::move(buffer));
    return argument;
}

// "NAME" or "NAME+BYTES".
ArgumentPlan known_buffer(const std::string& word, const LaunchPlan& plan) {
    const std::size_t plus = word.find('+');
    ArgumentPlan argument;
    argument.kind = ArgumentPlan::Kind::buffer;
    argument.buffer = word.substr(0, plus);
    const BufferPlan* buffer = plan.find_buffer(argument.buffer);
    if (buffer == nullptr) {
        std::vector<std::string> names;
        for (const BufferPlan& one : plan.buffers) names.push_back(one.name);
        refuse(word, fmt::format("neither a number nor a buffer named before{}; a new one is "
                                 "NAME=TYPE[COUNT]:PATTERN",
                                 near_text(argument.buffer, names)));
    }
    if (plus != std::string::npos)
        argument.offset = whole_number(word, std::string_view(word).substr(plus + 1));
    if (argument.offset > buffer->bytes())
        refuse(word, fmt::format("the buffer has {} bytes", buffer->bytes()));
    return argument;
}

std::vector<std::uint8_t> hexadecimal(const std::string& word, std::string_view digits) {
    std::vector<std::uint8_t> bytes;
    if (digits.empty() || digits.size() % 2 != 0 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
        refuse(word, "must be two hexadecimal digits for each byte");
    for (std::size_t i = 0; i < digits.size(); i += 2)
        bytes.push_back(static_cast<std::uint8_t>(
            whole_number(word, fmt::format("0x{}", digits.substr(i, 2)))));
    return bytes;
}

// "TYPE:NUMBER", "bytes:HEX", "local:BYTES"
ArgumentPlan typed(const std::string& word) {
    const std::size_t colon = word.find(':');
    const std::string kind = word.substr(0, colon);
    const std::string value = word.substr(colon + 1);
    ArgumentPlan argument;
    if (kind == "bytes") {
        argument.kind = ArgumentPlan::Kind::bytes;
        argument.content = hexadecimal(word, value);
    } else if (kind == "local") {
        argument.kind = ArgumentPlan::Kind::local;
        argument.size = whole_number(word, value);
        if (argument.size == 0 || argument.size > most_shared_bytes)
            refuse(word, fmt::format("must be 1 to {} bytes", most_shared_bytes));
    } else {
        argument.type = type_of(word, kind);
        argument.text = value;
        std::string why;
        if (!parse_element(argument.type, value, why)) refuse(word, why);
    }
    return argument;
}

}  // namespace

BufferPlan parse_buffer(std::string_view text) {
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        refuse(text, "expected TYPE[COUNT] or TYPE[COUNT]:PATTERN, such as f32[1024]:iota");
    BufferPlan buffer;
    buffer.type = type_of(text, text.substr(0, open));
    buffer.count = whole_number(text, text.substr(open + 1, close - open - 1));
    if (buffer.count == 0) refuse(text, "a buffer has at least one element");
    if (buffer.count > most_plan_bytes / bytes_of(buffer.type))
        refuse(text, fmt::format("all buffers together may have {} GiB", most_plan_bytes >> 30));
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty()) {
        if (!rest.starts_with(':')) refuse(text, "expected ':' and a pattern after the count");
        buffer.fill = parse_fill(text, rest.substr(1), buffer.type);
    }
    if (const auto fault = fill_fault(buffer.fill, buffer.type, buffer.count)) refuse(text, *fault);
    return buffer;
}

std::vector<ArgumentPlan> parse_arguments(std::string_view text, LaunchPlan& plan) {
    std::vector<ArgumentPlan> arguments;
    for (const std::string_view part : words_in(text)) {
        const std::string word(part);
        const std::size_t index = arguments.size();
        if (is_buffer(word)) {
            arguments.push_back(new_buffer(word, index, plan));
        } else if (begins_like_a_number(word)) {
            ArgumentPlan argument;
            argument.kind = ArgumentPlan::Kind::number;
            argument.text = word;
            arguments.push_back(std::move(argument));
        } else if (word.find(':') != std::string::npos) {
            arguments.push_back(typed(word));
        } else {
            arguments.push_back(known_buffer(word, plan));
        }
    }
    return arguments;
}

}  // namespace occupipe

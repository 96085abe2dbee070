// SPDX-License-Identifier: MIT
#include "extract/signature.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/suggestions.h"

namespace occupipe::extract {
namespace {

using Kind = ParameterType::Kind;

// ---- PTX ----

bool is_name_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// The text between the brackets behind ".entry NAME", and the body behind it.
std::pair<std::string_view, std::string_view> entry_of(std::string_view ptx,
                                                       std::string_view name) {
    constexpr std::string_view word = ".entry";
    for (std::size_t at = ptx.find(word); at != std::string_view::npos;
         at = ptx.find(word, at + 1)) {
        std::string_view rest = ptx.substr(at + word.size());
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
        if (!rest.starts_with(name)) continue;
        rest.remove_prefix(name.size());
        if (!rest.empty() && is_name_letter(rest.front())) continue;
        const std::size_t open = rest.find_first_not_of(" \t\r\n");
        if (open == std::string_view::npos || rest[open] != '(') return {};
        const std::size_t close = rest.find(')', open);
        if (close == std::string_view::npos) return {};
        std::string_view body = rest.substr(close + 1);
        body = body.substr(0, body.find(word));  // other kernels may load parameters, too
        return {rest.substr(open + 1, close - open - 1), body};
    }
    return {};
}

ParameterType ptx_type(std::string_view declaration) {
    constexpr std::pair<std::string_view, ElementType> types[] = {
        {".u8 ", ElementType::u8},   {".s8 ", ElementType::i8},   {".u16 ", ElementType::u16},
        {".s16 ", ElementType::i16}, {".u32 ", ElementType::u32}, {".s32 ", ElementType::i32},
        {".f32 ", ElementType::f32}, {".f64 ", ElementType::f64}, {".f16 ", ElementType::f16}};
    if (declaration.find(".ptr") != std::string_view::npos) {
        using Space = ParameterType::Space;
        const auto has = [&](std::string_view space) {
            return declaration.find(space) != std::string_view::npos;
        };
        return {.kind = Kind::pointer,
                .space = has(".shared")                     ? Space::shared
                         : has(".global") || has(".const ") ? Space::global
                                                            : Space::unknown};
    }
    if (declaration.find('[') != std::string_view::npos) return {.kind = Kind::record};
    for (const std::string_view wide : {".u64 ", ".s64 ", ".b64 "})
        if (declaration.find(wide) != std::string_view::npos)
            return {.kind = Kind::integer, .type = ElementType::i64};
    for (const auto& [text, type] : types)
        if (declaration.find(text) != std::string_view::npos)
            return {.kind = Kind::scalar, .type = type};
    return {};
}

// Registers into which the body loads a parameter whole, and that become global addresses.
bool becomes_address(std::string_view body, std::string_view parameter) {
    constexpr std::string_view load = "ld.param.u64";
    const std::string place = fmt::format("[{}]", parameter);
    for (std::size_t at = body.find(place); at != std::string_view::npos;
         at = body.find(place, at + 1)) {
        const std::size_t begin = body.rfind('\n', at) + 1;
        std::string_view line = body.substr(begin, at - begin);
        const std::size_t loaded = line.find(load);
        const std::size_t comma = line.find(',');
        if (loaded == std::string_view::npos || comma == std::string_view::npos) continue;
        std::string_view target = line.substr(loaded + load.size(), comma - loaded - load.size());
        target.remove_prefix(std::min(target.find_first_not_of(" \t"), target.size()));
        const std::string use = fmt::format(", {};", target);
        for (std::size_t used = body.find(use); used != std::string_view::npos;
             used = body.find(use, used + 1)) {
            const std::size_t start = body.rfind('\n', used) + 1;
            if (body.substr(start, used - start).find("cvta.to.") != std::string_view::npos)
                return true;
        }
    }
    return false;
}

std::vector<ParameterType> from_ptx(const isa::Kernel& kernel, std::string_view ptx) {
    std::vector<ParameterType> types;
    auto [declarations, body] = entry_of(ptx, kernel.name);
    while (!declarations.empty()) {
        const std::size_t end = std::min(declarations.find(','), declarations.size());
        std::string_view one = declarations.substr(0, end);
        declarations.remove_prefix(std::min(end + 1, declarations.size()));
        while (!one.empty() && std::isspace(static_cast<unsigned char>(one.back())) != 0)
            one.remove_suffix(1);
        if (one.find(".param") == std::string_view::npos) continue;
        ParameterType type = ptx_type(one);
        const std::string_view name = one.substr(one.find_last_of(" \t") + 1);
        if (type.kind == Kind::integer && becomes_address(body, name))
            type = {.kind = Kind::pointer};
        types.push_back(type);
    }
    return types;
}

// ---- mangled names ----

ParameterType named_type(std::string_view text) {
    constexpr std::pair<std::string_view, ElementType> types[] = {
        {"float", ElementType::f32},        {"double", ElementType::f64},
        {"int", ElementType::i32},          {"unsigned int", ElementType::u32},
        {"long", ElementType::i64},         {"unsigned long", ElementType::u64},
        {"long long", ElementType::i64},    {"unsigned long long", ElementType::u64},
        {"short", ElementType::i16},        {"unsigned short", ElementType::u16},
        {"char", ElementType::i8},          {"signed char", ElementType::i8},
        {"unsigned char", ElementType::u8}, {"bool", ElementType::u8},
        {"__half", ElementType::f16},       {"__nv_bfloat16", ElementType::bf16}};
    while (text.starts_with(' ')) text.remove_prefix(1);
    const std::size_t star = text.find('*');
    if (star != std::string_view::npos || text.ends_with('&')) {
        ParameterType pointer{.kind = Kind::pointer};
        std::string_view to = text.substr(0, star);
        if (to.ends_with(" const")) to.remove_suffix(6);
        for (const auto& [name, type] : types)
            if (to == name) pointer.pointee = type;
        return pointer;
    }
    for (const auto& [name, type] : types)
        if (text == name) return {.kind = Kind::scalar, .type = type};
    return {};
}

std::vector<ParameterType> from_name(const std::string& name) {
    const std::string readable = readable_name(name);
    if (readable == name || !readable.ends_with(')')) return {};
    // The bracket that the last one closes.
    std::size_t open = readable.size() - 1;
    int depth = 0;
    do {
        if (readable[open] == ')') ++depth;
        if (readable[open] == '(') --depth;
    } while (depth > 0 && open-- > 0);
    if (depth != 0) return {};
    std::vector<ParameterType> types;
    std::string word;
    for (std::size_t i = open + 1; i + 1 <= readable.size(); ++i) {
        const char c = readable[i];
        if (c == '(' || c == '<') ++depth;
        if (c == ')' || c == '>') --depth;
        if (depth < 0 || (depth == 0 && c == ',')) {
            if (!word.empty()) types.push_back(named_type(word));
            word.clear();
        } else {
            word += c;
        }
    }
    return types;
}

// Without blanks but those between words, casts of numbers and their suffixes: k<256,true> of
// k<(unsigned int)256, (bool)1> and of k< 256u, true >.
std::string as_written(std::string_view name) {
    const auto in_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    constexpr std::string_view to_truth = "(bool)";
    std::string text;
    bool number = false;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const char before = text.empty() ? ' ' : text.back();
        std::size_t closes = c == '(' && !in_word(before) ? name.find(')', i) : name.npos;
        if (closes + 1 < name.size() && closes != name.npos &&
            (name[closes + 1] == '-' ||
             std::isdigit(static_cast<unsigned char>(name[closes + 1])))) {
            const bool truth = name.substr(i, to_truth.size()) == to_truth;
            if (truth) text += name[++closes] == '0' ? "false" : "true";
            i = closes;
            continue;
        }
        if (c == ' ') {
            const std::size_t next = name.find_first_not_of(' ', i);
            if (next != name.npos && in_word(before) && in_word(name[next])) text += ' ';
            i = std::min(next, name.size()) - 1;
            continue;
        }
        if (!in_word(before)) number = std::isdigit(static_cast<unsigned char>(c)) != 0;
        if (!number || std::string_view("uUlL").find(c) == std::string_view::npos) text += c;
    }
    return text;
}

}  // namespace

std::string plain_name(std::string_view name) {
    while (name.starts_with(' ')) name.remove_prefix(1);
    if (name.starts_with("void ")) name.remove_prefix(5);
    while (name.ends_with(' ')) name.remove_suffix(1);
    // From the parenthesis that the last one closes: (anonymous namespace)::k<(Kind)2>(float*)
    int open = 0;
    for (std::size_t i = name.ends_with(')') ? name.size() : 0; i-- > 0;) {
        open += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
        if (open == 0) {
            name = name.substr(0, i);
            break;
        }
    }
    return as_written(name);
}

std::vector<ParameterType> signature_of(const isa::Kernel& kernel, std::string_view ptx) {
    const std::size_t count = kernel.parameters.size();
    const std::vector<ParameterType> unknown(count);
    std::vector<ParameterType> types = from_ptx(kernel, ptx);
    if (types.size() != count) types = unknown;
    std::vector<ParameterType> named = from_name(kernel.name);
    if (named.size() != count) named = unknown;
    for (std::size_t i = 0; i < count; ++i) {
        ParameterType& type = types[i];
        // The name knows what is signed and what is a pointer.
        if (named[i].kind == Kind::pointer || named[i].kind == Kind::scalar) type = named[i];
        const auto size = static_cast<std::size_t>(kernel.parameters[i].size);
        const bool eight = type.kind == Kind::pointer || type.kind == Kind::integer;
        if ((eight && size != 8) || (type.kind == Kind::scalar && size != bytes_of(type.type)))
            type = {};
    }
    return types;
}

std::string readable_name(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && text != nullptr && name.starts_with("_Z") ? std::string(text.get())
                                                                    : name;
}

std::vector<const isa::Kernel*> kernels_called(const isa::Cubin& cubin, const std::string& name) {
    const std::string wanted = plain_name(name);
    for (const auto& [also, kernel] : cubin.also_called)
        if (const std::string plain = plain_name(also);
            plain == wanted || plain.ends_with("::" + wanted))
            return {&cubin.kernel(kernel)};
    std::vector<const isa::Kernel*> called, within;  // so, or so in a namespace
    for (const isa::Kernel& kernel : cubin.kernels) {
        if (kernel.is_function) continue;
        const std::string readable = readable_name(kernel.name);
        if (kernel.name == name || readable == name) return {&kernel};
        const std::string plain = plain_name(readable);
        const std::string generic = plain.substr(0, plain.find('<'));
        if (name.empty() || plain == wanted || generic == wanted)
            called.push_back(&kernel);
        else if (generic.ends_with("::" + wanted) || plain.ends_with("::" + wanted))
            within.push_back(&kernel);
    }
    return called.empty() ? within : called;
}

const isa::Kernel& find_kernel(const isa::Cubin& cubin, const std::string& name) {
    const std::vector<const isa::Kernel*> called = kernels_called(cubin, name);
    if (called.size() == 1) return *called.front();
    std::vector<std::string> names, searched;
    for (const isa::Kernel& kernel : cubin.kernels) {
        if (kernel.is_function) continue;
        names.push_back(readable_name(kernel.name));
        searched.push_back(plain_name(readable_name(kernel.name)));
    }
    if (names.empty()) throw InputError("there is no kernel in " + cubin.file);
    if (name.empty())
        throw InputError(fmt::format("which kernel of {}? --kernel NAME; there are: {}", cubin.file,
                                     fmt::join(names, ", ")));
    if (!called.empty()) {
        names.clear();
        for (const isa::Kernel* one : called) names.push_back(readable_name(one->name));
        throw InputError(fmt::format("several kernels of {} are called '{}': {}", cubin.file, name,
                                     fmt::join(names, "; ")));
    }
    const auto near = near_text(name, searched);
    constexpr std::size_t most_names = 12;
    const std::size_t all = names.size();
    if (all > most_names) names.resize(most_names);
    throw InputError(
        fmt::format("no kernel '{}' in {}{}; there {} {}{}", name, cubin.file, near,
                    all == 1 ? "is" : "are", fmt::join(names, ", "),
                    all > most_names ? fmt::format(" and {} more", all - most_names) : ""));
}

}  // namespace occupipe::extract

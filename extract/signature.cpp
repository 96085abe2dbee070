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

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Without "void " in front, and without blanks but those between words.
std::string squeezed(std::string_view name) {
    std::string text;
    bool apart = false;
    for (const char c : name) {
        if (c != ' ') {
            if (apart && !text.empty() && in_word(text.back()) && in_word(c)) text += ' ';
            text += c;
        }
        apart = c == ' ';
    }
    if (text.starts_with("void ")) text.erase(0, 5);
    // As profilers write it.
    constexpr std::string_view unnamed = "<unnamed>::", anonymous = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = text.find(unnamed, at)) != text.npos;)
        text.replace(at, unnamed.size(), anonymous);
    return text;
}

// k<256,true> of k<(unsigned int)256,(bool)1> and of k<256u,true>: arguments that are numbers.
std::string plain(std::string_view name) {
    constexpr std::string_view casts[] = {
        "(bool)",  "(char)",           "(signed char)", "(unsigned char)",
        "(short)", "(unsigned short)", "(int)",         "(unsigned int)",
        "(long)",  "(unsigned long)",  "(long long)",   "(unsigned long long)"};
    std::string text;
    for (std::size_t i = 0; i < name.size();) {
        text += name[i++];
        if (text.back() != '<' && text.back() != ',') continue;
        // The argument that begins here.
        std::string_view one = name.substr(i, name.find_first_of(",<>", i) - i);
        const std::size_t length = one.size();
        bool truth = false;
        for (const std::string_view cast : casts)
            if (one.starts_with(cast)) {
                one.remove_prefix(cast.size());
                truth = cast == "(bool)";
                break;
            }
        const std::size_t sign = one.starts_with('-') ? 1 : 0;
        const std::size_t end = one.find_first_not_of("0123456789", sign);
        const std::string_view suffix = end == one.npos ? "" : one.substr(end);
        if (one.size() == sign || end == sign ||
            suffix.find_first_not_of("uUlL") != std::string_view::npos)
            continue;
        const std::string_view number = one.substr(0, one.size() - suffix.size());
        text += !truth ? number : number == "0" ? "false" : number == "1" ? "true" : number;
        i += length;
    }
    return text;
}

}  // namespace

std::string without_parameters(std::string_view name) {
    while (name.starts_with(' ')) name.remove_prefix(1);
    if (name.starts_with("void ")) name.remove_prefix(5);
    while (name.ends_with(' ')) name.remove_suffix(1);
    // From the parenthesis that the last one closes: (anonymous namespace)::k<(Kind)2>(float*)
    int open = 0;
    for (std::size_t i = name.ends_with(')') ? name.size() : 0; i-- > 0;) {
        open += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
        if (open == 0) return std::string(name.substr(0, i));
    }
    return std::string(name);
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
    if (const auto known = cubin.also_called.find(name); known != cubin.also_called.end())
        return {&cubin.kernel(known->second)};
    for (const isa::Kernel& kernel : cubin.kernels)
        if (!kernel.is_function && kernel.name == name) return {&kernel};
    const std::string wanted = squeezed(name), named = squeezed(without_parameters(name));
    const std::string numbers = plain(named);
    // Only those of a template are called without theirs, as people and sources do.
    const bool parameters = wanted != named && named.find('<') == named.npos;
    std::vector<const isa::Kernel*> so, alike, within;  // the best of these that there is
    const auto add = [](std::vector<const isa::Kernel*>& to, const isa::Kernel& one) {
        if (std::ranges::count(to, &one) == 0) to.push_back(&one);
    };
    const auto is_within = [&](const std::string& scoped, const std::string& what) {
        return scoped.ends_with("::" + what);
    };
    for (const auto& [also, kernel] : cubin.also_called) {
        const std::string known = squeezed(without_parameters(also));
        if (known == named)
            add(so, cubin.kernel(kernel));
        else if (is_within(known, named))
            add(within, cubin.kernel(kernel));
    }
    for (const isa::Kernel& kernel : cubin.kernels) {
        if (kernel.is_function) continue;
        const std::string readable = readable_name(kernel.name);
        const std::string full = squeezed(readable);
        if (full == wanted) {
            add(so, kernel);
            continue;
        }
        if (parameters) {
            if (is_within(full, wanted)) add(within, kernel);
            continue;
        }
        const std::string one = plain(squeezed(without_parameters(readable)));
        const std::string generic = one.substr(0, one.find('<'));
        if (name.empty() || one == numbers || generic == numbers)
            add(alike, kernel);
        else if (is_within(one, numbers) || is_within(generic, numbers))
            add(within, kernel);
    }
    return !so.empty() ? so : !alike.empty() ? alike : within;
}

const isa::Kernel& find_kernel(const isa::Cubin& cubin, const std::string& name) {
    const std::vector<const isa::Kernel*> called = kernels_called(cubin, name);
    if (called.size() == 1) return *called.front();
    std::vector<std::string> names, searched;
    for (const isa::Kernel& kernel : cubin.kernels) {
        if (kernel.is_function) continue;
        names.push_back(readable_name(kernel.name));
        searched.push_back(without_parameters(readable_name(kernel.name)));
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

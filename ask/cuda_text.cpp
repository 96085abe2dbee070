// SPDX-License-Identifier: MIT
#include "ask/cuda_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "core/text.h"

namespace occupipe::analysis {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The text with blanks for comments, literals and directives; line ends stay.
class Mask {
public:
    explicit Mask(std::string_view text) : text_(text), code_(text) {
        while (at_ < text_.size()) {
            if (text_[at_] == '\n')
                line_is_empty_ = true, ++at_;
            else if (starts("//"))
                blank(line_end());
            else if (starts("/*"))
                blank(behind("*/", at_ + 2));
            else if (text_[at_] == '#' && line_is_empty_)
                directive();
            else if (starts("R\"") && (at_ == 0 || !in_word(text_[at_ - 1])))
                raw_string();
            else if (text_[at_] == '"' || (text_[at_] == '\'' && !separates_digits()))
                literal(text_[at_]);
            else
                line_is_empty_ &= std::isspace(static_cast<unsigned char>(text_[at_])) != 0, ++at_;
        }
    }

    std::string take() { return std::move(code_); }
    // Lines of #if and the like, which stay where code goes.
    const std::vector<std::pair<std::size_t, std::size_t>>& directives() const {
        return directives_;
    }

private:
    bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }
    std::size_t behind(std::string_view what, std::size_t from) const {
        const std::size_t found = text_.find(what, from);
        return found == text_.npos ? text_.size() : found + what.size();
    }
    // Of the line, with those that a backslash joins to it.
    std::size_t line_end() const {
        std::size_t end = at_;
        while (true) {
            end = std::min(text_.find('\n', end), text_.size());
            std::size_t last = end;
            if (last > at_ && text_[last - 1] == '\r') --last;
            if (end == text_.size() || last == at_ || text_[last - 1] != '\\') return end;
            ++end;
        }
    }
    void blank(std::size_t end) {
        for (; at_ < end; ++at_)
            if (text_[at_] != '\n') code_[at_] = ' ';
    }
    void directive() {
        const std::size_t begin = at_;
        const std::size_t word = text_.find_first_not_of(" \t", at_ + 1);
        if (word == text_.npos || !text_.substr(word).starts_with("pragma"))
            directives_.emplace_back(begin, line_end());
        blank(line_end());
    }
    void raw_string() {
        const std::size_t open = std::min(text_.find('(', at_), text_.size());
        const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
        blank(behind(end, open));
    }
    // 1'000'000
    bool separates_digits() const {
        return at_ > 0 && at_ + 1 < text_.size() &&
               std::isxdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0 &&
               std::isxdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0 &&
               !text_.substr(at_ + 1).starts_with("'");
    }
    void literal(char quote) {
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
            end += text_[end] == '\\' ? 2 : 1;
        line_is_empty_ = false;
        blank(std::min(end + 1, text_.size()));
    }

    std::string_view text_;
    std::string code_;
    std::vector<std::pair<std::size_t, std::size_t>> directives_;
    std::size_t at_ = 0;
    bool line_is_empty_ = true;
};

std::size_t find_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end])))
            return at;
    }
    return text.npos;
}
bool has_word(std::string_view text, std::string_view word) {
    return find_word(text, word) != text.npos;
}

// Behind the bracket that the one at `open` opens.
std::size_t behind_bracket(std::string_view code, std::size_t open, char begin, char end) {
    int depth = 0;
    for (std::size_t at = open; at < code.size(); ++at) {
        if (code[at] == begin) ++depth;
        if (code[at] == end && --depth == 0) return at + 1;
    }
    return code.size();
}

std::string in_one_line(std::string_view text) {
    std::string line;
    for (const char c : trimmed(text)) {
        const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!blank || !line.ends_with(' ')) line += blank ? ' ' : c;
    }
    return line;
}

// Up to the body of a definition, without template parameters.
struct Head {
    std::size_t begin = 0, body = 0, end = 0;  // of the whole: head, body, behind the body
    std::string_view templates;                // between the brackets of the last template<>
    std::string_view rest;
    std::size_t rest_begin = 0;
    std::string scope;
};

void split_templates(std::string_view code, Head& head) {
    std::size_t at = head.begin;
    while (true) {
        at = code.find_first_not_of(" \t\r\n", at);
        if (at == code.npos || at >= head.body || !code.substr(at).starts_with("template")) break;
        const std::size_t open = code.find('<', at);
        if (open == code.npos || open >= head.body) break;
        int round = 0, angle = 0;
        std::size_t end = open;
        for (; end < head.body; ++end) {
            if (code[end] == '(') ++round;
            if (code[end] == ')') --round;
            if (round == 0 && code[end] == '<') ++angle;
            if (round == 0 && code[end] == '>' && --angle == 0) break;
        }
        if (end >= head.body) break;
        head.templates = code.substr(open + 1, end - open - 1);
        at = end + 1;
    }
    head.rest_begin = std::min(at, head.body);
    head.rest = code.substr(head.rest_begin, head.body - head.rest_begin);
}

bool is_function(std::string_view rest) {
    for (const char* word : {"struct", "class", "union", "enum"})
        if (trimmed(rest).starts_with(word)) return false;
    const std::size_t open = rest.find('(');
    return open != rest.npos && rest.substr(0, open).find('=') == rest.npos;
}

// Calls use(head) for each definition of a function in namespaces.
class Walk {
public:
    Walk(std::string_view code, std::function<void(const Head&)> use)
        : code_(code), use_(std::move(use)) {}

    void run() { scope(0, ""); }

private:
    // Behind the scope's end.
    std::size_t scope(std::size_t at, const std::string& name) {
        while (at < code_.size()) {
            at = code_.find_first_not_of(" \t\r\n;", at);
            if (at == code_.npos) return code_.size();
            if (code_[at] == '}') return at + 1;
            at = declaration(at, name);
        }
        return code_.size();
    }

    std::size_t declaration(std::size_t begin, const std::string& name) {
        int depth = 0;
        for (std::size_t at = begin; at < code_.size(); ++at) {
            const char c = code_[at];
            if (c == '(' || c == '[') ++depth;
            if (c == ')' || c == ']') --depth;
            if (depth > 0) {
                if (c == '{') at = behind_bracket(code_, at, '{', '}') - 1;
                continue;
            }
            if (c == ';') return at + 1;
            if (c == '}') return at;
            if (c != '{') continue;
            const std::string_view head = trimmed(code_.substr(begin, at - begin));
            if (head.empty() || head == "extern") return scope(at + 1, name);
            if (head.starts_with("namespace") || head.starts_with("inline namespace"))
                return scope(at + 1, inner(head, name));
            const std::size_t end = behind_bracket(code_, at, '{', '}');
            Head found{
                .begin = begin, .body = at, .end = end, .templates = {}, .rest = {}, .scope = {}};
            split_templates(code_, found);
            if (is_function(found.rest)) {
                found.scope = name;
                use_(found);
                return end;
            }
            at = end - 1;
        }
        return code_.size();
    }

    static std::string inner(std::string_view head, const std::string& name) {
        const std::string_view own = trimmed(head.substr(head.find("namespace") + 9));
        return own.empty() ? name : name + std::string(own) + "::";
    }

    std::string_view code_;
    std::function<void(const Head&)> use_;
};

// "fill" and where its parameters begin, of "__global__ void __launch_bounds__(256) fill(float*
// a)".
std::pair<std::string_view, std::size_t> name_and_parameters(std::string_view rest) {
    for (std::size_t open = rest.find('('); open != rest.npos;) {
        std::size_t end = open;
        while (end > 0 && std::isspace(static_cast<unsigned char>(rest[end - 1])) != 0) --end;
        std::size_t begin = end;
        while (begin > 0 && in_word(rest[begin - 1])) --begin;
        const std::string_view word = rest.substr(begin, end - begin);
        if (!word.empty() && !word.starts_with("__") && word != "alignas") return {word, open};
        open = rest.find('(', behind_bracket(rest, open, '(', ')'));
    }
    return {{}, rest.npos};
}

// Macros that stand for __device__ or __global__ in this text.
std::set<std::string> device_macros(std::string_view text) {
    std::set<std::string> names;
    constexpr std::string_view define = "define";
    for (std::size_t at = text.find(define); at != text.npos; at = text.find(define, at + 1)) {
        const std::string_view line =
            text.substr(at, std::min(text.find('\n', at), text.size()) - at);
        if (line.find("__device__") == line.npos && line.find("__global__") == line.npos) continue;
        const std::string_view rest = trimmed(line.substr(define.size()));
        std::size_t end = 0;
        while (end < rest.size() && in_word(rest[end])) ++end;
        names.insert(std::string(rest.substr(0, end)));
    }
    return names;
}

// A word of the head before the function's name that may be a macro for __device__.
bool may_be_of_device(std::string_view head, const std::set<std::string>& macros) {
    for (std::size_t at = 0; at < head.size();) {
        if (!in_word(head[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < head.size() && in_word(head[end])) ++end;
        const std::string word(head.substr(at, end - at));
        const bool capitals = word.size() > 3 && std::ranges::none_of(word, [](unsigned char c) {
                                  return std::islower(c) != 0;
                              });
        if (capitals || macros.contains(word)) return true;
        at = end;
    }
    return false;
}

// Of the text that is left; directives stay.
void blank_out(std::string_view text, const Mask& mask, const Head& head, std::string& left) {
    for (std::size_t at = head.begin; at < head.end; ++at)
        if (left[at] != '\n') left[at] = ' ';
    for (const auto& [begin, end] : mask.directives())
        if (begin >= head.begin && begin < head.end)
            std::ranges::copy(text.substr(begin, end - begin),
                              left.begin() + static_cast<std::ptrdiff_t>(begin));
}

std::size_t count_of_word(std::string_view text, std::string_view word) {
    std::size_t count = 0;
    for (std::size_t at = find_word(text, word); at != text.npos; at = find_word(text, word)) {
        ++count;
        text.remove_prefix(at + word.size());
    }
    return count;
}

// The conditions of the preprocessor under which the text at `at` is compiled.
std::string condition_at(std::string_view text, const Mask& mask, std::size_t at) {
    struct Open {
        std::string word, text;
        bool guard = false;
    };
    std::vector<Open> open;
    std::ptrdiff_t line_number = 1;
    std::size_t counted = 0;  // up to here
    for (const auto& [begin, end] : mask.directives()) {
        if (begin >= at) break;
        line_number += std::ranges::count(text.substr(counted, begin - counted), '\n');
        counted = begin;
        std::string_view line = text.substr(begin + 1, end - begin - 1);
        line = trimmed(line.substr(0, std::min(line.find("//"), line.find("/*"))));
        const std::string word(
            line.substr(0, std::ranges::find_if_not(line, in_word) - line.begin()));
        const std::string_view rest = trimmed(line.substr(word.size()));
        const auto described = [&] {
            return fmt::format("#{} {} (line {})", word, in_one_line(rest), line_number);
        };
        if (word.starts_with("if")) {
            open.push_back({word, described()});
        } else if (word == "define" && !open.empty() && open.back().word == "ifndef") {
            const std::string_view name = rest.substr(
                0,
                static_cast<std::size_t>(std::ranges::find_if_not(rest, in_word) - rest.begin()));
            open.back().guard |=
                open.back().text.starts_with("#ifndef " + std::string(name) + " (");
        } else if (word == "elif" && !open.empty()) {
            open.back() = {word, described()};
        } else if (word == "else" && !open.empty()) {
            open.back() = {word, "#else of " + open.back().text};
        } else if (word == "endif" && !open.empty()) {
            open.pop_back();
        }
    }
    std::string all;
    for (const Open& one : open)
        if (!one.guard) all += (all.empty() ? "" : " and ") + one.text;
    return all;
}

bool is_error(std::string_view line) {
    return line.find("error") != line.npos || line.find("fatal") != line.npos;
}

}  // namespace

std::string code_of(std::string_view text) { return Mask(text).take(); }

std::vector<SourceKernel> kernels_of_text(std::string_view text) {
    Mask mask(text);
    const std::string code = mask.take();
    std::vector<SourceKernel> kernels;
    Walk(code, [&](const Head& head) {
        if (!has_word(head.rest, "__global__")) return;
        const auto [name, open] = name_and_parameters(head.rest);
        if (name.empty()) return;
        const std::size_t begin = head.rest_begin + open;
        const std::size_t end = behind_bracket(code, begin, '(', ')');
        kernels.push_back(
            {.name = head.scope + std::string(name),
             .parameters = in_one_line(code.substr(begin + 1, end - begin - 2)),
             .template_parameters = in_one_line(head.templates),
             .line = 1 + static_cast<int>(std::ranges::count(
                             code.substr(0, head.rest_begin + static_cast<std::size_t>(
                                                                  name.data() - head.rest.data())),
                             '\n')),
             .condition = condition_at(text, mask, begin)});
    }).run();
    return kernels;
}

std::string without_host_functions(std::string_view text) {
    Mask mask(text);
    const std::string code = mask.take();
    const std::set<std::string> macros = device_macros(text);
    std::string left(text);
    Walk(code, [&](const Head& head) {
        for (const char* word : {"__global__", "__device__", "constexpr", "consteval"})
            if (has_word(head.rest, word)) return;
        const auto [name, open] = name_and_parameters(head.rest);
        if (open == head.rest.npos ||
            may_be_of_device(head.rest.substr(0, open - name.size()), macros))
            return;
        blank_out(text, mask, head, left);
    }).run();
    return left;
}

std::string without_other_kernels(std::string_view text, const std::vector<std::string>& kernels) {
    Mask mask(text);
    const std::string code = mask.take();
    std::string left(text);
    Walk(code, [&](const Head& head) {
        if (!has_word(head.rest, "__global__") || !head.templates.empty()) return;
        const std::string_view name = name_and_parameters(head.rest).first;
        if (name.empty() || std::ranges::find(kernels, name) != kernels.end() ||
            count_of_word(text, name) > 1)
            return;
        blank_out(text, mask, head, left);
    }).run();
    return left;
}

std::string first_error(const std::string& said) {
    std::string log = said;
    // What stands before the compiler's own words (Nvrtc::compile).
    constexpr std::string_view status = "NVRTC_ERROR_COMPILATION: ";
    if (const std::size_t at = log.find(status); at != log.npos) log.erase(0, at + status.size());
    std::string first;
    int more = 0;
    for (std::size_t begin = 0; begin < log.size();) {
        const std::size_t end = std::min(log.find('\n', begin), log.size());
        const std::string line = log.substr(begin, end - begin);
        begin = end + 1;
        const bool counts = line.find(" detected in ") != std::string::npos;
        if (!is_error(line) || counts) continue;
        if (first.empty())
            first = line;
        else if (line.find("error:") != std::string::npos)
            ++more;
    }
    if (first.empty()) return log.empty() ? "it says nothing" : log;
    return more == 0 ? first : fmt::format("{} (and {} more)", first, more);
}

}  // namespace occupipe::analysis

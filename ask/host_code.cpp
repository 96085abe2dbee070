// SPDX-License-Identifier: MIT
#include "ask/host_code.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ask/cuda_text.h"
#include "core/text.h"

namespace occupipe::analysis {
namespace {

// A place in a file: its line, and the column from the line's first character that is not blank.
struct Place {
    int line = 0;
    std::size_t column = 0;
};

std::string_view next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

using Places = std::map<std::string, std::vector<Place>, std::less<>>;
using Files = std::set<std::string, std::less<>>;

struct Marker {
    std::string_view file;
    int line = 0;
    bool of_system = false;  // said where the file begins
};

// # 12 "file.h" 1 3
std::optional<Marker> marker_of(std::string_view line) {
    const std::size_t quote = line.find('"');
    if (!line.starts_with("# ") || quote == line.npos) return std::nullopt;
    const std::size_t end = std::max(line.rfind('"'), quote + 1);
    Marker marker{.file = line.substr(quote + 1, end - quote - 1)};
    std::from_chars(line.data() + 2, line.data() + quote, marker.line);
    // " 3 4" alone marks a macro of the system in any file.
    marker.of_system = line.find(" 1 3", end) != line.npos;
    return marker;
}

Files system_files(std::string_view text) {
    Files files;
    while (!text.empty())
        if (const auto marker = marker_of(next_line(text)); marker && marker->of_system)
            files.insert(std::string(marker->file));
    return files;
}

// Behind a mark below a line of source: its column.
std::size_t column_of_mark(std::string_view said) {
    const std::size_t text = next_line(said).find_first_not_of(blanks);
    const std::string_view below = next_line(said);
    const std::size_t mark = below.find_first_not_of(blanks);
    const bool there = mark != below.npos && below[mark] == '^' && text != below.npos;
    return there && mark >= text ? mark - text : 0;
}

// Of "file.cu(12): error: ...", by file. Where the file is the system's: of what instantiates it
// in another, "... at line 12 of file.cu".
Places places_of(std::string_view said, const Files& of_system) {
    constexpr std::string_view sign = "): error", from = " at line ", of = " of ";
    Places places;
    bool by_system = false;
    while (!said.empty()) {
        const std::string_view line = next_line(said);
        Place place;
        const std::size_t end = line.find(sign);
        const std::size_t open = line.substr(0, std::min(end, line.size())).rfind('(');
        if (end != line.npos && open != line.npos) {
            const std::string file(line.substr(0, open));
            by_system = of_system.contains(file);
            if (by_system) continue;
            std::from_chars(line.data() + open + 1, line.data() + end, place.line);
            place.column = column_of_mark(said);
            places[file].push_back(place);
        } else if (const std::size_t at = line.rfind(from); by_system && at != line.npos) {
            const std::size_t name = line.find(of, at);
            if (name == line.npos) continue;
            const std::string file(line.substr(name + of.size()));
            if (of_system.contains(file)) continue;
            std::from_chars(line.data() + at + from.size(), line.data() + name, place.line);
            places[file].push_back(place);
            by_system = false;
        }
    }
    return places;
}

// How far into `line` a column is: the preprocessor makes one blank of several, which are left
// where something was taken out before.
std::size_t offset_of(std::string_view line, std::size_t column) {
    std::size_t at = std::min(line.find_first_not_of(blanks), line.size());
    bool quoted = false;
    for (std::size_t passed = 0; at < line.size() && passed < column; ++at) {
        if (line[at] == '"' && line[at - std::min<std::size_t>(at, 1)] != '\\') quoted = !quoted;
        const bool goes_on = at + 1 < line.size() && line[at] == ' ' && line[at + 1] == ' ';
        if (quoted || !goes_on) ++passed;
    }
    return at;
}

// Where these are in the text.
std::set<std::size_t> offsets_of(std::string_view text, const Places& places) {
    std::set<std::size_t> offsets;
    const std::vector<Place>* wanted = nullptr;
    int number = 0;
    for (std::string_view rest = text; !rest.empty(); ++number) {
        const std::string_view line = next_line(rest);
        if (const auto marker = marker_of(line)) {
            number = marker->line - 1;
            const auto found = places.find(marker->file);
            wanted = found == places.end() ? nullptr : &found->second;
        } else if (wanted != nullptr) {
            const std::size_t begin = static_cast<std::size_t>(line.data() - text.data());
            for (const Place& place : *wanted)
                if (place.line == number) offsets.insert(begin + offset_of(line, place.column));
        }
    }
    return offsets;
}

struct Range {
    std::size_t begin = 0, end = 0;
    bool holds(std::size_t at) const { return begin <= at && at < end; }
};

bool is_one_of(char c, std::string_view all) { return all.find(c) != all.npos; }

bool runs_on_device(std::string_view code) {
    for (const char* word : {"((device))", "((global))", "__device__", "__global__"})
        if (code.find(word) != code.npos) return true;
    return false;
}

// Code for the device may use what is constexpr.
bool is_for_device(std::string_view code) {
    return runs_on_device(code) || code.find("constexpr") != code.npos;
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_word(std::string_view text, std::size_t at, std::size_t length) {
    return (at == 0 || !is_letter(text[at - 1])) &&
           (at + length >= text.size() || !is_letter(text[at + length]));
}

std::string_view last_word(std::string_view text) {
    std::size_t end = text.size();
    while (end > 0 && !is_letter(text[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_letter(text[begin - 1])) --begin;
    return text.substr(begin, end - begin);
}

// Another template would be taken in its place.
bool is_specialised(std::string_view head) {
    std::string_view rest = trimmed(head);
    if (!rest.starts_with("template")) return false;
    rest = trimmed(rest.substr(std::string_view("template").size()));
    if (rest.starts_with("<") && trimmed(rest.substr(1)).starts_with(">")) return true;
    // Of a class: a name with arguments.
    const std::string_view declared = rest.substr(0, rest.find_first_of("{;:("));
    for (const std::string_view word : {"struct", "class"}) {
        const std::size_t at = declared.rfind(word);
        if (at == declared.npos || !is_word(declared, at, word.size())) continue;
        const std::size_t open = declared.find('<', at);
        if (open != declared.npos) return declared.find('>', open) == trimmed(declared).size() - 1;
    }
    return false;
}

// A member that takes room in its class.
bool is_data(std::string_view declaration) {
    std::string_view rest = trimmed(declaration);
    if (rest.starts_with("virtual")) return true;
    for (const char* word : {"using", "typedef", "friend", "static", "template"})
        if (rest.starts_with(word)) return false;
    const std::size_t end = rest.find_last_not_of(" \t\r\n;");
    rest = rest.substr(0, end == rest.npos ? 0 : end + 1);
    if (rest.find('(') == rest.npos) return true;
    for (const char* ending :
         {")", "const", "noexcept", "override", "final", "default", "delete", "0"})
        if (rest.ends_with(ending)) return false;
    return true;
}

enum class Block { scope, type, function, value };

// What the braces behind `head` hold.
Block kind_of(std::string_view head) {
    std::string_view rest = trimmed(head);
    while (rest.starts_with("template")) {
        int depth = 0;
        std::size_t at = 0;
        for (; at < rest.size(); ++at) {
            if (rest[at] == '<') ++depth;
            if (rest[at] == '>' && --depth == 0) break;
        }
        rest = trimmed(rest.substr(std::min(at + 1, rest.size())));
    }
    if (rest.starts_with("namespace") || rest.starts_with("inline namespace") ||
        rest.ends_with("extern") || rest.empty())
        return Block::scope;
    for (const char* word : {"typedef", "static", "const"})
        if (rest.starts_with(word)) rest = trimmed(rest.substr(std::string_view(word).size()));
    for (const char* word : {"struct", "class", "union", "enum"})
        if (rest.starts_with(word) && !rest.ends_with(")")) return Block::type;
    const std::size_t open = rest.find('(');
    if (open == rest.npos) return Block::value;
    if (rest.substr(0, open).find('=') != rest.npos && rest.find("operator") == rest.npos)
        return Block::value;
    // A member's first value in a constructor: S() : a{1} {}
    const std::size_t close = rest.rfind(')');
    const std::string_view behind = trimmed(rest.substr(std::min(close + 1, rest.size())));
    if (behind.starts_with(":") || behind.starts_with(",")) return Block::value;
    return Block::function;
}

class Removal {
public:
    Removal(std::string_view text, HostCode goes)
        : left_(text), code_(code_of(text)), goes_(goes) {}

    void at(std::size_t place) {
        // Where another place took it already, the next declaration begins.
        if (place >= left_.size() || is_one_of(left_[place], blanks)) return;
        place_ = place;
        class_.reset();
        scope({0, code_.size()});
    }
    std::optional<std::string> take() {
        return changed_ ? std::optional(std::move(left_)) : std::nullopt;
    }

private:
    std::string_view code(const Range& range) const {
        return std::string_view(code_).substr(range.begin, range.end - range.begin);
    }

    // Line ends and the preprocessor's marks of lines stay.
    void blank(const Range& range) {
        for (std::size_t at = range.begin; at < range.end; ++at) {
            const bool begins = at == 0 || left_[at - 1] == '\n';
            if (begins &&
                marker_of(std::string_view(left_).substr(at, left_.find('\n', at) - at))) {
                at = std::min(left_.find('\n', at), range.end);
                continue;
            }
            changed_ = changed_ || !is_one_of(code_[at], blanks);
            if (left_[at] != '\n') left_[at] = code_[at] = ' ';
        }
    }

    std::size_t behind_braces(std::size_t open, std::size_t end) const {
        int depth = 0;
        for (std::size_t at = open; at < end; ++at) {
            if (code_[at] == '{') ++depth;
            if (code_[at] == '}' && --depth == 0) return at + 1;
        }
        return end;
    }

    // What is for the other case stays, without the word: nothing of the host is executed.
    void blank_else(std::size_t begin, std::size_t end) {
        const std::size_t at = std::min(code_.find_first_not_of(blanks, begin), end);
        constexpr std::string_view word = "else";
        if (code({at, end}).starts_with(word) && is_word(code_, at, word.size()))
            blank({at, at + word.size()});
    }

    // Behind "public:", of a declaration in a class.
    std::size_t behind_access(std::size_t begin, std::size_t end) const {
        for (bool again = true; again;) {
            again = false;
            const std::size_t at = std::min(code_.find_first_not_of(blanks, begin), end);
            for (const std::string_view word : {"public", "private", "protected"}) {
                if (!code({at, end}).starts_with(word)) continue;
                const std::size_t colon = code_.find_first_not_of(blanks, at + word.size());
                if (colon >= end || code_[colon] != ':') continue;
                begin = colon + 1;
                again = true;
            }
        }
        return begin;
    }

    // A namespace or a class: its declarations.
    void scope(const Range& range) {
        std::size_t begin = range.begin;
        int depth = 0;
        for (std::size_t at = begin; at < range.end; ++at) {
            const char c = code_[at];
            if (is_one_of(c, "([")) ++depth;
            if (is_one_of(c, ")]") && depth > 0) --depth;
            if (c == '{' && depth > 0) {
                at = behind_braces(at, range.end) - 1;
            } else if (c == ';' && depth == 0) {
                if (Range{begin, at + 1}.holds(place_)) return declaration({begin, at + 1});
                begin = at + 1;
            } else if (c == '{') {
                const std::size_t end = behind_braces(at, range.end);
                const Block kind = kind_of(code({behind_access(begin, at), at}));
                if (Range{begin, end}.holds(place_)) {
                    const Range inner = {at + 1, end - 1};
                    if (kind == Block::function) return function({begin, end}, inner);
                    const bool of_names = trimmed(code({begin, at})).starts_with("enum");
                    if (kind != Block::value && inner.holds(place_) && !of_names) {
                        if (kind == Block::type && !class_) class_ = Range{begin, end};
                        return scope(inner);
                    }
                    if (kind == Block::type) return declaration({begin, end});
                }
                if (kind == Block::scope || kind == Block::function) begin = end;
                at = end - 1;
            }
        }
    }

    void declaration(Range range) {
        range.begin = behind_access(range.begin, range.end);
        if (is_for_device(code(range)) || is_specialised(code(class_.value_or(range)))) return;
        // Nothing may change the layout of a class that a kernel may be given.
        if (class_ && is_data(code(range))) {
            if (runs_on_device(code(*class_))) return;
            range = *class_;
            range.begin = behind_access(range.begin, range.end);
        } else if (has_namesake(range)) {
            return;
        }
        // A class leaves its ';'.
        blank(range);
    }

    void function(const Range& whole, const Range& body) {
        const std::string_view head = code({whole.begin, body.begin});
        if (is_for_device(head) || head.find("virtual") != head.npos || is_specialised(head) ||
            is_declared_for_device(head))
            return;
        if (!body.holds(place_) || trimmed(code(body)).empty())
            return blank({behind_access(whole.begin, body.begin), whole.end});
        if (goes_ == HostCode::statements && statement(body)) return;
        blank_host(body);
    }

    // Not what has a function for the device in it, such as a lambda.
    void blank_host(const Range& range) {
        if (!runs_on_device(code(range))) blank(range);
    }

    // Of a function's head: whether a declaration elsewhere says that it is for the device.
    bool is_declared_for_device(std::string_view head) const {
        const std::string_view name = last_word(head.substr(0, head.find('(')));
        if (name.empty()) return false;
        return any_word(name, [&](std::size_t at) {
            const std::size_t before = code_.find_last_of(";{}", at);
            return runs_on_device(code({before == code_.npos ? 0 : before + 1, at}));
        });
    }

    // Whether one of the places where the word stands is such a one.
    template <typename Is>
    bool any_word(std::string_view word, const Is& is) const {
        for (std::size_t at = code_.find(word); at != code_.npos; at = code_.find(word, at + 1))
            if (is_word(code_, at, word.size()) && is(at)) return true;
        return false;
    }

    // Whether something else in the text is called as the variable or type that `range` declares,
    // and would be taken in its place.
    bool has_namesake(const Range& range) const {
        const std::string_view all = code(range);
        const std::string_view head = all.substr(0, all.find_first_of("=[{;"));
        const std::string_view name = last_word(head);
        const bool of_braces = head.size() < all.size() && all[head.size()] == '{';
        if (name.empty() || of_braces || head.find('(') != head.npos) return false;
        return any_word(name, [&](std::size_t at) {
            if (range.holds(at) || at == 0) return false;
            const std::size_t before = code_.find_last_not_of(blanks, at - 1);
            const std::size_t behind = code_.find_first_not_of(blanks, at + name.size());
            return before != code_.npos && behind != code_.npos &&
                   (is_letter(code_[before]) || is_one_of(code_[before], ">*&")) &&
                   is_one_of(code_[behind], "=;{[");
        });
    }

    // Whether the place is in a statement of its own.
    bool statement(const Range& body) {
        std::size_t begin = body.begin;
        int depth = 0;
        for (std::size_t at = begin; at < body.end; ++at) {
            const char c = code_[at];
            if (is_one_of(c, "([")) ++depth;
            if (is_one_of(c, ")]") && depth > 0) --depth;
            if (depth > 0) continue;
            if (c == ';') {
                if (Range{begin, at + 1}.holds(place_)) {
                    blank_host({begin, at});
                    blank_else(at + 1, body.end);
                    return true;
                }
                begin = at + 1;
            } else if (c == '{') {
                const std::size_t end = behind_braces(at, body.end);
                if (Range{begin, at + 1}.holds(place_)) {
                    blank_host({begin, end});
                    blank_else(end, body.end);
                    return true;
                }
                if (Range{at + 1, end}.holds(place_))
                    return runs_on_device(code({begin, at})) || statement({at + 1, end - 1});
                begin = end;
                at = end - 1;
            }
        }
        return false;
    }

    std::string left_, code_;
    HostCode goes_;
    std::size_t place_ = 0;
    std::optional<Range> class_;  // the outermost one around it
    bool changed_ = false;
};

}  // namespace

std::optional<std::string> without_failing_host_code(std::string_view text, std::string_view said,
                                                     HostCode goes) {
    Removal removal(text, goes);
    const Places places = places_of(said, system_files(text));
    for (const std::size_t place : offsets_of(text, places)) removal.at(place);
    return removal.take();
}

}  // namespace occupipe::analysis

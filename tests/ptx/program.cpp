// SPDX-License-Identifier: MIT
#include "tests/ptx/program.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

namespace occupipe::ptx {
namespace {

std::string trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
        text.remove_prefix(1);
    }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
        text.remove_suffix(1);
    }
    return std::string(text);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    int depth = 0;
    std::string part;
    for (const char c : text) {
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        if (c == separator && depth == 0) {
            parts.push_back(trimmed(part));
            part.clear();
        } else {
            part += c;
        }
    }
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
    return parts;
}

std::string without_comments(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 2) == "//") i = std::min(text.find('\n', i), text.size());
        if (i < text.size()) result += text[i] == '\n' || text[i] == '\t' ? ' ' : text[i];
    }
    return result;
}

class Reader {
public:
    Reader(std::string_view text, std::string_view wanted)
        : text_(without_comments(text)), wanted_(wanted) {}

    Program read() {
        const std::size_t entry = find_entry();
        const std::size_t open = text_.find('(', entry);
        const std::size_t close = closing(open, '(', ')');
        const std::size_t body = text_.find('{', close);
        if (open == text_.npos || close == text_.npos || body == text_.npos) {
            throw NotUnderstood("an .entry without parameters or body");
        }
        const std::size_t end = closing(body, '{', '}');
        program_.entry = trimmed(std::string_view(text_).substr(entry + 6, open - entry - 6));
        for (const auto& parameter :
             split(std::string_view(text_).substr(open + 1, close - open - 1), ',')) {
            read_parameter(parameter);
        }
        constexpr std::string_view cluster = ".reqnctapercluster";
        if (const std::size_t at = text_.find(cluster, close); at < body) {
            program_.cluster = static_cast<unsigned>(std::stoul(text_.substr(at + cluster.size())));
        }
        read_module();
        read_body(std::string_view(text_).substr(body + 1, end - body - 1));
        for (Instruction& one : program_.code) {
            if (one.words.front() != "bra") continue;
            const auto label = labels_.find(one.operands.at(0).name);
            if (label == labels_.end()) throw NotUnderstood(one.text + ": no such label");
            one.target = label->second;
        }
        return std::move(program_);
    }

private:
    using Scope = std::map<std::string, int>;

    std::size_t find_entry() const {
        for (std::size_t at = 0; (at = text_.find(".entry", at)) != text_.npos; at += 6) {
            const std::size_t open = std::min(text_.find('(', at), text_.size());
            const std::string name = trimmed(std::string_view(text_).substr(at + 6, open - at - 6));
            if (wanted_.empty() || name == wanted_) return at;
        }
        throw NotUnderstood("no .entry " + wanted_);
    }

    // Of the bracket at `open`.
    std::size_t closing(std::size_t open, char opens, char closes) const {
        int depth = 0;
        for (std::size_t i = open; i < text_.size(); ++i) {
            if (text_[i] == opens) ++depth;
            if (text_[i] == closes && --depth == 0) return i;
        }
        throw NotUnderstood("a bracket that is not closed");
    }

    // ".param .align 8 .b8 k_param_0[16]"
    void read_parameter(const std::string& text) {
        if (text.empty()) return;
        std::string name = split(text, ' ').back();
        std::size_t element = 8, count = 1;
        for (const auto& word : split(text, ' ')) {
            if (word.size() > 2 && word[0] == '.' &&
                std::isdigit(static_cast<unsigned char>(word[2]))) {
                element = type_width(word);
            }
        }
        if (const std::size_t bracket = name.find('['); bracket != name.npos) {
            count = std::stoul(name.substr(bracket + 1));
            name = name.substr(0, bracket);
        }
        program_.parameters.push_back(name);
        program_.parameter_bytes.push_back(element * count);
    }

    // Variables beside the functions.
    void read_module() {
        std::string outside;
        for (std::size_t i = 0; i < text_.size();) {
            const std::size_t function = std::min(text_.find(".entry", i), text_.find(".func", i));
            outside += text_.substr(i, function - i);
            if (function == text_.npos) break;
            const std::size_t end = text_.find_first_of("{;", function);
            if (end == text_.npos) break;
            i = (text_[end] == '{' ? closing(end, '{', '}') : end) + 1;
            outside += ' ';
        }
        for (const auto& statement : split(outside, ';')) {
            std::size_t dot = statement.npos;
            for (const char* space : {".shared", ".const", ".global"}) {
                dot = std::min(dot, statement.find(space));
            }
            if (dot != statement.npos) declare_variable(statement.substr(dot));
        }
    }

    // A statement ends with ';', a label with ':'. A brace where a statement would begin opens or
    // closes a scope; elsewhere it belongs to a list of registers.
    void read_body(std::string_view body) {
        scopes_.emplace_back();
        std::string statement;
        for (std::size_t i = 0; i < body.size(); ++i) {
            const char c = body[i];
            const bool begins = trimmed(statement).empty();
            if (begins && c == '{') {
                scopes_.emplace_back();
                scope_names_.push_back(next_scope_++);
            } else if (begins && c == '}') {
                scopes_.pop_back();
                scope_names_.pop_back();
            } else if (c == ';') {
                read_statement(trimmed(statement));
                statement.clear();
            } else if (c == ':' && body.substr(i, 2) != "::" && !statement.ends_with(':') &&
                       trimmed(statement).find(' ') == std::string::npos) {
                labels_[label_name(trimmed(statement))] = program_.code.size();
                statement.clear();
            } else {
                statement += c;
            }
        }
        if (!trimmed(statement).empty()) throw NotUnderstood("unfinished: " + statement);
    }

    // A label inside a scope of inline assembly is that scope's own.
    std::string label_name(const std::string& name) const {
        if (scope_names_.empty() || name.starts_with("$")) return name;
        return name + "@" + std::to_string(scope_names_.back());
    }

    void read_statement(const std::string& statement) {
        if (statement.empty() || statement.starts_with(".pragma")) return;
        if (statement.starts_with(".reg")) return declare_registers(statement);
        if (statement.starts_with(".shared") || statement.starts_with(".local")) {
            return declare_variable(statement);
        }
        if (statement.starts_with('.')) throw NotUnderstood(statement);
        read_instruction(statement);
    }

    void declare_registers(const std::string& statement) {
        const std::size_t names = statement.find(' ', statement.find('.', 1));
        for (const auto& name : split(statement.substr(names), ',')) {
            const std::size_t bracket = name.find('<');
            if (bracket == name.npos) {
                scopes_.back()[name] = program_.registers++;
                continue;
            }
            const int count = std::stoi(name.substr(bracket + 1));
            for (int i = 0; i < count; ++i) {
                scopes_.back()[name.substr(0, bracket) + std::to_string(i)] = program_.registers++;
            }
        }
    }

    // ".shared .align 8 .b64 name[32]", with "= {1, 2, …}" behind it or not.
    void declare_variable(const std::string& statement) {
        Variable variable;
        std::size_t element = 0;
        const std::size_t equals = statement.find('=');
        for (const auto& word : split(statement.substr(0, equals), ' ')) {
            if (word.empty()) continue;
            if (word == ".shared" || word == ".const" || word == ".local" || word == ".global") {
                variable.space = word.substr(1);
            } else if (word.starts_with('.') && word != ".align" && word != ".visible") {
                element = type_width(word);
            } else if (element > 0) {
                const std::size_t bracket = word.find('[');
                const std::string count =
                    bracket == word.npos ? "1"
                                         : word.substr(bracket + 1, word.find(']') - bracket - 1);
                variable.bytes = element * (count.empty() ? 0 : std::stoul(count));
                if (equals != statement.npos) {
                    read_content(statement.substr(equals + 1), element, variable.content);
                }
                program_.variables[word.substr(0, bracket)] = variable;
                return;
            }
        }
        throw NotUnderstood(statement);
    }

    // "{1, 2, …}", or one number. Addresses of functions are not known here.
    static void read_content(const std::string& list, std::size_t element,
                             std::vector<std::byte>& content) {
        std::string numbers = trimmed(list);
        if (numbers.starts_with('{')) numbers = numbers.substr(1, numbers.rfind('}') - 1);
        for (const auto& text : split(numbers, ',')) {
            const bool number =
                !text.empty() &&
                (text[0] == '-' || std::isdigit(static_cast<unsigned char>(text[0])));
            if (!number) throw NotUnderstood("a variable's value " + text);
            const std::uint64_t value = immediate(text);
            const auto* bytes = reinterpret_cast<const std::byte*>(&value);
            content.insert(content.end(), bytes, bytes + element);
        }
    }

    void read_instruction(const std::string& statement) {
        Instruction one;
        one.text = statement;
        std::string rest = statement;
        if (rest.starts_with('@')) {
            const std::size_t space = rest.find(' ');
            const bool negated = rest[1] == '!';
            const std::string name = rest.substr(negated ? 2 : 1, space - (negated ? 2 : 1));
            const auto reg = register_named(name);
            if (!reg) throw NotUnderstood(statement + ": no predicate " + name);
            one.guard = Guard{*reg, negated};
            rest = trimmed(std::string_view(rest).substr(space));
        }
        const std::size_t space = std::min(rest.find(' '), rest.size());
        one.opcode = rest.substr(0, space);
        one.words = split(one.opcode, '.');
        for (const auto& text : split(rest.substr(space), ',')) {
            one.operands.push_back(operand(text, one.words.front() == "bra"));
        }
        program_.code.push_back(std::move(one));
    }

    std::optional<int> register_named(const std::string& name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (const auto found = scope->find(name); found != scope->end()) return found->second;
        }
        return std::nullopt;
    }

    Operand operand(const std::string& text, bool label) const {
        Operand result;
        if (label) {
            result.kind = Operand::Kind::symbol;
            result.name = label_name(text);
        } else if (text == "_") {
            result.kind = Operand::Kind::sink;
        } else if (text.starts_with('!')) {  // a predicate turned round
            result = operand(text.substr(1), false);
            result.inverted = true;
        } else if (const std::size_t bar = text.find('|');
                   bar != text.npos && text[0] != '[' && text[0] != '{') {  // two predicates
            result.kind = Operand::Kind::list;
            result.parts.push_back(operand(text.substr(0, bar), false));
            result.parts.push_back(operand(text.substr(bar + 1), false));
        } else if (text.starts_with('{')) {
            result.kind = Operand::Kind::list;
            for (const auto& part : split(text.substr(1, text.size() - 2), ',')) {
                result.parts.push_back(operand(part, false));
            }
        } else if (text.starts_with('[')) {
            const auto places =
                split(text.substr(1, text.size() - 2), ',');  // texture, coordinates
            const auto parts = split(places.at(0), '+');
            result.kind = Operand::Kind::address;
            result.parts.push_back(operand(parts.at(0), false));
            for (std::size_t i = 1; i < parts.size(); ++i) result.value += immediate(parts[i]);
            if (places.size() > 1) result.parts.push_back(operand(places[1], false));
        } else if (const auto reg = register_named(text)) {
            result.kind = Operand::Kind::reg;
            result.reg = *reg;
        } else if (text.starts_with('%')) {
            result.kind = Operand::Kind::special;
            result.name = text;
        } else if (std::isdigit(static_cast<unsigned char>(text.front())) || text.front() == '-') {
            result.value = immediate(text);
        } else {
            result.kind = Operand::Kind::symbol;
            result.name = text;
        }
        return result;
    }

    static std::uint64_t immediate(const std::string& text) {
        const bool real = text.starts_with("0f") || text.starts_with("0d");
        const bool negative = text.starts_with('-');
        const std::string digits = text.substr(real ? 2 : negative ? 1 : 0);
        std::size_t read = 0;
        const std::uint64_t value = std::stoull(digits, &read, real ? 16 : 0);
        if (read != digits.size()) throw NotUnderstood("number " + text);
        return negative ? ~value + 1 : value;
    }

    std::string text_;
    std::string wanted_;
    Program program_;
    std::vector<Scope> scopes_;
    std::vector<int> scope_names_;
    int next_scope_ = 0;
    std::map<std::string, std::size_t> labels_;
};

}  // namespace

std::size_t type_width(std::string_view type) {
    if (type == "pred") return 1;
    if (type == "f32x2") return 8;
    if (type.ends_with("x2")) return 4;
    const std::size_t digit = type.find_first_of("0123456789");
    if (digit == type.npos) throw NotUnderstood("type " + std::string(type));
    return static_cast<std::size_t>(std::stoi(std::string(type.substr(digit)))) / 8;
}

Program parse(std::string_view text, std::string_view entry) { return Reader(text, entry).read(); }

}  // namespace occupipe::ptx

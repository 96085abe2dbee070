// SPDX-License-Identifier: MIT
#include "analysis/tuning/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace occupipe::analysis {
namespace {

constexpr int deepest = 100;                 // parentheses in parentheses
constexpr std::size_t most_values = 100000;  // of all ranges and comprehensions together

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

double number_of(const Value& value) {
    if (const auto number = number_in(value)) return *number;
    throw std::invalid_argument("needs a number");
}

// Numbers compare as numbers, words as words; nothing else compares.
int compared(const Value& a, const Value& b) {
    const auto* const left = std::get_if<std::string>(&a.of);
    const auto* const right = std::get_if<std::string>(&b.of);
    if (left && right) return left->compare(*right);
    const double x = number_of(a), y = number_of(b);
    return x < y ? -1 : x > y ? 1 : 0;
}

bool equal(const Value& a, const Value& b) {
    if (std::holds_alternative<std::string>(a.of) != std::holds_alternative<std::string>(b.of))
        return false;
    if (std::holds_alternative<Value::List>(a.of) || std::holds_alternative<Value::List>(b.of))
        return a == b;
    return compared(a, b) == 0;
}

Value checked(double result) {
    if (!std::isfinite(result)) throw std::invalid_argument("is not a finite number");
    return result;
}

// Whole numbers stay whole where the result is one that fits.
template <typename Overflow, typename Floating>
Value arithmetic(const Value& a, const Value& b, Overflow overflow, Floating floating) {
    const auto* const x = std::get_if<std::int64_t>(&a.of);
    const auto* const y = std::get_if<std::int64_t>(&b.of);
    if (x && y) {
        std::int64_t result = 0;
        if (overflow(*x, *y, &result)) throw std::invalid_argument("is too large");
        return result;
    }
    return checked(floating(number_of(a), number_of(b)));
}

// Towards minus infinity, as Python divides.
Value floor_division(const Value& a, const Value& b, bool remainder) {
    if (number_of(b) == 0) throw std::invalid_argument("divides by zero");
    const auto* const x = std::get_if<std::int64_t>(&a.of);
    const auto* const y = std::get_if<std::int64_t>(&b.of);
    if (!x || !y) {
        const double quotient = std::floor(number_of(a) / number_of(b));
        return checked(remainder ? number_of(a) - quotient * number_of(b) : quotient);
    }
    if (*y == -1) {
        if (remainder) return 0;
        if (*x == std::numeric_limits<std::int64_t>::min())
            throw std::invalid_argument("is too large");
        return -*x;
    }
    std::int64_t quotient = *x / *y, rest = *x % *y;
    if (rest != 0 && (rest < 0) != (*y < 0)) {
        --quotient;
        rest += *y;
    }
    return remainder ? rest : quotient;
}

Value power(const Value& a, const Value& b) {
    const double result = std::pow(number_of(a), number_of(b));
    constexpr double exact = 9007199254740992;  // 2^53
    const bool whole = std::holds_alternative<std::int64_t>(a.of) &&
                       std::holds_alternative<std::int64_t>(b.of) && number_of(b) >= 0;
    if (whole && std::abs(result) <= exact) return static_cast<std::int64_t>(result);
    return checked(result);
}

Value rounded(double number) {
    constexpr double most = 9e18;
    if (!(std::abs(number) < most)) throw std::invalid_argument("is too large");
    return static_cast<std::int64_t>(number);
}

Value called(std::string_view function, const Value::List& arguments) {
    const auto one = [&]() -> const Value& {
        if (arguments.size() != 1)
            throw std::invalid_argument(fmt::format("{} takes one argument", function));
        return arguments.front();
    };
    if (function == "min" || function == "max") {
        const Value::List* all = &arguments;
        if (arguments.size() == 1)
            if (const auto* const list = std::get_if<Value::List>(&arguments.front().of))
                all = list;
        if (all->empty()) throw std::invalid_argument(fmt::format("{} of nothing", function));
        const auto less = [](const Value& a, const Value& b) { return compared(a, b) < 0; };
        return function == "min" ? *std::ranges::min_element(*all, less)
                                 : *std::ranges::max_element(*all, less);
    }
    if (function == "len") {
        if (const auto* const list = std::get_if<Value::List>(&one().of))
            return static_cast<std::int64_t>(list->size());
        throw std::invalid_argument("len takes a list");
    }
    if (function == "abs") {
        if (const auto* const whole = std::get_if<std::int64_t>(&one().of))
            return *whole < 0 ? arithmetic(
                                    0, *whole,
                                    [](auto x, auto y, auto* r) {
                                        return __builtin_sub_overflow(x, y, r);
                                    },
                                    std::minus<>())
                              : Value(*whole);
        return std::abs(number_of(one()));
    }
    if (function == "float") return number_of(one());
    if (function == "int") return rounded(std::trunc(number_of(one())));
    if (function == "ceil") return rounded(std::ceil(number_of(one())));
    if (function == "floor") return rounded(std::floor(number_of(one())));
    if (function == "round") return rounded(std::nearbyint(number_of(one())));
    throw std::invalid_argument(fmt::format(
        "'{}' must be one of abs, ceil, float, floor, int, len, max, min, round", function));
}

// Python's range.
Value::List range_of(const Value::List& arguments) {
    std::vector<std::int64_t> numbers;
    for (const Value& one : arguments)
        if (const auto* const whole = std::get_if<std::int64_t>(&one.of)) numbers.push_back(*whole);
    if (arguments.empty() || arguments.size() > 3 || numbers.size() != arguments.size())
        throw std::invalid_argument("range takes one to three whole numbers");
    const std::int64_t begin = numbers.size() == 1 ? 0 : numbers[0];
    const std::int64_t end = numbers.size() == 1 ? numbers[0] : numbers[1];
    const std::int64_t step = numbers.size() == 3 ? numbers[2] : 1;
    if (step == 0) throw std::invalid_argument("range has a step of 0");
    Value::List values;
    for (std::int64_t at = begin; step > 0 ? at < end : at > end;) {
        values.emplace_back(at);
        if (values.size() > most_values) throw std::invalid_argument("has too many values");
        if (__builtin_add_overflow(at, step, &at)) break;
    }
    return values;
}

class Parser {
public:
    Parser(std::string_view text, const Names& names, bool of_values)
        : text_(text), names_(names), of_values_(of_values) {}

    Value run() {
        try {
            Value value = either();
            if (!at_end()) throw std::invalid_argument("is not understood");
            return value;
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(
                fmt::format("at character {}: {}", std::min(at_, text_.size()) + 1, error.what()));
        }
    }

private:
    void skip() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos)
            ++at_;
    }
    bool at_end() {
        skip();
        return at_ >= text_.size();
    }
    char next() {
        skip();
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    // An operator, where the longer ones that begin so have been asked for before.
    bool takes(std::string_view symbol) {
        skip();
        if (!text_.substr(at_).starts_with(symbol)) return false;
        const std::size_t end = at_ + symbol.size();
        if (is_letter(symbol.front()) && end < text_.size() &&
            (is_letter(text_[end]) || is_digit(text_[end])))
            return false;
        at_ = end;
        return true;
    }

    // Both sides are evaluated: an error in one is an error.
    Value either() {
        Value value = both();
        while (takes("or") || takes("||")) {
            const Value other = both();
            if (!is_true(value)) value = other;
        }
        return value;
    }

    Value both() {
        Value value = negation();
        while (takes("and") || takes("&&")) {
            const Value other = negation();
            if (is_true(value)) value = other;
        }
        return value;
    }

    Value negation() {
        if (takes("not") || (next() == '!' && !text_.substr(at_).starts_with("!=") && takes("!"))) {
            const Deeper deeper(depth_);
            return is_true(negation()) ? 0 : 1;
        }
        return comparison();
    }

    Value comparison() {
        Value left = sum();
        bool holds = true, any = false;
        for (;;) {
            const auto test = [&](auto holds_for) {
                Value right = sum();
                holds = holds && holds_for(left, right);
                left = std::move(right);
                any = true;
            };
            if (takes("<="))
                test([](const Value& a, const Value& b) { return compared(a, b) <= 0; });
            else if (takes(">="))
                test([](const Value& a, const Value& b) { return compared(a, b) >= 0; });
            else if (takes("=="))
                test([](const Value& a, const Value& b) { return equal(a, b); });
            else if (takes("!="))
                test([](const Value& a, const Value& b) { return !equal(a, b); });
            else if (takes("<"))
                test([](const Value& a, const Value& b) { return compared(a, b) < 0; });
            else if (takes(">"))
                test([](const Value& a, const Value& b) { return compared(a, b) > 0; });
            else if (takes("in"))
                test([](const Value& a, const Value& b) {
                    const auto* const list = std::get_if<Value::List>(&b.of);
                    if (!list) throw std::invalid_argument("in takes a list");
                    return std::ranges::any_of(*list,
                                               [&](const Value& one) { return equal(a, one); });
                });
            else
                return any ? Value(holds ? 1 : 0) : left;
        }
    }

    Value sum() {
        Value value = product();
        for (;;) {
            if (takes("+"))
                value = arithmetic(
                    value, product(),
                    [](auto x, auto y, auto* r) { return __builtin_add_overflow(x, y, r); },
                    std::plus<>());
            else if (takes("-"))
                value = arithmetic(
                    value, product(),
                    [](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); },
                    std::minus<>());
            else
                return value;
        }
    }

    Value product() {
        Value value = sign();
        for (;;) {
            if (takes("//")) {
                value = floor_division(value, sign(), false);
            } else if (takes("%")) {
                value = floor_division(value, sign(), true);
            } else if (takes("/")) {
                const double by = number_of(sign());
                if (by == 0) throw std::invalid_argument("divides by zero");
                value = checked(number_of(value) / by);
            } else if (!text_.substr(at_).starts_with("**") && takes("*")) {
                value = arithmetic(
                    value, sign(),
                    [](auto x, auto y, auto* r) { return __builtin_mul_overflow(x, y, r); },
                    std::multiplies<>());
            } else {
                return value;
            }
        }
    }

    Value sign() {
        const Deeper deeper(depth_);
        if (takes("-"))
            return arithmetic(
                0, sign(), [](auto x, auto y, auto* r) { return __builtin_sub_overflow(x, y, r); },
                std::minus<>());
        if (takes("+")) return sign();
        Value base = indexed();
        return takes("**") ? power(base, sign()) : base;
    }

    Value indexed() {
        Value value = atom();
        while (takes("[")) {
            const Value index = either();
            expect(']');
            const auto* const list = std::get_if<Value::List>(&value.of);
            const auto* const number = std::get_if<std::int64_t>(&index.of);
            if (!list || !number)
                throw std::invalid_argument("an index is a whole number of a list");
            if (*number < 0 || static_cast<std::uint64_t>(*number) >= list->size())
                throw std::invalid_argument(
                    fmt::format("index {} of a list of {}", *number, list->size()));
            const Value chosen = (*list)[static_cast<std::size_t>(*number)];
            value = chosen;
        }
        return value;
    }

    void expect(char c) {
        if (next() != c) throw std::invalid_argument(fmt::format("'{}' is missing", c));
        ++at_;
    }

    Value::List listed(char end) {
        Value::List values;
        while (next() != end) {
            values.push_back(either());
            if (next() == ',')
                ++at_;
            else
                break;
        }
        expect(end);
        return values;
    }

    // Where the word `for` stands in the brackets that `at_` is in, and where these end.
    struct Comprehension {
        std::size_t word = std::string_view::npos;  // npos: it is none
        std::size_t end = std::string_view::npos;
    };
    Comprehension comprehension() const {
        Comprehension found;
        int open = 0;
        for (std::size_t at = at_; at < text_.size(); ++at) {
            const char c = text_[at];
            if (c == '"' || c == '\'') {
                at = text_.find(c, at + 1);
                if (at == text_.npos) break;
            } else if (c == '[' || c == '(') {
                ++open;
            } else if ((c == ']' || c == ')') && open-- == 0) {
                found.end = at;
                break;
            } else if (is_letter(c)) {
                std::size_t end = at;
                while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
                if (open == 0 && found.word == text_.npos && text_.substr(at, end - at) == "for")
                    found.word = at;
                at = end - 1;
            }
        }
        return found;
    }

    // What code of a few characters may ask for.
    void count_values(const Value::List& values) {
        made_ += values.size();
        if (made_ > most_values) throw std::invalid_argument("has too many values");
    }

    // "2**i for i in range(6) if i != 3]": the first part is read once for each value.
    Value::List comprehended(const Comprehension& of) {
        if (of.end == text_.npos) throw std::invalid_argument("']' is missing");
        const std::size_t element = at_;
        at_ = of.word;
        takes("for");
        skip();
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        if (name.empty() || is_digit(name.front()) || !takes("in"))
            throw std::invalid_argument("'for NAME in' is expected");
        const Value source = either();
        const auto* const values = std::get_if<Value::List>(&source.of);
        if (!values) throw std::invalid_argument("for takes a list");
        const std::size_t condition = takes("if") ? at_ : of.end;
        const auto read = [&](std::size_t from, std::size_t to) {
            at_ = from;
            Value value = either();
            skip();
            if (at_ != to) throw std::invalid_argument("is not understood");
            return value;
        };
        Value::List made;
        skip();
        if (condition == of.end && at_ != of.end) throw std::invalid_argument("is not understood");
        count_values(*values);
        for (const Value& one : *values) {
            bound_.emplace_back(name, one);
            if (condition == of.end || is_true(read(condition, of.end)))
                made.push_back(read(element, of.word));
            bound_.pop_back();
        }
        at_ = of.end;
        expect(']');
        return made;
    }

    Value atom() {
        const char c = next();
        if (c == '(') {
            ++at_;
            Value value = either();
            if (next() == ',') {  // a tuple
                ++at_;
                Value::List list = listed(')');
                list.insert(list.begin(), std::move(value));
                return list;
            }
            expect(')');
            return value;
        }
        if (c == '[') {
            ++at_;
            if (const Comprehension of = of_values_ ? comprehension() : Comprehension();
                of.word != text_.npos)
                return comprehended(of);
            return listed(']');
        }
        if (c == '"' || c == '\'') {
            const std::size_t end = text_.find(c, at_ + 1);
            if (end == text_.npos) throw std::invalid_argument("a quote is missing");
            std::string word(text_.substr(at_ + 1, end - at_ - 1));
            at_ = end + 1;
            return word;
        }
        if (is_digit(c) || c == '.') return number();
        if (is_letter(c)) return name();
        throw std::invalid_argument(at_ < text_.size() ? "is not understood" : "ends too soon");
    }

    Value number() {
        const char* const begin = text_.data() + at_;
        const char* const end = text_.data() + text_.size();
        std::int64_t whole = 0;
        const auto as_whole = std::from_chars(begin, end, whole);
        double real = 0;
        const auto as_real = std::from_chars(begin, end, real);
        if (as_real.ec != std::errc()) throw std::invalid_argument("is not a number");
        at_ += static_cast<std::size_t>(as_real.ptr - begin);
        if (at_ < text_.size() && is_letter(text_[at_]))
            throw std::invalid_argument("is not understood");
        if (as_whole.ec == std::errc() && as_whole.ptr == as_real.ptr) return whole;
        return checked(real);
    }

    Value name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        if (next() == '(') {
            ++at_;
            const Deeper deeper(depth_);
            Value::List arguments = listed(')');
            if (of_values_ && word == "range") {
                Value::List values = range_of(arguments);
                count_values(values);
                return values;
            }
            if (of_values_ && word == "list" && arguments.size() == 1 &&
                std::holds_alternative<Value::List>(arguments.front().of))
                return arguments.front();
            return called(word, arguments);
        }
        for (auto one = bound_.rbegin(); one != bound_.rend(); ++one)
            if (one->first == word) return one->second;
        if (word == "True" || word == "true") return 1;
        if (word == "False" || word == "false") return 0;
        if (const auto known = names_(word)) return *known;
        at_ = begin;
        throw std::invalid_argument(fmt::format("'{}' is not known", word));
    }

    struct Deeper {
        explicit Deeper(int& now) : depth(now) {
            if (++depth > deepest) {
                --depth;
                throw std::invalid_argument("is nested too deeply");
            }
        }
        ~Deeper() { --depth; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        int& depth;
    };

    std::string_view text_;
    const Names& names_;
    const bool of_values_;  // range, list and comprehensions, too
    std::size_t at_ = 0;
    int depth_ = 0;
    std::size_t made_ = 0;                                   // values of ranges and comprehensions
    std::vector<std::pair<std::string_view, Value>> bound_;  // variables of comprehensions
};

}  // namespace

std::optional<double> number_in(const Value& value) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value.of))
        return static_cast<double>(*whole);
    if (const auto* const number = std::get_if<double>(&value.of)) return *number;
    return std::nullopt;
}

std::string to_text(const Value& value) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value.of))
        return std::to_string(*whole);
    if (const auto* const number = std::get_if<double>(&value.of))
        return fmt::format("{}", *number);
    if (const auto* const word = std::get_if<std::string>(&value.of)) return *word;
    std::string text;
    for (const Value& one : std::get<Value::List>(value.of))
        text += (text.empty() ? "[" : ", ") + to_text(one);
    return text.empty() ? "[]" : text + "]";
}

Value value_of(const std::string& text) {
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(text.data(), end, whole);
        read.ec == std::errc() && read.ptr == end)
        return whole;
    double number = 0;
    if (const auto read = std::from_chars(text.data(), end, number);
        read.ec == std::errc() && read.ptr == end && std::isfinite(number))
        return number;
    return text;
}

bool is_true(const Value& value) {
    if (const auto* const word = std::get_if<std::string>(&value.of)) return !word->empty();
    if (const auto* const list = std::get_if<Value::List>(&value.of)) return !list->empty();
    return number_of(value) != 0;
}

bool is_equal(const Value& a, const Value& b) { return equal(a, b); }

Value evaluate(std::string_view expression, const Names& names) {
    return Parser(expression, names, false).run();
}

Value evaluate_values(std::string_view expression) {
    const Names none = [](std::string_view) { return std::nullopt; };
    return Parser(expression, none, true).run();
}

std::vector<std::string> names_in(std::string_view expression) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < expression.size();) {
        const std::size_t begin = at;
        while (at < expression.size() && (is_letter(expression[at]) || is_digit(expression[at])))
            ++at;
        const std::string name(expression.substr(begin, at - begin));
        if (at == begin)
            ++at;
        else if (std::ranges::find(names, name) == names.end())
            names.push_back(name);
    }
    return names;
}

}  // namespace occupipe::analysis

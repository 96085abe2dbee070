// SPDX-License-Identifier: MIT
// Expressions of tuners' files, such as "use_padding == 0 or block_size_x % 32 != 0": Python's
// arithmetic, comparisons (chained ones, too), and, or, not, min, max, abs, ceil, floor, round,
// int, float, lists, indices. C's &&, || and ! mean the same. Nothing of the file is run.
//   evaluate("(262144 // x) // tile", {{"x", {16}}, {"tile", {2}}})
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace occupipe::analysis {

// A whole number, a number, a word, or a list of values.
struct Value {
    using List = std::vector<Value>;
    std::variant<std::int64_t, double, std::string, List> of;

    Value() : of(std::int64_t{0}) {}
    Value(std::int64_t number) : of(number) {}
    Value(int number) : of(std::int64_t{number}) {}
    Value(double number) : of(number) {}
    Value(std::string word) : of(std::move(word)) {}
    Value(List list) : of(std::move(list)) {}

    bool operator==(const Value&) const = default;
};

// As it is written in a macro: "16", "0.5", "float".
std::string to_text(const Value& value);
// The number in a text, else the text as a word.
Value value_of(const std::string& text);
// As a floating number; absent: it is none.
std::optional<double> number_in(const Value& value);
bool is_true(const Value& value);
bool is_equal(const Value& a, const Value& b);  // 32 and 32.0 are

// What a name stands for; absent: nothing.
using Names = std::function<std::optional<Value>(std::string_view name)>;

// Throws std::invalid_argument that says what is wrong, and at which character.
Value evaluate(std::string_view expression, const Names& names);

// Of values that are written as code: also range, list, and [2**i for i in range(6) if i != 3].
Value evaluate_values(std::string_view expression);

// Every word in the expression, once: the names that it may ask for, and words of the language.
std::vector<std::string> names_in(std::string_view expression);

}  // namespace occupipe::analysis

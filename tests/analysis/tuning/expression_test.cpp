// SPDX-License-Identifier: MIT
#include "analysis/tuning/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace occupipe::analysis {
namespace {

using testing::HasSubstr;

std::optional<Value> some_names(std::string_view name) {
    if (name == "x") return Value(32);
    if (name == "half") return Value(0.5);
    if (name == "word") return Value(std::string("float"));
    if (name == "list") return Value(Value::List{1, 2, 4});
    return std::nullopt;
}

std::string value(const std::string& expression) {
    return to_text(evaluate(expression, some_names));
}

std::string fault(const std::string& expression) {
    try {
        return "is " + value(expression);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

// Expected values are Python's.
TEST(Expression, ComputesAsPythonDoes) {
    EXPECT_EQ(value("1 + 2 * 3"), "7");
    EXPECT_EQ(value("(1 + 2) * 3"), "9");
    EXPECT_EQ(value("7 // 2"), "3");
    EXPECT_EQ(value("-7 // 2"), "-4");
    EXPECT_EQ(value("-7 % 4"), "1");
    EXPECT_EQ(value("7 % -4"), "-1");
    EXPECT_EQ(value("7 / 2"), "3.5");
    EXPECT_EQ(value("2 ** 10"), "1024");
    EXPECT_EQ(value("-2 ** 2"), "-4");
    EXPECT_EQ(value("2 ** -1"), "0.5");
    EXPECT_EQ(value("2 ** 3 ** 2"), "512");
    EXPECT_EQ(value("7.0 // 2"), "3");
    EXPECT_EQ(value("x * half"), "16");
    EXPECT_EQ(value("1e3"), "1000");
    EXPECT_EQ(value("(262144 // x) // 2"), "4096");
}

TEST(Expression, ComparesAndJoins) {
    EXPECT_EQ(value("32 <= x <= 1024"), "1");
    EXPECT_EQ(value("32 < x < 1024"), "0");
    EXPECT_EQ(value("not x == 32"), "0");
    EXPECT_EQ(value("x == 0 or x % 32 == 0"), "1");
    EXPECT_EQ(value("x == 0 || !(x > 3) && 1"), "0");
    EXPECT_EQ(value("word == 'float' and x != 16"), "1");
    EXPECT_EQ(value("x in [16, 32]"), "1");
    EXPECT_EQ(value("x in (16, 48)"), "0");
    EXPECT_EQ(value("True and not False"), "1");
    EXPECT_EQ(value("word == 3"), "0");
    // Words that begin as an operator does.
    EXPECT_THAT(fault("order"), HasSubstr("'order' is not known"));
    EXPECT_THAT(fault("notx"), HasSubstr("'notx' is not known"));
}

TEST(Expression, CallsAndIndexes) {
    EXPECT_EQ(value("max(list)"), "4");
    EXPECT_EQ(value("min(3, x, 7)"), "3");
    EXPECT_EQ(value("max(x)"), "32");
    EXPECT_EQ(value("list[1] * len(list)"), "6");
    EXPECT_EQ(value("ceil(7 / 2)"), "4");
    EXPECT_EQ(value("int(-3.7) + round(2.5) + abs(-4) + floor(-0.5)"), "2");
    EXPECT_EQ(value("[16 * 2, 0.5, 'a']"), "[32, 0.5, a]");
}

TEST(Expression, RefusesWhatIsNone) {
    EXPECT_THAT(fault(""), HasSubstr("ends too soon"));
    EXPECT_THAT(fault("1 +"), HasSubstr("ends too soon"));
    EXPECT_THAT(fault("1 2"), HasSubstr("at character 3: is not understood"));
    EXPECT_THAT(fault("1 // 0"), HasSubstr("divides by zero"));
    EXPECT_THAT(fault("1 % 0"), HasSubstr("divides by zero"));
    EXPECT_THAT(fault("1 / 0"), HasSubstr("divides by zero"));
    EXPECT_THAT(fault("word + 1"), HasSubstr("needs a number"));
    EXPECT_THAT(fault("__import__('os')"), HasSubstr("must be one of abs"));
    EXPECT_THAT(fault("list[3]"), HasSubstr("index 3 of a list of 3"));
    EXPECT_THAT(fault("x[0]"), HasSubstr("whole number of a list"));
    EXPECT_THAT(fault("9223372036854775807 + 1"), HasSubstr("too large"));
    EXPECT_THAT(fault("1e308 * 10"), HasSubstr("not a finite number"));
    EXPECT_THAT(fault("16f"), HasSubstr("is not understood"));
    EXPECT_THAT(fault("'a"), HasSubstr("a quote is missing"));
    EXPECT_THAT(fault("(1"), HasSubstr("')' is missing"));
    EXPECT_THAT(fault(std::string(100000, '(')), HasSubstr("nested too deeply"));
    EXPECT_THAT(fault(std::string(100000, '-')), HasSubstr("nested too deeply"));
    EXPECT_THAT(fault([] {
                    std::string text;
                    for (int i = 0; i < 100000; ++i) text += "not ";
                    return text;
                }()),
                HasSubstr("nested too deeply"));
}

// Expected values are Python's.
TEST(Expression, ValuesWrittenAsCode) {
    const auto values = [](const std::string& expression) {
        try {
            return to_text(evaluate_values(expression));
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
    };
    EXPECT_EQ(values("list(range(1, 9))"), "[1, 2, 3, 4, 5, 6, 7, 8]");
    EXPECT_EQ(values("range(3)"), "[0, 1, 2]");
    EXPECT_EQ(values("range(7, 0, -3)"), "[7, 4, 1]");
    EXPECT_EQ(values("range(9223372036854775806, 9223372036854775807, 2)"),
              "[9223372036854775806]");
    EXPECT_EQ(values("range(3, 3)"), "[]");
    EXPECT_EQ(values("[2**i for i in range(6)]"), "[1, 2, 4, 8, 16, 32]");
    EXPECT_EQ(values("[i for i in range(3,12,2) if i != 7 and i in [3, 7, 9]]"), "[3, 9]");
    EXPECT_EQ(values("[[j * i for j in [1, 2]] for i in (3, 4)][1]"), "[4, 8]");
    EXPECT_EQ(values("[')for]', 'x']"), "[)for], x]");
    EXPECT_EQ(values("[form for form in ['a', 'for']]"), "[a, for]");
    EXPECT_EQ(values("[1 // i for i in []]"), "[]");
    EXPECT_THAT(values("[i for i in range(3)] + i"), HasSubstr("'i' is not known"));
    EXPECT_THAT(values("range(0.5)"), HasSubstr("range takes one to three whole numbers"));
    EXPECT_THAT(values("range(1, 2, 0)"), HasSubstr("a step of 0"));
    EXPECT_THAT(values("range(10**9)"), HasSubstr("too many values"));
    EXPECT_THAT(values("[[j for j in range(1000)] for i in range(1000)]"),
                HasSubstr("too many values"));
    EXPECT_THAT(values("[i for i in 3]"), HasSubstr("for takes a list"));
    EXPECT_THAT(values("[i for i of [3]]"), HasSubstr("'for NAME in' is expected"));
    EXPECT_THAT(values("[i + j for i in [1] for j in [2]]"), HasSubstr("is not understood"));
    EXPECT_THAT(values("[i, 2 for i in [1]]"), HasSubstr("is not understood"));
    EXPECT_THAT(values("[i for i in range(3)"), HasSubstr("']' is missing"));
    EXPECT_THAT(values("list(3)"), HasSubstr("must be one of abs"));
    EXPECT_THAT(values(std::string(100000, '[')), HasSubstr("nested too deeply"));
    // A condition has none of these.
    EXPECT_THAT(fault("x in range(64)"), HasSubstr("'range' must be one of abs"));
    EXPECT_THAT(fault("max([i for i in list])"), HasSubstr("'i' is not known"));
}

TEST(Expression, NumbersInTextAreNumbers) {
    EXPECT_EQ(value_of("16"), Value(16));
    EXPECT_EQ(value_of("0.5"), Value(0.5));
    EXPECT_EQ(value_of("nan"), Value(std::string("nan")));
    EXPECT_EQ(value_of("float4"), Value(std::string("float4")));
}

}  // namespace
}  // namespace occupipe::analysis

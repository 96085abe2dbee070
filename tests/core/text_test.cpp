// SPDX-License-Identifier: MIT
#include "core/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace occupipe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Text, WordsAreWhatIsBetweenSeparators) {
    EXPECT_THAT(words_in("  a bc\t\nd "), ElementsAre("a", "bc", "d"));
    EXPECT_THAT(words_in("/usr/bin::/bin:", ":"), ElementsAre("/usr/bin", "/bin"));
    EXPECT_THAT(words_in(""), IsEmpty());
    EXPECT_THAT(words_in(" "), IsEmpty());
}

TEST(Text, TrimmedHasNoBlanksAtItsEnds) {
    EXPECT_EQ(trimmed("\t a b\r\n"), "a b");
    EXPECT_EQ(trimmed(" \n"), "");
    EXPECT_EQ(trimmed("{ a }", " {}"), "a");
}

TEST(Text, LowerCaseIsOfLatinLettersAlone) { EXPECT_EQ(lower_case("LDG.E-Äß9"), "ldg.e-Äß9"); }

}  // namespace
}  // namespace occupipe

// SPDX-License-Identifier: MIT
// What gnuplot is told: user text stays text, and nothing is drawn from nothing.
#include "plot/gnuplot_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "plot/palette.h"

namespace occupipe::plot {
namespace {

Picture one_point(Point point = {1, 2}) {
    Figure figure{.title = "t", .x = {"x"}, .y = {"y"}};
    figure.series = {{"s", Mark::points, 0, {point}}};
    return {.description = "d", .panels = {figure}};
}

std::string script(const Picture& picture) {
    return gnuplot_script(std::span(&picture, 1), ImageFormat::svg);
}

TEST(Quoted, DoublesSingleQuotesAndLeavesTheRest) {
    EXPECT_EQ(gnuplot_text("plain"), "'plain'");
    EXPECT_EQ(gnuplot_text("it's"), "'it''s'");
    EXPECT_EQ(gnuplot_text("'; system('rm')"), "'''; system(''rm'')'");
    EXPECT_EQ(gnuplot_text("a_b^c {x} \\n \"q\" $d `id` @m %g #"),
              "'a_b^c {x} \\n \"q\" $d `id` @m %g #'");
    EXPECT_EQ(gnuplot_text("λ/Λ"), "'λ/Λ'");
}

TEST(Quoted, MakesControlCharactersBlanks) {
    EXPECT_EQ(gnuplot_text("a\nb\tc\rd\x7f"), "'a b c d '");
    EXPECT_EQ(gnuplot_text(std::string_view("a\0b", 3)), "'a b'");
}

TEST(Script, HasUserTextOnlyInQuotes) {
    Picture picture = one_point();
    picture.panels[0].title = "T'\nset output '/etc/passwd";
    picture.panels[0].series[0].name = "S'\n!id";
    picture.panels[0].labels = {{1, 2, "L'\n!id"}};
    const std::string text = script(picture);
    EXPECT_NE(text.find("set title 'T'' set output ''/etc/passwd'\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("\n!"), std::string::npos) << text;
    EXPECT_NE(text.find("title 'S'' !id'"), std::string::npos) << text;
}

TEST(Script, AFirstRowByItselfTakesTheWholeWidth) {
    Picture picture = one_point();
    picture.panels.resize(4, picture.panels.front());
    picture.panels.front().key = Key::outside;
    picture.columns = 2;
    picture.first_row_alone = true;
    const std::string text = script(picture);
    // Three rows: one panel, two, one.
    EXPECT_NE(text.find("set rmargin -1\nset size 1,0.333"), std::string::npos) << text;
    EXPECT_NE(text.find("set rmargin 2\nset size 0.5,0.333"), std::string::npos) << text;
    EXPECT_NE(text.find("set origin 0.5,0.333"), std::string::npos) << text;
    EXPECT_NE(text.find("set origin 0,0\n"), std::string::npos) << text;
}

TEST(Script, DrawsArrowsOnAxesThatHoldThem) {
    Picture picture = one_point();
    EXPECT_NE(script(picture).find("unset arrow\nplot"), std::string::npos);
    picture.panels[0].arrows = {{1, 2, 1, 1.5}};
    EXPECT_NE(script(picture).find("set arrow from 1,2 to 1,1.5 head nofilled"), std::string::npos)
        << script(picture);
    picture.panels[0].y.scale = Scale::log10;
    picture.panels[0].arrows = {{1, 2, 1, 0}};
    EXPECT_THROW(script(picture), std::runtime_error);
}

TEST(Script, LabelsMoreOfALogarithmicAxisThatIsShorterThanADecade) {
    Picture picture = one_point();
    picture.panels[0].y.scale = Scale::log10;
    picture.panels[0].series[0].points = {{.x = 1, .y = 9}, {.x = 2, .y = 29}};
    const std::string text = script(picture);
    for (const char* tick : {"'7' 7", "'10' 10", "'15' 15", "'20' 20", "'30' 30"})
        EXPECT_NE(text.find(tick), std::string::npos) << tick << "\n" << text;
}

TEST(Script, KeepsPercentSignsOfTickLabels) {
    Picture picture = one_point();
    picture.panels[0].x.ticks = {{1, "100 %"}};
    EXPECT_NE(script(picture).find("set xtics ('100 %%' 1)"), std::string::npos);
}

TEST(Script, RefusesWhatCannotBeSeen) {
    EXPECT_THROW(script(Picture{.description = "no panels"}), std::runtime_error);
    Picture no_series = one_point();
    no_series.panels[0].series.clear();
    EXPECT_THROW(script(no_series), std::runtime_error);
    Picture no_points = one_point();
    no_points.panels[0].series[0].points.clear();
    EXPECT_THROW(script(no_points), std::runtime_error);
    Picture one_empty_panel = one_point();
    one_empty_panel.panels.push_back(no_points.panels[0]);
    EXPECT_THROW(script(one_empty_panel), std::runtime_error);
}

TEST(Script, RefusesNumbersThatAreNone) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THROW(script(one_point({std::nan(""), 1})), std::runtime_error);
    EXPECT_THROW(script(one_point({1, infinity})), std::runtime_error);
    EXPECT_THROW(script(one_point({1, 1, infinity})), std::runtime_error);
    EXPECT_THROW(script(one_point({1, 1, -1.0})), std::runtime_error);
    EXPECT_NO_THROW(script(one_point({-1, 0, 0.5})));
}

TEST(Script, RefusesZeroOnALogarithmicAxis) {
    Picture picture = one_point({0, 1});
    EXPECT_NO_THROW(script(picture));
    picture.panels[0].x.scale = Scale::log2;
    EXPECT_THROW(script(picture), std::runtime_error);
}

TEST(Script, NumbersFilesByPicture) {
    const std::vector<Picture> pictures = {one_point(), one_point()};
    const std::string text = gnuplot_script(pictures, ImageFormat::png);
    EXPECT_NE(text.find("set output '0.png'"), std::string::npos);
    EXPECT_NE(text.find("set output '1.png'"), std::string::npos);
}

// W3C, "Web Content Accessibility Guidelines 2.1", definition of relative luminance.
double luminance(std::string_view colour) {
    double sum = 0;
    constexpr double weights[] = {0.2126, 0.7152, 0.0722};
    for (std::size_t i = 0; i < 3; ++i) {
        const double c = std::stoi(std::string(colour.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double contrast(std::string_view a, std::string_view b) {
    const double x = luminance(a);
    const double y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST(Palette, StandsOutFromPaperInLightAndDark) {
    // 2 rather than the guideline's 3 on white: Okabe and Ito's orange and sky blue are paler; each
    // style has a shape and dashes of its own, too.
    for (const Colour& colour : series_colours) {
        EXPECT_GE(contrast(colour.light, "#ffffff"), 2.0) << colour.variable;
        EXPECT_GE(contrast(colour.dark, "#14171a"), 4.5) << colour.variable;
    }
}

TEST(Palette, NoTwoStylesLookTheSame) {
    std::set<std::pair<std::size_t, std::size_t>> looks;
    for (std::size_t style = 0; style < style_count; ++style) {
        EXPECT_LT(style / series_colours.size(), dashes.size());
        looks.emplace(style % series_colours.size(), style / series_colours.size());
    }
    EXPECT_EQ(looks.size(), std::size_t{style_count});
}

}  // namespace
}  // namespace occupipe::plot

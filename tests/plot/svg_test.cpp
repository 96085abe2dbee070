// SPDX-License-Identifier: MIT
// gnuplot's images, drawn here by the installed gnuplot, in a page.
#include "plot/svg.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "plot/draw.h"
#include "plot/page.h"

namespace occupipe::plot {
namespace {

Picture picture(const std::string& title = "title") {
    Figure figure{.title = title, .x = {"time in s", Scale::log2}, .y = {"y"}};
    figure.series = {
        {"points", Mark::points, 0, {{1, 2, 0.5}, {2, 3, 0.5}, {4, 5}}},
        {"line", Mark::line, 8, {{1, 1}, {4, 4}}},
        {"guide", Mark::line, guide, {{1, 3}, {4, 3}}},
    };
    return {.description = "what <is> \"shown\"", .panels = {figure}};
}

std::string drawn(const Picture& what) {
    const std::array pictures = {what};
    return draw(pictures, ImageFormat::svg).front();
}

bool has(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}

TEST(InlineSvg, TakesThePagesColours) {
    const std::string svg = inline_svg(drawn(picture()), "d");
    EXPECT_TRUE(has(svg, "var(--blue)")) << svg;
    EXPECT_TRUE(has(svg, "var(--vermillion)"));
    EXPECT_TRUE(has(svg, "var(--guide)"));
    EXPECT_TRUE(has(svg, "var(--grid)"));
    EXPECT_TRUE(has(svg, "currentColor"));
    EXPECT_FALSE(has(svg, "black"));
    EXPECT_FALSE(has(svg, "rgb("));
    EXPECT_FALSE(has(svg,
                     "#"
                     "FFFFFF"));
    EXPECT_FALSE(has(svg, "Gnuplot"));
    EXPECT_FALSE(has(svg, "font-family"));
}

TEST(InlineSvg, ShowsTextAsItIs) {
    const std::string svg = inline_svg(drawn(picture("a_b & <c> λ {d} 'e' %g")), "d");
    EXPECT_TRUE(has(svg, "a_b &amp; &lt;c> λ {d} 'e' %g")) << svg;
}

TEST(InlineSvg, IsDescribed) {
    const std::string svg = inline_svg(drawn(picture()), picture().description);
    EXPECT_TRUE(has(svg, "aria-label=\"what &lt;is&gt; &quot;shown&quot;\"")) << svg;
}

TEST(InlineSvg, RefusesAForeignColour) {
    std::string svg = drawn(picture());
    const std::string blue = "rgb(  0, 114, 178)";
    ASSERT_TRUE(has(svg, blue));
    svg.replace(svg.find(blue), blue.size(), "rgb(  1, 114, 178)");
    EXPECT_THROW(inline_svg(svg, "d"), std::runtime_error);
}

TEST(InlineSvg, RefusesWhatIsNotGnuplots) {
    EXPECT_THROW(inline_svg("<svg></svg>", "d"), std::runtime_error);
    EXPECT_THROW(inline_svg("", "d"), std::runtime_error);
}

TEST(InlineSvg, RefusesAnImageWithoutMarks) {
    std::string svg = drawn(picture());
    const std::size_t first = svg.find("<g id=\"gnuplot_plot_1\"");
    ASSERT_NE(first, std::string::npos);
    svg.replace(first, svg.rfind("</g>\n</svg>") - first, "");
    EXPECT_THROW(inline_svg(svg, "d"), std::runtime_error);
}

TEST(InlineSvg, RefersToSharedMarks) {
    const std::string image = drawn(picture());
    const std::string marks = shared_marks(image);
    const std::string svg = inline_svg(image, "d");
    std::size_t references = 0;
    for (auto at = svg.find("href=\"#"); at != std::string::npos;
         at = svg.find("href=\"#", at + 1)) {
        const std::string name = svg.substr(at + 7, svg.find('"', at + 7) - at - 7);
        EXPECT_TRUE(has(marks, "id='" + name + "'")) << name;
        ++references;
    }
    EXPECT_GE(references, 3U);
}

TEST(TitledSvg, SaysWhatItShows) {
    const std::string svg = titled_svg(drawn(picture()), "a < b");
    EXPECT_TRUE(has(svg, "<title>a &lt; b</title>"));
    EXPECT_TRUE(has(svg, "fill=\"#ffffff\"")) << "a file of its own has white paper";
}

TEST(Draw, MakesPngFiles) {
    const std::array pictures = {picture(), picture("second")};
    const auto images = draw(pictures, ImageFormat::png);
    ASSERT_EQ(images.size(), 2U);
    for (const std::string& image : images) EXPECT_EQ(image.substr(1, 3), "PNG");
    EXPECT_NE(images[0], images[1]);
}

TEST(Draw, DrawsSeveralPanels) {
    Picture two = picture();
    two.panels.push_back(two.panels[0]);
    two.panels[1].title = "below";
    two.row_shares = {0.7, 0.3};
    const std::string svg = drawn(two);
    EXPECT_TRUE(has(svg, "title</text>"));
    EXPECT_TRUE(has(svg, "below</text>"));
}

// A panel below a logarithmic one has its own, linear range: negative values are in the picture.
TEST(Draw, PanelsDoNotInheritALogarithmicAxis) {
    Picture two = picture();
    two.panels[0].y.scale = Scale::log10;
    two.panels.push_back(picture().panels[0]);
    two.panels[1].y.low = -5;
    two.panels[1].y.high = 5;
    two.panels[1].y.ticks = {{-5, "minus five"}, {5, "five"}};
    const std::string svg = drawn(two);
    EXPECT_TRUE(has(svg, "minus five</text>")) << svg;
    EXPECT_TRUE(has(svg, ">five</text>") || has(svg, " five</text>"));
}

TEST(Page, HoldsEverything) {
    const std::string text = page("a < b", "<p>body</p>");
    EXPECT_TRUE(has(text, "<title>a &lt; b</title>"));
    EXPECT_TRUE(has(text, "<p>body</p>"));
    EXPECT_TRUE(has(text, "prefers-color-scheme: dark"));
    EXPECT_TRUE(has(text, "@media print"));
    for (const char* network : {"http:", "https:", "url(", "@import", " src="})
        EXPECT_FALSE(has(text, network)) << network;
}

}  // namespace
}  // namespace occupipe::plot

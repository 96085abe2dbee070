// SPDX-License-Identifier: MIT
#include "plot/svg.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "plot/palette.h"

namespace occupipe::plot {
namespace {

constexpr std::string_view definitions_begin = "<defs>";
constexpr std::string_view definitions_end = "</defs>";

std::size_t find_or_throw(const std::string& svg, std::string_view what) {
    const std::size_t at = svg.find(what);
    if (at == std::string::npos)
        throw std::runtime_error(
            fmt::format("gnuplot's SVG is not as expected: it has no '{}'", what));
    return at;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string hex_of(const std::string& colour) {
    int r = 0;
    int g = 0;
    int b = 0;
    if (std::sscanf(colour.c_str(), "rgb(%d ,%d ,%d)", &r, &g, &b) == 3)
        return fmt::format("#{:02x}{:02x}{:02x}", r, g, b);
    return colour;
}

std::string page_colour(const std::string& colour) {
    if (colour == "none" || colour == "currentColor") return colour;
    if (colour == "black") return "currentColor";
    const std::string hex = hex_of(colour);
    for (const Colour& known : series_colours)
        if (hex == known.light) return fmt::format("var({})", known.variable);
    for (const Colour& known : {grid_colour, guide_colour})
        if (hex == known.light) return fmt::format("var({})", known.variable);
    throw std::runtime_error(
        fmt::format("gnuplot used the colour '{}', which the palette does not have", colour));
}

// The text up to the next `what`, which is skipped; all the rest when there is none.
std::string_view take_until(std::string_view& rest, std::string_view what) {
    const std::size_t at = rest.find(what);
    const std::string_view taken = rest.substr(0, at);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + what.size());
    return taken;
}

struct Attribute {
    std::string_view name;
    std::string_view value;
};

// The next attribute of a tag's inside; nullopt at its end.
std::optional<Attribute> take_attribute(std::string_view& rest) {
    const std::size_t begin = rest.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(begin);
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos || equals + 1 >= rest.size()) return std::nullopt;
    const char quote = rest[equals + 1];
    const std::size_t end = rest.find(quote, equals + 2);
    if (end == std::string_view::npos) return std::nullopt;
    const Attribute found{rest.substr(0, equals), rest.substr(equals + 2, end - equals - 2)};
    rest.remove_prefix(end + 1);
    return found;
}

// Attributes that only repeat what holds anyway, or what the page decides.
bool dropped(const std::string& element, const Attribute& a) {
    if (a.name == "font-family" || a.name == "id" || a.name == "stroke-linecap" ||
        a.name == "stroke-linejoin")
        return true;
    if (a.name == "class") return a.value == "gridline";
    return element == "g" && a.name == "color";
}

// gnuplot breaks long paths over lines and pads them with blanks.
std::string one_line(std::string_view value) {
    std::string text;
    for (const char c : value) {
        const bool blank = c == ' ' || c == '\n' || c == '\t';
        if (blank && (text.empty() || text.back() == ' ')) continue;
        text += blank ? ' ' : c;
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

std::string page_tag(std::string_view tag) {
    if (tag.starts_with('/')) return fmt::format("<{}>", tag);
    const bool closed = tag.ends_with('/');
    if (closed) tag.remove_suffix(1);
    std::string_view rest = tag;
    const std::string element(take_until(rest, " "));
    std::string text = "<" + element;
    if (tag.find("id=\"gnuplot_plot") != std::string_view::npos) text += " class=\"marks\"";
    while (const auto a = take_attribute(rest)) {
        if (dropped(element, *a)) continue;
        const bool colour = a->name == "stroke" || a->name == "fill" || a->name == "color";
        const bool link = a->name == "xlink:href";
        text += fmt::format(" {}=\"{}\"", link ? "href" : std::string(a->name),
                            colour ? page_colour(std::string(a->value)) : one_line(a->value));
    }
    return text + (closed ? "/>" : ">");
}

std::string page_body(std::string_view rest) {
    std::string text;
    while (!rest.empty()) {
        const std::string_view between = take_until(rest, "<");
        if (one_line(between) != "") text += between;
        if (rest.empty()) break;
        const std::string_view tag = take_until(rest, ">");
        if (tag == "title") {  // "gnuplot_plot_1" would show as a tooltip
            take_until(rest, "</title>");
            continue;
        }
        // Paper under a point, to part it from its line; the page's paper need not be white.
        if (tag.starts_with("use ") && tag.find("color='#FFFFFF'") != std::string_view::npos)
            continue;
        text += page_tag(tag);
        // A group that only changed gnuplot's pen.
        if (tag == "/g" && text.ends_with("></g>")) {
            const std::size_t open = text.rfind('<', text.size() - 5);
            if (text.compare(open, 2, "<g") == 0) text.resize(open);
        }
    }
    return text;
}

}  // namespace

std::string html_escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += c;
    }
    return result;
}

std::string titled_svg(const std::string& svg, std::string_view description) {
    std::string text = svg;
    const std::string title = "<title>Gnuplot</title>";
    text.replace(find_or_throw(text, title), title.size(),
                 "<title>" + html_escaped(description) + "</title>");
    return text;
}

std::string inline_svg(const std::string& svg, std::string_view description) {
    const std::size_t box = find_or_throw(svg, "viewBox=\"0 0 ") + 13;
    int width = 0;
    int height = 0;
    if (std::sscanf(svg.c_str() + box, "%d %d", &width, &height) != 2)
        throw std::runtime_error("gnuplot's SVG is not as expected: its viewBox has no size");
    const std::size_t begin = find_or_throw(svg, definitions_end) + definitions_end.size();
    const std::size_t end = svg.rfind("</g>\n</svg>");
    if (end == std::string::npos || end < begin)
        throw std::runtime_error("gnuplot's SVG is not as expected: it does not end in a group");
    const std::string body = page_body(std::string_view(svg).substr(begin, end - begin));
    const std::size_t marks = body.find("class=\"marks\"");
    if (marks == std::string::npos || (body.find("<path", marks) == std::string::npos &&
                                       body.find("<use", marks) == std::string::npos))
        throw std::runtime_error(fmt::format("gnuplot drew no mark for '{}'", description));
    return fmt::format(
        "<svg class=\"figure\" role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\" "
        "viewBox=\"0 0 {} {}\">{}</svg>",
        html_escaped(description), width, height, width, height, body);
}

std::string shared_marks(const std::string& svg) {
    const std::size_t begin = find_or_throw(svg, definitions_begin);
    const std::size_t end = find_or_throw(svg, "<filter");
    std::string definitions = svg.substr(begin, end - begin);
    replace_all(definitions, "xlink:href", "href");
    return fmt::format(
        "<svg class=\"definitions\" width=\"0\" height=\"0\" aria-hidden=\"true\">{}</defs></svg>",
        definitions);
}

}  // namespace occupipe::plot

// SPDX-License-Identifier: MIT
#include "plot/gnuplot_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "plot/palette.h"

namespace occupipe::plot {
namespace {

std::string replaced(std::string_view text, char from, std::string_view to) {
    std::string result;
    for (const char c : text) {
        if (c == from)
            result += to;
        else
            result += c;
    }
    return result;
}

std::string_view colour_of(int style) {
    if (style == guide) return guide_colour.light;
    return series_colours[static_cast<std::size_t>(style) % series_colours.size()].light;
}

std::string style_words(int style, bool line) {
    if (style == guide)
        return fmt::format("lc rgb '{}' dt (4,4) lw 1.2 pt 3 ps 0.5", guide_colour.light);
    const auto number = static_cast<std::size_t>(style);
    const std::string_view dash = dashes[number / series_colours.size()];
    std::string words = fmt::format("lc rgb '{}' lw {} pt {} ps 0.7", colour_of(style),
                                    line ? "1.8" : "1", point_types[number % point_types.size()]);
    if (line && !dash.empty()) words += fmt::format(" dt {}", dash);
    return words;
}

std::string range_text(const Axis& axis) {
    const auto bound = [](const std::optional<double>& value) {
        return value ? fmt::format("{}", *value) : std::string("*");
    };
    return fmt::format("[{}:{}]", bound(axis.low), bound(axis.high));
}

struct Span {
    double low = 0;
    double high = 0;
};

template <class Value>
Span span_of(const Figure& figure, const Value& value) {
    std::optional<Span> span;
    for (const Series& series : figure.series)
        for (const Point& p : series.points)
            span = span ? Span{std::min(span->low, value(p)), std::max(span->high, value(p))}
                        : Span{value(p), value(p)};
    return span.value_or(Span{});
}

// 1, 2, 5 times the powers of ten where gnuplot would label the powers alone, which a short axis
// may not even hold; more of them where the axis is shorter than a decade.
std::vector<Tick> decade_ticks(const Span& span) {
    std::vector<Tick> ticks;
    if (span.high / span.low > 1e3) return ticks;
    const auto steps = span.high / span.low < 10 ? std::vector{1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0}
                                                 : std::vector{1.0, 2.0, 5.0};
    const int first = static_cast<int>(std::floor(std::log10(span.low))) - 1;
    const int last = static_cast<int>(std::floor(std::log10(2 * span.high)));
    for (int exponent = first; exponent <= last; ++exponent)
        for (const double step : steps) {
            const double tick = step * std::pow(10, exponent);
            ticks.push_back({tick, fmt::format("{:.6g}", tick)});
        }
    return ticks;
}

std::string axis_text(char name, const Axis& axis, const Span& span) {
    // The scale first: on a logarithmic axis a range that is not positive gets lost.
    std::string text =
        axis.scale == Scale::linear
            ? fmt::format("unset logscale {}\n", name)
            : fmt::format("set logscale {} {}\n", name, axis.scale == Scale::log2 ? 2 : 10);
    text += fmt::format("set {}label {} offset 0,0\nset {}range {} noextend\n", name,
                        gnuplot_text(axis.label), name, range_text(axis));
    std::vector<Tick> labelled = axis.ticks;
    if (labelled.empty() && axis.scale == Scale::log10) labelled = decade_ticks(span);
    if (labelled.empty()) return text + fmt::format("set {}tics autofreq\n", name);
    std::string ticks;
    for (const Tick& tick : labelled)  // gnuplot formats tick labels with the tick's value
        ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ",
                             gnuplot_text(replaced(tick.label, '%', "%%")), tick.at);
    return text + fmt::format("set {}tics ({})\n", name, ticks);
}

std::string_view key_text(Key key) {
    switch (key) {
        case Key::top_right:
            return "set key inside top right";
        case Key::top_left:
            return "set key inside top left reverse Left";
        case Key::bottom_right:
            return "set key inside bottom right";
        case Key::bottom_left:
            return "set key inside bottom left reverse Left";
        case Key::outside:
            return "set key outside right top reverse Left maxcols 1 samplen 4";
        case Key::below:
            return "set key outside bottom center horizontal samplen 1.5 maxcols 2\n"
                   "set xlabel offset 0,0.6";
        case Key::none:
            return "unset key";
    }
    return "";
}

bool has_y_errors(const Series& series) {
    for (const Point& p : series.points)
        if (p.y_error) return true;
    return false;
}

bool has_x_errors(const Series& series) {
    for (const Point& p : series.points)
        if (p.x_error) return true;
    return false;
}

std::string data_name(std::size_t panel, std::size_t series) {
    return fmt::format("$d{}_{}", panel, series);
}

// x, y, x error, y error below and above; an absent error is a bar of no length.
std::string data_block(const std::string& name, const Series& series) {
    std::string text = name + " << EOD\n";
    for (const Point& p : series.points)
        text += fmt::format("{} {} {} {} {}\n", p.x, p.y, p.x_error.value_or(0),
                            p.y_error.value_or(0), p.y_error_above.value_or(p.y_error.value_or(0)));
    return text + "EOD\n";
}

// A bar that would reach zero cannot be drawn on a logarithmic axis: it ends at a tenth of the
// value there.
std::string bar(std::string_view column, std::string_view below, std::string_view above,
                Scale scale) {
    if (scale == Scale::linear) return fmt::format("({0}-{1}):({0}+{2})", column, below, above);
    return fmt::format("({1} < 0.9*{0} ? {0}-{1} : 0.1*{0}):({0}+{2})", column, below, above);
}

std::string series_text(const Figure& figure, const Series& series, const std::string& data) {
    const bool line = series.mark != Mark::points;
    std::string style = style_words(series.style, line);
    if (series.mark == Mark::line_and_points)  // a dozen marks or so tell lines apart
        style += fmt::format(" pointinterval {}", 1 + series.points.size() / 12);
    std::string text;
    if (has_y_errors(series))
        text += fmt::format("{} using 1:2:{} with yerrorbars lc rgb '{}' lw 1 pt -1 notitle, ",
                            data, bar("$2", "$4", "$5", figure.y.scale), colour_of(series.style));
    if (has_x_errors(series))
        text += fmt::format("{} using 1:2:{} with xerrorbars lc rgb '{}' lw 1 pt -1 notitle, ",
                            data, bar("$1", "$3", "$3", figure.x.scale), colour_of(series.style));
    const std::string_view with = series.mark == Mark::points ? "points"
                                  : series.mark == Mark::line ? "lines"
                                                              : "linespoints";
    return text +
           fmt::format("{} using 1:2 with {} {} {}", data, with, style,
                       series.name.empty() ? "notitle" : "title " + gnuplot_text(series.name));
}

std::string panel_text(const Figure& figure, std::size_t panel) {
    std::string text = figure.title.empty()
                           ? "unset title\n"
                           : fmt::format("set title {}\n", gnuplot_text(figure.title));
    text += axis_text('x', figure.x, span_of(figure, [](const Point& p) { return p.x; })) +
            axis_text('y', figure.y, span_of(figure, [](const Point& p) { return p.y; }));
    text += fmt::format("{}\nunset label\n", key_text(figure.key));
    for (const Label& label : figure.labels)
        text += fmt::format("set label {} at {},{} {} offset {},{}\n", gnuplot_text(label.text),
                            label.x, label.y, label.left ? "right" : "left",
                            label.left ? -0.8 : 0.8, label.under ? -0.7 : 0.5);
    text += "unset arrow\n";
    for (const Arrow& arrow : figure.arrows)
        text += fmt::format(
            "set arrow from {},{} to {},{} head nofilled size graph 0.025,20 front lc rgb '{}' lw "
            "1.5\n",
            arrow.x, arrow.y, arrow.to_x, arrow.to_y, colour_of(arrow.style));
    std::string list;
    for (std::size_t i = 0; i < figure.series.size(); ++i)
        if (!figure.series[i].points.empty())
            list += (list.empty() ? "" : ", \\\n  ") +
                    series_text(figure, figure.series[i], data_name(panel, i));
    return text + "plot " + list + "\n";
}

std::string terminal_text(const Picture& picture, ImageFormat format) {
    if (format == ImageFormat::svg)
        return fmt::format(
            "set terminal svg size {},{} noenhanced font 'sans-serif,12' background rgb "
            "'#ffffff'\n",
            picture.width, picture.height);
    // Twice the pixels: sharp on today's screens.
    return fmt::format(
        "set terminal pngcairo size {},{} fontscale 2 linewidth 2 pointscale 2 noenhanced font "
        "'DejaVu Sans,9' background rgb 'white'\n",
        2 * picture.width, 2 * picture.height);
}

// Of a panel: its row, its column, and how many panels stand in its row.
struct PanelPlace {
    std::size_t row = 0;
    std::size_t column = 0;
    std::size_t columns = 1;
};

PanelPlace place_of(const Picture& picture, std::size_t panel) {
    const auto columns = static_cast<std::size_t>(picture.columns);
    if (!picture.first_row_alone) return {panel / columns, panel % columns, columns};
    if (panel == 0) return {};
    return {1 + (panel - 1) / columns, (panel - 1) % columns, columns};
}

// Where the rows of panels stand: multiplot's own layout knows only equal heights.
std::string place_text(const Picture& picture, std::size_t panel) {
    const std::size_t rows = place_of(picture, picture.panels.size() - 1).row + 1;
    std::vector<double> shares = picture.row_shares;
    if (shares.size() != rows) shares.assign(rows, 1.0);
    const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
    const auto [row, column, columns] = place_of(picture, panel);
    const auto below = shares.begin() + static_cast<std::ptrdiff_t>(row) + 1;
    const auto width = static_cast<double>(columns);
    // A key beside the axes needs a margin that fits it.
    return fmt::format("set rmargin {}\nset size {},{}\nset origin {},{}\n",
                       picture.panels[panel].key == Key::outside ? "-1" : "2", 1 / width,
                       shares[row] / all, static_cast<double>(column) / width,
                       std::accumulate(below, shares.end(), 0.0) / all);
}

std::string picture_text(const Picture& picture, std::size_t number, ImageFormat format) {
    require_drawable(picture);
    std::string text = "reset\nundefine $*\n";
    for (std::size_t p = 0; p < picture.panels.size(); ++p)
        for (std::size_t s = 0; s < picture.panels[p].series.size(); ++s)
            text += data_block(data_name(p, s), picture.panels[p].series[s]);
    text += terminal_text(picture, format);
    text += fmt::format(
        "set output '{}.{}'\nset grid lc rgb '{}' lt 1 lw 0.7\nset errorbars small\n"
        "set pointintervalbox 0\n"
        "set tics nomirror\nset border 3\n",
        number, extension(format), grid_colour.light);
    const bool many = picture.panels.size() > 1;
    if (many) text += "set lmargin 9\nset multiplot\n";
    for (std::size_t p = 0; p < picture.panels.size(); ++p) {
        if (many) text += place_text(picture, p);
        text += panel_text(picture.panels[p], p);
    }
    return text + (many ? "unset multiplot\n" : "") + "set output\n";
}

}  // namespace

std::string_view extension(ImageFormat format) {
    return format == ImageFormat::svg ? "svg" : "png";
}

std::string gnuplot_text(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'')
            result += "''";
        else
            result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
    return result + "'";
}

std::string gnuplot_script(std::span<const Picture> pictures, ImageFormat format) {
    std::string text = "set encoding utf8\n";
    for (std::size_t i = 0; i < pictures.size(); ++i) text += picture_text(pictures[i], i, format);
    return text;
}

}  // namespace occupipe::plot

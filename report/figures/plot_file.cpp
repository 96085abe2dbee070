// SPDX-License-Identifier: MIT
#include "report/figures/plot_file.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "core/error.h"
#include "core/files/files.h"
#include "plot/draw.h"
#include "plot/page.h"
#include "plot/svg.h"

namespace occupipe::report {
namespace {

std::string extension_of(const std::string& path) {
    return std::filesystem::path(path).extension().string();
}

std::string page_of(const PlotContent& content) {
    const plot::DrawnFigures drawn = plot::draw_inline(content.page);
    std::string body =
        fmt::format("{}<h1>{}</h1>\n", drawn.marks, plot::html_escaped(content.title));
    body += "<div class=\"grid\">\n";
    for (const std::string& figure : drawn.figures) body += figure;
    return plot::page(content.title, body + "</div>\n");
}

}  // namespace

void check_plot_file(const std::string& path, bool force) {
    if (path.empty()) return;
    const std::string extension = extension_of(path);
    if (extension != ".svg" && extension != ".png" && extension != ".html")
        throw InputError(path, {}, "--plot", "the name must end in .svg, .png or .html");
    if (!force && std::filesystem::exists(path))
        throw InputError(path, {}, "--plot", "exists; --force replaces it");
}

void write_plot(const std::string& path, const PlotContent& content, bool force) {
    if (path.empty()) return;
    const std::string extension = extension_of(path);
    std::string text;
    if (extension == ".html") {
        text = page_of(content);
    } else {
        const std::array pictures = {content.image};
        const bool svg = extension == ".svg";
        text = plot::draw(pictures, svg ? plot::ImageFormat::svg : plot::ImageFormat::png).front();
        if (svg) text = plot::titled_svg(text, content.image.description);
    }
    write_text_file(path, text, force ? Overwrite::yes : Overwrite::no);
    fmt::print(stderr, "wrote {}\n", path);
}

}  // namespace occupipe::report

// SPDX-License-Identifier: MIT
#include "report/page/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "plot/page.h"
#include "plot/svg.h"

namespace occupipe::report {
namespace {

using plot::html_escaped;

// No text of a user's can look like this: html_escaped() leaves control characters, but names with
// them do not pass the readers of files.
constexpr char mark = '\x01';

// Puts figure N for each "\x01N\x01".
std::string with_figures(std::string_view text, const std::vector<std::string>& figures) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = std::min(text.find(mark, at), text.size());
        result += text.substr(at, begin - at);
        if (begin == text.size()) break;
        const std::size_t end = text.find(mark, begin + 1);
        result += figures.at(std::stoul(std::string(text.substr(begin + 1, end - begin - 1))));
        at = end + 1;
    }
    return result;
}

bool is_number_column(const HtmlTable& table, std::size_t column) {
    return std::ranges::any_of(table.rows, [&](const auto& row) {
        return column < row.size() && row[column].value.has_value();
    });
}

std::string cell_html(const HtmlCell& cell, bool number) {
    std::string text = html_escaped(cell.text);
    if (!cell.link.empty())
        text = fmt::format("<a href=\"{}\">{}</a>", html_escaped(cell.link), text);
    const std::string value = cell.value ? fmt::format(" data-value=\"{}\"", *cell.value) : "";
    return fmt::format("<td{}{}>{}</td>", number ? " class=\"number\"" : "", value, text);
}

}  // namespace

std::string ReportPage::figure(plot::Picture picture) {
    pictures_.push_back(std::move(picture));
    return fmt::format("{}{}{}", mark, pictures_.size() - 1, mark);
}

void ReportPage::section(std::string_view id, std::string_view title, std::string_view html) {
    sections_.push_back({std::string(id), std::string(title), std::string(html)});
}

std::string ReportPage::finish(std::string_view title, std::string_view head) const {
    const plot::DrawnFigures drawn = plot::draw_inline(pictures_);
    std::string body = fmt::format("{}<h1>{}</h1>\n{}<nav aria-label=\"Contents\">\n", drawn.marks,
                                   html_escaped(title), head);
    for (const Section& s : sections_)
        body += fmt::format("<a href=\"#{}\">{}</a>\n", s.id, html_escaped(s.title));
    body += "</nav>\n<main>\n";
    for (const Section& s : sections_)
        body += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", s.id,
                            html_escaped(s.title), with_figures(s.html, drawn.figures));
    return plot::page(title, body + "</main>\n");
}

std::string paragraph(std::string_view text) {
    return fmt::format("<p>{}</p>\n", html_escaped(text));
}

std::string absent(std::string_view text) {
    return fmt::format("<p class=\"absent\">{}</p>\n", html_escaped(text));
}

std::string grid(const std::vector<std::string>& figures) {
    return fmt::format("<div class=\"grid\">\n{}</div>\n", fmt::join(figures, ""));
}

std::string html(const HtmlTable& table) {
    std::string text = fmt::format("<div class=\"scroll\"><table{}>\n<thead><tr>",
                                   table.sortable ? " class=\"sortable\"" : "");
    std::vector<bool> number;
    for (std::size_t c = 0; c < table.header.size(); ++c) {
        number.push_back(is_number_column(table, c));
        text += fmt::format("<th scope=\"col\"{}>{}</th>", number[c] ? " class=\"number\"" : "",
                            html_escaped(table.header[c]));
    }
    text += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
        text += "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c) text += cell_html(row[c], number.at(c));
        text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
}

std::string anchor_of(std::string_view subject) {
    std::string id = "i-";
    for (const char c : subject)
        id += std::string_view(" \t\"'<>&#").find(c) == std::string_view::npos ? c : '_';
    return id;
}

}  // namespace occupipe::report

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "tests/papers/made.h"

namespace occupipe::papers {
namespace {

constexpr std::string_view papers = "background/reproductions.md";

constexpr std::array the_blocks = {
    Block{papers, "pipeline-table-1", &pipeline_table_1},
    Block{papers, "pipeline-combinations", &pipeline_combinations},
    Block{papers, "pipeline-table-2", &pipeline_table_2},
    Block{papers, "pipeline-figure-1", &pipeline_figure_1},
    Block{papers, "pipeline-figure-2", &pipeline_figure_2},
    Block{papers, "pipeline-figure-3", &pipeline_figure_3},
    Block{papers, "pipeline-algorithm-1", &pipeline_algorithm_1},
    Block{papers, "analysis-table-1", &analysis_table_1},
    Block{papers, "analysis-table-2", &analysis_table_2},
    Block{papers, "analysis-figure-1", &analysis_figure_1},
    Block{papers, "analysis-figure-2", &analysis_figure_2},
    Block{papers, "analysis-figure-3", &analysis_figure_3},
    Block{papers, "analysis-figure-4", &analysis_figure_4},
    Block{papers, "analysis-figure-5", &analysis_figure_5},
    Block{papers, "analysis-figure-6", &analysis_figure_6},
    Block{papers, "analysis-figure-7", &analysis_figure_7},
    Block{papers, "analysis-figure-8", &analysis_figure_8},
    Block{papers, "analysis-figure-9", &analysis_figure_9},
    Block{papers, "analysis-figure-11", &analysis_figure_11},
    Block{papers, "analysis-table-4", &analysis_table_4},
    Block{papers, "analysis-figure-12", &analysis_figure_12},
    Block{papers, "analysis-figure-13", &analysis_figure_13},
    Block{papers, "analysis-table-5", &analysis_table_5},
    Block{papers, "analysis-table-6", &analysis_table_6},
    Block{papers, "analysis-table-7", &analysis_table_7},
    Block{papers, "analysis-figure-14", &analysis_figure_14},
    Block{papers, "analysis-figure-15", &analysis_figure_15},
    Block{papers, "analysis-figure-16", &analysis_figure_16},
    Block{papers, "analysis-table-8", &analysis_table_8},
    Block{papers, "analysis-table-9", &analysis_table_9},
    Block{papers, "analysis-tables-10-to-12", &analysis_tables_10_to_12},
    Block{papers, "analysis-figure-17", &analysis_figure_17},
    Block{papers, "analysis-figure-18", &analysis_figure_18},
    Block{"background/gpus.md", "gpus", &gpu_table},
};

std::string begin_mark(std::string_view name) { return fmt::format("<!-- {} begins -->", name); }
std::string end_mark(std::string_view name) { return fmt::format("<!-- {} ends -->", name); }

std::string quoted_cell(const std::string& text) {
    return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

// Other processors round the last digits otherwise.
double rounded(double value) { return std::abs(value) < 1e-12 ? 0 : value; }

}  // namespace

std::span<const Block> blocks() { return the_blocks; }

std::string csv(const plot::Picture& picture) {
    std::string text = "panel,series,x,y\n";
    for (const plot::Figure& panel : picture.panels)
        for (const plot::Series& series : panel.series)
            for (const plot::Point& point : series.points)
                text += fmt::format("{},{},{:.6g},{:.6g}\n", quoted_cell(panel.title),
                                    quoted_cell(series.name), rounded(point.x), rounded(point.y));
    return text;
}

std::string table(std::vector<std::string> header, std::vector<std::vector<std::string>> rows) {
    report::TextTable made{.header = std::move(header), .align = {}, .rows = std::move(rows)};
    made.align.assign(made.header.size(), report::Align::right);
    made.align[0] = report::Align::left;
    return report::markdown(made);
}

std::string filled(const std::string& page, std::span<const std::pair<std::string, Made>> made) {
    std::string text = page;
    for (const auto& [name, block] : made) {
        const std::size_t begin = text.find(begin_mark(name));
        const std::size_t end = text.find(end_mark(name));
        if (begin == std::string::npos || end == std::string::npos || end < begin)
            throw InputError(fmt::format("the page has no '{}' and '{}' after it", begin_mark(name),
                                         end_mark(name)));
        const std::size_t from = begin + begin_mark(name).size();
        text.replace(from, end - from, "\n\n" + block.markdown + "\n");
    }
    std::size_t at = 0;
    while ((at = text.find(" begins -->", at)) != std::string::npos) {
        const std::size_t from = text.rfind("<!-- ", at) + 5;
        const std::string name = text.substr(from, at - from);
        if (std::ranges::none_of(made, [&](const auto& one) { return one.first == name; }))
            throw InputError(fmt::format("the page has marks for '{}', which nothing makes", name));
        at += 1;
    }
    return text;
}

}  // namespace occupipe::papers

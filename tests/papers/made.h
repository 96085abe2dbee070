// SPDX-License-Identifier: MIT
// What stands in docs/background/reproductions.md between two marks: made by one function, a row of
// blocks.cpp.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plot/figure.h"
#include "report/text/text_table.h"

namespace occupipe::papers {

struct Curves {
    std::string name;  // of the files: NAME.svg, NAME.csv
    plot::Picture picture;
};

struct Drawing {
    std::string name;  // NAME.svg
    std::string svg;
};

struct Made {
    std::string markdown;
    std::vector<Curves> curves = {};
    std::vector<Drawing> drawings = {};
};

struct Block {
    std::string_view page;  // of docs/
    std::string_view name;  // "analysis-figure-12"
    Made (*make)(const std::filesystem::path& root);
};

// THE TABLE: what the pages hold between "<!-- NAME begins -->" and "<!-- NAME ends
// -->".
std::span<const Block> blocks();

// "series,x,y" with the panel's title before it, six digits.
std::string csv(const plot::Picture& picture);

// A Markdown table, its first column to the left, the others to the right.
std::string table(std::vector<std::string> header, std::vector<std::vector<std::string>> rows);

// The page with every block made anew. Throws InputError: a block without its marks, or marks that
// no block has.
std::string filled(const std::string& page, std::span<const std::pair<std::string, Made>> made);

Made gpu_table(const std::filesystem::path& root);
Made pipeline_table_1(const std::filesystem::path& root);
Made pipeline_combinations(const std::filesystem::path& root);
Made pipeline_table_2(const std::filesystem::path& root);
Made pipeline_figure_1(const std::filesystem::path& root);
Made pipeline_figure_2(const std::filesystem::path& root);
Made pipeline_figure_3(const std::filesystem::path& root);
Made pipeline_algorithm_1(const std::filesystem::path& root);
Made analysis_table_1(const std::filesystem::path& root);
Made analysis_table_2(const std::filesystem::path& root);
Made analysis_figure_1(const std::filesystem::path& root);
Made analysis_figure_2(const std::filesystem::path& root);
Made analysis_figure_3(const std::filesystem::path& root);
Made analysis_figure_4(const std::filesystem::path& root);
Made analysis_figure_5(const std::filesystem::path& root);
Made analysis_figure_6(const std::filesystem::path& root);
Made analysis_figure_7(const std::filesystem::path& root);
Made analysis_figure_8(const std::filesystem::path& root);
Made analysis_figure_9(const std::filesystem::path& root);
Made analysis_figure_11(const std::filesystem::path& root);
Made analysis_figure_12(const std::filesystem::path& root);
Made analysis_figure_13(const std::filesystem::path& root);
Made analysis_figure_14(const std::filesystem::path& root);
Made analysis_figure_15(const std::filesystem::path& root);
Made analysis_figure_16(const std::filesystem::path& root);
Made analysis_figure_17(const std::filesystem::path& root);
Made analysis_figure_18(const std::filesystem::path& root);
Made analysis_table_4(const std::filesystem::path& root);
Made analysis_table_5(const std::filesystem::path& root);
Made analysis_table_6(const std::filesystem::path& root);
Made analysis_table_7(const std::filesystem::path& root);
Made analysis_table_8(const std::filesystem::path& root);
Made analysis_table_9(const std::filesystem::path& root);
Made analysis_tables_10_to_12(const std::filesystem::path& root);

}  // namespace occupipe::papers

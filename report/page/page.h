// SPDX-License-Identifier: MIT
// The page that `report` writes: sections of text, tables and pictures. All pictures are drawn at
// once when the page is finished.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/estimate.h"
#include "plot/figure.h"

namespace occupipe::report {

class ReportPage {
public:
    // A placeholder in HTML until finish() inserts the picture.
    std::string figure(plot::Picture picture);
    void section(std::string_view id, std::string_view title, std::string_view html);
    // `head`: HTML above the index of sections.
    std::string finish(std::string_view title, std::string_view head) const;

private:
    struct Section {
        std::string id;
        std::string title;
        std::string html;
    };
    std::vector<plot::Picture> pictures_;
    std::vector<Section> sections_;
};

// Text in an element: <p>, or of a class, escaped.
std::string paragraph(std::string_view text);
std::string absent(std::string_view text);  // what the folder does not have
std::string grid(const std::vector<std::string>& figures);

struct HtmlCell {
    std::string text;             // escaped when written
    std::optional<double> value;  // sorts and stands right
    std::string link;             // "#id"; empty = none
};
struct HtmlTable {
    std::vector<std::string> header;
    std::vector<std::vector<HtmlCell>> rows;
    bool sortable = false;
};
// Columns whose cells have values are numbers.
std::string html(const HtmlTable& table);

// "i-fma.f32": the anchor of a subject in the page.
std::string anchor_of(std::string_view subject);

}  // namespace occupipe::report

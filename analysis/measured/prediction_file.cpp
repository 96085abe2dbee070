// SPDX-License-Identifier: MIT
#include "analysis/measured/prediction_file.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "core/files/json_reader.h"

namespace occupipe::analysis {
namespace {

constexpr std::string_view format_name = "occupipe-prediction/1";

double positive(const Document& document, const DocumentNode& node) {
    const double value = document.number(node);
    if (!(value > 0)) document.fail(node, "must be positive");
    return value;
}

int count(const Document& document, const DocumentNode& node) {
    return static_cast<int>(document.integer(node, 1, std::numeric_limits<int>::max()));
}

}  // namespace

std::vector<std::string> SavedPredictions::models() const {
    std::vector<std::string> names;
    for (const SavedPrediction& row : rows)
        if (std::ranges::find(names, row.model) == names.end()) names.push_back(row.model);
    return names;
}

bool is_prediction(const std::string& text, const std::string& file_name) {
    if (!looks_like_json(text)) return false;
    const Document document = parse_json(text, file_name);
    const DocumentNode* format = Document::find(document.root(), "format");
    return format && document.text(*format).starts_with("occupipe-prediction/");
}

SavedPredictions parse_predictions(const std::string& text, const std::string& file_name) {
    const Document document = parse_json(text, file_name);
    const DocumentNode& root = document.root();
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format) != format_name)
        document.fail(format, "unknown format '" + format.text + "'");
    SavedPredictions file;
    file.kernel = document.text(document.required(root, "kernel"));
    std::set<std::tuple<std::string, int, int>> seen;
    for (const DocumentNode& item : document.items(document.required(root, "predictions"))) {
        SavedPrediction row;
        row.model = document.text(document.required(item, "model"));
        row.group_warps = count(document, document.required(item, "group_warps"));
        row.concurrent_groups = count(document, document.required(item, "concurrent_groups"));
        row.warps_per_cycle = positive(document, document.required(item, "warps_per_cycle"));
        if (!seen.insert({row.model, row.group_warps, row.concurrent_groups}).second)
            document.fail(item, "duplicate prediction of this model for this launch");
        file.rows.push_back(row);
    }
    if (file.rows.empty())
        document.fail(document.required(root, "predictions"), "contains no prediction");
    return file;
}

}  // namespace occupipe::analysis

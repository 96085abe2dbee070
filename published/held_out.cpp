// SPDX-License-Identifier: MIT
#include "published/held_out.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

std::string kind_of(const ShelfInstruction& row) {
    if (row.level == ShelfLevel::dram) return "DRAM";
    return row.level ? "caches" : "arithmetic";
}

}  // namespace

double HeldOut::relative_error() const { return std::abs(predicted - published) / published; }
bool HeldOut::within_two_errors() const { return std::abs(predicted - published) <= 2 * std_error; }

std::vector<HeldOut> held_out(const Shelf& shelf, const Published& published) {
    std::vector<HeldOut> all;
    for (const ShelfArchitecture& architecture : shelf.architectures)
        for (const ShelfInstruction& row : shelf.instructions) {
            if (shelf.row(row.names.front(), architecture.capability) != &row) continue;
            for (const Figure figure : {Figure::cpi, Figure::latency}) {
                const auto figures = figures_of(published, architecture.capability, row, figure);
                for (const SourceFigure& left_out : figures) {
                    const auto made = shelf_value(shelf, published, architecture.capability, row,
                                                  figure, left_out.source);
                    if (!made) continue;
                    all.push_back({.kind = kind_of(row),
                                   .capability = architecture.capability,
                                   .instruction = row.names.front(),
                                   .source = left_out.source,
                                   .figure = figure,
                                   .published = left_out.value,
                                   .predicted = made->value,
                                   .std_error = made->std_error,
                                   .alone = figures.size() == 1});
                }
            }
        }
    for (const ShelfReached& one : shelf.reached) {
        const ShelfCard& card = *shelf.card(one.card);
        const ShelfValue share =
            reached_share(shelf, shelf.architecture(card.capability)->vendor, one.card);
        all.push_back({.kind = "DRAM",
                       .capability = card.capability,
                       .instruction = "share of the peak, " + one.card,
                       .source = one.figure.source,
                       .figure = Figure::cpi,
                       .published = one.figure.low / card.dram_bytes_per_second,
                       .predicted = share.value,
                       .std_error = share.std_error});
    }
    return all;
}

std::vector<HeldOutSummary> summary_of(const std::vector<HeldOut>& all) {
    std::vector<HeldOutSummary> table;
    for (const char* const kind : {"arithmetic", "caches", "DRAM", "all"}) {
        HeldOutSummary row{.kind = kind};
        std::vector<double> errors;
        std::size_t within = 0;
        for (const HeldOut& one : all) {
            if (one.kind != kind && row.kind != "all") continue;
            errors.push_back(one.relative_error());
            within += one.within_two_errors() ? 1 : 0;
            row.alone += one.alone ? 1 : 0;
        }
        if (errors.empty()) continue;
        row.values = errors.size();
        row.within = static_cast<double>(within) / static_cast<double>(errors.size());
        row.median_error = occupipe::median(std::move(errors));
        table.push_back(std::move(row));
    }
    return table;
}

}  // namespace occupipe::analysis

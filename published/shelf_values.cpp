// SPDX-License-Identifier: MIT
// λ and Λ of a kind of instruction on an architecture: what is published of it, else what stands
// for it, else what its neighbours have.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "published/shelf.h"

namespace occupipe::analysis {
namespace {

constexpr int warp_size = 32;

// "10.3" → 103
int number_of(std::string_view capability) {
    int number = 0;
    for (const char c : capability)
        if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    return number;
}

void add_figures(std::vector<SourceFigure>& to, std::span<const PublishedFigure> figures,
                 const Published& published) {
    for (const PublishedFigure& one : figures) {
        const PublishedSource* const source = published.source(one.source);
        to.push_back({.value = (one.low + one.high) / 2,
                      .source = one.source,
                      .device = one.device,
                      .reference = source != nullptr && source->authors == "NVIDIA"});
    }
}

std::string sources_of(std::span<const SourceFigure> figures) {
    std::vector<std::string> names;
    for (const SourceFigure& one : figures) names.push_back(one.source);
    return fmt::format("{}", fmt::join(names, ", "));
}

const Spread& spread_of(const Shelf& shelf, const ShelfInstruction& row, Figure figure) {
    const bool second = row.level == ShelfLevel::second;
    return shelf.spreads
        .find(figure == Figure::latency ? row.spread
              : second                  ? "second_bandwidth"
                                        : "rate")
        ->second;
}

std::vector<SourceFigure> but(std::vector<SourceFigure> figures, std::string_view without) {
    std::erase_if(figures, [&](const SourceFigure& one) { return one.source == without; });
    return figures;
}

class Valuer {
public:
    Valuer(const Shelf& shelf, const Published& published, Figure figure, std::string_view without)
        : shelf_(shelf), published_(published), figure_(figure), without_(without) {}

    std::optional<ShelfValue> value(std::string_view capability,
                                    const ShelfInstruction& row) const {
        if (auto found = own(capability, row)) return found;
        if (!row.like.empty()) {
            const ShelfInstruction* const other = shelf_.row(row.like, capability);
            if (other != nullptr)
                if (auto found = value(capability, *other)) return standing_in(*found, row);
        }
        return neighbours(capability, row);
    }

private:
    std::optional<ShelfValue> own(std::string_view capability, const ShelfInstruction& row) const {
        const auto figures = but(figures_of(published_, capability, row, figure_), without_);
        if (figures.empty()) return std::nullopt;
        const auto unit = std::ranges::find(shelf_.units, row.unit, &ShelfUnit::name);
        const Combined made = combine(figures, spread_of(shelf_, row, figure_), unit->arithmetic);
        ShelfValue found{.value = made.value,
                         .std_error = made.std_error,
                         .source = made.reference ? Source::vendor : Source::literature,
                         .how = sources_of(figures)};
        if (figures.size() == 1 && !made.reference) found.how += ", a single source";
        return found;
    }

    ShelfValue standing_in(ShelfValue found, const ShelfInstruction& row) const {
        const double factor = figure_ == Figure::cpi ? row.times : 1;
        found.value *= factor;
        found.std_error *= factor;
        if (!row.why.empty() && !row.slot) {
            found.std_error = std::hypot(found.std_error, shelf_.substitute * found.value);
            found.source = Source::assumed;
        }
        found.how = fmt::format("that of {}{}{}{} ({})", row.like,
                                factor == 1 ? "" : fmt::format(" times {:g}", factor),
                                row.why.empty() ? "" : ": ", row.why, found.how);
        return found;
    }

    // The nearest before and after in the architecture's line, else in the other.
    std::optional<ShelfValue> neighbours(std::string_view capability,
                                         const ShelfInstruction& row) const {
        const ShelfArchitecture& here = *shelf_.architecture(capability);
        for (const bool same_line : {true, false}) {
            const ShelfArchitecture* before = nullptr;
            const ShelfArchitecture* after = nullptr;
            for (const ShelfArchitecture& one : shelf_.architectures) {
                if (one.vendor != here.vendor || (one.line == here.line) != same_line ||
                    !own(one.capability, row))
                    continue;
                const int distance = number_of(one.capability) - number_of(capability);
                if (distance < 0) before = &one;
                if (distance > 0 && after == nullptr) after = &one;
            }
            std::vector<ShelfValue> found;
            std::vector<std::string> said;
            for (const ShelfArchitecture* const one : {before, after}) {
                if (one == nullptr) continue;
                found.push_back(*own(one->capability, row));
                said.push_back(fmt::format("{} ({})", one->capability, found.back().how));
            }
            if (found.empty()) continue;
            ShelfValue made{.source = Source::assumed,
                            .how = fmt::format("not published for {}, as on {}", capability,
                                               fmt::join(said, " and "))};
            const double apart = found.size() == 2 ? found[0].value - found[1].value : 0;
            double squares = 0;
            for (const ShelfValue& one : found) {
                made.value += one.value / static_cast<double>(found.size());
                squares += one.std_error * one.std_error / static_cast<double>(found.size());
            }
            made.std_error =
                std::sqrt(squares + apart * apart / 4 + std::pow(shelf_.neighbour * made.value, 2));
            return made;
        }
        return std::nullopt;
    }

    const Shelf& shelf_;
    const Published& published_;
    Figure figure_;
    std::string_view without_;
};

}  // namespace

const ShelfArchitecture* Shelf::architecture(std::string_view capability) const {
    const auto found = std::ranges::find(architectures, capability, &ShelfArchitecture::capability);
    return found == architectures.end() ? nullptr : &*found;
}

const ShelfCard* Shelf::card(std::string_view id) const {
    const auto found = std::ranges::find(cards, id, &ShelfCard::id);
    return found == cards.end() ? nullptr : &*found;
}

const ShelfInstruction* Shelf::row(std::string_view name, std::string_view capability) const {
    const int number = number_of(capability);
    const auto found = std::ranges::find_if(instructions, [&](const ShelfInstruction& one) {
        return std::ranges::find(one.names, name) != one.names.end() &&
               (one.from.empty() || number_of(one.from) <= number) &&
               (one.to.empty() || number <= number_of(one.to));
    });
    return found == instructions.end() ? nullptr : &*found;
}

std::vector<SourceFigure> figures_of(const Published& published, std::string_view capability,
                                     const ShelfInstruction& row, Figure figure) {
    std::vector<SourceFigure> all;
    for (const std::string& name : row.names) {
        if (figure == Figure::latency) {
            add_figures(all, published.latency(capability, name), published);
            continue;
        }
        add_figures(all, published.cpi(capability, name, warp_size), published);
        add_figures(all, published.rate(capability, name), published);
    }
    std::vector<SourceFigure> one_each;
    std::vector<int> counts;
    for (const SourceFigure& one : all) {
        const auto known = std::ranges::find(one_each, one.source, &SourceFigure::source);
        if (known == one_each.end()) {
            one_each.push_back(one);
            counts.push_back(1);
            continue;
        }
        int& count = counts[static_cast<std::size_t>(known - one_each.begin())];
        known->value += (one.value - known->value) / ++count;
        if (known->device != one.device) known->device += ", " + one.device;
    }
    return one_each;
}

std::optional<ShelfValue> shelf_value(const Shelf& shelf, const Published& published,
                                      std::string_view capability, const ShelfInstruction& row,
                                      Figure figure, std::string_view without) {
    return Valuer(shelf, published, figure, without).value(capability, row);
}

std::vector<std::string> shelf_evidence(std::string_view capability, std::string_view instruction) {
    std::vector<std::string> lines;
    const Shelf& shelf = built_in_shelf();
    const ShelfInstruction* const row = shelf.row(instruction, capability);
    if (shelf.architecture(capability) == nullptr || row == nullptr) return lines;
    for (const auto& [figure, symbol] : {std::pair{Figure::cpi, "λ"}, {Figure::latency, "Λ"}}) {
        std::vector<std::string> said;
        for (const SourceFigure& one : figures_of(built_in_published(), capability, *row, figure))
            said.push_back(fmt::format("{:.4g} {}{}", one.value, one.source,
                                       one.device.empty() ? "" : " (" + one.device + ")"));
        if (!said.empty()) lines.push_back(fmt::format("{}: {}", symbol, fmt::join(said, ", ")));
    }
    return lines;
}

const ShelfCard* shelf_card_of(const DeviceIdentity& device) {
    const auto& cards = built_in_shelf().cards;
    const auto found = std::ranges::find(cards, device.name, &ShelfCard::name);
    return found == cards.end() ? nullptr : &*found;
}

ShelfValue reached_share(const Shelf& shelf, std::string_view vendor,
                         std::string_view without_card) {
    std::vector<SourceFigure> shares;
    for (const ShelfReached& one : shelf.reached) {
        const ShelfCard& card = *shelf.card(one.card);
        if (one.card != without_card && shelf.architecture(card.capability)->vendor == vendor)
            shares.push_back(
                {.value = one.figure.low / card.dram_bytes_per_second, .source = one.card});
    }
    const Combined made = combine(shares, shelf.spreads.find("bandwidth")->second, false);
    return {.value = made.value,
            .std_error = made.std_error,
            .how = fmt::format("{:.2f} of the peak, as {} kernels reached on other cards",
                               made.value, shares.size())};
}

}  // namespace occupipe::analysis

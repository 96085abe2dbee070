// SPDX-License-Identifier: MIT
#include "fit/structure/warp_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/instruction.h"

namespace occupipe {
namespace {

// Places with less work than this multiple of the latency let all warps go on as they like.
constexpr double busy = 1.3;
constexpr int fewest_places = 4;
constexpr double least_share = 0.7;
// Of the pairs of warps of one scheduler: apart in fewer than the first is together, in more than
// the second is apart; a correlation beyond the third is an order.
constexpr double together = 0.05;
constexpr double apart = 0.15;
constexpr double ordered = 0.6;

std::optional<WarpOrder> order_at(const CurvePoint& point) {
    if (!point.stop_spread) return std::nullopt;
    if (!point.stop_order || point.stop_order->telling < together) return WarpOrder::take_turns;
    if (point.stop_order->telling < apart) return std::nullopt;
    if (point.stop_order->correlation > ordered) return WarpOrder::oldest_first;
    if (point.stop_order->correlation < -ordered) return WarpOrder::youngest_first;
    return WarpOrder::mixed;
}

}  // namespace

std::string_view to_string(WarpOrder order) {
    switch (order) {
        case WarpOrder::take_turns:
            return "loose round robin";
        case WarpOrder::oldest_first:
            return "greedy then oldest, or oldest first";
        case WarpOrder::youngest_first:
            return "youngest first";
        case WarpOrder::mixed:
            break;
    }
    return "none by age";
}

std::optional<WarpChoice> warp_choice(std::span<const WarpChoiceEvidence> evidence,
                                      int schedulers) {
    std::array<int, 4> votes{};
    int places = 0;
    for (const auto& [curve, fit] : evidence) {
        if (!fit->ok || kind_of(curve->subject) == InstructionKind::barrier) continue;
        if (fit->latency.kind == Estimate::Kind::undetermined) continue;
        for (const CurvePoint& point : curve->points) {
            const double m = static_cast<double>(point.shape.warps()) * point.shape.chains;
            if (point.shape.warps() < 2 * schedulers) continue;
            if (m * fit->cpi.value < busy * fit->latency.value) continue;
            const auto order = order_at(point);
            if (!order) continue;
            ++votes[static_cast<std::size_t>(*order)];
            ++places;
        }
    }
    const auto most = std::ranges::max_element(votes);
    if (places < fewest_places || *most < least_share * places) return std::nullopt;
    return WarpChoice{static_cast<WarpOrder>(std::distance(votes.begin(), most)),
                      static_cast<double>(*most) / (places + 1), places};
}

}  // namespace occupipe

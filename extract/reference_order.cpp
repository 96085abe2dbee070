// SPDX-License-Identifier: MIT
#include "extract/reference_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <random>
#include <utility>

#include "core/error.h"
#include "isa/machine/machine.h"

namespace occupipe::extract {
namespace {

constexpr int digit_bits = 11;

bool is_local_site(std::uint32_t site) {
    return site % site_spaces == static_cast<std::uint32_t>(isa::Space::local);
}

}  // namespace

CoreOfGroup::CoreOfGroup(std::uint32_t cores, std::uint64_t slots) : slots_(slots), order_(cores) {
    std::iota(order_.begin(), order_.end(), 0U);
}

std::uint32_t CoreOfGroup::operator()(std::uint64_t group) {
    const std::uint64_t row = group / order_.size();
    if (group >= slots_ && row != row_) {
        row_ = row;
        std::minstd_rand random(static_cast<std::uint32_t>(row));
        for (std::size_t i = order_.size(); i > 1; --i)
            std::swap(order_[i - 1], order_[random() % i]);
    }
    return order_[group % order_.size()];
}

std::vector<std::uint32_t> sorted_by(std::span<const std::uint64_t> keys) {
    std::vector<std::uint32_t> order(keys.size()), other(keys.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::uint64_t most = keys.empty() ? 0 : std::ranges::max(keys);
    // Least digit first.
    std::array<std::uint32_t, (1U << digit_bits) + 1> place;
    for (int shift = 0; shift < 64 && (most >> shift) != 0; shift += digit_bits) {
        const int bits = std::min(digit_bits, static_cast<int>(std::bit_width(most >> shift)));
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        std::fill_n(place.begin(), mask + 2, 0U);
        for (const std::uint32_t i : order) ++place[(keys[i] >> shift & mask) + 1];
        std::partial_sum(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(mask) + 1,
                         place.begin());
        for (const std::uint32_t i : order) other[place[keys[i] >> shift & mask]++] = i;
        std::swap(order, other);
    }
    return order;
}

ReferenceOrder::ReferenceOrder(std::span<const GroupTrace> groups, const MemoryContext& context,
                               Lines lines, const ClockOf& clock_of)
    : lines_(lines), cores_(static_cast<std::uint32_t>(context.cores)) {
    const auto at_once = static_cast<std::uint64_t>(context.concurrent_groups);
    std::uint64_t used = 0;  // slots
    placed_.reserve(groups.size());
    CoreOfGroup core_of(cores_, cores_ * at_once);
    for (const GroupTrace& group : groups) {
        const std::uint32_t core = core_of(group.group);
        const std::uint64_t slot = group.group / cores_ % at_once * cores_ + core;
        used = std::max(used, slot + 1);
        placed_.push_back({.group = &group,
                           .core = core,
                           .slot = static_cast<std::uint32_t>(slot),
                           .clocks = {},
                           .order = {}});
    }
    if (lines.global + used * lines.local > std::uint64_t{1} << 31)
        throw InputError("a trace of more than 2^31 different lines");
    device_slots_ = static_cast<std::uint32_t>(used);
    core_slots_ = static_cast<std::uint32_t>((used + cores_ - 1) / cores_);
    in_slots(context);
    if (clock_of)
        for (Placed& one : placed_) sort_by(clock_of, one);
}

void ReferenceOrder::number_apart(std::size_t first, std::uint32_t sites) {
    for (std::size_t i = first; i < placed_.size(); ++i) placed_[i].site = sites;
}

// When each group's slot is free, in the order of groups.
void ReferenceOrder::in_slots(const MemoryContext& context) {
    std::vector<std::uint64_t> free(static_cast<std::size_t>(context.cores) *
                                    static_cast<std::size_t>(context.concurrent_groups));
    for (Placed& one : placed_) {
        std::uint64_t& slot = free[one.slot];
        one.begin = slot;
        slot += one.group->clocks;
    }
}

void ReferenceOrder::sort_by(const ClockOf& clock_of, Placed& one) const {
    const std::uint64_t row = one.group->group / cores_;
    std::vector<std::uint64_t> clocks;
    clocks.reserve(one.group->issues.size());
    for (const Issue& issue : one.group->issues) clocks.push_back(clock_of(row, issue));
    one.order = sorted_by(clocks);
    one.clocks.reserve(clocks.size());
    for (const std::uint32_t i : one.order) one.clocks.push_back(clocks[i]);
}

// Of some groups: a piece of some clocks after the other, whose references fit into the processor's
// cache; how many there are of each clock says where each goes.
class ReferenceOrder::Merge {
public:
    // `slots_apart`: of local lines, the slots' numbers divided by it.
    Merge(const ReferenceOrder& order, std::vector<const Placed*> groups, std::uint32_t slots_apart)
        : lines_(order.lines_), slots_apart_(slots_apart), groups_(std::move(groups)) {
        if (groups_.empty()) return;
        std::uint64_t count = 0, last = 0;
        first_ = groups_.front()->clock(0);
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            by_begin_.push_back(i);
            count += groups_[i]->group->references.size();
            first_ = std::min(first_, groups_[i]->clock(0));
            last = std::max(last, groups_[i]->last());
        }
        std::ranges::stable_sort(by_begin_, {},
                                 [&](std::size_t i) { return groups_[i]->clock(0); });
        constexpr double piece = 8192, most_clocks = 4096;
        const auto clocks = static_cast<double>(last - first_) + 1;
        width_ = static_cast<std::uint64_t>(
            std::clamp(clocks * piece / static_cast<double>(count), 1.0, most_clocks));
    }

    void each(const Use& use) {
        std::uint64_t begin = first_;
        while (begun_ < by_begin_.size() || !active_.empty()) {
            admit(begin + width_);
            std::uint64_t next = take(begin);
            if (begun_ < by_begin_.size())
                next = std::min(next, groups_[by_begin_[begun_]]->clock(0));
            begin = next;
            if (!piece_.empty()) use(piece_);
        }
    }

private:
    struct Active {
        std::size_t group = 0;  // of groups_
        std::size_t at = 0;     // its next reference
        std::size_t end = 0;    // that of the piece after this one
    };
    // Groups that begin before this clock; they stay in the order of their numbers.
    void admit(std::uint64_t end) {
        const std::size_t before = active_.size();
        while (begun_ < by_begin_.size() && groups_[by_begin_[begun_]]->clock(0) < end)
            active_.push_back({.group = by_begin_[begun_++]});
        if (active_.size() > before) std::ranges::sort(active_, {}, &Active::group);
    }

    // The piece that begins at this clock; returns the clock of the first reference after it.
    std::uint64_t take(std::uint64_t begin) {
        places_.assign(width_ + 1, 0);
        std::uint64_t next = ~std::uint64_t{0};
        for (Active& one : active_) {
            const Placed& placed = *groups_[one.group];
            const std::size_t all = placed.group->references.size();
            one.end = one.at;
            with_clocks(placed, begin, [&](const auto& clock_of, const auto&) {
                for (; one.end < all; ++one.end) {
                    const std::uint64_t clock = clock_of(one.end);
                    if (clock >= width_) return;
                    ++places_[clock + 1];
                }
            });
            if (one.end < all) next = std::min(next, placed.clock(one.end));
        }
        std::partial_sum(places_.begin(), places_.end(), places_.begin());
        piece_.resize(places_.back());
        std::size_t kept = 0;
        for (Active one : active_) {
            const Placed& placed = *groups_[one.group];
            const std::uint32_t local = lines_.global + placed.slot / slots_apart_ * lines_.local;
            const std::uint32_t what = LineReference::what_of(placed.site, 0);
            with_clocks(placed, begin, [&](const auto& clock_of, const auto& reference) {
                for (; one.at < one.end; ++one.at) {
                    const LineReference& of = reference(one.at);
                    piece_[places_[clock_of(one.at)]++] = {
                        .line = of.line + (is_local_site(of.site()) ? local : 0),
                        .what = of.what + what};
                }
            });
            if (one.at < placed.group->references.size()) active_[kept++] = one;
        }
        active_.resize(kept);
        return next;
    }

    // use(clock_of(i), reference(i)): of a group's i-th reference, the clock since `begin`.
    template <typename WithClocks>
    static void with_clocks(const Placed& placed, std::uint64_t begin, const WithClocks& use) {
        const LineReference* const of = placed.group->references.data();
        if (placed.clocks.empty()) {
            const std::uint64_t since = placed.begin - begin;
            use([&](std::size_t i) { return since + of[i].clock; },
                [&](std::size_t i) -> const LineReference& { return of[i]; });
        } else {
            use([&](std::size_t i) { return placed.clocks[i] - begin; },
                [&](std::size_t i) -> const LineReference& { return of[placed.order[i]]; });
        }
    }

    Lines lines_;
    std::uint32_t slots_apart_;
    std::vector<const Placed*> groups_;
    std::vector<std::size_t> by_begin_;
    std::uint64_t first_ = 0, width_ = 1;
    std::size_t begun_ = 0;  // of by_begin_
    std::vector<Active> active_;
    std::vector<std::uint32_t> places_;  // by clock: the next one's in the piece
    std::vector<Turn> piece_;
};

void ReferenceOrder::of_core(int core, const Use& use) const {
    std::vector<const Placed*> groups;
    for (const Placed& one : placed_)
        if (one.core == static_cast<std::uint32_t>(core) && one.refers()) groups.push_back(&one);
    Merge(*this, std::move(groups), cores_).each(use);
}

void ReferenceOrder::of_device(const Use& use) const {
    std::vector<const Placed*> groups;
    groups.reserve(placed_.size());
    for (const Placed& one : placed_)
        if (one.refers()) groups.push_back(&one);
    Merge(*this, std::move(groups), 1).each(use);
}

}  // namespace occupipe::extract

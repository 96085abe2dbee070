// SPDX-License-Identifier: MIT
#include "extract/code_reuse.h"

#include <algorithm>
#include <unordered_map>
#include <variant>

#include "extract/stack_distance.h"

namespace occupipe::extract {
namespace {

constexpr std::int64_t line_bytes = 128;
constexpr std::int64_t step_bytes = 4096;
constexpr std::int64_t held_bytes = 16384;

// Fetches line by line: the instructions executed in a line come with its fetch.
class Fetch {
public:
    // `times`: how often the items are executed with the distances that they have now. Iterations
    // after a loop's second are as the second.
    template <typename At, typename Count>
    void walk(std::span<const FoldedItem> items, double times, const At& address,
              const Count& count) {
        for (const FoldedItem& item : items) {
            if (const auto* loop = std::get_if<FoldedLoop>(&item)) {
                walk(loop->body, times, address, count);
                if (loop->count > 1)
                    walk(loop->body, times * static_cast<double>(loop->count - 1), address, count);
                continue;
            }
            const std::int64_t line = address(std::get<std::uint32_t>(item)) / line_bytes;
            if (line != line_) fetch(line);
            count(lines_, times);
        }
    }

private:
    void fetch(std::int64_t line) {
        line_ = line;
        if (order_.full())
            order_.renumber([&](const auto& of) {
                for (auto& [_, place] : places_) of(place);
            });
        const auto [place, is_new] = places_.try_emplace(line, 0);
        if (is_new)
            place->second = order_.enter();
        else
            lines_ = std::int64_t{1} + order_.touch(place->second);
    }

    LastReferences order_;
    std::unordered_map<std::int64_t, LastReferences::Place> places_;
    std::int64_t line_ = -1;
    std::int64_t lines_ = 1;  // that a cache needs to have found the latest
};

}  // namespace

void CodeReuse::add(std::span<const FoldedItem> stream, double share) {
    const auto address = [&](std::uint32_t number) {
        return code_[instructions_[number].code].address;
    };
    Fetch fetch;
    fetch.walk(stream, 0, address, [](std::int64_t, double) {});
    fetch.walk(stream, share, address, [&](std::int64_t lines, double times) {
        const auto step =
            static_cast<std::size_t>((lines * line_bytes + step_bytes - 1) / step_bytes);
        if (step >= executed_.size()) executed_.resize(step + 1);
        executed_[step] += times;
    });
}

Reuse CodeReuse::points() const {
    double all = 0;
    for (const double one : executed_) all += one;
    Reuse points;
    double so_far = 0;
    for (std::size_t step = 0; step < executed_.size(); ++step) {
        so_far += executed_[step];
        const auto bytes = static_cast<std::int64_t>(step) * step_bytes;
        if (bytes < held_bytes && step + 1 < executed_.size()) continue;
        if (so_far > (points.empty() ? 0 : points.back().share * all))
            points.push_back({.bytes = bytes, .share = std::min(1.0, so_far / all)});
    }
    if (points.empty() || points.back().bytes <= held_bytes) return {};
    points.back().share = 1;
    return points;
}

}  // namespace occupipe::extract

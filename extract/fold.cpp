// SPDX-License-Identifier: MIT
#include "extract/fold.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>

namespace occupipe::extract {
namespace {

// Of the places where the newest item stood before, so many of the latest are tried.
constexpr std::size_t most_candidates = 64;

template <class T>
T& grown(std::vector<T>& list, std::size_t index) {
    if (index >= list.size()) list.resize(index + 1);
    return list[index];
}

}  // namespace

// Written out: clang 14 does not end with the default of a type that holds itself.
bool FoldedLoop::operator==(const FoldedLoop& other) const {
    return count == other.count &&
           std::ranges::equal(body, other.body, [](const FoldedItem& a, const FoldedItem& b) {
               if (a.index() != b.index()) return false;
               const auto* const loop = std::get_if<FoldedLoop>(&a);
               return loop ? *loop == std::get<FoldedLoop>(b)
                           : std::get<std::uint32_t>(a) == std::get<std::uint32_t>(b);
           });
}

struct Folder::Loops {
    struct Loop {
        std::int64_t count;
        std::uint32_t body;
    };
    std::vector<std::vector<std::uint32_t>> bodies;
    std::map<std::vector<std::uint32_t>, std::uint32_t> body_numbers;
    std::vector<Loop> loops;
    std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> loop_numbers;
    // By body: the loop that stands in one place and in no body, and counts on without a new
    // number; 0: none.
    std::vector<std::uint32_t> open;

    static bool is_loop(std::uint32_t item) { return item % 2 == 1; }
    const Loop& loop(std::uint32_t item) const { return loops[item / 2]; }
    const std::vector<std::uint32_t>& body(std::uint32_t item) const {
        return bodies[loop(item).body];
    }

    std::uint32_t item(std::uint32_t body, std::int64_t count) {
        std::uint32_t& last = grown(open, body);
        if (last != 0) loop_numbers.emplace(std::pair(body, loop(last).count), last);
        last = 0;
        if (const auto found = loop_numbers.find({body, count}); found != loop_numbers.end())
            return found->second;
        loops.push_back({count, body});
        return last = static_cast<std::uint32_t>(2 * loops.size() - 1);
    }
    std::uint32_t counted_on(std::uint32_t item) {
        Loop& one = loops[item / 2];
        if (open[one.body] != item || loop_numbers.contains({one.body, one.count + 1}))
            return this->item(one.body, one.count + 1);
        ++one.count;
        return item;
    }
    std::uint32_t body_number(std::vector<std::uint32_t> items) {
        const auto [found, is_new] =
            body_numbers.try_emplace(items, static_cast<std::uint32_t>(bodies.size()));
        if (is_new) bodies.push_back(std::move(items));
        return found->second;
    }
};

Folder::Folder() : loops_(std::make_unique<Loops>()) {}
Folder::~Folder() = default;
Folder::Folder(Folder&&) noexcept = default;
Folder& Folder::operator=(Folder&&) noexcept = default;

void Folder::push(std::uint32_t item) {
    const auto place = static_cast<std::uint32_t>(stack_.size());
    stack_.push_back(item);
    grown(places_, item).push_back(place);
    if (Loops::is_loop(item)) grown(loops_by_end_, loops_->body(item).back()).push_back(place);
}

void Folder::pop(std::size_t count) {
    for (; count > 0; --count) {
        const std::uint32_t item = stack_.back();
        stack_.pop_back();
        places_[item].pop_back();
        if (Loops::is_loop(item)) loops_by_end_[loops_->body(item).back()].pop_back();
    }
}

void Folder::add(std::uint32_t instruction) {
    if (instruction == expected_) return add_expected();
    ++added_;
    leave_round();
    push(2 * instruction);
    fold();
}

void Folder::fold() {
    while (fold_once()) {
    }
    begin_rounds();
}

// An item can only fold where it, or a loop that ends with it, stands in the stack already.
void Folder::begin_rounds() {
    leave_round();
    if (!Loops::is_loop(stack_.back())) return;
    const std::vector<std::uint32_t>& body = loops_->body(stack_.back());
    for (std::size_t i = 0; i < body.size(); ++i) {
        const std::uint32_t item = body[i];
        if (Loops::is_loop(item)) return;
        if (i + 1 == body.size()) break;
        const bool ends_a_loop = item < loops_by_end_.size() && !loops_by_end_[item].empty();
        std::uint64_t& looked_at = grown(looked_at_, item);
        if (!places_[item].empty() || ends_a_loop || looked_at == added_) return;
        looked_at = added_;
    }
    round_ = body;
    expected_ = round_.front() / 2;
}

void Folder::end_round() {
    const std::uint32_t loop = stack_.back();
    in_round_ = 0;
    pop(1);
    push(loops_->counted_on(loop));
    if (fold_once())
        fold();
    else
        expected_ = round_.front() / 2;
}

void Folder::leave_round() {
    for (std::size_t i = 0; i < in_round_; ++i) push(round_[i]);
    round_.clear();
    in_round_ = 0;
    expected_ = no_instruction;
}

bool Folder::fold_once() {
    const std::size_t size = stack_.size();
    const std::uint32_t last = stack_.back();

    // A loop that stands right before another round of its body counts on.
    if (last < loops_by_end_.size()) {
        const std::vector<std::uint32_t>& places = loops_by_end_[last];
        const std::size_t tried = std::min(places.size(), most_candidates);
        for (std::size_t i = 0; i < tried; ++i) {
            const std::size_t place = places[places.size() - 1 - i];
            const std::uint32_t item = stack_[place];
            const std::vector<std::uint32_t>& body = loops_->body(item);
            if (place + 1 + body.size() != size) continue;
            if (!std::equal(body.begin(), body.end(), stack_.end() - std::ssize(body))) continue;
            pop(body.size() + 1);
            push(loops_->counted_on(item));
            return true;
        }
    }

    // The last k items equal the k before.
    const std::vector<std::uint32_t>& places = places_[last];
    const std::size_t tried = std::min(places.size() - 1, most_candidates);
    for (std::size_t i = 1; i <= tried; ++i) {
        const std::size_t k = size - 1 - places[places.size() - 1 - i];
        if (2 * k > size) break;
        if (k > 1 && stack_[size - 2] != stack_[size - 2 - k]) continue;
        const auto end = stack_.end();
        const auto round = end - static_cast<std::ptrdiff_t>(k);
        if (!std::equal(round, end, round - static_cast<std::ptrdiff_t>(k))) continue;
        std::vector<std::uint32_t> body(round, end);
        pop(2 * k);
        push(loops_->item(loops_->body_number(std::move(body)), 2));
        return true;
    }
    return false;
}

std::vector<FoldedItem> Folder::folded() const {
    const std::function<std::vector<FoldedItem>(const std::vector<std::uint32_t>&)> list =
        [&](const std::vector<std::uint32_t>& items) {
            std::vector<FoldedItem> found;
            found.reserve(items.size());
            for (const std::uint32_t item : items) {
                if (Loops::is_loop(item))
                    found.emplace_back(
                        FoldedLoop{loops_->loop(item).count, list(loops_->body(item))});
                else
                    found.emplace_back(item / 2);
            }
            return found;
        };
    std::vector<std::uint32_t> items = stack_;
    items.insert(items.end(), round_.begin(),
                 round_.begin() + static_cast<std::ptrdiff_t>(in_round_));
    return list(items);
}

std::vector<FoldedItem> fold(std::span<const std::uint32_t> stream) {
    Folder folder;
    for (const std::uint32_t instruction : stream) folder.add(instruction);
    return folder.folded();
}

void unfold(std::span<const FoldedItem> items, const std::function<void(std::uint32_t)>& visit) {
    for (const FoldedItem& item : items) {
        if (const auto* instruction = std::get_if<std::uint32_t>(&item)) {
            visit(*instruction);
            continue;
        }
        const auto& loop = std::get<FoldedLoop>(item);
        for (std::int64_t i = 0; i < loop.count; ++i) unfold(loop.body, visit);
    }
}

std::int64_t unfolded_size(std::span<const FoldedItem> items) {
    std::int64_t size = 0;
    for (const FoldedItem& item : items) {
        if (const auto* loop = std::get_if<FoldedLoop>(&item))
            size += loop->count * unfolded_size(loop->body);
        else
            ++size;
    }
    return size;
}

namespace {

// Loops counted once.
std::size_t written_size(std::span<const FoldedItem> items) {
    std::size_t size = 0;
    for (const FoldedItem& item : items) {
        const auto* const loop = std::get_if<FoldedLoop>(&item);
        size += loop ? written_size(loop->body) : 1;
    }
    return size;
}

class Thinner {
public:
    Thinner(std::size_t every, const std::function<bool(std::uint32_t)>& stays)
        : every_(every), stays_(stays) {}

    std::vector<FoldedItem> run(std::vector<FoldedItem> items) const {
        std::vector<FoldedItem> result;
        std::vector<std::vector<FoldedItem>> windows(1);
        std::size_t size = 0;  // of the last one
        const auto end_windows = [&] {
            keep(windows, result);
            windows.assign(1, {});
            size = 0;
        };
        for (FoldedItem& item : items) {
            auto* const loop = std::get_if<FoldedLoop>(&item);
            const std::size_t own = loop ? written_size(loop->body) : 1;
            if (own >= window || holds(item)) {
                end_windows();
                if (own >= window) loop->body = run(std::move(loop->body));
                result.push_back(std::move(item));
                continue;
            }
            windows.back().push_back(std::move(item));
            size += own;
            if (size < window) continue;
            windows.emplace_back();
            size = 0;
        }
        end_windows();
        return result;
    }

private:
    static constexpr std::size_t window = 1024;

    bool holds(const FoldedItem& item) const {
        const auto* const loop = std::get_if<FoldedLoop>(&item);
        if (!loop) return stays_(std::get<std::uint32_t>(item));
        return std::ranges::any_of(loop->body, [&](const FoldedItem& one) { return holds(one); });
    }

    // What begins and what ends is like nothing else: the first window stands for itself, and so
    // does the last one, which is less than a whole window.
    void keep(std::vector<std::vector<FoldedItem>>& windows,
              std::vector<FoldedItem>& result) const {
        const std::size_t whole = windows.size() - 1;
        std::vector<std::int64_t> sizes(whole);
        for (std::size_t i = 0; i < whole; ++i) sizes[i] = unfolded_size(windows[i]);
        std::int64_t left = 0;  // executed, and in no window that was kept
        for (std::size_t i = 0, count = 1; i < whole; i += count) {
            if (i > 0) count = std::min(every_, whole - i);
            const auto times = static_cast<std::int64_t>(count);
            for (std::size_t one = i; one < i + count; ++one) left += sizes[one];
            const auto off = [&](std::size_t one) { return std::abs(left - times * sizes[one]); };
            std::size_t best = i;
            for (std::size_t one = i; one < i + count; ++one)
                if (off(one) < off(best)) best = one;
            left -= times * sizes[best];
            result.emplace_back(FoldedLoop{times, std::move(windows[best])});
        }
        std::ranges::move(windows.back(), std::back_inserter(result));
    }

    std::size_t every_;
    const std::function<bool(std::uint32_t)>& stays_;
};

}  // namespace

Thinned thinned(std::vector<FoldedItem> items, std::size_t most,
                const std::function<bool(std::uint32_t)>& stays) {
    const std::size_t size = written_size(items);
    if (size <= most) return {std::move(items), 1};
    const std::size_t every = (size + most - 1) / most;
    return {Thinner(every, stays).run(std::move(items)), static_cast<std::int64_t>(every)};
}

}  // namespace occupipe::extract

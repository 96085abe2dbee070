// SPDX-License-Identifier: MIT
#include "extract/streams.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/buffer_fill.h"
#include "core/error.h"

namespace occupipe::extract {
namespace {

// Sum of the elements' hashes by powers of `base`, modulo the prime 2^61 - 1. What it is of two
// sequences tells what it is of both together, so that loops need not be unfolded. Different ones
// of n elements collide with a probability of n 2^-61 at most.
struct Hash {
    std::uint64_t value = 0, power = 1;  // base to the number of elements

    static std::uint64_t product(std::uint64_t a, std::uint64_t b) {
        __extension__ using Wide = unsigned __int128;
        const Wide wide = Wide{a} * b;
        return sum(static_cast<std::uint64_t>(wide) & prime,
                   static_cast<std::uint64_t>(wide >> 61));
    }
    static std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
        return a + b >= prime ? a + b - prime : a + b;
    }
    Hash followed_by(const Hash& other) const {
        return {sum(product(value, other.power), other.value), product(power, other.power)};
    }
    auto operator<=>(const Hash&) const = default;

    static constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
};

// Equal streams have equal keys; different ones do not, but for both hashes' collisions.
struct Key {
    std::uint64_t instructions = 0;
    std::array<Hash, 2> hashes;

    Key followed_by(const Key& other) const {
        return {instructions + other.instructions,
                {hashes[0].followed_by(other.hashes[0]), hashes[1].followed_by(other.hashes[1])}};
    }
    auto operator<=>(const Key&) const = default;
};

Key key_of(std::uint32_t code, std::uint32_t active) {
    constexpr std::array<std::uint64_t, 2> bases = {random_bits(2, 0) % Hash::prime,
                                                    random_bits(3, 0) % Hash::prime};
    const std::uint64_t word = (std::uint64_t{code} << 32) | active;
    Key key{.instructions = 1, .hashes = {}};
    for (std::size_t i = 0; i < bases.size(); ++i)
        key.hashes[i] = {random_bits(i, word) % Hash::prime, bases[i]};
    return key;
}

// `keys`: of what the stream's numbers stand for.
Key key_of(std::span<const FoldedItem> items, const std::vector<Key>& keys) {
    Key all;
    for (const FoldedItem& item : items) {
        const auto* const loop = std::get_if<FoldedLoop>(&item);
        if (loop == nullptr) {
            all = all.followed_by(keys[std::get<std::uint32_t>(item)]);
            continue;
        }
        Key rounds = key_of(loop->body, keys);  // 1, 2, 4, … of them
        for (std::int64_t left = loop->count; left > 0; left /= 2) {
            if (left % 2 != 0) all = all.followed_by(rounds);
            rounds = rounds.followed_by(rounds);
        }
    }
    return all;
}

std::uint64_t items_of(std::span<const FoldedItem> items) {
    std::uint64_t sum = items.size();
    for (const FoldedItem& item : items)
        if (const auto* const loop = std::get_if<FoldedLoop>(&item)) sum += items_of(loop->body);
    return sum;
}

}  // namespace

std::vector<SampledGroup> all_groups(std::uint64_t groups) {
    std::vector<SampledGroup> sample;
    for (std::uint64_t group = 0; group < groups; ++group) sample.push_back({group, 1});
    return sample;
}

GroupSample::GroupSample(std::uint64_t groups, std::uint64_t random, std::uint64_t seed)
    : groups_(groups), parts_(random), seed_(seed) {
    if (random == 0) throw InputError("a sample of groups takes at least one at random");
    draw(0);
}

std::vector<std::uint64_t> GroupSample::grow(std::uint64_t but) {
    parts_ = parts_ > groups_ / 2 ? groups_ : 2 * parts_;
    return draw(but);
}

// Where a part of the groups between the first and the last begins; no product overflows.
std::uint64_t GroupSample::begin(std::uint64_t part) const {
    const std::uint64_t others = groups_ - 2;
    return 1 + others / parts_ * part + std::min(part, others % parts_);
}

std::vector<std::uint64_t> GroupSample::draw(std::uint64_t but) {
    std::vector<std::uint64_t> fresh;
    const auto take = [&](std::uint64_t group) {
        if (group >= but && drawn_.insert(group).second) fresh.push_back(group);
    };
    if (groups_ < 3 || parts_ >= groups_ - 2) {
        for (std::uint64_t group = 0; group < groups_; ++group) take(group);
        return fresh;
    }
    take(0);
    for (std::uint64_t part = 0; part < parts_; ++part) {
        const std::uint64_t from = begin(part), to = begin(part + 1);
        const auto there = drawn_.lower_bound(from);
        if (there != drawn_.end() && *there < to) continue;
        const std::uint64_t first = std::max(from, but);
        if (first < to) take(first + random_bits(seed_, parts_ + part) % (to - first));
    }
    take(groups_ - 1);
    return fresh;
}

std::vector<GroupSample::Part> GroupSample::parts() const {
    std::vector<Part> parts;
    std::uint64_t waiting = 0;  // groups of parts without a drawn one
    for (std::uint64_t part = 0; part < parts_; ++part) {
        const std::uint64_t from = begin(part), to = begin(part + 1);
        const auto first = drawn_.lower_bound(from), last = drawn_.lower_bound(to);
        waiting += to - from;
        if (first != last) parts.push_back({first, last, std::exchange(waiting, 0)});
    }
    parts.back().groups += waiting;
    return parts;
}

std::vector<SampledGroup> GroupSample::groups() const {
    std::vector<SampledGroup> sample;
    if (all()) {
        for (const std::uint64_t group : drawn_) sample.push_back({group, 1});
        return sample;
    }
    sample.push_back({0, 1});
    for (const Part& part : parts()) {
        const double weight = static_cast<double>(part.groups) /
                              static_cast<double>(std::distance(part.first, part.last));
        for (auto one = part.first; one != part.last; ++one) sample.push_back({*one, weight});
    }
    sample.push_back({groups_ - 1, 1});
    return sample;
}

std::vector<GroupRun> GroupSample::runs() const {
    std::vector<GroupRun> runs;
    if (all()) {
        for (const std::uint64_t group : drawn_) runs.push_back({group, 1});
        return runs;
    }
    runs.push_back({0, 1});
    for (const Part& part : parts()) {
        std::uint64_t left = part.groups;
        auto number = static_cast<std::uint64_t>(std::distance(part.first, part.last));
        for (auto one = part.first; one != part.last; ++one) {
            runs.push_back({*one, left / number});
            left -= left / number--;
        }
    }
    runs.push_back({groups_ - 1, 1});
    return runs;
}

struct StreamObserver::Found {
    struct Class {
        std::vector<FoldedItem> stream;
        std::vector<StreamInstruction> instructions;   // what the stream's numbers stand for
        double weight = 0;                             // once all groups have theirs
        std::map<std::uint64_t, std::uint64_t> warps;  // by group
        std::uint64_t watched = 0;
        std::uint64_t first_group = 0;
        std::uint32_t first_warp = 0;
        Key path;  // the same for all that differ in lanes alone
    };
    std::map<Key, Class> classes;
    std::map<std::uint64_t, std::vector<const Class*>> groups;  // per warp
    std::map<std::uint64_t, std::uint64_t> group_instructions;
};

class StreamObserver::Recorder : public isa::GroupObserver {
public:
    void steps(std::uint32_t warp, std::span<const isa::Executed> executed) override {
        if (warp >= warps_.size()) warps_.resize(warp + 1);
        Folder& folder = warps_[warp].folder;
        for (const auto& [code, active] : executed) {
            const std::uint32_t expected = folder.expected();
            if (expected != Folder::no_instruction &&
                instructions_[expected] == StreamInstruction{code, active})
                folder.add_expected();
            else
                folder.add(number(code, active));
        }
    }

    void access(std::uint32_t, std::size_t, const isa::MemoryAccess&) override {}

    // Before it is handed over.
    void finish() {
        std::vector<Key> keys, paths;
        for (const StreamInstruction& one : instructions_) {
            keys.push_back(key_of(one.code, one.active));
            paths.push_back(key_of(one.code, one.active != 0 ? 1 : 0));
        }
        for (Warp& one : warps_) {
            one.stream = one.folder.folded();
            one.key = key_of(one.stream, keys);
            one.path = key_of(one.stream, paths);
        }
    }

    void hand_over(std::uint64_t group, Found& found) {
        for (std::uint32_t warp = 0; warp < warps_.size(); ++warp) {
            Found::Class& one = found.classes[warps_[warp].key];
            const bool is_first = one.watched == 0 ||
                                  std::tie(group, warp) < std::tie(one.first_group, one.first_warp);
            if (one.watched == 0) {
                one.stream = std::move(warps_[warp].stream);
                one.instructions = instructions_;
                one.path = warps_[warp].path;
            }
            if (is_first) std::tie(one.first_group, one.first_warp) = std::tuple(group, warp);
            found.groups[group].push_back(&one);
            ++one.warps[group];
            ++one.watched;
            found.group_instructions[group] += warps_[warp].key.instructions;
        }
    }

private:
    struct Warp {
        Folder folder;
        std::vector<FoldedItem> stream;
        Key key, path;
    };

    std::uint32_t number(std::uint32_t code, std::uint32_t active) {
        if (code >= last_.size()) last_.resize(code + 1);
        std::uint32_t& last = last_[code];
        if (last < instructions_.size() && instructions_[last] == StreamInstruction{code, active})
            return last;
        const auto [place, fresh] = numbers_.try_emplace(
            (std::uint64_t{code} << 32) | active, static_cast<std::uint32_t>(instructions_.size()));
        if (fresh) instructions_.push_back({code, active});
        return last = place->second;
    }

    std::vector<Warp> warps_;
    std::vector<StreamInstruction> instructions_;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by code and lanes
    std::vector<std::uint32_t> last_;                           // that a code had
};

StreamObserver::StreamObserver(const std::vector<SampledGroup>& groups, Alike alike)
    : alike_(alike), found_(std::make_unique<Found>()) {
    watch(groups);
}
StreamObserver::~StreamObserver() = default;

void StreamObserver::watch(const std::vector<SampledGroup>& groups) { groups_ = groups; }

std::map<std::uint64_t, std::uint64_t> StreamObserver::group_instructions() const {
    const std::lock_guard lock(mutex_);
    return found_->group_instructions;
}

std::uint64_t StreamObserver::items() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [key, one] : found_->classes) sum += items_of(one.stream);
    return sum;
}

std::unique_ptr<isa::GroupObserver> StreamObserver::begin(std::uint64_t group) {
    if (!std::ranges::binary_search(groups_, group, {}, &SampledGroup::group)) return nullptr;
    return std::make_unique<Recorder>();
}

void StreamObserver::end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) {
    auto* const recorder = dynamic_cast<Recorder*>(observer.get());
    if (!recorder) return;
    recorder->finish();
    const std::lock_guard lock(mutex_);
    recorder->hand_over(group, *found_);
}

namespace {

// Calls `change` with each number of the stream, loops' bodies once, in order.
template <typename Change>
void for_each_number(std::vector<FoldedItem>& items, const Change& change) {
    for (FoldedItem& item : items) {
        if (auto* loop = std::get_if<FoldedLoop>(&item))
            for_each_number(loop->body, change);
        else
            change(std::get<std::uint32_t>(item));
    }
}

}  // namespace

StreamObserver::Streams StreamObserver::streams() const {
    const std::lock_guard lock(mutex_);
    for (auto& [key, one] : found_->classes) {
        one.weight = 0;
        for (const auto& [group, warps] : one.warps) {
            const auto found = std::ranges::lower_bound(groups_, group, {}, &SampledGroup::group);
            one.weight += found->weight * static_cast<double>(warps);
        }
    }
    // By weight, then by where they were first seen.
    const auto before = [](const Found::Class& a, const Found::Class& b) {
        return std::tuple(-a.weight, a.first_group, a.first_warp) <
               std::tuple(-b.weight, b.first_group, b.first_warp);
    };
    // What stands for each class, and what it stands for in all.
    struct Member {
        const Found::Class* of = nullptr;
        Found::Class sum;  // without stream
    };
    std::map<Key, Member> members;
    for (const auto& [key, one] : found_->classes) {
        Member& member = members[alike_ == Alike::path ? one.path : key];
        Found::Class& sum = member.sum;
        const bool first = member.of == nullptr || std::tie(one.first_group, one.first_warp) <
                                                       std::tie(sum.first_group, sum.first_warp);
        if (first)
            std::tie(sum.first_group, sum.first_warp) = std::tie(one.first_group, one.first_warp);
        sum.weight += one.weight;
        sum.watched += one.watched;
        if (member.of == nullptr || before(one, *member.of)) member.of = &one;
    }
    std::vector<std::pair<const Key*, const Member*>> sorted;
    for (const auto& [key, member] : members) sorted.emplace_back(&key, &member);
    std::ranges::sort(
        sorted, [&](const auto& a, const auto& b) { return before(a.second->sum, b.second->sum); });
    Streams result;
    std::map<Key, std::uint32_t> place_of;
    for (std::size_t i = 0; i < sorted.size(); ++i)
        place_of[*sorted[i].first] = static_cast<std::uint32_t>(i);
    std::map<const Found::Class*, std::uint32_t> class_of;
    for (const auto& [key, one] : found_->classes)
        class_of[&one] = place_of.at(alike_ == Alike::path ? one.path : key);
    for (const auto& [group, warps] : found_->groups)
        for (const Found::Class* one : warps) result.groups[group].push_back(class_of.at(one));
    std::map<StreamInstruction, std::uint32_t> numbers;
    for (const auto& entry : sorted) {
        const Key* const key = entry.first;
        const Member* const member = entry.second;
        WarpClass next{.stream = member->of->stream,
                       .instructions = key->instructions,
                       .weight = member->sum.weight,
                       .watched = member->sum.watched,
                       .first_group = member->sum.first_group,
                       .first_warp = member->sum.first_warp};
        for_each_number(next.stream, [&](std::uint32_t& number) {
            const StreamInstruction what = member->of->instructions[number];
            const auto [place, is_new] =
                numbers.try_emplace(what, static_cast<std::uint32_t>(numbers.size()));
            if (is_new) result.instructions.push_back(what);
            number = place->second;
        });
        result.classes.push_back(std::move(next));
    }
    return result;
}

namespace {

template <typename Asked>
bool any_number(const std::vector<FoldedItem>& items, const Asked& asked) {
    return std::ranges::any_of(items, [&](const FoldedItem& item) {
        const auto* const loop = std::get_if<FoldedLoop>(&item);
        return loop ? any_number(loop->body, asked) : asked(std::get<std::uint32_t>(item));
    });
}

}  // namespace

std::vector<FoldedItem> with_changed(
    std::span<const FoldedItem> stream, std::vector<StreamInstruction>& instructions,
    const std::function<StreamInstruction(StreamInstruction)>& change) {
    std::map<StreamInstruction, std::uint32_t> numbers;
    for (std::size_t i = 0; i < instructions.size(); ++i)
        numbers.try_emplace(instructions[i], static_cast<std::uint32_t>(i));
    Folder folder;
    unfold(stream, [&](std::uint32_t number) {
        const StreamInstruction was = instructions[number], is = change(was);
        if (is != was) {
            const auto [place, is_new] =
                numbers.try_emplace(is, static_cast<std::uint32_t>(instructions.size()));
            if (is_new) instructions.push_back(is);
            number = place->second;
        }
        folder.add(number);
    });
    return folder.folded();
}

void mark_first(StreamObserver::Streams& streams, const std::vector<bool>& of) {
    const auto marks = [&](std::uint32_t number) { return of[streams.instructions[number].code]; };
    for (WarpClass& one : streams.classes) {
        if (!any_number(one.stream, marks)) continue;
        std::set<std::uint32_t> met;  // of the code
        one.stream = with_changed(one.stream, streams.instructions, [&](StreamInstruction what) {
            what.first = what.active != 0 && of[what.code] && met.insert(what.code).second;
            return what;
        });
    }
}

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
#include "extract/streams.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/buffer_fill.h"
#include "core/error.h"

namespace occupipe::extract {
namespace {

// Equal streams have equal keys; different ones of equal length collide with a probability of
// about 2^-128.
struct Key {
    std::uint64_t instructions = 0;
    std::uint64_t first = 0, second = 0;

    void add(std::uint32_t code, std::uint32_t active) {
        const std::uint64_t word = (std::uint64_t{code} << 32) | active;
        first = random_bits(first, word);
        second = random_bits(second ^ word, instructions++);
    }
    auto operator<=>(const Key&) const = default;
};

}  // namespace

std::vector<SampledGroup> all_groups(std::uint64_t groups) {
    std::vector<SampledGroup> sample;
    for (std::uint64_t group = 0; group < groups; ++group) sample.push_back({group, 1});
    return sample;
}

std::vector<SampledGroup> sampled_groups(std::uint64_t groups, std::uint64_t random,
                                         std::uint64_t seed) {
    if (random == 0) throw InputError("a sample of groups takes at least one at random");
    if (groups < 3 || random >= groups - 2) return all_groups(groups);
    const std::uint64_t others = groups - 2;
    // Where part i begins; no product overflows.
    const auto begin = [&](std::uint64_t part) {
        return 1 + others / random * part + std::min(part, others % random);
    };
    std::vector<SampledGroup> sample = {{0, 1}};
    for (std::uint64_t part = 0; part < random; ++part) {
        const std::uint64_t size = begin(part + 1) - begin(part);
        sample.push_back({begin(part) + random_bits(seed, part) % size, static_cast<double>(size)});
    }
    sample.push_back({groups - 1, 1});
    return sample;
}

struct StreamObserver::Found {
    struct Class {
        std::vector<FoldedItem> stream;
        std::vector<StreamInstruction> instructions;  // what the stream's numbers stand for
        double weight = 0;
        std::uint64_t watched = 0;
        std::uint64_t first_group = 0;
        std::uint32_t first_warp = 0;
    };
    std::map<Key, Class> classes;
};

class StreamObserver::Recorder : public isa::GroupObserver {
public:
    void step(std::uint32_t warp, std::size_t instruction, isa::Mask, isa::Mask active) override {
        if (warp >= warps_.size()) warps_.resize(warp + 1);
        const auto code = static_cast<std::uint32_t>(instruction);
        warps_[warp].key.add(code, active);
        warps_[warp].folder.add(number(code, active));
    }

    void access(std::uint32_t, std::size_t, const isa::MemoryAccess&) override {}

    void hand_over(std::uint64_t group, double weight, Found& found) {
        for (std::uint32_t warp = 0; warp < warps_.size(); ++warp) {
            Found::Class& one = found.classes[warps_[warp].key];
            const bool is_first = one.watched == 0 ||
                                  std::tie(group, warp) < std::tie(one.first_group, one.first_warp);
            if (one.watched == 0) {
                one.stream = warps_[warp].folder.folded();
                one.instructions = instructions_;
            }
            if (is_first) std::tie(one.first_group, one.first_warp) = std::tuple(group, warp);
            one.weight += weight;
            ++one.watched;
        }
    }

private:
    struct Warp {
        Folder folder;
        Key key;
    };

    std::uint32_t number(std::uint32_t code, std::uint32_t active) {
        if (code >= numbers_.size()) numbers_.resize(code + 1);
        for (const auto& [mask, known] : numbers_[code])
            if (mask == active) return known;
        const auto fresh = static_cast<std::uint32_t>(instructions_.size());
        numbers_[code].emplace_back(active, fresh);
        instructions_.push_back({code, active});
        return fresh;
    }

    std::vector<Warp> warps_;
    std::vector<StreamInstruction> instructions_;
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> numbers_;  // by code
};

StreamObserver::StreamObserver(std::vector<SampledGroup> groups)
    : groups_(std::move(groups)), found_(std::make_unique<Found>()) {}
StreamObserver::~StreamObserver() = default;

std::unique_ptr<isa::GroupObserver> StreamObserver::begin(std::uint64_t group) {
    if (!std::ranges::binary_search(groups_, group, {}, &SampledGroup::group)) return nullptr;
    return std::make_unique<Recorder>();
}

void StreamObserver::end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) {
    auto* const recorder = dynamic_cast<Recorder*>(observer.get());
    if (!recorder) return;
    const auto sampled = std::ranges::lower_bound(groups_, group, {}, &SampledGroup::group);
    const std::lock_guard lock(mutex_);
    recorder->hand_over(group, sampled->weight, *found_);
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
    std::vector<std::pair<const Key*, const Found::Class*>> sorted;
    for (const auto& [key, one] : found_->classes) sorted.emplace_back(&key, &one);
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
        return std::tuple(-a.second->weight, a.second->first_group, a.second->first_warp) <
               std::tuple(-b.second->weight, b.second->first_group, b.second->first_warp);
    });
    Streams result;
    std::map<StreamInstruction, std::uint32_t> numbers;
    for (const auto& [key, one] : sorted) {
        WarpClass next{.stream = one->stream,
                       .instructions = key->instructions,
                       .weight = one->weight,
                       .watched = one->watched,
                       .first_group = one->first_group,
                       .first_warp = one->first_warp};
        for_each_number(next.stream, [&](std::uint32_t& number) {
            const StreamInstruction what = one->instructions[number];
            const auto [place, is_new] =
                numbers.try_emplace(what, static_cast<std::uint32_t>(numbers.size()));
            if (is_new) result.instructions.push_back(what);
            number = place->second;
        });
        result.classes.push_back(std::move(next));
    }
    return result;
}

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
#include "analysis/tuning/enumeration.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/buffer_fill.h"
#include "core/error.h"
#include "sim/engine/run_progress.h"

namespace occupipe::analysis {
namespace {

constexpr std::size_t most_configurations = std::size_t{1} << 27;  // 1 GiB of numbers

class Walk {
public:
    Walk(const TuningSpace& space, const std::function<bool()>& stop)
        : space_(space), stop_(stop), asked_at_(space.tunables.size() + 1) {
        for (const TuningSpace::Formula& condition : space.conditions) {
            const std::vector<std::string> names = names_in(condition.text);
            std::size_t depth = 0;
            for (std::size_t i = 0; i < space.tunables.size(); ++i)
                if (std::ranges::find(names, space.tunables[i].name) != names.end()) depth = i + 1;
            asked_at_[depth].push_back(&condition);
        }
    }

    std::vector<std::uint64_t> run() {
        combinations(space_);
        if (holds(0)) go_on(0, 0);
        return std::move(found_);
    }

private:
    bool holds(std::size_t depth) const {
        return std::ranges::all_of(asked_at_[depth], [&](const TuningSpace::Formula* one) {
            return fulfils(space_, *one, configuration_);
        });
    }

    void go_on(std::size_t depth, std::uint64_t number) {
        if (depth == space_.tunables.size()) {
            if (found_.size() == most_configurations)
                throw InputError(fmt::format("{}: has more than {} configurations", space_.file,
                                             most_configurations));
            found_.push_back(number);
            return;
        }
        if (stop_ && stop_()) throw Interrupted("while the configurations are counted");
        const TuningSpace::Tunable& tunable = space_.tunables[depth];
        for (std::size_t i = 0; i < tunable.values.size(); ++i) {
            configuration_[tunable.name] = tunable.values[i];
            if (holds(depth + 1)) go_on(depth + 1, number * tunable.values.size() + i);
        }
        configuration_.erase(tunable.name);
    }

    const TuningSpace& space_;
    const std::function<bool()>& stop_;
    std::vector<std::vector<const TuningSpace::Formula*>> asked_at_;  // by tunables with a value
    Configuration configuration_;
    std::vector<std::uint64_t> found_;
};

}  // namespace

std::uint64_t combinations(const TuningSpace& space) {
    constexpr std::uint64_t most = std::uint64_t{1} << 62;
    std::uint64_t product = 1;
    for (const TuningSpace::Tunable& one : space.tunables) {
        if (one.values.size() > most / product)
            throw InputError(fmt::format("{}: has more than 2^62 combinations", space.file));
        product *= one.values.size();
    }
    return product;
}

Configuration configuration_of(const TuningSpace& space, std::uint64_t number) {
    Configuration configuration;
    for (std::size_t i = space.tunables.size(); i-- > 0;) {
        const TuningSpace::Tunable& tunable = space.tunables[i];
        configuration[tunable.name] = tunable.values[number % tunable.values.size()];
        number /= tunable.values.size();
    }
    return configuration;
}

std::vector<std::uint64_t> numbers_of(const TuningSpace& space, const std::function<bool()>& stop) {
    return Walk(space, stop).run();
}

void shuffle(std::vector<std::uint64_t>& numbers, std::uint64_t seed) {
    for (std::size_t i = numbers.size(); i > 1; --i)
        std::swap(numbers[i - 1], numbers[random_bits(seed, i) % i]);
}

}  // namespace occupipe::analysis

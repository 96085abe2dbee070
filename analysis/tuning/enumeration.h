// SPDX-License-Identifier: MIT
// All configurations of a space, without making a list of them: each has a number, its place among
// the combinations of all values, the last tunable's fastest.
//   for (const std::uint64_t number : numbers_of(space)) configuration_of(space, number);
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/tuning/space.h"

namespace occupipe::analysis {

// With those that the conditions exclude. Throws InputError above 2^62.
std::uint64_t combinations(const TuningSpace& space);

// `number`: below combinations().
Configuration configuration_of(const TuningSpace& space, std::uint64_t number);

// Numbers of the configurations that no condition excludes, ascending. A condition is asked as soon
// as the tunables in it have values, so that what it excludes is not gone through one by one.
// `stop`: asked often; true: throws Interrupted. Throws InputError, above 2^27 configurations, too.
std::vector<std::uint64_t> numbers_of(const TuningSpace& space,
                                      const std::function<bool()>& stop = {});

// The same numbers in an order at random: what comes first is a sample of the space.
void shuffle(std::vector<std::uint64_t>& numbers, std::uint64_t seed);

}  // namespace occupipe::analysis

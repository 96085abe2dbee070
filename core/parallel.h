// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

namespace occupipe {

// Runs body(0) … body(count − 1) on all cores, in any order; each writes only to its own place, so
// that the outcome does not depend on the number of threads. When some throw, the exception of the
// lowest index is thrown after all have ended. threads = 0: one per core.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body,
                  unsigned threads = 0);

}  // namespace occupipe

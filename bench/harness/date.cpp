// SPDX-License-Identifier: MIT
#include "bench/harness/date.h"

#include <fmt/chrono.h>

#include <ctime>

namespace occupipe::bench {

std::string date_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00", fmt::gmtime(std::time(nullptr)));
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "core/shard.h"

#include <fmt/format.h>

#include <charconv>

#include "core/error.h"

namespace occupipe {

std::int64_t Shard::first(std::int64_t all) const {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(static_cast<Wide>(all) * (number - 1) / count);
}

std::int64_t Shard::end(std::int64_t all) const { return Shard{number + 1, count}.first(all); }

Shard parse_shard(const std::string& text) {
    Shard shard;
    const char* const end = text.data() + text.size();
    const auto number = std::from_chars(text.data(), end, shard.number);
    bool fine = number.ec == std::errc() && number.ptr != end && *number.ptr == '/';
    if (fine) {
        const auto count = std::from_chars(number.ptr + 1, end, shard.count);
        fine = count.ec == std::errc() && count.ptr == end;
    }
    if (!fine || shard.number < 1 || shard.number > shard.count || shard.count > 1'000'000)
        throw InputError(fmt::format(
            "--shard {}: expected NUMBER/COUNT, such as 2/8, with a number from 1 to the count",
            text));
    return shard;
}

}  // namespace occupipe

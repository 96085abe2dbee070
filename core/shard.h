// SPDX-License-Identifier: MIT
// A part of work that several machines share.
#pragma once

#include <cstdint>
#include <string>

namespace occupipe {

// Shard i of n has what is from ⌊all·(i−1)/n⌋ up to, not including, ⌊all·i/n⌋: shards one after the
// other are the whole.
struct Shard {
    std::int64_t number = 1;  // from 1 on
    std::int64_t count = 1;

    std::int64_t first(std::int64_t all) const;
    std::int64_t end(std::int64_t all) const;
};

// "2/8". Throws InputError, which names --shard.
Shard parse_shard(const std::string& text);

}  // namespace occupipe

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {
namespace {

// Order in which lines follow each other: next[i] is the line after line i. One cycle through all,
// or one for each line.
std::vector<std::uint32_t> line_order(std::size_t lines, bool own_lines, bool random_order,
                                      std::uint64_t seed) {
    std::vector<std::uint32_t> next(lines);
    std::iota(next.begin(), next.end(), 0u);
    if (own_lines) return next;
    if (!random_order) {
        std::rotate(next.begin(), next.begin() + 1, next.end());
        return next;
    }
    std::mt19937_64 engine(seed);
    for (std::size_t i = lines - 1; i > 0; --i) {  // Sattolo's algorithm: a single cycle
        std::swap(next[i], next[engine() % i]);
    }
    return next;
}

}  // namespace

std::vector<std::byte> global_table(const TableRequest& request, bool random_order,
                                    std::uint64_t seed) {
    const std::size_t words = request.bytes / 4;
    std::vector<std::byte> table((words + global_table_slack_words) * 4 +
                                 global_table_operand_bytes);
    if (request.pattern != Pattern::global_chase) {
        std::mt19937 engine(static_cast<std::mt19937::result_type>(seed));
        std::uniform_real_distribution<float> value(-1e-3f, 1e-3f);
        for (std::size_t i = 0; i < table.size(); i += 4) {
            const float v = value(engine);
            std::memcpy(&table[i], &v, 4);
        }
        return table;
    }
    const std::size_t line_words = request.line_bytes / 4;
    const std::vector<std::uint32_t> next =
        line_order(words / line_words, request.own_lines, random_order, seed);
    for (std::size_t word = 0; word < words + global_table_slack_words; ++word) {
        const std::size_t line = (word % words) / line_words;
        const auto v = static_cast<std::uint32_t>(next[line] * line_words + word % line_words);
        std::memcpy(&table[word * 4], &v, 4);
    }
    return table;
}

}  // namespace occupipe::bench

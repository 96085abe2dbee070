// SPDX-License-Identifier: MIT
#include "bench/cuda/proof/ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace occupipe::bench {
namespace {

constexpr std::string_view edges = " \t\r\n{}";  // of a statement

struct Statement {
    std::string label;   // "$L__BB0_3" when this is a label
    std::string opcode;  // "fma.rn.f32"; empty for labels
    std::string target;  // of a branch
    bool by_hand = false;
    bool clock = false;
};

std::string first_word(std::string_view text) {
    return std::string(text.substr(0, text.find_first_of(" \t\r\n")));
}

Statement statement(std::string_view text, bool by_hand) {
    Statement result;
    result.by_hand = by_hand;
    if (text.front() == '@') {
        const std::size_t end = text.find_first_of(" \t");
        text = end == text.npos ? std::string_view{} : trimmed(text.substr(end), edges);
    }
    result.opcode = first_word(text);
    const bool upper_half = text.find("%clock_hi") != text.npos;
    result.clock = text.find("%clock") != text.npos && !upper_half;
    if (result.opcode.starts_with("bra")) {
        result.target = std::string(trimmed(text.substr(result.opcode.size()), edges));
    }
    return result;
}

// One line may hold several statements; inline assembly stands between the compiler's comments.
std::vector<Statement> statements(std::string_view ptx) {
    std::vector<Statement> all;
    bool by_hand = false;
    while (!ptx.empty()) {
        const std::size_t end = std::min(ptx.find('\n'), ptx.size());
        std::string_view line = trimmed(ptx.substr(0, end), edges);
        ptx.remove_prefix(std::min(end + 1, ptx.size()));
        if (line == "// begin inline asm") by_hand = true;
        if (line == "// end inline asm") by_hand = false;
        if (line.starts_with("$") && line.ends_with(":")) {
            line.remove_suffix(1);
            Statement label;
            label.label = std::string(line);
            all.push_back(label);
            continue;
        }
        line = line.substr(0, line.find("//"));
        while (!line.empty()) {
            const std::size_t semicolon = line.find(';');
            const std::string_view one = trimmed(line.substr(0, semicolon), edges);
            line = semicolon == line.npos ? std::string_view{} : line.substr(semicolon + 1);
            // A leading dot is a directive, not an instruction.
            if (semicolon != line.npos && !one.empty() && one.front() != '.') {
                all.push_back(statement(one, by_hand));
            }
        }
    }
    return all;
}

}  // namespace

std::vector<std::size_t> timed_readings(std::vector<std::size_t> readings, bool checkpointed,
                                        std::string_view clock) {
    const std::size_t expected = checkpointed ? 3 : 2;
    if (readings.size() >= expected + start_line_readings)
        readings.erase(readings.begin(), readings.begin() + start_line_readings);
    if (readings.size() != expected)
        throw InputError(fmt::format("{} is read {} times, not {}", clock, readings.size(),
                                     checkpointed ? "three times" : "twice"));
    return readings;
}

PtxCount count_ptx(std::string_view ptx, bool checkpointed) {
    const std::vector<Statement> all = statements(ptx);
    std::vector<std::size_t> clocks;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].clock) clocks.push_back(i);
    }
    clocks = timed_readings(std::move(clocks), checkpointed, "PTX: the clock");
    // The loop around the checkpoint's reading begins in front of it.
    if (checkpointed) clocks.erase(clocks.begin());
    std::size_t first = 0;
    std::size_t last = 0;
    int loops = 0;
    for (std::size_t i = clocks[1]; i-- > clocks[0];) {
        if (all[i].target.empty()) continue;
        for (std::size_t j = clocks[0]; j < i; ++j) {
            if (all[j].label != all[i].target || (loops > 0 && j >= first)) continue;
            first = j;
            last = i;
            ++loops;
        }
    }
    if (loops != 1) {
        throw InputError(fmt::format("PTX: {} loops between the clock readings, not one", loops));
    }
    PtxCount count;
    for (std::size_t i = clocks[0] + 1; i < clocks[1]; ++i) {
        if (all[i].opcode.empty()) continue;
        if (!all[i].by_hand) {
            if (i >= first && i <= last) ++count.by_compiler[all[i].opcode];
            continue;
        }
        ++(i >= first && i <= last ? count.in_loop : count.outside)[all[i].opcode];
    }
    return count;
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "fit/profile/copied_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace occupipe {
namespace {

std::size_t combined(std::size_t a, std::size_t b) {
    return a ^ (b + 0x9e3779b97f4a7c15U + (a << 6U) + (a >> 2U));
}

// All that was measured, as a number; a copy may be written otherwise.
std::size_t values_of(const MeasurementRow& row) {
    const std::hash<double> of;
    std::size_t hash = combined(of(row.cycles.value_or(0)), of(row.seconds));
    row.counters.for_each([&](const std::string& name, double value) {
        hash = combined(combined(hash, std::hash<std::string>()(name)), of(value));
    });
    return hash;
}

std::size_t place_of(const MeasurementRow& row) { return std::hash<std::string>()(row.name()); }

// Each measurement as a number, ascending: a copy may be in another order or with others.
std::vector<std::size_t> marks_of(const MeasurementFile& file) {
    std::vector<std::size_t> marks;
    for (const MeasurementRow& row : file.rows)
        if (!row.error)
            marks.push_back(combined(
                combined(place_of(row), static_cast<std::size_t>(row.repetition)), values_of(row)));
    std::ranges::sort(marks);
    return marks;
}

// Both say when, where or by what they were measured, and not the same.
bool are_different_runs(const MeasurementFile& a, const MeasurementFile& b) {
    constexpr std::array telling = {"date", "host_name", "driver", "occupipe_version"};
    return std::ranges::any_of(telling, [&](const char* key) {
        const auto in_a = a.context.find(key);
        const auto in_b = b.context.find(key);
        return in_a != a.context.end() && in_b != b.context.end() && !in_a->second.empty() &&
               !in_b->second.empty() && in_a->second != in_b->second;
    });
}

// Calls found(a, b, whole) for every two files of which b's measurements are all in a; where they
// have the same, b is the later one.
template <class Found>
void find_copies(std::span<const MeasurementFile> files, const Found& found) {
    if (files.size() < 2) return;
    std::vector<std::vector<std::size_t>> marks;
    for (const MeasurementFile& file : files) marks.push_back(marks_of(file));
    for (std::size_t a = 0; a < files.size(); ++a)
        for (std::size_t b = 0; b < files.size(); ++b) {
            const bool smaller = std::pair(marks[b].size(), a) < std::pair(marks[a].size(), b);
            if (smaller && !marks[b].empty() && std::ranges::includes(marks[a], marks[b]))
                found(files[a], files[b], marks[a].size() == marks[b].size());
        }
}

struct Mark {
    std::size_t place = 0;
    std::size_t values = 0;
    std::uint32_t row = 0;
    std::uint32_t turn = 0;  // in the order that is looked at
};

// Of a row beside the earlier ones of its place.
enum class Beside : std::uint8_t {
    alike,  // all rows of the place are equal, which tells nothing
    none,   // there is no earlier one
    other,  // none of them is equal to the last digit
    equal,  // one is
};

// By turn. `marks` are sorted anew.
std::vector<Beside> beside_earlier(std::vector<Mark>& marks) {
    std::ranges::sort(marks, {},
                      [](const Mark& m) { return std::tuple(m.place, m.values, m.turn); });
    std::vector<Beside> out(marks.size(), Beside::alike);
    for (auto begin = marks.begin(), end = begin; begin != marks.end(); begin = end) {
        end = std::find_if(begin, marks.end(),
                           [&](const Mark& m) { return m.place != begin->place; });
        if (begin->values == std::prev(end)->values) continue;
        const Mark& first = *std::ranges::min_element(begin, end, {}, &Mark::turn);
        for (auto mark = begin; mark != end; ++mark) {
            const bool fresh = mark == begin || std::prev(mark)->values != mark->values;
            out[mark->turn] = fresh ? Beside::other : Beside::equal;
        }
        out[first.turn] = Beside::none;
    }
    return out;
}

struct Block {
    std::uint32_t first_turn = 0;
    std::size_t rows = 0;
};

// The longest run of rows that are equal to earlier ones, where by what the other rows are equal to
// earlier ones of their places no such run is to be expected.
std::optional<Block> copied_block(std::span<const Beside> turns) {
    constexpr double by_chance = 1e-6;
    constexpr std::size_t fewest_others = 20;
    constexpr std::size_t fewest = 8;
    Block longest;
    Block now;
    std::size_t equal = 0;
    std::size_t other = 0;
    for (std::uint32_t turn = 0; turn < turns.size(); ++turn) {
        if (turns[turn] == Beside::alike) continue;
        other += turns[turn] == Beside::other;
        if (turns[turn] != Beside::equal) {
            now = {};
            continue;
        }
        ++equal;
        if (now.rows++ == 0) now.first_turn = turn;
        if (now.rows > longest.rows) longest = now;
    }
    equal -= longest.rows;
    if (longest.rows < fewest || equal + other < fewest_others) return std::nullopt;
    const double chance =
        (static_cast<double>(equal) + 1) / (static_cast<double>(equal + other) + 2);
    const double expected =
        static_cast<double>(turns.size()) * std::pow(chance, static_cast<double>(longest.rows));
    return expected < by_chance ? std::optional(longest) : std::nullopt;
}

std::optional<std::string> copied_part_in_order(const MeasurementFile& file,
                                                std::vector<Mark>& marks) {
    const std::optional<Block> block = copied_block(beside_earlier(marks));
    if (!block) return std::nullopt;
    const auto at = std::ranges::find(marks, block->first_turn, &Mark::turn);
    const MeasurementRow& first = file.rows[at->row];
    return fmt::format(
        "{}: {} rows from {}, repetition {}, on repeat earlier ones of their places to the last "
        "digit, as no others do: a copied part counts twice",
        file.path, block->rows, first.name(), first.repetition);
}

// Copies stand behind what they repeat, or beside it under higher numbers.
std::optional<std::string> copied_part(const MeasurementFile& file) {
    std::vector<Mark> marks;
    marks.reserve(file.rows.size());
    for (std::uint32_t row = 0; row < file.rows.size(); ++row)
        if (const MeasurementRow& one = file.rows[row]; !one.error)
            marks.push_back(
                {place_of(one), values_of(one), row, static_cast<std::uint32_t>(marks.size())});
    if (auto behind = copied_part_in_order(file, marks)) return behind;
    std::ranges::sort(marks, {},
                      [&](const Mark& m) { return std::pair(file.rows[m.row].repetition, m.row); });
    for (std::uint32_t turn = 0; turn < marks.size(); ++turn) marks[turn].turn = turn;
    return copied_part_in_order(file, marks);
}

}  // namespace

void refuse_duplicates(std::span<const MeasurementFile> files) {
    find_copies(files, [](const MeasurementFile& a, const MeasurementFile& b, bool whole) {
        if (whole && !are_different_runs(a, b))
            throw InputError(b.path, SourcePosition{}, "",
                             fmt::format("contains the same measurements as {}; leave one out, or "
                                         "they count twice",
                                         a.path));
    });
}

std::vector<std::string> copies_in(std::span<const MeasurementFile> files) {
    std::vector<std::string> out;
    find_copies(files, [&](const MeasurementFile& a, const MeasurementFile& b, bool whole) {
        out.push_back(
            whole ? fmt::format("{} and {} are equal to the last digit, but of different runs: the "
                                "second says nothing about the scatter",
                                a.path, b.path)
                  : fmt::format("all measurements of {} are in {}, too, and count twice", b.path,
                                a.path));
    });
    for (const MeasurementFile& file : files)
        if (auto part = copied_part(file)) out.push_back(std::move(*part));
    return out;
}

}  // namespace occupipe

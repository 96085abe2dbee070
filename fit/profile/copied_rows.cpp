// SPDX-License-Identifier: MIT
#include "fit/profile/copied_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"

namespace occupipe {
namespace {

std::size_t hash_of(const std::string& text) { return std::hash<std::string>()(text); }

// All that was measured, as a number; a copy may be written otherwise.
std::size_t values_of(const MeasurementRow& row) {
    std::string text = fmt::format("{} {}", row.cycles.value_or(0), row.seconds);
    row.counters.for_each([&](const std::string& name, double value) {
        fmt::format_to(std::back_inserter(text), " {} {}", name, value);
    });
    return hash_of(text);
}

// Each measurement as a number, ascending: a copy may be in another order or with others.
std::vector<std::size_t> marks_of(const MeasurementFile& file) {
    std::vector<std::size_t> marks;
    for (const MeasurementRow& row : file.rows)
        if (!row.error)
            marks.push_back(
                hash_of(fmt::format("{} {} {}", row.name(), row.repetition, values_of(row))));
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

// A row beside the earlier ones of its place.
struct Place {
    std::set<std::size_t> values;
    int repetitions = 0;
};

// Rows in an order, of places whose repetitions are not all equal: whether each has an earlier one
// of its place, and whether one of these is equal to the last digit.
struct Repeated {
    std::size_t row = 0;
    bool has_earlier = false;
    bool equal = false;
};

std::vector<Repeated> repeated_rows(const MeasurementFile& file,
                                    std::span<const std::size_t> order) {
    std::map<std::string, Place> places;
    std::vector<std::string> names(file.rows.size());
    std::vector<std::size_t> values(file.rows.size());
    for (const std::size_t i : order) {
        names[i] = file.rows[i].name();
        values[i] = values_of(file.rows[i]);
        places[names[i]].values.insert(values[i]);
    }
    std::map<std::string, Place> earlier;
    std::vector<Repeated> out;
    for (const std::size_t i : order) {
        if (places.at(names[i]).values.size() < 2) continue;
        Place& before = earlier[names[i]];
        out.push_back({i, before.repetitions > 0, before.values.contains(values[i])});
        before.values.insert(values[i]);
        ++before.repetitions;
    }
    return out;
}

// The longest run of rows that are equal to earlier ones, where by what the other rows are equal to
// earlier ones of their places no such run is to be expected.
std::span<const Repeated> copied_block(std::span<const Repeated> rows) {
    constexpr double by_chance = 1e-6;
    constexpr std::size_t fewest_others = 20;
    constexpr std::size_t fewest = 8;
    std::span<const Repeated> longest;
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end + 1) {
        for (end = begin; end < rows.size() && rows[end].equal;) ++end;
        if (end - begin > longest.size()) longest = rows.subspan(begin, end - begin);
    }
    std::size_t others = 0;
    std::size_t equal = 0;
    for (const Repeated& row : rows) {
        const bool inside =
            !longest.empty() && &row >= longest.data() && &row < longest.data() + longest.size();
        if (inside || !row.has_earlier) continue;
        ++others;
        equal += row.equal;
    }
    if (longest.size() < fewest || others < fewest_others) return {};
    const double chance = (static_cast<double>(equal) + 1) / (static_cast<double>(others) + 2);
    const double expected =
        static_cast<double>(rows.size()) * std::pow(chance, static_cast<double>(longest.size()));
    return expected < by_chance ? longest : std::span<const Repeated>();
}

// Copies stand behind what they repeat, or beside it under higher numbers.
std::optional<std::string> copied_part(const MeasurementFile& file) {
    std::vector<std::size_t> as_written;
    for (std::size_t i = 0; i < file.rows.size(); ++i)
        if (!file.rows[i].error) as_written.push_back(i);
    std::vector<std::size_t> by_repetition = as_written;
    std::ranges::stable_sort(by_repetition, {},
                             [&](std::size_t i) { return file.rows[i].repetition; });
    for (const auto& order : {as_written, by_repetition}) {
        const std::vector<Repeated> rows = repeated_rows(file, order);
        const std::span<const Repeated> block = copied_block(rows);
        if (block.empty()) continue;
        const MeasurementRow& first = file.rows[block.front().row];
        return fmt::format(
            "{}: {} rows from {}, repetition {}, on repeat earlier ones of their places to the "
            "last digit, as no others do: a copied part counts twice",
            file.path, block.size(), first.name(), first.repetition);
    }
    return std::nullopt;
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
                                "second tells nothing of the scatter",
                                a.path, b.path)
                  : fmt::format("all measurements of {} are in {}, too, and count twice", b.path,
                                a.path));
    });
    for (const MeasurementFile& file : files)
        if (auto part = copied_part(file)) out.push_back(std::move(*part));
    return out;
}

}  // namespace occupipe

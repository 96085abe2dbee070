// SPDX-License-Identifier: MIT
// One row of a measurement file, whatever its entries are kept in: a part of a document, which
// knows where everything stands, or views into the text.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/measurement.h"
#include "core/name_rules.h"

namespace occupipe {

// Keys of a row that mean something beside being counters; their names stand in the same order.
enum class RowKey {
    name,
    run_type,
    group_warps,
    concurrent_groups,
    chains,
    depth,
    warps,
    beta,
    repetition_index,
    error_occurred,
    error_message,
    cycles,
    clock_hz,
    real_time,
    time_unit,
};
inline constexpr std::array<std::string_view, 15> row_key_names = {
    "name",          "run_type", "group_warps", "concurrent_groups", "chains",
    "depth",         "warps",    "beta",        "repetition_index",  "error_occurred",
    "error_message", "cycles",   "clock_hz",    "real_time",         "time_unit"};

constexpr std::string_view name_of(RowKey key) {
    return row_key_names[static_cast<std::size_t>(key)];
}

// Numbers that Google Benchmark itself puts into a row; all others are counters.
inline constexpr std::array<std::string_view, 8> own_numbers = {
    "family_index", "per_family_instance_index",
    "repetitions",  "repetition_index",
    "threads",      "iterations",
    "real_time",    "cpu_time"};

// `Row` has Value, find(key) → Value*, required(key), text(value) of a quoted value, plain(value)
// as it is written, number(value), integer(value, from, to), boolean(value), counters(), and
// fail(value, reason), which throws.
template <typename Row>
class RowReader {
public:
    using Value = typename Row::Value;

    explicit RowReader(const Row& row) : row_(row) {}

    // Rows that sum up others are left out.
    bool is_aggregate() const {
        const Value* const type = row_.find(RowKey::run_type);
        return type != nullptr && row_.text(*type) == "aggregate";
    }

    MeasurementRow read() const {
        MeasurementRow row;
        const Value& name = row_.required(RowKey::name);
        const std::string_view written = row_.text(name);
        row.subject = written.substr(0, written.find('/'));
        if (row.subject.empty()) {
            row_.fail(name, "names no instruction");
        }
        row.counters = row_.counters();
        constexpr std::int64_t int_max = std::numeric_limits<int>::max();
        row.shape.group_warps = static_cast<int>(shape(RowKey::group_warps, int_max));
        row.shape.concurrent_groups = static_cast<int>(shape(RowKey::concurrent_groups, int_max));
        row.shape.chains = static_cast<int>(shape(RowKey::chains, int_max));
        row.shape.depth = shape(RowKey::depth, std::int64_t{1} << 53U);  // exact in a double
        if (row.shape.group_warps > int_max / row.shape.concurrent_groups) {
            row_.fail(name, "has too many warps");
        }
        agree(RowKey::warps, row.shape.warps());
        if (written != row.name()) row.other_name = written;
        row.beta = beta(name, row.subject);
        if (const Value* repetition = row_.find(RowKey::repetition_index)) {
            row.repetition = static_cast<int>(row_.integer(*repetition, 0, int_max));
        }
        row.error = error();
        if (!row.error) {
            row.cycles = positive(RowKey::cycles);
            row.clock_hz = positive(RowKey::clock_hz);
            row.seconds = seconds();
        }
        return row;
    }

private:
    // A counter that counts; Google Benchmark writes all counters as floating point.
    std::int64_t whole(const Value& entry, std::int64_t at_most) const {
        const double value = row_.number(entry);
        if (value < 1 || value > static_cast<double>(at_most) || value != std::floor(value)) {
            row_.fail(entry, fmt::format("must be a whole number from 1 to {}, not {}", at_most,
                                         row_.plain(entry)));
        }
        return static_cast<std::int64_t>(value);
    }

    // One number of the shape, from the counter, the name ("…/chains:4/…") or both.
    std::int64_t shape(RowKey key, std::int64_t at_most) const {
        const auto in_name = from_name(row_.required(RowKey::name), name_of(key), at_most);
        if (const Value* counter = row_.find(key)) {
            const std::int64_t value = whole(*counter, at_most);
            if (in_name && *in_name != value) {
                row_.fail(*counter, fmt::format("is {} here, but {} in the name", value, *in_name));
            }
            return value;
        }
        if (!in_name) {
            row_.required(key);
        }
        return in_name.value();
    }

    std::optional<std::int64_t> from_name(const Value& name, std::string_view key,
                                          std::int64_t at_most) const {
        std::string_view rest = row_.text(name);
        std::optional<std::int64_t> found;
        for (auto slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
            rest.remove_prefix(slash + 1);
            const std::string_view part = rest.substr(0, rest.find('/'));
            const auto colon = part.find(':');
            if (colon == std::string_view::npos || part.substr(0, colon) != key) {
                continue;
            }
            const std::string_view digits = part.substr(colon + 1);
            std::int64_t value = 0;
            const auto [stop, fault] =
                std::from_chars(digits.data(), digits.data() + digits.size(), value);
            if (fault != std::errc{} || stop != digits.data() + digits.size() || value < 1 ||
                value > at_most) {
                row_.fail(name, fmt::format("{}: '{}' is not a whole number from 1 to {}", key,
                                            digits, at_most));
            }
            if (found && *found != value) {
                row_.fail(name, fmt::format("duplicate {}", key));
            }
            found = value;
        }
        return found;
    }

    void agree(RowKey key, std::int64_t expected) const {
        if (const Value* entry = row_.find(key)) {
            const std::int64_t value = whole(*entry, std::numeric_limits<int>::max());
            if (value != expected) {
                row_.fail(*entry, fmt::format("is {} here, but {} according to the rest of the row",
                                              value, expected));
            }
        }
    }

    std::optional<int> beta(const Value& name, const std::string& subject) const {
        const auto mix = parse_mix(subject);
        if (mix) {
            agree(RowKey::beta, mix->beta);
            return mix->beta;
        }
        if (subject.starts_with("mix(")) {
            row_.fail(name, fmt::format("'{}' is not mix(A*BETA,B)", subject));
        }
        if (const auto fault = name_fault(subject)) {
            row_.fail(name, fmt::format("instruction '{}': {}", subject, *fault));
        }
        if (const Value* entry = row_.find(RowKey::beta)) {
            row_.fail(*entry, fmt::format("'{}' is not a mix", subject));
        }
        return std::nullopt;
    }

    std::optional<std::string> error() const {
        const Value* const occurred = row_.find(RowKey::error_occurred);
        if (occurred == nullptr || !row_.boolean(*occurred)) {
            return std::nullopt;
        }
        const Value* const message = row_.find(RowKey::error_message);
        return message != nullptr ? std::string(row_.text(*message)) : "no reason given";
    }

    std::optional<double> positive(RowKey key) const {
        const Value* const entry = row_.find(key);
        if (entry == nullptr) {
            return std::nullopt;
        }
        const double value = row_.number(*entry);
        if (value <= 0) {
            row_.fail(*entry, fmt::format("must be positive, not {} (leave it out if it is "
                                          "not known)",
                                          row_.plain(*entry)));
        }
        return value;
    }

    double seconds() const {
        const Value& time = row_.required(RowKey::real_time);
        const double value = row_.number(time);
        if (value < 0) {
            row_.fail(time, fmt::format("must not be negative, not {}", row_.plain(time)));
        }
        const Value& unit = row_.required(RowKey::time_unit);
        constexpr std::array<std::pair<std::string_view, double>, 4> units = {
            {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}}};
        for (const auto& [name, per_second] : units) {
            if (row_.text(unit) == name) {
                return value / per_second;
            }
        }
        row_.fail(unit, fmt::format("'{}' is not one of ns, us, ms, s", row_.plain(unit)));
    }

    const Row& row_;
};

}  // namespace occupipe

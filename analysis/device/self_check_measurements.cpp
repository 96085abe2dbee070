// SPDX-License-Identifier: MIT
// The part of the self-check that looks into measurement files, receipts and profiler output.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "analysis/device/self_check_parts.h"
#include "core/error.h"
#include "core/statistics.h"
#include "fit/curves/counters.h"

namespace occupipe::analysis {
namespace {

constexpr double clock_tolerance = 0.01;
constexpr std::string_view counted_prefix = "counted_latency.";
constexpr std::string_view not_measured_prefix = "not_measured.";

// The whole numbers in a text, in order; stops at one that is too large.
std::vector<int> numbers_in(std::string_view text) {
    std::vector<int> numbers;
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t i = 0; i < text.size();) {
        if (!digit(text[i])) {
            ++i;
            continue;
        }
        int value = 0;
        const auto [end, fault] =
            std::from_chars(text.data() + i, text.data() + text.size(), value);
        if (fault != std::errc()) return {};
        numbers.push_back(value);
        i = static_cast<std::size_t>(end - text.data());
    }
    return numbers;
}

// "4", "4 to 6"
std::optional<CountedLatency> parse_count(std::string_view text) {
    const std::vector<int> numbers = numbers_in(text);
    if (numbers.empty() || numbers.size() > 2 || numbers.front() < 1) return std::nullopt;
    const CountedLatency count{numbers.front(), numbers.back(),
                               static_cast<double>(numbers.front())};
    const std::string expected = numbers.size() == 1
                                     ? fmt::format("{}", count.least)
                                     : fmt::format("{} to {}", count.least, count.most);
    if (text != expected || count.most < count.least) return std::nullopt;
    return count;
}

// "6 (63 times), 10 (64 times)"
std::optional<CountedLatency> parse_distribution(std::string_view text) {
    const std::vector<int> numbers = numbers_in(text);
    if (numbers.empty() || numbers.size() % 2 != 0) return std::nullopt;
    std::string expected;
    CountedLatency count{numbers[0], numbers[0], 0};
    double cycles = 0;
    double steps = 0;
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
        if (numbers[i] < 1 || numbers[i + 1] < 1) return std::nullopt;
        expected += fmt::format("{}{} ({} times)", i > 0 ? ", " : "", numbers[i], numbers[i + 1]);
        count.least = std::min(count.least, numbers[i]);
        count.most = std::max(count.most, numbers[i]);
        cycles += static_cast<double>(numbers[i]) * numbers[i + 1];
        steps += numbers[i + 1];
    }
    if (text != expected) return std::nullopt;
    count.mean = cycles / steps;
    return count;
}

// The text between the two; nullopt if they are missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before,
                                        std::string_view after) {
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t begin = at + before.size();
    const std::size_t line_end = std::min(text.find('\n', begin), text.size());
    const std::size_t end = text.find(after, begin);
    if (end == std::string_view::npos || end > line_end) return std::nullopt;
    return text.substr(begin, end - begin);
}

std::optional<double> positive_in(const MeasurementFile& file, const std::string& key) {
    const auto found = file.context.find(key);
    if (found == file.context.end()) return std::nullopt;
    const std::string& text = found->second;
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size() || !(value > 0) ||
        !std::isfinite(value))
        return std::nullopt;
    return value;
}

// Launches, empty loops and working-set curves: not among a profile's instructions.
bool is_no_instruction(const MeasurementRow& row) {
    constexpr std::array counters = {launches_counter,        awaited_launches_counter,
                                     graph_launches_counter,  launch_groups_counter,
                                     loop_iterations_counter, working_set_counter};
    return std::ranges::any_of(counters,
                               [&](const char* name) { return row.counters.contains(name); });
}

// Measured clocks by subject.
std::map<std::string, std::vector<double>> clocks_of(std::span<const MeasurementFile> files) {
    std::map<std::string, std::vector<double>> clocks;
    for (const MeasurementFile& file : files)
        for (const MeasurementRow& row : file.rows)
            if (row.clock_hz && !row.error) clocks[row.subject].push_back(*row.clock_hz);
    return clocks;
}

}  // namespace

CountedLatencies counted_latencies(const MeasurementFile& file) {
    CountedLatencies all;
    for (auto it = file.context.lower_bound(std::string(counted_prefix));
         it != file.context.end() && it->first.starts_with(counted_prefix); ++it) {
        const auto count = parse_count(it->second);
        if (!count)
            throw InputError(
                file.path, {}, "context." + it->first,
                fmt::format("'{}' is neither a number of cycles nor 'A to B'", it->second));
        all.emplace(it->first.substr(counted_prefix.size()), *count);
    }
    return all;
}

std::optional<std::pair<std::string, CountedLatency>> counted_latency_of_receipt(
    std::string_view receipt) {
    const std::size_t head = receipt.find(" chains:1 ");
    const std::size_t end = receipt.find('\n');
    if (head == std::string_view::npos || end == std::string_view::npos || head > end)
        return std::nullopt;
    const std::string subject(receipt.substr(0, head));
    if (parse_mix(subject)) return std::nullopt;
    std::optional<CountedLatency> count;
    if (const auto all = between(receipt, "the assembler counts from step to step: ", " cycles"))
        count = parse_distribution(*all);
    else if (const auto one = between(receipt, "the assembler counts ", " cycles"))
        count = parse_count(*one);
    if (!count) return std::nullopt;
    return std::pair(subject, *count);
}

std::optional<int> access_bytes(std::string_view instruction) {
    int lanes = 1;
    std::optional<int> bytes;
    std::size_t begin = 0;
    while (begin <= instruction.size()) {
        const std::size_t end = std::min(instruction.find('.', begin), instruction.size());
        const std::string_view part = instruction.substr(begin, end - begin);
        begin = end + 1;
        if (part.size() < 2) continue;
        int number = 0;
        const auto [stop, fault] =
            std::from_chars(part.data() + 1, part.data() + part.size(), number);
        if (fault != std::errc() || stop != part.data() + part.size()) continue;
        if (part.front() == 'v' && number > 0 && number <= 16) lanes = number;
        const bool type = std::string_view("fusb").find(part.front()) != std::string_view::npos;
        if (type && number >= 8 && number <= 128 && number % 8 == 0) bytes = number / 8;
    }
    return bytes ? std::optional(*bytes * lanes) : std::nullopt;
}

std::optional<double> peak_bandwidth_of_bus(const MeasurementFile& file) {
    const auto clock = positive_in(file, "memory_clock_hz");
    const auto bits = positive_in(file, "memory_bus_bits");
    if (!clock || !bits) return std::nullopt;
    return 2 * *clock * *bits / 8;
}

void check_clock(const SelfCheckInput& input, Comparison& out) {
    const auto clocks = clocks_of(input.measurements);
    if (clocks.empty())
        return out.skip(Check::clock, "no measurements with a measured clock were given");
    std::vector<double> all;
    for (const auto& [subject, values] : clocks)
        all.insert(all.end(), values.begin(), values.end());
    const double usual = median(all);
    const auto clock = [](const std::string& subject, double value) {
        return Compared{.check = Check::clock,
                        .subject = subject,
                        .quantity = "clock",
                        .unit = "MHz",
                        .measured = exact(value / 1e6)};
    };
    std::size_t moved = 0;
    for (const auto& [subject, values] : clocks) {
        Compared one = clock(subject, median(values));
        one.reference = {usual / 1e6, usual / 1e6};
        one.source = "the median of all rows";
        if (Comparison::side_of(one, clock_tolerance) == Side::inside) continue;
        ++moved;
        out.find(std::move(one), "measured at another clock than the other rows",
                 "A power or thermal limit, or a clock that had not settled. λ and Λ inside a core "
                 "are in cycles and unaffected; latencies and rates of memory are affected.",
                 "power, temperature and throttle reasons during the run");
    }
    Compared stated = clock({}, input.profile.clock_hz);
    stated.reference = {usual / 1e6, usual / 1e6};
    stated.source = "the median of all rows";
    if (Comparison::side_of(stated, clock_tolerance) != Side::inside)
        out.find(std::move(stated), "the profile states another clock than its rows measured",
                 "The profile was not fitted to these measurements, or the nominal clock was used.",
                 "clock_hz of the profile and of the rows");
    else if (moved == 0)
        out.agree(std::move(stated));
}

void check_profiled(const SelfCheckInput& input, Comparison& out) {
    if (input.profiled.empty())
        return out.skip(Check::profiler, "no output of Nsight Compute was given");
    for (const NcuPoint& point : input.profiled) {
        const double* const executed = find_metric(point.kernel, "inst_executed.sum");
        if (executed == nullptr) {
            out.skip(Check::profiler, point.subject + ": inst_executed.sum was not collected");
            continue;
        }
        const double per_warp =
            static_cast<double>(point.shape.depth) * static_cast<double>(point.shape.chains);
        Compared count{.check = Check::profiler,
                       .subject = point.subject,
                       .quantity = "instructions executed",
                       .unit = "warp-instructions",
                       .source = "depth × chains × warps × cores"};
        count.measured = exact(*executed);
        const double claimed = per_warp * point.shape.warps() * input.profile.cores;
        count.reference = {claimed, std::numeric_limits<double>::infinity()};
        if (Comparison::side_of(count, 1e-6) == Side::below)
            out.find(std::move(count), "fewer instructions were executed than the row states",
                     "Steps were merged or removed, or fewer groups ran than intended.",
                     fmt::format("`occupipe explain {}`; the launch in the profiler's output",
                                 point.subject));
        else
            out.agree(std::move(count));
    }
}

void check_missing(const SelfCheckInput& input, Comparison& out) {
    // Rows that a device does not support are not expected; their reason is reported elsewhere.
    std::map<std::string, std::string> reasons;
    std::set<std::string> measured;
    std::set<std::string> wanted(input.expected.begin(), input.expected.end());
    for (const MeasurementFile& file : input.measurements) {
        for (const auto& [key, value] : file.context)
            if (key.starts_with(not_measured_prefix))
                reasons[key.substr(not_measured_prefix.size())] = value;
        for (const MeasurementRow& row : file.rows) {
            if (parse_mix(row.subject) || is_no_instruction(row)) continue;
            if (row.error) reasons.emplace(row.subject, *row.error);
            if (!row.error) measured.insert(row.subject);
            wanted.insert(row.subject);
        }
    }
    std::vector<std::string> absent;
    for (const std::string& name : wanted) {
        if (input.profile.find_instruction(name) != nullptr) continue;
        const auto reason = reasons.find(name);
        absent.push_back(measured.contains(name)   ? name + " (measured, not fitted)"
                         : reason != reasons.end() ? fmt::format("{} ({})", name, reason->second)
                                                   : name);
    }
    if (wanted.empty())
        return out.skip(Check::missing, "the rows that the device should have are unknown");
    Compared count{.check = Check::missing,
                   .subject = {},
                   .quantity = "rows in the profile",
                   .unit = "rows",
                   .source = "the table of instructions and the measurement files"};
    const auto all = static_cast<double>(wanted.size());
    count.measured = exact(all - static_cast<double>(absent.size()));
    count.reference = {all, all};
    if (absent.empty()) return out.agree(std::move(count));
    out.find(std::move(count),
             fmt::format("{} of {} rows are absent", absent.size(), wanted.size()),
             fmt::format("Absent: {}.", fmt::join(absent, "; ")),
             "`not_measured` in the file's context, error rows, the fit's table");
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "bench/offline/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "bench/harness/point_counters.h"
#include "core/error.h"
#include "core/files/csv.h"

namespace occupipe::bench {
namespace {

constexpr std::array columns = {
    "point",        "repetition",      "kernel",   "grid",        "block",     "groups_per_core",
    "shared_bytes", "arguments",       "in_bytes", "in_contents", "out_bytes", "out_contents",
    "stamps_bytes", "stamps_contents", "expected", "beside",      "counters",  "cycles"};
// Tables of dumps made before it existed are without this column.
constexpr std::string_view later_column = "beside";

// Memory walks of successive repetitions start this many lines apart (sampler.cpp does the same).
constexpr int lines_between_repetitions = 7919;

std::string joined(const std::vector<std::string>& fields) {
    std::string line;
    for (const std::string& field : fields) {
        line += (line.empty() ? "" : ",") + csv_text(field);
    }
    return line + "\n";
}

std::string row_of(const CarriedLaunch& launch, const DeviceFacts& facts, int repetition) {
    const MeasurementShape& shape = launch.point.shape;
    const auto iterations = shape.depth / launch.point.plan.unroll;
    const int groups = facts.cpu ? 1 : facts.cores * shape.concurrent_groups;
    const int threads = shape.group_warps * facts.warp_size;
    const std::size_t warps = static_cast<std::size_t>(groups) * shape.group_warps;
    const std::size_t out =
        static_cast<std::size_t>(groups) * threads * type_size(launch.point.plan.first->type);
    const auto counted = [&](const std::map<std::string, std::int64_t>& counts) {
        std::string text;
        for (const auto& [opcode, count] : counts)
            text += fmt::format("{}{}={}", text.empty() ? "" : ";", opcode, count * iterations);
        return text;
    };
    std::string counters;
    for (const auto& [name, value] : point_counters(launch.point, facts.cores)) {
        counters += fmt::format("{}{}={}", counters.empty() ? "" : ";", name, value);
    }
    return joined({launch.point.name(), std::to_string(repetition), launch.kernel,
                   std::to_string(groups), std::to_string(threads),
                   std::to_string(facts.cpu ? 1 : shape.concurrent_groups),
                   std::to_string(launch.shared_bytes),
                   fmt::format("in;out;stamps;s32={};u32={}{}", iterations,
                               repetition * lines_between_repetitions,
                               facts.backend == "opencl" ? ";local" : ""),
                   std::to_string(launch.in.bytes), launch.in.contents, std::to_string(out),
                   "poison", std::to_string(warps * launch.stamp_bytes), "zero",
                   counted(launch.counts), counted(launch.beside), counters, ""});
}

class Reader {
public:
    Reader(const std::string& file_name, bool partial) : file_name_(file_name), partial_(partial) {}

    std::vector<ReturnedTime> read(const std::vector<CsvRecord>& records) {
        std::vector<ReturnedTime> times;
        check_header(records.front());
        for (std::size_t i = 1; i < records.size(); ++i) {
            const CsvRecord& record = records[i];
            if (cell(record, "cycles").empty() && partial_) continue;
            times.push_back(time(record));
        }
        if (times.empty())
            fail(records.back().line, "cycles", "no row has a number here; fill in the cycles");
        return times;
    }

private:
    [[noreturn]] void fail(int line, const std::string& key, const std::string& reason) const {
        throw InputError(file_name_, {line, 0}, key, reason);
    }

    void check_header(const CsvRecord& header) {
        names_.assign(columns.begin(), columns.end());
        if (std::ranges::find(header.fields, later_column) == header.fields.end())
            std::erase(names_, later_column);
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const std::string found = i < header.fields.size() ? header.fields[i] : "";
            if (found != names_[i]) {
                fail(header.line, names_[i],
                     fmt::format("column {} is '{}'; keep the columns of the dump", i + 1, found));
            }
        }
        if (header.fields.size() > names_.size()) {
            fail(header.line, header.fields[names_.size()], "is not a column of a dump; remove it");
        }
    }

    const std::string& cell(const CsvRecord& record, std::string_view column) const {
        const auto at = std::ranges::find(names_, column);
        return record.fields[static_cast<std::size_t>(at - names_.begin())];
    }

    double number(const CsvRecord& record, const std::string& key, std::string_view text) const {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
            fail(record.line, key, fmt::format("'{}' is not a number", text));
        }
        return value;
    }

    ReturnedTime time(const CsvRecord& record) {
        ReturnedTime one;
        one.line = record.line;
        one.point = cell(record, "point");
        const double repetition = number(record, "repetition", cell(record, "repetition"));
        if (repetition < 0 || repetition > 1e6 || repetition != std::floor(repetition)) {
            fail(record.line, "repetition", "is not a whole number of at least 0");
        }
        one.repetition = static_cast<int>(repetition);
        if (!seen_.emplace(one.point, one.repetition).second) {
            fail(record.line, "point",
                 fmt::format("duplicate repetition {} of {}", one.repetition, one.point));
        }
        const std::string& cycles = cell(record, "cycles");
        if (cycles.empty()) fail(record.line, "cycles", "is not filled in");
        one.cycles = number(record, "cycles", cycles);
        if (one.cycles <= 0) {
            fail(record.line, "cycles", fmt::format("must be positive, not {}", cycles));
        }
        one.counters = counters(record);
        return one;
    }

    std::map<std::string, double> counters(const CsvRecord& record) const {
        std::map<std::string, double> found;
        std::string_view rest = cell(record, "counters");
        while (!rest.empty()) {
            const std::string_view entry = rest.substr(0, rest.find(';'));
            rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
            const auto equals = entry.find('=');
            const std::string name(entry.substr(0, equals));
            if (equals == entry.npos || name.empty()) {
                fail(record.line, "counters", fmt::format("'{}' is not NAME=NUMBER", entry));
            }
            found[name] = number(record, "counters", entry.substr(equals + 1));
        }
        return found;
    }

    const std::string& file_name_;
    bool partial_;
    std::vector<std::string> names_;  // of the columns that the table has
    std::set<std::pair<std::string, int>> seen_;
};

}  // namespace

std::string format_launches(const std::vector<CarriedLaunch>& launches, const DeviceFacts& facts,
                            int repetitions) {
    std::string text = joined({columns.begin(), columns.end()});
    for (const CarriedLaunch& launch : launches) {
        for (int r = 0; r < repetitions; ++r) text += row_of(launch, facts, r);
    }
    return text;
}

std::vector<ReturnedTime> parse_launches(const std::string& text, const std::string& file_name,
                                         bool partial) {
    return Reader(file_name, partial).read(parse_csv(text, file_name));
}

}  // namespace occupipe::bench

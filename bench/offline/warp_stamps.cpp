// SPDX-License-Identifier: MIT
#include "bench/offline/warp_stamps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/files/csv.h"
#include "core/running_warps.h"

namespace occupipe::bench {
namespace {

constexpr std::array columns = {"point", "repetition",   "core",         "scheduler",   "start",
                                "stop",  "checkpoint_1", "checkpoint_2", "checkpoint_3"};
// Files without checkpoints have these alone.
constexpr std::size_t plain_columns = 6;
constexpr double same_time = 0.02;

struct CoreWarps {
    std::vector<double> starts;
    std::vector<double> stops;
    std::vector<int> scheduler_of;
    std::vector<WarpTimes> checkpointed;  // empty, or one for each warp
    int line = 0;

    double cycles() const { return std::ranges::max(stops) - std::ranges::min(starts); }
};

class StampsReader {
public:
    explicit StampsReader(const std::string& file_name) : file_name_(file_name) {}

    [[noreturn]] void fail(int line, const std::string& key, const std::string& reason) const {
        throw InputError(file_name_, {line, 0}, key, reason);
    }

    double number(const CsvRecord& record, std::size_t column) const {
        const std::string& text = record.fields[column];
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
            value < 0)
            fail(record.line, columns[column], fmt::format("'{}' is not a number from 0 on", text));
        return value;
    }

    using Launch = std::pair<std::string, int>;
    std::map<Launch, std::map<int, CoreWarps>> read(const std::vector<CsvRecord>& records) const {
        const auto& header = records.front().fields;
        const bool known = (header.size() == plain_columns || header.size() == columns.size()) &&
                           std::equal(header.begin(), header.end(), columns.begin());
        if (!known)
            fail(records.front().line, "point",
                 "the columns are point, repetition, core, scheduler, start and stop, and for "
                 "checkpointed kernels checkpoint_1, checkpoint_2 and checkpoint_3");
        std::map<Launch, std::map<int, CoreWarps>> out;
        for (std::size_t i = 1; i < records.size(); ++i) {
            const CsvRecord& record = records[i];
            const Launch launch{record.fields[0], static_cast<int>(number(record, 1))};
            CoreWarps& core = out[launch][static_cast<int>(number(record, 2))];
            core.line = record.line;
            core.scheduler_of.push_back(
                record.fields[3].empty() ? 0 : static_cast<int>(number(record, 3)));
            core.starts.push_back(number(record, 4));
            core.stops.push_back(number(record, 5));
            if (core.stops.back() <= core.starts.back())
                fail(record.line, "stop", "is not after start");
            add_checkpoints(record, core);
        }
        return out;
    }

private:
    // All three readings of a warp or none.
    void add_checkpoints(const CsvRecord& record, CoreWarps& core) const {
        if (record.fields.size() <= plain_columns) return;
        WarpTimes times{.start = core.starts.back(), .checkpoints = {}, .stop = core.stops.back()};
        double last = times.start;
        for (std::size_t i = plain_columns; i < columns.size(); ++i) {
            if (record.fields[i].empty()) continue;
            times.checkpoints.push_back(number(record, i));
            if (times.checkpoints.back() <= last || times.checkpoints.back() >= times.stop)
                fail(record.line, columns[i], "the readings of a warp do not ascend");
            last = times.checkpoints.back();
        }
        if (times.checkpoints.empty()) return;
        if (times.checkpoints.size() != columns.size() - plain_columns)
            fail(record.line, columns[plain_columns], "a warp has all checkpoints or none");
        core.checkpointed.push_back(std::move(times));
    }

    const std::string& file_name_;
};

// The window of a launch whose kernel noted the clock on its way; its row says so.
void add_window(const CoreWarps& core, ReturnedTime& time, const StampsReader& reader) {
    if (core.checkpointed.empty()) return;
    if (!time.counters.contains(checkpoints_counter))
        reader.fail(core.line, columns[plain_columns], "this launch's kernel has no checkpoints");
    if (core.checkpointed.size() != core.starts.size())
        reader.fail(core.line, columns[plain_columns], "some warps of the core have none");
    const double instructions = time.counters["depth"] * time.counters["chains"];
    if (!(instructions > 0))
        reader.fail(core.line, "point", "depth and chains are not among the launch's counters");
    time.counters.merge(window_counters(core.checkpointed, instructions));
}

}  // namespace

void add_warp_stamps(const std::string& text, const std::string& file_name,
                     std::vector<ReturnedTime>& times) {
    const StampsReader reader(file_name);
    auto launches = reader.read(parse_csv(text, file_name));
    for (ReturnedTime& time : times) {
        const auto found = launches.find({time.point, time.repetition});
        if (found == launches.end()) continue;
        const auto off = [&](const auto& core) {
            return std::abs(core.second.cycles() - time.cycles);
        };
        const CoreWarps& core = std::ranges::min_element(found->second, {}, off)->second;
        if (std::abs(core.cycles() - time.cycles) > same_time * time.cycles)
            reader.fail(core.line, "stop",
                        fmt::format("from first start to last stop no core takes the {:g} cycles "
                                    "of the launch",
                                    time.cycles));
        const auto [first, last] = std::ranges::minmax(core.starts);
        time.counters["start_skew_cycles"] = last - first;
        time.counters.merge(running_counters(core.starts, core.stops, core.scheduler_of));
        add_window(core, time, reader);
        launches.erase(found);
    }
    if (launches.empty()) return;
    const auto& [launch, cores] = *launches.begin();
    reader.fail(cores.begin()->second.line, "point",
                fmt::format("repetition {} of {} is not a launch with cycles", launch.second,
                            launch.first));
}

}  // namespace occupipe::bench

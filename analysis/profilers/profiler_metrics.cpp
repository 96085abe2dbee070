// SPDX-License-Identifier: MIT
#include "analysis/profilers/profiler_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/profilers/ncu_report.h"
#include "analysis/profilers/profiler_csv.h"
#include "core/error.h"
#include "core/files/document.h"

namespace occupipe::analysis {
namespace {

struct Metric {
    std::string_view name;
    double each = 1;  // what one of it is in the parameter's unit
};

// The first of each list that the file has. nvprof: names as in Table 1 of the paper, and the
// descriptions that head the columns of its traces. ncu: the metric of the same meaning; "sm__" may
// stand for "smsp__". From compute capability 12.0 on, DRAM's have "op".
struct Row {
    std::optional<double> KernelParameters::*value;
    bool needed = true;
    std::vector<Metric> nvprof;
    std::vector<Metric> ncu;
};

const std::vector<Row>& rows() {
    using K = KernelParameters;
    constexpr double sector = 32;  // bytes
    static const std::vector<Row> all = {
        {&K::fp32_fma,
         true,
         {{"flop_count_sp_fma"}, {"Floating Point Operations(Single Precision FMA)"}},
         {{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"}}},
        {&K::fp64_fma,
         true,
         {{"flop_count_dp_fma"}, {"Floating Point Operations(Double Precision FMA)"}},
         {{"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"}}},
        {&K::load_store,
         true,
         {{"inst_compute_ld_st"}, {"Load/Store Instructions"}},
         {{"smsp__sass_thread_inst_executed_op_memory_pred_on.sum"}}},
        {&K::warp_instructions,
         true,
         {{"inst_executed"}, {"Instructions Executed"}},
         {{"smsp__inst_executed.sum"}}},
        {&K::fp32,
         true,
         {{"inst_fp_32"}, {"FP Instructions(Single)"}},
         {{"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"}}},
        {&K::fp64,
         true,
         {{"inst_fp_64"}, {"FP Instructions(Double)"}},
         {{"smsp__sass_thread_inst_executed_op_fp64_pred_on.sum"}}},
        {&K::integer,
         true,
         {{"inst_integer"}, {"Integer Instructions"}},
         {{"smsp__sass_thread_inst_executed_op_integer_pred_on.sum"}}},
        {&K::dram_read_sectors,
         true,
         {{"dram_read_transactions"}, {"Device Memory Read Transactions"}},
         {{"dram__sectors_read.sum"},
          {"dram__sectors_op_read.sum"},
          {"dram__bytes_read.sum", 1 / sector},
          {"dram__bytes_op_read.sum", 1 / sector}}},
        {&K::dram_write_sectors,
         true,
         {{"dram_write_transactions"}, {"Device Memory Write Transactions"}},
         {{"dram__sectors_write.sum"},
          {"dram__sectors_op_write.sum"},
          {"dram__bytes_write.sum", 1 / sector},
          {"dram__bytes_op_write.sum", 1 / sector}}},
        {&K::l2_sectors, false, {}, {{"lts__t_sectors.sum"}}},
        {&K::seconds, false, {}, {{"gpu__time_duration.sum"}}},
    };
    return all;
}

// What a profiler says of the launches of one kernel on one device.
struct Found {
    struct Value {
        double sum = 0;  // over launches
        double launches = 0;
        int line = 0;
        std::string fault;  // why there is no number
    };
    std::string kernel;
    std::string device;
    int line = 0;
    double launches = 1;
    std::map<std::string, Value> values;
    std::set<std::string> sizes;  // of its launches
};

void add_value(Found& found, const std::string& metric, const std::string& text, double launches,
               int line) {
    Found::Value& value = found.values[metric];
    if (value.line == 0) value.line = line;
    const auto read = profiler_number(text);
    if (!read) {
        value.fault = text.empty() ? "there is nothing in its place"
                                   : fmt::format("'{}' is not a number", text);
        value.line = line;
        return;
    }
    value.sum += *read * launches;
    value.launches += launches;
}

Found& entry(std::vector<Found>& all, const std::string& kernel, const std::string& device,
             int line) {
    const auto same = std::ranges::find_if(
        all, [&](const Found& one) { return one.kernel == kernel && one.device == device; });
    if (same != all.end()) return *same;
    all.push_back({.kernel = kernel,
                   .device = device,
                   .line = line,
                   .launches = 0,
                   .values = {},
                   .sizes = {}});
    return all.back();
}

// A launch's number behind the kernel's name in a trace: "saxpy(int) [123]".
std::string without_number(const std::string& kernel) {
    const std::size_t bracket = kernel.rfind(" [");
    if (bracket == std::string::npos || !kernel.ends_with(']')) return kernel;
    const std::string_view digits =
        std::string_view(kernel).substr(bracket + 2, kernel.size() - bracket - 3);
    const bool all_digits =
        !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    return all_digits ? kernel.substr(0, bracket) : kernel;
}

// A line of units follows the header in traces: it names no kernel.
std::vector<Found> parse_nvprof(const std::string& text, const std::string& file_name, int first) {
    const std::vector<CsvRecord> records = profiler_table(text, file_name, first);
    const auto column = [&](std::string_view name) {
        return profiler_column(records.front().fields, name);
    };
    const auto kernel = column("Kernel") ? column("Kernel") : column("Name");
    const auto metric = column("Metric Name");
    if (!kernel)
        throw InputError(file_name, {records.front().line, 0}, "Kernel",
                         "no such column; this is not the output of nvprof --csv --metrics");
    std::vector<Found> all;
    if (metric) {
        const auto average = column("Avg");
        const auto invocations = column("Invocations");
        if (!average || !invocations)
            throw InputError(file_name, {records.front().line, 0}, average ? "Invocations" : "Avg",
                             "no such column; this is not the output of nvprof --csv --metrics");
        for (std::size_t i = 1; i < records.size(); ++i) {
            const auto& [line, fields] = records[i];
            if (fields[*kernel].empty()) continue;
            const auto launches = profiler_number(fields[*invocations]);
            if (!launches || !(*launches >= 1))
                throw InputError(
                    file_name, {line, 0}, "Invocations",
                    fmt::format("'{}' is not a number of launches", fields[*invocations]));
            Found& found = entry(all, fields[*kernel], fields[0], line);
            found.launches = std::max(found.launches, *launches);
            add_value(found, fields[*metric], fields[*average], *launches, line);
        }
        return all;
    }
    for (std::size_t i = 1; i < records.size(); ++i) {
        const auto& [line, fields] = records[i];
        if (fields[*kernel].empty()) continue;
        Found& found = entry(all, without_number(fields[*kernel]), fields[0], line);
        found.launches += 1;
        for (const Row& row : rows())
            for (const Metric& one : row.nvprof)
                if (const auto at = column(one.name))
                    add_value(found, std::string(one.name), fields[*at], 1, line);
    }
    return all;
}

std::vector<Found> parse_ncu(const std::string& text, const std::string& file_name, int line) {
    std::vector<Found> all;
    const std::vector<NcuKernel> launches = parse_ncu_csv(text, file_name);
    const bool several = std::ranges::any_of(
        launches, [&](const NcuKernel& one) { return one.device != launches.front().device; });
    for (const NcuKernel& launch : launches) {
        Found& found = entry(all, launch.kernel, several ? "device " + launch.device : "", line);
        found.launches += 1;
        found.sizes.insert(launch.size);
        for (const auto& [metric, value] : launch.metrics) {
            Found::Value& sum = found.values[metric];
            sum.sum += value;
            sum.launches += 1;
        }
        for (const auto& [metric, fault] : launch.unusable) {
            Found::Value& value = found.values[metric];
            value.fault = fault.reason;
            value.line = fault.line;
        }
    }
    return all;
}

// Empty where every kernel's launches have one size.
std::vector<std::string> notes_of(const std::vector<Found>& all, const std::string& file_name) {
    const auto varies = [](const Found& one) { return one.sizes.size() > 1; };
    const auto first = std::ranges::find_if(all, varies);
    if (first == all.end()) return {};
    const auto others = std::ranges::count_if(all, varies) - 1;
    return {InputError(file_name, {first->line, 0}, "",
                       fmt::format("kernel '{}': {} launches of {} sizes of grid and block are "
                                   "averaged{}",
                                   first->kernel, first->launches, first->sizes.size(),
                                   others == 0 ? ""
                                               : fmt::format("; those of {} more kernel{}, too",
                                                             others, others == 1 ? "" : "s")))
                .what()};
}

// The value that the file has under one of the names.
std::map<std::string, Found::Value>::const_iterator find_value(const Found& found,
                                                               std::string_view name) {
    auto value = found.values.find(std::string(name));
    if (value == found.values.end() && name.starts_with("smsp__"))
        value = found.values.find(fmt::format("sm__{}", name.substr(6)));
    return value;
}

// Why a metric that is there gives no count; empty where it gives `count`.
std::string fault_of(const Found& found, const Found::Value& value, double count) {
    if (!value.fault.empty()) return value.fault;
    if (value.launches != found.launches)
        return fmt::format("was launched {} times, the metric is there for {}", found.launches,
                           value.launches);
    return some_count.holds(count) ? "" : fmt::format("is not {}", some_count.words);
}

// What was left out is told, and needed counts that are not there are added to `lacking`.
KernelParameters parameters_of(const Found& found, bool ncu, const std::string& file_name,
                               std::vector<std::string>& left_out,
                               std::vector<std::string_view>& lacking) {
    if (found.kernel.empty())
        throw InputError(file_name, {found.line, 0}, "Kernel Name", "must not be empty");
    KernelParameters result;
    result.kernel = found.kernel;
    result.device = found.device;
    result.origin = ncu ? "ncu" : "nvprof";
    result.launches = static_cast<std::int64_t>(found.launches);
    for (const Row& row : rows()) {
        const std::vector<Metric>& names = ncu ? row.ncu : row.nvprof;
        std::optional<double>& target = result.*row.value;
        for (const Metric& one : names) {
            const auto value = find_value(found, one.name);
            if (value == found.values.end()) continue;
            const double count = value->second.sum / value->second.launches * one.each;
            const std::string fault = fault_of(found, value->second, count);
            if (fault.empty()) {
                target = count;
                break;
            }
            left_out.push_back(
                InputError(file_name, {value->second.line > 0 ? value->second.line : found.line, 0},
                           std::string(one.name),
                           fmt::format("kernel '{}': {}; left out", found.kernel, fault))
                    .what());
        }
        if (!target && row.needed &&
            std::ranges::find(lacking, names.front().name) == lacking.end())
            lacking.push_back(names.front().name);
    }
    for (const char* const both : {"dram__bytes.sum", "dram__sectors.sum"})
        if (ncu && !result.dram_read_sectors && !result.dram_write_sectors &&
            found.values.contains(both))
            left_out.push_back(InputError(file_name, {found.line, 0}, both,
                                          fmt::format("kernel '{}': is not split into reads and "
                                                      "writes; left out",
                                                      found.kernel))
                                   .what());
    if (const auto fault = parts_fault(result))
        throw InputError(file_name, {found.line, 0}, fault->keys.front(),
                         fmt::format("kernel '{}': {}", found.kernel, fault->reason));
    return result;
}

std::string needed_metrics(bool ncu) {
    std::vector<std::string_view> names;
    for (const Row& row : rows()) {
        const std::vector<Metric>& list = ncu ? row.ncu : row.nvprof;
        if (!list.empty()) names.push_back(list.front().name);
    }
    return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

bool is_profiler_csv(const std::string& text) {
    return profiler_table_line(text, "Device") || profiler_table_line(text, "ID");
}

ProfiledKernels parameters_from_profiler(const std::string& text, const std::string& file_name) {
    const auto nvprof = profiler_table_line(text, "Device");
    const auto ncu = nvprof ? std::nullopt : profiler_table_line(text, "ID");
    // What nvprof prints without --metrics.
    for (const char* const column : {"Type", "Time(%)", "Start"})
        if (const auto times = profiler_table_line(text, column);
            times && !ncu && (!nvprof || *times < *nvprof))
            throw InputError(file_name, {*times, 0}, "",
                             "is nvprof's table of times; counts are needed, as nvprof --csv "
                             "--metrics prints them ('--profiler-command nvprof=./app')");
    if (!nvprof && !ncu) require_text(text, file_name);
    if (!nvprof && !ncu)
        throw InputError(file_name, {}, "",
                         "no header with the column Device (nvprof --csv --metrics) or ID (ncu "
                         "--csv)");
    const std::vector<Found> all =
        ncu ? parse_ncu(text, file_name, *ncu) : parse_nvprof(text, file_name, *nvprof);
    if (all.empty()) throw InputError(file_name, {}, "", "no kernel was profiled");
    ProfiledKernels result;
    result.notes = notes_of(all, file_name);
    std::vector<std::string_view> lacking;
    for (const Found& found : all) {
        const std::size_t before = lacking.size();
        result.kernels.push_back(
            parameters_of(found, ncu.has_value(), file_name, result.left_out, lacking));
        if (before == 0 && !lacking.empty())
            result.lacking =
                InputError(file_name, {found.line, 0}, std::string(lacking.front()),
                           fmt::format("kernel '{}' has no number for this", found.kernel))
                    .what();
    }
    const auto incomplete = std::ranges::count_if(result.kernels, [](const KernelParameters& one) {
        return std::ranges::any_of(rows(),
                                   [&](const Row& row) { return row.needed && !(one.*row.value); });
    });
    if (incomplete > 1)
        result.lacking += fmt::format(", and {} of {} kernels lack counts", incomplete, all.size());
    if (!lacking.empty())
        result.lacking += fmt::format("; what is missing is collected with --metrics {}",
                                      fmt::join(lacking, ","));
    return result;
}

std::string ncu_command(const std::string& program) {
    return fmt::format("ncu --csv --page raw --print-units base --metrics {} {} > kernels.csv",
                       needed_metrics(true), program);
}

std::string nvprof_command(const std::string& program) {
    return fmt::format("nvprof --csv --log-file kernels.csv --metrics {} {}", needed_metrics(false),
                       program);
}

}  // namespace occupipe::analysis

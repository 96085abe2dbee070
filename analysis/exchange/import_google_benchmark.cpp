// SPDX-License-Identifier: MIT
// google/benchmark, src/json_reporter.cc: of any program's rows, those with bytes_per_second.
#include <fmt/format.h>

#include <map>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "analysis/exchange/throughput_bounds.h"
#include "core/files/json_reader.h"

namespace occupipe::analysis {

ImportedProfile import_google_benchmark(const InputText& file, const DeviceHints& hints) {
    const Document document = parse_json(file.text, file.name);
    const DocumentNode& list = document.required(document.root(), "benchmarks");
    const auto text = [](const DocumentNode& row, const char* key) -> std::string {
        const DocumentNode* const node = Document::find(row, key);
        return node != nullptr && node->kind == DocumentNode::Kind::scalar ? node->text : "";
    };
    // Aggregates alone are left where only they were reported (--benchmark_report_aggregates_only).
    const auto kind_of = [&](const DocumentNode& row) -> std::string {
        return text(row, "run_type") == "aggregate" ? text(row, "aggregate_name") : "run";
    };
    const auto run_of = [&](const DocumentNode& row) {
        std::string run = text(row, "run_name");
        const std::string& name = document.text(document.required(row, "name"));
        if (!run.empty()) return run;
        return kind_of(row) == "run" ? name : name.substr(0, name.rfind('_'));
    };
    std::map<std::string, std::string> kinds;  // by run: the best that there is
    for (const char* const kind : {"median", "mean", "run"})
        for (const DocumentNode& row : document.items(list))
            if (kind_of(row) == kind) kinds[run_of(row)] = kind;
    std::vector<Throughput> throughputs;
    LeftOut left_out(file.name);
    std::size_t rows = 0;
    for (const DocumentNode& row : document.items(list)) {
        const std::string& name = document.text(document.required(row, "name"));
        const auto wanted = kinds.find(run_of(row));
        if (wanted == kinds.end() || wanted->second != kind_of(row)) continue;
        ++rows;
        const DocumentNode* const rate = Document::find(row, "bytes_per_second");
        if (rate == nullptr) continue;
        if (text(row, "error_occurred") == "true") {
            left_out.add(row.where, name, "its run failed");
            continue;
        }
        if (const auto value = left_out.figure(text(row, "bytes_per_second"), rate->where, name))
            throughputs.push_back({.instruction = "ld.global.f32",
                                   .per_second = *value,
                                   .reference = fmt::format("Google Benchmark, {}: {} B/s",
                                                            text_of_name(name), *value)});
    }
    if (throughputs.empty())
        left_out.refuse(InputError(
            file.name, list.where, "benchmarks",
            fmt::format("none of {} rows has bytes_per_second: a time alone says nothing about an "
                        "instruction, unless the row's name says its shape, as 'fit' reads it",
                        rows)));
    ImportedProfile out;
    out.profile.device.name = device_name_of(file, hints);
    set_rate_facts(out.profile, file, hints, {});
    add_bounds(out, throughputs);
    add_origin(out.profile, file, "Google Benchmark: bytes that programs say they process");
    left_out.tell(out.notes);
    out.notes.push_back(fmt::format(
        "{} of {} rows give bytes per second, the greatest of which is taken for loads of global "
        "memory: no bound where those bytes came from a cache, or where the row's time is the "
        "host's",
        throughputs.size(), rows));
    validate_imported(out.profile, file.name);
    return out;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "analysis/exchange/imported.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::analysis {

std::string measurement_text(const ImportedMeasurements& measurements, const InputText& file,
                             const std::string& format) {
    using Json = nlohmann::ordered_json;
    Json context = Json::object();
    for (const auto& [key, value] : measurements.context) context[key] = value;
    context["imported_from"] = format;
    context["imported_file"] = content_hash(file.text);
    context["imported_by"] = std::string("occupipe ") + OCCUPIPE_VERSION;
    std::map<std::string, int> repetitions;
    const auto name_of = [](const ImportedRow& row) {
        std::string subject = row.subject;
        for (const auto& [key, value] : row.counters)
            if (key == "working_set_bytes") subject += fmt::format("/{}:{:.0f}", key, value);
        return measurement_name(subject, row.shape);
    };
    for (const ImportedRow& row : measurements.rows) ++repetitions[name_of(row)];
    std::map<std::string, int> seen;
    std::string rows;
    for (const ImportedRow& row : measurements.rows) {
        const std::string name = name_of(row);
        Json one = {{"name", name},
                    {"run_name", name},
                    {"run_type", "iteration"},
                    {"repetitions", repetitions[name]},
                    {"repetition_index", seen[name]++},
                    {"threads", 1},
                    {"iterations", 1},
                    {"real_time", row.seconds * 1e6},
                    {"cpu_time", row.seconds * 1e6},
                    {"time_unit", "us"},
                    {"group_warps", row.shape.group_warps},
                    {"concurrent_groups", row.shape.concurrent_groups},
                    {"warps", row.shape.warps()},
                    {"chains", row.shape.chains},
                    {"depth", row.shape.depth},
                    {"cycles", row.cycles}};
        for (const auto& [key, value] : row.counters) one[key] = value;
        const Json whole = {{"context", Json::object()}, {"benchmarks", Json::array({one})}};
        try {
            parse_measurements(whole.dump(), "");
        } catch (const InputError& error) {
            throw InputError(file.name, {row.line, 0}, "", error.what());
        }
        rows += (rows.empty() ? "\n  " : ",\n  ") + one.dump();
    }
    return fmt::format("{{\n \"context\": {},\n \"benchmarks\": [{}\n ]\n}}\n", context.dump(2),
                       rows);
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/offline/launches.h"
#include "bench/offline/warp_stamps.h"
#include "cli/measure_carry.h"
#include "core/error.h"
#include "core/files/document.h"
#include "core/files/json_reader.h"

namespace occupipe::cli {
namespace {

using Json = nlohmann::ordered_json;

std::map<std::string, std::string> read_context(const std::filesystem::path& path) {
    const Document document = parse_json(read_text_file(path), path.string());
    std::map<std::string, std::string> context;
    for (const DocumentNode& node : document.entries(document.root())) {
        context[node.key] = document.text(node);
    }
    return context;
}

double clock_of(const std::map<std::string, std::string>& context,
                const std::filesystem::path& path) {
    const auto found = context.find("clock_hz");
    if (found == context.end()) {
        throw InputError(
            path.string(), {}, "clock_hz",
            "is missing; write the core clock in Hz, or dump with --given clock_hz=HZ");
    }
    const std::string& text = found->second;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
        value <= 0) {
        throw InputError(
            path.string(), {}, "clock_hz",
            fmt::format("'{}' is not a positive number; write the core clock in Hz", text));
    }
    return value;
}

Json row_of(const bench::ReturnedTime& time, int repetitions, double clock_hz) {
    Json row = {{"name", time.point},
                {"run_name", time.point},
                {"run_type", "iteration"},
                {"repetitions", repetitions},
                {"repetition_index", time.repetition},
                {"threads", 1},
                {"iterations", 1},
                {"real_time", time.cycles / clock_hz * 1e6},
                {"cpu_time", time.cycles / clock_hz * 1e6},
                {"time_unit", "us"}};
    for (const auto& [name, value] : time.counters) row[name] = value;
    row["cycles"] = time.cycles;
    return row;
}

// A row that our reader refuses is a fault of the table, and is reported at its line.
void check_row(const Json& row, const bench::ReturnedTime& time, const std::string& file) {
    const Json whole = {{"context", Json::object()}, {"benchmarks", Json::array({row})}};
    try {
        parse_measurements(whole.dump(), "");
    } catch (const InputError& error) {
        throw InputError(file, {time.line, 0}, "point", error.what());
    }
}

}  // namespace

void import_measurement(const ImportRequest& request) {
    if (request.overwrite == Overwrite::no && std::filesystem::exists(request.output)) {
        throw InputError(
            fmt::format("{}: exists already; --force replaces it", request.output.string()));
    }
    const std::string file = request.launches.string();
    const std::string text = read_text_file(request.launches);
    auto times = bench::parse_launches(text, file, request.partial);
    const auto stamps = request.launches.parent_path() / "stamps.csv";
    if (std::filesystem::exists(stamps))
        bench::add_warp_stamps(read_text_file(stamps), stamps.string(), times);
    const auto context_path = request.launches.parent_path() / "context.json";
    auto context = read_context(context_path);
    const double clock_hz = clock_of(context, context_path);
    const auto planned = context.find("launches");
    if (planned != context.end() && planned->second != std::to_string(times.size()) &&
        !request.partial) {
        throw InputError(
            file, {times.back().line, 0}, "point",
            fmt::format("the table has {} launches, the dump {}; --import partial imports "
                        "them nevertheless",
                        times.size(), planned->second));
    }
    std::map<std::string, int> repetitions;
    for (const auto& time : times) ++repetitions[time.point];
    std::string rows;
    for (const auto& time : times) {
        const Json row = row_of(time, repetitions[time.point], clock_hz);
        check_row(row, time, file);
        rows += (rows.empty() ? "\n  " : ",\n  ") + row.dump();
    }
    context["launches_imported"] = std::to_string(times.size());
    context["launches_file"] = content_hash(text);
    context["real_time"] = "cycles over clock_hz, not timed";
    context["imported_by"] = std::string("occupipe ") + OCCUPIPE_VERSION;
    write_text_file(request.output,
                    fmt::format("{{\n \"context\": {},\n \"benchmarks\": [{}\n ]\n}}\n",
                                Json(context).dump(2), rows),
                    request.overwrite);
    fmt::print(stderr, "{} launches of {} points imported into {}\n", times.size(),
               repetitions.size(), request.output.string());
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
#include "analysis/validation/validation_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "core/error.h"
#include "core/files/csv.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"
#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

const std::vector<std::string> timed_header = {"kernel", "group_warps",  "concurrent_groups",
                                               "groups", "shared_bytes", "cycles"};

std::optional<Throughput> throughput(const Document& document, const DocumentNode& map) {
    Throughput found{document.number(document.required(map, "cycles")),
                     document.number(document.required(map, "warps_per_cycle"))};
    if (!(found.cycles > 0) || !(found.warps_per_cycle > 0)) document.fail(map, "must be positive");
    return found;
}

int whole(const Document& document, const DocumentNode& map, std::string_view key) {
    return static_cast<int>(
        document.integer(document.required(map, key), 1, std::numeric_limits<int>::max()));
}

ValidationPoint point_of(const Document& document, const DocumentNode& item,
                         const std::vector<std::string>& models) {
    ValidationPoint point;
    point.launch = {.group_warps = whole(document, item, "group_warps"),
                    .concurrent_groups = whole(document, item, "concurrent_groups"),
                    .groups = document.integer(document.required(item, "groups"), 1, most_groups)};
    if (const DocumentNode* const measured = Document::find(item, "measured"))
        point.measured = throughput(document, *measured);
    if (const DocumentNode* const bytes = Document::find(item, "dram_bytes_per_warp"))
        point.dram_bytes_per_warp = document.number(*bytes);
    if (const DocumentNode* const said = Document::find(item, "assumptions"))
        for (const DocumentNode& one : document.items(*said))
            point.assumptions.push_back(document.text(one));
    const DocumentNode& predicted = document.required(item, "predicted");
    for (const std::string& model : models) {
        const DocumentNode* const one = Document::find(predicted, model);
        point.predicted.push_back(one ? throughput(document, *one) : std::nullopt);
    }
    return point;
}

ValidationCurve curve_of(const Document& document, const std::vector<std::string>& models) {
    const DocumentNode& root = document.root();
    ValidationCurve curve{.kernel = document.text(document.required(root, "kernel"))};
    if (const DocumentNode* const published = Document::find(root, "published"))
        curve.published = document.text(*published);
    if (const DocumentNode* const device = Document::find(root, "device"))
        curve.device = document.text(*device);
    if (const DocumentNode* const why = Document::find(root, "not_predicted"))
        curve.not_predicted = document.text(*why);
    curve.substituted = document.number(document.required(root, "substituted_share"));
    for (const DocumentNode& one : document.items(document.required(root, "assumptions")))
        curve.assumptions.push_back(document.text(one));
    if (const DocumentNode* const warnings = Document::find(root, "warnings"))
        for (const DocumentNode& one : document.items(*warnings))
            curve.warnings.push_back(document.text(one));
    for (const DocumentNode& item : document.items(document.required(root, "points")))
        curve.points.push_back(point_of(document, item, models));
    return curve;
}

Document read_document(const std::string& text, const std::string& file_name) {
    Document document = parse_json(text, file_name);
    const DocumentNode& format = document.required(document.root(), "format");
    if (document.text(format) != curve_format)
        document.fail(format, "unknown format '" + format.text + "'");
    return document;
}

}  // namespace

std::optional<ValidationCurve> parse_curve(const std::string& text, const std::string& file_name,
                                           const std::string& made_of,
                                           const std::vector<std::string>& models) {
    const Document document = read_document(text, file_name);
    if (document.text(document.required(document.root(), "made_of")) != made_of)
        return std::nullopt;
    return curve_of(document, models);
}

SavedCurves read_curves(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "curves", none))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<Document> documents;
    SavedCurves saved;
    for (const std::filesystem::path& file : files) {
        documents.push_back(read_document(read_text_file(file), file.string()));
        const Document& document = documents.back();
        for (const DocumentNode& point :
             document.items(document.required(document.root(), "points")))
            for (const DocumentNode& model :
                 document.entries(document.required(point, "predicted")))
                if (std::ranges::find(saved.models, model.key) == saved.models.end())
                    saved.models.push_back(model.key);
    }
    for (const Document& document : documents)
        saved.curves.push_back(curve_of(document, saved.models));
    return saved;
}

std::vector<TimedLaunch> timed_launches(const ReadyKernel& ready) {
    const OccupancyLimits& limits = occupancy_limits(ready.architecture);
    // A group's most before Turing: CUDA C++ Programming Guide 12.9, "Technical Specifications per
    // Compute Capability".
    const std::int64_t room =
        ready.stands_in
            ? std::min<std::int64_t>(48 * 1024, ready.limits.shared_memory_bytes.value_or(0))
            : limits.group_shared_bytes - limits.reserved_bytes;
    std::vector<TimedLaunch> found;
    for (std::int64_t dynamic = 0; dynamic == 0 || ready.needs.shared_bytes + dynamic <= room;
         dynamic += limits.shared_unit) {
        const int groups = groups_at_once(ready, ready.needs.shared_bytes + dynamic);
        if (groups < 1) break;
        if (found.empty() || groups < found.back().concurrent_groups)
            found.push_back({ready.suite.name, groups,
                             static_cast<std::uint32_t>(dynamic) + ready.dynamic_shared_bytes});
    }
    return found;
}

void tell_shared_memory(const ReadyKernel& ready, std::vector<ToldLaunch>& told) {
    const std::int64_t own = ready.needs.shared_bytes - ready.dynamic_shared_bytes;
    for (const TimedLaunch& one : timed_launches(ready))
        for (ToldLaunch& launch : told)
            if (launch.kernel.memory && launch.launch.concurrent_groups == one.concurrent_groups)
                launch.kernel.memory->group_shared_bytes = own + one.shared_bytes;
}

std::string launches_to_time(const std::vector<ReadyKernel>& kernels) {
    std::string text = fmt::format("{}\n", fmt::join(timed_header, ","));
    for (const ReadyKernel& ready : kernels)
        for (const TimedLaunch& one : timed_launches(ready))
            text += fmt::format("{},{},{},{},{},\n", csv_text(one.kernel), ready.group_warps,
                                one.concurrent_groups, ready.groups, one.shared_bytes);
    return text;
}

TimedCurves parse_timed_launches(const std::string& text, const std::string& file_name) {
    const auto records = parse_csv(text, file_name);
    if (records.empty() || records.front().fields != timed_header)
        throw InputError(file_name, {1, 1}, {},
                         fmt::format("the first line has to be {}", fmt::join(timed_header, ",")));
    using Key = std::tuple<int, int, std::int64_t>;  // occupancy first
    struct Runs {
        std::vector<double> cycles;
        std::set<std::int64_t> shared_bytes;
    };
    std::map<std::string, std::map<Key, Runs>> all;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const int line = records[i].line;
        const std::vector<std::string>& fields = records[i].fields;
        const auto number = [&, at = line](std::size_t column, double least, double most) {
            const std::string& field = fields[column];
            double value = 0;
            const auto [end, fault] =
                std::from_chars(field.data(), field.data() + field.size(), value);
            if (fault != std::errc() || end != field.data() + field.size() || !(value >= least) ||
                !(value <= most))
                throw InputError(file_name, {at, 1}, timed_header[column],
                                 field.empty()
                                     ? std::string("is missing")
                                     : fmt::format("'{}' is not a number in its range", field));
            if (column != 5 && value != std::floor(value))
                throw InputError(file_name, {at, 1}, timed_header[column],
                                 fmt::format("'{}' is not a whole number", field));
            return value;
        };
        const Key key = {static_cast<int>(number(2, 1, 1024)), static_cast<int>(number(1, 1, 1024)),
                         static_cast<std::int64_t>(number(3, 1, 1e12))};
        Runs& runs = all[fields[0]][key];
        runs.shared_bytes.insert(static_cast<std::int64_t>(number(4, 0, 1e9)));
        runs.cycles.push_back(number(5, std::numeric_limits<double>::min(), 1e18));
    }
    TimedCurves curves;
    for (const auto& [kernel, launches] : all)
        for (const auto& [key, runs] : launches)
            curves[kernel].push_back({.launch = {.group_warps = std::get<1>(key),
                                                 .concurrent_groups = std::get<0>(key),
                                                 .groups = std::get<2>(key)},
                                      .cycles = median(runs.cycles),
                                      .shared_bytes = runs.shared_bytes});
    return curves;
}

void apply_times(ValidationCurve& curve, const std::vector<std::pair<Launch, double>>& times,
                 int cores) {
    for (ValidationPoint& point : curve.points)
        for (const auto& [launch, cycles] : times)
            if (launch == point.launch)
                point.measured =
                    Throughput{cycles, static_cast<double>(launch.groups_per_core(cores)) *
                                           launch.group_warps / cycles};
}

}  // namespace occupipe::analysis

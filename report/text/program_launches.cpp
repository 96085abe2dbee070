// SPDX-License-Identifier: MIT
#include "report/text/program_launches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/files/csv.h"
#include "extract/signature.h"
#include "report/text/seconds_text.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using program::Copies;
using program::CopyKind;
using program::Finding;
using program::Journals;
using program::PredictedLaunch;
using program::Shape;
using program::ShapeTotal;
using program::Span;

constexpr std::size_t most_rows = 20;
constexpr std::size_t most_notes = 5;
constexpr std::size_t name_columns = 48;

std::string cut(const std::string& text, std::size_t columns) {
    if (text.size() <= columns) return text;
    std::size_t end = columns - 1;
    while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // no character of UTF-8 is cut in two
    return text.substr(0, end) + "…";
}

std::string size_text(const std::array<std::uint32_t, 3>& size) {
    std::string text = std::to_string(size[0]);
    if (size[1] > 1 || size[2] > 1) text += fmt::format(",{}", size[1]);
    if (size[2] > 1) text += fmt::format(",{}", size[2]);
    return size[1] > 1 || size[2] > 1 ? "(" + text + ")" : text;
}

std::string shape_text(const Shape& shape) {
    return fmt::format("{} × {}", size_text(shape.grid), size_text(shape.block));
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string bytes_text(double bytes) {
    const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
    return fmt::format("{:.4g} {}", bytes, units[unit]);
}

const PredictedLaunch* last(const ShapeTotal& total, std::size_t profile) {
    return profile < total.last.size() ? &total.last[profile] : nullptr;
}

std::optional<double> seconds_in_all(const ShapeTotal& total, std::size_t profile) {
    return profile < total.seconds.size() ? total.seconds[profile] : std::nullopt;
}

// Those whose time is known first, the longest first.
std::vector<const ShapeTotal*> sorted(const Journals& journals, std::size_t profile) {
    std::vector<const ShapeTotal*> all;
    for (const ShapeTotal& one : journals.shapes) all.push_back(&one);
    std::ranges::stable_sort(all, std::ranges::greater(), [&](const ShapeTotal* one) {
        return seconds_in_all(*one, profile).value_or(-1);
    });
    return all;
}

// Between which seconds 95 % of measured times are expected: a launch's errors are those of others.
struct Range {
    double low = 0, high = 0;
};

std::optional<Range> range_of(const ShapeTotal& total, std::size_t profile) {
    const std::optional<double> seconds = seconds_in_all(total, profile);
    const PredictedLaunch* const made = last(total, profile);
    if (!seconds || made == nullptr || !made->spread) return std::nullopt;
    return Range{*seconds / *made->spread, *seconds * *made->spread};
}

struct Sum {
    double seconds = 0;
    std::optional<Range> range = Range{};  // absent: that of some is not known
    std::uint64_t launches = 0, unknown = 0, instructions = 0;
};

Sum sum_of(const std::vector<const ShapeTotal*>& shapes, std::size_t profile) {
    Sum sum;
    for (const ShapeTotal* one : shapes) {
        const std::optional<double> seconds = seconds_in_all(*one, profile);
        sum.seconds += seconds.value_or(0);
        const std::optional<Range> range = range_of(*one, profile);
        if (!range)
            sum.range.reset();
        else if (sum.range)
            sum.range = {{sum.range->low + range->low, sum.range->high + range->high}};
        sum.launches += one->launches;
        sum.instructions += one->warp_instructions;
        if (!seconds) sum.unknown += one->launches;
    }
    return sum;
}

std::string share_text(double part, double all) {
    return all > 0 ? fmt::format("{:.1f} %", 100 * part / all) : "";
}

std::vector<std::string> row_of(const ShapeTotal& one, std::size_t profile, double all_seconds) {
    const std::optional<double> seconds = seconds_in_all(one, profile);
    const PredictedLaunch* const made = last(one, profile);
    const bool known = seconds.has_value() && made != nullptr;
    return {short_name(one.shape.kernel),
            grouped(one.launches),
            shape_text(one.shape),
            known ? seconds_text(*seconds / static_cast<double>(one.launches)) : "not known",
            known && made->spread ? fmt::format("×/÷ {:.2f}", *made->spread) : "",
            known ? seconds_text(*seconds) : "",
            known ? share_text(*seconds, all_seconds) : "",
            known ? made->limited_by : "",
            known && made->dram_bytes ? bytes_text(*made->dram_bytes) : "",
            grouped(one.warp_instructions / one.launches)};
}

std::string table_of(const Journals& journals, std::size_t profile) {
    const std::vector<const ShapeTotal*> shapes = sorted(journals, profile);
    const Sum all = sum_of(shapes, profile);
    TextTable table;
    table.header = {
        "kernel", "launches", "groups × threads", "time each", "95 %",
        "in all", "share",    "limited by",       "DRAM each", "warp-instructions each"};
    table.align.assign(table.header.size(), Align::right);
    table.align[0] = table.align[7] = Align::left;
    const std::size_t shown = shapes.size() > most_rows ? most_rows - 1 : shapes.size();
    for (std::size_t i = 0; i < shown; ++i)
        table.rows.push_back(row_of(*shapes[i], profile, all.seconds));
    if (shown < shapes.size()) {
        const Sum rest =
            sum_of({shapes.begin() + static_cast<std::ptrdiff_t>(shown), shapes.end()}, profile);
        table.rows.push_back({fmt::format("{} others", shapes.size() - shown),
                              grouped(rest.launches), "", "", "", seconds_text(rest.seconds),
                              share_text(rest.seconds, all.seconds), "", "", ""});
    }
    return fmt::format(
        "{}: {} launch{}, {} predicted in kernels{}{}\n{}", journals.profiles[profile],
        grouped(all.launches), all.launches == 1 ? "" : "es", seconds_text(all.seconds),
        all.range ? fmt::format(" (95 %: {} to {})", seconds_text(all.range->low),
                                seconds_text(all.range->high))
                  : "",
        all.unknown == 0
            ? ""
            : fmt::format(", without {} whose time is not known", grouped(all.unknown)),
        plain_text(table));
}

std::string copies_text(const std::map<CopyKind, Copies>& copies) {
    std::vector<std::string> parts;
    for (const auto& [kind, one] : copies)
        parts.push_back(fmt::format("{} {} in {}", bytes_text(static_cast<double>(one.bytes)),
                                    to_text(kind), grouped(one.count)));
    return parts.empty() ? "" : fmt::format("copied: {}", fmt::join(parts, ", "));
}

// Launches that do unlike amounts of work are not told apart by their shape.
std::string unlike_text(const Journals& journals) {
    std::vector<std::string> names;
    for (const ShapeTotal& one : journals.shapes)
        if (one.unlike > 0)
            names.push_back(
                fmt::format("{} ({})", short_name(one.shape.kernel), grouped(one.unlike)));
    if (names.empty()) return {};
    const std::size_t more = names.size() > 2 ? names.size() - 2 : 0;
    names.resize(names.size() - more);
    return fmt::format(
        "launches that take the time of another one, which executed more or fewer instructions: "
        "{}{}; --all predicts each",
        fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string unknown_text(const Journals& journals) {
    for (const ShapeTotal& one : journals.shapes)
        for (const PredictedLaunch& made : one.last)
            if (!made.seconds)
                return fmt::format("{}: {}", short_name(one.shape.kernel),
                                   cut(made.why_not.substr(0, made.why_not.find('\n')), 300));
    return {};
}

// In full: for files, whose readers have not seen what the program's run told.
std::vector<std::string> notes_of(const Journals& journals, bool in_full) {
    std::vector<std::string> all;
    const auto add = [&](std::string text) {
        if (!text.empty()) all.push_back(std::move(text));
    };
    for (const std::string& one : journals.errors)
        add(in_full ? one
                    : fmt::format("a kernel failed, as reported above: {}",
                                  one.substr(0, one.find(':'))));
    for (const Shape& one : journals.at_work)
        add(fmt::format("{} of {} was at work when the program ended: it is not counted",
                        short_name(one.kernel), shape_text(one)));
    if (!journals.refused.empty())
        add(fmt::format("not executed here, and refused: {}", fmt::join(journals.refused, ", ")));
    add(unknown_text(journals));
    add(unlike_text(journals));
    for (const std::string& one : journals.notes) add(one);
    add(copies_text(journals.copies));
    std::set<std::string> of_predictions;
    for (const ShapeTotal& one : journals.shapes)
        for (const PredictedLaunch& made : one.last)
            of_predictions.insert(made.notes.begin(), made.notes.end());
    for (const std::string& one : of_predictions) add(one);
    return all;
}

nlohmann::ordered_json json_of(const ShapeTotal& one, const Journals& journals) {
    nlohmann::ordered_json json;
    json["kernel"] = extract::readable_name(one.shape.kernel);
    json["symbol"] = one.shape.kernel;
    json["grid"] = one.shape.grid;
    json["block"] = one.shape.block;
    json["shared_bytes"] = one.shape.shared_bytes;
    json["launches"] = one.launches;
    json["predicted_launches"] = one.predicted;
    if (one.unlike > 0) json["unlike_launches"] = one.unlike;
    json["warp_instructions"] = one.warp_instructions;
    json["host_seconds"] = one.host_seconds;
    for (std::size_t i = 0; i < one.last.size() && i < journals.profiles.size(); ++i) {
        const PredictedLaunch& made = one.last[i];
        nlohmann::ordered_json entry;
        entry["profile"] = journals.profiles[i];
        if (one.seconds[i]) {
            entry["seconds"] = *one.seconds[i];
            if (const std::optional<Range> range = range_of(one, i))
                entry["interval"] = {{"low", range->low}, {"high", range->high}};
            entry["limited_by"] = made.limited_by;
            if (made.dram_bytes) entry["dram_bytes_each"] = *made.dram_bytes;
        } else {
            entry["why_not"] = made.why_not;
        }
        if (!made.notes.empty()) entry["notes"] = made.notes;
        json["predictions"].push_back(std::move(entry));
    }
    return json;
}

nlohmann::ordered_json json_of(const Finding& one) {
    nlohmann::ordered_json json;
    json["kind"] = to_text(one.kind);
    if (!one.kernel.empty()) {
        json["kernel"] = extract::readable_name(one.kernel);
        json["place"] = one.place;
    }
    json["count"] = one.count;
    json["first"] = one.text;
    return json;
}

std::string stream_name(std::uint64_t number) {
    return number == 0 ? "default stream" : fmt::format("stream {}", number);
}

nlohmann::ordered_json event_of(const Span& one) {
    constexpr double microseconds = 1e6;
    nlohmann::ordered_json event;
    event["name"] = one.copy ? to_text(*one.copy) : short_name(one.kernel);
    event["cat"] = one.copy ? "copy" : "kernel";
    event["ph"] = "X";
    event["pid"] = one.process + 1;  // viewers leave 0 to the system
    event["tid"] = one.stream + 1;
    event["ts"] = one.start * microseconds;
    event["dur"] = one.seconds * microseconds;
    if (one.copy)
        event["args"]["bytes"] = one.bytes;
    else
        event["args"]["kernel"] = extract::readable_name(one.kernel);
    if (!one.predicted) event["args"]["predicted"] = false;
    return event;
}

}  // namespace

std::string short_name(const std::string& mangled) {
    constexpr std::size_t most_arguments = 24;
    const std::string name = extract::readable_name(mangled);
    std::string arguments, last;
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool nested = depth > 0;
        if (name[i] == '<') ++depth;
        if (nested || name[i] == '<') {
            arguments += name[i];
            if (name[i] == '>') --depth;
            continue;
        }
        if (name.compare(i, 21, "(anonymous namespace)") == 0) {
            i += 20;
        } else if (name[i] == '(' && !last.empty()) {
            break;
        } else if (name[i] == ' ' || name[i] == ':') {
            last.clear();
            arguments.clear();
        } else {
            last += name[i];
        }
    }
    if (arguments.size() > most_arguments) arguments = "<…>";
    return cut(last + arguments, name_columns);
}

std::string findings_text(const Journals& journals) {
    if (journals.findings.empty()) return {};
    std::string text = "\nfound:\n";
    for (const Finding& one : journals.findings)
        text += fmt::format(
            "  {}, {}: {}\n", to_text(one.kind),
            one.count == 1 ? "once" : fmt::format("{} times, first", grouped(one.count)), one.text);
    return text;
}

std::string to_trace(const Journals& journals) {
    using Json = nlohmann::ordered_json;
    Json trace;
    trace["displayTimeUnit"] = "ns";
    trace["traceEvents"] = Json::array();
    std::set<std::size_t> processes;
    std::set<std::pair<std::size_t, std::uint64_t>> streams;
    const auto name = [&](const char* what, std::size_t process, std::uint64_t stream,
                          const std::string& text) {
        trace["traceEvents"].push_back({{"name", what},
                                        {"ph", "M"},
                                        {"pid", process + 1},
                                        {"tid", stream + 1},
                                        {"args", {{"name", text}}}});
    };
    for (const Span& one : journals.spans) {
        if (processes.insert(one.process).second)
            name("process_name", one.process, 0, journals.profiles.at(0));
        if (streams.emplace(one.process, one.stream).second)
            name("thread_name", one.process, one.stream, stream_name(one.stream));
        trace["traceEvents"].push_back(event_of(one));
    }
    return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const Journals& journals) {
    std::string text;
    if (journals.shapes.empty()) {
        const bool tried = !journals.errors.empty() || !journals.at_work.empty();
        text = tried ? "no launch ended as it should\n"
               : journals.processes > 0
                   ? "no kernel was launched\n"
                   : "no kernel was launched through the shared CUDA runtime (what a script starts "
                     "needs it, too: nvcc -cudart shared)\n";
    }
    for (std::size_t i = 0; i < journals.profiles.size() && !journals.shapes.empty(); ++i)
        text += (i == 0 ? "" : "\n") + table_of(journals, i);
    std::vector<std::string> notes = notes_of(journals, false);
    const std::size_t more = notes.size() > most_notes ? notes.size() - most_notes + 1 : 0;
    notes.resize(notes.size() - more);
    for (const std::string& one : notes) text += fmt::format("  {}\n", one);
    if (more > 0) text += fmt::format("  and {} more notes (-o keeps them)\n", more);
    return text;
}

std::string to_json(const Journals& journals) {
    nlohmann::ordered_json json;
    json["format"] = "occupipe-program/1";
    json["profiles"] = journals.profiles;
    json["processes"] = journals.processes;
    json["launches"] = journals.launches();
    json["kernels"] = nlohmann::ordered_json::array();
    for (const ShapeTotal& one : journals.shapes) json["kernels"].push_back(json_of(one, journals));
    for (const auto& [kind, one] : journals.copies)
        json["copies"][to_text(kind)] = {{"count", one.count}, {"bytes", one.bytes}};
    json["findings"] = nlohmann::ordered_json::array();
    for (const Finding& one : journals.findings) json["findings"].push_back(json_of(one));
    json["notes"] = notes_of(journals, true);
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_csv(const Journals& journals) {
    std::string text =
        "profile,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,shared_bytes,launches,"
        "seconds,limited_by,dram_bytes_each,warp_instructions,seconds_low,seconds_high\n";
    for (std::size_t i = 0; i < journals.profiles.size(); ++i) {
        for (const ShapeTotal* one : sorted(journals, i)) {
            const std::optional<double> seconds = seconds_in_all(*one, i);
            const PredictedLaunch* const made = last(*one, i);
            const bool known = seconds.has_value() && made != nullptr;
            const std::optional<Range> range = range_of(*one, i);
            text += fmt::format(
                "{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(journals.profiles[i]),
                csv_text(extract::readable_name(one->shape.kernel)),
                fmt::join(one->shape.grid, ","), fmt::join(one->shape.block, ","),
                one->shape.shared_bytes, one->launches, known ? fmt::format("{}", *seconds) : "",
                known ? csv_text(made->limited_by) : "",
                known && made->dram_bytes ? fmt::format("{}", *made->dram_bytes) : "",
                one->warp_instructions,
                range ? fmt::format("{},{}", range->low, range->high) : ",");
        }
    }
    return text;
}

}  // namespace occupipe::report

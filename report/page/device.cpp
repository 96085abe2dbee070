// SPDX-License-Identifier: MIT
// The device, where its numbers come from, and the table of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fit/profile/fit_report.h"
#include "plot/svg.h"
#include "report/figures/fit_figures.h"
#include "report/page/sections.h"

namespace occupipe::report {
namespace {

using plot::html_escaped;

HtmlCell text_cell(std::string text) { return {std::move(text), std::nullopt, ""}; }

std::string optional_count(const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : "not known";
}

std::string or_unknown(const std::string& text) { return text.empty() ? "not known" : text; }

std::string issue_text(const Issue& issue) {
    std::string text = "not measured";
    if (issue.limit) {
        text = estimate_text({.value = *issue.limit, .std_error = issue.limit_std_error}) +
               " warp-instructions per cycle and core";
    }
    return fmt::format("{}; {} scheduler{}", text, issue.schedulers,
                       issue.schedulers == 1 ? "" : "s");
}

HtmlTable facts(const ReportData& data) {
    const GpuProfile& p = data.fit.profile;
    HtmlTable table{{"device", ""}, {}, false};
    const auto add = [&](const char* name, std::string value) {
        table.rows.push_back({text_cell(name), text_cell(std::move(value))});
    };
    add("name", p.device.name);
    add("vendor", or_unknown(p.device.vendor));
    add("architecture", or_unknown(p.device.architecture));
    if (!p.device.compute_capability.empty())
        add("compute capability", p.device.compute_capability);
    if (!data.fact("cpu_model").empty())
        add("processor, as it names itself",
            fmt::format("{}, family {}, model {}", data.fact("cpu_name"), data.fact("cpu_family"),
                        data.fact("cpu_model")));
    add("cores", std::to_string(p.cores));
    add("warp size", fmt::format("{} threads", p.warp_size));
    add("core clock",
        fmt::format("{:.4g} GHz: {}", p.clock_hz * 1e-9, or_unknown(data.fact("clock_source"))));
    add("warps per core", optional_count(p.limits.warps));
    add("groups per core", optional_count(p.limits.groups));
    add("most warps in a group", optional_count(p.limits.group_warps));
    add("shared memory per core", p.limits.shared_memory_bytes
                                      ? fmt::format("{} bytes", *p.limits.shared_memory_bytes)
                                      : "not known");
    add("issue limit", issue_text(p.issue));
    add("backend", or_unknown(data.fact("backend")));
    add("driver", or_unknown(data.fact("driver")));
    return table;
}

HtmlTable files(const ReportData& data) {
    HtmlTable table{{"measurements", "date", "rows", "failed", "occupipe", "content"}, {}, false};
    for (const MeasurementFile& file : data.measurements) {
        const auto fact = [&](const char* key) {
            const auto found = file.context.find(key);
            return found == file.context.end() ? std::string("not known") : found->second;
        };
        double failed = 0;
        for (const MeasurementRow& row : file.rows) failed += row.error ? 1 : 0;
        const auto rows = static_cast<double>(file.rows.size());
        table.rows.push_back({text_cell(std::filesystem::path(file.path).filename().string()),
                              text_cell(fact("date")),
                              {fmt::format("{}", rows), rows, ""},
                              {fmt::format("{}", failed), failed, ""},
                              text_cell(fact("occupipe_version")),
                              text_cell(file.content_hash)});
    }
    return table;
}

// Facts "not_measured.NAME" and "not_proved.NAME" of the files, in a closed list.
std::string listed(const ReportData& data, std::string_view prefix, std::string_view title) {
    std::map<std::string, std::string> found;
    for (const MeasurementFile& file : data.measurements)
        for (const auto& [key, value] : file.context) {
            if (!key.starts_with(prefix)) continue;
            const std::string name = key.substr(prefix.size());
            const bool measured_elsewhere = std::ranges::any_of(
                data.fit.subjects,
                [&](const SubjectReport& s) { return s.curve.subject == name && s.fit.ok; });
            if (prefix != "not_measured." || !measured_elsewhere) found[name] = value;
        }
    if (found.empty()) return {};
    std::string text =
        fmt::format("<details><summary>{} ({})</summary>\n<ul>\n", title, found.size());
    for (const auto& [name, reason] : found)
        text +=
            fmt::format("<li><code>{}</code>: {}</li>\n", html_escaped(name), html_escaped(reason));
    return text + "</ul></details>\n";
}

HtmlCell estimate_cell(const Estimate& e) {
    if (e.identifiable()) return {format_estimate(e), e.value, ""};
    return {fmt::format("{}{:.4g}", sign_of(e.kind), e.value), e.value, ""};
}

// λ per core, and beside it the one of a scheduler's copy where there are several.
HtmlCell cpi_cell(const GpuProfile& profile, const InstructionTiming& timing) {
    HtmlCell cell = estimate_cell(profile.cpi_per_core(timing));
    if (profile.copies(timing.subsystem) > 1)
        cell.text += fmt::format(" ({:.4g} per scheduler)", timing.cpi.value);
    return cell;
}

}  // namespace

std::string report_head(const ReportData& data) {
    std::string text;
    if (data.model_device)
        text +=
            "<p class=\"warning\">These are the times of a model device: a simulator made them. "
            "Nothing on this page was measured on hardware.</p>\n";
    if (data.cpu())
        text += paragraph(
            "This is a CPU seen through OpenCL: a warp is one work-item, and what is in flight are "
            "independent chains inside it. λ and Λ describe one core's units; nothing here says "
            "how a GPU, or many work-items, would behave.");
    return text + paragraph(
                      "λ is the cycles between two independent instructions of a core, Λ the "
                      "cycles until a dependent one may start. ± is one standard error; ≤ and ≥ "
                      "mark values that the measurements only bound.");
}

void add_device_section(ReportPage& page, const ReportData& data) {
    std::string text = html(facts(data)) + html(files(data));
    if (data.measurements.size() > 1)
        text += paragraph("All numbers below are fitted to these files together.");
    std::vector<std::string> names;
    for (const NamedProfile& profile : data.profiles) names.push_back(profile.file);
    if (!names.empty())
        text +=
            paragraph(fmt::format("Profiles in the folder, each with the hashes of the files "
                                  "that it was fitted to: {}.",
                                  fmt::join(names, ", ")));
    for (const std::string& note : data.fit.notes) text += paragraph("Note: " + note + ".");
    text += listed(data, "not_measured.", "Not measured, and why");
    text += listed(data, "not_proved.", "Measured without a count of the machine code, and why");
    page.section("device", "Device and provenance", text);
}

void add_timing_section(ReportPage& page, const ReportData& data) {
    const GpuProfile& profile = data.fit.profile;
    HtmlTable table{
        {"instruction", "subsystem", "λ [cycles]", "Λ [cycles]", "in flight to fill, Λ/λ", "note"},
        {},
        true};
    for (const InstructionTiming& timing : profile.instructions) {
        HtmlCell fill = text_cell("");
        if (timing.determined() && timing.cpi.value > 0) {
            const double ratio = timing.latency->value / profile.cpi_per_core(timing).value;
            fill = {fmt::format("{:.3g}", ratio), ratio, ""};
        }
        table.rows.push_back(
            {{timing.name, std::nullopt, "#" + anchor_of(timing.name)},
             text_cell(timing.subsystem),
             cpi_cell(profile, timing),
             timing.latency ? estimate_cell(*timing.latency) : text_cell("unknown"),
             fill,
             text_cell(timing.note)});
    }
    page.section("timings", "λ and Λ",
                 page.figure(timing_map(profile)) +
                     paragraph("A click on a heading sorts; a name leads to its curve.") +
                     html(table));
}

}  // namespace occupipe::report

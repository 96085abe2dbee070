// SPDX-License-Identifier: MIT
#include "report/text/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/text/published_cores.h"
#include "report/text/published_gpus.h"

namespace occupipe::report {
namespace {

const char* plural(std::size_t count) { return count == 1 ? "" : "s"; }

std::string found_line(const GpuProfile& profile, std::size_t left_out) {
    const std::size_t all = profile.instructions.size();
    const auto both = static_cast<std::size_t>(std::ranges::count_if(
        profile.instructions, [](const InstructionTiming& timing) { return timing.determined(); }));
    const auto unknown = static_cast<std::size_t>(std::ranges::count_if(
        profile.instructions,
        [](const InstructionTiming& timing) { return !timing.latency.has_value(); }));
    std::string text =
        fmt::format("{} instruction{} measured, {} with both λ and Λ, {} with a bound", all,
                    plural(all), both, all - both - unknown);
    if (unknown > 0) text += fmt::format(", {} without Λ, as nothing waited for it", unknown);
    if (left_out > 0)
        text += fmt::format("; {} not supported here (summary.md says why)", left_out);
    return text;
}

std::string core_line(const GpuProfile& profile) {
    const std::string limit = profile.issue.limit
                                  ? estimate_text({.value = *profile.issue.limit,
                                                   .std_error = profile.issue.limit_std_error}) +
                                        " warp-instructions per cycle"
                                  : "not determined";
    return fmt::format("{} core{} at {:.4g} GHz; issue limit {}", profile.cores,
                       plural(static_cast<std::size_t>(profile.cores)), profile.clock_hz * 1e-9,
                       limit);
}

std::string doubt_line(const analysis::SelfCheck& check) {
    if (check.findings.empty())
        return fmt::format("self-check: {} comparisons, nothing disagrees",
                           check.agreements.size());
    const analysis::Finding& first = check.findings.front();
    return fmt::format("self-check: {} serious of {} findings; first: {}{}{}", check.serious(),
                       check.findings.size(), first.subject, first.subject.empty() ? "" : ": ",
                       first.meaning);
}

}  // namespace

Summary summarised(const MeasurementFile& file, const GpuProfile& profile, const std::string& table,
                   const std::string& check) {
    Summary summary;
    const auto fact = [&](const char* key) {
        const auto found = file.context.find(key);
        return found == file.context.end() ? std::string("not known") : found->second;
    };
    const bool model = fact("backend") == "model";
    std::string& text = summary.text;
    text = fmt::format("# {}\n\n", profile.device.name);
    if (model) text += "**These are the times of a model, not of hardware.**\n\n";
    text += fmt::format("- device: {}, {} ({})\n- driver: {}\n- cores: {}, warp size: {}\n",
                        fact("device"), fact("device_name"), fact("device_vendor"), fact("driver"),
                        profile.cores, profile.warp_size);
    text += fmt::format("- core clock: {:.4g} GHz ({})\n- measured: {}, occupipe {}\n\n",
                        profile.clock_hz * 1e-9, fact("clock_source"), fact("date"),
                        fact("occupipe_version"));
    if (fact("device_type") == "cpu") {
        text +=
            "This is a CPU seen through OpenCL: a warp is one work-item, and the hull shows over\n"
            "independent chains inside it. λ and Λ describe one core's units; nothing here says "
            "how\n"
            "a GPU, or many work-items, would behave.\n\n";
    }
    text += "## Instructions (λ / Λ in core cycles)\n\n" + table + "\n" +
            beside_published(file, profile) + beside_published_throughput(profile) + check;
    for (const auto& [key, value] : file.context) {
        constexpr std::string_view prefix = "not_measured.";
        if (!key.starts_with(prefix)) continue;
        summary.not_measured += fmt::format("- {}: {}\n", key.substr(prefix.size()), value);
        ++summary.left_out;
    }
    if (summary.left_out > 0) summary.not_measured.insert(0, "\n## Not measured\n\n");
    return summary;
}

std::string closing_lines(const GpuProfile& profile, const analysis::SelfCheck& check,
                          std::size_t left_out, const std::string& folder,
                          const std::string& program) {
    std::string text = "found: " + found_line(profile, left_out) + "\n";
    text += "core:  " + core_line(profile) + "\n";
    text += "doubt: " + doubt_line(check) + "\n";
    text += fmt::format(
        "files: measurements.json, profile.yaml, table.md, summary.md, selfcheck.md in {}\n",
        folder);
    text += fmt::format(
        "next:  {0} report {1} -o {1}/report.html\n"
        "       {0} predict saxpy --profile {1}/profile.yaml\n",
        program, folder);
    return text;
}

}  // namespace occupipe::report

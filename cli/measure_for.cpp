// SPDX-License-Identifier: MIT
#include "cli/measure_for.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/measured/fit.h"
#include "ask/answer.h"
#include "bench/instructions/instruction_table.h"
#include "core/error.h"
#include "fit/profile/fit_report.h"
#include "fit/profile/profile_extend.h"

namespace occupipe::cli {
namespace {

// A stream of loads has no latency to give; the same instruction in a chase has.
std::string row_for(const bench::Backend& backend, const std::string& op) {
    const auto row = std::ranges::find(backend.rows(), op, &bench::Row::id);
    if (row == backend.rows().end() || row->pattern != bench::Pattern::global_stream) return op;
    for (const std::string& other : analysis::same_instructions(op)) {
        const auto chase = std::ranges::find(backend.rows(), other, &bench::Row::id);
        if (chase != backend.rows().end() && !backend.unsupported(*chase)) return other;
    }
    return op;
}

bool in_table(std::span<const bench::Row> rows, const std::string& name) {
    return std::ranges::any_of(rows, [&](const bench::Row& row) { return row.id == name; });
}

std::vector<std::string> still_missing(const Kernel& kernel, const GpuProfile& profile) {
    std::vector<std::string> ops;
    const analysis::Ready ready = analysis::ready(analysis::loaded_kernel("", kernel), profile, {},
                                                  {.pricing = analysis::MemoryPricing::none});
    for (const analysis::LackingOp& one : analysis::lacking(ready)) ops.push_back(one.op);
    return ops;
}

}  // namespace

std::vector<MissingRow> missing_rows(const bench::Backend& backend, const Kernel& kernel,
                                     const GpuProfile& profile, bool quick) {
    std::vector<MissingRow> rows;
    for (const std::string& needed : still_missing(kernel, profile)) {
        const std::string op = row_for(backend, needed);
        if (std::ranges::count(rows, op, &MissingRow::op)) continue;
        MissingRow row{.op = op, .why_not = {}};
        if (!in_table(backend.rows(), op)) {
            row.why_not = in_table(bench::instruction_table(), op)
                              ? fmt::format("{} does not have it", backend.facts().id)
                              : "there is no measurement of it ('occupipe list instructions')";
        } else {
            const auto sweep = bench::make_sweep(backend, {.patterns = {op}, .quick = quick});
            if (sweep.points.empty())
                row.why_not =
                    sweep.skipped.empty() ? "no launch fits" : sweep.skipped.front().reason;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

bool extend_profile_file(const Kernel& kernel, const GpuProfile& profile,
                         const std::filesystem::path& measurement,
                         const std::filesystem::path& output, Overwrite overwrite) {
    const std::array files = {read_measurements(measurement)};
    const FitOutcome fitted = analysis::fit(files);
    const ProfileExtension extension =
        extend_profile(profile, fitted.profile, measurement.filename().string(),
                       content_hash(read_text_file(measurement)));
    write_text_file(output, format_profile(extension.profile), overwrite);
    for (const std::string& name : extension.added) {
        const InstructionTiming& timing = *extension.profile.find_instruction(name);
        fmt::print("{}: λ {} per core, Λ {}\n", name,
                   format_estimate(extension.profile.cpi_per_core(timing)),
                   timing.latency ? format_estimate(*timing.latency) : "not measured");
    }
    for (const std::string& note : extension.notes) fmt::print(stderr, "{}\n", note);
    fmt::print(stderr, "wrote {}; the measurement is {}\n", output.string(), measurement.string());
    const auto missing = still_missing(kernel, extension.profile);
    if (missing.empty()) return true;
    fmt::print(stderr, "still missing for {}: {}; 'predict' takes others' numbers with --use\n",
               kernel.name, fmt::join(missing, ", "));
    return false;
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
// Times of a kernel's configurations, as others measured them: the T4 results of the FAIR
// auto-tuning format, Kernel Tuner's cache files, KTT's results (JSON), and a table (CSV) with a
// column `seconds`, `time_ms` or `time_us` and one for each tunable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/tuning/space.h"

namespace occupipe::analysis {

struct MeasuredRun {
    Configuration configuration;
    std::optional<double> seconds;  // median of its runs; absent: it failed there
    std::string failure;            // why, in the file's word; empty: it did not
};

struct MeasuredRuns {
    std::string file;
    std::string device;        // as the file names it; empty: not told
    std::string format;        // "T4", "Kernel Tuner", "KTT", "CSV"
    Value::List problem_size;  // as the file names it; empty: not told
    std::vector<MeasuredRun> runs;
    std::size_t excluded = 0;        // by keep_those_of()
    std::vector<std::string> notes;  // of keep_those_of(): a sentence each
};

// Drops the configurations that the space excludes, and of the others what is no tunable of it; a
// number equal to one of the space is that one (32.0 is 32). Throws InputError for a parameter that
// is no tunable and has several values: which of the times would count? Notes another problem size
// than the space's.
void keep_those_of(const TuningSpace& space, MeasuredRuns& runs);

// Throws InputError that names file, line and key.
MeasuredRuns read_measured_runs(const std::string& path);
MeasuredRuns parse_measured_runs(const std::string& text, const std::string& file);

// So many of the runs that did not fail, one at random of each of as many strata of equal count
// of the measured time; all, in the order of the file, where there are not more. The same for the
// same seed on every machine. Indices into runs, ascending.
std::vector<std::size_t> drawn_by_time(std::span<const MeasuredRun> runs, std::size_t count,
                                       std::uint64_t seed);

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
// Points that are measured one after the other and kept by a journal:
//
//   require_free(options.output, options.overwrite);
//   bench::Journal journal(options.output, key, context, points.size());
//   const bool complete = measure_points(journal, points, options.progress,
//                                        [&](const auto& point) { return session.measure(point);
//                                        });
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <vector>

#include "bench/harness/journal.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::automatch {

// Throws InputError where there is a file that is not to be replaced; one that a finished journal
// still has to be written to is.
inline void require_free(const std::filesystem::path& output, Overwrite overwrite) {
    if (overwrite == Overwrite::no && std::filesystem::exists(output) &&
        !bench::Journal::finishing(output))
        throw InputError(fmt::format("{}: exists; --force replaces it", output.string()));
}

// Those that the journal does not have yet. False where `measure` gives none, since it was
// interrupted: the journal is left for the next run. `progress` may be empty.
template <class Point, class Progress, class Measure>
bool measure_points(bench::Journal& journal, const std::vector<Point>& points,
                    const Progress& progress, const Measure& measure) {
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (progress) progress(i, points.size(), points[i].name);
        if (journal.finished().contains(points[i].name)) continue;
        journal.begin(points[i].name);
        const auto finished = measure(points[i]);
        if (!finished) {
            journal.leave(points[i].name);
            journal.sync();
            return false;
        }
        journal.append(*finished);
    }
    journal.finish();
    return true;
}

}  // namespace occupipe::automatch

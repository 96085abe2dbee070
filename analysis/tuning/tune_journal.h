// SPDX-License-Identifier: MIT
// FILE.journal: the configurations that a `tune` has done, a line of JSON for each and stage,
// behind a line that says what they were made of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/tuning/tune.h"
#include "core/files/growing_file.h"

namespace occupipe::analysis {

// A line without its end; what parse_tuned_line() reads back.
std::string tuned_line(const TunedConfiguration& row, const std::vector<const Model*>& models);
// `row.configuration` is not in it. Throws InputError.
TunedConfiguration parse_tuned_line(const std::string& line,
                                    const std::vector<const Model*>& models);

// Of a journal that is complete, or that another machine still writes: what it has up to the first
// line that is not whole. Throws InputError where there is none or it is of something else.
std::vector<TunedConfiguration> read_tune_journal(const std::filesystem::path& path,
                                                  const std::string& made_of,
                                                  const std::vector<const Model*>& models);

class TuneJournal {
public:
    // Takes what is there up to the first line that is not whole, which is cut off. `made_of`:
    // hash of all that decides over the rows. Throws InputError where the journal is of something
    // else, or another process writes it.
    TuneJournal(const std::filesystem::path& path, const std::string& made_of,
                const std::vector<const Model*>& models, bool force);

    std::vector<TunedConfiguration> take_rows() { return std::move(rows_); }
    void add(const TunedConfiguration& row);

private:
    GrowingFile file_;
    const std::vector<const Model*>& models_;
    std::vector<TunedConfiguration> rows_;
};

}  // namespace occupipe::analysis

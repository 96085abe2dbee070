// SPDX-License-Identifier: MIT
// `validate --measured FILE --launch SPACE.json`: configurations that others measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ask/question.h"
#include "cli/option.h"

namespace occupipe::cli {

struct ValidateMeasured {
    std::string measured;      // tuner's file
    std::optional<int> draws;  // absent: all
    std::optional<std::uint64_t> seed;
    analysis::ProfileChanges changes;
    bool json = false;
};

struct ValidateMeasuredRequest {
    std::string profile;
    std::vector<std::string> spaces;  // --launch
    std::vector<std::string> models;
    std::string memory_pricing;
    std::string output;  // folder; empty: none
    std::string plot;
    std::string limit;
    bool force = false;
};

void add_measured_options(const Command& command, ValidateMeasured& options);

void validate_measured(const ValidateMeasured& options, const ValidateMeasuredRequest& request);

}  // namespace occupipe::cli

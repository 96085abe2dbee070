// SPDX-License-Identifier: MIT
// What an instrumented program left behind (automatch/instrument/), as a workload.
//
//   record.facts   occupipe-match-facts 1: what stands still, from the pass
//   record.counts  occupipe-match-record 1: what was counted, from the run
//   record.levels  operations by level, beside it, in binary
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "automatch/workload.h"

namespace occupipe::automatch {

struct RecordTexts {
    std::string facts;
    std::string facts_name;  // for messages
    std::string counts;
    std::string counts_name;
    std::string levels;  // bytes
    // Loops that LLVM's vectoriser would vectorise, as "file:line:column" of their begin.
    std::set<std::string> vectorised;
    // Only then its number of synchronisations is the program's.
    bool synchronisations_annotated = false;
    bool order_memory = false;
};

// Throws InputError naming file and line where a record is cut off or contradicts itself.
Workload workload_of(const RecordTexts& record);

// File, line and column of the loops that remarks of LLVM's vectoriser (YAML) say it vectorised.
std::set<std::string> vectorised_loops(const std::string& remarks);

}  // namespace occupipe::automatch

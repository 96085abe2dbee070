// SPDX-License-Identifier: MIT
// A prediction by source line and by machine instruction, in columns:
//   line  executed  per warp  cycles   share  because of       result of  awaited  source
//     15    13,440        40   1,204  31.0 %  dependence 88 %  line 11        390  sum = fmaf(…
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/explanation/annotation.h"
#include "report/text/text_table.h"

namespace occupipe::report {

enum class AnnotationView {
    source,   // a row per line
    machine,  // a row per instruction
    both,     // the instructions below their line
};

std::string to_text(const analysis::Annotation& annotation, AnnotationView view);

// The value of the key `annotation` of `predict --json` (docs/reference/file-formats/).
nlohmann::ordered_json to_json(const analysis::Annotation& annotation);

// What the views share: text of one cell each.
struct AnnotationCells {
    std::string executed, per_warp, cycles, share, reason, awaited, memory;
};
AnnotationCells cells(const analysis::Annotation& annotation, const analysis::Spent& spent,
                      const std::optional<analysis::MemorySums>& memory);

// The line, or in want of one the id, of what is waited for most; empty where nothing is.
class AwaitedLines {
public:
    explicit AwaitedLines(const analysis::Annotation& annotation);
    std::string of(const std::vector<std::size_t>& instructions) const;

private:
    const analysis::Annotation& annotation_;
    std::map<std::string, const analysis::AnnotatedInstruction*> by_id_;
};
// "812 to 845", where the profile's errors reach the cycles; empty: there is none.
std::string interval_text(const std::optional<analysis::Interval>& interval);
std::string awaited_instruction(const analysis::AnnotatedInstruction& instruction);

std::string grouped_number(double number);  // 13,440

// A line of source code in at most 100 columns, tabs as four blanks.
std::string shortened(const std::string& text);

}  // namespace occupipe::report

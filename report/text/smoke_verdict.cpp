// SPDX-License-Identifier: MIT
#include "report/text/smoke_verdict.h"

#include <fmt/format.h>

#include "report/text/text_table.h"

namespace occupipe::report {

std::string format_smoke(const analysis::SmokeVerdict& verdict) {
    TextTable table{{"instruction", "", "measured", "expected", ""},
                    {Align::left, Align::left, Align::right, Align::right, Align::left},
                    {}};
    for (const analysis::SmokeFigure& figure : verdict.figures) {
        table.rows.push_back(
            {figure.instruction, figure.quantity,
             figure.measured ? fmt::format("{:.4g}", *figure.measured) : "-",
             figure.expected
                 ? fmt::format("{:.4g} to {:.4g}", figure.expected->low, figure.expected->high)
                 : "-",
             !figure.fault.empty() ? "WRONG" : figure.notice});
    }
    std::string text = plain_text(table) + "\n";
    if (verdict.faults.empty()) return text + "GO\n";
    text += fmt::format("NO-GO, above all because of\n  {}\n", verdict.faults.front());
    for (std::size_t i = 1; i < verdict.faults.size(); ++i) {
        text += fmt::format("{}  {}\n", i == 1 ? "and\n" : "", verdict.faults[i]);
    }
    return text;
}

}  // namespace occupipe::report

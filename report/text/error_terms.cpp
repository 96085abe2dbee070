// SPDX-License-Identifier: MIT
#include "report/text/error_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace occupipe::report {

std::string error_terms_text(const Estimate& estimate) {
    std::vector<ErrorTerm> terms = estimate.error_terms;
    std::ranges::stable_sort(terms, std::ranges::greater{}, &ErrorTerm::size);
    double variance = 0;
    for (const ErrorTerm& term : terms) variance += term.size * term.size;
    if (!(variance > 0)) return {};
    std::string text;
    for (ErrorTerm& term : terms) {
        std::ranges::replace(term.name, '_', ' ');
        text += fmt::format("{}{} {:.2g} ({:.0f} %)", text.empty() ? "" : ", ", term.name,
                            term.size, 100 * term.size * term.size / variance);
    }
    return text;
}

}  // namespace occupipe::report

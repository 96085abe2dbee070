// SPDX-License-Identifier: MIT
// Cells of a sweep's rows.
#pragma once

#include <string>

#include "core/files/csv.h"

namespace occupipe::analysis {

// One line, whatever is in it, and quoted where that is needed.
inline std::string field(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return csv_text(text);
}

}  // namespace occupipe::analysis

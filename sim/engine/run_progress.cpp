// SPDX-License-Identifier: MIT
#include "sim/engine/run_progress.h"

#include <fmt/format.h>

namespace occupipe {

std::string to_text(const RunProgress& progress) {
    return fmt::format("{:.3g} of {:.3g} instructions ({:.2g} %), {} of {} groups, {:.4g} cycles",
                       static_cast<double>(progress.issued), progress.instructions,
                       100 * progress.share(), progress.groups, progress.all_groups,
                       progress.cycles);
}

}  // namespace occupipe

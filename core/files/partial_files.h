// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace occupipe {

// Removes what write_text_file(target) leaves beside its target when it is killed:
// TARGET.PID-N.partial. Only for who knows that no other process is writing it.
void remove_partial_files(const std::filesystem::path& target);

}  // namespace occupipe

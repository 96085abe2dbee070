// SPDX-License-Identifier: MIT
// One function per command, each in the file of its name; main.cpp calls them all.
#pragma once

#include "cli/option.h"

namespace occupipe::automatch {

void add_predict(const cli::Command& app);
void add_measure(const cli::Command& app);
void add_fit(const cli::Command& app);
void add_check(const cli::Command& app);

}  // namespace occupipe::automatch

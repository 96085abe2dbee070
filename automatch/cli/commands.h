// SPDX-License-Identifier: MIT
// One function per command, each in the file of its name; main.cpp calls them all.
#pragma once

namespace CLI {
class App;
}

namespace occupipe::automatch {

void add_predict(CLI::App& app);
void add_measure(CLI::App& app);
void add_fit(CLI::App& app);
void add_check(CLI::App& app);

}  // namespace occupipe::automatch

// SPDX-License-Identifier: MIT
#include "cli/commands.h"

int main(int argc, char** argv) { return occupipe::cli::run(argc, argv); }

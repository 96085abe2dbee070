// SPDX-License-Identifier: MIT
// What a program's launches would take, as profilers print it:
//   kernel        launches  groups × threads  each       in all     share   limited by  DRAM …
//   heat(float*)       100  256 × 256         12.34 us   1.234 ms   71.2 %  mem         …
#pragma once

#include <string>

#include "program/journal.h"

namespace occupipe::report {

// "saxpy<float>" of the mangled name of "void blas::saxpy<float>(int, float, float*, float*)";
// arguments of templates where they are short.
std::string short_name(const std::string& mangled);

// A table for each profile, the longest first, and at most five lines of notes.
std::string to_text(const program::Journals& journals);

// occupipe-program/1 (docs/reference/file-formats/), with a line end.
std::string to_json(const program::Journals& journals);

// What was found wrong, a line for each place; empty: nothing was.
std::string findings_text(const program::Journals& journals);

// Kernels and copies on the first profile's clock, a track for each stream, as Trace Event Format
// (ui.perfetto.dev, chrome://tracing), with a line end.
std::string to_trace(const program::Journals& journals);

// The table's rows with plain numbers, all of them.
std::string to_csv(const program::Journals& journals);

}  // namespace occupipe::report

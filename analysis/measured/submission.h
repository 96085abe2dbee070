// SPDX-License-Identifier: MIT
// Whether a profile may join profiles/: it is what the fit makes of raw files of one real device,
// every number has its source, and nothing tells whose machine it was (CONTRIBUTING.md).
//
//   submission_faults(profile, raw, {})  → {"instructions.fma.f32.cpi: 0.24 here, 0.25 fitted
//   again"}
#pragma once

#include <span>
#include <string>
#include <vector>

namespace occupipe::analysis {

struct SubmittedFile {
    std::string path;
    std::string text;
};

struct Submission {
    SubmittedFile profile;
    std::vector<SubmittedFile> measurements;
    std::vector<SubmittedFile> receipts;  // what `measure --receipts` wrote
};

// One sentence per fault, "FILE: WHAT"; empty: it may be submitted. Throws InputError where a file
// cannot be read as what it is, or the raw files cannot be fitted.
std::vector<std::string> submission_faults(const Submission& submission);

// What tells whose machine it was: serial numbers, UUIDs, host names, home folders; of any text.
// One sentence per kind, with its line.
std::vector<std::string> personal_facts(const SubmittedFile& file);

// How two profiles' texts differ, line by line under the key that it belongs to; numbers within one
// part in a million are equal, since processors round a fit's last digits in ways of their own. The
// versions of the program that measured and fitted are left out.
std::vector<std::string> profile_differences(const std::string& submitted,
                                             const std::string& fitted);

}  // namespace occupipe::analysis

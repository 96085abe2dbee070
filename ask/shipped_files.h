// SPDX-License-Identifier: MIT
// Profiles and kernels that come with the program, by name.
//
//   shipped_profile("rtx-2070")  → …/profiles/nvidia-rtx-2070.yaml
//   shipped_kernel("saxpy")      → …/kernels/saxpy.yaml
//   shipped_profile("own.yaml")  → own.yaml, which need not be there: the reader says so
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::analysis {

// An existing file is returned as it is; else the shipped file whose name is NAME.yaml, or ends
// with -NAME.yaml and is the only one; case does not matter. What looks like a path (a slash, or
// the extension) is returned as it is. Throws InputError that lists what there is, nearest first.
std::filesystem::path shipped_profile(const std::string& name);
// A card of the shelf (published/shelf.h; `shelf:NAME` where a shipped file has the name, too) and
// a data sheet's numbers are returned as they are, since they are no files: named_profile() reads
// them.
std::filesystem::path shipped_kernel(const std::string& name);

// The profile that a name or a file stands for: named_profile("a100"), ("shelf:rtx-2070"),
// ("sm_86:cores=46,…"), ("own.yaml"), a profile or a card's numbers. Throws InputError.
GpuProfile named_profile(const std::string& name);
// Whether a name that is no file is a card of the shelf or a data sheet's numbers.
bool is_shelf_name(const std::string& name);
// How a card of the shelf is asked for: "a100"; "shelf:rtx-2070" where a shipped file has the name.
std::string shelf_spelling(const std::string& id);
// A profile without AutoMatch's numbers takes those of the shelf's card of that name, if there is
// one. Returns whether it did.
bool lend_match(GpuProfile& profile);
// What that profile depends on, to be hashed: the file's text, or the profile as YAML.
std::string named_profile_text(const std::string& name);

// Where the data are for a program that is not Occupipe's own (Python's interpreter): as `cmake
// --install` leaves share/occupipe. To be called before anything else here, by one thread.
void set_data_folder(const std::filesystem::path& folder);

// Every shipped profile; empty where the program was moved away from its data.
std::vector<std::filesystem::path> shipped_profiles();
// Every shipped kernel.
std::vector<std::filesystem::path> shipped_kernels();

// The index of the suite (analysis/validation/suite.h); empty where there is none.
std::filesystem::path shipped_suite_index();

// Below a folder, by name; empty where there is none.
std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& folder);

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

inline constexpr const char* what_if_help =
    "Change the GPU before predicting: OP.cpi=N, OP.latency=N (core cycles),\n"
    "SUBSYSTEM.contention=N, issue.limit=N|none, issue.schedulers=N, cores=N, clock_hz=N;\n"
    "may be repeated";

inline constexpr const char* use_help =
    "Use the profile's numbers of INSTRUCTION for the kernel's OP; may be repeated";

// A setting that cannot be applied, OP.cpi=N or OP=INSTRUCTION; what() has predict's option in
// front.
struct BadSetting : InputError {
    BadSetting(const std::string& option, const std::string& setting, const std::string& why)
        : InputError(option + " " + setting + ": " + why), reason(setting + ": " + why) {}
    std::string reason;  // "SETTING: REASON"
};

// Applies every --use. An OP whose name says what it is (a store, a load, a barrier) stays one, any
// other becomes what INSTRUCTION is. Returns the assumptions in words. Throws InputError that says
// what is wrong: also where the kernel has no such OP, and where an OP is given twice.
std::vector<std::string> apply_uses(const std::vector<std::string>& settings, const Kernel& kernel,
                                    GpuProfile& profile);

// An op of a kernel that a profile lacks, and the entry that a reader would try first in its place
// ("INSTRUCTION" where none comes to mind).
struct LackingOp {
    std::string op;
    std::string guess;
    SourcePosition where;  // where it first stands in the kernel file
};

// All of them, in the order of the kernel. Guesses are instructions of `offered`, the profile as it
// was read.
std::vector<LackingOp> lacking_ops(const GpuProfile& profile, const Kernel& kernel,
                                   const GpuProfile& offered);

// Throws InputError naming the kernel file, its line, every op that the profile lacks, and how to
// go on: --use settings with instructions of `offered`, the profile as it was read.
void require_timings(const GpuProfile& profile, const Kernel& kernel, const std::string& file,
                     const GpuProfile& offered);

// The same setting of an instruction's λ or Λ with twice the value; absent: it sets something else.
std::optional<std::string> another_value(const std::string& setting);

// Applies every --set. λ or Λ of an instruction takes its tables along. Returns the assumptions in
// words: "fma.f32.cpi is set to 2, where the profile has 0.25". Throws InputError naming what is
// wrong with one; also a name given twice.
std::vector<std::string> apply_what_ifs(const std::vector<std::string>& settings,
                                        GpuProfile& profile);

}  // namespace occupipe::analysis

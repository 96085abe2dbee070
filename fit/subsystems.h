// SPDX-License-Identifier: MIT
// Which instructions share a subsystem: what mixes show, else an assumption by instruction class.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fit/fit_mix.h"

namespace occupipe {

// The subsystem that an instruction's name suggests: alu, sfu, fp64, shared, mem or barrier. An
// assumption, and recorded as one.
std::string assumed_subsystem(std::string_view instruction);

struct SubsystemMap {
    std::map<std::string, std::string> subsystem_of;  // instruction → subsystem
    std::map<std::string, bool> measured;    // subsystem → some mix decided who belongs to it
    std::vector<std::string> disagreements;  // mixes that contradict others or the result
};

// Mixes that say "one subsystem" join the classes of their two instructions, those that say "two"
// keep them apart; the most certain first, and a mix that contradicts a more certain one is listed.
SubsystemMap assign_subsystems(std::span<const std::string> instructions,
                               std::span<const MixFit> mixes);

}  // namespace occupipe

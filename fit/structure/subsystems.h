// SPDX-License-Identifier: MIT
// Which instructions share a subsystem: what mixes show, else an assumption by instruction class.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fit/structure/fit_mix.h"

namespace occupipe {

// The subsystem that an instruction's name suggests: alu, sfu, fp64, shared, mem or barrier. An
// assumption, and recorded as one.
std::string assumed_subsystem(std::string_view instruction);

struct SubsystemMap {
    std::map<std::string, std::string> subsystem_of;  // instruction → subsystem
    std::map<std::string, bool> measured;    // subsystem → some mix decided who belongs to it
    std::set<std::string> split_by_scope;    // subsystems: parts of one class (class_split.h)
    std::set<std::string> witnessed;         // instructions that some mix decided about
    std::vector<std::string> disagreements;  // mixes that contradict others or the result
    // How probable it is that a subsystem's measured members belong together, and that all of them
    // do, by the mixes alone; absent where no mix speaks.
    std::map<std::string, double> confidence_of;  // subsystem → 0 … 1
    std::optional<double> confidence;

    // Who belongs to a subsystem: "mixes", "instruction class", "instruction class and scope".
    std::string_view decided_by(const std::string& subsystem) const;
};

// A partition of the instructions from the matrix of pairs (correlation clustering: N. Bansal, A.
// Blum, S. Chawla, "Correlation clustering", 2004). A mix whose better law leads by Δ in AICc
// speaks for "one subsystem" or "two" with odds of exp(Δ/2) (Akaike weights; Burnham and Anderson
// 2002, section 2.9), at most 1000: a systematic error is never less likely than that. The
// partition is built from the most certain mixes on and then improved by moving single instructions
// while the product of the odds grows; mixes that contradict the result are listed. The confidences
// set it against all partitions that differ by one instruction's move to a class with which some
// mix compared it, or to a class of its own. Instructions that no mix touched follow by assumption.
SubsystemMap assign_subsystems(std::span<const std::string> instructions,
                               std::span<const MixFit> mixes);

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// Profiles of earlier versions say in notes what is data today. They are read here and nowhere
// else; nothing else of the program looks into a note.
#pragma once

#include <string>
#include <vector>

#include "core/doubt.h"
#include "core/estimate.h"
#include "core/gpu_profile.h"

namespace occupipe {

// Of what is no value, as files had it before `bound`: the direction, and what the note says beside
// it.
struct NotedBound {
    Estimate::Kind kind = Estimate::Kind::undetermined;
    std::string note;
};
NotedBound bound_in_note(const std::string& note);

// "runs disagree by 12 %; …" → {runs_disagree, 0.12}.
std::vector<Doubt> doubts_in_note(const std::string& note);

// InstructionTiming::step from "…; a step is ISETP + SEL" in the note of Λ, unless there is one.
void read_step(InstructionTiming& timing);

// Files of the first version hold a "lower bound" where nothing waited for the result: what bounded
// the time was something else, an addition's latency for example.
void withdraw_false_bound(InstructionTiming& timing);

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// How sure a prediction is: between which times 95 % of the measured ones are expected.
#pragma once

#include <optional>

#include "ask/answer.h"
#include "core/prediction.h"

namespace occupipe::analysis {

// Of a simulation of machine code, or of a graph that tells of its memory; absent for others, since
// nobody held them against a GPU. docs/background/real-gpus.md, "Intervals", has the rule and its
// proof.
std::optional<PredictionInterval> interval_of(const Told& told, const Model& model,
                                              const Prediction& made);

}  // namespace occupipe::analysis

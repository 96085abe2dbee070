// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/models/model.h"

namespace occupipe {

std::span<const Model> models();

// The aspects in the order of the paper's Table 7.
struct ModelAspect {
    std::string_view name;
    std::string_view meaning;
    bool ModelAspects::*member;
};
std::span<const ModelAspect> model_aspects();

// What was said of memory and this model does not use: "the hit rate 0.5 has no effect on
// pipeline".
std::vector<std::string> unused_memory(const Model& model, const MemoryBehaviour& memory);

// Throws InputError that lists the known models.
const Model& find_model(std::string_view name);

// The models of these names, in their order; "all" stands for the whole table.
std::vector<const Model*> find_models(const std::vector<std::string>& names);

}  // namespace occupipe

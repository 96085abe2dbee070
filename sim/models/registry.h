// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

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

// Throws InputError that lists the known models.
const Model& find_model(std::string_view name);

}  // namespace occupipe

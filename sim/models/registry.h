// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "sim/models/model.h"

namespace occupipe {

std::span<const Model> models();

// Throws InputError naming the models there are.
const Model& find_model(std::string_view name);

}  // namespace occupipe

// SPDX-License-Identifier: MIT
#include "sim/models/registry.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "core/error.h"
#include "sim/models/pipeline.h"
#include "sim/models/roofline.h"
#include "sim/models/volkov.h"

namespace occupipe {
namespace {

// THE TABLE: one row per model.
constexpr std::array table = {
    Model{"roofline",
          "Williams et al. 2009, with the issue limit as a further roof",
          &predict_roofline,
          {.many_subsystems = true, .issue_limit = true}},
    Model{"volkov",
          "Volkov 2016; Lemeire et al., Analysis of the Analytical Performance Models, eq. 2-3",
          &predict_volkov,
          {.ilp = true,
           .compute_latency = true,
           .memory_latency = true,
           .many_subsystems = true,
           .issue_limit = true}},
    Model{"pipeline",
          "Lemeire et al., Analysis of the Analytical Performance Models, section 3",
          &predict_pipeline,
          {.ilp = true,
           .compute_latency = true,
           .memory_latency = true,
           .barriers = true,
           .many_subsystems = true,
           .groups = true,
           .divergent_warps = true,
           .issue_limit = true,
           .scheduler = true}},
};

}  // namespace

std::span<const Model> models() { return table; }

const Model& find_model(std::string_view name) {
    std::string names;
    for (const Model& model : table) {
        if (model.name == name) return model;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", model.name);
    }
    throw InputError(fmt::format("there is no model '{}'; there are {}", name, names));
}

}  // namespace occupipe

// SPDX-License-Identifier: MIT
#include "sim/models/registry.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <type_traits>

#include "core/error.h"

namespace occupipe {

// Each in a file of its own.
using ModelFunction = std::remove_pointer_t<PredictFunction>;
ModelFunction predict_roofline, predict_boat_hull, predict_volkov, predict_transit, predict_x_model,
    predict_mwp_cwp, predict_mwp_cwp_hong_kim, predict_mwp_cwp_corrected, predict_gpuperf,
    predict_wfg, predict_wfg_corrected, predict_gpumech_rr, predict_gpumech_rr_corrected,
    predict_gpumech_gto, predict_mdm, predict_mdm_divergent, predict_quantitative_roofline,
    predict_quantitative_roofline_units, predict_pipeline;

namespace {

// THE TABLE: one row per model, from the simplest to the simulation.
constexpr std::array table = {
    Model{"roofline",
          "Williams et al. 2009, with the issue limit as another roof",
          &predict_roofline,
          {.many_subsystems = true, .issue_limit = true}},
    Model{"boat-hull", "Nugteren and Corporaal 2012", &predict_boat_hull, {}},
    Model{"volkov",
          "Volkov 2016; Lemeire et al., Analysis of the Analytical Performance Models, eq. 2-3",
          &predict_volkov,
          {.ilp = true,
           .compute_latency = true,
           .memory_latency = true,
           .many_subsystems = true,
           .issue_limit = true}},
    Model{"transit",
          "Li et al. 2015; Lemeire et al., Analysis, eq. 4-14",
          &predict_transit,
          {.compute_latency = true, .memory_latency = true}},
    Model{"x-model",
          "Li et al. 2016; Lemeire et al., Analysis, eq. 4-14, with hits in a cache",
          &predict_x_model,
          {.compute_latency = true, .memory_latency = true},
          {.hits = true}},
    Model{"mwp-cwp",
          "Hong and Kim 2009; Lemeire et al., Analysis, eq. 15-28",
          &predict_mwp_cwp,
          {.memory_latency = true, .barriers = true, .issue_limit = true}},
    Model{"mwp-cwp-hong-kim",
          "Hong and Kim 2009, with MWP-1 in the memory-bound case",
          &predict_mwp_cwp_hong_kim,
          {.memory_latency = true, .barriers = true, .issue_limit = true}},
    Model{"mwp-cwp-corrected",
          "Lemeire et al., Analysis, section 5.1",
          &predict_mwp_cwp_corrected,
          {.ilp = true,
           .compute_latency = true,
           .memory_latency = true,
           .barriers = true,
           .issue_limit = true}},
    Model{"gpuperf",
          "Sim et al. 2012; Lemeire et al., Analysis, sections 4.2 and 4.4",
          &predict_gpuperf,
          {.ilp = true, .compute_latency = true, .memory_latency = true, .many_subsystems = true},
          {.hits = true, .requests = true}},
    Model{"wfg",
          "Baghsorkhi et al. 2010; Lemeire et al., Analysis, eq. 30-36",
          &predict_wfg,
          {.ilp = true,
           .compute_latency = true,
           .memory_latency = true,
           .barriers = true,
           .divergent_warps = true}},
    Model{"wfg-corrected",
          "Lemeire et al., Analysis, eq. 42 and section 5.1",
          &predict_wfg_corrected,
          {.ilp = true,
           .compute_latency = true,
           .memory_latency = true,
           .barriers = true,
           .divergent_warps = true}},
    Model{"gpumech-rr",
          "Huang et al. 2014; Lemeire et al., Analysis, section 2.5",
          &predict_gpumech_rr,
          {.memory_latency = true, .divergent_warps = true, .scheduler = true}},
    Model{"gpumech-rr-corrected",
          "Lemeire et al., Analysis, section 2.5.1",
          &predict_gpumech_rr_corrected,
          {.memory_latency = true, .divergent_warps = true, .scheduler = true}},
    Model{"gpumech-gto",
          "Huang et al. 2014; Lemeire et al., Analysis, section 2.5.2",
          &predict_gpumech_gto,
          {.memory_latency = true, .divergent_warps = true, .scheduler = true}},
    Model{"mdm",
          "Wang et al. 2019 and 2020, on GPUMech's GTO",
          &predict_mdm,
          {.memory_latency = true, .divergent_warps = true, .scheduler = true},
          {.requests = true}},
    Model{"mdm-divergent",
          "the same where requests exceed what a core can have under way",
          &predict_mdm_divergent,
          {.memory_latency = true, .divergent_warps = true, .scheduler = true},
          {.requests = true}},
    Model{"quantitative-roofline",
          "Konstantinidis and Cotronis 2017, formulas 2-19",
          &predict_quantitative_roofline,
          {.many_subsystems = true},
          {.dram = true, .references = true}},
    Model{"quantitative-roofline-units",
          "the same with units that work side by side, and the issue limit",
          &predict_quantitative_roofline_units,
          {.many_subsystems = true, .issue_limit = true},
          {.dram = true, .references = true}},
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
           .scheduler = true},
          {},
          true},
};

constexpr std::array aspects = {
    ModelAspect{"ilp", "ILP", &ModelAspects::ilp},
    ModelAspect{"compute_latency", "Λ_comp", &ModelAspects::compute_latency},
    ModelAspect{"memory_latency", "Λ_mem", &ModelAspects::memory_latency},
    ModelAspect{"barriers", "barriers", &ModelAspects::barriers},
    ModelAspect{"many_subsystems", "more than 2 subsystems", &ModelAspects::many_subsystems},
    ModelAspect{"groups", "groups", &ModelAspects::groups},
    ModelAspect{"divergent_warps", "divergent warps", &ModelAspects::divergent_warps},
    ModelAspect{"issue_limit", "issue limit", &ModelAspects::issue_limit},
    ModelAspect{"scheduler", "scheduler", &ModelAspects::scheduler},
};

}  // namespace

std::span<const Model> models() { return table; }

std::span<const ModelAspect> model_aspects() { return aspects; }

std::vector<std::string> unused_memory(const Model& model, const MemoryBehaviour& memory) {
    const MemoryBehaviour none;
    std::vector<std::string> out;
    const auto see = [&](bool reads, double given, double otherwise, const char* name) {
        if (given != otherwise && !reads)
            out.push_back(fmt::format("{} {:g} has no effect on {}", name, given, model.name));
    };
    see(model.reads.hits, memory.hit_rate, none.hit_rate, "the hit rate");
    see(model.reads.hits, memory.hit_latency, none.hit_latency, "the latency of a hit");
    see(model.reads.requests, memory.requests_per_access, none.requests_per_access,
        "the number of requests per access");
    return out;
}

const Model& find_model(std::string_view name) {
    std::string names;
    for (const Model& model : table) {
        if (model.name == name) return model;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", model.name);
    }
    throw InputError(fmt::format("unknown model '{}'; known: {}", name, names));
}

std::vector<const Model*> find_models(const std::vector<std::string>& names) {
    std::vector<const Model*> chosen;
    for (const std::string& name : names) {
        if (name == "all")
            for (const Model& model : models()) chosen.push_back(&model);
        else
            chosen.push_back(&find_model(name));
    }
    return chosen;
}

}  // namespace occupipe

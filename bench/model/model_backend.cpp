// SPDX-License-Identifier: MIT
#include "bench/model/model_backend.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <random>

#include "core/error.h"
#include "core/row_dependence.h"

namespace occupipe::bench {
namespace {

struct ModelProgram : Program {
    explicit ModelProgram(std::string name) : subject(std::move(name)) {}
    std::string subject;
};

class ModelBackend : public Backend {
public:
    ModelBackend(const std::string& id, GpuProfile profile, const ModelOptions& options,
                 CyclesFunction cycles)
        : profile_(std::move(profile)), options_(options), cycles_(std::move(cycles)) {
        facts_.id = id;
        facts_.backend = "model";
        facts_.name = profile_.device.name + " (model)";
        facts_.vendor = profile_.device.vendor;
        facts_.architecture = profile_.device.architecture;
        facts_.compute_capability = profile_.device.compute_capability;
        facts_.driver = "none: simulated, not measured";
        facts_.model = true;
        facts_.cores = profile_.cores;
        facts_.warp_size = profile_.warp_size;
        facts_.clock_source = "the profile's clock; cycles from the simulator";
        facts_.limits = profile_.limits;
        facts_.more["model_noise"] = fmt::format("{}", options.noise);
        facts_.more["model_seed"] = fmt::format("{}", options.seed);
        for (const InstructionTiming& timing : profile_.instructions) {
            const InstructionKind kind = timing.effective_kind();
            const bool barrier = kind == InstructionKind::barrier;
            const bool load = kind == InstructionKind::load;
            rows_.push_back({.id = timing.name,
                             .type = DataType::f32,
                             .pattern = barrier ? Pattern::barrier : Pattern::chain,
                             .step = "",
                             .a = 0,
                             .b = 0,
                             .x = 0,
                             .ptx = "",
                             .sass = "",
                             .x86 = "",
                             .sass_also = "",
                             .x86_also = "",
                             .foldable = false,
                             .meaning = "an instruction of the model device's profile",
                             // A load's name need not say it (row_dependence.h).
                             .counters = {{{load ? dependent_counter : "", 1}}},
                             .principal = true});
        }
    }

    const DeviceFacts& facts() const override { return facts_; }
    std::span<const Row> rows() const override { return rows_; }

    std::optional<std::string> unsupported(const Row& row) const override {
        const InstructionTiming* timing = profile_.find_instruction(row.id);
        if (timing && timing->effective_kind() == InstructionKind::store) {
            return "nothing waits for a store, so a chain of stores has no latency to measure";
        }
        return std::nullopt;
    }

    std::unique_ptr<Program> compile(const KernelSource& source) override {
        return std::make_unique<ModelProgram>(source.plan.subject());
    }

    Observation launch(Program& program, const LaunchRequest& request) override {
        const std::string& subject = dynamic_cast<ModelProgram&>(program).subject;
        const std::string name = measurement_name(subject, request.shape);
        const auto [known, is_new] = exact_.try_emplace(name, 0.0);
        if (is_new) known->second = cycles_(subject, request.shape);
        const double factor = noise_factor(name);
        const double cycles = known->second.cycles * factor;
        Observation observation{.seconds = cycles / profile_.clock_hz,
                                .cycles = cycles,
                                .clock_hz = profile_.clock_hz,
                                .counters = known->second.counters};
        for (auto& [counter, value] : observation.counters)
            if (ModelRun::is_time(counter)) value *= factor;
        return observation;
    }

    std::optional<double> witness_clock() override { return profile_.clock_hz; }

private:
    double noise_factor(const std::string& name) {
        if (options_.noise == 0) return 1;
        std::seed_seq seeds{options_.seed,
                            static_cast<std::uint64_t>(std::hash<std::string>()(name)),
                            static_cast<std::uint64_t>(launches_[name]++)};
        std::mt19937_64 engine(seeds);
        return std::exp(options_.noise * std::normal_distribution<double>()(engine));
    }

    GpuProfile profile_;
    ModelOptions options_;
    CyclesFunction cycles_;
    DeviceFacts facts_;
    std::vector<Row> rows_;
    std::map<std::string, ModelRun> exact_;
    std::map<std::string, int> launches_;
};

}  // namespace

bool ModelRun::is_time(std::string_view counter) {
    return counter.starts_with("running_") || counter.ends_with("_cycles");
}

std::unique_ptr<Backend> open_model(const std::string& id, const GpuProfile& profile,
                                    const ModelOptions& options, CyclesFunction cycles) {
    if (!(options.noise >= 0 && options.noise < 1)) {
        throw InputError(fmt::format("{}: noise: must be at least 0 and below 1", id));
    }
    return std::make_unique<ModelBackend>(id, profile, options, std::move(cycles));
}

}  // namespace occupipe::bench

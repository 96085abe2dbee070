// SPDX-License-Identifier: MIT
// From a configuration of a space to its prediction: the one road of `validate --measured` and
// `tune`. What configurations have in common is made once.
//   Predictor predictor(space, profile, {.models = find_models({"pipeline"})});
//   const ConfigurationPrediction made = predictor.predict({{"block_size_x", 32}, …});
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/tuning/space.h"
#include "ask/answer.h"
#include "ask/code_cache.h"
#include "core/gpu_profile.h"
#include "extract/buffer_store.h"
#include "sim/models/model.h"

namespace occupipe::analysis {

// Why there is no time. The first three are what the GPU refuses, too, and tuners record so.
enum class Refusal : std::uint8_t {
    none,
    shape,       // of the launch: too many threads in a group, a grid that is too large
    compiler,    // the text does not compile, or uses too much shared memory
    resources,   // a core cannot hold even one group: registers, shared memory
    prediction,  // the GPU may run it, but it cannot be executed or predicted here
    stopped,     // interrupted, or out of time
};
std::string_view to_string(Refusal refusal);  // "none", "shape", …
std::optional<Refusal> refusal_named(std::string_view word);

// How a configuration is predicted.
enum class Stage : std::uint8_t {
    // From a few groups of the launch: the geometric mean of `coarse_bound` and of what some waves
    // of groups take by the first model. The bound hides every latency, and few groups miss more in
    // caches than all, so that the first is too short and the second too long.
    coarse,
    exact,  // by the models that were asked for
};
inline constexpr std::string_view coarse_bound = "roofline";

// Of a time, with 95 %, seconds.
struct TimeInterval {
    double low = 0, high = 0;

    bool operator==(const TimeInterval&) const = default;
};

struct ConfigurationPrediction {
    Configuration configuration;
    std::vector<std::optional<double>> predicted;  // seconds, by model; absent: it refused
    std::optional<TimeInterval> interval;          // of the first model; absent: not known
    std::optional<double> coarse;                  // seconds, of the coarse stage
    std::string limiter;  // of the first model, or the coarse one; empty: it names none
    Refusal refused = Refusal::none;
    std::string refusal;  // why there is no time; empty: there is
    // Of machine code and launch: equal for configurations that only their names tell apart. Empty:
    // it was not compiled.
    std::string code;
    bool known = false;     // from another configuration with the same code and launch
    bool at_limit = false;  // refused, since its simulation came to max_simulated
    // What it cost on this machine, processor seconds: to compile and read, to execute with its
    // memory observed, to predict.
    double compile_seconds = 0, execute_seconds = 0, model_seconds = 0;
};

// What does not recur is simulated until its rate is steady, and no longer.
inline RunQuestion estimated() {
    RunQuestion run;
    run.estimate = true;
    return run;
}

struct PredictorOptions {
    ProfileChanges changes = {};
    MemoryQuestion memory = {};
    RunQuestion run = estimated();
    std::vector<const Model*> models = {};
    std::int64_t max_simulated = SimulationOptions().max_simulated;
    CodeCache* cache = nullptr;       // none: everything is compiled
    std::function<bool()> stop = {};  // asked often, by several threads; true: give up
};

class Predictor {
public:
    // Both must live as long.
    Predictor(const TuningSpace& space, const GpuProfile& profile, PredictorOptions options);

    // For several threads at once. A configuration that is refused is a row with the reason. Throws
    // DeviceError where there is no compiler.
    ConfigurationPrediction predict(const Configuration& configuration, Stage stage = Stage::exact);

    // Takes a prediction that was made before for all configurations with the same code and launch.
    void remember(const ConfigurationPrediction& row, Stage stage = Stage::exact);

private:
    struct Made;

    Made code_of(ConfigurationPrediction& row) const;
    void execute_and_model(ConfigurationPrediction& row, const Made& made, Stage stage);
    ModelOptions model_options() const;
    void ask_models(ConfigurationPrediction& row, const Told& at) const;
    void ask_coarsely(ConfigurationPrediction& row, const Told& at) const;
    bool find(ConfigurationPrediction& row, Stage stage) const;

    const TuningSpace& space_;
    const GpuProfile& profile_;
    PredictorOptions options_;
    extract::BufferStore buffers_;
    mutable std::mutex mutex_;
    std::map<std::pair<Stage, std::string>, ConfigurationPrediction> known_;  // by code
};

}  // namespace occupipe::analysis

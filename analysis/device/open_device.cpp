// SPDX-License-Identifier: MIT
#include "analysis/device/open_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "analysis/device/model_run.h"
#include "ask/shipped_files.h"
#include "bench/devices.h"
#include "bench/model/model_backend.h"
#include "bench/offline/stored_compiler.h"
#include "core/benchmark_kernel.h"
#include "core/error.h"
#include "core/files/files.h"
#include "sim/engine/simulate.h"
#include "sim/engine/time_limit.h"

namespace occupipe::analysis {
namespace {

constexpr std::string_view model_prefix = "model:";

template <typename T>
T number(std::string_view text, const std::string& device, std::string_view key) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (!whole || !std::isfinite(static_cast<double>(value))) {
        throw InputError(fmt::format("device '{}': {}: '{}' is not a number", device, key, text));
    }
    return value;
}

struct ModelDevice {
    bench::ModelOptions options;
    std::optional<Policy> policy;  // absent: as the profile says
};

ModelDevice model_options(std::string_view text, const std::string& device) {
    ModelDevice out;
    bench::ModelOptions& options = out.options;
    std::set<std::string_view> given;
    while (!text.empty()) {
        const std::string_view entry = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), entry.size() + 1));
        const auto equals = entry.find('=');
        const std::string_view key = entry.substr(0, equals);
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
        if (!given.insert(key).second)
            throw InputError(fmt::format("device '{}': {}: is given twice", device, key));
        if (key == "noise") {
            options.noise = number<double>(value, device, key);
        } else if (key == "seed") {
            options.seed = number<std::uint64_t>(value, device, key);
        } else if (key == "policy") {
            out.policy = parse_policy(value);
            if (!out.policy)
                throw InputError(fmt::format("device '{}': policy: '{}' is not lrr, gto or oldest",
                                             device, value));
        } else {
            throw InputError(fmt::format("device '{}': '{}': expected noise=…, seed=… or policy=…",
                                         device, key));
        }
    }
    return out;
}

std::unique_ptr<bench::Backend> open_model_device(const std::string& device) {
    const std::string_view rest = std::string_view(device).substr(model_prefix.size());
    const auto question = rest.find('?');
    const std::string path(rest.substr(0, question));
    const ModelDevice wanted = question == std::string_view::npos
                                   ? ModelDevice()
                                   : model_options(rest.substr(question + 1), device);
    const GpuProfile profile = named_profile(path);
    const auto cycles = [profile, policy = wanted.policy](std::string_view subject,
                                                          const MeasurementShape& shape) {
        const Launch launch{
            .group_warps = shape.group_warps,
            .concurrent_groups = shape.concurrent_groups,
            .groups = static_cast<std::int64_t>(shape.concurrent_groups) * profile.cores};
        return model_run(profile, measured_graph(chained_kernel(subject, shape.chains), shape),
                         launch, {.policy = policy, .checkpoint = time_limit()},
                         static_cast<std::int64_t>(shape.warps()) * shape.chains * shape.depth);
    };
    return bench::open_model(device, profile, wanted.options, cycles);
}

}  // namespace

std::unique_ptr<bench::Backend> open_named_device(const std::string& device,
                                                  const std::filesystem::path& kernels) {
    std::shared_ptr<const bench::KernelCompiler> compiler;
    if (!kernels.empty()) compiler = bench::open_kernels(kernels, OCCUPIPE_VERSION);
    if (device.starts_with(model_prefix) && !compiler) return open_model_device(device);
    return bench::open_device(device.empty() ? bench::default_device() : device, compiler);
}

}  // namespace occupipe::analysis

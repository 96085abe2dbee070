// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "bench/backend.h"
#include "core/error.h"

namespace occupipe::bench::testing {

// A device that answers from functions the test gives.
class FakeBackend : public Backend {
public:
    FakeBackend() {
        facts_.id = "fake:0";
        facts_.backend = "fake";
        facts_.name = "Fake";
        facts_.cores = 2;
        facts_.warp_size = 32;
        facts_.limits = {
            .warps = 8, .groups = 4, .group_warps = 4, .registers = {}, .shared_memory_bytes = {}};
    }
    const DeviceFacts& facts() const override { return facts_; }
    std::optional<std::string> unsupported(const Row& row) const override {
        return refuse ? refuse(row) : std::nullopt;
    }
    std::unique_ptr<Program> compile(const KernelSource& source) override {
        struct Named : Program {};
        ++compiled;
        last = source;
        return std::make_unique<Named>();
    }
    Observation launch(Program&, const LaunchRequest& request) override {
        ++launched;
        return answer(request);
    }
    std::optional<double> witness_clock() override { return clock ? clock() : std::nullopt; }
    std::map<std::string, std::string> remarks() const override {
        return launched > 3 ? remarks_ : std::map<std::string, std::string>();
    }

    std::map<std::string, std::string> remarks_;  // once some launches were made

    DeviceFacts facts_;
    std::function<std::optional<std::string>(const Row&)> refuse;
    std::function<Observation(const LaunchRequest&)> answer = [](const LaunchRequest& request) {
        return Observation{.seconds = 1e-6 * static_cast<double>(request.shape.depth),
                           .cycles = 4.0 * static_cast<double>(request.shape.depth),
                           .clock_hz = 1e9,
                           .counters = {}};
    };
    std::function<std::optional<double>()> clock;
    KernelSource last;
    int compiled = 0;
    int launched = 0;
};

}  // namespace occupipe::bench::testing

// SPDX-License-Identifier: MIT
// libFuzzer target: the spec of a sweep. What is read has finite values within its bounds, or is an
// InputError. Built with clang and -DOCCUPIPE_FUZZ=ON; run:
// fuzz_sweeps -max_total_time=600 CORPUS tests/fuzz/sweep_seeds
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "analysis/sweep/sweep_spec.h"
#include "core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace occupipe;
    using namespace occupipe::analysis;
    try {
        const SweepSpec spec = parse_sweep(std::string(data, data + size), "fuzz.yaml");
        if (spec.kernels.empty() || spec.profiles.empty() || spec.models.empty() ||
            spec.launches.empty())
            std::abort();
        for (const SweepParameter& one : spec.set) {
            const std::set<std::string> values(one.values.begin(), one.values.end());
            if (values.empty() || values.size() != one.values.size() || values.contains("inf") ||
                values.contains("nan"))
                std::abort();
        }
        for (const SweepLaunches& one : spec.launches) {
            for (const int warps : one.group_warps)
                if (warps < 1) std::abort();
            for (const std::int64_t groups : one.groups)
                if (groups < 1 || groups > most_groups) std::abort();
        }
        for (const std::int64_t count : spec.iterations)
            if (count < 1) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}

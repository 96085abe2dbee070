// SPDX-License-Identifier: MIT
#include "tests/accuracy/mixed_core.h"

#include <algorithm>
#include <limits>

namespace occupipe::test {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

double Station::slowest() const { return *std::ranges::max_element(service); }

double run_mixed(const MixedCore& core, const std::vector<std::size_t>& pattern, int depth,
                 int warps) {
    struct Warp {
        std::vector<double> done;  // by station: when its last result is there
        int issued = 0;
    };
    const auto n = static_cast<std::size_t>(warps);
    const auto k = static_cast<std::size_t>(core.schedulers);
    std::vector<Warp> all(n);
    for (Warp& warp : all) warp.done.assign(core.stations.size(), 0.0);
    std::vector<double> unit_free(core.units, 0.0);
    std::vector<double> port_free(k, 0.0);
    std::vector<std::size_t> last(k);  // warp that issued last, of each scheduler
    for (std::size_t s = 0; s < k; ++s) last[s] = s;
    std::size_t granted = k - 1;
    double end = 0;
    for (long left = static_cast<long>(n) * depth; left > 0; --left) {
        // The earliest issue of any warp; among equals the next scheduler in turn, and of its
        // warps the next in turn.
        double now = never;
        std::size_t chosen = 0;
        for (std::size_t i = 0; i < k; ++i) {
            const std::size_t s = (granted + 1 + i) % k;
            const std::size_t mine = (n + k - 1 - s) / k;
            const std::size_t from = (last[s] - s) / k;
            for (std::size_t j = 1; j <= mine; ++j) {
                const std::size_t w = s + ((from + j) % mine) * k;
                const Warp& warp = all[w];
                if (warp.issued == depth) continue;
                const std::size_t kind =
                    pattern[static_cast<std::size_t>(warp.issued) % pattern.size()];
                double at = std::max(port_free[s], warp.done[kind]);
                if (at >= now) continue;
                for (std::size_t u = 0; u < core.units; ++u)
                    if (core.stations[kind].service[u] > 0) at = std::max(at, unit_free[u]);
                if (at < now) {
                    now = at;
                    chosen = w;
                }
            }
        }
        Warp& warp = all[chosen];
        const std::size_t kind = pattern[static_cast<std::size_t>(warp.issued) % pattern.size()];
        const Station& station = core.stations[kind];
        for (std::size_t u = 0; u < core.units; ++u)
            if (station.service[u] > 0) unit_free[u] = now + station.service[u];
        granted = chosen % k;
        last[granted] = chosen;
        port_free[granted] = now + core.port;
        warp.done[kind] = now + station.latency;
        ++warp.issued;
        end = std::max(end, warp.done[kind]);
    }
    return end;
}

double run_barriers(double service, double latency, int groups, int group_warps, int depth) {
    struct Group {
        int arrived = 0;
        int passed = 0;
        double ready = 0;  // of its warps that have not arrived
    };
    const auto g = static_cast<std::size_t>(group_warps);
    std::vector<Group> all(static_cast<std::size_t>(groups));
    const std::size_t warps = all.size() * g;
    std::vector<int> arrivals(warps, 0);  // of each warp
    double unit_free = 0;
    double end = 0;
    std::size_t last = warps - 1;
    for (std::size_t left = warps * static_cast<std::size_t>(depth); left > 0; --left) {
        // The first that can, of all warps in turn.
        double now = never;
        std::size_t chosen = 0;
        for (std::size_t i = 1; i <= warps; ++i) {
            const std::size_t w = (last + i) % warps;
            const Group& group = all[w / g];
            if (arrivals[w] > group.passed || group.passed == depth) continue;
            const double at = std::max(group.ready, unit_free);
            if (at < now) {
                now = at;
                chosen = w;
            }
        }
        Group& group = all[chosen / g];
        ++arrivals[chosen];
        last = chosen;
        unit_free = now + service;
        if (++group.arrived == group_warps) {
            group.arrived = 0;
            ++group.passed;
            group.ready = now + latency;
            end = std::max(end, group.ready);
        }
    }
    return end;
}

}  // namespace occupipe::test

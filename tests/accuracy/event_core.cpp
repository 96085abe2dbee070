// SPDX-License-Identifier: MIT
#include "tests/accuracy/event_core.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace occupipe::test {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Warp {
    std::vector<double> done;  // by chain: when its last result is there
    int next_chain = 0;
    long left = 0;
    double ready = 0;      // of its next instruction; never when it has finished
    int control_left = 0;  // instructions of the loop around them
    double loop_done = 0;
};

struct Scheduler {
    std::vector<std::size_t> warps;  // ascending: the oldest first
    std::size_t last = 0;            // place in `warps` of the one that issued last
    double port_free = 0;
    double unit_free = 0;  // of its own copy
    double earliest = 0;   // ready time of its first ready warp

    void look(const std::vector<Warp>& all) {
        earliest = never;
        for (const std::size_t w : warps) earliest = std::min(earliest, all[w].ready);
    }
    std::size_t choose(const std::vector<Warp>& all, double now, Choice choice) const {
        const std::size_t n = warps.size();
        const auto can = [&](std::size_t i) { return all[warps[i]].ready <= now; };
        if (choice == Choice::greedy_then_oldest && can(last)) return last;
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t at = i;
            if (choice == Choice::loose_round_robin) at = (last + 1 + i) % n;
            if (choice == Choice::youngest_first) at = n - 1 - i;
            if (can(at)) return at;
        }
        return n;
    }
};

}  // namespace

EventRun run_events(const EventCore& core, int chains, int depth,
                    const std::vector<int>& scheduler_of, const std::vector<double>& starts,
                    std::mt19937_64& random) {
    std::vector<Warp> warps(starts.size());
    std::vector<Scheduler> schedulers(static_cast<std::size_t>(core.schedulers));
    for (std::size_t w = 0; w < warps.size(); ++w) {
        warps[w] = {std::vector<double>(static_cast<std::size_t>(chains), starts[w]), 0,
                    static_cast<long>(chains) * depth, starts[w], 0};
        schedulers[static_cast<std::size_t>(scheduler_of[w])].warps.push_back(w);
    }
    for (Scheduler& s : schedulers) {
        s.look(warps);
        s.last = s.warps.empty() ? 0 : s.warps.size() - 1;
    }
    double core_free = 0;
    std::size_t granted = schedulers.size() - 1;
    // Service times of a given mean and spread.
    const double shape = core.jitter > 0 ? 1 / (core.jitter * core.jitter) : 1;
    std::gamma_distribution<double> service(shape, core.service / shape);
    std::priority_queue<double, std::vector<double>, std::greater<>> in_flight;
    std::uniform_real_distribution<double> favoured;
    const long whole = static_cast<long>(chains) * depth;
    const long iteration = static_cast<long>(chains) * core.body;
    EventRun out;
    out.checkpoints.resize(warps.size());
    while (true) {
        double now = never;
        std::size_t mine = 0;
        if (core.favour > 0 && favoured(random) < core.favour) granted = schedulers.size() - 1;
        for (std::size_t i = 0; i < schedulers.size(); ++i) {
            const std::size_t s = (granted + 1 + i) % schedulers.size();
            const Scheduler& one = schedulers[s];
            const double unit = core.copies ? one.unit_free : core_free;
            const double at = std::max({one.earliest, one.port_free, unit});
            if (at < now) {
                now = at;
                mine = s;
            }
        }
        if (now == never) break;
        Scheduler& one = schedulers[mine];
        granted = mine;
        one.last = one.choose(warps, now, core.choice);
        Warp& warp = warps[one.warps[one.last]];
        const bool control = warp.control_left > 0;
        bool turns = control;
        const double busy = core.jitter > 0 ? service(random) : core.service;
        (core.copies ? one.unit_free : core_free) = now + busy;
        one.port_free = now + core.port;
        if (control) {
            --warp.control_left;
        } else {
            double latency = core.latency;
            if (core.queueing > 0) {
                while (!in_flight.empty() && in_flight.top() <= now) in_flight.pop();
                latency += core.queueing * static_cast<double>(in_flight.size());
                in_flight.push(now + latency);
            }
            warp.done[static_cast<std::size_t>(warp.next_chain)] = now + latency;
            warp.next_chain = (warp.next_chain + 1) % chains;
            --warp.left;
            if (warp.left % (whole / 4) == 0 && warp.left > 0 && whole % 4 == 0)
                out.checkpoints[one.warps[one.last]].push_back(now);
            turns = iteration > 0 && warp.left % iteration == 0;
            if (turns) warp.control_left = core.loop_instructions;
        }
        warp.loop_done = now + (turns ? core.loop_spacing : 0);
        const double result = warp.done[static_cast<std::size_t>(warp.next_chain)];
        warp.ready = warp.control_left > 0 ? warp.loop_done
                     : warp.left > 0       ? std::max(warp.loop_done, result)
                                           : never;
        one.look(warps);
    }
    for (const Warp& warp : warps)
        out.stops.push_back(std::max(*std::ranges::max_element(warp.done), warp.loop_done));
    return out;
}

}  // namespace occupipe::test

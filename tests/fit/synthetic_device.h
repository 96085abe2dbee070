// SPDX-License-Identifier: MIT
// Random devices with everything the fitter claims to handle: schedulers with their own copies or
// issue ports, issue limits, overheads, contention, noise and outliers. The truth is written out
// here from docs/background/pipeline-model.md, not taken from the fitter's law.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/fit/synthetic.h"

namespace occupipe::test {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random(seed) {}
    double between(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    }
    double log_between(double low, double high) {
        return std::exp(between(std::log(low), std::log(high)));
    }
    bool one_in(int n) { return random() % static_cast<std::uint64_t>(n) == 0; }
    template <class T>
    T pick(std::initializer_list<T> values) {
        return values.begin()[random() % values.size()];
    }
    std::mt19937_64 random;
};

struct RandomCore {
    int schedulers = 1;
    double issue_limit = 1;
    double overhead = 0;
    double group_overhead = 0;
    Noise noise;

    explicit RandomCore(Dice& dice) {
        schedulers = dice.pick({1, 2, 4});
        issue_limit = dice.pick({1.0, 2.0, 4.0});
        overhead = dice.between(0, 2000);
        group_overhead = dice.one_in(3) ? dice.between(0, 50) : 0;
        noise = {dice.log_between(0.005, 0.05), 5, 0.01, 3};
    }
};

struct RandomInstruction {
    Truth truth;              // λ per core, Λ of one instruction alone
    double contention = 0;    // Λ grows by this per further warp
    bool own_copies = false;  // one subsystem per scheduler, else one for the core
    std::vector<int> warps;   // the sweep
    // What the sweep leaves out on purpose.
    bool no_plateau = false;
    bool no_bow = false;
    bool clear_cut = false;  // the three above hold (or do not) by a wide margin

    RandomInstruction(const RandomCore& core, const std::string& name, Dice& dice) {
        do {
            draw(core, name, dice);
        } while (warps.size() < 3);
        const double first = load(core, warps.front());
        const double last = load(core, warps.back());
        no_plateau = last < 0.75;
        no_bow = first > 1.3;
        clear_cut = no_plateau || no_bow || (last > 1.4 && first < 0.7);
    }

    // Cycles per step that subsystem and issue ports need; with ports the fullest scheduler's.
    double work(const RandomCore& core, int w) const {
        const double uneven = std::ceil(static_cast<double>(w) / core.schedulers) * core.schedulers;
        if (own_copies) return uneven * truth.cpi;
        const double ports = core.schedulers > 1 ? uneven / core.issue_limit : 0.0;
        return std::max(w * truth.cpi, ports);
    }
    double latency(int w) const { return truth.latency + contention * (w - 1); }

    // Cycles per step, on average over a long run. One subsystem serves its schedulers in turn, so
    // that those with fewer warps get through first: a flow, phase by phase.
    double period(const RandomCore& core, int w) const {
        if (own_copies || core.schedulers == 1) return std::max(latency(w), work(core, w));
        const double spacing = core.schedulers / core.issue_limit;
        std::vector<int> held(static_cast<std::size_t>(core.schedulers));
        for (int i = 0; i < w; ++i) ++held[static_cast<std::size_t>(i % core.schedulers)];
        std::vector<double> left(held.begin(), held.end());  // instructions of one step
        double time = 0;
        while (true) {
            // Max-min fair shares: who asks for least is served first.
            std::vector<std::size_t> busy;
            for (std::size_t j = 0; j < left.size(); ++j)
                if (left[j] > 1e-12) busy.push_back(j);
            if (busy.empty()) return time;
            std::ranges::stable_sort(busy, {}, [&](std::size_t j) { return held[j]; });
            std::vector<double> rate(left.size());
            double capacity = 1 / truth.cpi;
            for (std::size_t i = 0; i < busy.size(); ++i) {
                const double asked = std::min(held[busy[i]] / latency(w), 1 / spacing);
                rate[busy[i]] = std::min(asked, capacity / static_cast<double>(busy.size() - i));
                capacity -= rate[busy[i]];
            }
            double next = 1e300;
            for (const std::size_t j : busy) next = std::min(next, left[j] / rate[j]);
            for (const std::size_t j : busy) left[j] -= next * rate[j];
            time += next;
        }
    }
    double load(const RandomCore& core, int w) const { return work(core, w) / latency(w); }

    double time(const RandomCore& core, const MeasurementShape& s) const {
        const int w = s.warps();
        const double k = core.schedulers;
        const double ramp =
            own_copies ? (std::ceil(w / k) - 1) * k * truth.cpi : (w - 1) * truth.cpi;
        return core.overhead + core.group_overhead * s.concurrent_groups + latency(w) + ramp +
               (static_cast<double>(s.depth) - 1) * period(core, w);
    }

    std::vector<MeasurementShape> shapes() const {
        std::vector<MeasurementShape> out;
        for (const int w : warps)
            for (const int depth : {512, 1024, 2048}) out.push_back({1, w, 1, depth});
        return out;
    }

private:
    void draw(const RandomCore& core, const std::string& name, Dice& dice) {
        truth.name = name;
        truth.cpi = std::max(1 / core.issue_limit, dice.log_between(0.25, 48));
        if (dice.one_in(4)) truth.cpi = 1 / core.issue_limit;
        truth.latency = std::max(truth.cpi * dice.log_between(1.6, 40), 2.0);
        own_copies = core.schedulers > 1 && dice.one_in(2);
        contention = dice.one_in(4) ? dice.between(0, 0.5) * truth.cpi : 0;
        warps.clear();
        for (int w = 1; w <= 8; ++w) warps.push_back(w);
        for (const int w : {10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 40, 48, 56, 64})
            warps.push_back(w);
        const double ridge = truth.latency / (truth.cpi - contention);
        const int plan = static_cast<int>(dice.random() % 10);
        if (plan == 0) std::erase_if(warps, [&](int w) { return w > 0.7 * ridge; });
        if (plan == 1) std::erase_if(warps, [&](int w) { return w < 1.4 * ridge; });
    }
};

}  // namespace occupipe::test

// SPDX-License-Identifier: MIT
#include "tests/accuracy/scenarios.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "core/running_warps.h"
#include "tests/fit/synthetic_device.h"

namespace occupipe::test {
namespace {

std::vector<Scenario> make_scenarios() {
    std::vector<Scenario> all;
    const auto add = [&](const char* name, auto change) {
        Scenario s;
        s.name = name;
        change(s);
        all.push_back(s);
    };
    add("Gaussian 0.2 %", [](Scenario& s) { s.gaussian = 0.002; });
    add("Gaussian 1 %", [](Scenario& s) { s.gaussian = 0.01; });
    add("Gaussian 3 %", [](Scenario& s) { s.gaussian = 0.03; });
    add("5 % outliers", [](Scenario& s) { s.outlier_share = 0.05; });
    add("25 % outliers", [](Scenario& s) {
        s.outlier_share = 0.25;
        s.must_be_flagged = true;
    });
    add("additive exponential, mean 1 %", [](Scenario& s) {
        s.gaussian = 0;
        s.exponential = 0.01;
    });
    add("event ticks of 32 ns", [](Scenario& s) {
        s.gaussian = 0.002;
        s.tick_seconds = 32e-9;
        s.depth_factor = 8;
    });
    add("counter of 1 cycle", [](Scenario& s) {
        s.gaussian = 0;
        s.counter_step = 1;
    });
    add("counter of 32 cycles", [](Scenario& s) {
        s.gaussian = 0;
        s.counter_step = 32;
    });
    add("intercepts to 2000", [](Scenario& s) { s.greatest_intercept = 2000; });
    for (const int k : {2, 4, 8})
        add(k == 2   ? "copies, period 2"
            : k == 4 ? "copies, period 4"
                     : "copies, period 8",
            [k](Scenario& s) {
                s.schedulers = {k};
                s.copies = true;
            });
    add("copies, period 3, 5, 6, 7 or 16", [](Scenario& s) {
        s.schedulers = {3, 5, 6, 7, 16};
        s.copies = true;
    });
    for (const bool quick : {false, true})
        add(quick ? "quick run, copies slower than Λ" : "copies slower than Λ",
            [quick](Scenario& s) {
                s.quick = quick;
                s.schedulers = {2, 4, 8};
                s.copies = s.slow_copies = true;
            });
    add("issue ports", [](Scenario& s) {
        s.schedulers = {2, 4};
        s.ports = true;
    });
    add("uneven placement, recorded", [](Scenario& s) {
        s.schedulers = {2, 4};
        s.copies = true;
        s.placement = Placement::uneven_recorded;
    });
    add("uneven placement, not recorded", [](Scenario& s) {
        s.schedulers = {2, 4};
        s.copies = true;
        s.placement = Placement::uneven_not_recorded;
        s.must_be_flagged = true;
    });
    add("start skew to 3 %", [](Scenario& s) { s.greatest_skew = 0.03; });
    add("start skew to 10 %", [](Scenario& s) { s.greatest_skew = 0.1; });
    add("errors common to a shape, 1 %", [](Scenario& s) { s.shape_error = 0.01; });
    add("errors common to a point, 1 %", [](Scenario& s) { s.point_error = 0.01; });
    add("common to a shape, with copies", [](Scenario& s) {
        s.shape_error = 0.01;
        s.schedulers = {2, 4};
        s.copies = true;
    });
    add("common to a point, with copies", [](Scenario& s) {
        s.point_error = 0.01;
        s.schedulers = {2, 4};
        s.copies = true;
    });
    add("drift of 3 %, random order", [](Scenario& s) { s.drift = 0.03; });
    add("drift of 3 %, in the plan's order", [](Scenario& s) {
        s.drift = 0.03;
        s.drift_as_planned = true;
        s.must_be_flagged = true;
    });
    add("saw-tooth of 5 %, seven teeth", [](Scenario& s) {
        s.drift = 0.05;
        s.teeth = 7;
        s.must_be_flagged = true;
    });
    for (const double scatter : {0.002, 0.005})
        add(scatter < 0.003 ? "quick run of one, twenty teeth of 4 %, scatter 0.2 %"
                            : "quick run of one, twenty teeth of 4 %, scatter 0.5 %",
            [scatter](Scenario& s) {
                s.quick = true;
                s.instructions = 1;
                s.gaussian = scatter;
                s.drift = 0.04;
                s.teeth = 20;
                s.must_be_flagged = true;
            });
    add("quick run, twenty teeth of 4 %, three repetitions", [](Scenario& s) {
        s.quick = true;
        s.drift = 0.04;
        s.teeth = 20;
        s.repetitions = 3;
        s.must_be_flagged = true;
    });
    for (const bool quick : {false, true})
        add(quick ? "quick run, subsystems of either scope" : "subsystems of either scope",
            [quick](Scenario& s) {
                s.quick = quick;
                s.schedulers = {2, 4};
                s.each_scope = true;
            });
    add("subsystems of either scope, scatter 3 %", [](Scenario& s) {
        s.schedulers = {2, 4};
        s.each_scope = true;
        s.gaussian = 0.03;
    });
    add("ridge at the sweep's border", [](Scenario& s) {
        s.least_ridge = 45;
        s.greatest_ridge = 90;
    });
    add("contention", [](Scenario& s) { s.contention = true; });
    add("contention at the border", [](Scenario& s) {
        s.contention = true;
        s.least_ridge = 30;
        s.greatest_ridge = 70;
    });
    add("contention, copies", [](Scenario& s) {
        s.contention = true;
        s.schedulers = {2, 4};
        s.copies = true;
    });
    add("round knee", [](Scenario& s) { s.jitter = 0.7; });
    add("contention and round knee", [](Scenario& s) {
        s.contention = true;
        s.jitter = 0.7;
    });
    add("1 repetition", [](Scenario& s) { s.repetitions = 1; });
    add("1 repetition, shapes 1 %", [](Scenario& s) {
        s.repetitions = 1;
        s.shape_error = 0.01;
    });
    add("3 repetitions", [](Scenario& s) { s.repetitions = 3; });
    add("drifting warps, round robin", [](Scenario& s) { s.schedulers = {4}; });
    add("drifting warps, greedy then oldest", [](Scenario& s) {
        s.schedulers = {1, 4};
        s.choice = Choice::greedy_then_oldest;
    });
    add("drifting warps, oldest first", [](Scenario& s) {
        s.schedulers = {1, 4};
        s.choice = Choice::oldest_first;
    });
    add("drifting warps, youngest first", [](Scenario& s) {
        s.schedulers = {1, 4};
        s.choice = Choice::youngest_first;
    });
    for (const Choice choice : {Choice::loose_round_robin, Choice::greedy_then_oldest,
                                Choice::oldest_first, Choice::youngest_first})
        add(choice == Choice::loose_round_robin    ? "stops recorded, round robin"
            : choice == Choice::greedy_then_oldest ? "stops recorded, greedy then oldest"
            : choice == Choice::oldest_first       ? "stops recorded, oldest first"
                                                   : "stops recorded, youngest first",
            [choice](Scenario& s) {
                s.schedulers = {1, 4};
                s.choice = choice;
                s.stops = true;
            });
    add("stops recorded, greedy, copies", [](Scenario& s) {
        s.schedulers = {2, 4};
        s.copies = true;
        s.choice = Choice::greedy_then_oldest;
        s.stops = true;
    });
    add("quick run, stops without placements, greedy, either scope", [](Scenario& s) {
        s.quick = true;
        s.schedulers = {2, 4, 6};
        s.each_scope = true;
        s.choice = Choice::greedy_then_oldest;
        s.stops = true;
        s.placed = false;
    });
    for (const double favour : {0.1, 0.5})
        add(favour < 0.3 ? "windows, one scheduler preferred a little"
                         : "windows, one scheduler preferred often",
            [favour](Scenario& s) {
                s.schedulers = {4};
                s.stops = s.windows = true;
                s.favour = favour;
            });
    for (const auto slow :
         {Scenario::Slow::none, Scenario::Slow::long_body, Scenario::Slow::short_body})
        add(slow == Scenario::Slow::none        ? "loop bodies of two lengths"
            : slow == Scenario::Slow::long_body ? "two loop bodies, the long one slower"
                                                : "two loop bodies, the short one slower",
            [slow](Scenario& s) {
                s.quick = true;
                s.depth_factor = 4;
                s.body = 256;
                s.slow = slow;
                s.must_be_flagged = slow != Scenario::Slow::none;
            });
    for (const auto throttle :
         {Scenario::Throttle::step, Scenario::Throttle::gradual, Scenario::Throttle::by_power})
        add(throttle == Scenario::Throttle::step      ? "long runs slower beyond a length"
            : throttle == Scenario::Throttle::gradual ? "long runs slower gradually"
                                                      : "long runs slower by power",
            [throttle](Scenario& s) {
                s.throttle = throttle;
                s.depth_factor = 8;
                if (throttle != Scenario::Throttle::step) s.body = 256;
                s.must_be_flagged = true;
            });
    add("barriers", [](Scenario& s) { s.barriers = true; });
    add("mixes, two or three units", [](Scenario& s) {
        s.schedulers = {1, 4};
        s.mixes = Scenario::Mixes::exact;
        s.greatest_ridge = 20;
    });
    add("mixes behind issue ports", [](Scenario& s) {
        s.schedulers = {2, 4};
        s.mixes = Scenario::Mixes::exact;
        s.ports = true;
        s.greatest_ridge = 20;
    });
    add("mixes, instructions of two units", [](Scenario& s) {
        s.schedulers = {1, 4};
        s.mixes = Scenario::Mixes::inexact;
        s.greatest_ridge = 20;
    });
    return all;
}

struct Shape {
    int warps;
    int chains;
};

// What a sweep over occupancy takes: few warps one by one, many in larger steps, some that
// schedulers cannot share evenly (bench/kernel/sweep.cpp), and some chains.
std::vector<Shape> sweep(bool quick) {
    std::vector<Shape> out;
    for (int w = 1; w <= (quick ? 8 : 10); ++w) out.push_back({w, 1});
    for (const int w : {17, 22, 27, 34, 50}) out.push_back({w, 1});
    if (quick) {
        for (int w = 12; w <= 64; w += 4) out.push_back({w, 1});
        return out;
    }
    for (const int w : {12, 14, 16, 18, 20, 24, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60, 64})
        out.push_back({w, 1});
    for (const int w : {1, 2, 4, 8, 16}) {
        out.push_back({w, 2});
        out.push_back({w, 4});
    }
    return out;
}

// Warps over schedulers: evenly, or so that some are fuller than others.
std::vector<int> place(const Scenario& s, int schedulers, int warps, Dice& dice, int& busiest) {
    std::vector<int> out;
    const bool uneven = s.placement != Placement::even && dice.one_in(2);
    for (int w = 0; w < warps; ++w)
        out.push_back(uneven ? static_cast<int>(dice.random() % static_cast<unsigned>(schedulers))
                             : w % schedulers);
    std::vector<int> held(static_cast<std::size_t>(schedulers));
    for (const int k : out) ++held[static_cast<std::size_t>(k)];
    busiest = *std::ranges::max_element(held);
    return out;
}

EventCore core_of(const Scenario& s, int schedulers, const PlantedInstruction& one, double limit,
                  double contention) {
    EventCore core;
    core.schedulers = schedulers;
    core.copies = one.copied;
    core.service = one.copied ? one.cpi * schedulers : one.cpi;
    core.latency = one.latency;
    core.port = limit > 0 ? schedulers / limit : 0;
    core.queueing = contention;
    core.jitter = s.jitter;
    core.choice = s.choice;
    core.favour = s.favour;
    return core;
}

struct Timed {
    double cycles = 0;
    double skew = 0;
    std::map<std::string, double> running;  // counters
};

// One repetition without noise: starts, run, last stop less first start.
Timed time_once(const EventCore& core, const Shape& shape, int depth, const std::vector<int>& where,
                double skew, Dice& dice) {
    std::vector<double> starts(static_cast<std::size_t>(shape.warps), 0.0);
    if (skew > 0)
        for (double& start : starts) start = dice.between(0, skew);
    const EventRun run = run_events(core, shape.chains, depth, where, starts, dice.random);
    const auto [first, last] = std::ranges::minmax(starts);
    return {*std::ranges::max_element(run.stops) - first, last - first,
            running_counters(starts, run.stops, where)};
}

// One run more at every fourth warp, twice as deep as the deepest, whose warps read the clock on
// their way: the window in which all of them ran.
void measure_windows(const Scenario& s, const EventCore& core, const std::string& name,
                     double intercept, Dice& dice, MeasurementFile& file) {
    for (int warps = 8; warps <= 64; warps += 4) {
        const int depth = 512 * s.depth_factor;
        int busiest = 0;
        const std::vector<int> where = place(s, core.schedulers, warps, dice, busiest);
        for (int r = 0; r < s.repetitions; ++r) {
            const std::vector<double> starts(static_cast<std::size_t>(warps), 0.0);
            const EventRun run = run_events(core, 1, depth, where, starts, dice.random);
            std::vector<WarpTimes> times;
            for (std::size_t w = 0; w < run.stops.size(); ++w)
                times.push_back({0, run.checkpoints[w], run.stops[w]});
            const double cycles = *std::ranges::max_element(run.stops) + intercept;
            MeasurementRow row = row_of(name, {warps, 1, 1, depth}, cycles, r);
            for (const auto& [key, value] : window_counters(times, depth))
                row.counters[key] = value;
            row.counters[checkpoints_counter] = 3;
            row.counters["busiest_scheduler_warps"] = busiest;
            file.rows.push_back(std::move(row));
        }
    }
}

// What count, comparison and branch of the timed loop take: in the shadow of Λ or not, on the
// limiting unit or not.
struct Loop {
    static constexpr int instructions = 3;
    double control = 0;
    bool same_unit = false;
    double slower = 1;

    Loop(const Scenario& s, const EventCore& core, Dice& dice) {
        if (s.body == 0) return;
        control = dice.between(0, 14);
        same_unit = core.service <= 1 && dice.one_in(2);
        if (s.slow != Scenario::Slow::none) slower = dice.pick({1.05, 1.1, 1.25});
    }

    // Every instruction of the slow kernel takes longer.
    EventCore kernel(const Scenario& s, EventCore core, int body, int chains) const {
        const bool is_short = 2 * body * chains < s.body;
        const bool slow =
            s.slow == (is_short ? Scenario::Slow::short_body : Scenario::Slow::long_body);
        core.body = body;
        core.loop_instructions = same_unit ? instructions : 0;
        core.loop_spacing = same_unit ? control / instructions : control;
        if (!slow) return core;
        core.service *= slower;
        core.latency *= slower;
        return core;
    }

    void add_counters(int steps, int chains, MeasurementRow& row) const {
        row.counters["unroll"] = steps;
        row.counters["loop_instructions"] = steps * chains + instructions;
        row.counters["other_instructions"] = instructions;
        row.counters["other_stall_cycles"] = control;
    }
};

// How much slower a run is for its length.
struct Throttle {
    double most = 0;
    double length = 1;  // cycles

    Throttle(const Scenario& s, const EventCore& core, Dice& dice) {
        if (s.throttle == Scenario::Throttle::none) return;
        most = dice.between(0.03, 0.1);
        const double shortest = core.latency * 64 * s.depth_factor;
        const double longest = core.service * 64 * 256 * s.depth_factor;
        length = dice.log_between(4 * shortest, std::max(longest, 8 * shortest));
    }

    double factor(const Scenario& s, const EventCore& core, int in_flight, double cycles) const {
        const double busy = std::min(in_flight * core.service / core.latency, 1.0);
        switch (s.throttle) {
            case Scenario::Throttle::none:
                return 1;
            case Scenario::Throttle::step:
                return cycles > length ? 1 + most : 1;
            case Scenario::Throttle::gradual:
                return 1 + most * -std::expm1(-cycles / length);
            case Scenario::Throttle::by_power:
                return 1 + most * busy * -std::expm1(-cycles / length);
        }
        return 1;
    }
};

double disturbed(const Scenario& s, double cycles, Dice& dice) {
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> exponential;
    double t = cycles * (1 + s.gaussian * normal(dice.random));
    if (s.exponential > 0) t += cycles * s.exponential * exponential(dice.random);
    if (dice.between(0, 1) < s.outlier_share) t *= 3;
    if (s.counter_step > 0) {
        // Start and stop fall anywhere within a count.
        const double start = dice.between(0, s.counter_step);
        t = std::floor((start + t) / s.counter_step) * s.counter_step;
        t = std::max(t, s.counter_step);
    }
    return t;
}

void measure(const Scenario& s, const EventCore& core, const std::string& name, double intercept,
             Dice& dice, MeasurementFile& file) {
    constexpr double clock_hz = 1.5e9;
    std::normal_distribution<double> normal;
    const double shortest = core.latency * 64 * s.depth_factor;
    const double skew = s.greatest_skew > 0 ? dice.between(0.2, 1) * s.greatest_skew * shortest : 0;
    const Loop loop(s, core, dice);
    const Throttle throttle(s, core, dice);
    for (const Shape& shape : sweep(s.quick)) {
        const double of_shape = 1 + s.shape_error * normal(dice.random);
        int busiest = 0;
        const std::vector<int> where = place(s, core.schedulers, shape.warps, dice, busiest);
        for (const int base : {64, 128, 256}) {
            const int depth = base * s.depth_factor;
            const double of_point = of_shape * (1 + s.point_error * normal(dice.random));
            const int body = s.body / (base == 128 && shape.chains == 1 ? 4 : shape.chains);
            const EventCore kernel = loop.kernel(s, core, body, shape.chains);
            Timed ideal = time_once(kernel, shape, depth, where, skew, dice);
            for (int r = 0; r < s.repetitions; ++r) {
                if (r > 0 && (skew > 0 || core.jitter > 0 || core.favour > 0))
                    ideal = time_once(kernel, shape, depth, where, skew, dice);
                const double slower =
                    throttle.factor(s, core, shape.warps * shape.chains, ideal.cycles);
                const double t = disturbed(s, (ideal.cycles + intercept) * of_point * slower, dice);
                MeasurementRow row = row_of(name, {shape.warps, 1, shape.chains, depth}, t, r);
                if (s.tick_seconds > 0) {
                    const double start = dice.between(0, s.tick_seconds);
                    row.seconds =
                        std::floor((start + t / clock_hz) / s.tick_seconds) * s.tick_seconds;
                    row.cycles.reset();
                }
                if (s.placement == Placement::uneven_recorded)
                    row.counters["busiest_scheduler_warps"] = busiest;
                if (s.stops) {
                    // The intercept lies between each warp's start and stop.
                    for (const auto& [key, value] : ideal.running) {
                        const bool time = key.starts_with("running_");
                        row.counters[key] = time ? (value + intercept) * of_point : value;
                    }
                    if (s.placed) row.counters["busiest_scheduler_warps"] = busiest;
                }
                if (skew > 0) row.counters["start_skew_cycles"] = ideal.skew;
                if (s.body > 0) loop.add_counters(body, shape.chains, row);
                file.rows.push_back(std::move(row));
            }
        }
    }
}

// Everything becomes slower in the course of the run.
void drift(const Scenario& s, Dice& dice, MeasurementFile& file) {
    if (!s.drift_as_planned) shuffle_points(dice.random, file);
    if (!(s.drift > 0)) return;
    const auto n = static_cast<double>(file.rows.size());
    for (std::size_t i = 0; i < file.rows.size(); ++i) {
        double part = static_cast<double>(i) / n;
        if (s.teeth > 0) part = part * s.teeth - std::floor(part * s.teeth);
        if (file.rows[i].cycles) *file.rows[i].cycles *= 1 + s.drift * part;
    }
}

// Whether its ports lengthen the instruction's runs, by 2 % at three shapes or more.
bool ports_show(const EventCore& core) {
    constexpr double clear = 0.02;
    EventCore without = core;
    without.port = 0;
    std::mt19937_64 random(1);
    const auto step = [&](const EventCore& one, const Shape& shape) {
        std::vector<int> where;
        for (int w = 0; w < shape.warps; ++w) where.push_back(w % core.schedulers);
        const std::vector<double> starts(where.size(), 0.0);
        const auto time = [&](int depth) {
            const EventRun run = run_events(one, shape.chains, depth, where, starts, random);
            return *std::ranges::max_element(run.stops);
        };
        return time(256) - time(64);
    };
    const std::vector<Shape> shapes = sweep(false);
    return std::ranges::count_if(shapes, [&](const Shape& shape) {
               return step(core, shape) > (1 + clear) * step(without, shape);
           }) >= 3;
}

}  // namespace

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all = make_scenarios();
    return all;
}

void shuffle_points(std::mt19937_64& random, MeasurementFile& file) {
    std::vector<std::vector<MeasurementRow>> points;
    for (MeasurementRow& row : file.rows) {
        if (row.repetition == 0) points.emplace_back();
        points.back().push_back(std::move(row));
    }
    std::ranges::shuffle(points, random);
    file.rows.clear();
    for (std::vector<MeasurementRow>& point : points)
        std::ranges::move(point, std::back_inserter(file.rows));
}

PlantedDevice make_device(const Scenario& s, std::uint64_t seed) {
    if (s.mixes != Scenario::Mixes::none) return make_mixed_device(s, seed);
    if (s.barriers) return make_barrier_device(s, seed);
    Dice dice(seed);
    PlantedDevice device;
    device.file = empty_file();
    const int schedulers = s.schedulers[dice.random() % s.schedulers.size()];
    const double intercept = dice.between(20, s.greatest_intercept);
    const double limit = s.ports ? dice.pick({1.0, 2.0, 4.0}) : 0;
    device.scopes_differ = s.each_scope;
    device.issue_limit = limit;
    device.schedulers = s.copies || s.each_scope || s.ports ? schedulers : 1;
    for (int i = 0; i < s.instructions; ++i) {
        PlantedInstruction one;
        one.name = fmt::format("{}.f32", static_cast<char>('a' + i));
        one.copied = s.copies;
        if (s.each_scope) one.copied = dice.one_in(2);
        if (s.each_scope && !s.one_class)
            one.name =
                std::array{"a.f32", "b.f64", "cos.approx.f32"}.at(static_cast<std::size_t>(i));
        // With ports the first two instructions are nearly as fast as they let them, so that they
        // bind where warps are spread unevenly.
        one.cpi =
            dice.log_between(std::max(s.least_cpi, limit > 0 ? 1 / limit : 0), s.greatest_cpi);
        if (limit > 0 && i < 2) one.cpi = dice.between(1, 1.3) / limit;
        const double least_ridge = s.slow_copies ? 0.2 * schedulers : s.least_ridge;
        const double greatest_ridge = s.slow_copies ? 1.5 * schedulers : s.greatest_ridge;
        const double least = std::max(least_ridge, 2 / one.cpi);
        one.latency = one.cpi * dice.log_between(std::min(least, greatest_ridge), greatest_ridge);
        const double queueing = s.contention ? dice.between(0.05, 0.5) * one.cpi : 0;
        const EventCore core = core_of(s, schedulers, one, limit, queueing);
        measure(s, core, one.name, intercept, dice, device.file);
        if (s.windows) measure_windows(s, core, one.name, intercept, dice, device.file);
        device.limit_shows = device.limit_shows || (limit > 0 && ports_show(core));
        device.instructions.push_back(std::move(one));
    }
    drift(s, dice, device.file);
    return device;
}

}  // namespace occupipe::test

// SPDX-License-Identifier: MIT
// The laws that the fitter knows, as templates on the scalar, so that one text serves evaluation
// and differentiation. Equations: J. Lemeire, J. G. Cornelis, L. Segers, "Microbenchmarks for GPU
// characteristics: the occupancy roofline and the pipeline model" (PDP 2016) and Lemeire, Cornelis,
// Konstantinidis, "Analysis of the analytical performance models for GPUs and extracting the
// underlying pipeline model"; see docs/background/fitting.md.
#pragma once

#include <cmath>

namespace occupipe {

// Where a point was measured; doubles, for arithmetic.
struct HullShape {
    double group_warps = 1;        // g
    double concurrent_groups = 1;  // γ
    double chains = 1;             // c
    double depth = 1;              // N, instructions per chain
    double busiest = 0;            // warps on the fullest scheduler; 0 = as evenly as W allows
    double skew = 0;               // last start less first start [cycles]
    double body = 0;               // steps per chain in the loop's body; 0 = no loop is seen

    double warps() const { return group_warps * concurrent_groups; }  // W
    double in_flight() const { return warps() * chains; }             // M = W·c

    friend bool operator==(const HullShape&, const HullShape&) = default;
};

// A run's time, which is linear in its depth and its start skew: shapes that differ in these alone
// share all of this.
template <class T>
struct HullTimes {
    T once{};        // launch, and what the first steps have to wait for [cycles]
    T period{};      // of each further step [cycles]
    T skew_share{};  // part of the start skew that lengthens the run

    T cycles(double steps, double skew) const {
        return skew > 0 ? once + period * steps + skew_share * skew : once + period * steps;
    }
};

template <class T>
struct HullParameters {
    T cpi{};             // λ per core [cycles]
    T latency{};         // Λ of one instruction alone [cycles]
    T overhead{};        // T0: launch, start, timer [cycles]
    T group_overhead{};  // per concurrent group [cycles]
    T contention{};      // h: growth of Λ per further instruction in flight [cycles]
    T knee{};            // q = 1/p of the p-norm ridge; 0 = sharp
    T port{};            // ρ: share of λ that each scheduler's own part takes (see step_work)
    // Count, comparison and branch of the timed loop, per iteration: what they lengthen one warp's
    // chain by, and what they take of the place that limits the throughput, per core [cycles].
    T loop_latency{};
    T loop_cpi{};
    T skew_share{};  // part of the start skew that lengthens a run at full throughput
};

// Maximum of two positive numbers with a rounded corner: (aᵖ + bᵖ)^(1/p), p = 1/q. At a = b it
// lies 2^q above the maximum; q → 0 is the maximum itself. Written on the ratio of the smaller to
// the larger so that nothing overflows.
template <class T>
T smooth_max(const T& a, const T& b, const T& knee) {
    using std::exp;
    using std::log;
    using std::log1p;
    const T& high = a < b ? b : a;
    const T& low = a < b ? a : b;
    if (knee <= T(1e-6)) return high;
    return high * exp(knee * log1p(exp(log(low / high) / knee)));
}

// Instructions that the fullest scheduler has to issue per step, times k: what counts in the place
// of M when warps split unevenly. With k schedulers warp w runs on scheduler w mod k
// (pipeline-model.md, "Schedulers"), so the fullest one holds ⌈W/k⌉ warps; for multiples of k, and
// k = 1, this is M. Where the placement was recorded, what the fullest one held counts instead.
inline double uneven_in_flight(const HullShape& shape, int schedulers) {
    if (schedulers > 1 && shape.busiest > 0) return shape.busiest * schedulers * shape.chains;
    return std::ceil(shape.warps() / schedulers) * schedulers * shape.chains;
}

// Instructions in flight as the subsystem's work per step sees them, in units of λ per core. ρ = 1:
// each scheduler has its own copy (λ per copy = k·λ), the curve is a staircase. ρ = 0: one
// subsystem serves the core. Between: the core's subsystem behind issue ports of spacing k·ρ·λ per
// scheduler, IL = 1/(ρ·λ); the slower of the two counts, while all warps run (turns_excess).
template <class T>
T step_work(const T& port, double in_flight, double uneven) {
    const T ports = port * uneven;
    return ports <= T(in_flight) ? T(in_flight) : ports;
}

// How much longer a run of one subsystem behind k schedulers takes than max(Λ, work) per step,
// because it serves the schedulers in turn (pipeline-model.md, "Schedulers"): those with fewer
// warps get through first, and what is left of the fullest ones' work cannot fill it. A flow in two
// phases: shares of the subsystem are max-min fair, no scheduler takes more than its port lets
// through or than its warps ask for (c instructions each per Λ); then the a fullest schedulers are
// alone. 1 for k = 1, for warps that spread evenly, and for copies (ρ = 1). Exact for round-robin
// service but where a port is nearly full at Λ (tests/accuracy's event simulation).
template <class T>
T turns_excess(const T& cpi, const T& latency, const T& port, const HullShape& shape,
               int schedulers) {
    if (schedulers == 1 || port >= T(1)) return T(1);
    const double k = schedulers;
    const double w = shape.warps();
    const double most = uneven_in_flight(shape, schedulers) / (k * shape.chains);
    // Recorded placements tell the fullest scheduler alone: the others share the rest.
    const bool even = most == std::ceil(w / k);
    const double fullest = even ? w - (most - 1) * k : 1;
    const double others = k - fullest;
    const double least = even ? most - 1 : (w - most) / std::max(others, 1.0);
    if (others <= 0 || least <= 0) return T(1);
    const auto larger = [](const T& a, const T& b) { return a < b ? b : a; };
    const T spacing = port * cpi * k;
    const double high = most * shape.chains;
    const double low = least * shape.chains;
    T first = larger(latency, spacing * low);
    T last = cpi * (k * high);
    if (first < cpi * (k * low)) {
        first = cpi * (k * low);
    } else {
        const T left = T(1) - cpi * (others * low) / first;
        last = larger(larger(latency, spacing * high), cpi * (fullest * high) / left);
    }
    const T alone = larger(larger(latency, spacing * high), cpi * (fullest * high));
    const T together = larger(latency, cpi * step_work(port, shape.in_flight(), k * high));
    const T period = first < last ? first + (T(1) - first / last) * alone : first;
    return together < period ? period / together : T(1);
}

// What step_work is for instructions that wait behind others once, at the start: (M−1) of them
// with one subsystem, (⌈W/k⌉·c−1)·k with a copy per scheduler (exact at both ends; ρ between
// moves a few cycles of a kernel's start).
template <class T>
T waiting_work(const T& port, double in_flight, double uneven, int schedulers) {
    return port * (uneven - schedulers - (in_flight - 1)) + (in_flight - 1);
}

// What a step costs with its part of the loop around it. Both parts are free in the fit: control
// that issues in the shadow of a latency, or on another unit than the limiting one, costs nothing.
template <class T>
T latency_in_loop(const HullParameters<T>& p, const HullShape& shape, const T& latency) {
    return shape.body > 0 ? latency + p.loop_latency * (1 / shape.body) : latency;
}

template <class T>
T cpi_in_loop(const HullParameters<T>& p, const HullShape& shape) {
    return shape.body > 0 ? p.cpi + p.loop_cpi * (1 / (shape.body * shape.chains)) : p.cpi;
}

// What part of a start skew lengthens a run whose unit is busy for `work` of every `latency`
// cycles. Before the ridge every warp runs at its own pace, and the one that started last ends so
// much later. Beyond it the others use the unit meanwhile, and a share remains. The transition is
// smooth, for the solver.
template <class T>
T skew_share(const HullParameters<T>& p, const HullShape& shape, const T& work, const T& latency) {
    using std::exp;
    using std::log;
    if (shape.skew <= 0) return T(0);
    constexpr double sharpness = 8;
    if (latency <= work) return p.skew_share;
    const T busy = exp(log(work / latency) * sharpness);
    return T(1) + (p.skew_share - T(1)) * busy;
}

// Latency of the last instructions of a run. Beyond the ridge those that wait for the unit are not
// under way, so Λ(M) grows no further than to the M* where Λ(M*) = M*·λ.
template <class T>
T last_latency(const HullParameters<T>& p, const T& latency, const T& work) {
    if (latency < work && p.contention > T(0) && p.contention < p.cpi)
        return p.cpi * (p.latency - p.contention) / (p.cpi - p.contention);
    return latency;
}

// Cycles for W = g·γ warps of c interleaved chains of N dependent instructions:
//     t = T0 + Λ + (M−1)·λ + (N−1)·max(Λ, M·λ),   M = W·c,
// which is pipeline-model.md's boat hull in one line: its two cases differ only in the period of a
// step, Λ when latency-bound, M·λ when throughput-bound. Exact for round-robin issue. With k
// schedulers the fullest copy counts; contention makes Λ(M) = Λ + h·(M−1).
template <class T>
HullTimes<T> hull_times(const HullParameters<T>& p, const HullShape& shape, int schedulers) {
    const double m = shape.in_flight();
    const double uneven = uneven_in_flight(shape, schedulers);
    const T latency = p.latency + p.contention * (m - 1);
    const T alone = latency_in_loop(p, shape, latency);
    const T work = cpi_in_loop(p, shape) * step_work(p.port, m, uneven);
    T period = smooth_max<T>(alone, work, p.knee);
    if (schedulers > 1)
        period = period * turns_excess<T>(cpi_in_loop(p, shape), alone, p.port, shape, schedulers);
    const T ramp = p.cpi * waiting_work(p.port, m, uneven, schedulers);
    return {p.overhead + p.group_overhead * shape.concurrent_groups +
                last_latency(p, latency, work) + ramp,
            period, skew_share(p, shape, work, alone)};
}

template <class T>
T hull_cycles(const HullParameters<T>& p, const HullShape& shape, int schedulers) {
    return hull_times(p, shape, schedulers).cycles(shape.depth - 1, shape.skew);
}

// The same for barriers: all g warps of a group issue, the last issue + Λ frees them all. The
// first warp of a group waits for g−1 issues of its fellows, so a step of one group alone takes
// Λ + (g−1)·λ; γ groups share the subsystem, which needs g·γ·λ per step:
//     t = T0 + Λ + (W−1)·λ + (N−1)·max(Λ + (g−1)·λ, W·λ).
// Exact for round-robin issue (a test compares it with an event simulation).
template <class T>
HullTimes<T> barrier_times(const HullParameters<T>& p, const HullShape& shape, int schedulers) {
    const double w = shape.warps();
    const double g = shape.group_warps;
    const double uneven = uneven_in_flight(shape, schedulers);
    const double uneven_group = std::ceil(g / schedulers) * schedulers;
    const T latency = p.latency + p.contention * (shape.in_flight() - 1);
    const T alone = latency + p.cpi * waiting_work(p.port, g, uneven_group, schedulers);
    const T chain = latency_in_loop(p, shape, alone);
    const T work = cpi_in_loop(p, shape) * step_work(p.port, w, uneven);
    const T period = smooth_max<T>(chain, work, p.knee);
    const T ramp = p.cpi * waiting_work(p.port, w, uneven, schedulers);
    return {p.overhead + p.group_overhead * shape.concurrent_groups + latency + ramp, period,
            skew_share(p, shape, work, chain)};
}

template <class T>
T barrier_cycles(const HullParameters<T>& p, const HullShape& shape, int schedulers) {
    return barrier_times(p, shape, schedulers).cycles(shape.depth - 1, shape.skew);
}

// Instruction mix: β instructions of type 1, then one of type 2, throughput of type 1 in
// instructions per cycle (pipeline-model.md, "Mixes").
template <class T>
T mix_one_subsystem(const T& cpi1, const T& cpi2, double beta) {
    return T(beta) / (cpi1 * beta + cpi2);
}

template <class T>
T mix_two_subsystems(const T& cpi1, const T& cpi2, double beta) {
    const T first = T(1) / cpi1;
    const T second = T(beta) / cpi2;
    return first < second ? first : second;
}

template <class T>
T mix_with_issue_limit(const T& cpi1, const T& cpi2, const T& issue_limit, double beta) {
    const T free = mix_two_subsystems(cpi1, cpi2, beta);
    const T valve = issue_limit * (beta / (beta + 1));
    return free < valve ? free : valve;
}

}  // namespace occupipe

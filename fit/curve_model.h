// SPDX-License-Identifier: MIT
// The laws that the fitter knows, as templates on the scalar, so that one text serves evaluation
// and differentiation. Equations: J. Lemeire, J. G. Cornelis, L. Segers, "Microbenchmarks for GPU
// characteristics: the occupancy roofline and the pipeline model" (PDP 2016) and Lemeire, Cornelis,
// Konstantinidis, "Analysis of the analytical performance models for GPUs and extracting the
// underlying pipeline model" ; see docs/fitting.md.
#pragma once

#include <cmath>

namespace occupipe {

// Where a point was measured; doubles, for arithmetic.
struct HullShape {
    double group_warps = 1;        // g
    double concurrent_groups = 1;  // γ
    double chains = 1;             // c
    double depth = 1;              // N, instructions per chain

    double warps() const { return group_warps * concurrent_groups; }  // W
    double in_flight() const { return warps() * chains; }             // M = W·c
};

template <class T>
struct HullParameters {
    T cpi{};             // λ of one copy of the subsystem [cycles]
    T latency{};         // Λ0 [cycles]
    T overhead{};        // T0: launch, start, timer [cycles]
    T group_overhead{};  // per concurrent group [cycles]
    T contention{};      // h: growth of Λ per instruction in flight [cycles]
    T knee{};            // q = 1/p of the p-norm ridge; 0 = sharp
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

// Instructions that the busiest copy of the subsystem serves per step: with k schedulers warp w
// runs on scheduler w mod k, so the fullest one holds ⌈W/k⌉ warps (model.md, section 4).
inline double busiest_queue(const HullShape& shape, int schedulers) {
    return std::ceil(shape.warps() / schedulers) * shape.chains;
}

// Cycles for W = g·γ warps of c interleaved chains of N dependent instructions:
//     t = T0 + Λ + (M−1)·λ + (N−1)·max(Λ, M·λ),   M = W·c,
// which is model.md's boat hull in one line: its two cases differ only in the period of a step,
// Λ when latency-bound, M·λ when throughput-bound. Exact for round-robin issue. With k schedulers
// M counts the busiest copy; contention makes Λ = Λ0 + h·M.
template <class T>
T hull_cycles(const HullParameters<T>& p, const HullShape& shape, int schedulers) {
    const double queue = busiest_queue(shape, schedulers);
    const T latency = p.latency + p.contention * T(shape.in_flight());
    const T period = smooth_max<T>(latency, p.cpi * T(queue), p.knee);
    return p.overhead + p.group_overhead * T(shape.concurrent_groups) + latency +
           p.cpi * T(queue - 1) + period * T(shape.depth - 1);
}

// The same for barriers: all g warps of a group issue, the last issue + Λ frees them all. The
// first warp of a group waits for g−1 issues of its fellows, so a step of one group alone takes
// Λ + (g−1)·λ; γ groups share the subsystem, which needs g·γ·λ per step:
//     t = T0 + Λ + (W−1)·λ + (N−1)·max(Λ + (g−1)·λ, W·λ).
// Exact for round-robin issue (a test compares it with an event simulation).
template <class T>
T barrier_cycles(const HullParameters<T>& p, const HullShape& shape, int schedulers) {
    const double queue = busiest_queue(shape, schedulers);
    const double fellows = std::ceil(shape.group_warps / schedulers) - 1;
    const T latency = p.latency + p.contention * T(shape.in_flight());
    const T period = smooth_max<T>(latency + p.cpi * T(fellows), p.cpi * T(queue), p.knee);
    return p.overhead + p.group_overhead * T(shape.concurrent_groups) + latency +
           p.cpi * T(queue - 1) + period * T(shape.depth - 1);
}

// Instruction mix: β instructions of type 1, then one of type 2, throughput of type 1 in
// instructions per cycle (model.md, section 2; the second bound is β/λ2, see its errata).
template <class T>
T mix_one_subsystem(const T& cpi1, const T& cpi2, double beta) {
    return T(beta) / (cpi1 * T(beta) + cpi2);
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
    const T valve = issue_limit * T(beta / (beta + 1));
    return free < valve ? free : valve;
}

}  // namespace occupipe

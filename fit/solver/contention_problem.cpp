// SPDX-License-Identifier: MIT
#include "fit/solver/contention_problem.h"

#include <ceres/jet.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fit/laws/hull_law.h"

namespace occupipe {
namespace {

template <class T>
T throughput(std::span<const T> q, double warps) {
    using std::exp;
    const T wait = exp(q[log_unloaded]) + q[growth] * warps;
    return exp(q[log_saturated]) * warps / smooth_max<T>(wait, T(warps), q[knee]);
}

}  // namespace

double contention_throughput(std::span<const double> parameters, double warps) {
    return throughput(parameters, warps);
}

ResidualsFunction contention_residuals(std::span<const OccupancyPoint> points) {
    return each_by_itself([points](std::size_t i, std::span<const double> q, double& residual,
                                   std::span<double> gradient) {
        using Jet = ceres::Jet<double, contention_parameter_count>;
        std::array<Jet, contention_parameter_count> x;
        for (int k = 0; k < Jet::DIMENSION; ++k) x[k] = Jet(q[k], k);
        const Jet r =
            log(throughput(std::span<const Jet>(x), points[i].warps) / points[i].throughput);
        residual = r.a;
        std::ranges::copy(r.v, gradient.begin());
        return std::isfinite(residual);
    });
}

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// Drifts that go to and fro in the course of a run: a saw-tooth, a warm-up. In random order they
// move all shapes by their mean, which leaves no residual, while what was measured at nearly the
// same time has residuals alike.
#pragma once

#include <cstddef>
#include <vector>

namespace occupipe {

struct TimedResidual {
    double when = 0;         // place in the run, in any unit
    std::size_t source = 0;  // residuals of one source are alike for other reasons, too
    double away = 0;         // log(measured / predicted)
};

// The height A of a saw-tooth that makes neighbours of different sources as much alike; 0 where
// they are not clearly alike (four standard errors of the correlation), or the tooth is below
// 0.2 %. Of a saw-tooth the drift's variance is A²/12. Scatter has no part in the covariance of
// neighbours, but these are less alike the shorter the teeth (two thirds of the variance with 16
// residuals each), so it is followed back to distance nothing along the line through the first two.
double wandering_height(std::vector<TimedResidual> residuals);

}  // namespace occupipe

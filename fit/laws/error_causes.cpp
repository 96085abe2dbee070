// SPDX-License-Identifier: MIT
#include "fit/laws/error_causes.h"

#include <cmath>

namespace occupipe {
namespace {

void apply(std::span<const ErrorCause> causes, ErrorCause::Effect ErrorCause::*on, Estimate& e) {
    for (const ErrorCause& cause : causes) {
        const ErrorCause::Effect& effect = cause.*on;
        if (effect.doubt) add_doubt(e, *effect.doubt);
        if (e.identifiable()) add_error(e, cause.name, effect.error);
        if (e.kind == Estimate::Kind::upper_bound) e.value *= effect.bound_factor;
    }
    if (!e.identifiable()) return;
    double factor = 1;
    for (const ErrorCause& cause : causes) {
        raise_error(e, cause.name, (cause.*on).least);
        factor *= (cause.*on).factor;
    }
    e = e.times(factor);
}

}  // namespace

ErrorCause cause_of_both(std::string_view name, double share, const TimingFit& law) {
    ErrorCause cause{.name = name, .common = share};
    cause.cpi.error = share * law.cpi.value;
    cause.latency.error = share * law.latency.value;
    return cause;
}

void apply_causes(std::span<const ErrorCause> causes, TimingFit& fit) {
    apply(causes, &ErrorCause::cpi, fit.cpi);
    apply(causes, &ErrorCause::latency, fit.latency);
    for (const ErrorCause& cause : causes) {
        fit.common_error = std::hypot(fit.common_error, cause.common);
        if (!cause.note.empty()) fit.notes.push_back(cause.note);
    }
}

}  // namespace occupipe

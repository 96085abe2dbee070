// SPDX-License-Identifier: MIT
#include "sim/machine/issue_window.h"

#include <fmt/format.h>

#include "core/error.h"

namespace occupipe::sim {
namespace {

__extension__ using Wide = __int128;  // a product of two 64-bit numbers

Wide greatest_common_divisor(Wide a, Wide b) {
    while (b != 0) {
        const Wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

Wide ceiling(Wide a, Wide b) { return (a + b - 1) / b; }

Rational fraction(double limit) {
    const auto exact = decimal_rational(limit);
    if (!exact)
        throw InputError(fmt::format("an issue limit of {} is beyond what is simulated", limit));
    return *exact;
}

}  // namespace

IssueWindow::IssueWindow(double limit, int schedulers, std::int64_t cycle)
    : limit_(fraction(limit)), schedulers_(schedulers), cycle_(cycle) {
    if ((cycle & (cycle - 1)) == 0) cycle_mask_ = cycle - 1;
    // IL/k = a/b
    const Wide a = limit_.numerator;
    const Wide b = Wide{limit_.denominator} * schedulers;
    always_open_ = a >= b;
    if (a % b == 0) constant_ = static_cast<std::int64_t>(a / b);
    const Wide cycles = b / greatest_common_divisor(a, b);
    if (cycles <= max_ticks / cycle) period_ = static_cast<std::int64_t>(cycles) * cycle;
}

std::int64_t IssueWindow::before(int scheduler, std::int64_t n) const {
    const Wide a = limit_.numerator;
    const Wide b = limit_.denominator;
    return static_cast<std::int64_t>((a * n + b * (schedulers_ - 1 - scheduler)) /
                                     (b * schedulers_));
}

std::int64_t IssueWindow::first_open(int scheduler, std::int64_t time) const {
    if (always_open_ || time > max_ticks) return time;
    const std::int64_t n = time / cycle_;
    // The first m with before(m + 1) > before(n).
    const Wide a = limit_.numerator;
    const Wide b = limit_.denominator;
    const Wide next = Wide{before(scheduler, n)} + 1;
    const Wide m = ceiling(b * schedulers_ * next - b * (schedulers_ - 1 - scheduler), a) - 1;
    if (m <= n) return time;
    return m > max_ticks / cycle_ ? max_ticks + 1 : static_cast<std::int64_t>(m) * cycle_;
}

double IssueWindow::capacity(std::int64_t end) const {
    const Wide cycles = ceiling(end, cycle_);
    const Wide slots = Wide{limit_.numerator} * cycles / limit_.denominator;
    return static_cast<double>(slots);
}

}  // namespace occupipe::sim

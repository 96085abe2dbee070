// SPDX-License-Identifier: MIT
#include "core/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace occupipe {
namespace {

TEST(Statistics, MedianAndSpreadAboutIt) {
    EXPECT_EQ(median({5, 1, 3}), 3);
    EXPECT_EQ(median({4, 1, 3, 100}), 3.5);
    EXPECT_EQ(median({7}), 7);
    EXPECT_DOUBLE_EQ(spread_about(3, {1, 2, 3, 4, 100}), 1.4826);
}

// One degree of freedom: the tangent; two: in closed form.
TEST(Statistics, StudentsTailsOfOneAndTwoDegreesAreClosedForms) {
    for (const double tail : {0.25, 0.025, 0.01, 1e-4, 1e-8}) {
        EXPECT_NEAR(student_critical(tail, 1) * std::tan(std::numbers::pi * tail), 1, 1e-12);
        const double a = 4 * tail * (1 - tail);
        EXPECT_NEAR(student_critical(tail, 2) / (2 * (0.5 - tail) * std::sqrt(2 / a)), 1, 1e-12);
    }
    EXPECT_EQ(student_critical(0.5, 3), 0);
}

// Abramowitz and Stegun, table 26.10, as printed.
TEST(Statistics, StudentsTailsAreTheTable) {
    struct Printed {
        double freedom, of_025, of_005, of_0005;
    };
    for (const Printed& row :
         {Printed{1, 12.706, 63.657, 636.619}, Printed{2, 4.303, 9.925, 31.598},
          Printed{3, 3.182, 5.841, 12.924}, Printed{4, 2.776, 4.604, 8.610},
          Printed{5, 2.571, 4.032, 6.869}, Printed{10, 2.228, 3.169, 4.587},
          Printed{20, 2.086, 2.845, 3.850}, Printed{30, 2.042, 2.750, 3.646},
          Printed{120, 1.980, 2.617, 3.373}, Printed{1e9, 1.960, 2.576, 3.291}}) {
        EXPECT_NEAR(student_critical(0.025, row.freedom), row.of_025, 6e-4) << row.freedom;
        EXPECT_NEAR(student_critical(0.005, row.freedom), row.of_005, 6e-4) << row.freedom;
        EXPECT_NEAR(student_critical(0.0005, row.freedom), row.of_0005, 1.1e-3) << row.freedom;
    }
}

// Between whole degrees of freedom, across the two forms of the continued fraction and up to the
// normal distribution: the tail above the critical value is the one that was wanted.
TEST(Statistics, StudentsCriticalValueHasItsTail) {
    double last = 1e300;
    for (const double freedom : {1.0, 1.3, 2.5, 7.0, 99.0, 201.0, 1e4, 9e6, 2e7, 1e12}) {
        for (const double tail : {0.4, 0.025, 1e-3, 1e-8})
            EXPECT_NEAR(student_tail(student_critical(tail, freedom), freedom) / tail, 1, 1e-9)
                << freedom << " " << tail;
        EXPECT_LT(student_critical(1e-3, freedom), last * (1 + 1e-12));
        last = student_critical(1e-3, freedom);
    }
    EXPECT_NEAR(student_tail(-1.2, 4) + student_tail(1.2, 4), 1, 1e-14);
}

}  // namespace
}  // namespace occupipe

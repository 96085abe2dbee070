// SPDX-License-Identifier: MIT
#include "fit/laws/error_causes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/instruction.h"
#include "tests/fit/synthetic.h"

namespace occupipe {
namespace {

double root_of_squares(const Estimate& e) {
    double sum = 0;
    for (const ErrorTerm& term : e.error_terms) sum += term.size * term.size;
    return std::sqrt(sum);
}

TimingFit law() {
    TimingFit fit;
    fit.cpi = {.value = 2, .std_error = 0.01, .error_terms = {{"scatter", 0.01}}};
    fit.latency = {.value = 20, .std_error = 0.3, .error_terms = {{"scatter", 0.3}}};
    return fit;
}

// One that shifts the values, one with a floor, two plain ones, one with a doubt.
std::vector<ErrorCause> causes_of(const TimingFit& law) {
    std::vector<ErrorCause> causes{
        cause_of_both("drift", 0.02, law),
        cause_of_both("delays", 0.03, law),
        {.name = "loop_control", .cpi = {.error = 0.05}},
        {.name = "misfit", .cpi = {.least = 0.2}, .latency = {.least = 0.1}},
        cause_of_both("wandering", 0.01, law)};
    causes[1].cpi.factor = causes[1].latency.factor = std::exp(-0.03);
    causes[0].cpi.bound_factor = causes[0].latency.bound_factor = std::exp(0.02);
    causes[4].latency.doubt = Doubt{Doubt::Kind::out_of_proportion, 0.01};
    return causes;
}

// Widening one after the other depended on who came first: a shift, or a floor, in the middle.
TEST(ErrorCauses, TheirOrderDoesNotMatter) {
    std::vector<ErrorCause> causes = causes_of(law());
    TimingFit first = law();
    apply_causes(causes, first);
    EXPECT_NEAR(first.cpi.value, 2 * std::exp(-0.03), 1e-15);
    EXPECT_NEAR(*first.cpi.std_error, 0.2 * std::exp(-0.03), 1e-15);  // the floor
    EXPECT_NEAR(*first.latency.std_error,
                std::exp(-0.03) * std::hypot(0.3, 0.4, std::hypot(0.6, 0.2)), 1e-14);
    EXPECT_NEAR(first.common_error, std::hypot(0.02, 0.03, 0.01), 1e-15);
    EXPECT_FALSE(is_doubtful(first.cpi));
    EXPECT_TRUE(has_doubt(first.latency, Doubt::Kind::out_of_proportion));
    std::mt19937_64 random(1);
    for (int i = 0; i < 50; ++i) {
        std::ranges::shuffle(causes, random);
        TimingFit fit = law();
        apply_causes(causes, fit);
        for (auto which : {&TimingFit::cpi, &TimingFit::latency}) {
            EXPECT_NEAR((fit.*which).value / (first.*which).value, 1, 1e-14);
            EXPECT_NEAR(*(fit.*which).std_error / *(first.*which).std_error, 1, 1e-14);
            EXPECT_NEAR(root_of_squares(fit.*which) / *(fit.*which).std_error, 1, 1e-14);
        }
        EXPECT_NEAR(fit.common_error / first.common_error, 1, 1e-14);
    }
}

TEST(ErrorCauses, ABoundHasNoErrorAndIsLoosened) {
    TimingFit fit = law();
    become_bound(fit.cpi, Estimate::Kind::upper_bound, 3);
    become_bound(fit.latency, Estimate::Kind::lower_bound, 10);
    apply_causes(causes_of(fit), fit);
    EXPECT_NEAR(fit.cpi.value, 3 * std::exp(0.02), 1e-15);
    EXPECT_EQ(fit.latency.value, 10);
    for (const Estimate& e : {fit.cpi, fit.latency}) {
        EXPECT_FALSE(e.std_error);
        EXPECT_TRUE(e.error_terms.empty());
    }
}

// Whatever a curve suffers from: the terms are all of the error, and the cause that was planted is
// the largest of them.
TEST(ErrorCauses, TheTermsOfAFitAreItsError) {
    const test::Truth truth{"fma.f32", 0.5, 8};
    struct Planted {
        const char* cause;
        double drift;
        double step;  // of runs beyond 12,000 cycles
        bool one_body;
    };
    for (const Planted& planted :
         {Planted{"scatter", 0, 0, false}, Planted{"drift", 0.06, 0, false},
          Planted{"disproportion", 0, 0.1, false}, Planted{"loop_control", 0, 0, true}})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            MeasurementFile file;
            std::mt19937_64 random(seed);
            std::vector<MeasurementShape> shapes;
            for (const int w : {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64})
                for (const int depth : {512, 1024, 2048}) shapes.push_back({w, 1, 1, depth});
            test::add_rows(
                file, truth.name, shapes,
                [&](const MeasurementShape& shape) {
                    const double cycles = 100 + test::hull_time(truth, shape);
                    return cycles * (cycles > 12000 ? 1 + planted.step : 1);
                },
                {0.001, 5}, random);
            for (std::size_t i = 0; i < file.rows.size(); ++i)
                *file.rows[i].cycles *= 1 + planted.drift * static_cast<double>(i) /
                                                static_cast<double>(file.rows.size());
            Curve curve = curves_of(std::span(&file, 1))[0];
            if (planted.one_body) curve.loop_share = 0.1;
            const TimingFit fit = fit_timing(curve, kind_of(curve.subject));
            ASSERT_TRUE(fit.ok) << planted.cause << ": " << fit.reason;
            for (const Estimate& e : {fit.cpi, fit.latency}) {
                if (!e.identifiable()) continue;
                EXPECT_NEAR(root_of_squares(e) / *e.std_error, 1, 1e-12) << planted.cause;
            }
            ASSERT_TRUE(fit.cpi.identifiable()) << planted.cause << ": " << fit.cpi.note;
            const auto largest =
                std::ranges::max_element(fit.cpi.error_terms, {}, &ErrorTerm::size);
            EXPECT_EQ(largest->name, planted.cause) << seed;
        }
}

}  // namespace
}  // namespace occupipe

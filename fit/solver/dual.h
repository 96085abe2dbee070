// SPDX-License-Identifier: MIT
// Forward-mode automatic differentiation: a value and its N partial derivatives. Enough operations
// for the laws of curve_model.h, so that these headers need no solver.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace occupipe {

template <std::size_t N>
struct Dual {
    double value = 0;
    std::array<double, N> partial{};

    Dual() = default;
    // Implicit, so that constants mix with variables in one formula.
    Dual(double constant) : value(constant) {}
    static Dual variable(double at, std::size_t index) {
        Dual x(at);
        x.partial[index] = 1;
        return x;
    }

    // f(a) and f(a, b) by the chain rule: value, and the derivatives of f.
    static Dual chain(double f, const Dual& a, double df_da) {
        Dual r(f);
        for (std::size_t i = 0; i < N; ++i) r.partial[i] = df_da * a.partial[i];
        return r;
    }
    static Dual chain(double f, const Dual& a, double df_da, const Dual& b, double df_db) {
        Dual r(f);
        for (std::size_t i = 0; i < N; ++i)
            r.partial[i] = df_da * a.partial[i] + df_db * b.partial[i];
        return r;
    }

    friend Dual operator+(const Dual& a, const Dual& b) {
        return chain(a.value + b.value, a, 1, b, 1);
    }
    friend Dual operator-(const Dual& a, const Dual& b) {
        return chain(a.value - b.value, a, 1, b, -1);
    }
    friend Dual operator-(const Dual& a) { return chain(-a.value, a, -1); }
    friend Dual operator*(const Dual& a, const Dual& b) {
        return chain(a.value * b.value, a, b.value, b, a.value);
    }
    friend Dual operator/(const Dual& a, const Dual& b) {
        const double q = a.value / b.value;
        return chain(q, a, 1 / b.value, b, -q / b.value);
    }
    // With constants, which have no derivatives to carry along.
    friend Dual operator+(Dual a, double b) {
        a.value += b;
        return a;
    }
    friend Dual operator-(Dual a, double b) { return std::move(a) + -b; }
    friend Dual operator*(Dual a, double b) {
        a.value *= b;
        for (double& d : a.partial) d *= b;
        return a;
    }
    friend Dual operator/(Dual a, double b) { return std::move(a) * (1 / b); }
    friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
    friend bool operator>(const Dual& a, const Dual& b) { return b < a; }
    friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
    friend bool operator>=(const Dual& a, const Dual& b) { return b <= a; }

    friend Dual exp(const Dual& a) {
        const double e = std::exp(a.value);
        return chain(e, a, e);
    }
    friend Dual log(const Dual& a) { return chain(std::log(a.value), a, 1 / a.value); }
    friend Dual log1p(const Dual& a) { return chain(std::log1p(a.value), a, 1 / (1 + a.value)); }
    friend Dual sqrt(const Dual& a) {
        const double s = std::sqrt(a.value);
        return chain(s, a, 0.5 / s);
    }
    friend Dual sin(const Dual& a) { return chain(std::sin(a.value), a, std::cos(a.value)); }
    friend Dual cos(const Dual& a) { return chain(std::cos(a.value), a, -std::sin(a.value)); }
    friend Dual atan(const Dual& a) {
        return chain(std::atan(a.value), a, 1 / (1 + a.value * a.value));
    }
    // a > 0.
    friend Dual pow(const Dual& a, const Dual& b) {
        const double p = std::pow(a.value, b.value);
        return chain(p, a, p * b.value / a.value, b, p * std::log(a.value));
    }
};

}  // namespace occupipe

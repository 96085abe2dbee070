// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "tests/suite/reference.h"

namespace occupipe::test {
namespace {

// C = A·B, products added in the order of k.
void multiply(std::span<const float> a, std::span<const float> b, std::span<float> c, int m, int n,
              int k) {
    std::ranges::fill(c, 0.0f);
    for (int row = 0; row < m; ++row)
        for (int i = 0; i < k; ++i)
            for (int x = 0; x < n; ++x)
                c[row * n + x] = std::fma(a[row * k + i], b[i * n + x], c[row * n + x]);
}

void matmul_tiled(Expected& e) {
    multiply(e.of<float>("a"), e.of<float>("b"), e.of<float>("c"), e.integer("matmul_tiled", 3),
             e.integer("matmul_tiled", 4), e.integer("matmul_tiled", 5));
}

void matmul_blocked(Expected& e) {
    const int m = e.integer("matmul_blocked", 3), k = e.integer("matmul_blocked", 5);
    const auto turned = e.of<float>("a");
    std::vector<float> a(turned.size());
    for (int row = 0; row < m; ++row)
        for (int i = 0; i < k; ++i) a[row * k + i] = turned[i * m + row];
    multiply(a, e.of<float>("b"), e.of<float>("c"), m, e.integer("matmul_blocked", 4), k);
}

void matmul_mma(Expected& e) {
    const int n = e.integer("matmul_mma", 3), k = e.integer("matmul_mma", 4);
    const auto whole = [](std::span<const std::uint16_t> halves) {
        std::vector<float> all;
        for (const std::uint16_t bits : halves)
            all.push_back(static_cast<float>(floating_value(ElementType::f16, bits)));
        return all;
    };
    const auto c = e.of<float>("c");
    multiply(whole(e.of<std::uint16_t>("a")), whole(e.of<std::uint16_t>("b")), c,
             static_cast<int>(c.size()) / n, n, k);
}

void reduction(Expected& e) {
    const auto in = e.of<float>("in"), sums = e.of<float>("sums");
    std::vector<std::int64_t> exact(sums.size());
    std::int64_t all = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        exact[i / 256 % sums.size()] += static_cast<std::int64_t>(in[i]);
        all += static_cast<std::int64_t>(in[i]);
    }
    std::ranges::transform(exact, sums.begin(), [](auto s) { return static_cast<float>(s); });
    e.of<float>("sum")[0] = static_cast<float>(all);
}

void scan(Expected& e) {
    const auto in = e.of<std::int32_t>("in"), out = e.of<std::int32_t>("out");
    const auto totals = e.of<std::int32_t>("totals");
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        out[i] = sum;
        sum += in[i];
        totals[i / 512] += in[i];
    }
    e.of<std::int32_t>("all")[0] = sum;
}

void histogram(Expected& e) {
    const auto counts = e.of<std::uint32_t>("counts");
    for (const std::byte byte : e.bytes("words")) ++counts[std::to_integer<std::size_t>(byte)];
}

void spmv(Expected& e) {
    const auto lengths = e.of<std::int32_t>("lengths"), starts = e.of<std::int32_t>("starts"),
               columns = e.of<std::int32_t>("columns");
    const auto values = e.of<float>("values"), x = e.of<float>("x"), y = e.of<float>("y");
    std::int32_t next = 0;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        starts[row] = next;
        y[row] = 0;
        for (std::int32_t i = 0; i < lengths[row]; ++i, ++next)
            y[row] = std::fma(values[next], x[columns[next]], y[row]);
    }
    starts[lengths.size()] = next;
}

// The definition, N² terms, in double precision.
void fft(Expected& e) {
    constexpr int n = 512;
    const auto in = e.of<float>("in"), out = e.of<float>("out"), roots = e.of<float>("roots");
    std::vector<double> cosines(n), sines(n);
    for (int i = 0; i < n; ++i) {
        cosines[i] = std::cos(-2 * std::numbers::pi * i / n);
        sines[i] = std::sin(-2 * std::numbers::pi * i / n);
        if (i >= n / 2) continue;
        roots[2 * i] = static_cast<float>(cosines[i]);
        roots[2 * i + 1] = static_cast<float>(sines[i]);
    }
    for (std::size_t first = 0; first < in.size(); first += 2 * n)
        for (int k = 0; k < n; ++k) {
            double re = 0, im = 0;
            for (int j = 0; j < n; ++j) {
                const double x = in[first + 2 * j], y = in[first + 2 * j + 1];
                const double c = cosines[j * k % n], s = sines[j * k % n];
                re += x * c - y * s;
                im += x * s + y * c;
            }
            out[first + 2 * k] = static_cast<float>(re);
            out[first + 2 * k + 1] = static_cast<float>(im);
        }
}

void bitonic(Expected& e) { std::ranges::sort(e.of<std::uint32_t>("keys")); }

void nbody(Expected& e) {
    const auto softening = static_cast<float>(e.number("nbody", 2));
    const int n = e.integer("nbody", 3);
    const auto bodies = e.of<float>("position"), acceleration = e.of<float>("acceleration");
    for (int i = 0; i < n; ++i) {
        float sum[3] = {};
        for (int j = 0; j < n; ++j) {
            float d[3], square = softening;
            for (int axis = 0; axis < 3; ++axis) {
                d[axis] = bodies[4 * j + axis] - bodies[4 * i + axis];
                square = std::fma(d[axis], d[axis], square);
            }
            const float pull = bodies[4 * j + 3] / (square * std::sqrt(square));
            for (int axis = 0; axis < 3; ++axis) sum[axis] = std::fma(d[axis], pull, sum[axis]);
        }
        for (int axis = 0; axis < 3; ++axis) acceleration[4 * i + axis] = sum[axis];
        acceleration[4 * i + 3] = 0;
    }
}

void stencil7(Expected& e) {
    const int nx = e.integer("stencil7", 2), ny = e.integer("stencil7", 3),
              nz = e.integer("stencil7", 4);
    const auto c0 = static_cast<float>(e.number("stencil7", 5)),
               c1 = static_cast<float>(e.number("stencil7", 6));
    const auto in = e.of<float>("in"), out = e.of<float>("out");
    for (int z = 1; z < nz - 1; ++z)
        for (int y = 1; y < ny - 1; ++y)
            for (int x = 1; x < nx - 1; ++x) {
                const int at = (z * ny + y) * nx + x, layer = nx * ny;
                const float row = in[at - 1] + in[at + 1], column = in[at - nx] + in[at + nx];
                const float sum = (row + column) + (in[at - layer] + in[at + layer]);
                out[at] = std::fma(c1, sum, c0 * in[at]);
            }
}

}  // namespace

std::span<const Reference> other_references() {
    static const Reference all[] = {
        {"matmul_tiled", matmul_tiled},
        {"matmul_blocked", matmul_blocked},
        {"matmul_mma", matmul_mma},
        {"reduction", reduction},
        {"scan", scan},
        {"histogram", histogram},
        {"spmv", spmv},
        {"fft",
         fft,
         {{"roots", 1e-7, 0, "the kernel multiplies roots up, the reference takes each anew"},
          {"out", 5e-5, 0,
           "nine steps in single precision against the definition in double precision"}}},
        {"bitonic", bitonic},
        {"nbody", nbody},
        {"stencil7", stencil7},
    };
    return all;
}

const Reference* reference_of(std::string_view source) {
    for (const auto references : {paper_references(), other_references()})
        for (const Reference& one : references)
            if (one.source == source) return &one;
    return nullptr;
}

}  // namespace occupipe::test

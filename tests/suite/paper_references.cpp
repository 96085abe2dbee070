// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "tests/suite/reference.h"

namespace occupipe::test {
namespace {

void gaussian(Expected& e) {
    const int n = e.integer("fan1", 2);
    const auto a = e.of<float>("a"), b = e.of<float>("b"), factor = e.of<float>("factor");
    const int columns = static_cast<int>(e.launches("fan1").size());
    for (int t = 0; t < columns; ++t) {
        for (int row = t + 1; row < n; ++row) {
            const float f = a[row * n + t] / a[t * n + t];
            factor[row * n + t] = f;
            for (int column = t; column < n; ++column)
                a[row * n + column] = std::fma(-f, a[t * n + column], a[row * n + column]);
            b[row] = std::fma(-f, b[t], b[row]);
        }
    }
}

// Cells row by row, as the textbook has it; only those in tiles that a launch computes.
void needleman_wunsch(Expected& e) {
    const int columns = e.integer("nw_kernel1", 2), penalty = e.integer("nw_kernel1", 3);
    const auto score = e.of<std::int32_t>("score"), alike = e.of<std::int32_t>("similarity");
    std::set<std::pair<int, int>> tiles;
    for (const KernelLaunch* launch : e.launches("nw_kernel1")) {
        const int diagonal = static_cast<int>(Expected::number(*launch, 4));
        const int first = static_cast<int>(Expected::number(*launch, 5));
        for (int i = 0; i < static_cast<int>(launch->grid[0]); ++i)
            tiles.emplace(first + i, diagonal - first - i);
    }
    for (int y = 1; y < columns; ++y) {
        for (int x = 1; x < columns; ++x) {
            if (!tiles.contains({(x - 1) / 16, (y - 1) / 16})) continue;
            const int at = y * columns + x;
            const int from_left = score[at - 1] - penalty,
                      from_above = score[at - columns] - penalty;
            score[at] = std::max({score[at - columns - 1] + alike[at], from_left, from_above});
        }
    }
}

void kmeans(Expected& e) {
    const int points = e.integer("kmeans_kernel_c", 3), clusters = e.integer("kmeans_kernel_c", 4);
    const int features = e.integer("kmeans_kernel_c", 5);
    const auto feature = e.of<float>("feature"), swapped = e.of<float>("swapped");
    const auto centres = e.of<float>("centres");
    const auto membership = e.of<std::int32_t>("membership");
    for (int i = 0; i < points; ++i) {
        const float* const point = &feature[i * features];
        for (int f = 0; f < features; ++f) swapped[f * points + i] = point[f];
        std::pair<float, int> best = {std::numeric_limits<float>::infinity(), -1};
        for (int k = 0; k < clusters; ++k) {
            float square = 0;
            for (int f = 0; f < features; ++f) {
                const float difference = point[f] - centres[k * features + f];
                square = std::fma(difference, difference, square);
            }
            best = std::min(best, {square, k});
        }
        membership[i] = best.second;
    }
}

// Pivot by pivot over the whole matrix: every element sees the same products in the same order.
void lud(Expected& e) {
    const int n = e.integer("lud_diagonal", 1);
    const int pivots = 16 * static_cast<int>(e.launches("lud_diagonal").size());
    const auto m = e.of<float>("m");
    for (int k = 0; k < pivots; ++k) {
        for (int i = k + 1; i < n; ++i) {
            m[i * n + k] /= m[k * n + k];
            for (int j = k + 1; j < n; ++j)
                m[i * n + j] = std::fma(-m[i * n + k], m[k * n + j], m[i * n + j]);
        }
    }
}

void hotspot3d(Expected& e) {
    const auto whole = [&](std::size_t i) { return e.integer("hotspot", i); };
    const auto real = [&](std::size_t i) { return static_cast<float>(e.number("hotspot", i)); };
    const int nx = whole(3), ny = whole(4), nz = whole(5);
    const float ce = real(6), cw = real(7), cn = real(8), cs = real(9), ct = real(10),
                cb = real(11), cc = real(12), step = real(13), ambient = real(14);
    const auto power = e.of<float>("power");
    const auto before = e.of<float>("before"), after = e.of<float>("after");
    const std::size_t steps = e.launches("hotspot").size();
    for (std::size_t s = 0; s < steps; ++s) {
        const auto at = [&](int x, int y, int z) {
            return before[(std::clamp(z, 0, nz - 1) * ny + std::clamp(y, 0, ny - 1)) * nx +
                          std::clamp(x, 0, nx - 1)];
        };
        for (int z = 0; z < nz; ++z)
            for (int y = 0; y < ny; ++y)
                for (int x = 0; x < nx; ++x) {
                    float t = cc * at(x, y, z);
                    t = std::fma(cw, at(x - 1, y, z), t);
                    t = std::fma(ce, at(x + 1, y, z), t);
                    t = std::fma(cs, at(x, y + 1, z), t);
                    t = std::fma(cn, at(x, y - 1, z), t);
                    t = std::fma(cb, at(x, y, z - 1), t);
                    t = std::fma(ct, at(x, y, z + 1), t);
                    t = std::fma(step, power[(z * ny + y) * nx + x], t);
                    after[(z * ny + y) * nx + x] = std::fma(ct, ambient, t);
                }
        if (e.swaps() > 0) std::ranges::swap_ranges(before, after);
    }
}

void srad(Expected& e) {
    const int rows = e.integer("srad1", 0), pixels = e.integer("srad1", 1);
    const int columns = pixels / rows;
    const auto q0 = static_cast<float>(e.number("srad1", 10));
    const auto quarter = static_cast<float>(e.number("srad2", 0));
    const auto image = e.of<float>("image"), c = e.of<float>("c");
    const auto dn = e.of<float>("dn"), ds = e.of<float>("ds"), dw = e.of<float>("dw"),
               de = e.of<float>("de");
    const auto place = [&](int row, int column) {
        return std::clamp(column, 0, columns - 1) * rows + std::clamp(row, 0, rows - 1);
    };
    for (std::size_t step = 0; step < e.launches("srad1").size(); ++step) {
        for (int column = 0; column < columns; ++column) {
            for (int row = 0; row < rows; ++row) {
                const int i = place(row, column);
                const float j = image[i];
                dn[i] = image[place(row - 1, column)] - j;
                ds[i] = image[place(row + 1, column)] - j;
                dw[i] = image[place(row, column - 1)] - j;
                de[i] = image[place(row, column + 1)] - j;
                float squares = dn[i] * dn[i];
                for (const float d : {ds[i], dw[i], de[i]}) squares = std::fma(d, d, squares);
                const float g2 = squares / (j * j);
                const float l = (((dn[i] + ds[i]) + dw[i]) + de[i]) / j;
                const float numerator = 0.5f * g2 - 0.0625f * (l * l);
                const float denominator = std::fma(0.25f, l, 1.0f);
                const float q2 = numerator / (denominator * denominator);
                const float excess = (q2 - q0) / (q0 * (1.0f + q0));
                c[i] = std::clamp(1.0f / (1.0f + excess), 0.0f, 1.0f);
            }
        }
        for (int column = 0; column < columns; ++column) {
            for (int row = 0; row < rows; ++row) {
                const int i = place(row, column);
                float d = c[i] * dn[i];
                d = std::fma(c[place(row + 1, column)], ds[i], d);
                d = std::fma(c[i], dw[i], d);
                d = std::fma(c[place(row, column + 1)], de[i], d);
                image[i] = std::fma(quarter, d, image[i]);
            }
        }
    }
}

// The sum of products[first], … by halves, each half first: what a tree adds. Leaves at each place
// what the tree's place holds in the end.
float tree(float* products, int count, int stride) {
    if (count == 1) return products[0];
    const float left = tree(products, count / 2, stride);
    const float right = tree(products + count / 2 * stride, count / 2, stride);
    products[0] = left + right;
    return products[0];
}

void backprop(Expected& e) {
    const int hidden = e.integer("bpnn_layerforward", 3), width = hidden + 1;
    const auto input = e.of<float>("input"), weights = e.of<float>("weights");
    const auto before = e.of<float>("before"), delta = e.of<float>("delta");
    const auto partial = e.of<float>("partial");
    const int inputs = static_cast<int>(input.size()) - 1;
    for (int i = 1; i <= inputs; ++i)
        for (int j = 1; j <= hidden; ++j) weights[i * width + j] *= input[i];
    for (int first = 1; first <= inputs; first += 16)
        for (int j = 1; j <= hidden; ++j)
            partial[(first - 1) / 16 * hidden + j - 1] =
                tree(&weights[first * width + j], 16, width);
    for (int i = 0; i <= inputs; ++i) {
        for (int j = 1; j <= hidden; ++j) {
            float& old = before[i * width + j];
            old = i == 0 ? std::fma(0.3f, delta[j], 0.3f * old)
                         : std::fma(0.3f * delta[j], input[i], 0.3f * old);
            weights[i * width + j] += old;
        }
    }
}

struct Gas {
    float density, momentum[3], energy, velocity[3], square, pressure;
    float flux[4][3];  // of momentum by row, and of energy
};

Gas gas_at(std::span<const float> all, int i, int cells) {
    Gas g{};
    g.density = all[i];
    for (int k = 0; k < 3; ++k) g.momentum[k] = all[i + (k + 1) * cells];
    g.energy = all[i + 4 * cells];
    for (int k = 0; k < 3; ++k) g.velocity[k] = g.momentum[k] / g.density;
    g.square = g.velocity[0] * g.velocity[0];
    for (int k = 1; k < 3; ++k) g.square = std::fma(g.velocity[k], g.velocity[k], g.square);
    g.pressure = (1.4f - 1.0f) * std::fma(-0.5f * g.density, g.square, g.energy);
    for (int row = 0; row < 3; ++row)
        for (int k = 0; k < 3; ++k) {
            // The tensor is symmetric; the kernel takes the lower index's velocity.
            const int low = std::min(row, k), high = std::max(row, k);
            g.flux[row][k] = low == high ? std::fma(g.velocity[row], g.momentum[row], g.pressure)
                                         : g.velocity[low] * g.momentum[high];
        }
    for (int k = 0; k < 3; ++k) g.flux[3][k] = g.velocity[k] * (g.energy + g.pressure);
    return g;
}

float through(const float* a, const float* b, const float* normal) {
    float sum = normal[0] * (a[0] + b[0]);
    for (int k = 1; k < 3; ++k) sum = std::fma(normal[k], a[k] + b[k], sum);
    return sum;
}

void fluxes_of(std::span<const float> variables, std::span<const float> normals,
               std::span<const std::int32_t> neighbours, const Gas& far, int cells,
               std::span<float> fluxes) {
    for (int i = 0; i < cells; ++i) {
        const Gas own = gas_at(variables, i, cells);
        const float speed = std::sqrt(own.square);
        const float sound = std::sqrt(1.4f * own.pressure / own.density);
        float sum[5] = {};  // density, momentum, energy
        for (int face = 0; face < 4; ++face) {
            float normal[3], half[3];
            for (int k = 0; k < 3; ++k) {
                normal[k] = normals[i + (face * 3 + k) * cells];
                half[k] = 0.5f * normal[k];
            }
            const int other = neighbours[i + face * cells];
            if (other == -1) {
                for (int k = 0; k < 3; ++k)
                    sum[k + 1] = std::fma(normal[k], own.pressure, sum[k + 1]);
                continue;
            }
            const Gas next = other == -2 ? far : gas_at(variables, other, cells);
            if (other >= 0) {
                float square = normal[0] * normal[0];
                for (int k = 1; k < 3; ++k) square = std::fma(normal[k], normal[k], square);
                const float next_sound = std::sqrt(1.4f * next.pressure / next.density);
                const float waves = ((speed + std::sqrt(next.square)) + sound) + next_sound;
                const float factor = -std::sqrt(square) * 0.2f * 0.5f * waves;
                sum[0] = std::fma(factor, own.density - next.density, sum[0]);
                for (int k = 0; k < 3; ++k)
                    sum[k + 1] = std::fma(factor, own.momentum[k] - next.momentum[k], sum[k + 1]);
                sum[4] = std::fma(factor, own.energy - next.energy, sum[4]);
            }
            sum[0] += through(next.momentum, own.momentum, half);
            for (int k = 0; k < 4; ++k) sum[k + 1] += through(next.flux[k], own.flux[k], half);
        }
        for (int k = 0; k < 5; ++k) fluxes[i + k * cells] = sum[k];
    }
}

void cfd(Expected& e) {
    const int cells = e.integer("cfd_grid", 1), width = e.integer("cfd_grid", 2);
    const auto neighbours = e.of<std::int32_t>("neighbours");
    const auto noise = e.of<float>("noise"), variables = e.of<float>("variables"),
               before = e.of<float>("before"), areas = e.of<float>("areas"),
               factors = e.of<float>("step_factors"), fluxes = e.of<float>("fluxes");
    for (int i = 0; i < cells; ++i) {
        const bool leftmost = i % width == 0, rightmost = (i + 1) % width == 0 || i + 1 == cells;
        neighbours[i] = leftmost ? -1 : i - 1;
        neighbours[cells + i] = rightmost ? -1 : i + 1;
        neighbours[2 * cells + i] = i - width < 0 ? -2 : i - width;
        neighbours[3 * cells + i] = i + width < cells ? i + width : -2;
        variables[i] = 1.25f + noise[i] / 8;  // exact but for one rounding
        for (int k = 1; k < 4; ++k) variables[k * cells + i] = 0.25f + noise[k * cells + i] / 2;
        variables[4 * cells + i] = 2.5f + noise[4 * cells + i] / 4;
    }
    std::ranges::copy(variables, before.begin());
    for (int i = 0; i < cells; ++i) {
        const Gas gas = gas_at(variables, i, cells);
        const float sound = std::sqrt(1.4f * gas.pressure / gas.density);
        factors[i] = 0.5f / (std::sqrt(areas[i]) * (std::sqrt(gas.square) + sound));
    }
    const Gas far = gas_at(e.of<float>("far"), 0, 1);
    for (const KernelLaunch* stage : e.launches("time_step")) {
        fluxes_of(variables, e.of<float>("normals"), neighbours, far, cells, fluxes);
        const auto left = static_cast<float>(Expected::number(*stage, 0));
        for (int k = 0; k < 5 * cells; ++k)
            variables[k] = std::fma(factors[k % cells] / left, fluxes[k], before[k]);
    }
}

// One grid of all points from two of every other point, and back.
template <typename T>
struct Grid {
    int n;
    std::vector<T> points;

    Grid(int side, std::span<const T> red, std::span<const T> black)
        : n(side), points(static_cast<std::size_t>(side) * side) {
        for (int i = 0; i < n; ++i)
            for (int x = 0; x < n; ++x)
                at(i, x) = ((i + x) % 2 == 0 ? red : black)[i * n / 2 + x / 2];
    }
    T& at(int i, int x) { return points[static_cast<std::size_t>(i) * n + x]; }
    void give(std::span<T> red, std::span<T> black) {
        for (int i = 0; i < n; ++i)
            for (int x = 0; x < n; ++x)
                ((i + x) % 2 == 0 ? red : black)[i * n / 2 + x / 2] = at(i, x);
    }
};

void red_black_sor(Expected& e) {
    const int n = e.integer("sor", 2);
    const auto omega = static_cast<float>(e.number("sor", 4));
    Grid<float> grid(n, e.of<float>("red"), e.of<float>("black"));
    for (std::size_t half = 0; half < e.launches("sor").size(); ++half)
        for (int i = 1; i < n - 1; ++i)
            for (int x = 1; x < n - 1; ++x) {
                if ((i + x) % 2 != static_cast<int>(half % 2)) continue;
                const float around = (grid.at(i - 1, x) + grid.at(i + 1, x)) +
                                     (grid.at(i, x - 1) + grid.at(i, x + 1));
                const float change = std::fma(0.25f, around, -grid.at(i, x));
                grid.at(i, x) = std::fma(omega, change, grid.at(i, x));
            }
    grid.give(e.of<float>("red"), e.of<float>("black"));
}

void lmsor(Expected& e) {
    const int n = e.integer("lmsor", 2);
    const double reynolds = e.number("lmsor", 4), h = 1.0 / (n - 1);
    Grid<double> grid(n, e.of<double>("red"), e.of<double>("black"));
    for (std::size_t half = 0; half < e.launches("lmsor").size(); ++half)
        for (int i = 1; i < n - 1; ++i)
            for (int x = 1; x < n - 1; ++x) {
                if ((i + x) % 2 != static_cast<int>(half % 2)) continue;
                const double f = 0.5 * h * reynolds * (2.0 * (i * h) - 1.0);
                const double g = 0.5 * h * reynolds * (1.0 - 2.0 * (x * h));
                const double l = 0.25 * (1.0 + f), r = 0.25 * (1.0 - f);
                const double b = 0.25 * (1.0 + g), t = 0.25 * (1.0 - g);
                const double mu_square = 4.0 * std::fma(l, r, b * t);
                const double omega = 2.0 / (1.0 + std::sqrt(std::fabs(1.0 - mu_square) + 0.001));
                double sum = l * grid.at(i, x - 1);
                sum = std::fma(r, grid.at(i, x + 1), sum);
                sum = std::fma(b, grid.at(i - 1, x), sum);
                sum = std::fma(t, grid.at(i + 1, x), sum);
                grid.at(i, x) = std::fma(omega, sum - grid.at(i, x), grid.at(i, x));
            }
    grid.give(e.of<double>("red"), e.of<double>("black"));
}

void sgemm(Expected& e) {
    const int n = e.integer("sgemm", 3), k = e.integer("sgemm", 4);
    const auto alpha = static_cast<float>(e.number("sgemm", 5)),
               beta = static_cast<float>(e.number("sgemm", 6));
    const auto a = e.of<float>("a"), b = e.of<float>("b"), c = e.of<float>("c");
    std::vector<float> sums(n);
    for (int row = 0; row * n < static_cast<int>(c.size()); ++row) {
        std::ranges::fill(sums, 0.0f);
        for (int i = 0; i < k; ++i)
            for (int x = 0; x < n; ++x) sums[x] = std::fma(a[row * k + i], b[i * n + x], sums[x]);
        for (int x = 0; x < n; ++x)
            c[row * n + x] = std::fma(alpha, sums[x], beta * c[row * n + x]);
    }
}

// All pairs within neighbouring boxes, in double precision.
void lavamd(Expected& e) {
    const int side = e.integer("lavamd_neighbours", 1), boxes = side * side * side;
    const double alpha_square = e.number("lavamd", 4);
    const auto neighbours = e.of<std::int32_t>("neighbours");
    const auto position = e.of<float>("position"), charge = e.of<float>("charge"),
               force = e.of<float>("force");
    const auto corner = [&](int box, int axis) {
        return axis == 0 ? box % side : axis == 1 ? box / side % side : box / side / side;
    };
    for (int box = 0; box < boxes; ++box) {
        std::vector<int> near = {box};
        for (int other = 0; other < boxes; ++other) {
            int distance = 0;
            for (int axis = 0; axis < 3; ++axis)
                distance = std::max(distance, std::abs(corner(box, axis) - corner(other, axis)));
            if (distance == 1) near.push_back(other);
        }
        for (int k = 0; k < 27; ++k)
            neighbours[box * 27 + k] = k < static_cast<int>(near.size()) ? near[k] : -1;
        for (int i = box * 100; i < box * 100 + 100; ++i) {
            double sum[4] = {};
            const float* const own = &position[i * 4];
            for (const int other : near)
                for (int j = other * 100; j < other * 100 + 100; ++j) {
                    const float* const its = &position[j * 4];
                    double product = 0;
                    for (int d = 0; d < 3; ++d) product += static_cast<double>(own[d]) * its[d];
                    const double r_square = static_cast<double>(own[3]) + its[3] - product;
                    const double v = std::exp(-alpha_square * r_square);
                    sum[0] += charge[j] * v;
                    for (int d = 0; d < 3; ++d)
                        sum[d + 1] += charge[j] * 2 * v * (static_cast<double>(own[d]) - its[d]);
                }
            for (int d = 0; d < 4; ++d) force[i * 4 + d] = static_cast<float>(sum[d]);
        }
    }
}

}  // namespace

std::span<const Reference> paper_references() {
    static const Reference all[] = {
        {"gaussian", gaussian},
        {"needleman_wunsch", needleman_wunsch},
        {"kmeans", kmeans},
        {"lud", lud},
        {"hotspot3d", hotspot3d},
        {"srad", srad},
        {"backprop", backprop},
        {"cfd", cfd},
        {"red_black_sor", red_black_sor},
        {"lmsor", lmsor},
        {"sgemm", sgemm},
        {"lavamd",
         lavamd,
         {{"force", 1e-3, 1e-5,
           "exp differs by units in the last place from library to library, and up to 2,700 "
           "products are added in single precision"}}},
    };
    return all;
}

}  // namespace occupipe::test

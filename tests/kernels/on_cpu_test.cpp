// SPDX-License-Identifier: MIT
// The oracle itself: kernels on the host give what their definition says, in whichever order their
// threads run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <numeric>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/files/launch_files.h"
#include "tests/kernels/host/half.h"
#include "tests/kernels/kernel_case.h"
#include "tests/kernels/run_on_cpu.h"

namespace occupipe::test {
namespace {

std::vector<std::byte> content(const std::vector<Buffer>& buffers, std::string_view name) {
    return std::ranges::find(buffers, name, &Buffer::name)->bytes;
}

class OnCpu : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(OnCpu, OrderOfThreadsDoesNotMatter) {
    const LaunchPlan plan = read_launches(GetParam());
    const std::vector<Buffer> one = run_on_cpu(plan),
                              other = run_on_cpu(plan, host::Order::backward);
    for (std::size_t i = 0; i < one.size(); ++i) {
        const auto [at, there] = std::ranges::mismatch(one[i].bytes, other[i].bytes);
        EXPECT_TRUE(at == one[i].bytes.end())
            << one[i].name << " at element " << (at - one[i].bytes.begin()) / bytes_of(one[i].type);
    }
}

TEST_P(OnCpu, WritesWhatItChecks) {
    const LaunchPlan plan = read_launches(GetParam());
    const std::vector<Buffer> after = run_on_cpu(plan);
    ASSERT_FALSE(plan.checks.empty());
    for (const BufferCheck& check : plan.checks) {
        EXPECT_NE(content(buffers_before(plan), check.buffer), content(after, check.buffer))
            << check.buffer;
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, OnCpu, testing::ValuesIn(launch_files()), [](const auto& one) {
    std::string name = one.param.stem().string();
    std::ranges::replace_if(
        name, [](char c) { return !std::isalnum(c); }, '_');
    return name;
});

TEST(KernelOnCpu, Saxpy) {
    const Case run("saxpy");
    const auto x = run.before_of<float>("x"), out = run.after_of<float>("out");
    for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(out[i], std::fma(2.5f, x[i], static_cast<float>(i))) << i;
}

TEST(KernelOnCpu, Reduction) {
    const Case run("reduction");
    double exact = 0;
    for (const float x : run.before_of<float>("in")) exact += x;
    EXPECT_NEAR(run.after_of<float>("sum")[0], exact, 1e-2);
}

TEST(KernelOnCpu, Transpose) {
    const Case run("transpose");
    const auto in = run.before_of<float>("in"), out = run.after_of<float>("out");
    for (int y = 0; y < 125; ++y) {
        for (int x = 0; x < 250; ++x) ASSERT_EQ(out[x * 125 + y], in[y * 250 + x]);
    }
}

// Row by row times row by row, as one fused sum upwards in k.
template <typename Sum, typename Factor>
std::vector<Sum> product(const std::vector<Factor>& a, const std::vector<Factor>& b, int n, int k,
                         std::vector<Sum> c) {
    for (int i = 0; i < static_cast<int>(c.size()); ++i) {
        for (int at = 0; at < k; ++at) {
            const Sum left = static_cast<Sum>(a[i / n * k + at]);
            const Sum right = static_cast<Sum>(b[at * n + i % n]);
            if constexpr (std::is_integral_v<Sum>) {
                c[i] += left * right;
            } else {
                c[i] = std::fma(left, right, c[i]);
            }
        }
    }
    return c;
}

TEST(KernelOnCpu, MatrixProducts) {
    for (const auto& [name, n, k] :
         {std::tuple{"matmul", 90, 70}, std::tuple{"matmul_pipelined", 192, 80}}) {
        const Case run(name);
        EXPECT_EQ(run.after_of<float>("c"),
                  product(run.before_of<float>("a"), run.before_of<float>("b"), n, k,
                          run.before_of<float>("c")))
            << name;
    }
}

TEST(KernelOnCpu, MatrixProductsOfMatrixUnits) {
    const Case halves("matmul_half"), bytes("matmul_bytes"), doubles("matmul_double");
    EXPECT_EQ(halves.after_of<float>("c"),
              product(halves.before_of<half>("a"), halves.before_of<half>("b"), 64, 80,
                      halves.before_of<float>("c")));
    EXPECT_EQ(doubles.after_of<double>("c"),
              product(doubles.before_of<double>("a"), doubles.before_of<double>("b"), 40, 48,
                      doubles.before_of<double>("c")));
    const auto b = bytes.before_of<std::int8_t>("b");
    std::vector<std::int8_t> turned(b.size());
    for (int row = 0; row < 56; ++row) {
        for (int at = 0; at < 128; ++at) turned[at * 56 + row] = b[row * 128 + at];
    }
    EXPECT_EQ(bytes.after_of<int>("c"), product(bytes.before_of<std::int8_t>("a"), turned, 56, 128,
                                                bytes.before_of<int>("c")));
}

TEST(KernelOnCpu, Scan) {
    const Case run("scan");
    auto expected = run.before_of<int>("in");
    std::exclusive_scan(expected.begin(), expected.end(), expected.begin(), 0);
    EXPECT_EQ(run.after_of<int>("out"), expected);
}

TEST(KernelOnCpu, Histogram) {
    const Case run("histogram");
    std::vector<unsigned> expected(256);
    for (const std::byte byte : content(run.before, "words"))
        ++expected[std::to_integer<unsigned>(byte)];
    EXPECT_EQ(run.after_of<unsigned>("counts"), expected);
}

TEST(KernelOnCpu, BitonicSort) {
    const Case run("bitonic");
    const auto before = run.before_of<unsigned>("keys"), keys = run.after_of<unsigned>("keys");
    const auto order = run.after_of<unsigned>("values");
    for (unsigned i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(keys[i], i);
        ASSERT_EQ(before[order[i]], i);
    }
}

TEST(KernelOnCpu, RadixSort) {
    const Case run("radix_sort");
    auto expected = run.before_of<unsigned>("keys");
    std::ranges::sort(expected);
    EXPECT_EQ(run.after_of<unsigned>("keys"), expected);
}

using Points = std::vector<std::complex<double>>;

void expect_transform(const Points& in, const Points& out, double tolerance) {
    const std::size_t n = in.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::complex<double> sum = 0;
        for (std::size_t i = 0; i < n; ++i)
            sum += in[i] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % n) /
                                               static_cast<double>(n));
        ASSERT_LT(std::abs(sum - out[k]), tolerance) << k;
    }
}

TEST(KernelOnCpu, FourierTransform) {
    const Case run("fft");
    const auto in = run.before_of<float>("in"), out = run.after_of<float>("out");
    for (std::size_t group = 0; group < 6; ++group) {
        Points before, after;
        for (std::size_t i = 512 * group; i < 512 * (group + 1); ++i) {
            before.emplace_back(in[2 * i], in[2 * i + 1]);
            after.emplace_back(out[2 * i], out[2 * i + 1]);
        }
        expect_transform(before, after, 1e-4);
    }
}

TEST(KernelOnCpu, FourierTransformOfRadix4) {
    const Case run("fft_radix4");
    const auto re = run.before_of<double>("re"), im = run.before_of<double>("im");
    const auto re_after = run.after_of<double>("re"), im_after = run.after_of<double>("im");
    for (std::size_t group = 0; group < 5; ++group) {
        Points before, after;
        for (std::size_t i = 256 * group; i < 256 * (group + 1); ++i) {
            before.emplace_back(re[i], im[i]);
            after.emplace_back(re_after[i], im_after[i]);
        }
        expect_transform(before, after, 1e-12);
    }
}

TEST(KernelOnCpu, Stencil2d) {
    const Case run("stencil2d");
    std::vector<float> a = run.before_of<float>("a"), b(a.size());
    const int width = 153, height = 97;
    const auto step = [&](const std::vector<float>& in, std::vector<float>& out) {
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                float sum = 0;
                for (int j = -1; j <= 1; ++j) {
                    for (int i = -1; i <= 1; ++i) {
                        const float weight = (i ? 1.0f : 2.0f) * (j ? 1.0f : 2.0f) / 16;
                        sum += weight * in[std::clamp(y + j, 0, height - 1) * width +
                                           std::clamp(x + i, 0, width - 1)];
                    }
                }
                out[y * width + x] = sum;
            }
        }
    };
    step(a, b);
    step(b, a);
    EXPECT_EQ(run.after_of<float>("b"), b);
    EXPECT_EQ(run.after_of<float>("a"), a);
}

TEST(KernelOnCpu, Stencil3d) {
    const Case run("stencil3d");
    const auto in = run.before_of<float>("in"), out = run.after_of<float>("out");
    const int nx = 37, ny = 29, nz = 23;
    const auto at = [&](int x, int y, int z) {
        const bool inside = x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
        return inside ? in[(z * ny + y) * nx + x] : 0.0f;
    };
    const float c[] = {0.5f, 0.0625f, 0.03125f};
    for (int z = 0; z < nz; ++z) {
        for (int y = 0; y < ny; ++y) {
            for (int x = 0; x < nx; ++x) {
                double sum = c[0] * at(x, y, z);
                for (int r = 1; r <= 2; ++r) {
                    sum += c[r] * (at(x - r, y, z) + at(x + r, y, z) + at(x, y - r, z) +
                                   at(x, y + r, z) + at(x, y, z - r) + at(x, y, z + r));
                }
                ASSERT_NEAR(out[(z * ny + y) * nx + x], sum, 1e-6) << x << " " << y << " " << z;
            }
        }
    }
}

TEST(KernelOnCpu, Hotspot) {
    const Case run("hotspot");
    const auto power = run.before_of<float>("power");
    std::vector<float> now = run.before_of<float>("a"), next = now;
    const int columns = 100, rows = 70;
    const float over_x = 1 / 0.1f, over_y = 1 / 0.125f, over_z = 1 / 30.0f;
    for (int step = 0; step < 5; ++step) {
        for (int y = 0; y < rows; ++y) {
            for (int x = 0; x < columns; ++x) {
                const float t = now[y * columns + x];
                const float south = now[std::min(y + 1, rows - 1) * columns + x];
                const float north = now[std::max(y - 1, 0) * columns + x];
                const float east = now[y * columns + std::min(x + 1, columns - 1)];
                const float west = now[y * columns + std::max(x - 1, 0)];
                next[y * columns + x] =
                    t + 0.0078125f * (power[y * columns + x] + (south + north - 2.0f * t) * over_y +
                                      (east + west - 2.0f * t) * over_x + (80.0f - t) * over_z);
            }
        }
        now.swap(next);
        if (step == 1) {
            EXPECT_EQ(run.after_of<float>("b"), now);
        }
    }
    EXPECT_EQ(run.after_of<float>("a"), now);
}

TEST(KernelOnCpu, SparseProduct) {
    const Case run("spmv");
    const auto x = run.before_of<double>("x"), y = run.after_of<double>("y");
    const auto z = run.after_of<double>("z"), values = run.after_of<double>("values");
    const auto starts = run.after_of<int>("starts"), columns = run.after_of<int>("columns");
    int longest = 0, empty = 0;
    for (std::size_t row = 0; row < y.size(); ++row) {
        double sum = 0;
        for (int i = starts[2 * row]; i < starts[2 * row + 1]; ++i)
            sum += values[i] * x[columns[i]];
        longest = std::max(longest, starts[2 * row + 1] - starts[2 * row]);
        empty += starts[2 * row + 1] == starts[2 * row];
        ASSERT_NEAR(y[row], sum, 1e-10);
        ASSERT_NEAR(z[row], sum, 1e-10);
    }
    EXPECT_GT(longest, 32);
    EXPECT_GT(empty, 10);
}

TEST(KernelOnCpu, BreadthFirstSearch) {
    const Case run("bfs");
    const int nodes = 3000;
    std::vector<int> levels(nodes, -1), frontier = {0}, sizes = {1};
    // The first launch finds node 0, which has no level yet, like any other.
    for (int level = 0; level < 10; ++level) {
        std::vector<int> next;
        for (const int node : frontier) {
            const int degree = 4 + static_cast<int>(node * 2654435761u >> 30);
            for (int edge = 0; edge < degree; ++edge) {
                unsigned h = node * 0x9e3779b9u + edge * 0x85ebca6bu;
                h = (h ^ h >> 15) * 0x2c1b3c6du;
                h = (h ^ h >> 12) % nodes;
                if (levels[h] < 0) {
                    levels[h] = level + 1;
                    next.push_back(static_cast<int>(h));
                }
            }
        }
        frontier = next;
        sizes.push_back(static_cast<int>(next.size()));
    }
    sizes.resize(12);
    EXPECT_EQ(run.after_of<int>("levels"), levels);
    EXPECT_EQ(run.after_of<int>("sizes"), sizes);
}

TEST(KernelOnCpu, KMeans) {
    const Case run("kmeans");
    const auto points = run.before_of<std::int16_t>("points");
    auto centres = run.before_of<float>("centres");
    std::vector<int> nearest(3000), counts;
    for (int step = 0; step < 4; ++step) {
        std::vector<int> sums(32);
        counts.assign(8, 0);
        for (int i = 0; i < 3000; ++i) {
            float least = 3.0e38f;
            for (int k = 0; k < 8; ++k) {
                float distance = 0;
                for (int d = 0; d < 4; ++d) {
                    const float apart = points[4 * i + d] - centres[4 * k + d];
                    distance = d ? distance + apart * apart : apart * apart;
                }
                if (distance < least) {
                    least = distance;
                    nearest[i] = k;
                }
            }
            ++counts[nearest[i]];
            for (int d = 0; d < 4; ++d) sums[4 * nearest[i] + d] += points[4 * i + d];
        }
        if (step == 3) break;
        for (int i = 0; i < 32; ++i) {
            if (counts[i / 4])
                centres[i] = static_cast<float>(sums[i]) / static_cast<float>(counts[i / 4]);
        }
    }
    EXPECT_EQ(run.after_of<int>("nearest"), nearest);
    EXPECT_EQ(run.after_of<float>("centres"), centres);
    EXPECT_EQ(run.after_of<int>("counts"), counts);
}

TEST(KernelOnCpu, NBody) {
    const Case run("nbody");
    const auto body = run.before_of<float>("position"), a = run.after_of<float>("acceleration");
    for (int i = 0; i < 250; ++i) {
        double sum[3] = {};
        for (int j = 0; j < 250; ++j) {
            double square = 0.015625;
            for (int d = 0; d < 3; ++d) square += std::pow(body[4 * j + d] - body[4 * i + d], 2);
            for (int d = 0; d < 3; ++d)
                sum[d] +=
                    body[4 * j + 3] * (body[4 * j + d] - body[4 * i + d]) / std::pow(square, 1.5);
        }
        for (int d = 0; d < 3; ++d)
            ASSERT_NEAR(a[4 * i + d], sum[d], 1e-4 * std::abs(sum[d]) + 1e-3) << i;
    }
}

TEST(KernelOnCpu, NeedlemanWunsch) {
    const Case run("needleman");
    const auto a = run.before_of<std::uint8_t>("a"), b = run.before_of<std::uint8_t>("b");
    const int width = static_cast<int>(a.size()) + 1;
    std::vector<int> score(width * width);
    for (int i = 0; i < width; ++i) score[i] = score[i * width] = -4 * i;
    for (int y = 1; y < width; ++y) {
        for (int x = 1; x < width; ++x) {
            const int match = a[y - 1] == b[x - 1] ? 5 : -3;
            score[y * width + x] =
                std::max({score[(y - 1) * width + x - 1] + match, score[y * width + x - 1] - 4,
                          score[(y - 1) * width + x] - 4});
        }
    }
    EXPECT_EQ(run.after_of<int>("score"), score);
}

TEST(KernelOnCpu, LuDecomposition) {
    const Case run("lud");
    const auto before = run.before_of<float>("m"), after = run.after_of<float>("m");
    const int n = 96;
    // Without pivots, the factors may be large: they are held against the same steps in double.
    std::vector<double> m(before.begin(), before.end());
    for (int k = 0; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            m[i * n + k] /= m[k * n + k];
            for (int j = k + 1; j < n; ++j) m[i * n + j] -= m[i * n + k] * m[k * n + j];
        }
    }
    for (int i = 0; i < n * n; ++i)
        ASSERT_NEAR(after[i], m[i], 0.02 * std::abs(m[i]) + 0.02) << i / n << " " << i % n;
}

TEST(KernelOnCpu, OptionPrices) {
    const Case run("options");
    const auto spot = run.before_of<float>("spot"), strike = run.before_of<float>("strike");
    const auto years = run.before_of<float>("years"), price = run.after_of<float>("price");
    const auto normal = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
    for (std::size_t i = 0; i < spot.size(); ++i) {
        const double s = spot[i], x = strike[i], t = years[i], root = 0.3 * std::sqrt(t);
        const double d1 = (std::log(s / x) + (0.02 + 0.045) * t) / root, d2 = d1 - root;
        const double discounted = x * std::exp(-0.02 * t);
        ASSERT_NEAR(price[2 * i], s * normal(d1) - discounted * normal(d2), 2e-3);
        ASSERT_NEAR(price[2 * i + 1], discounted * normal(-d2) - s * normal(-d1), 2e-3);
    }
}

TEST(KernelOnCpu, Mandelbrot) {
    const Case run("mandelbrot");
    const auto image = run.after_of<std::uint8_t>("image");
    const auto agree = run.after_of<unsigned>("agree");
    int same = 0;
    for (int y = 0; y < 72; ++y) {
        for (int x = 0; x < 128; ++x) {
            std::complex<double> z = 0;
            const std::complex<double> c(-2.125 + x * 0.03125, -1.125 + y * 0.03125);
            int steps = 0;
            for (; steps < 150 && std::norm(z) <= 4; ++steps) z = z * z + c;
            const int i = y * 128 + x;
            const bool equal = steps == image[i];
            same += equal;
            if (equal) {
                EXPECT_TRUE(agree[i / 32] >> i % 32 & 1) << x << " " << y;
            }
        }
    }
    EXPECT_GT(same, 9000);
}

TEST(KernelOnCpu, Philox) {
    const Case run("philox");
    const auto words = run.after_of<unsigned>("words");
    std::uint64_t inside = 0;
    const auto philox = [](std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> key) {
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t p0 = std::uint64_t{0xd2511f53} * c[0];
            const std::uint64_t p1 = std::uint64_t{0xcd9e8d57} * c[2];
            c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0],
                 static_cast<std::uint32_t>(p1),
                 static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1],
                 static_cast<std::uint32_t>(p0)};
            key = {key[0] + 0x9e3779b9, key[1] + 0xbb67ae85};
        }
        return c;
    };
    for (unsigned i = 0; i < 192; ++i) {
        const auto expected = philox({0xfffffffe + i, 0, 7, 0}, {0x12345678, 0x9abcdef0});
        for (unsigned j = 0; j < 4; ++j) ASSERT_EQ(words[4 * i + j], expected[j]) << i;
    }
    for (unsigned thread = 0; thread < 576; ++thread) {
        for (unsigned i = 0; i < 40; ++i) {
            const auto r = philox({i, thread, 0, 0}, {0xcafef00d, 0xdeadbeef});
            for (const unsigned j : {0u, 2u}) {
                const std::uint64_t x = r[j] >> 1, y = r[j + 1] >> 1;
                inside += x * x + y * y < std::uint64_t{1} << 62;
            }
        }
    }
    EXPECT_EQ(run.after_of<std::uint64_t>("inside")[0], inside);
    // The author's own answer for counter and key of zeros (Random123, kat_vectors).
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
              (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(KernelOnCpu, GameOfLife) {
    const Case run("life");
    auto cells = run.before_of<std::uint8_t>("now");
    const int width = 148, height = 75;
    for (int step = 0; step < 6; ++step) {
        std::vector<std::uint8_t> next(cells.size());
        for (int y = 0; y < height; ++y) {
            for (int x = 0; x < width; ++x) {
                int neighbours = -cells[y * width + x];
                for (int i = 0; i < 9; ++i)
                    neighbours += cells[(y + i / 3 + height - 1) % height * width +
                                        (x + i % 3 + width - 1) % width];
                next[y * width + x] = neighbours == 3 || (neighbours == 2 && cells[y * width + x]);
            }
        }
        cells = next;
    }
    EXPECT_EQ(run.after_of<std::uint8_t>("now"), cells);
}

TEST(KernelOnCpu, Pathfinder) {
    const Case run("pathfinder");
    const auto wall = run.before_of<int>("wall");
    auto cost = run.before_of<int>("a");
    const int columns = 3000;
    for (int row = 0; row < 24; ++row) {
        auto next = cost;
        for (int x = 0; x < columns; ++x) {
            next[x] =
                std::min({cost[std::max(x - 1, 0)], cost[x], cost[std::min(x + 1, columns - 1)]}) +
                wall[row * columns + x];
        }
        cost = next;
    }
    EXPECT_EQ(run.after_of<int>("a"), cost);
}

TEST(KernelOnCpu, StringSearch) {
    const Case run("strings");
    const auto text = run.before_of<char>("text"), pattern = run.before_of<char>("pattern");
    const auto hits = run.after_of<unsigned>("hits");
    const std::string_view all(text.data(), text.size()), part(pattern.data(), pattern.size());
    std::vector<unsigned> expected(hits.size());
    for (std::size_t at = all.find(part); at != std::string_view::npos; at = all.find(part, at + 1))
        expected[at / 32] |= 1u << at % 32;
    // The last threads, whose pattern would reach beyond the text, look at nothing.
    EXPECT_EQ(hits, expected);
    EXPECT_GT(std::ranges::count_if(hits, [](unsigned word) { return word != 0; }), 10);
}

TEST(KernelOnCpu, ModularArithmetic) {
    const Case run("modular");
    __extension__ using Wide = unsigned __int128;
    const auto numbers = run.before_of<std::uint64_t>("numbers");
    const auto prime = run.after_of<std::uint8_t>("prime");
    const auto remainders = run.after_of<std::uint64_t>("remainders");
    int primes = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint64_t n = numbers[i] | 1;
        const auto power = [&](Wide base, std::uint64_t exponent) {
            Wide result = 1;
            for (; exponent; exponent >>= 1, base = base * base % n) {
                if (exponent & 1) result = result * base % n;
            }
            return static_cast<std::uint64_t>(result);
        };
        bool expected = true;  // by twelve bases, which decide all numbers of 64 bits
        for (const unsigned base : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}) {
            std::uint64_t odd = (n - 1) >> std::countr_zero(n - 1);
            std::uint64_t x = power(base, odd);
            bool passes = x == 1;
            for (; odd < n - 1; odd <<= 1, x = static_cast<std::uint64_t>(Wide{x} * x % n)) {
                passes = passes || x == n - 1;
                if (odd > (n - 1) / 2) break;
            }
            expected = expected && passes;
        }
        ASSERT_EQ(prime[i], expected) << n;
        primes += expected;
        ASSERT_EQ(remainders[2 * i], n / 1000000007);
        ASSERT_EQ(static_cast<std::int64_t>(remainders[2 * i + 1]),
                  static_cast<std::int64_t>(n) % (1000000007 >> 3));
    }
    EXPECT_GT(primes, 3);
}

TEST(KernelOnCpu, Jacobi) {
    const Case run("jacobi");
    auto now = run.before_of<double>("now");
    const auto source = run.before_of<double>("source");
    double change = 0;
    for (int step = 0; step < 4; ++step) {
        auto next = now;
        change = 0;
        for (int y = 1; y < 74; ++y) {
            for (int x = 1; x < 73; ++x) {
                const int i = y * 74 + x;
                next[i] = 0.25 * (now[i - 1] + now[i + 1] + now[i - 74] + now[i + 74] - source[i]);
                change = std::max(change, std::abs(next[i] - now[i]));
            }
        }
        now = next;
    }
    EXPECT_EQ(run.after_of<double>("now"), now);
    EXPECT_EQ(run.after_of<double>("change")[0], change);
}

TEST(KernelOnCpu, AxpyInHalfPrecision) {
    const Case run("axpy_half");
    const auto x = run.before_of<half>("x"), y = run.before_of<half>("y");
    const auto after = run.after_of<half>("y");
    const half a = 0.3f;
    for (std::size_t i = 0; i < x.size(); ++i) {
        // The product is exact in double, the sum of 11 and 22 bits nearly always.
        const double exact = double(float(a)) * float(x[i]) + float(y[i]);
        ASSERT_EQ(after[i].bits, half(exact).bits) << i;
    }
}

TEST(KernelOnCpu, SumsOverBoxes) {
    const Case run("sums3d");
    std::int64_t total = 0;
    for (const int value : run.before_of<int>("in")) total += value;
    EXPECT_EQ(run.after_of<std::int64_t>("total")[0], total);
    std::int64_t boxes = 0;
    for (const int box : run.after_of<int>("boxes")) boxes += (box << 8) / 256;
    EXPECT_EQ(boxes, total);
}

TEST(KernelOnCpu, SeparableConvolution) {
    const Case run("convolution");
    const auto in = run.before_of<float>("in"), out = run.after_of<float>("out");
    const BufferPlan& symbol = run.plan.symbols.at(0);
    const std::vector<std::byte> bytes = buffer_contents(run.plan, symbol, symbol.fill);
    float filter[13];
    ASSERT_EQ(bytes.size(), sizeof filter);
    std::memcpy(filter, bytes.data(), sizeof filter);
    for (int y = 0; y < 80; ++y) {
        for (int x = 0; x < 100; ++x) {
            double sum = 0;
            for (int j = -6; j <= 6; ++j) {
                for (int i = -6; i <= 6; ++i) {
                    if (x + i < 0 || x + i >= 100 || y + j < 0 || y + j >= 80) continue;
                    sum += double(filter[6 - i]) * filter[6 - j] * in[(y + j) * 100 + x + i];
                }
            }
            ASSERT_NEAR(out[y * 100 + x], sum, 1e-3) << x << " " << y;
        }
    }
}

TEST(KernelOnCpu, Sha256) {
    const Case run("sha256");
    // By Python's hashlib, of the first message and of the last.
    const auto digests = run.after_of<std::uint8_t>("digests");
    std::string text;
    for (const std::size_t message : {0, 199}) {
        for (std::size_t i = 0; i < 32; ++i)
            text += fmt::format("{:02x}", digests[32 * message + i]);
        text += " ";
    }
    EXPECT_EQ(text,
              "677fa35251c391891eb55794511427f6488b47c6a6d33ff5cd9f75dae51f2483 "
              "74afea05c31cd6b63228f284bc0bf446c25e5e32de6652fc6d815ee93ac2ff23 ");
}

TEST(KernelOnCpu, Softmax) {
    const Case run("special_functions");
    const auto in = run.before_of<float>("in"), out = run.after_of<float>("out");
    for (int row = 0; row < 17; ++row) {
        double sum = 0;
        for (int i = 0; i < 200; ++i) sum += std::exp(double(in[200 * row + i]));
        for (int i = 0; i < 200; ++i)
            ASSERT_NEAR(out[200 * row + i], std::exp(double(in[200 * row + i])) / sum, 1e-6);
    }
    const auto points = run.before_of<float>("points"), angles = run.before_of<float>("angles");
    const auto turned = run.after_of<float>("turned");
    for (int i = 0; i < 1000; ++i) {
        const auto expected = std::complex<double>(points[2 * i], points[2 * i + 1]) *
                              std::polar(1.0, double(angles[i]));
        ASSERT_NEAR(turned[4 * i], expected.real(), 2e-5);
        ASSERT_NEAR(turned[4 * i + 1], expected.imag(), 2e-5);
        const double square = std::norm(expected);
        ASSERT_NEAR(turned[4 * i + 2], std::sqrt(square / (square + 1)), 1e-6);
        ASSERT_NEAR(turned[4 * i + 3], std::tanh(points[2 * i]), 1e-6);
    }
}

// Element (row, column) of a fragment, as the PTX manual deals it to lanes: `k` neighbours of four
// bytes lie in one register, 8 rows in 8 groups of four lanes.
TEST(KernelOnCpu, KindsOfMatrixInstructions) {
    const Case run("matrix_kinds");
    const auto halves = run.before_of<half>("halves");
    const auto floats = run.before_of<float>("floats");
    const auto brains = run.before_of<__nv_bfloat16>("brains");
    const auto bytes = run.before_of<std::uint8_t>("bytes");
    const auto ints = run.before_of<std::int32_t>("bytes");
    const auto out = run.after_of<unsigned>("out");
    for (int group = 0; group < 3; ++group) {
        for (int row = 0; row < 16; ++row) {
            for (int column = 0; column < 8; ++column) {
                const int lane = 32 * group + row % 8 * 4 + column / 2, high = row / 8;
                float in_half = halves[16 * lane + 12 + 2 * high + column % 2];
                float in_brain = std::array{1.0f, -2.0f, 3.0f, -4.0f}[2 * high + column % 2];
                std::int64_t in_bytes = ints[8 * lane + 4 + 2 * high + column % 2];
                for (int k = 0; k < 16; ++k) {
                    const int a_lane = 32 * group + row % 8 * 4 + k % 8 / 2;
                    const int b_lane = 32 * group + column * 4 + k % 8 / 2;
                    const int a = 16 * a_lane + 2 * (high + 2 * (k / 8)) + k % 2;
                    const int b = 16 * b_lane + 8 + 2 * (k / 8) + k % 2;
                    in_half += float(halves[a]) * float(halves[b]);
                    in_brain += float(brains[a]) * float(brains[b]);
                    in_bytes +=
                        static_cast<std::int8_t>(
                            bytes[32 * (32 * group + row % 8 * 4 + k / 4) + 4 * high + k % 4]) *
                        bytes[32 * (32 * group + column * 4 + k / 4) + 8 + k % 4];
                }
                for (int k = 0; k < 8; ++k) {
                    const int a_lane = 32 * group + row % 8 * 4 + k % 4;
                    const int b_lane = 32 * group + column * 4 + k % 4;
                    if (k == 0) {
                        EXPECT_EQ(out[16 * lane + 6 + 2 * high + column % 2],
                                  std::bit_cast<unsigned>(in_brain));
                    }
                    in_brain +=
                        floats[8 * a_lane + high + 2 * (k / 4)] * floats[8 * b_lane + 4 + k / 4];
                }
                EXPECT_EQ(out[16 * lane + 10 + 2 * high + column % 2],
                          std::bit_cast<unsigned>(in_brain));
                EXPECT_EQ(out[16 * lane + 2 + 2 * high + column % 2],
                          static_cast<unsigned>(in_bytes));
                EXPECT_EQ(out[16 * lane + high] >> 16 * (column % 2) & 0xffff, half(in_half).bits);
            }
        }
    }
}

TEST(KernelOnCpu, BitPacking) {
    const Case run("bit_packing");
    EXPECT_EQ(run.after_of<int>("out"), run.before_of<int>("in"));
    EXPECT_EQ(run.after_of<int>("wide_out"), run.before_of<int>("wide"));
    EXPECT_EQ(run.after_of<unsigned>("packed")[0], 18u);
    EXPECT_EQ(run.after_of<unsigned>("wide_packed")[0], 32u);
}

TEST(KernelOnCpu, QuantisedLayer) {
    const Case run("quantised");
    const auto bytes = [&](std::string_view name) {
        const std::vector<std::byte> all = content(run.before, name);
        std::vector<std::int8_t> made(all.size());
        std::memcpy(made.data(), all.data(), all.size());
        return made;
    };
    const auto image = bytes("image"), weights = bytes("weights");
    const auto scales = run.before_of<float>("scales");
    const auto out = run.after_of<std::int8_t>("out");
    const int width = 64, height = 40;
    int checked = 0;
    for (int filter = 0; filter < 3; ++filter) {
        for (int y = 0; y < height; y += 2) {
            for (int x = 0; x < width; x += 2) {
                int most = -128;
                for (int i = 0; i < 4; ++i) {
                    int sum = 64;
                    for (int k = 0; k < 36; ++k) {
                        const int px = x + i % 2 + k / 4 % 3 - 1, py = y + i / 2 + k / 12 - 1;
                        if (px < 0 || px >= width || py < 0 || py >= height) continue;
                        sum += image[4 * (py * width + px) + k % 4] * weights[36 * filter + k];
                    }
                    most = std::max(
                        most, static_cast<int>(std::nearbyint(std::clamp(
                                  static_cast<float>(sum) * scales[filter], -128.0f, 127.0f))));
                }
                if (most < 1) continue;  // negative ones end as 1 at most
                ++checked;
                ASSERT_EQ(out[(filter * height + y) * width / 4 + x / 2], most) << x << " " << y;
            }
        }
    }
    EXPECT_GT(checked, 1000);
}

TEST(KernelOnCpu, Flux) {
    const Case run("flux");
    // Between two cells without walls what leaves one enters the other only if normals agree; here
    // they are random, so the sums are held against the same formula in double.
    const auto cells = run.before_of<float>("cells"), normals = run.before_of<float>("normals");
    const auto neighbours = run.before_of<int>("neighbours");
    const auto out = run.after_of<float>("out");
    struct State {
        double density, energy, mx, my, vx, vy, pressure, sound;
    };
    const auto state = [&](int i) {
        State s{cells[i], 4.0 * cells[1800 + i], cells[600 + i], cells[1200 + i], 0, 0, 0, 0};
        s.vx = s.mx / s.density;
        s.vy = s.my / s.density;
        s.pressure = 0.4 * (s.energy - 0.5 * s.density * (s.vx * s.vx + s.vy * s.vy));
        s.sound = std::sqrt(1.4 * s.pressure / s.density);
        return s;
    };
    for (int i = 0; i < 600; ++i) {
        const State own = state(i);
        double density = 0, energy = 0, mx = 0, my = 0, fastest = 0;
        for (int face = 0; face < 4; ++face) {
            const double nx = normals[2 * (600 * face + i)], ny = normals[2 * (600 * face + i) + 1];
            const int other = neighbours[600 * face + i];
            if (other < -40) {
                mx += own.pressure * nx;
                my += own.pressure * ny;
            } else if (other < 0) {
                const double through = nx * 0.75 - ny * 0.125;
                density += through;
                mx += 0.375 * through;
                my -= 0.0625 * through;
            } else {
                const State next = state(other);
                const double length = std::hypot(nx, ny);
                const double factor = -0.2 * length *
                                      (next.sound + own.sound + std::hypot(own.vx, own.vy) +
                                       std::hypot(next.vx, next.vy));
                const double through = 0.5 * (nx * (own.vx + next.vx) + ny * (own.vy + next.vy));
                const double pressure = 0.5 * (own.pressure + next.pressure);
                density += factor * (own.density - next.density) +
                           through * 0.5 * (own.density + next.density);
                energy += factor * (own.energy - next.energy);
                mx += factor * (own.mx - next.mx) + through * own.mx + pressure * nx;
                my += factor * (own.my - next.my) + through * own.my + pressure * ny;
                fastest = std::max({fastest, next.sound, length});
            }
        }
        ASSERT_NEAR(out[i], density, 1e-5);
        ASSERT_NEAR(out[600 + i], mx, 1e-5);
        ASSERT_NEAR(out[1200 + i], my, 1e-5);
        ASSERT_NEAR(out[1800 + i], energy + fastest, 1e-5);
    }
}

}  // namespace
}  // namespace occupipe::test

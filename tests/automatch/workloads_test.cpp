// SPDX-License-Identifier: MIT
// The workloads of automatch/workloads: sequential C, OpenMP and, where kernels/ has them, CUDA and
// OpenCL, against each other and against plain loops of this file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "automatch/program.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/run_plan.h"
#include "isa/cubin.h"
#include "tests/support/temporary_folder.h"
#if OCCUPIPE_OPENCL
#include "bench/launch_on_device.h"
#include "bench/opencl/facts.h"
#endif

namespace occupipe::test {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<double>;
using Size = std::vector<int>;

template <typename T>
std::vector<T> elements_of(const fs::path& file) {
    const std::string bytes = read_text_file(file);
    std::vector<T> all(bytes.size() / sizeof(T));
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

fs::path built(const std::string& name) { return fs::path(OCCUPIPE_WORKLOADS) / name; }

struct Ran {
    int exit_code = 0;
    fs::path result;
    fs::path input;
};

// `program`: "lud", "lud-openmp" or "lud-f32".
Ran run(const fs::path& folder, const std::string& program, const Size& size) {
    Ran ran{
        .exit_code = 0, .result = folder / (program + ".out"), .input = folder / (program + ".in")};
    std::string command = "OMP_NUM_THREADS=3 '" + built(program).string() + "'";
    for (const int number : size) command += fmt::format(" {}", number);
    command += fmt::format(" --write '{}' --write-input '{}' > '{}'", ran.result.string(),
                           ran.input.string(), (folder / "said.txt").string());
    ran.exit_code = std::system(command.c_str());
    return ran;
}

// Plain loops, written from what the algorithm is.

Numbers potentials(const Size& size, const Numbers& in) {
    const int side = size[0], atoms = 3 * size[1];
    const double cutoff = size[2];
    Numbers out;
    for (int k = 0; k < side; ++k)
        for (int j = 0; j < side; ++j)
            for (int i = 0; i < side; ++i) {
                double sum = 0;
                for (int a = 0; a < atoms; ++a) {
                    const double r = std::hypot(in[a] - 0.5 * i, in[atoms + a] - 0.5 * j,
                                                in[2 * atoms + a] - 0.5 * k);
                    if (r < cutoff)
                        sum += in[3 * atoms + a] / r * std::pow(1 - std::pow(r / cutoff, 2), 2);
                }
                out.push_back(sum);
            }
    return out;
}

Numbers jacobi(const Size& size, Numbers points) {
    const auto at = [&](int x, int y, int z) { return (z * size[1] + y) * size[0] + x; };
    for (int step = 0; step < size[3]; ++step) {
        const Numbers old = points;
        for (int z = 1; z < size[2] - 1; ++z)
            for (int y = 1; y < size[1] - 1; ++y)
                for (int x = 1; x < size[0] - 1; ++x) {
                    double sum = 0;
                    for (const int d : {-1, 1})
                        sum += old[at(x + d, y, z)] + old[at(x, y + d, z)] + old[at(x, y, z + d)];
                    points[at(x, y, z)] = old[at(x, y, z)] / 2 + sum / 12;
                }
    }
    return points;
}

struct Csr {
    std::vector<int> starts = {0}, columns;
};

Csr neighbours_within_two(int side) {
    Csr matrix;
    for (int r = 0; r < side * side; ++r) {
        for (int c = 0; c < side * side; ++c)
            if (std::abs(r / side - c / side) <= 2 && std::abs(r % side - c % side) <= 2)
                matrix.columns.push_back(c);
        matrix.starts.push_back(static_cast<int>(matrix.columns.size()));
    }
    return matrix;
}

Numbers products(const Size& size, const Numbers& in) {
    const Csr matrix = neighbours_within_two(size[0]);
    Numbers x(in.end() - size[0] * size[0], in.end());
    for (int step = 0; step < size[1]; ++step) {
        Numbers y(x.size(), 0);
        for (std::size_t r = 0; r < y.size(); ++r)
            for (int i = matrix.starts[r]; i < matrix.starts[r + 1]; ++i)
                y[r] += in[i] * x[matrix.columns[i]];
        x = y;
    }
    return x;
}

// By rows, each from those above it (Crout's order).
Numbers factors(const Size& size, const Numbers& in) {
    const int n = size[0];
    Numbers out = in;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = in[i * n + j];
            for (int k = 0; k < std::min(i, j); ++k) sum -= out[i * n + k] * out[k * n + j];
            out[i * n + j] = j < i ? sum / out[j * n + j] : sum;
        }
    return out;
}

Numbers forces(const Size& size, const Numbers& in) {
    constexpr int per_box = 100;
    const int side = size[0], boxes = side * side * side, particles = boxes * per_box;
    Numbers out;
    for (int i = 0; i < particles; ++i) {
        std::array<double, 4> sum{};
        for (int j = 0; j < particles; ++j) {
            const int a = i / per_box, b = j / per_box;
            if (std::abs(a % side - b % side) > 1 ||
                std::abs(a / side % side - b / side % side) > 1 ||
                std::abs(a / side / side - b / side / side) > 1)
                continue;
            const double* const p = &in[4 * i];
            const double* const q = &in[4 * j];
            const double dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
            const double v = in[4 * particles + j] * std::exp(-0.5 * (p[3] + q[3] - dot));
            sum[0] += v;
            for (int d = 0; d < 3; ++d) sum[d + 1] += 2 * v * (p[d] - q[d]);
        }
        out.insert(out.end(), sum.begin(), sum.end());
    }
    return out;
}

// A value at the nearest place inside.
double near(const Numbers& all, int rows, int columns, int r, int c) {
    return all[std::clamp(r, 0, rows - 1) * columns + std::clamp(c, 0, columns - 1)];
}

Numbers temperatures(const Size& size, const Numbers& in) {
    const int rows = size[0], columns = size[1];
    Numbers t(in.begin(), in.begin() + rows * columns);
    for (int step = 0; step < size[2]; ++step) {
        Numbers next;
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
                const double here = near(t, rows, columns, r, c);
                const double y =
                    near(t, rows, columns, r - 1, c) + near(t, rows, columns, r + 1, c) - 2 * here;
                const double x =
                    near(t, rows, columns, r, c - 1) + near(t, rows, columns, r, c + 1) - 2 * here;
                next.push_back(here + 0.34 * in[rows * columns + r * columns + c] + 0.06 * y +
                               0.05 * x + 1e-4 * (353 - here));
            }
        t = next;
    }
    return t;
}

Numbers diffused(const Size& size, Numbers image) {
    const int rows = size[0], columns = size[1];
    for (int step = 0; step < size[2]; ++step) {
        const double n = rows * columns;
        const double mean = std::accumulate(image.begin(), image.end(), 0.0) / n;
        double variance = 0;
        for (const double p : image) variance += (p - mean) * (p - mean) / n;
        const double q0 = variance / (mean * mean);
        Numbers c(image.size());
        const auto d = [&](int r, int col, int dr, int dc) {
            return near(image, rows, columns, r + dr, col + dc) - image[r * columns + col];
        };
        for (int r = 0; r < rows; ++r)
            for (int k = 0; k < columns; ++k) {
                const double here = image[r * columns + k];
                double squares = 0, sum = 0;
                for (const auto& [dr, dc] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
                    squares += std::pow(d(r, k, dr, dc), 2);
                    sum += d(r, k, dr, dc);
                }
                const double g = squares / (here * here), l = sum / here;
                const double q = (g / 2 - l * l / 16) / std::pow(1 + l / 4, 2);
                c[r * columns + k] = std::clamp(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0.0, 1.0);
            }
        Numbers next = image;
        for (int r = 0; r < rows; ++r)
            for (int k = 0; k < columns; ++k) {
                const double own = c[r * columns + k];
                next[r * columns + k] += 0.125 * (own * (d(r, k, -1, 0) + d(r, k, 0, -1)) +
                                                  near(c, rows, columns, r + 1, k) * d(r, k, 1, 0) +
                                                  near(c, rows, columns, r, k + 1) * d(r, k, 0, 1));
            }
        image = next;
    }
    return image;
}

struct Workload {
    const char* name;
    std::vector<Size> sizes;                             // small ones, of several shapes
    std::function<Numbers(const Size&, Numbers)> plain;  // none: see LatticeBoltzmann
};

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> all = {
        {"cutcp", {{16, 17, 4}, {9, 5, 30}}, potentials},
        {"stencil", {{20, 18, 10, 3}, {3, 5, 9, 2}}, jacobi},
        {"spmv", {{12, 3}, {5, 4}}, products},
        {"lbm", {{8, 7, 6, 4}, {1, 2, 3, 5}}, {}},
        {"lud", {{48}, {1}, {37}}, factors},
        {"lavamd", {{2}, {3}}, forces},
        {"hotspot", {{24, 20, 3}, {7, 1, 2}, {1, 2, 4}}, temperatures},
        {"srad", {{30, 26, 2}, {5, 2, 3}}, diffused},
    };
    return all;
}

class EachWorkload : public ::testing::TestWithParam<std::size_t> {
protected:
    const Workload& workload() const { return workloads().at(GetParam()); }
    TemporaryFolder folder;
};

TEST_P(EachWorkload, OpenMpLeavesTheSameBits) {
#if !OCCUPIPE_OPENMP
    GTEST_SKIP() << "the compiler has no OpenMP";
#endif
    for (const Size& size : workload().sizes) {
        const Ran one = run(folder.path, workload().name, size);
        const Ran three = run(folder.path, fmt::format("{}-openmp", workload().name), size);
        ASSERT_EQ(one.exit_code, 0);
        ASSERT_EQ(three.exit_code, 0);
        EXPECT_EQ(read_text_file(one.input), read_text_file(three.input));
        EXPECT_EQ(read_text_file(one.result), read_text_file(three.result));
        EXPECT_GT(fs::file_size(one.result), 0u);
    }
}

TEST_P(EachWorkload, AgreesWithPlainLoops) {
    if (!workload().plain) GTEST_SKIP() << "physics instead: LatticeBoltzmann";
    for (const Size& size : workload().sizes) {
        const Ran ran = run(folder.path, workload().name, size);
        ASSERT_EQ(ran.exit_code, 0);
        const Numbers found = elements_of<double>(ran.result);
        const Numbers expected = workload().plain(size, elements_of<double>(ran.input));
        ASSERT_EQ(found.size(), expected.size());
        double greatest = 0;
        for (const double e : expected) greatest = std::max(greatest, std::abs(e));
        for (std::size_t i = 0; i < found.size(); ++i)
            ASSERT_NEAR(found[i], expected[i], 1e-11 * greatest) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Paper, EachWorkload, ::testing::Range<std::size_t>(0, 8),
                         [](const auto& one) { return workloads().at(one.param).name; });

// No mass comes or goes, and the lid drags what lies below it along.
TEST(LatticeBoltzmann, KeepsMassAndFollowsTheLid) {
    const TemporaryFolder folder;
    const int nx = 9, ny = 8, nz = 7;
    const Ran ran = run(folder.path, "lbm", {nx, ny, nz, 60});
    ASSERT_EQ(ran.exit_code, 0);
    const Numbers before = elements_of<double>(ran.input), after = elements_of<double>(ran.result);
    const int y = nx + 2, z = y * (ny + 2), plane = z * (nz + 2);
    double mass_before = 0, mass_after = 0, top = 0, bottom = 0;
    for (int k = 1; k <= nz; ++k)
        for (int j = 1; j <= ny; ++j)
            for (int i = 1; i <= nx; ++i) {
                const int at = k * z + j * y + i;
                for (int q = 0; q < 19; ++q) {
                    mass_before += before[q * plane + at];
                    mass_after += after[q * plane + at];
                }
                // Momentum along x: these directions against those behind them.
                for (const int q : {1, 7, 9, 11, 13}) {
                    const double flow = after[q * plane + at] - after[(q + 1) * plane + at];
                    if (k == nz) top += flow;
                    if (k == 1) bottom += flow;
                }
            }
    EXPECT_NEAR(mass_after, mass_before, 1e-10 * mass_before);
    EXPECT_NEAR(mass_before, nx * ny * nz, 0.01 * nx * ny * nz);
    EXPECT_GT(top / (nx * ny), 0.005);  // the lid moves at 0.05
    EXPECT_LT(bottom, 0.2 * top);       // the flow turns back there
}

// The stencil split over devices: wherever the parts meet, the bits are those of the sequential
// program.
TEST(MiniGhost, AnySplitLeavesTheSameBits) {
    const TemporaryFolder folder;
    std::mt19937 random(22);
    const auto some = [&](int from, int to) {
        return std::uniform_int_distribution<int>(from, to)(random);
    };
    for (int i = 0; i < 12; ++i) {
        const int devices = some(1, 4);
        std::vector<int> planes;
        std::string command = "'" + built("minighost").string() + "'";
        std::string split;
        for (int d = 0; d < devices; ++d) {
            planes.push_back(some(1, 6));
            split += fmt::format("{}{}", d == 0 ? "" : ",", planes.back());
        }
        const Size size = {some(3, 30), some(3, 20),
                           2 + std::accumulate(planes.begin(), planes.end(), 0), some(1, 5)};
        for (const int number : size) command += fmt::format(" {}", number);
        for (int d = 0; d < devices; ++d)
            command += some(0, 1) == 0 ? " --device 0" : " --device 0,1/1";
        const fs::path found = folder.path / "split.out", said = folder.path / "said.txt";
        command +=
            fmt::format(" --planes {} --write '{}' > '{}'", split, found.string(), said.string());
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
        const Ran sequential = run(folder.path, "stencil", size);
        ASSERT_EQ(sequential.exit_code, 0);
        EXPECT_EQ(read_text_file(found), read_text_file(sequential.result)) << command;
    }
}

TEST(MiniGhost, RefusesPlanesThatAreNotAll) {
    for (const char* planes : {"3,4", "8,0", "8", "3,5,1", "x"})
        EXPECT_NE(std::system(fmt::format("'{}' 9 9 10 1 --device 0 --device 0/1 --planes {} 2> "
                                          "/dev/null",
                                          built("minighost").string(), planes)
                                  .c_str()),
                  0)
            << planes;
    EXPECT_EQ(std::system(fmt::format("'{}' 9 9 10 1 --device 0 --device 0/1 --planes 3,5 > "
                                      "/dev/null",
                                      built("minighost").string())
                              .c_str()),
              0);
}

TEST(Workloads, RefuseWrongSizes) {
    const TemporaryFolder folder;
    for (const Size& size : {Size{3, 4}, Size{-1}, Size{0}})
        EXPECT_NE(run(folder.path, "lud", size).exit_code, 0);
}

// Texts of kernels/ for CUDA (recorded machine code, executed) and OpenCL, in single precision.

struct OnGpu {
    std::string name;    // of the workload
    std::string source;  // "stencil7": kernels/stencil7.cu
    Size size;
    std::string result;  // the buffer
    std::function<std::string(const std::vector<float>& in)> launches;
    double tolerance = 0;  // of the greatest value
    bool transposed = false;
};

std::string listed(const std::vector<int>& all) {
    return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string listed(const float* values, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += fmt::format("{}{:.9g}", i == 0 ? "" : ", ", values[i]);
    return "[" + text + "]";
}

std::string buffer(const char* name, const char* type, std::size_t count,
                   const std::string& values) {
    const std::string fill =
        values.empty() ? std::string{} : fmt::format(", fill: {{values: {}}}", values);
    return fmt::format("  {}: {{type: {}, count: {}{}}}\n", name, type, count, fill);
}

std::string lud_launches(const std::vector<float>& in) {
    std::string text =
        "buffers:\n" + buffer("m", "f32", in.size(), listed(in.data(), in.size())) + "launches:\n";
    const auto launch = [&](const char* kernel, const std::string& shape, int at) {
        text += fmt::format(
            "  - {{kernel: {}, {}, arguments: [{{buffer: m}}, {{i32: 48}}, {{i32: {}}}]}}\n",
            kernel, shape, at);
    };
    for (int at = 0; at < 48; at += 16) {
        const int rest = (48 - at) / 16 - 1;
        launch("lud_diagonal", "grid: 1, block: 16", at);
        if (rest == 0) break;
        launch("lud_perimeter", fmt::format("grid: {}, block: 32", rest), at);
        launch("lud_internal", fmt::format("grid: [{0}, {0}], block: [16, 16]", rest), at);
    }
    return text;
}

std::string stencil_launches(const std::vector<float>& in) {
    const std::string values = listed(in.data(), in.size());
    return "buffers:\n" + buffer("a", "f32", in.size(), values) +
           buffer("b", "f32", in.size(), values) +
           "launches:\n  - repeat: 2\n    launches:\n"
           "      - {kernel: stencil7, grid: [2, 1], block: [16, 16], arguments: [{buffer: a}, "
           "{buffer: b}, {i32: 34}, {i32: 18}, {i32: 6}, {f32: 0.5}, {f32: 0.0833333358}]}\n"
           "      - swap: [a, b]\n";
}

std::string spmv_launches(const std::vector<float>& in) {
    const Csr matrix = neighbours_within_two(6);
    const std::size_t elements = matrix.columns.size();
    return "buffers:\n" + buffer("starts", "i32", 37, listed(matrix.starts)) +
           buffer("columns", "i32", elements, listed(matrix.columns)) +
           buffer("values", "f32", elements, listed(in.data(), elements)) +
           buffer("x", "f32", 36, listed(&in[elements], 36)) + buffer("y", "f32", 36, "") +
           "launches:\n  - repeat: 2\n    launches:\n"
           "      - {kernel: spmv, grid: 1, block: 128, arguments: [{buffer: starts}, {buffer: "
           "columns}, {buffer: values}, {buffer: x}, {buffer: y}, {i32: 36}]}\n"
           "      - swap: [x, y]\n";
}

std::string lavamd_launches(const std::vector<float>& in) {
    return "buffers:\n" + buffer("neighbours", "i32", 216, "") +
           buffer("position", "f32", 3200, listed(in.data(), 3200)) +
           buffer("charge", "f32", 800, listed(&in[3200], 800)) + buffer("force", "f32", 3200, "") +
           "launches:\n"
           "  - {kernel: lavamd_neighbours, grid: 1, block: 128, arguments: [{buffer: neighbours}, "
           "{i32: 2}]}\n"
           "  - {kernel: lavamd, grid: 8, block: 128, arguments: [{buffer: neighbours}, {buffer: "
           "position}, {buffer: charge}, {buffer: force}, {f32: 0.5}]}\n";
}

// The kernels' images lie column by column, so that rows and columns change places; one step, since
// the statistics between two are the host's.
std::string srad_launches(const std::vector<float>& in) {
    const double n = static_cast<double>(in.size());
    double mean = 0, variance = 0;
    for (const float p : in) mean += p / n;
    for (const float p : in) variance += (p - mean) * (p - mean) / n;
    std::string text = "buffers:\n";
    for (const char* name : {"north", "south"}) text += buffer(name, "i32", 26, "");
    for (const char* name : {"west", "east"}) text += buffer(name, "i32", 30, "");
    for (const char* name : {"dn", "ds", "dw", "de", "c"}) text += buffer(name, "f32", 780, "");
    return text + buffer("image", "f32", 780, listed(in.data(), in.size())) +
           fmt::format(
               "launches:\n"
               "  - {{kernel: srad_neighbours, grid: 1, block: 256, arguments: [{{buffer: north}}, "
               "{{buffer: south}}, {{buffer: west}}, {{buffer: east}}, {{i32: 26}}, {{i32: "
               "30}}]}}\n"
               "  - {{kernel: srad1, grid: 4, block: 256, arguments: [{{i32: 26}}, {{i32: 780}}, "
               "{{buffer: north}}, {{buffer: south}}, {{buffer: west}}, {{buffer: east}}, "
               "{{buffer: "
               "dn}}, {{buffer: ds}}, {{buffer: dw}}, {{buffer: de}}, {{f32: {:.9g}}}, {{buffer: "
               "c}}, "
               "{{buffer: image}}]}}\n"
               "  - {{kernel: srad2, grid: 4, block: 256, arguments: [{{f32: 0.125}}, {{i32: 26}}, "
               "{{i32: 780}}, {{buffer: south}}, {{buffer: east}}, {{buffer: dn}}, {{buffer: ds}}, "
               "{{buffer: dw}}, {{buffer: de}}, {{buffer: c}}, {{buffer: image}}]}}\n",
               variance / (mean * mean));
}

class GpuText : public ::testing::TestWithParam<OnGpu> {};

TEST_P(GpuText, LeavesWhatTheSequentialProgramDoes) {
    const OnGpu& one = GetParam();
    const TemporaryFolder folder;
    const Ran ran = run(folder.path, one.name + "-f32", one.size);
    ASSERT_EQ(ran.exit_code, 0);
    const auto expected = elements_of<float>(ran.result);
    const fs::path kernels = fs::path(OCCUPIPE_SOURCE_DIR) / "kernels";
    const LaunchPlan plan = parse_launches(
        fmt::format("occupipe_launches: 1\nsource: {}.cu\narchitecture: sm_80\n"
                    "compiler_options: [-fmad=false]\n{}check: [{}]\n",
                    one.source, one.launches(elements_of<float>(ran.input)), one.result),
        "test", kernels);
    float greatest = 0;
    for (const float e : expected) greatest = std::max(greatest, std::abs(e));
    const auto compare = [&](const auto& bytes, const char* where) {
        ASSERT_EQ(bytes.size(), expected.size() * sizeof(float)) << where;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            float found = 0;
            std::memcpy(&found, &bytes[i * sizeof found], sizeof found);
            ASSERT_NEAR(found, expected[i], one.tolerance * greatest) << where << " " << i;
        }
    };
    const isa::Cubin cubin = isa::read_cubin(read_text_file(
        fs::path(OCCUPIPE_SOURCE_DIR) / "tests/suite/recorded/sm_80" / (one.source + ".cubin")));
    extract::PlanRun machine(plan, cubin, "");
    machine.execute({.threads = 2, .measure_memory = false});
    compare(machine.bytes(one.result), "CUDA");
#if OCCUPIPE_OPENCL
    if (bench::opencl_platforms().empty()) GTEST_SKIP() << "no OpenCL platform";
    compare(bench::launch_on_device("opencl:0.0", plan).buffers.at(one.result), "OpenCL");
#endif
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, GpuText,
    ::testing::Values(OnGpu{"lud", "lud", {48}, "m", lud_launches, 1e-5},
                      OnGpu{"stencil", "stencil7", {34, 18, 6, 2}, "a", stencil_launches, 1e-6},
                      OnGpu{"spmv", "spmv", {6, 2}, "x", spmv_launches, 1e-6},
                      OnGpu{"lavamd", "lavamd", {2}, "force", lavamd_launches, 1e-5},
                      OnGpu{"srad", "srad", {30, 26, 1}, "image", srad_launches, 1e-5}),
    [](const auto& one) { return one.param.name; });

// A target that overlaps what is still to be read is written from its end, as memmove does: what
// moves is what stood there before. By hand: one sum waits for the product that moved, and one for
// the product in place; the others wait for nothing.
TEST(WorkloadCounts, AnOverlappingMoveMovesWhatStoodThere) {
    if (!OCCUPIPE_MATCH_INSTRUMENTS) GTEST_SKIP() << "LLVM 19 was not there when this was built";
    const TemporaryFolder folder;
    const auto widths = [&](const char* moved, bool distances) {
        const fs::path source = folder.path / "move.c";
        write_text_file(source,
                        fmt::format("#include <string.h>\n"
                                    "double a[40];\n"
                                    "void kernel(int n) {{\n"
                                    "    a[0] = a[0] * a[1];\n"
                                    "    memmove({} * sizeof(double));\n"
                                    "    for (int i = 0; i < n; i++) a[i] = a[i] + 1;\n"
                                    "}}\n"
                                    "int main(void) {{ kernel(30); }}\n",
                                    moved),
                        Overwrite::yes);
        const automatch::Workload found = automatch::analyse_program(
            {.sources = {source}, .kernel = "kernel", .distances = distances}, {});
        std::map<std::int64_t, std::int64_t> levels;  // by operations
        for (const automatch::LevelWidth& width : found.as_written().widths)
            levels[width.f64 + width.f32] += width.levels;
        return levels;
    };
    const std::map<std::int64_t, std::int64_t> by_hand = {{2, 1}, {29, 1}};
    EXPECT_EQ(widths("a + 3, a, 30", true), by_hand);
    EXPECT_EQ(widths("a + 1, a, 39", false), by_hand);
}

// Operations by hand formula. Additions count subtractions.
TEST(WorkloadCounts, FollowHandFormulas) {
    if (!OCCUPIPE_MATCH_INSTRUMENTS) GTEST_SKIP() << "LLVM 19 was not there when this was built";
    const auto counted = [](const std::string& name, const std::vector<std::string>& arguments) {
        return automatch::analyse_program(
            {.sources = {fs::path(OCCUPIPE_SOURCE_DIR) / "automatch/workloads" / (name + ".c")},
             .kernel = name,
             .arguments = arguments},
            {});
    };
    const automatch::Workload stencil = counted("stencil", {"12", "11", "10", "3"});
    EXPECT_EQ(stencil.operations.additions, 6 * 10 * 9 * 8 * 3);
    EXPECT_EQ(stencil.operations.multiplications, 2 * 10 * 9 * 8 * 3);
    EXPECT_EQ(stencil.synchronisations, 2);
    EXPECT_EQ(stencil.as_written().depth, 5 * 3);  // a tree of six sums, product, sum

    const automatch::Workload spmv = counted("spmv", {"9", "4"});
    const int elements = (5 * 9 - 6) * (5 * 9 - 6);
    EXPECT_EQ(spmv.operations.additions, 4 * elements);
    EXPECT_EQ(spmv.operations.multiplications, 4 * elements);
    EXPECT_EQ(spmv.synchronisations, 3);

    const automatch::Workload lud = counted("lud", {"20"});
    const int sum = 19 * 20 / 2, squares = 19 * 20 * 39 / 6;
    EXPECT_EQ(lud.operations.divisions, 19);
    EXPECT_EQ(lud.operations.multiplications, sum + squares);
    EXPECT_EQ(lud.operations.additions, squares);
    EXPECT_EQ(lud.synchronisations, 18);

    const automatch::Workload lavamd = counted("lavamd", {"2"});
    EXPECT_EQ(lavamd.operations.functions, 8 * 8 * 100 * 100);
    EXPECT_EQ(lavamd.operations.additions, 12 * lavamd.operations.functions);
    EXPECT_EQ(lavamd.operations.multiplications, 8 * lavamd.operations.functions);
    EXPECT_EQ(lavamd.synchronisations, 0);
}

}  // namespace
}  // namespace occupipe::test

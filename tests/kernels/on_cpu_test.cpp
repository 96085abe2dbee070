// SPDX-License-Identifier: MIT
// The oracle itself: kernels on the host give what their definition says, in whichever order their
// threads run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

#include "tests/kernels/host/half.h"
#include "tests/kernels/run_on_cpu.h"

namespace occupipe::test {
namespace {

template <typename T>
std::vector<T> values(const std::vector<Buffer>& buffers, std::string_view name) {
    for (const Buffer& buffer : buffers) {
        if (buffer.name != name) continue;
        std::vector<T> made(static_cast<std::size_t>(buffer.count));
        if (made.size() * sizeof(T) != buffer.bytes.size()) throw std::logic_error("another type");
        std::memcpy(static_cast<void*>(made.data()), buffer.bytes.data(), buffer.bytes.size());
        return made;
    }
    throw std::logic_error("no such buffer");
}

const std::vector<std::byte>& bytes_of(const std::vector<Buffer>& buffers, std::string_view name) {
    return std::ranges::find(buffers, name, &Buffer::name)->bytes;
}

class OnCpu : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(OnCpu, OrderOfThreadsDoesNotMatter) {
    const LaunchFile file = read_launch_file(GetParam());
    const std::vector<Buffer> one = run_on_cpu(file),
                              other = run_on_cpu(file, host::Order::backward);
    for (std::size_t i = 0; i < one.size(); ++i) {
        const auto [at, there] = std::ranges::mismatch(one[i].bytes, other[i].bytes);
        EXPECT_TRUE(at == one[i].bytes.end())
            << one[i].name << " at element " << (at - one[i].bytes.begin()) / size_of(one[i].type);
    }
}

TEST_P(OnCpu, WritesWhatItChecks) {
    const LaunchFile file = read_launch_file(GetParam());
    const std::vector<Buffer> after = run_on_cpu(file);
    ASSERT_FALSE(file.check.empty());
    for (const std::string& name : file.check) {
        EXPECT_NE(bytes_of(file.buffers, name), bytes_of(after, name)) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, OnCpu, testing::ValuesIn(launch_files()), [](const auto& one) {
    std::string name = one.param.stem().string();
    std::ranges::replace_if(
        name, [](char c) { return !std::isalnum(c); }, '_');
    return name;
});

struct Case {
    LaunchFile file;
    std::vector<Buffer> after;

    explicit Case(const std::string& name)
        : file(read_launch_file(kernels_folder() / (name + ".yaml"))), after(run_on_cpu(file)) {}
    template <typename T>
    std::vector<T> before_of(std::string_view name) const {
        return values<T>(file.buffers, name);
    }
    template <typename T>
    std::vector<T> after_of(std::string_view name) const {
        return values<T>(after, name);
    }
};

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
    for (const std::byte byte : bytes_of(run.file.buffers, "words"))
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

}  // namespace
}  // namespace occupipe::test

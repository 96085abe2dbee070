// SPDX-License-Identifier: MIT
// The oracle itself: kernels on the host give what their definition says, in whichever order their
// threads run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace occupipe::test

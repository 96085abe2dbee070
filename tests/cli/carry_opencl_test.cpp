// SPDX-License-Identifier: MIT
// A runner written from docs/how-to/measure-elsewhere.md alone: it sees the dumped folder and
// OpenCL, nothing of ours.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <gtest/gtest.h>

#include <CL/opencl.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/files/files.h"
#include "tests/support/carried.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::cli::testing {
namespace {

class Runner {
public:
    explicit Runner(cl::Device device)
        : device_(std::move(device)),
          context_(device_),
          queue_(context_, device_, CL_QUEUE_PROFILING_ENABLE) {}

    double nanoseconds(const std::filesystem::path& folder, const Row& row) {
        const std::string& name = row.at("kernel");
        cl::Program program(context_, read_text_file(folder / "kernels" / (name + ".cl")));
        program.build({device_}, "-cl-std=CL1.2");
        cl::Kernel kernel(program, name.c_str());
        const cl::Buffer in = buffer(row, "in");
        const cl::Buffer out = buffer(row, "out");
        const cl::Buffer stamps = buffer(row, "stamps");
        cl_uint index = 0;
        for (const std::string& argument : split(row.at("arguments"), ';')) {
            if (argument == "in") kernel.setArg(index, in);
            if (argument == "out") kernel.setArg(index, out);
            if (argument == "stamps") kernel.setArg(index, stamps);
            if (argument == "local")
                kernel.setArg(index, cl::Local(std::stoul(row.at("shared_bytes"))));
            if (argument.starts_with("s32=")) kernel.setArg(index, std::stoi(argument.substr(4)));
            if (argument.starts_with("u32="))
                kernel.setArg(index, static_cast<cl_uint>(std::stoul(argument.substr(4))));
            ++index;
        }
        const std::size_t block = std::stoul(row.at("block"));
        const std::size_t items = block * std::stoul(row.at("grid"));
        double best = 1e300;
        for (int i = 0; i < 4; ++i) {
            cl::Event event;
            queue_.enqueueNDRangeKernel(kernel, cl::NullRange, items, block, nullptr, &event);
            event.wait();
            best = std::min(
                best, static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                          event.getProfilingInfo<CL_PROFILING_COMMAND_START>()));
        }
        Bytes result(std::stoul(row.at("out_bytes")));
        queue_.enqueueReadBuffer(out, CL_TRUE, 0, result.size(), result.data());
        EXPECT_NE(result, Bytes(result.size(), std::byte{0xa5})) << name << " stored nothing";
        return best;
    }

private:
    cl::Buffer buffer(const Row& row, const std::string& which) {
        const Bytes bytes =
            contents(std::stoul(row.at(which + "_bytes")), row.at(which + "_contents"));
        cl::Buffer made(context_, CL_MEM_READ_WRITE, bytes.size());
        queue_.enqueueWriteBuffer(made, CL_TRUE, 0, bytes.size(), bytes.data());
        return made;
    }

    cl::Device device_;
    cl::Context context_;
    cl::CommandQueue queue_;
};

cl::Device first_device() {
    std::vector<cl::Platform> platforms;
    try {
        cl::Platform::get(&platforms);
        std::vector<cl::Device> devices;
        if (!platforms.empty()) platforms.front().getDevices(CL_DEVICE_TYPE_ALL, &devices);
        if (!devices.empty()) return devices.front();
    } catch (const cl::Error&) {
        return {};
    }
    return {};
}

// It had no effect, and nobody said so.
TEST(CarryOpenCl, PlacementThatNoKernelCanReadIsRefused) {
    if (!first_device()()) GTEST_SKIP() << "no OpenCL device";
    const test::TemporaryFolder own;
    const std::filesystem::path folder = own.path / "dump";
    const auto run = run_program({"measure", "--device", "opencl:0.0", "--quick", "--instructions",
                                  "fma.f32", "--dump", folder.string(), "--placement"});
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find("placement: kernels for opencl:0.0 cannot read on which core"),
              std::string::npos)
        << run.err;
    EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(CarryOpenCl, AStrangerRunsTheDumpedKernelsAndTheTimesComeBack) {
    const cl::Device device = first_device();
    if (!device()) GTEST_SKIP() << "no OpenCL device";
    const test::TemporaryFolder own;
    const std::filesystem::path& folder = own.path;
    const std::string instructions =
        thinned::all_cases()
            ? "fma.f32,ld.shared.u32,ld.global.u32,ld.global.f32,mix(fma.f32*3,div.f32)"
            : "fma.f32,ld.shared.u32,mix(fma.f32*3,add.f32)";
    const auto dumped = run_program({"measure", "--device", "opencl:0.0", "--quick",
                                     "--instructions", instructions, "--dump", folder.string()});
    ASSERT_EQ(dumped.exit_code, 0) << dumped.err;
    const CarriedTable table = read_launches(folder / "launches.csv");
    std::string text = table.header + "\n";
    Runner runner(device);
    std::map<std::string, double> seen;
    for (const CarriedLaunch& launch : table.launches) {
        // One chain is enough to see that everything was understood; the rest stays empty.
        const std::string& point = launch.fields.at("point");
        text += launch.line;
        if (launch.fields.at("counters").find("chains=1;") != std::string::npos ||
            point.starts_with("mix(")) {
            seen[point] = runner.nanoseconds(folder, launch.fields);
            text += std::to_string(seen[point]);
        }
        text += "\n";
    }
    // Noise aside, four times the depth takes longer.
    EXPECT_GT(seen.at("fma.f32/group_warps:1/concurrent_groups:1/chains:1/depth:262144"),
              2 * seen.at("fma.f32/group_warps:1/concurrent_groups:1/chains:1/depth:65536"));
    write_text_file(folder / "launches.csv", text, Overwrite::yes);
    const auto imported = run_program({"measure", "--import", (folder / "launches.csv").string(),
                                       "--partial", "-o", (folder / "m.json").string()});
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(read_measurements(folder / "m.json").rows.size(), seen.size());
}

}  // namespace
}  // namespace occupipe::cli::testing

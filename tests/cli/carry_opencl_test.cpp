// SPDX-License-Identifier: MIT
// A runner written from docs/carry.md alone: it sees the dumped folder and OpenCL, nothing of ours.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <gtest/gtest.h>

#include <CL/opencl.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>

#include "core/files.h"
#include "run_program.h"

namespace occupipe::cli::testing {
namespace {

using Bytes = std::vector<unsigned char>;
using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

// Fields in quotes may hold commas.
std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    return fields;
}

std::size_t number_after(const std::string& text, const std::string& key) {
    return std::strtoull(text.c_str() + text.find(key) + key.size(), nullptr, 10);
}

void fill_walk(Bytes& buffer, const std::string& term) {
    const std::size_t words = number_after(term, "table_bytes=") / 4;
    const std::size_t line = number_after(term, "line_bytes=") / 4;
    std::vector<std::uint32_t> next(words / line);
    std::iota(next.begin(), next.end(), 0u);
    if (term.find("order=random") != term.npos) {
        std::mt19937 random(7);  // one cycle through all lines (Sattolo)
        for (std::size_t i = next.size() - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
    } else {
        std::rotate(next.begin(), next.begin() + 1, next.end());
    }
    ASSERT_NE(term.find("words=index"), term.npos);
    for (std::size_t w = 0; (w + 1) * 4 <= buffer.size(); ++w) {
        const std::size_t at = w % words;
        const auto value = static_cast<std::uint32_t>(next[at / line] * line + at % line);
        std::memcpy(&buffer[w * 4], &value, 4);
    }
}

Bytes contents(std::size_t bytes, const std::string& text) {
    Bytes buffer(bytes, 0);
    for (const std::string& term : split(text, '+')) {
        if (term == "poison") {
            std::fill(buffer.begin(), buffer.end(), 0xa5);
        } else if (term == "floats") {
            for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
                const float value = 1e-4f * static_cast<float>(i % 13);
                std::memcpy(&buffer[i], &value, 4);
            }
        } else if (term.starts_with("walk(")) {
            fill_walk(buffer, term);
        } else if (term.starts_with("hex@")) {
            const std::size_t offset = number_after(term, "hex@");
            const std::string digits = term.substr(term.find(':') + 1);
            for (std::size_t i = 0; i < digits.size() / 2; ++i) {
                buffer[offset + i] = static_cast<unsigned char>(
                    std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, 16));
            }
        } else {
            EXPECT_EQ(term, "zero");
        }
    }
    return buffer;
}

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
        EXPECT_NE(result, Bytes(result.size(), 0xa5)) << name << " stored nothing";
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

TEST(CarryOpenCl, AStrangerRunsTheDumpedKernelsAndTheTimesComeBack) {
    const cl::Device device = first_device();
    if (!device()) GTEST_SKIP() << "no OpenCL device";
    std::string name = (std::filesystem::temp_directory_path() / "occupipe-carry-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    const std::filesystem::path folder = name;
    const auto dumped =
        run_program({"measure", "--device", "opencl:0.0", "--quick", "--instructions",
                     "fma.f32,ld.shared.u32,ld.global.u32,ld.global.f32,mix(fma.f32*3,div.f32)",
                     "--dump", name});
    ASSERT_EQ(dumped.exit_code, 0) << dumped.err;
    std::istringstream in(read_text_file(folder / "launches.csv"));
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> header = fields_of(line);
    std::string text = line + "\n";
    Runner runner(device);
    std::map<std::string, double> seen;
    while (std::getline(in, line)) {
        const std::vector<std::string> fields = fields_of(line);
        ASSERT_EQ(fields.size(), header.size());
        Row row;
        for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = fields[i];
        // One chain is enough to see that everything was understood; the rest stays empty.
        if (row.at("counters").find("chains=1;") == std::string::npos &&
            !row.at("point").starts_with("mix(")) {
            text += line + "\n";
            continue;
        }
        const double cycles = runner.nanoseconds(folder, row);
        seen[row.at("point")] = cycles;
        text += line + std::to_string(cycles) + "\n";
    }
    // Noise aside, four times the depth takes longer.
    EXPECT_GT(seen.at("fma.f32/group_warps:1/concurrent_groups:1/chains:1/depth:262144"),
              2 * seen.at("fma.f32/group_warps:1/concurrent_groups:1/chains:1/depth:65536"));
    write_text_file(folder / "launches.csv", text, Overwrite::yes);
    const auto imported = run_program({"measure", "--import", (folder / "launches.csv").string(),
                                       "--partial", "-o", (folder / "m.json").string()});
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(read_measurements(folder / "m.json").rows.size(), seen.size());
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace occupipe::cli::testing

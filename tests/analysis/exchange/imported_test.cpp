// SPDX-License-Identifier: MIT
// Lines as the programs print them (te42kyfo/gpu-benches, caps-tum/mt4g, krrishnarraj/clpeak,
// NVIDIA/nvbench), with numbers of their published results, and what they mean by hand.
#include "analysis/exchange/imported.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& read) {
    try {
        read();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

std::string said(const std::vector<std::string>& notes) { return testing::PrintToString(notes); }

DeviceHints hints(std::optional<int> cores = {}, std::optional<int> warp_size = {},
                  std::optional<double> clock_hz = {}) {
    DeviceHints out;
    out.cores = cores;
    out.warp_size = warp_size;
    out.clock_hz = clock_hz;
    return out;
}

// gpu-latency/h100_pcie.txt
const std::string h100 =
    "clock: 1755 1755 1755 1755 \n"
    "  1000000  1755        1     19.5    34.2\n"
    "  1000000  1755      196     19.8    34.7\n"
    "  1000000  1755      391    151.4   265.7\n"
    "  1102135  1755    68883    404.4   644.0\n"
    " 24465205  1755  1529075   9177.7   658.4\n\n";

TEST(ImportGpuLatency, OneRowForEachWorkingSet) {
    const InputText file{"h100_pcie.txt", h100};
    const auto found = import_gpu_latency(file, hints(114, 32));
    ASSERT_EQ(found.rows.size(), 5u);
    const MeasurementFile read =
        parse_measurements(measurement_text(found, file, "gpu-latency"), "m.json");
    EXPECT_EQ(read.context.at("device_name"), "h100_pcie");
    EXPECT_EQ(read.context.at("cores"), "114");
    EXPECT_EQ(read.context.at("clock_hz"), "1755000000");
    ASSERT_EQ(read.rows.size(), 5u);
    const MeasurementRow& row = read.rows[2];
    EXPECT_EQ(row.subject, "ld.global.u64.working_set");
    EXPECT_EQ(row.shape.group_warps, 2);  // 64 threads
    EXPECT_EQ(row.shape.depth, 1000000);
    EXPECT_DOUBLE_EQ(*row.cycles / static_cast<double>(row.shape.depth), 265.7);
    EXPECT_DOUBLE_EQ(row.counters.at("working_set_bytes"), 391 * 1024);
    EXPECT_NEAR(row.seconds, 0.1514, 1e-12);
}

// mi210's wavefronts have 64 threads: one chases.
TEST(ImportGpuLatency, WavefrontsOf64) {
    const std::string text = "  1000000  1700        1     69.2   117.7\n";
    const auto found = import_gpu_latency({"mi210.txt", text}, hints({}, 64));
    EXPECT_EQ(found.rows.front().shape.group_warps, 1);
    EXPECT_THAT(testing::PrintToString(found.notes),
                HasSubstr("number of cores is not in the file"));
}

// The version of 2024 chases with one thread and writes mean, median and percentiles.
TEST(ImportGpuLatency, TheMeanOfEightColumns) {
    const std::string text =
        "clock: 1300 1380 1380\nAgent 0\n"
        "   100000  1400        2      2.5    35.0 34.0 33.0 39.0\n"
        "   100000  1400      2.1      2.5    35.0 34.0 33.0 39.0\n"
        "   100000  1400      2.9      nan    nan 34.0 33.0 39.0\n"
        "   100000  1400      400     15.0   210.0 209.0 205.0 230.0\n";
    const auto found = import_gpu_latency({"mi.txt", text}, hints(80, 64));
    ASSERT_EQ(found.rows.size(), 3u);
    EXPECT_DOUBLE_EQ(found.rows[0].cycles / 1e5, 35);
    EXPECT_DOUBLE_EQ(found.rows[2].cycles / 1e5, 210);
    EXPECT_EQ(found.rows[0].shape.group_warps, 1);
    EXPECT_THAT(said(found.notes), HasSubstr("the mean; its median and percentiles"));
    EXPECT_THAT(said(found.notes),
                HasSubstr("1 figure left out; the first: mi.txt:5:31: time [ms]: 'nan'"));
}

// A file may have a name that is no text; what is written about it is.
TEST(ImportGpuLatency, AFileWhoseNameIsNoText) {
    const InputText file{"h\xff\n.txt", h100};
    const std::string text =
        measurement_text(import_gpu_latency(file, hints(114, 32)), file, "gpu-latency");
    EXPECT_EQ(parse_measurements(text, "m.json").context.at("device_name"), "h??");
}

TEST(ImportGpuLatency, Refusals) {
    const auto said = [](const std::string& text, const DeviceHints& with = hints(1, 32)) {
        return refusal([&] { import_gpu_latency({"f.txt", text}, with); });
    };
    EXPECT_THAT(said("clock: 1\n"), HasSubstr("f.txt:1:1: has no row"));
    EXPECT_THAT(said("1000000 1755 1 19.5\n"), HasSubstr("f.txt:1:1: 4 words"));
    EXPECT_THAT(said("1000000 1755 x 19.5 34.2\n"), HasSubstr("f.txt:1:14: data set [kB]: 'x'"));
    EXPECT_THAT(said("1000000 1755 1 19.5 38.2\n"),
                HasSubstr("f.txt:1:21: cycles: is 38.2, and time x clock / iterations is 34.22"));
    EXPECT_THAT(said("1000000 1755 2 19.5 34.2\n1000000 1755 1 19.5 34.2\n"),
                HasSubstr("f.txt:2:14: data set [kB]: data sets have to ascend"));
    // Two sizes of one name would be two repetitions of one point.
    EXPECT_THAT(said("1000000 1755 1.0001 19.5 34.2\n1000000 1755 1.0002 19.5 34.2\n"),
                HasSubstr("f.txt:2:14: data set [kB]: data sets have to ascend, by a byte"));
    EXPECT_THAT(said("1000000 1755 1e-4 19.5 34.2\n"), HasSubstr("f.txt:1:14: data set [kB]"));
    EXPECT_THAT(said("1000000 1755 1 19.5 34.2\n1000000 1600 2 21.4 34.2\n"),
                HasSubstr("f.txt:2:9: clock [MHz]"));
    EXPECT_THAT(said("1000000 1755 1 nan 34.2\n"), HasSubstr("time [ms]: 'nan'"));
    EXPECT_THAT(said("1000000 1755 1 19.5 34.2\n1000000 1755 2 19.5 34.2 1 1 1\n"),
                HasSubstr("f.txt:2:1: is a row of another version"));
    EXPECT_THAT(said("1000000 1755 1 19.5 34.2\n", hints(1, 48)), HasSubstr("warp_size"));
}

// A Volta core: FMA in single precision has Λ 4 and λ 0.5, in double precision 8 and 1. The
// matrices have 1 … 32 warps down and 1, 2, 4, 8 streams across.
std::string incore_matrix(double latency, double cpi) {
    std::string text;
    for (int warps = 1; warps <= 32; warps *= 2) {
        for (int streams = 1; streams <= 8; streams *= 2)
            text += " " + std::to_string(std::max(latency / (warps * streams), cpi));
        text += "\n";
    }
    return text + "\n";
}

TEST(ImportCudaIncore, MatricesOfTheNewerVersion) {
    const std::string other = incore_matrix(40, 16);
    const InputText file{"v100.txt", "clock: 1380 1380\n" + incore_matrix(4, 0.5) + other + other +
                                         incore_matrix(8, 1) + other + other};
    const auto found = import_cuda_incore(file, hints(80, 32));
    ASSERT_EQ(found.rows.size(), 48u);
    const auto of = [&](const std::string& name, int warps, int chains) {
        for (const ImportedRow& row : found.rows)
            if (row.subject == name && row.shape.group_warps == warps && row.shape.chains == chains)
                return row.cycles / static_cast<double>(row.shape.depth);
        return -1.0;
    };
    EXPECT_DOUBLE_EQ(of("fma.f32", 1, 1), 4);              // Λ
    EXPECT_DOUBLE_EQ(of("fma.f32", 32, 8), 32 * 8 * 0.5);  // ω·ILP·λ
    EXPECT_DOUBLE_EQ(of("fma.f64", 1, 1), 8);
    EXPECT_DOUBLE_EQ(of("fma.f64", 1, 8), 8);
    EXPECT_DOUBLE_EQ(of("fma.f64", 16, 1), 16);
    EXPECT_EQ(found.rows.front().shape.depth, 1024);
    EXPECT_EQ(parse_measurements(measurement_text(found, file, "cuda-incore"), "m").rows.size(),
              48u);
}

// The lines of the older version: type, N, warps, streams, time, spread, cycles; FMA, division,
// square root.
TEST(ImportCudaIncore, LinesOfTheOlderVersion) {
    const std::string text =
        "d   128 1     1    0.7   0.0%    8.10\n"
        "d   128 1     1    9.1   0.0%   98.20\n"
        "d   128 1     1    8.8   0.0%   95.10\n"
        "d   128 2     3    0.3   0.0%    1.40\n"
        "d   128 2     3    9.1   0.0%   98.20\n"
        "d   128 2     3    8.8   0.0%   95.10\n\n"
        "  8.10   1.40 \n";
    const auto found = import_cuda_incore({"f", text}, hints(80, 32, 1380e6));
    ASSERT_EQ(found.rows.size(), 2u);
    EXPECT_EQ(found.rows[0].subject, "fma.f64");
    EXPECT_DOUBLE_EQ(found.rows[0].cycles, 8.1 * 128);
    EXPECT_EQ(found.rows[1].shape.group_warps, 2);
    EXPECT_EQ(found.rows[1].shape.chains, 3);
    EXPECT_EQ(found.rows[1].shape.depth, 42);  // 128 / 3
    EXPECT_DOUBLE_EQ(found.rows[1].cycles, 1.4 * 128 * 2);
}

TEST(ImportCudaIncore, AFigureThatIsNoneLeavesItselfOut) {
    const std::string other = incore_matrix(40, 16);
    std::string first = incore_matrix(4, 0.5);
    first.replace(first.find("4.000000"), 8, "inf");
    const auto found = import_cuda_incore({"f", first + other + other}, hints(80, 32, 1380e6));
    EXPECT_EQ(found.rows.size(), 23u);
    EXPECT_THAT(said(found.notes), HasSubstr("1 figure left out; the first: f:1:2: cycles: 'inf'"));
}

TEST(ImportCudaIncore, OneTypeAlone) {
    const std::string other = incore_matrix(40, 16);
    const auto found =
        import_cuda_incore({"f", incore_matrix(4, 0.5) + other + other}, hints(80, 32, 1380e6));
    EXPECT_EQ(found.rows.size(), 24u);
    EXPECT_EQ(found.rows.back().subject, "fma.f32");
}

TEST(ImportCudaIncore, Refusals) {
    const auto said = [](const std::string& text, const DeviceHints& with) {
        return refusal([&] { import_cuda_incore({"f", text}, with); });
    };
    const DeviceHints all = hints(80, 32, 1e9);
    EXPECT_THAT(said("", all), HasSubstr("f"));
    EXPECT_THAT(said("4.0 2.0 1.0 0.5\n", hints(80, 32)), HasSubstr("clock_hz: is needed"));
    EXPECT_THAT(said("4.0 2.0 1.0 0.5\n", all), HasSubstr("1 lines of numbers"));
    EXPECT_THAT(said("d 128 1 1 0.7 0.0%\n", all), HasSubstr("f:1:1: 6 words"));
    EXPECT_THAT(said("d 128 1 1.5 0.7 0.0% 8\n", all), HasSubstr("f:1:9: streams"));
    EXPECT_THAT(said("clock:\n4 2 1 1\n", all), HasSubstr("f:1:1: clock: has no number"));
}

// gpu-cache/l40.txt: 142 multiprocessors at 2490 MHz.
TEST(ImportGpuCache, BandwidthBoundsTheCostOfALoad) {
    const std::string text =
        "clock: 2490 2490 2490 \n"
        "     data set   exec time     spread        Eff. bw       DRAM read      DRAM write\n"
        "        10 kB        25ms       0.0%   22621.7 GB/s         0 GB/s          0 GB/s \n"
        "       224 kB       103ms       0.3%    5519.3 GB/s         0 GB/s          0 GB/s \n";
    const GpuProfile p = import_gpu_cache({"l40.txt", text}, hints(142, 32)).profile;
    const InstructionTiming* const load = p.find_instruction("ld.global.f32");
    ASSERT_NE(load, nullptr);
    ASSERT_EQ(load->tables.size(), 1u);
    // 128 bytes a warp; the first-level cache delivers 64 a cycle.
    const Estimate near = *load->tables.front().rows[0].cpi;
    EXPECT_NEAR(near.value, 128.0 * 142 * 2.49e9 / 22621.7e9, 1e-9);
    EXPECT_NEAR(near.value, 2, 0.01);
    EXPECT_EQ(near.kind, Estimate::Kind::upper_bound);
    EXPECT_DOUBLE_EQ(load->tables.front().rows[1].at, 224 * 1024);
    EXPECT_NEAR(load->cpi.value, 128.0 * 142 * 2.49e9 / 5519.3e9, 1e-9);
    EXPECT_FALSE(load->latency);
    EXPECT_EQ(parse_profile(format_profile(p), "p"), p);
}

// gpu-l2-cache/h200.txt, where a lane loads 8 bytes: 132 multiprocessors.
TEST(ImportGpuCache, TheSecondLevelsFormat) {
    const std::string text =
        "     data set   exec time     spread       Eff. bw\n"
        "       512 kB      1536 kB         4ms       1.0%   13526.6 GB/s        0 GB/s      0 "
        "GB/s \n"
        "       512 kB    132608 kB        13ms       0.0%    3887.9 GB/s        0 GB/s      0 "
        "GB/s \n";
    const GpuProfile p = import_gpu_cache({"h200.txt", text}, hints(132, 32, 1980e6)).profile;
    const InstructionTiming* const load = p.find_instruction("ld.global.f64");
    ASSERT_NE(load, nullptr);
    EXPECT_NEAR(load->cpi.value, 256.0 * 132 * 1980e6 / 3887.9e9, 1e-9);
    DeviceHints wide = hints(132, 64, 1980e6);
    wide.access_bytes = 16;
    EXPECT_NE(import_gpu_cache({"mi", text}, wide).profile.find_instruction("ld.global.v4.f32"),
              nullptr);
}

// ROCm's run time writes the architecture and its agents among the lines.
TEST(ImportGpuCache, LinesOfRocm) {
    DeviceHints wide = hints(100, 64, 1e9);
    wide.access_bytes = 16;
    const auto read = import_gpu_cache({"mi",
                                        "gfx90a\n data set exec time\nAgent 0\nAgent 1\n"
                                        "  4 kB  200ms  0.5%  20000.0 GB/s 0 GB/s\n"
                                        "  8 kB  200ms  0.5%  inf GB/s 0 GB/s\n"
                                        " 16 kB  200ms  0.5%  1e9 GB/s 0 GB/s\n"},
                                       wide);
    const InstructionTiming* const load = read.profile.find_instruction("ld.global.v4.f32");
    ASSERT_NE(load, nullptr);
    ASSERT_EQ(load->tables.front().rows.size(), 1u);
    EXPECT_DOUBLE_EQ(load->cpi.value, 5.12);
    EXPECT_THAT(said(read.notes),
                HasSubstr("1 figure left out; the first: mi:6:22: Eff. bw: 'inf'"));
    EXPECT_THAT(said(read.notes), HasSubstr("no core starts more than 0.25"));
}

TEST(ImportGpuCache, AFileWhoseNameIsNoText) {
    const GpuProfile p =
        import_gpu_cache({"l\xff.txt", "10 kB 25ms 0.0% 22621.7 GB/s\n"}, hints(142, 32, 1e9))
            .profile;
    EXPECT_EQ(p.device.name, "l?");
    EXPECT_EQ(parse_profile(format_profile(p), "p"), p);
}

TEST(ImportGpuCache, Refusals) {
    const auto said = [](const std::string& text, const DeviceHints& with) {
        return refusal([&] { import_gpu_cache({"f", text}, with); });
    };
    const std::string row = "10 kB 25ms 0.0% 22621.7 GB/s\n";
    EXPECT_THAT(said(row, hints(142, 32)), HasSubstr("clock_hz: is needed"));
    EXPECT_THAT(said(row, hints({}, 32, 1e9)), HasSubstr("cores: is needed"));
    const DeviceHints all = hints(142, 32, 1e9);
    EXPECT_THAT(said("data set\n", all), HasSubstr("f:1:1: has no row"));
    EXPECT_THAT(said("10 kB 25 0.0% 1 GB/s\n", all), HasSubstr("f:1:1: is not a row"));
    EXPECT_THAT(said("10 kB 25ms 0.0% 0 GB/s\n", all),
                HasSubstr("Eff. bw: '0' is not a number above 0"));
    // What only the profile's own rules refuse names the file as well.
    EXPECT_THAT(said("clock: 1e-9\n" + row, hints(142, 32)), HasSubstr("f: clock_hz: must be"));
    EXPECT_THAT(said(row + row, all), HasSubstr("f:2:1: data set: data sets have to ascend"));
    EXPECT_THAT(said(row + "512 kB 1536 kB 4ms 1% 1 GB/s\n", all), HasSubstr("f:2:1: is a row of"));
}

// Facts of sample_results/NVIDIA GeForce RTX 2080 Ti.json.
std::string mt4g(const std::string& l1_latency =
                     R"({"mean": 66.0, "measurements": 255, "stdev": 0.0, "unit": "cycles"})") {
    return R"({"compute": {"maxBlocksPerMultiProcessor": 16, "maxThreadsPerBlock": 1024,
 "maxThreadsPerMultiProcessor": 1024, "multiProcessorCount": 68, "regsPerMultiProcessor": 65536, "warpSize": 32},
"general": {"clockRate": {"unit": "kHz", "value": 1545000}, "computeCapability": {"major": 7, "minor": 5},
 "name": "NVIDIA GeForce RTX 2080 Ti", "vendor": "NVIDIA"},
"memory": {"l1": {"latency": )" +
           l1_latency + R"(, "size": {"confidence": 0.97, "size": 62976, "unit": "bytes"}},
 "l2": {"latency": {"mean": 175.64313725490197, "measurements": 255, "stdev": 4.105175094904848, "unit": "cycles"},
  "size": {"unit": "bytes", "value": 5767168}},
 "main": {"latency": {"mean": 496.247679531021, "measurements": 2047, "stdev": 76.88563260908893, "unit": "cycles"},
  "totalGlobalMem": {"unit": "bytes", "value": 11348672512}},
 "shared": {"latency": {"mean": 58.0, "measurements": 255, "stdev": 0.0, "unit": "cycles"},
  "sharedMemPerMultiProcessor": {"unit": "bytes", "value": 65536}}},
"meta": {"driver": 12080, "timestamp": "2025-08-10T00:16:04Z"}})";
}

TEST(ImportMt4g, MemoryLevelsAndLimits) {
    const GpuProfile p = import_mt4g({"2080.json", mt4g()}, {}).profile;
    EXPECT_EQ(p.device.name, "NVIDIA GeForce RTX 2080 Ti");
    EXPECT_EQ(p.device.compute_capability, "7.5");
    EXPECT_EQ(p.cores, 68);
    EXPECT_DOUBLE_EQ(p.clock_hz, 1545e6);
    EXPECT_EQ(p.limits.warps, 32);
    EXPECT_EQ(p.limits.group_warps, 32);
    EXPECT_EQ(p.limits.shared_memory_bytes, 65536);
    ASSERT_EQ(p.memory_levels.size(), 4u);
    EXPECT_DOUBLE_EQ(p.memory_levels[0].latency.value, 66);
    EXPECT_DOUBLE_EQ(p.memory_levels[0].last_bytes, 62976);
    EXPECT_DOUBLE_EQ(p.memory_levels[1].first_bytes, 62977);
    EXPECT_NEAR(*p.memory_levels[1].latency.std_error, 4.105175094904848 / 15.968719422671311,
                1e-9);
    EXPECT_DOUBLE_EQ(p.memory_levels[2].last_bytes, 11348672512.0);
    EXPECT_EQ(p.memory_levels[3].instruction, "ld.shared.u32");
    EXPECT_TRUE(p.instructions.empty());
    EXPECT_EQ(parse_profile(format_profile(p), "p"), p);
}

TEST(ImportMt4g, WhatALevelLacksLeavesItOut) {
    const auto read = import_mt4g({"f", mt4g("null")}, {});
    EXPECT_EQ(read.profile.memory_levels.size(), 3u);
    EXPECT_THAT(testing::PrintToString(read.notes),
                HasSubstr("memory.l1: left out: it has no latency"));
}

// HIP's numbers of AMD: shared memory of all cores, and a quotient of threads for groups.
TEST(ImportMt4g, AmdsSharedMemoryIsOfACore) {
    std::string text = mt4g();
    const auto swap = [&](const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
    };
    swap("\"NVIDIA\"", "\"AMD\"");
    swap("\"sharedMemPerMultiProcessor\": {\"unit\": \"bytes\", \"value\": 65536}",
         "\"sharedMemPerBlock\": {\"unit\": \"bytes\", \"value\": 65536}, "
         "\"sharedMemPerMultiProcessor\": {\"unit\": \"bytes\", \"value\": 4456448}");
    const auto read = import_mt4g({"mi.json", text}, {});
    EXPECT_EQ(read.profile.limits.shared_memory_bytes, 65536);
    EXPECT_DOUBLE_EQ(read.profile.memory_levels.back().last_bytes, 65536);
    EXPECT_FALSE(read.profile.limits.groups);
    EXPECT_THAT(said(read.notes), HasSubstr("4456448 bytes are those of all 68 cores"));
    EXPECT_THAT(said(read.notes), HasSubstr("maxBlocksPerMultiProcessor: 16 is left out"));
    // What is no multiple is a core's.
    swap("4456448", "163840");
    EXPECT_EQ(import_mt4g({"mi.json", text}, {}).profile.limits.shared_memory_bytes, 163840);
}

TEST(ImportMt4g, ALatencyThatIsNoneLeavesItsLevelOut) {
    for (const char* mean : {"null", "0", "-1"}) {
        const auto read = import_mt4g(
            {"f", mt4g(std::string(R"({"unit": "cycles", "mean": )") + mean + "}")}, {});
        EXPECT_EQ(read.profile.memory_levels.size(), 3u);
        EXPECT_THAT(said(read.notes), HasSubstr("memory.l1.latency.mean: is not above 0"));
    }
}

TEST(ImportMt4g, ASizeThatIsNoneLeavesItselfOut) {
    // As an integer 1e300 would have no value.
    for (const char* size : {"1e300", "0.5", "0", "null"}) {
        std::string text = mt4g();
        text.replace(text.find("65536}}}"), 5, size);
        const auto read = import_mt4g({"f.json", text}, {});
        EXPECT_FALSE(read.profile.limits.shared_memory_bytes);
        EXPECT_EQ(read.profile.memory_levels.size(), 3u);
        EXPECT_THAT(said(read.notes),
                    HasSubstr("f.json:11:60: memory.shared.sharedMemPerMultiProcessor: is not from "
                              "1 to 1e15 bytes"));
    }
}

// sampleResults/volta.csv of the versions before 2025.
TEST(ImportMt4g, CsvOfTheOlderVersions) {
    const std::string text =
        "GPU_INFORMATION; GPU_vendor; \"Nvidia\"; GPU_name; \"Tesla V100-PCIE-32GB\"\n"
        "COMPUTE_RESOURCE_INFORMATION; CUDA_compute_capability; \"7.00\"; "
        "Number_of_streaming_multiprocessors; 80; Number_of_cores_in_GPU; 5120\n"
        "REGISTER_INFORMATION; Registers_per_SM; 65536; \"32-bit registers\"\n"
        "ADDITIONAL_INFORMATION; Memory_Clock_Frequency; 877.000; \"MHz\"; GPU_Clock_Rate; 1.380; "
        "\"GHz\"\n"
        "L1_DATA_CACHE; Size; 26.253906; KiB; \"=\"; Load_Latency; 36; \"cycles\"; Load_Latency; "
        "28; "
        "\"nanoseconds\"\n"
        "L2_DATA_CACHE; Size; 6.000; MiB; \">=\"; Load_Latency; 28; \"nanoseconds\"; Load_Latency; "
        "215; \"cycles\"\n"
        "TEXTURE_CACHE; \"N/A\"\n"
        "MAIN_MEMORY; Size; 31.748474; GiB; \"=\"; Load_Latency; 427; \"cycles\"\n"
        "SHARED_MEMORY; Size; 96.000000; KiB; \"=\"; Load_Latency; 27; \"cycles\"\n";
    const auto read = import_mt4g({"volta.csv", text}, {});
    const GpuProfile& p = read.profile;
    EXPECT_EQ(p.device.name, "Tesla V100-PCIE-32GB");
    EXPECT_EQ(p.device.vendor, "NVIDIA");
    EXPECT_EQ(p.device.compute_capability, "7.0");
    EXPECT_EQ(p.cores, 80);
    EXPECT_DOUBLE_EQ(p.clock_hz, 1380e6);
    EXPECT_EQ(p.limits.registers, 65536);
    EXPECT_EQ(p.limits.shared_memory_bytes, 98304);
    ASSERT_EQ(p.memory_levels.size(), 4u);
    EXPECT_DOUBLE_EQ(p.memory_levels[0].latency.value, 36);
    EXPECT_DOUBLE_EQ(p.memory_levels[0].last_bytes, 26884);
    EXPECT_DOUBLE_EQ(p.memory_levels[1].latency.value, 215);
    EXPECT_DOUBLE_EQ(p.memory_levels[1].last_bytes, 6 * 1048576);
    EXPECT_THAT(said(read.notes), HasSubstr("L2_DATA_CACHE: its size is at least"));
    const auto refused = [&](const std::string& from, const std::string& to) {
        std::string other = text;
        other.replace(other.find(from), from.size(), to);
        return refusal([&] { import_mt4g({"f.csv", other}, {}); });
    };
    EXPECT_THAT(refused("80;", "x;"), HasSubstr("f.csv:2:1: Number_of_streaming_multiprocessors"));
    EXPECT_THAT(refused("\"GHz\"", "\"THz\""), HasSubstr("f.csv:4:1: GPU_Clock_Rate"));
    std::string renamed = text;
    for (std::size_t at; (at = renamed.find("Load_Latency")) != std::string::npos;)
        renamed.replace(at, 12, "Latency");
    EXPECT_THAT(refusal([&] {
                    import_mt4g({"f.csv", renamed}, {});
                }),
                HasSubstr("f.csv:5:1: L1_DATA_CACHE.Load_Latency: has no number"));
    EXPECT_THAT(refused("GPU_INFORMATION", "X"), HasSubstr("GPU_INFORMATION: is missing"));
}

TEST(ImportMt4g, Refusals) {
    const auto said = [](const std::string& text) {
        return refusal([&] { import_mt4g({"f.json", text}, {}); });
    };
    EXPECT_THAT(said("{"), HasSubstr("f.json:"));
    EXPECT_THAT(said("{}"), HasSubstr("general"));
    EXPECT_THAT(said(mt4g(R"({"mean": 66, "unit": "ns"})")),
                HasSubstr("f.json:5:51: memory.l1.latency.unit: 'ns' is not 'cycles'"));
    EXPECT_THAT(said(mt4g(R"({"mean": "x", "unit": "cycles"})")),
                HasSubstr("memory.l1.latency.mean"));
    const auto with = [&](const std::string& old, const std::string& text) {
        std::string all = mt4g();
        all.replace(all.find(old), old.size(), text);
        return said(all);
    };
    EXPECT_THAT(with("\"NVIDIA GeForce RTX 2080 Ti\"", "\"\""),
                HasSubstr("f.json: device.name: must not be empty"));
}

// Half a byte more than the level before leaves no byte that is its own.
TEST(ImportMt4g, ALevelOfNoByteIsLeftOut) {
    std::string text = mt4g();
    text.replace(text.find("5767168"), 7, "62976.5");
    const auto read = import_mt4g({"f", text}, {});
    EXPECT_EQ(read.profile.memory_levels.size(), 3u);
    EXPECT_THAT(testing::PrintToString(read.notes),
                HasSubstr("memory.l2: left out: its size is not above"));
}

// results/NVIDIA_CUDA/GeForce_RTX_2060.log. Its λ of FMA is half a cycle: at the clock that ran.
const std::string clpeak_log =
    "\nPlatform: NVIDIA CUDA\n"
    "  Device: GeForce RTX 2060\n"
    "    Driver version  : 440.33.01 (Linux x64)\n"
    "    Compute units   : 30\n"
    "    Clock frequency : 1200 MHz\n\n"
    "    Global memory bandwidth (GBPS)\n"
    "      float   : 277.69\n      float2  : 292.44\n      float4  : 299.43\n\n"
    "    Single-precision compute (GFLOPS)\n"
    "      float   : 6660.58\n      float2  : 6652.10\n\n"
    "    No half precision support! Skipped\n\n"
    "    Double-precision compute (GFLOPS)\n      double   : 225.49\n\n"
    "    Integer compute (GIOPS)\n      int   : 5287.57\n\n"
    "    Transfer bandwidth (GBPS)\n      enqueueWriteBuffer         : 6.02\n"
    "      enqueueMapBuffer(for read) : 5.98\n\n"
    "    Kernel launch latency : 3.44 us\n\n";

TEST(ImportClpeak, TextOfTheOlderVersions) {
    const auto read = import_clpeak({"f.log", clpeak_log}, hints({}, 32, 1735e6));
    const GpuProfile& p = read.profile;
    EXPECT_EQ(p.device.name, "GeForce RTX 2060");
    EXPECT_EQ(p.cores, 30);
    ASSERT_EQ(p.instructions.size(), 5u);
    const auto cpi = [&](const char* name) { return p.find_instruction(name)->cpi; };
    EXPECT_NEAR(cpi("fma.f32").value, 30 * 32 * 2 * 1735e6 / 6660.58e9, 1e-9);
    EXPECT_NEAR(cpi("fma.f32").value, 0.5, 0.001);
    EXPECT_NEAR(cpi("fma.f64").value, 30 * 32 * 2 * 1735e6 / 225.49e9, 1e-9);
    EXPECT_NEAR(cpi("mad.s32").value, 30 * 32 * 2 * 1735e6 / 5287.57e9, 1e-9);
    EXPECT_NEAR(cpi("ld.global.f32").value, 30 * 32 * 4 * 1735e6 / 277.69e9, 1e-9);
    EXPECT_EQ(cpi("fma.f32").kind, Estimate::Kind::upper_bound);
    EXPECT_FALSE(p.find_instruction("fma.f32")->latency);
    EXPECT_EQ(parse_profile(format_profile(p), "p"), p);
}

// results/Nvidia/GeForce_RTX_5060.xml
const std::string clpeak_xml =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<clpeak format_version=\"2\" clpeak_version=\"2.1.2\" os=\"Linux x64\">\n"
    "  <run backend=\"CUDA\" platform=\"CUDA\" device=\"NVIDIA GeForce RTX 5060\" "
    "driver=\"13.3\">\n"
    "    <prop name=\"SMs\" value=\"30\"/>\n"
    "    <category name=\"fp_compute\">\n"
    "      <test name=\"single_precision_compute\" display=\"S\" unit=\"gflops\">\n"
    "        <metric name=\"float\">21112.5156</metric>\n"
    "      </test>\n"
    "      <test name=\"half_precision_compute\" display=\"H\" unit=\"gflops\">\n"
    "        <metric name=\"half2\" info=\"Two values\">21166.7285</metric>\n"
    "        <metric name=\"x\" status=\"unsupported\" reason=\"none\"/>\n"
    "      </test>\n    </category>\n  </run>\n"
    "  <run backend=\"Vulkan\" platform=\"Vulkan\" device=\"second\">\n"
    "    <prop name=\"SMs\" value=\"2\"/>\n"
    "      <test name=\"single_precision_compute\" display=\"S\" unit=\"gflops\">\n"
    "        <metric name=\"float\">100</metric>\n      </test>\n  </run>\n</clpeak>\n";

TEST(ImportClpeak, Xml) {
    const GpuProfile p = import_clpeak({"f.xml", clpeak_xml}, hints({}, 32, 2.75e9)).profile;
    EXPECT_EQ(p.device.name, "NVIDIA GeForce RTX 5060");
    EXPECT_NEAR(p.find_instruction("fma.f32")->cpi.value, 30 * 64 * 2.75e9 / 21112.5156e9, 1e-9);
    EXPECT_NEAR(p.find_instruction("fma.f16x2")->cpi.value, 30 * 128 * 2.75e9 / 21166.7285e9, 1e-9);
    DeviceHints second = hints({}, 32, 1e9);
    second.device = 2;
    EXPECT_EQ(import_clpeak({"f.xml", clpeak_xml}, second).profile.device.name, "second");
    EXPECT_THAT(
        said(import_clpeak({"f.xml", clpeak_xml}, hints({}, 32, 1e9)).notes),
        HasSubstr("device 1 is taken, 'NVIDIA GeForce RTX 5060', and the file has 2 devices: "
                  "1 'NVIDIA GeForce RTX 5060', 2 'second' (--given device=N takes another)"));
    std::string named = clpeak_xml;
    named.replace(named.find("NVIDIA GeForce"), 14, "&quot;A&quot; &amp;amp; &x;");
    EXPECT_EQ(import_clpeak({"f.xml", named}, hints({}, 32, 1e9)).profile.device.name,
              "\"A\" &amp; &x; RTX 5060");
}

// What is no number leaves itself out; what becomes no instruction is not judged at all.
TEST(ImportClpeak, FiguresThatAreNone) {
    std::string text = clpeak_log;
    const auto swap = [&](const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
    };
    swap("float2  : 292.44", "float8  : clEnqueueNDRangeKernel (-54)");
    swap("read) : 5.98", "read) : inf\n      enqueueUnmap(after write)  : 1.#J");
    swap("double   : 225.49", "double   : nan");
    swap("int   : 5287.57", "int   : 0.00");
    const auto read = import_clpeak({"f.log", text}, hints({}, 32, 1735e6));
    EXPECT_EQ(read.profile.instructions.size(), 3u);
    EXPECT_THAT(said(read.notes), HasSubstr("3 figures left out; the first: f.log:10:17: float8: "
                                            "'clEnqueueNDRangeKernel' is not a number above 0"));
    std::string xml = clpeak_xml;
    xml.replace(xml.find("    </category>"), 0,
                "<test name=\"transfer_bandwidth\" unit=\"gbps\">\n"
                "<metric name=\"enqueuemapbuffer\">0.0000</metric>\n</test>\n");
    EXPECT_THAT(said(import_clpeak({"f.xml", xml}, hints({}, 32, 1e9)).notes),
                testing::Not(HasSubstr("left out; the first")));
}

// A loop that a compiler removed, or a timer that failed.
TEST(ImportClpeak, WhatNoCoreStartsIsNoBound) {
    std::string text = clpeak_log;
    text.replace(text.find("6660.58"), 7, "666058.00");
    const auto read = import_clpeak({"f.log", text}, hints({}, 32, 1735e6));
    EXPECT_EQ(read.profile.find_instruction("fma.f32"), nullptr);
    EXPECT_EQ(read.profile.instructions.size(), 4u);
    EXPECT_THAT(
        said(read.notes),
        HasSubstr("warning: fma.f32: λ would be at most 0.005, 199.9 warps started per cycle "
                  "and core, and no core starts more than 32"));
    // Where a warp is a lane, a vector unit starts as many as it has lanes.
    EXPECT_NE(import_clpeak({"f.log", text}, hints({}, 1, 1735e6 * 64))
                  .profile.find_instruction("fma.f32"),
              nullptr);
}

TEST(ImportClpeak, Refusals) {
    const auto said = [](const std::string& text, DeviceHints with, int nth = 1) {
        with.device = nth;
        return refusal([&] { import_clpeak({"f", text}, with); });
    };
    const DeviceHints all = hints({}, 32, 1e9);
    EXPECT_THAT(said("nothing\n", all), HasSubstr("f:1:1: names no device"));
    EXPECT_THAT(said(clpeak_log, hints({}, 32)), HasSubstr("clock_hz: is needed"));
    EXPECT_THAT(said(clpeak_log, hints({}, {}, 1e9)), HasSubstr("warp_size: is needed"));
    EXPECT_THAT(said(clpeak_xml, all, 3), HasSubstr("device: is 3, and the file has 2 devices"));
    EXPECT_THAT(said("x : 1\n", all), HasSubstr("f:1:1: names no device"));
    // What a driver says before the first device.
    EXPECT_EQ(import_clpeak({"f", "Warning: foo\n" + clpeak_log}, all).profile.instructions.size(),
              5u);
    EXPECT_THAT(
        said("Device: a\nCompute units : 1\nSingle-precision compute (GFLOPS)\nfloat : x\n", all),
        HasSubstr("f:4:9: float: 'x'"));
    EXPECT_THAT(
        said("Device: a\nCompute units : 1\nSingle-precision compute (furlongs)\nfloat : 1\n", all),
        HasSubstr("unit 'furlongs' is not known"));
    EXPECT_THAT(said("Device: a\nCompute units : 1\n", all), HasSubstr("has no throughput"));
    std::string other = clpeak_xml;
    other.replace(other.find("format_version=\"2\""), 18, "format_version=\"9\"");
    EXPECT_THAT(said(other, all), HasSubstr("f:2:1: format_version: '9'"));
}

std::string nvbench(const std::string& axes, const std::string& summaries) {
    return R"({"meta": {}, "devices": [{"id": 0, "name": "RTX 2060", "sm_version": 750, "number_of_sms": 30,
 "sm_default_clock_rate": 1200000000}],
 "benchmarks": [{"name": "fma.f32", "axes": [], "states": [{"name": "s", "device": 0,
  "axis_values": [)" +
           axes + R"(], "summaries": [)" + summaries + R"(], "is_skipped": false},
  {"name": "t", "axis_values": [], "summaries": null, "is_skipped": true}]}]})";
}
const std::string nvbench_axes =
    R"({"name": "group_warps", "type": "int64", "value": "8"},
  {"name": "concurrent_groups", "type": "int64", "value": "2"},
  {"name": "chains", "type": "int64", "value": "1"}, {"name": "depth", "type": "int64", "value": "65536"})";
const std::string nvbench_time =
    R"({"tag": "nv/cold/time/gpu/mean", "name": "GPU Time", "data": [{"name": "value", "type": "float64", "value": "3.1e-4"}]})";
const std::string nvbench_clock =
    R"({"tag": "nv/cold/sm_clock_rate/mean", "data": [{"name": "value", "type": "float64", "value": "1.7e9"}]})";

ImportedMeasurements nvbench_rows(const InputText& file, const DeviceHints& with) {
    return std::get<ImportedMeasurements>(import_nvbench(file, with));
}

TEST(ImportNvbench, AStateWhoseAxesSayTheShape) {
    const InputText file{"b.json", nvbench(nvbench_axes, nvbench_time + "," + nvbench_clock)};
    const auto found = nvbench_rows(file, {});
    ASSERT_EQ(found.rows.size(), 1u);
    const MeasurementFile read =
        parse_measurements(measurement_text(found, file, "nvbench"), "m.json");
    EXPECT_EQ(read.rows[0].subject, "fma.f32");
    EXPECT_EQ(read.rows[0].shape.warps(), 16);
    EXPECT_EQ(read.rows[0].shape.depth, 65536);
    EXPECT_NEAR(*read.rows[0].cycles, 3.1e-4 * 1.7e9, 1e-6);
    EXPECT_EQ(read.rows[0].clock_hz, 1.7e9);
    EXPECT_EQ(read.context.at("compute_capability"), "7.5");
    EXPECT_EQ(read.context.at("cores"), "30");
}

TEST(ImportNvbench, TheInstructionAsAnAxisAndAGivenClock) {
    const std::string axes =
        nvbench_axes + R"(,{"name": "instruction", "type": "string", "value": "mul.f64"})";
    const auto found = nvbench_rows({"b", nvbench(axes, nvbench_time)}, hints({}, {}, 1.5e9));
    EXPECT_EQ(found.rows.front().subject, "mul.f64");
    EXPECT_NEAR(found.rows.front().cycles, 3.1e-4 * 1.5e9, 1e-6);
}

// All samples of a state were discarded: its means are no numbers.
TEST(ImportNvbench, AStateWithoutSamplesIsLeftOut) {
    const std::string state = R"({"name": "u", "device": 0, "axis_values": [)" + nvbench_axes +
                              R"(], "summaries": [{"tag": "nv/cold/time/gpu/mean", "data": [
  {"name": "value", "type": "float64", "value": "nan"}]}, )" +
                              nvbench_clock + R"(], "is_skipped": false}, )";
    std::string text = nvbench(nvbench_axes, nvbench_time + "," + nvbench_clock);
    text.insert(text.find(R"({"name": "s", "device")"), state);
    const auto found = nvbench_rows({"b.json", text}, {});
    EXPECT_EQ(found.rows.size(), 1u);
    EXPECT_THAT(said(found.notes), HasSubstr("1 skipped states left out"));
    EXPECT_THAT(said(found.notes),
                HasSubstr("1 figure left out; the first: b.json:3:60: benchmarks[0].states[0] "
                          "nv/cold/time/gpu/mean: 'nan' is not a number above 0"));
}

TEST(ImportNvbench, OfSeveralDevicesOneIsNamed) {
    std::string text = nvbench(nvbench_axes, nvbench_time + "," + nvbench_clock);
    text.insert(text.find("],\n \"benchmarks\""),
                R"(, {"id": 7, "name": "second", "sm_version": 800, "number_of_sms": 108})");
    // Only the first one ran something.
    EXPECT_EQ(nvbench_rows({"b", text}, {}).rows.size(), 1u);
    const std::string state = R"({"name": "u", "device": 7, "axis_values": [)" + nvbench_axes +
                              R"(], "summaries": [{"tag": "nv/cold/time/gpu/mean", "data": [
  {"name": "value", "type": "float64", "value": "3e-05"}]}, )" +
                              nvbench_clock + R"(], "is_skipped": false}, )";
    text.insert(text.find(R"({"name": "s", "device")"), state);
    EXPECT_THAT(refusal([&] {
                    import_nvbench({"b", text}, {});
                }),
                HasSubstr("b: device: the file has 2 devices: 1 'RTX 2060', 2 'second'; --given "
                          "device=N says which one"));
    DeviceHints second;
    second.device = 2;
    const InputText file{"b", text};
    const auto found = nvbench_rows(file, second);
    ASSERT_EQ(found.rows.size(), 1u);
    EXPECT_DOUBLE_EQ(found.rows[0].seconds, 3e-5);
    const auto read = parse_measurements(measurement_text(found, file, "nvbench"), "m.json");
    EXPECT_EQ(read.context.at("device_name"), "second");
    EXPECT_EQ(read.context.at("compute_capability"), "8.0");
    second.device = 3;
    EXPECT_THAT(refusal([&] {
                    import_nvbench({"b", text}, second);
                }),
                HasSubstr("device: is 3, and the file has 2 devices"));
}

// A column of a power of two stands twice, and the clock is hidden unless it is asked for.
TEST(ImportNvbench, Csv) {
    const std::string text =
        "Benchmark,Device,Device Name,group_warps,concurrent_groups,chains,depth (pow2),depth,"
        "Skipped,Samples,CPU Time (sec),Noise,GPU Time (sec),Noise\n"
        "fma.f32,0,RTX 2060,8,2,1,2^16,65536,No,100,0.000311,0.01,0.00031,0.02\n"
        "fma.f32,0,RTX 2060,8,2,2,2^16,65536,Yes,,,,,\n"
        "fma.f32,0,RTX 2060,8,2,4,2^16,65536,No,0,nan,nan,nan,nan\n";
    const auto found = nvbench_rows({"b.csv", text}, hints(30, {}, 1.7e9));
    ASSERT_EQ(found.rows.size(), 1u);
    EXPECT_EQ(found.rows[0].subject, "fma.f32");
    EXPECT_EQ(found.rows[0].shape.depth, 65536);
    EXPECT_NEAR(found.rows[0].cycles, 3.1e-4 * 1.7e9, 1e-6);
    EXPECT_EQ(found.rows[0].line, 2);
    EXPECT_THAT(said(found.notes), HasSubstr("1 skipped states"));
    EXPECT_THAT(said(found.notes), HasSubstr("'nan' is not a number above 0"));
}

// Tables one behind the other.
TEST(ImportNvbench, CsvWithTheHeaderAgain) {
    const std::string header =
        "Benchmark,Device,Device Name,group_warps,concurrent_groups,chains,depth,Skipped,"
        "GPU Time (sec)\n";
    const std::string row = "fma.f32,0,RTX 2060,8,2,1,1024,No,0.00031\n";
    const auto found =
        nvbench_rows({"b.csv", "\xef\xbb\xbf" + header + row + header + row}, hints(30, {}, 1.7e9));
    ASSERT_EQ(found.rows.size(), 2u);
    EXPECT_EQ(found.rows[1].line, 4);
    EXPECT_EQ(said(found.notes).find("devices"), std::string::npos);
    std::string other = header;
    other.replace(other.find("chains"), 6, "streams");
    EXPECT_THAT(refusal([&] {
                    import_nvbench({"b.csv", header + row + other + row}, hints(30, {}, 1.7e9));
                }),
                HasSubstr("b.csv:3:1: is the header of another table"));
}

// Ordinary kernels tell the bandwidth of memory.
TEST(ImportNvbench, OrdinaryStatesGiveABound) {
    const std::string bandwidth =
        R"({"tag": "nv/cold/bw/global/bytes_per_second", "name": "GlobalMem BW", "data": [{"name": "value", "type": "float64", "value": "2.8e11"}]})";
    const std::string axes = R"({"name": "BlockSize", "type": "int64", "value": "256"})";
    const auto read = std::get<ImportedProfile>(import_nvbench(
        {"b.json", nvbench(axes, nvbench_time + "," + nvbench_clock + "," + bandwidth)}, {}));
    const InstructionTiming* const load = read.profile.find_instruction("ld.global.f32");
    ASSERT_NE(load, nullptr);
    EXPECT_NEAR(load->cpi.value, 30 * 32 * 4 * 1.7e9 / 2.8e11, 1e-9);
    EXPECT_EQ(load->cpi.kind, Estimate::Kind::upper_bound);
    EXPECT_EQ(parse_profile(format_profile(read.profile), "p"), read.profile);
    // Without a witnessed clock one is needed.
    EXPECT_THAT(refusal([&] {
                    import_nvbench({"b", nvbench(axes, nvbench_time + "," + bandwidth)}, {});
                }),
                HasSubstr("clock_hz: is needed"));
}

TEST(ImportNvbench, Refusals) {
    const auto said = [](const std::string& text, const DeviceHints& with = {}) {
        return refusal([&] { import_nvbench({"b.json", text}, with); });
    };
    EXPECT_THAT(
        said(nvbench("", nvbench_time)),
        HasSubstr("b.json:3:60: benchmarks[0].states[0].axis_values: has no axis 'group_warps'"));
    EXPECT_THAT(said(nvbench(nvbench_axes, "")), HasSubstr("has no summary nv/cold/time/gpu/mean"));
    // The driver's clock is not the one that ran.
    EXPECT_THAT(said(nvbench(nvbench_axes, nvbench_time)), HasSubstr("clock_hz names it"));
    EXPECT_THAT(said("{\"devices\": [], \"benchmarks\": []}"), HasSubstr("devices: is empty"));
    EXPECT_THAT(said("[]"), HasSubstr("b.json"));
    std::string zero = nvbench_axes;
    zero.replace(zero.find("\"8\""), 3, "\"0\"");
    EXPECT_THAT(said(nvbench(zero, nvbench_time), hints({}, {}, 1e9)),
                HasSubstr("axis_values: group_warps: '0' is not a whole number from 1"));
    EXPECT_THAT(said("Benchmark,Device\nx,0\n"), HasSubstr("Device Name: no such column"));
}

// README.md of ekondis/mixbench: RTX 2070, 36 multiprocessors.
TEST(ImportMixbench, TheGreatestOfEachKind) {
    const std::string text =
        "mixbench/read-only (v0.03-2-gbccfd71)\n"
        "Device:              GeForce RTX 2070\n"
        "WarpSize:            32\n"
        "Total SPs:           2304 (36 MPs x 64 SPs/MP)\n"
        "------- CSV data -------\n"
        "Experiment ID, Single Precision ops,,,,              Double precision ops,,,,             "
        " "
        "Half precision ops,,,,                Integer operations,,, \n"
        "Compute iters, Flops/byte, ex.time,  GFLOPS, GB/sec, Flops/byte, ex.time,  GFLOPS, "
        "GB/sec, "
        "Flops/byte, ex.time,  GFLOPS, GB/sec, Iops/byte, ex.time,   GIOPS, GB/sec\n"
        "            0,      0.250,    0.32,  104.42, 417.68,      0.125,    0.63,   53.04, "
        "424.35,  "
        "    0.500,    0.00,     inf,    inf,     0.250,    0.32,  105.58, 422.30\n"
        "          192,     96.250,    1.54, 8414.49,  87.42,     48.125,   57.42,  224.97,   "
        "4.67,  "
        "   96.500,    0.00,     inf,    inf,    96.250,    1.74, 7431.64,  77.21\n"
        "          256,    128.250,    2.06, 8362.01,  65.20,     64.125,   76.50,  225.02,   "
        "3.51,  "
        "  128.500,    0.00,     inf,    inf,   128.250,    2.30, 7477.75,  58.31\n"
        "------------------------\n";
    const auto read = import_mixbench({"f.txt", text}, hints({}, {}, 1830e6));
    const GpuProfile& p = read.profile;
    EXPECT_EQ(p.device.name, "GeForce RTX 2070");
    EXPECT_EQ(p.cores, 36);
    EXPECT_EQ(p.warp_size, 32);
    const auto cpi = [&](const char* name) { return p.find_instruction(name)->cpi.value; };
    EXPECT_NEAR(cpi("fma.f32"), 36 * 32 * 2 * 1830e6 / 8414.49e9, 1e-9);
    EXPECT_NEAR(cpi("fma.f32"), 0.5, 0.01);  // 64 lanes
    EXPECT_NEAR(cpi("fma.f64"), 36 * 32 * 2 * 1830e6 / 225.02e9, 1e-9);
    EXPECT_NEAR(cpi("mad.s32"), 36 * 32 * 2 * 1830e6 / 7477.75e9, 1e-9);
    EXPECT_NEAR(cpi("ld.global.f32"), 36 * 32 * 4 * 1830e6 / 417.68e9, 1e-9);
    EXPECT_EQ(p.find_instruction("fma.f16x2"), nullptr);  // half precision was not supported
    EXPECT_THAT(said(read.notes), HasSubstr("3 figures left out"));
    EXPECT_EQ(parse_profile(format_profile(p), "p"), p);
    const auto refused = [&](const std::string& other) {
        return refusal([&] { import_mixbench({"f", other}, hints(1, 32, 1e9)); });
    };
    EXPECT_THAT(refused("x\n"), HasSubstr("f:1:1: has no line of mixbench's table"));
    EXPECT_THAT(refused("x\nExperiment ID; Integer operations;;;\n 0; 1; 2; 3; 4\n"),
                HasSubstr("f:2: its columns are separated by semicolons"));
    EXPECT_THAT(refused("Experiment ID, Integer operations,,,\n 0, 1, 2, 3\n"),
                HasSubstr("f:2:1: 4 numbers; the table has 5"));
}

// Its OpenCL and SYCL versions tell cores in another way, and no warp size.
TEST(ImportMixbench, DevicesAreKeptApart) {
    const auto run = [](const std::string& device, const char* gflops) {
        return "Device:              " + device +
               "\nTotal CUs:           8\n"
               "Experiment ID, Single Precision ops,,,, Packed Single Precision ops,,,\n"
               "Compute iters, Flops/byte, ex.time, GFLOPS, GB/sec, Flops/byte, ex.time, GFLOPS, "
               "GB/sec\n"
               "  0, 0.250, 12.29, " +
               gflops + ", 10.92, 0.125, 24.50, 1.37, 10.96\n";
    };
    DeviceHints with = hints({}, 64, 1e9);
    const auto one =
        import_mixbench({"f", run("gfx801/AMD", "2.5") + run("gfx801/AMD", "5")}, with);
    EXPECT_EQ(one.profile.cores, 8);
    EXPECT_EQ(one.profile.device.name, "gfx801/AMD");
    EXPECT_DOUBLE_EQ(one.profile.find_instruction("fma.f32")->cpi.value, 8 * 64 * 2 * 1e9 / 5e9);
    EXPECT_THAT(said(one.notes),
                HasSubstr("left out, of no known instruction: Packed Single Precision ops"));
    const InputText two{"f", run("first", "2.5") + run("other", "5")};
    EXPECT_THAT(refusal([&] { import_mixbench(two, with); }),
                HasSubstr("f: device: the file has 2 devices: 1 'first', 2 'other'; --given "
                          "device=N says which one"));
    with.device = 1;
    const auto first = import_mixbench(two, with);
    EXPECT_EQ(first.profile.device.name, "first");
    EXPECT_DOUBLE_EQ(first.profile.find_instruction("fma.f32")->cpi.value,
                     8 * 64 * 2 * 1e9 / 2.5e9);
}

// Of each program the runs, else their means, else their medians.
TEST(ImportGoogleBenchmark, AggregatesAlone) {
    const auto row = [](const char* run, const char* aggregate, double rate) {
        return fmt::format(R"({{"name": "{0}_{1}", "run_name": "{0}", "run_type": "aggregate",
            "aggregate_name": "{1}", "bytes_per_second": {2}}})",
                           run, aggregate, rate);
    };
    const auto read = [&](const std::string& rows) {
        return import_google_benchmark({"g", R"({"benchmarks": [)" + rows + "]}"},
                                       hints(1, 1, 1e9));
    };
    const auto rate = [](const ImportedProfile& of) {
        return 4e9 / of.profile.find_instruction("ld.global.f32")->cpi.value;
    };
    const std::string of_a = row("a", "mean", 2e9) + "," + row("a", "median", 3e9) + "," +
                             row("a", "stddev", 9e9) + "," + row("a", "max", 9e9);
    EXPECT_DOUBLE_EQ(rate(read(of_a)), 2e9);
    EXPECT_THAT(said(read(of_a).notes), HasSubstr("1 of 1 rows give bytes per second"));
    EXPECT_DOUBLE_EQ(rate(read(row("a", "median", 3e9))), 3e9);
    // Another program's runs do not hide them; its own do.
    EXPECT_DOUBLE_EQ(rate(read(of_a + R"(, {"name": "b", "bytes_per_second": 1e9})")), 2e9);
    EXPECT_DOUBLE_EQ(rate(read(of_a + R"(, {"name": "a", "bytes_per_second": 1e9})")), 1e9);
}

TEST(ImportGoogleBenchmark, BytesPerSecondOfAnyProgram) {
    const std::string text = R"({"context": {"num_cpus": 4}, "benchmarks": [
 {"name": "copy/8", "run_type": "iteration", "real_time": 2.5, "time_unit": "ns", "bytes_per_second": 6.4e9},
 {"name": "copy/9", "run_type": "iteration", "real_time": 2.5, "time_unit": "ns", "bytes_per_second": 1.28e10},
 {"name": "copy/10", "run_type": "iteration", "error_occurred": true, "bytes_per_second": 0},
 {"name": "copy_mean", "run_type": "aggregate", "bytes_per_second": 1e12},
 {"name": "other", "run_type": "iteration", "real_time": 2.5, "time_unit": "ns"}]})";
    const auto read = import_google_benchmark({"g.json", text}, hints(4, 1, 1e9));
    ASSERT_EQ(read.profile.instructions.size(), 1u);
    EXPECT_DOUBLE_EQ(read.profile.find_instruction("ld.global.f32")->cpi.value,
                     4 * 4 * 1e9 / 1.28e10);
    EXPECT_THAT(said(read.notes), HasSubstr("2 of 4 rows give bytes per second"));
    EXPECT_THAT(said(read.notes), HasSubstr("copy/10: its run failed"));
    EXPECT_EQ(parse_profile(format_profile(read.profile), "p"), read.profile);
    EXPECT_THAT(refusal([] {
                    import_google_benchmark({"g.json", R"({"benchmarks": [{"name": "a"}]})"}, {});
                }),
                HasSubstr("none of 1 rows has bytes_per_second"));
}

}  // namespace
}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analysis/exchange/exported.h"
#include "core/files/csv.h"
#include "core/files/files.h"
#include "core/files/yaml_reader.h"

namespace occupipe::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

// λ of a Turing core by its lanes: 64 of each kind, 2 in double precision, 16 special.
const char* const turing =
    "format: occupipe-profile/2\n"
    "device: {name: \"TITAN \\\"RTX\\\"\", vendor: NVIDIA, architecture: Turing, "
    "compute_capability: \"7.5\"}\n"
    "cores: 72\nwarp_size: 32\nclock_hz: 1350000000\n"
    "limits: {warps: 32, registers: 65536, shared_memory_bytes: 65536}\n"
    "issue: {limit: 4, schedulers: 4, policy: lrr}\n"
    "subsystems: {alu: {scope: scheduler}, dp: {scope: core}, sfu: {scope: scheduler}, "
    "mem: {scope: core}}\n"
    "instructions:\n"
    "  mad.s32: {subsystem: alu, cpi: 2, latency: 4}\n"
    "  fma.f32: {subsystem: alu, cpi: 2, latency: 4.2}\n"
    "  fma.f64: {subsystem: dp, cpi: 16, latency: 45}\n"
    "  ex2.approx.ftz.f32: {subsystem: sfu, cpi: 8, latency: 21}\n"
    "  ld.global.l1.u32: {subsystem: mem, cpi: 4, latency: 30}\n"
    "  ld.global.l2.u32: {subsystem: mem, cpi: 8, latency: 231}\n"
    "  ld.global.u32: {subsystem: mem, cpi: 30, latency: {value: 470, bound: upper}}\n"
    "  st.global.u32: {subsystem: mem, cpi: 8, latency_unknown: nothing waits}\n";

// The lanes and latencies that lanl/PPT's hardware/TITANRTX.py and ISA/Turing.py have.
TEST(ExportPptGpu, LanesAndLatencies) {
    const Exported file = export_ppt_gpu(parse_profile(turing, "p"), {});
    const auto has = [&](const std::string& key, const std::string& value) {
        const std::size_t at = file.text.find("\n    \"" + key + "\"");
        ASSERT_NE(at, std::string::npos) << key;
        const std::string line = file.text.substr(at + 1, file.text.find('\n', at + 1) - at - 1);
        EXPECT_THAT(line, HasSubstr(":  " + value + ",")) << key;
    };
    has("gpu_name", "\"TITAN \\\"RTX\\\"\"");
    has("num_SMs", "72");
    has("compute_capabilty", "75");
    has("clockspeed", "1350000000");
    has("num_INT_units_per_SM", "64");
    has("num_SP_units_per_SM", "64");
    has("num_DP_units_per_SM", "2");
    has("num_SF_units_per_SM", "16");
    has("num_warp_schedulers_per_SM", "4");
    has("iALU", "4");
    has("fALU", "4");
    has("dALU", "45");
    has("l1_cache_access", "30");
    has("l2_cache_access", "231");
    EXPECT_THAT(file.text, Not(HasSubstr("\n    \"dram_mem_access\"")));
    EXPECT_THAT(testing::PrintToString(file.notes), HasSubstr("ld.global.u32: Λ is a bound"));
}

// Lanes are of λ, latencies of Λ: what the other one is does not matter, and is no reason.
TEST(ExportPptGpu, ABoundOfWhatIsNotUsed) {
    const Exported file = export_ppt_gpu(
        parse_profile(
            "format: occupipe-profile/1\ndevice: {name: X}\ncores: 1\nwarp_size: 32\n"
            "clock_hz: 1e9\nsubsystems: {alu: {scope: core}}\ninstructions:\n"
            "  ex2.approx.ftz.f32: {subsystem: alu, cpi: 2, latency: {value: 9, bound: upper}}\n"
            "  fma.f32: {subsystem: alu, cpi: {value: 0.5, bound: upper}, latency: 4}\n"
            "  fma.f64: {subsystem: alu, cpi: {value: 16, bound: upper}, latency: {value: 45, "
            "bound: upper}}\n",
            "p"),
        {});
    EXPECT_THAT(file.text, testing::ContainsRegex("\"num_SF_units_per_SM\" *:  16,"));
    EXPECT_THAT(file.text, testing::ContainsRegex("\"fALU\" *:  4,"));
    const std::vector<std::string>& notes = file.notes;
    EXPECT_THAT(notes, testing::Contains("no SFU: ex2.approx.ftz.f32: Λ is a bound"));
    EXPECT_THAT(notes, testing::Contains("no num_SP_units_per_SM: fma.f32: λ is a bound"));
    EXPECT_THAT(notes, testing::Contains("no num_DP_units_per_SM: fma.f64: λ is a bound"));
    EXPECT_THAT(notes, testing::Contains("no dALU: fma.f64: Λ is a bound"));
}

TEST(ExportGem5, TheIssuePeriodIsOfLambdaAlone) {
    const auto file = [](const std::string& timing) {
        return export_gem5(
                   parse_profile("format: occupipe-profile/1\ndevice: {name: X, vendor: AMD}\n"
                                 "cores: 1\nwarp_size: 64\nclock_hz: 1e9\n"
                                 "issue: {schedulers: 4}\nsubsystems: {v: {scope: scheduler}}\n"
                                 "instructions:\n  fma.f32: {subsystem: v, " +
                                     timing + "}\n",
                                 "p"),
                   {})
            .text;
    };
    EXPECT_THAT(file("cpi: 4, latency: {value: 9, bound: upper}"),
                HasSubstr("\n--issue-period=4\n"));
    EXPECT_THAT(file("cpi: {value: 4, bound: upper}, latency: 9"),
                HasSubstr("\n--sp-bypass-path-length=9\n"));
}

// GCN: 64 lanes on four SIMDs of 16 take 4 cycles; gem5's own defaults are 4, 4, 10 and 2048.
TEST(ExportGem5, ACoreOfFourSimds) {
    const GpuProfile gcn = parse_profile(
        "format: occupipe-profile/1\ndevice: {name: Vega, vendor: AMD}\n"
        "cores: 64\nwarp_size: 64\nclock_hz: 1500000000\n"
        "limits: {warps: 40, registers: 524288, shared_memory_bytes: 65536}\n"
        "issue: {schedulers: 4, policy: oldest}\nsubsystems: {valu: {scope: scheduler}}\n"
        "instructions:\n  fma.f32: {subsystem: valu, cpi: 4, latency: 4}\n"
        "  fma.f64: {subsystem: valu, cpi: 8, latency: 8}\n",
        "p");
    const Exported file = export_gem5(gcn, {});
    EXPECT_THAT(file.text, HasSubstr("\n--num-compute-units=64\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--gpu-clock=1500MHz\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--wf-size=64\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--simds-per-cu=4\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--wfs-per-simd=10\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--vreg-file-size=2048\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--issue-period=4\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--sp-bypass-path-length=4\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--dp-bypass-path-length=8\n"));
    EXPECT_THAT(file.text, HasSubstr("\n--CUExecPolicy=OLDEST-FIRST\n"));
    EXPECT_THAT(testing::PrintToString(file.notes), Not(HasSubstr("not one of them")));
    EXPECT_THAT(testing::PrintToString(export_gem5(parse_profile(turing, "p"), {}).notes),
                HasSubstr("not one of them"));
}

TEST(ExportOsaca, PortsShareAnInstructionsCycles) {
    const GpuProfile profile = parse_profile(turing, "p");
    const Exported file = export_osaca(profile, {});
    const Document model = parse_yaml(file.text, "osaca.yml");
    std::set<std::string> ports;
    for (const DocumentNode& port : model.items(model.required(model.root(), "ports")))
        ports.insert(model.text(port));
    EXPECT_EQ(ports.size(), 4u + 1u + 4u + 1u);
    std::size_t forms = 0;
    for (const DocumentNode& form :
         model.items(model.required(model.root(), "instruction_forms"))) {
        ++forms;
        const InstructionTiming* const timing =
            profile.find_instruction(model.text(model.required(form, "name")));
        ASSERT_NE(timing, nullptr);
        EXPECT_EQ(model.number(model.required(form, "latency")), timing->latency->value);
        // OSACA: an instruction's throughput is its busiest port's cycles.
        const DocumentNode& pressure = model.items(model.required(form, "port_pressure")).front();
        const auto& parts = model.items(pressure);
        ASSERT_EQ(parts.size(), 2u);
        const auto& own = model.items(parts[1]);
        EXPECT_DOUBLE_EQ(model.number(model.required(form, "throughput")),
                         model.number(parts[0]) / static_cast<double>(own.size()));
        for (const DocumentNode& port : own) EXPECT_TRUE(ports.contains(model.text(port)));
    }
    EXPECT_EQ(forms, 6u);
    EXPECT_THAT(file.text, HasSubstr("# no ld.global.u32: Λ is a bound"));
    EXPECT_THAT(file.text, HasSubstr("# no st.global.u32: Λ is not known"));
}

TEST(ExportOsaca, AsATable) {
    const Exported file = export_osaca_csv(parse_profile(turing, "p"), {});
    const auto records = parse_csv(file.text, "t.csv");
    ASSERT_EQ(records.size(), 7u);
    EXPECT_THAT(records[2].fields,
                testing::ElementsAre("fma.f32", "0.5", "4.2", "alu0|alu1|alu2|alu3"));
    EXPECT_THAT(records[3].fields, testing::ElementsAre("fma.f64", "16", "45", "dp"));
}

}  // namespace
}  // namespace occupipe::analysis

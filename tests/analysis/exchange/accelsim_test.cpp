// SPDX-License-Identifier: MIT
// Facts of published configurations (accel-sim/gpgpu-sim_distribution, configs/tested-cfgs, and
// accel-sim/accel-sim-framework, gpu-simulator/configs/tested-cfgs) and what they mean by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/exchange/exported.h"
#include "analysis/exchange/imported.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

// SM75_RTX2060
const std::string rtx2060 =
    "# a comment -gpgpu_n_clusters 7\n"
    "-gpgpu_compute_capability_major 7\n-gpgpu_compute_capability_minor 5\n"
    "-gpgpu_n_clusters 30\n-gpgpu_n_cores_per_cluster 1\n"
    "-gpgpu_clock_domains 1365:1365:1365:3500.5\n"
    "-gpgpu_shader_registers 65536\n-gpgpu_shader_core_pipeline 1024:32\n-gpgpu_shader_cta 16\n"
    "-gpgpu_num_sp_units 4\n-gpgpu_num_sfu_units 4\n-gpgpu_num_dp_units 4\n-gpgpu_num_int_units 4\n"
    "-gpgpu_num_tensor_core_units 4\n-gpgpu_sub_core_model 1\n-gpgpu_num_sched_per_core 4\n"
    "-gpgpu_scheduler lrr\n-gpgpu_max_insn_issue_per_warp 1\n"
    "-gpgpu_l1_latency 32\n-gpgpu_shmem_size 65536\n-gpgpu_smem_latency 30\n"
    "-gpgpu_l2_rop_latency 194\n-dram_latency 96\n"
    "-dram_data_command_freq_ratio 4  # GDDR\n";
const std::string rtx2060_trace =
    "-trace_opcode_latency_initiation_int 2,2\n-trace_opcode_latency_initiation_sp 2,2\n"
    "-trace_opcode_latency_initiation_dp 64,64\n-trace_opcode_latency_initiation_sfu 21,8\n"
    "-trace_opcode_latency_initiation_tensor 16,16\n"
    "#tensor unit\n-specialized_unit_3 1,4,16,4,4,TENSOR\n"
    "-trace_opcode_latency_initiation_spec_op_3 16,16\n";

double cpi(const GpuProfile& profile, const char* name) {
    const InstructionTiming* const timing = profile.find_instruction(name);
    return timing == nullptr ? -1 : profile.cpi_per_core(*timing).value;
}
double latency(const GpuProfile& profile, const char* name) {
    const InstructionTiming* const timing = profile.find_instruction(name);
    return timing == nullptr || !timing->latency ? -1 : timing->latency->value;
}

std::string refusal(const std::string& text, const DeviceHints& hints = {}) {
    try {
        import_accelsim({{"g.config", text}}, hints);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(ImportAccelsim, ATuringConfigurationDrivenByTraces) {
    const auto read = import_accelsim(
        {{"SM75_RTX2060/gpgpusim.config", rtx2060}, {"trace.config", rtx2060_trace}}, {});
    const GpuProfile& p = read.profile;
    EXPECT_EQ(p.device.name, "SM75_RTX2060 (simulator's configuration)");
    EXPECT_EQ(p.device.compute_capability, "7.5");
    EXPECT_EQ(p.cores, 30);
    EXPECT_EQ(p.warp_size, 32);
    EXPECT_DOUBLE_EQ(p.clock_hz, 1365e6);
    EXPECT_EQ(p.limits.warps, 32);  // 1024 threads
    EXPECT_EQ(p.limits.groups, 16);
    EXPECT_EQ(p.issue.schedulers, 4);
    EXPECT_EQ(p.issue.limit, 4.0);
    EXPECT_EQ(p.issue.policy, Policy::lrr);
    // Four units that start a warp every 2, 64 and 8 cycles.
    EXPECT_DOUBLE_EQ(cpi(p, "fma.f32"), 0.5);
    EXPECT_DOUBLE_EQ(cpi(p, "fma.f64"), 16);
    EXPECT_DOUBLE_EQ(cpi(p, "ex2.approx.ftz.f32"), 2);
    EXPECT_DOUBLE_EQ(cpi(p, "mma.m16n8k8.f32.f16"), 4);
    EXPECT_DOUBLE_EQ(latency(p, "fma.f32"), 2);
    EXPECT_DOUBLE_EQ(latency(p, "fma.f64"), 64);
    EXPECT_DOUBLE_EQ(latency(p, "ex2.approx.ftz.f32"), 21);
    // 32, + 194, + 96
    EXPECT_DOUBLE_EQ(latency(p, "ld.shared.u32"), 30);
    EXPECT_DOUBLE_EQ(latency(p, "ld.global.l1.u32"), 32);
    EXPECT_DOUBLE_EQ(latency(p, "ld.global.l2.u32"), 226);
    EXPECT_DOUBLE_EQ(latency(p, "ld.global.u32"), 322);
    EXPECT_EQ(p.find_instruction("ld.global.u32")->cpi.kind, Estimate::Kind::lower_bound);
    for (const InstructionTiming& timing : p.instructions) {
        EXPECT_EQ(timing.source, Source::assumed) << timing.name;
        EXPECT_FALSE(timing.cpi.std_error) << timing.name;
    }
    EXPECT_THAT(format_profile(p), HasSubstr("configuration of a simulator"));
    // What it writes can be read.
    EXPECT_EQ(parse_profile(format_profile(p), "p.yaml"), p);
}

// SM7_QV100, driven by PTX: lists of ADD,MAX,MUL,MAD,DIV and a quotation over two lines.
TEST(ImportAccelsim, AVoltaConfigurationDrivenByPtx) {
    const std::string text =
        "-gpgpu_compute_capability_major 7\n-gpgpu_compute_capability_minor 0\n"
        "-gpgpu_n_clusters 80\n-gpgpu_n_cores_per_cluster 1\n"
        "-gpgpu_clock_domains 1132.0:1132.0:1132.0:850.0\n"
        "-gpgpu_shader_core_pipeline 2048:32 \n"
        "-gpgpu_num_sp_units 4\n-gpgpu_num_sfu_units 4\n-gpgpu_num_dp_units 4\n"
        "-gpgpu_num_int_units 4\n-gpgpu_num_sched_per_core 4\n-gpgpu_sub_core_model 1\n"
        "-ptx_opcode_latency_int 4,13,4,5,145,21\n-ptx_opcode_initiation_int 2,2,2,2,8,4\n"
        "-ptx_opcode_latency_fp 4,13,4,5,39\n-ptx_opcode_initiation_fp 2,2,2,2,4\n"
        "-ptx_opcode_latency_dp 8,19,8,8,330\n-ptx_opcode_initiation_dp 4,4,4,4,130\n"
        "-ptx_opcode_latency_sfu 100\n-ptx_opcode_initiation_sfu 8\n"
        "-gpgpu_l1_latency 20\n-gpgpu_smem_latency 20\n-gpgpu_l2_rop_latency 160\n"
        "-dram_latency 100\n"
        "-gpgpu_dram_timing_opt \"nbk=16:CCD=1:RRD=3:RCD=12:RAS=28:RP=12:RC=40:\n"
        "                        CL=12:WL=2:CDLR=3:WR=10:nbkgrp=4:CCDL=2:RTPL=3\"\n"
        "-dram_dual_bus_interface 1\n";
    const GpuProfile p = import_accelsim({{"g", text}}, {.name = "QV100"}).profile;
    EXPECT_EQ(p.device.name, "QV100");
    EXPECT_EQ(p.cores, 80);
    EXPECT_DOUBLE_EQ(p.clock_hz, 1132e6);
    EXPECT_EQ(p.limits.warps, 64);
    EXPECT_DOUBLE_EQ(latency(p, "add.f32"), 4);
    EXPECT_DOUBLE_EQ(latency(p, "max.f32"), 13);
    EXPECT_DOUBLE_EQ(latency(p, "fma.f32"), 5);
    EXPECT_DOUBLE_EQ(cpi(p, "fma.f32"), 0.5);
    EXPECT_DOUBLE_EQ(latency(p, "div.f32"), 39);
    EXPECT_DOUBLE_EQ(cpi(p, "div.f32"), 1);
    EXPECT_EQ(p.find_instruction("div.f32")->subsystem, "sfu");
    EXPECT_DOUBLE_EQ(latency(p, "fma.f64"), 8);
    EXPECT_DOUBLE_EQ(cpi(p, "fma.f64"), 1);
    EXPECT_DOUBLE_EQ(latency(p, "shfl.sync.idx.b32"), 21);
    EXPECT_DOUBLE_EQ(cpi(p, "shfl.sync.idx.b32"), 1);
    EXPECT_DOUBLE_EQ(cpi(p, "ex2.approx.ftz.f32"), 2);
    EXPECT_DOUBLE_EQ(latency(p, "ld.global.l2.u32"), 180);
    EXPECT_DOUBLE_EQ(latency(p, "ld.global.u32"), 280);
}

// SM86_RTX3070: 32 tensor units by its specialized_unit_3.
TEST(ImportAccelsim, AnAmpereConfiguration) {
    const std::string text =
        "-gpgpu_compute_capability_major 8 -gpgpu_compute_capability_minor 6\n"
        "-gpgpu_n_clusters 46 -gpgpu_n_cores_per_cluster 1 -gpgpu_clock_domains "
        "1132:1132:1132:3500.5\n"
        "-gpgpu_shader_core_pipeline 1536:32\n"
        "-gpgpu_num_sp_units 4 -gpgpu_num_sfu_units 4 -gpgpu_num_dp_units 4 -gpgpu_num_int_units "
        "4\n"
        "-gpgpu_num_sched_per_core 4 -gpgpu_sub_core_model 1\n"
        "-trace_opcode_latency_initiation_int 4,2\n-trace_opcode_latency_initiation_sp 4,2\n"
        "-trace_opcode_latency_initiation_dp 8,4\n-trace_opcode_latency_initiation_sfu 20,8\n"
        "-specialized_unit_3 1,32,8,4,4,TENSOR\n-trace_opcode_latency_initiation_spec_op_3 32,32\n"
        "-gpgpu_l1_latency 39\n-gpgpu_smem_latency 29\n-gpgpu_l2_rop_latency 187\n-dram_latency "
        "254\n";
    const GpuProfile p = import_accelsim({{"g", text}}, {}).profile;
    EXPECT_EQ(p.cores, 46);
    EXPECT_EQ(p.limits.warps, 48);
    EXPECT_DOUBLE_EQ(cpi(p, "add.f32"), 0.5);
    EXPECT_DOUBLE_EQ(cpi(p, "fma.f64"), 1);
    EXPECT_DOUBLE_EQ(cpi(p, "mma.m16n8k16.f32.f16"), 1);
    EXPECT_DOUBLE_EQ(latency(p, "ld.global.l2.u32"), 226);
    EXPECT_DOUBLE_EQ(latency(p, "ld.global.u32"), 480);
}

TEST(ImportAccelsim, WithoutUnitsOfTheirOwnOthersDoTheWork) {
    const std::string text =
        "-gpgpu_n_clusters 28 -gpgpu_clock_domains 1481:2962:1481:2750\n"
        "-gpgpu_num_sp_units 4 -gpgpu_num_sfu_units 1 -gpgpu_num_dp_units 0 -gpgpu_num_int_units "
        "0\n"
        "-trace_opcode_latency_initiation_int 4,1 -trace_opcode_latency_initiation_sp 4,1\n"
        "-trace_opcode_latency_initiation_dp 48,8 -trace_opcode_latency_initiation_sfu 20,4\n";
    const GpuProfile p = import_accelsim({{"g", text}}, {}).profile;
    EXPECT_EQ(p.find_instruction("mad.s32")->subsystem, "sp");
    EXPECT_DOUBLE_EQ(cpi(p, "mad.s32"), 0.25);
    EXPECT_EQ(p.find_instruction("fma.f64")->subsystem, "sfu");
    EXPECT_DOUBLE_EQ(cpi(p, "fma.f64"), 8);
}

// Defaults of gpu-sim.cc: three cores in a cluster, one scheduler on a core.
// Without the option there is none: double precision runs on the SFU.
TEST(ImportAccelsim, NoDoubleUnitsIsTheSimulatorsDefault) {
    std::string text = rtx2060;
    const std::string option = "-gpgpu_num_dp_units 4\n";
    text.replace(text.find(option), option.size(), "\n");
    const auto read = import_accelsim({{"g", text}, {"trace.config", rtx2060_trace}}, {});
    EXPECT_EQ(read.profile.find_instruction("fma.f64")->subsystem, "sfu");
    EXPECT_DOUBLE_EQ(cpi(read.profile, "fma.f64"), 64.0 / 4);
    EXPECT_DOUBLE_EQ(latency(read.profile, "fma.f64"), 64);
    EXPECT_EQ(read.profile.find_instruction("fma.f32")->subsystem, "sp");
    EXPECT_THAT(testing::PrintToString(read.notes), HasSubstr("double precision runs on the SFU"));
}

TEST(ImportAccelsim, TheSimulatorsDefaultsAreSaid) {
    const auto read = import_accelsim(
        {{"g",
          "-gpgpu_n_clusters 10 -gpgpu_clock_domains 1000:1:1:1 -gpgpu_num_sp_units 2\n"
          "-trace_opcode_latency_initiation_sp 4,2\n"}},
        {});
    EXPECT_EQ(read.profile.cores, 30);
    EXPECT_EQ(read.profile.issue.schedulers, 1);
    const auto notes = testing::PrintToString(read.notes);
    EXPECT_THAT(notes, HasSubstr("no -gpgpu_n_cores_per_cluster: 3, the simulator's own default"));
    EXPECT_THAT(notes, HasSubstr("no -gpgpu_num_sched_per_core: 1, the simulator's own default"));
    const auto told = import_accelsim({{"g", rtx2060}, {"t", rtx2060_trace}}, {});
    EXPECT_THAT(testing::PrintToString(told.notes), Not(HasSubstr("own default")));
}

TEST(ImportAccelsim, TwoValuesOfAnOptionAreSaidWithBothPlaces) {
    const auto read =
        import_accelsim({{"a", rtx2060 + rtx2060_trace},
                         {"b", "-gpgpu_n_clusters 30\n-trace_opcode_latency_initiation_sp 4,2\n"}},
                        {});
    EXPECT_DOUBLE_EQ(latency(read.profile, "fma.f32"), 4);
    const auto notes = testing::PrintToString(read.notes);
    EXPECT_THAT(notes, HasSubstr("-trace_opcode_latency_initiation_sp is '2,2' in a:26 and '4,2' "
                                 "in b:2: the later one counts"));
    EXPECT_THAT(notes, Not(HasSubstr("-gpgpu_n_clusters is")));  // the same value
}

TEST(ImportAccelsim, RefusalsNameFileLineAndOption) {
    EXPECT_THAT(refusal(""), HasSubstr("g.config:1:1"));
    EXPECT_THAT(refusal("\n\ngpgpu_n_clusters 30\n"),
                HasSubstr("g.config:3:1: 'gpgpu_n_clusters'"));
    EXPECT_THAT(refusal("-gpgpu_n_clusters -gpgpu_scheduler lrr"),
                HasSubstr("g.config:1:1: gpgpu_n_clusters: has no value"));
    EXPECT_THAT(refusal("-a \"b"), HasSubstr("g.config:1:4: a quotation that does not end"));
    EXPECT_THAT(refusal("-gpgpu_clock_domains 1:1:1:1\n"),
                HasSubstr("-gpgpu_n_clusters: is missing"));
    EXPECT_THAT(refusal("-gpgpu_n_clusters 3x\n-gpgpu_clock_domains 1000:1\n"),
                HasSubstr("g.config:1:1: -gpgpu_n_clusters: '3x'"));
    const std::string head = "-gpgpu_n_clusters 3\n-gpgpu_clock_domains 1000:1:1:1\n";
    EXPECT_THAT(refusal(head), HasSubstr("names no latency of an instruction"));
    EXPECT_THAT(refusal(head + "-trace_opcode_latency_initiation_sp 4,2\n"),
                HasSubstr("-gpgpu_num_sp_units: is missing"));
    const std::string units = head + "-gpgpu_num_sp_units 4\n";
    EXPECT_THAT(refusal(head + "-x \xff\n"), HasSubstr("g.config:3:4: is not UTF-8 text"));
    EXPECT_THAT(refusal("\xff\xfe" + head), HasSubstr("g.config:1:1: is not UTF-8 text"));
    EXPECT_THAT(
        refusal(units + "-trace_opcode_latency_initiation_sp 2,4\n"),
        HasSubstr("g.config:4:1: -trace_opcode_latency_initiation_sp: '2,4': the latency is "
                  "below the initiation interval"));
    EXPECT_THAT(refusal(units + "-trace_opcode_latency_initiation_sp 4,0\n"),
                HasSubstr("at least 1"));
    EXPECT_EQ(refusal(units + "-trace_opcode_latency_initiation_sp 511,1\n"), "");
    for (const char* const pair : {"512,1", "512,512", "99999999999,1"})
        EXPECT_THAT(
            refusal(units + "-trace_opcode_latency_initiation_sp " + pair + "\n"),
            HasSubstr(std::string("'") + pair + "': a unit of the simulator takes at most 511"));
    EXPECT_THAT(refusal(units + "-trace_opcode_latency_initiation_sp 4\n"),
                HasSubstr("is not LATENCY,INITIATION"));
    EXPECT_THAT(refusal(units + "-trace_opcode_latency_initiation_sp 4,nan\n"), HasSubstr("'nan'"));
    EXPECT_THAT(refusal(units + "-ptx_opcode_latency_fp 4,4,4\n-ptx_opcode_initiation_fp 2,2,2\n"),
                HasSubstr("has 3 numbers"));
}

// Editors put a mark in front of a file; a path may be no text, and the profile is.
TEST(ImportAccelsim, AMarkedFileOfANameThatIsNoText) {
    const GpuProfile p =
        import_accelsim({{"a\xff/f\xff.config", "\xef\xbb\xbf" + rtx2060 + rtx2060_trace}}, {})
            .profile;
    EXPECT_EQ(p.device.name, "a? (simulator's configuration)");
    EXPECT_EQ(parse_profile(format_profile(p), "p.yaml"), p);
}

// Λ and λ of the RTX 2070 by Lemeire et al., Table 5 (profiles/nvidia-rtx-2070.yaml).
const char* const lemeire_rtx2070 =
    "format: occupipe-profile/1\n"
    "device: {name: RTX 2070, vendor: NVIDIA, compute_capability: \"7.5\"}\n"
    "cores: 36\nwarp_size: 32\nclock_hz: 1410000000\n"
    "limits: {warps: 32, groups: 16}\n"
    "subsystems: {alu: {scope: core}, sfu: {scope: core}, mem: {scope: core}}\n"
    "instructions:\n"
    "  cos.approx.f32: {subsystem: sfu, cpi: 2, latency: 21}\n"
    "  mul.f32: {subsystem: alu, cpi: 0.5, latency: 4}\n"
    "  mul.f64: {subsystem: alu, cpi: 19, latency: 45}\n"
    "  mul.s32: {subsystem: alu, cpi: 0.25, latency: 2}\n"
    "  ld.shared.s32: {subsystem: mem, cpi: 2, latency: 32}\n"
    "  ld.global.s32: {subsystem: mem, cpi: 18, latency: 450}\n";

TEST(ExportAccelsim, FourUnitsOfATuringCore) {
    const GpuProfile profile = parse_profile(lemeire_rtx2070, "p");
    const Exported file = export_accelsim(profile, {.units = 4});
    // As in SM75_RTX2060's own files: fp 4 and 2, sfu 21 and 8.
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_sp 4,2\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_sfu 21,8\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_int 2,1\n"));
    // 19 x 4 = 76 cycles, above Λ = 45.
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_dp 76,76\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_num_sp_units 4\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_n_clusters 36\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_shader_core_pipeline 1024:32\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_smem_latency 32\n"));
    // Nothing tells the caches apart.
    EXPECT_THAT(file.text, Not(HasSubstr("\n-gpgpu_l1_latency")));
    EXPECT_THAT(file.text, Not(HasSubstr("\n-gpgpu_l2_rop_latency")));
    EXPECT_THAT(file.text, Not(HasSubstr("\n-dram_latency")));
    EXPECT_THAT(file.text, Not(HasSubstr("\n-gpgpu_clock_domains")));
    EXPECT_THAT(file.text, Not(HasSubstr("\n-ptx_opcode_latency_fp")));
    const auto notes = testing::PrintToString(file.notes);
    EXPECT_THAT(notes, HasSubstr("no -gpgpu_l1_latency: none of ld.global.l1.u32"));
    EXPECT_THAT(notes, HasSubstr("has ?,?,4,?,?"));
}

// Units of the classes that are named; the others are as the profile has them: one of each.
TEST(ExportAccelsim, UnitsOfAClass) {
    const GpuProfile profile = parse_profile(lemeire_rtx2070, "p");
    const Exported file = export_accelsim(profile, {.units_of = {{"int", 4}, {"sp", 4}}});
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_sp 4,2\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_int 2,1\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_num_dp_units 1\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_dp 45,19\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_sfu 21,2\n"));
    const Exported both = export_accelsim(profile, {.units = 4, .units_of = {{"dp", 2}}});
    EXPECT_THAT(both.text, HasSubstr("\n-trace_opcode_latency_initiation_dp 45,38\n"));
    EXPECT_THAT(both.text, HasSubstr("\n-trace_opcode_latency_initiation_sp 4,2\n"));
}

TEST(ExportAccelsim, LessThanACycleOfOneUnitIsRefused) {
    const Exported file = export_accelsim(parse_profile(lemeire_rtx2070, "p"), {});
    EXPECT_THAT(file.text, Not(HasSubstr("\n-trace_opcode_latency_initiation_sp")));
    EXPECT_THAT(testing::PrintToString(file.notes), HasSubstr("units says how many there are"));
    // One unit is enough where λ is whole cycles.
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_sfu 21,2\n"));
}

TEST(ExportAccelsim, PerSchedulerRoundingAndBounds) {
    const GpuProfile profile = parse_profile(
        "format: occupipe-profile/1\ndevice: {name: X, compute_capability: \"8.6\"}\n"
        "cores: 46\nwarp_size: 32\nclock_hz: 1e9\n"
        "issue: {limit: 4.02, schedulers: 4, policy: gto}\n"
        "subsystems: {alu: {scope: scheduler}, dp: {scope: scheduler}, mem: {scope: core}}\n"
        "instructions:\n"
        "  fma.f32: {subsystem: alu, cpi: 1.04, latency: 4.4}\n"
        "  mul.f32: {subsystem: alu, cpi: 2, latency: 4}\n"
        "  fma.f64: {subsystem: dp, cpi: {value: 64, bound: upper}, latency: 64}\n"
        "  ld.global.l1.u32: {subsystem: mem, cpi: 4, latency: 38.6}\n"
        "  ld.global.l2.u32: {subsystem: mem, cpi: 8, latency: 226.2}\n"
        "  ld.global.u32: {subsystem: mem, cpi: 30, latency: 480.4}\n",
        "p");
    const Exported file = export_accelsim(profile, {});
    EXPECT_THAT(file.text, HasSubstr("\n-trace_opcode_latency_initiation_sp 4,1\n"));
    EXPECT_THAT(file.text, HasSubstr("1.04, written 1 (-3.8 %)"));
    EXPECT_THAT(file.text, HasSubstr("fma.f32 represents mul.f32 (λ 0.5, Λ 4) as well"));
    EXPECT_THAT(file.text, Not(HasSubstr("\n-trace_opcode_latency_initiation_dp")));
    EXPECT_THAT(testing::PrintToString(file.notes), HasSubstr("fma.f64: λ is a bound"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_num_sched_per_core 4\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_scheduler gto\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_max_insn_issue_per_warp 1\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_sub_core_model 1\n"));
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_l1_latency 39\n"));       // 38.6
    EXPECT_THAT(file.text, HasSubstr("\n-gpgpu_l2_rop_latency 188\n"));  // 226.2 - 38.6 = 187.6
    EXPECT_THAT(file.text, HasSubstr("\n-dram_latency 254\n"));          // 480.4 - 226.2 = 254.2
    const Exported deeper = export_accelsim(profile, {.pipeline_cycles = 2});
    EXPECT_THAT(deeper.text, HasSubstr("\n-trace_opcode_latency_initiation_sp 2,1\n"));  // 4.4 - 2
}

// There and back: whole cycles survive.
TEST(ExportAccelsim, RoundTrip) {
    const GpuProfile profile = parse_profile(
        "format: occupipe-profile/1\ndevice: {name: X, vendor: NVIDIA, compute_capability: "
        "\"7.5\"}\n"
        "cores: 30\nwarp_size: 32\nclock_hz: 1365000000\n"
        "limits: {warps: 32, groups: 16, registers: 65536, shared_memory_bytes: 65536}\n"
        "issue: {limit: 4, schedulers: 4, policy: lrr}\n"
        "subsystems: {int: {scope: scheduler}, sp: {scope: scheduler}, dp: {scope: scheduler}, "
        "sfu: {scope: scheduler}, tensor: {scope: scheduler}, mem: {scope: core}}\n"
        "instructions:\n"
        "  mad.s32: {subsystem: int, cpi: 2, latency: 5}\n"
        "  fma.f32: {subsystem: sp, cpi: 2, latency: 4}\n"
        "  fma.f64: {subsystem: dp, cpi: 64, latency: 65}\n"
        "  ex2.approx.ftz.f32: {subsystem: sfu, cpi: 8, latency: 21}\n"
        "  mma.m16n8k8.f32.f16: {subsystem: tensor, cpi: 16, latency: 33}\n"
        "  ld.shared.u32: {subsystem: mem, cpi: 2, latency: 30}\n"
        "  ld.global.l1.u32: {subsystem: mem, cpi: 4, latency: 32}\n"
        "  ld.global.l2.u32: {subsystem: mem, cpi: 8, latency: 226}\n"
        "  ld.global.u32: {subsystem: mem, cpi: 30, latency: 322}\n",
        "p");
    const Exported file = export_accelsim(profile, {});
    const GpuProfile back =
        import_accelsim({{"x.config", file.text}}, {.clock_hz = 1365e6}).profile;
    EXPECT_EQ(back.cores, profile.cores);
    EXPECT_EQ(back.limits.warps, profile.limits.warps);
    EXPECT_EQ(back.limits.shared_memory_bytes, profile.limits.shared_memory_bytes);
    EXPECT_EQ(back.issue, profile.issue);
    EXPECT_EQ(back.device.compute_capability, "7.5");
    for (const InstructionTiming& timing : profile.instructions) {
        EXPECT_EQ(latency(back, timing.name.c_str()), timing.latency->value) << timing.name;
        if (timing.subsystem == "mem") continue;
        EXPECT_EQ(cpi(back, timing.name.c_str()), cpi(profile, timing.name.c_str())) << timing.name;
        EXPECT_EQ(back.copies(back.find_instruction(timing.name)->subsystem), 4) << timing.name;
    }
}

}  // namespace
}  // namespace occupipe::analysis

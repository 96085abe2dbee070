// SPDX-License-Identifier: MIT
// Options as in accel-sim/gpgpu-sim_distribution, configs/tested-cfgs, and
// accel-sim/accel-sim-framework, gpu-simulator/configs/tested-cfgs; the conversion is that of the
// framework's own tuner (util/tuner/GPU_Microbenchmark: config_fpu.cu, l2_config, mem_config).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/exchange/exported.h"
#include "analysis/exchange/unit_classes.h"
#include "analysis/exchange/unit_cycles.h"

namespace occupipe::analysis {
namespace {

using Names = std::span<const std::string_view>;

constexpr double mega = 1e6;

class Writer {
public:
    Writer(const GpuProfile& profile, const ExportOptions& options)
        : profile_(profile), options_(options) {}

    Exported write() {
        head();
        device();
        units();
        ptx();
        memory();
        return std::move(out_);
    }

private:
    void line(const std::string& text) { out_.text += text + "\n"; }
    void comment(const std::string& text) { line("# " + text); }
    void option(std::string_view name, const std::string& value) {
        line(fmt::format("-{} {}", name, value));
    }
    // Said in the file and on stderr.
    void note(const std::string& text) {
        comment(text);
        out_.notes.push_back(text);
    }
    void left_out(std::string_view what, const std::string& why) {
        note(fmt::format("no -{}: {}", what, why));
    }

    void head() {
        comment(fmt::format("{} in the options of Accel-Sim and GPGPU-Sim, by occupipe.",
                            profile_.device.name));
        if (!options_.profile_name.empty()) comment("Profile: " + options_.profile_name);
        note(
            "These options are only those that a profile knows. They go after a whole "
            "configuration; caches, queues, interconnect and DRAM timing come from there.");
        note(
            "What this format cannot say: standard errors, contention, the loop's own cost, one λ "
            "for each instruction; whole cycles only, the rounding is beside each line.");
        if (options_.pipeline_cycles == 0)
            note(
                "Latencies are Λ, measured from an instruction to the next one that needs its "
                "result, as the framework's own tuner writes them. The simulator adds operand "
                "collection and write-back to a unit's latency; pipeline_cycles takes that off.");
    }

    void device() {
        line("");
        comment("Device");
        const std::string& capability = profile_.device.compute_capability;
        const std::size_t dot = capability.find('.');
        if (dot != std::string::npos) {
            option("gpgpu_compute_capability_major", capability.substr(0, dot));
            option("gpgpu_compute_capability_minor", capability.substr(dot + 1));
        }
        option("gpgpu_n_clusters", fmt::format("{}", profile_.cores));
        option("gpgpu_n_cores_per_cluster", "1");
        note(
            fmt::format("no -gpgpu_clock_domains: the core's clock is {:g} MHz; those of "
                        "interconnect, second-level cache and DRAM are not in a profile",
                        profile_.clock_hz / mega));
        const Limits& limits = profile_.limits;
        if (limits.warps)
            option("gpgpu_shader_core_pipeline",
                   fmt::format("{}:{}", *limits.warps * profile_.warp_size, profile_.warp_size));
        else
            left_out("gpgpu_shader_core_pipeline", "limits.warps is not in the profile");
        if (limits.groups) option("gpgpu_shader_cta", fmt::format("{}", *limits.groups));
        if (limits.registers)
            option("gpgpu_shader_registers", fmt::format("{}", *limits.registers));
        if (limits.shared_memory_bytes)
            option("gpgpu_shmem_size", fmt::format("{}", *limits.shared_memory_bytes));
        issue();
    }

    void issue() {
        const Issue& issue = profile_.issue;
        if (issue.schedulers > 1)
            option("gpgpu_num_sched_per_core", fmt::format("{}", issue.schedulers));
        else
            left_out("gpgpu_num_sched_per_core",
                     "the profile has one scheduler, which is also what is written where none was "
                     "told apart");
        if (issue.policy)
            option("gpgpu_scheduler", issue.policy == Policy::lrr   ? "lrr"
                                      : issue.policy == Policy::gto ? "gto"
                                                                    : "old");
        if (!issue.limit || issue.schedulers < 2) return;
        const double each = *issue.limit / issue.schedulers;
        const double whole = std::round(each);
        constexpr double near = 0.1;
        if ((whole == 1 || whole == 2) && std::abs(each - whole) < near)
            option("gpgpu_max_insn_issue_per_warp", fmt::format("{:g}", whole));
        else
            left_out("gpgpu_max_insn_issue_per_warp",
                     fmt::format("the issue limit is {:.4g} for each scheduler, not 1 or 2", each));
    }

    // By the user; absent: as the profile has it.
    std::optional<int> wanted(std::string_view unit) const {
        const auto found = options_.units_of.find(unit);
        return found != options_.units_of.end() ? found->second : options_.units;
    }

    // One line of the trace-driven mode; also remembers how many units there are.
    void unit(const UnitClass& unit) {
        const std::string trace = fmt::format("trace_opcode_latency_initiation_{}", unit.name);
        const InstructionTiming* const timing = first_with(profile_, unit.candidates, Uses::both);
        if (timing == nullptr)
            return left_out(trace, why_none(profile_, unit.candidates, Uses::both));
        const UnitCycles cycles =
            unit_cycles(profile_, *timing, wanted(unit.name), options_.pipeline_cycles);
        if (!cycles.fault.empty()) return left_out(trace, cycles.fault);
        comment(cycles.how);
        const auto others = other_than(profile_, unit, *timing);
        if (!others.empty())
            note(fmt::format("{} represents {} as well", timing->name, fmt::join(others, ", ")));
        option(fmt::format("gpgpu_num_{}_units", unit.name), fmt::format("{}", cycles.units));
        option(trace, fmt::format("{},{}", cycles.latency, cycles.initiation));
        units_[std::string(unit.name)] = cycles.units;
        saw(timing->subsystem);
    }

    void saw(const std::string& subsystem) {
        (profile_.copies(subsystem) > 1 ? scheduler_scopes_ : core_scopes_)++;
    }

    void tensor() {
        const std::string_view name = tensor_instruction(profile_);
        if (name.empty())
            return left_out("trace_opcode_latency_initiation_tensor",
                            "which machine instruction computes matrices is known for compute "
                            "capabilities from 7.5 on");
        const std::array names = {name};
        const InstructionTiming* const timing = first_with(profile_, names, Uses::both);
        if (timing == nullptr)
            return left_out("trace_opcode_latency_initiation_tensor",
                            why_none(profile_, names, Uses::both));
        const UnitCycles cycles =
            unit_cycles(profile_, *timing, wanted("tensor"), options_.pipeline_cycles);
        if (!cycles.fault.empty())
            return left_out("trace_opcode_latency_initiation_tensor", cycles.fault);
        comment(cycles.how);
        option("gpgpu_tensor_core_avail", "1");
        option("gpgpu_num_tensor_core_units", fmt::format("{}", cycles.units));
        option("trace_opcode_latency_initiation_tensor",
               fmt::format("{},{}", cycles.latency, cycles.initiation));
        comment("HMMA of a trace runs on the third specialised unit");
        option("specialized_unit_3",
               fmt::format("1,{0},{1},{0},{0},TENSOR", cycles.units, cycles.latency));
        option("trace_opcode_latency_initiation_spec_op_3",
               fmt::format("{},{}", cycles.latency, cycles.initiation));
    }

    void units() {
        line("");
        comment("Units, driven by traces: latency,initiation");
        for (const UnitClass& one : unit_classes()) unit(one);
        tensor();
        if (scheduler_scopes_ + core_scopes_ == 0) return;
        if (core_scopes_ == 0)
            option("gpgpu_sub_core_model", "1");
        else if (scheduler_scopes_ == 0 && profile_.issue.schedulers > 1 && !options_.units &&
                 options_.units_of.empty())
            option("gpgpu_sub_core_model", "0");
        else
            left_out("gpgpu_sub_core_model",
                     "it is for all units, and the profile does not have one copy of each unit "
                     "for each scheduler");
    }

    // A list of latencies and one of intervals, driven by PTX.
    void ptx_list(std::string_view type, std::string_view unit, const std::vector<Names>& columns) {
        const auto known = units_.find(std::string(unit));
        std::vector<std::string> latencies;
        std::vector<std::string> intervals;
        std::vector<std::string> missing;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const InstructionTiming* const timing = first_with(profile_, columns[i], Uses::both);
            // Divisions run on the special function units.
            const bool division = i == 4;
            const auto special = units_.find("sfu");
            std::optional<int> count = wanted(division ? "sfu" : unit);
            if (!count && !division && known != units_.end()) count = known->second;
            if (!count && division && special != units_.end()) count = special->second;
            UnitCycles cycles;
            if (timing == nullptr) {
                cycles.fault = why_none(profile_, columns[i], Uses::both);
            } else {
                cycles = unit_cycles(profile_, *timing, count, options_.pipeline_cycles);
            }
            const bool written = cycles.fault.empty();
            latencies.push_back(written ? fmt::format("{}", cycles.latency) : "?");
            intervals.push_back(written ? fmt::format("{}", cycles.initiation) : "?");
            if (!written) missing.push_back(cycles.fault);
            if (written) comment(cycles.how);
        }
        const std::string latency = fmt::format("ptx_opcode_latency_{}", type);
        const std::string interval = fmt::format("ptx_opcode_initiation_{}", type);
        if (!missing.empty()) {
            left_out(latency + " and -" + interval,
                     fmt::format("the list needs all of its numbers, and has {}: {}",
                                 fmt::join(latencies, ","), fmt::join(missing, "; ")));
            return;
        }
        option(latency, fmt::format("{}", fmt::join(latencies, ",")));
        option(interval, fmt::format("{}", fmt::join(intervals, ",")));
    }

    void ptx() {
        line("");
        comment("The same, driven by PTX: ADD,MAX,MUL,MAD,DIV (int: and SHFL)");
        static constexpr std::array<std::string_view, 2> mul = {"mul.s32", "mul.lo.s32"};
        static constexpr std::array<std::string_view, 1> add_s = {"add.s32"};
        static constexpr std::array<std::string_view, 1> max_s = {"max.s32"};
        static constexpr std::array<std::string_view, 1> mad_s = {"mad.s32"};
        static constexpr std::array<std::string_view, 1> div_s = {"div.s32"};
        static constexpr std::array<std::string_view, 2> shfl = {"shfl.sync.idx.b32",
                                                                 "shfl.sync.bfly.b32"};
        ptx_list("int", "int", {add_s, max_s, mul, mad_s, div_s, shfl});
        static constexpr std::array<std::string_view, 1> add_f = {"add.f32"};
        static constexpr std::array<std::string_view, 1> max_f = {"max.f32"};
        static constexpr std::array<std::string_view, 1> mul_f = {"mul.f32"};
        static constexpr std::array<std::string_view, 1> fma_f = {"fma.f32"};
        static constexpr std::array<std::string_view, 1> div_f = {"div.f32"};
        ptx_list("fp", "sp", {add_f, max_f, mul_f, fma_f, div_f});
        static constexpr std::array<std::string_view, 1> add_d = {"add.f64"};
        static constexpr std::array<std::string_view, 1> max_d = {"max.f64"};
        static constexpr std::array<std::string_view, 1> mul_d = {"mul.f64"};
        static constexpr std::array<std::string_view, 1> fma_d = {"fma.f64"};
        static constexpr std::array<std::string_view, 1> div_d = {"div.f64"};
        ptx_list("dp", "dp", {add_d, max_d, mul_d, fma_d, div_d});
        ptx_list("sfu", "sfu", {unit_classes()[3].candidates});
        left_out("ptx_opcode_latency_tesnor (spelt so)",
                 "it is of a whole wmma, several machine instructions, which no profile has");
    }

    // What a level adds to the one before it.
    void level(std::string_view name, LoadFrom from, LoadFrom before) {
        const InstructionTiming* const far = first_with(profile_, load_names(from), Uses::latency);
        const InstructionTiming* const near =
            first_with(profile_, load_names(before), Uses::latency);
        if (far == nullptr)
            return left_out(name, why_none(profile_, load_names(from), Uses::latency));
        if (near == nullptr)
            return left_out(name,
                            fmt::format("it is what the {} adds to the {}: {}", to_string(from),
                                        to_string(before),
                                        why_none(profile_, load_names(before), Uses::latency)));
        const double added = far->latency->value - near->latency->value;
        const auto written = std::lround(added);
        if (written < 1)
            return left_out(name,
                            fmt::format("Λ of {} is not above that of {}", far->name, near->name));
        comment(fmt::format("Λ {:.4g} of {} - Λ {:.4g} of {}", far->latency->value, far->name,
                            near->latency->value, near->name));
        option(name, fmt::format("{}", written));
    }

    void load(std::string_view name, LoadFrom from) {
        const InstructionTiming* const timing =
            first_with(profile_, load_names(from), Uses::latency);
        if (timing == nullptr)
            return left_out(name, why_none(profile_, load_names(from), Uses::latency));
        const auto written =
            std::max(1L, std::lround(timing->latency->value - options_.pipeline_cycles));
        comment(fmt::format("Λ {:.4g} of {}", timing->latency->value, timing->name));
        option(name, fmt::format("{}", written));
    }

    void memory() {
        line("");
        comment("Memory, in core cycles");
        load("gpgpu_smem_latency", LoadFrom::shared);
        load("gpgpu_l1_latency", LoadFrom::l1);
        level("gpgpu_l2_rop_latency", LoadFrom::l2, LoadFrom::l1);
        level("dram_latency", LoadFrom::memory, LoadFrom::l2);
        note(
            "λ of memory accesses has no option of its own: it follows from banks, queues, "
            "interconnect and DRAM timing of the whole configuration");
    }

    const GpuProfile& profile_;
    const ExportOptions& options_;
    Exported out_;
    std::map<std::string, int> units_;
    int scheduler_scopes_ = 0;
    int core_scopes_ = 0;
};

}  // namespace

Exported export_accelsim(const GpuProfile& profile, const ExportOptions& options) {
    return Writer(profile, options).write();
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
// PPT-GPU: keys of lanl/PPT, PPT-GPU/hardware (uarch) and PPT-GPU/hardware/ISA (units_latency).
// gem5: options of configs/example/apu_se.py and configs/example/gpufs/amd/AmdGPUOptions.py; what
// they do stands in src/gpu-compute/vector_register_file.cc and compute_unit.cc. OSACA: keys of
// RRZE-HPC/OSACA, osaca/data/*.yml.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "analysis/exchange/exported.h"
#include "analysis/exchange/unit_classes.h"
#include "core/files/csv.h"
#include "core/files/yaml_text.h"

namespace occupipe::analysis {
namespace {

class Lines {
public:
    void line(const std::string& text) { out.text += text + "\n"; }
    void comment(const std::string& text) { line("# " + text); }
    void note(const std::string& text) {
        comment(text);
        out.notes.push_back(text);
    }
    Exported out;
};

// Text in Python's double quotes.
std::string python_text(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + "\"";
}

class PptGpu : Lines {
public:
    explicit PptGpu(const GpuProfile& profile) : profile_(profile) {}

    Exported write(const ExportOptions& options) {
        comment(fmt::format("{} as PPT-GPU's tables, by occupipe.", profile_.device.name));
        if (!options.profile_name.empty()) comment("Profile: " + options.profile_name);
        note(
            "uarch goes into hardware/NAME.py, units_latency into hardware/ISA/ARCH.py, beside "
            "the maps of instructions to units (sass_isa, ptx_isa) that are there.");
        note(
            "What this format cannot say: standard errors, contention, λ of memory (its model has "
            "bandwidths), λ below one lane's; latencies are whole cycles.");
        uarch();
        latencies();
        return std::move(out);
    }

private:
    void entry(const std::string& key, const std::string& value, const std::string& from = {}) {
        line(fmt::format("    {:36}:  {},{}", python_text(key), value,
                         from.empty() ? "" : "  # " + from));
    }
    void missing(const std::string& key, const std::string& why) {
        const std::string text = fmt::format("no {}: {}", key, why);
        line("    # " + text);
        out.notes.push_back(text);
    }

    // Lanes that work at once: a warp takes warp_size / lanes cycles.
    void lanes(const std::string& key, const UnitClass& unit) {
        const InstructionTiming* const timing = first_with(profile_, unit.candidates, Uses::cpi);
        if (timing == nullptr) return missing(key, why_none(profile_, unit.candidates, Uses::cpi));
        const double cpi = profile_.cpi_per_core(*timing).value;
        const double exact = profile_.warp_size / cpi;
        const auto written = std::lround(exact);
        if (written < 1)
            return missing(
                key, fmt::format("λ {:.4g} of {} is less than one lane's", cpi, timing->name));
        entry(key, fmt::format("{}", written),
              fmt::format("{} lanes / λ {:.4g} of {} = {:.4g}", profile_.warp_size, cpi,
                          timing->name, exact));
    }

    void uarch() {
        line("");
        line("uarch = {");
        entry("gpu_name", python_text(profile_.device.name));
        if (!profile_.device.architecture.empty())
            entry("gpu_arch", python_text(profile_.device.architecture));
        std::string capability = profile_.device.compute_capability;
        std::erase(capability, '.');
        if (!capability.empty()) entry("compute_capabilty", capability, "spelt so");
        entry("clockspeed", fmt::format("{:.0f}", profile_.clock_hz), "Hz");
        entry("num_SMs", fmt::format("{}", profile_.cores));
        static constexpr std::array<const char*, 4> keys = {
            "num_INT_units_per_SM", "num_SP_units_per_SM", "num_DP_units_per_SM",
            "num_SF_units_per_SM"};
        for (std::size_t i = 0; i < keys.size(); ++i) lanes(keys[i], unit_classes()[i]);
        if (profile_.issue.schedulers > 1)
            entry("num_warp_schedulers_per_SM", fmt::format("{}", profile_.issue.schedulers));
        else
            missing("num_warp_schedulers_per_SM",
                    "the profile has one scheduler, which is also what is written where none was "
                    "told apart");
        if (profile_.limits.shared_memory_bytes)
            entry("shared_mem_size", fmt::format("{}", *profile_.limits.shared_memory_bytes));
        if (profile_.issue.policy == Policy::lrr) entry("warp_scheduling", "\"LRR\"");
        missing(
            "num_TC_units_per_SM, num_LDS_units_per_SM, num_BRA_units_per_SM, "
            "num_TEX_units_per_SM, num_inst_dispatch_units_per_SM, caches' sizes and lines, "
            "bandwidths, dram_clockspeed",
            "not in a profile");
        line("}");
    }

    void latency(const std::string& key, const InstructionTiming* timing, const std::string& why) {
        if (timing == nullptr) return missing(key, why);
        entry(key, fmt::format("{}", std::max(1L, std::lround(timing->latency->value))),
              fmt::format("Λ {:.4g} of {}", timing->latency->value, timing->name));
    }
    void latency(const std::string& key, std::span<const std::string_view> names) {
        latency(key, first_with(profile_, names, Uses::latency),
                why_none(profile_, names, Uses::latency));
    }

    void latencies() {
        line("");
        line("units_latency = {");
        latency("iALU", unit_classes()[0].candidates);
        latency("fALU", unit_classes()[1].candidates);
        static constexpr std::array<std::string_view, 3> half = {"fma.f16x2", "fma.f16", "add.f16"};
        latency("hALU", half);
        latency("dALU", unit_classes()[2].candidates);
        latency("SFU", unit_classes()[3].candidates);
        latency("l1_cache_access", load_names(LoadFrom::l1));
        latency("l2_cache_access", load_names(LoadFrom::l2));
        latency("dram_mem_access", load_names(LoadFrom::memory));
        latency("shared_mem_access", load_names(LoadFrom::shared));
        static constexpr std::array<std::string_view, 1> constant = {"ld.const.u32"};
        latency("const_mem_access", constant);
        static constexpr std::array<std::string_view, 1> local = {"ld.local.u32"};
        latency("local_mem_access", local);
        static constexpr std::array<std::string_view, 1> atomic = {"atom.global.add.u32"};
        latency("atomic_operation", atomic);
        missing("dSFU, bTCU, iTCU, hTCU, BRA, tex_mem_access, tex_cache_access, TB_launch_ovhd",
                "no row of a profile is that");
        line("}");
    }

    const GpuProfile& profile_;
};

class Gem5 : Lines {
public:
    explicit Gem5(const GpuProfile& profile) : profile_(profile) {}

    Exported write(const ExportOptions& options) {
        comment(
            fmt::format("{} as options of gem5's GPU scripts, by occupipe.", profile_.device.name));
        if (!options.profile_name.empty()) comment("Profile: " + options.profile_name);
        note("For configs/example/apu_se.py and the like: gem5.opt SCRIPT $(grep -v '^#' FILE).");
        note(
            "What this format cannot say: standard errors, contention; one latency for all 32-bit "
            "and one for all 64-bit vector instructions, one issue period for all.");
        if (profile_.device.vendor != "AMD" &&
            profile_.device.vendor.find("Advanced Micro") == std::string::npos)
            note(
                "gem5's GPU model is of AMD's compute units and executes their machine code; this "
                "device is not one of them.");
        option("num-compute-units", fmt::format("{}", profile_.cores));
        option("gpu-clock", fmt::format("{:g}MHz", profile_.clock_hz / 1e6));
        option("wf-size", fmt::format("{}", profile_.warp_size));
        simds();
        bypass("sp-bypass-path-length", unit_classes()[1]);
        bypass("dp-bypass-path-length", unit_classes()[2]);
        if (profile_.limits.shared_memory_bytes)
            option("lds-size", fmt::format("{}", *profile_.limits.shared_memory_bytes));
        if (profile_.issue.policy)
            option("CUExecPolicy",
                   profile_.issue.policy == Policy::lrr ? "ROUND-ROBIN" : "OLDEST-FIRST");
        note(
            "no --mem-req-latency, --mem-resp-latency and latencies of caches: in gem5 they are "
            "parts of a path through its memory system, and a profile has Λ of the whole way");
        return std::move(out);
    }

private:
    void option(const std::string& name, const std::string& value) {
        line(fmt::format("--{}={}", name, value));
    }

    void simds() {
        const int simds = profile_.issue.schedulers;
        if (simds < 2)
            return note(
                "no --simds-per-cu, --wfs-per-simd, --vreg-file-size, --issue-period: the "
                "profile has one scheduler, which is also what is written where none was "
                "told apart");
        option("simds-per-cu", fmt::format("{}", simds));
        if (profile_.limits.warps && *profile_.limits.warps % simds == 0)
            option("wfs-per-simd", fmt::format("{}", *profile_.limits.warps / simds));
        if (profile_.limits.registers &&
            *profile_.limits.registers % (simds * profile_.warp_size) == 0)
            option("vreg-file-size",
                   fmt::format("{}", *profile_.limits.registers / (simds * profile_.warp_size)));
        const InstructionTiming* const timing =
            first_with(profile_, unit_classes()[1].candidates, Uses::cpi);
        if (timing == nullptr)
            return note("no --issue-period: " +
                        why_none(profile_, unit_classes()[1].candidates, Uses::cpi));
        const double exact = profile_.cpi_per_core(*timing).value * simds;
        const auto written = std::lround(exact);
        if (written < 1)
            return note(
                fmt::format("no --issue-period: {} takes {:.4g} cycles of a SIMD, below one",
                            timing->name, exact));
        comment(fmt::format("λ {:.4g} per core of {} x {} SIMDs = {:.4g}",
                            profile_.cpi_per_core(*timing).value, timing->name, simds, exact));
        option("issue-period", fmt::format("{}", written));
    }

    void bypass(const std::string& name, const UnitClass& unit) {
        const InstructionTiming* const timing =
            first_with(profile_, unit.candidates, Uses::latency);
        if (timing == nullptr)
            return note(fmt::format("no --{}: {}", name,
                                    why_none(profile_, unit.candidates, Uses::latency)));
        comment(fmt::format("Λ {:.4g} of {}", timing->latency->value, timing->name));
        option(name, fmt::format("{}", std::max(1L, std::lround(timing->latency->value))));
        const auto others =
            timing->determined() ? other_than(profile_, unit, *timing) : std::vector<std::string>{};
        if (!others.empty())
            note(fmt::format("{} represents {} as well", timing->name, fmt::join(others, ", ")));
    }

    const GpuProfile& profile_;
};

std::vector<std::string> ports_of(const GpuProfile& profile, const std::string& subsystem) {
    const int copies = profile.copies(subsystem);
    if (copies == 1) return {subsystem};
    std::vector<std::string> ports;
    for (int i = 0; i < copies; ++i) ports.push_back(fmt::format("{}{}", subsystem, i));
    return ports;
}

std::string not_a_value(const InstructionTiming& timing) {
    std::string why;
    if (!timing.cpi.identifiable()) why = "λ is a bound";
    if (!timing.latency)
        why += std::string(why.empty() ? "" : ", ") + "Λ is not known";
    else if (!timing.latency->identifiable())
        why += std::string(why.empty() ? "" : ", ") + "Λ is a bound";
    return why;
}

constexpr const char* osaca_limits =
    "What this format cannot say: standard errors, contention, the issue limit of schedulers, "
    "bounds; operands are not in a profile. One warp-instruction is one instruction, a port is one "
    "copy of a subsystem.";

}  // namespace

Exported export_ppt_gpu(const GpuProfile& profile, const ExportOptions& options) {
    return PptGpu(profile).write(options);
}

Exported export_gem5(const GpuProfile& profile, const ExportOptions& options) {
    return Gem5(profile).write(options);
}

Exported export_osaca(const GpuProfile& profile, const ExportOptions& options) {
    Lines file;
    file.comment(
        fmt::format("{} as a machine model with OSACA's keys, by occupipe.", profile.device.name));
    if (!options.profile_name.empty()) file.comment("Profile: " + options.profile_name);
    file.note(osaca_limits);
    file.note("OSACA has no parser for PTX: the file is for programs that read its tables.");
    file.line("micro_architecture: " + yaml_scalar(profile.device.name));
    if (!profile.device.architecture.empty())
        file.line("arch_code: " + yaml_scalar(profile.device.architecture));
    file.line("isa: ptx");
    std::vector<std::string> ports;
    for (const Subsystem& subsystem : profile.subsystems)
        for (const std::string& port : ports_of(profile, subsystem.name))
            ports.push_back(yaml_scalar(port));
    file.line(fmt::format("ports: [{}]", fmt::join(ports, ", ")));
    file.line("instruction_forms:");
    bool any = false;
    for (const InstructionTiming& timing : profile.instructions) {
        const std::string fault = not_a_value(timing);
        if (!fault.empty()) {
            file.note(fmt::format("no {}: {}", timing.name, fault));
            continue;
        }
        any = true;
        std::vector<std::string> own;
        for (const std::string& port : ports_of(profile, timing.subsystem))
            own.push_back(yaml_scalar(port));
        file.line("- name: " + yaml_scalar(timing.name));
        file.line("  operands: []");
        file.line(fmt::format("  throughput: {}", profile.cpi_per_core(timing).value));
        file.line(fmt::format("  latency: {}", timing.latency->value));
        file.line(
            fmt::format("  port_pressure: [[{}, [{}]]]", timing.cpi.value, fmt::join(own, ", ")));
    }
    if (!any) file.line("  []");
    return std::move(file.out);
}

Exported export_osaca_csv(const GpuProfile& profile, const ExportOptions&) {
    Exported out;
    out.notes.emplace_back(osaca_limits);
    out.text = "instruction,throughput,latency,ports\n";
    for (const InstructionTiming& timing : profile.instructions) {
        const std::string fault = not_a_value(timing);
        if (!fault.empty()) {
            out.notes.push_back(fmt::format("no {}: {}", timing.name, fault));
            continue;
        }
        out.text += fmt::format(
            "{},{},{},{}\n", csv_text(timing.name), profile.cpi_per_core(timing).value,
            timing.latency->value,
            csv_text(fmt::format("{}", fmt::join(ports_of(profile, timing.subsystem), "|"))));
    }
    return out;
}

}  // namespace occupipe::analysis

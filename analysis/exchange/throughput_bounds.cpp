// SPDX-License-Identifier: MIT
#include "analysis/exchange/throughput_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/exchange/text_table.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

// What throughputs count of an instruction, per lane.
struct Counted {
    std::string_view instruction;
    double per_lane;  // operations or bytes
    std::string_view subsystem;
    std::string_view note;
};

constexpr std::array counted = {
    Counted{"fma.f32", 2, "alu", ""},
    Counted{"fma.f64", 2, "alu", ""},
    Counted{"fma.f16x2", 4, "alu", "two values in one instruction"},
    Counted{"mad.s32", 2, "alu", ""},
    Counted{"ld.global.f32", 4, "mem", ""},
    Counted{"ld.global.v4.f32", 16, "mem", ""},
};

}  // namespace

void set_rate_facts(GpuProfile& profile, const InputText& file, const DeviceHints& hints,
                    std::optional<int> cores_of_file) {
    profile.cores =
        needed(hints.cores ? hints.cores : cores_of_file, file, "cores", "λ is of one core");
    profile.warp_size = needed(hints.warp_size, file, "warp_size", "λ is of a whole warp");
    profile.clock_hz =
        needed(hints.clock_hz, file, "clock_hz",
               "λ is in cycles of the clock that ran, at most; the driver's number may "
               "be below it");
}

std::optional<Estimate> cpi_bound(const GpuProfile& device, const std::string& instruction,
                                  double per_lane, double per_second, const char* why,
                                  std::vector<std::string>& notes) {
    const double lanes = static_cast<double>(device.cores) * device.warp_size;
    const double cpi = lanes * per_lane * device.clock_hz / per_second;
    double most = most_starts_per_cycle(device.warp_size);
    // The first level gives 128 bytes a cycle, 256 at most.
    constexpr double most_bytes = 256;
    if (instruction.starts_with("ld."))
        most = std::min(most, most_bytes / (per_lane * device.warp_size));
    if (cpi * most < 1) {
        notes.push_back(fmt::format(
            "warning: {}: λ would be at most {:.3g}, {:.4g} warps started per cycle and "
            "core, and no core starts more than {:g}: no bound, left out",
            instruction, cpi, 1 / cpi, most));
        return std::nullopt;
    }
    return Estimate{
        .value = cpi, .std_error = {}, .kind = Estimate::Kind::upper_bound, .note = why};
}

void add_bounds(ImportedProfile& out, const std::vector<Throughput>& throughputs) {
    GpuProfile& profile = out.profile;
    for (const Counted& one : counted) {
        const std::string name(one.instruction);
        std::vector<std::string> impossible;
        std::optional<InstructionTiming> best;
        for (const Throughput& figure : throughputs) {
            if (figure.instruction != one.instruction) continue;
            const auto cpi = cpi_bound(
                profile, name, one.per_lane, figure.per_second,
                "peak throughput of a whole kernel, at the clock that was named", impossible);
            if (!cpi || (best && best->cpi.value <= cpi->value)) continue;
            best.emplace();
            best->name = name;
            best->subsystem = one.subsystem;
            best->cpi = *cpi;
            best->latency_unknown = "throughput was measured, no latency";
            best->source = Source::measured;
            best->reference = figure.reference;
            best->note = one.note;
        }
        if (impossible.size() > 1)
            impossible.front() += fmt::format(" (and so {} more)", impossible.size() - 1);
        if (!impossible.empty()) out.notes.push_back(std::move(impossible.front()));
        if (!best) continue;
        if (profile.find_subsystem(best->subsystem) == nullptr)
            profile.subsystems.push_back(
                {.name = best->subsystem, .scope = Scope::core, .contention = {}});
        profile.instructions.push_back(*std::move(best));
    }
    out.notes.emplace_back(
        "throughput alone: λ is an upper bound, Λ unknown; this is a profile and no "
        "measurement, since the file does not say in which shape its kernels ran");
    out.notes.emplace_back("the bounds hold if the device's clock was at most clock_hz");
}

void add_origin(GpuProfile& profile, const InputText& file, const std::string& origin) {
    const auto add = [&](const char* key, const std::string& text) {
        Annotation annotation;
        annotation.text = text;
        profile.provenance.entries.emplace_back(key, std::move(annotation));
    };
    add("origin", origin);
    add("results_file", content_hash(file.text));
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "ask/assumed_latency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "core/error.h"
#include "published/published.h"

namespace occupipe::analysis {
namespace {

// Cycles from the issue of an instruction to that of one of the same class that needs its result,
// as a compiler has to wait between the two.
struct ClassLatency {
    std::string_view capability;
    double cycles;
    std::string_view source;
};

struct LatencyClass {
    std::string_view name;
    std::string_view instructions;  // blanks around each
    std::string_view rate_of;       // whose published throughput is that of the class
    std::span<const ClassLatency> latencies;
};

// Mesa's compiler for NVIDIA GPUs, which says of its tables that the information is NVIDIA's:
// read-after-write between two instructions of the class. Left out: FP64, whose unit is another one
// on each chip of a generation, matrix and special instructions, whose latency varies, and
// Blackwell, whose table is B100's with an addition for the others.
constexpr std::string_view nak_75 =
    "Mesa, src/nouveau/compiler/nak/sm75_instr_latencies.rs, which names NVIDIA as its source";
constexpr std::string_view nak_80 =
    "Mesa, src/nouveau/compiler/nak/sm80_instr_latencies.rs, which names NVIDIA as its source";
constexpr std::string_view volta = "NVIDIA, Volta Tuning Guide, \"Instruction Scheduling\"";

constexpr ClassLatency fma_latencies[] = {{"7.0", 4, volta},  {"7.5", 4, nak_75},
                                          {"8.0", 4, nak_80}, {"8.6", 4, nak_80},
                                          {"8.7", 4, nak_80}, {"8.9", 4, nak_80}};
constexpr ClassLatency four_cycles[] = {{"7.5", 4, nak_75},
                                        {"8.0", 4, nak_80},
                                        {"8.6", 4, nak_80},
                                        {"8.7", 4, nak_80},
                                        {"8.9", 4, nak_80}};
// The Ampere table says 5 and remarks that the source has 4: not taken.
constexpr ClassLatency half_latencies[] = {{"7.5", 6, nak_75}};

constexpr LatencyClass classes[] = {
    {"fma", " fma.f32 add.f32 sub.f32 mul.f32 ", "fma.f32", fma_latencies},
    {"imad", " mad.s32 mul.s32 mad.u32 mul.u32 ", "mad.s32", four_cycles},
    {"alu",
     " add.s32 sub.s32 add.u32 sub.u32 and.b32 or.b32 xor.b32 lop3.b32 shl.b32 shr.u32 shr.s32 "
     "shf.l.wrap.b32 setp.lt.s32 setp.lt.f32 min.s32 max.s32 min.u32 max.u32 min.f32 max.f32 "
     "selp.b32 slct.b32 abs.s32 prmt.b32 ",
     "add.s32", four_cycles},
    {"half", " fma.f16x2 add.f16x2 mul.f16x2 ", "fma.f16x2", half_latencies},
};

bool has(const LatencyClass& one, const std::string& op) {
    return one.instructions.find(fmt::format(" {} ", op)) != std::string_view::npos;
}

const ClassLatency* latency_of(const LatencyClass& one, std::string_view capability) {
    const auto found = std::ranges::find(one.latencies, capability, &ClassLatency::capability);
    return found == one.latencies.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const LatencyClass& one, const std::string& capability) {
    std::vector<std::string_view> known;
    for (const ClassLatency& latency : one.latencies) known.push_back(latency.capability);
    throw InputError(fmt::format(
        "--assume-latency {}: no latency of this class is known for {}; known for {}", one.name,
        capability.empty() ? "a profile without compute capability"
                           : "compute capability " + capability,
        fmt::join(known, ", ")));
}

std::vector<const LatencyClass*> chosen(const std::vector<std::string>& names,
                                        const std::string& capability) {
    std::vector<const LatencyClass*> found;
    const auto add = [&](const LatencyClass& one) {
        if (!std::ranges::count(found, &one)) found.push_back(&one);
    };
    for (const std::string& name : names) {
        if (name == "all") {
            for (const LatencyClass& one : classes)
                if (latency_of(one, capability)) add(one);
            if (found.empty()) refuse(classes[0], capability);
            continue;
        }
        const auto one = std::ranges::find(classes, name, &LatencyClass::name);
        if (one == std::end(classes)) {
            std::vector<std::string_view> known;
            for (const LatencyClass& each : classes) known.push_back(each.name);
            throw InputError(fmt::format("--assume-latency {}: the classes are {} and all", name,
                                         fmt::join(known, ", ")));
        }
        if (!latency_of(*one, capability)) refuse(*one, capability);
        add(*one);
    }
    return found;
}

// The subsystem of the class in the profile, or a new one.
std::string subsystem_for(const LatencyClass& one, GpuProfile& profile) {
    for (const InstructionTiming& timing : profile.instructions)
        if (has(one, timing.name)) return timing.subsystem;
    std::string name = fmt::format("assumed-{}", one.name);
    profile.subsystems.push_back({.name = name});
    return name;
}

std::string assume(const LatencyClass& one, const std::string& op, GpuProfile& profile) {
    const std::string& capability = profile.device.compute_capability;
    const ClassLatency& latency = *latency_of(one, capability);
    const std::size_t subsystems = profile.subsystems.size();
    const auto figures = built_in_published().cpi(capability, one.rate_of, profile.warp_size);
    if (figures.empty()) return {};
    InstructionTiming timing;
    timing.name = op;
    timing.subsystem = subsystem_for(one, profile);
    const double cpi = figures.front().low;  // per core
    timing.cpi.value = cpi * profile.copies(timing.subsystem);
    timing.latency = Estimate{.value = latency.cycles};
    timing.source = Source::assumed;
    timing.reference = std::string(latency.source);
    std::string said = fmt::format(
        "{} is not in the profile: Λ {} is that of the class {} on compute capability {} ({}), λ "
        "{:.4g} that of {} by its published throughput ({}), subsystem {}",
        op, latency.cycles, one.name, capability, latency.source, cpi, one.rate_of,
        citation(figures.front()), timing.subsystem);
    if (profile.subsystems.size() > subsystems)
        said +=
            ", which is added for this class alone: it competes with no other instruction of "
            "the profile, though on the GPU it may";
    profile.instructions.push_back(std::move(timing));
    return said;
}

}  // namespace

std::vector<std::string> assume_latencies(const std::vector<std::string>& names,
                                          const Kernel& kernel, GpuProfile& profile) {
    const auto wanted = chosen(names, profile.device.compute_capability);
    std::vector<std::string> said;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        if (profile.find_instruction(instruction.op)) return;
        for (const LatencyClass* one : wanted) {
            if (!has(*one, instruction.op)) continue;
            if (std::string text = assume(*one, instruction.op, profile); !text.empty())
                said.push_back(std::move(text));
            return;
        }
    });
    return said;
}

}  // namespace occupipe::analysis

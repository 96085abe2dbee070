// SPDX-License-Identifier: MIT
#include "program/device_facts.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "ask/kernels_in.h"
#include "ask/memory_view.h"
#include "core/architectures.h"
#include "core/error.h"
#include "published/shelf.h"

namespace occupipe::program {
namespace {

// Device memory by the vendor's data sheets [GiB]; profiles do not have it. The name as the
// profile spells it ends so.
struct CardMemory {
    std::string_view name;
    int gib;
};
constexpr CardMemory card_memory[] = {
    {"V100-PCIE-16GB", 16},
    {"V100-SXM2-16GB", 16},
    {"TITAN V", 12},
    {"T4", 16},
    {"RTX 2060", 6},
    {"RTX 2070", 8},
    {"RTX 2070 SUPER", 8},
    {"RTX 2080 Ti", 11},
    {"TITAN RTX", 24},
    {"RTX 6000", 24},
    {"A100-SXM4-40GB", 40},
    {"A100-PCIE-40GB", 40},
    {"A100-SXM4-80GB", 80},
    {"A30", 24},
    {"A10", 24},
    {"A40", 48},
    {"RTX A4000", 16},
    {"RTX A6000", 48},
    {"RTX 3060", 12},
    {"RTX 3060 Ti", 8},
    {"RTX 3070", 8},
    {"RTX 3080", 10},
    {"RTX 3090", 24},
    {"L4", 24},
    {"L40", 48},
    {"L40S", 48},
    {"RTX 4060", 8},
    {"RTX 4070", 12},
    {"RTX 4070 Ti", 12},
    {"RTX 4080", 16},
    {"RTX 4090", 24},
    {"H100-SXM5-80GB", 80},
    {"H100 80GB HBM3", 80},
    {"H100 PCIe", 80},
    {"H100 NVL", 94},
    {"H200", 141},
    {"GH200 96GB", 96},
    {"H800 PCIe", 80},
    {"B200", 180},
    {"B300", 288},
    {"RTX 5070 Ti", 16},
    {"RTX 5080", 16},
    {"RTX 5090", 32},
};
constexpr int assumed_gib = 8;

std::optional<int> memory_gib(std::string_view name) {
    for (const CardMemory& one : card_memory) {
        if (!name.ends_with(one.name)) continue;
        if (name.size() == one.name.size() || name[name.size() - one.name.size() - 1] == ' ')
            return one.gib;
    }
    return std::nullopt;
}

// Peaks of sixteen lanes in one direction, as the bus's specification has them; which generation a
// card has, by its architecture.
struct Link {
    const char* name;
    double bytes_per_second;
};
Link link_of(int architecture) {
    if (architecture >= 90) return {"PCIe 5.0 x16", 63.0e9};
    if (architecture >= 80) return {"PCIe 4.0 x16", 31.5e9};
    return {"PCIe 3.0 x16", 15.75e9};
}

int architecture_number(const GpuProfile& profile) {
    const std::string name = analysis::architecture_of(profile);
    if (name.empty())
        throw InputError(fmt::format(
            "{}: code of its architecture is not executed ({} are); --profile names another GPU",
            profile.device.name, architectures_in_words()));
    int number = 0;
    std::from_chars(name.data() + 3, name.data() + name.size(), number);
    return number;
}

std::optional<double> second_level_bytes(const GpuProfile& profile) {
    try {
        const auto sizes = analysis::memory_view({}, profile, {}).sizes;
        return analysis::bytes_of(sizes, analysis::shared_cache());
    } catch (const InputError&) {
        return std::nullopt;
    }
}

}  // namespace

DeviceFacts device_facts(const GpuProfile& profile) {
    DeviceFacts facts;
    facts.name = profile.device.name;
    facts.architecture = architecture_number(profile);
    facts.cores = profile.cores;
    facts.clock_hz = profile.clock_hz;
    facts.limits = occupancy_limits(facts.architecture);
    const std::optional<int> gib = memory_gib(facts.name);
    facts.memory_is_assumed = !gib;
    facts.memory_bytes = static_cast<std::uint64_t>(gib.value_or(assumed_gib)) << 30;
    facts.l2_bytes = second_level_bytes(profile);
    if (profile.match.slow_bytes_per_second)
        facts.dram_bytes_per_second = profile.match.slow_bytes_per_second->value;
    const analysis::ShelfCard* const card = analysis::shelf_card_of(profile.device);
    facts.dram_peak = card ? card->dram_bytes_per_second : facts.dram_bytes_per_second;
    const Link link = link_of(facts.architecture);
    facts.link = link.name;
    facts.link_bytes_per_second = link.bytes_per_second;
    return facts;
}

}  // namespace occupipe::program

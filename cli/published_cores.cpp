// SPDX-License-Identifier: MIT
#include "cli/published_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>

#include "cli/text_table.h"

namespace occupipe::cli {
namespace {

struct Figure {
    std::string_view instruction;
    double cpi;
    double latency;
};

struct PublishedCore {
    std::string_view name;
    std::string_view vendor;  // CPUID vendor string
    int family;
    int first_model;
    int last_model;
    std::span<const Figure> figures;
};

// Scalar instructions. Source of all: the scheduling models of LLVM 19 for znver2, znver3, znver4,
// skylake-avx512 and icelake-server, as `llvm-mca -instruction-tables` prints them; they rest on
// the measurements of uops.info and of A. Fog, "Instruction tables". One value is changed: LLVM
// gives λ 1 for Zen 4's fused multiply-add, where AMD's optimisation guide (No. 57647) has two such
// pipes.
constexpr std::array zen2 = {
    Figure{"add.f32", 0.5, 3},  Figure{"mul.f32", 0.5, 3},  Figure{"fma.f32", 0.5, 5},
    Figure{"div.f32", 5, 10},   Figure{"sqrt.f32", 7, 14},  Figure{"add.f64", 0.5, 3},
    Figure{"mul.f64", 0.5, 3},  Figure{"fma.f64", 0.5, 5},  Figure{"div.f64", 6, 13},
    Figure{"sqrt.f64", 10, 20}, Figure{"add.s32", 0.25, 1}, Figure{"mul.s32", 1, 3},
    Figure{"xor.b32", 0.25, 1},
};
constexpr std::array zen3_and_4 = {
    Figure{"add.f32", 0.5, 3},  Figure{"mul.f32", 0.5, 3},  Figure{"fma.f32", 0.5, 4},
    Figure{"div.f32", 3, 11},   Figure{"sqrt.f32", 5, 15},  Figure{"add.f64", 0.5, 3},
    Figure{"mul.f64", 0.5, 3},  Figure{"fma.f64", 0.5, 4},  Figure{"div.f64", 5, 13},
    Figure{"sqrt.f64", 9, 21},  Figure{"add.s32", 0.25, 1}, Figure{"mul.s32", 1, 3},
    Figure{"xor.b32", 0.25, 1},
};
constexpr std::array skylake_server = {
    Figure{"add.f32", 0.5, 4},  Figure{"mul.f32", 0.5, 4},  Figure{"fma.f32", 0.5, 4},
    Figure{"div.f32", 3, 11},   Figure{"sqrt.f32", 3, 12},  Figure{"add.f64", 0.5, 4},
    Figure{"mul.f64", 0.5, 4},  Figure{"fma.f64", 0.5, 4},  Figure{"div.f64", 4, 14},
    Figure{"sqrt.f64", 6, 18},  Figure{"add.s32", 0.25, 1}, Figure{"mul.s32", 1, 3},
    Figure{"xor.b32", 0.25, 1},
};

constexpr std::array cores = {
    PublishedCore{"AMD Zen 2", "AuthenticAMD", 23, 0x30, 0x7f, zen2},
    PublishedCore{"AMD Zen 3", "AuthenticAMD", 25, 0x00, 0x0f, zen3_and_4},
    PublishedCore{"AMD Zen 3", "AuthenticAMD", 25, 0x20, 0x5f, zen3_and_4},
    PublishedCore{"AMD Zen 4", "AuthenticAMD", 25, 0x10, 0x1f, zen3_and_4},
    PublishedCore{"AMD Zen 4", "AuthenticAMD", 25, 0x60, 0x7f, zen3_and_4},
    PublishedCore{"AMD Zen 4", "AuthenticAMD", 25, 0xa0, 0xaf, zen3_and_4},
    PublishedCore{"Intel Skylake server", "GenuineIntel", 6, 85, 85, skylake_server},
    PublishedCore{"Intel Ice Lake server", "GenuineIntel", 6, 106, 106, skylake_server},
};

std::optional<int> number_in(const MeasurementFile& file, const char* key) {
    const auto found = file.context.find(key);
    if (found == file.context.end()) return std::nullopt;
    int value = 0;
    const char* end = found->second.data() + found->second.size();
    const auto [stop, error] = std::from_chars(found->second.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

const PublishedCore* find_core(const MeasurementFile& file) {
    const auto vendor = file.context.find("cpu_vendor");
    const auto family = number_in(file, "cpu_family");
    const auto model = number_in(file, "cpu_model");
    if (vendor == file.context.end() || !family || !model) return nullptr;
    const auto found = std::ranges::find_if(cores, [&](const PublishedCore& core) {
        return core.vendor == vendor->second && core.family == *family &&
               core.first_model <= *model && *model <= core.last_model;
    });
    return found == cores.end() ? nullptr : &*found;
}

std::string measured(const Estimate& estimate) {
    return fmt::format("{}{:.3f}", sign_of(estimate.kind), estimate.value);
}

std::string difference(const Estimate& estimate, double published) {
    if (!estimate.identifiable()) return "-";
    return fmt::format("{:+.1f} %", 100 * (estimate.value / published - 1));
}

}  // namespace

std::string beside_published(const MeasurementFile& file, const GpuProfile& profile) {
    const PublishedCore* core = find_core(file);
    if (!core) return {};
    TextTable table{{"instruction", "λ", "published", "", "Λ", "published", ""},
                    std::vector(7, Align::right),
                    {}};
    table.align.front() = Align::left;
    for (const Figure& figure : core->figures) {
        const InstructionTiming* timing = profile.find_instruction(figure.instruction);
        if (!timing) continue;
        table.rows.push_back({std::string(figure.instruction), measured(timing->cpi),
                              fmt::format("{}", figure.cpi), difference(timing->cpi, figure.cpi),
                              measured(timing->latency), fmt::format("{}", figure.latency),
                              difference(timing->latency, figure.latency)});
    }
    if (table.rows.empty()) return {};
    return fmt::format(
        "## Beside published figures for {}\n\nPublished: LLVM 19's scheduling model of this core "
        "(docs/pocl.md explains the differences).\n\n{}\n",
        core->name, markdown(table));
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/validation/validation.h"
#include "ask/kernel_memory.h"
#include "ask/shipped_files.h"
#include "core/buffer_fill.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/parallel.h"
#include "sim/engine/simulate.h"

namespace occupipe::analysis {
namespace {

constexpr std::string_view prefix = "model:";
constexpr int quarters = 4;

[[noreturn]] void refuse(const std::string& device, std::string_view key, const std::string& why) {
    throw InputError(fmt::format("device '{}': {}: {}", device, key, why));
}

template <typename T>
T number(std::string_view text, const std::string& device, std::string_view key, T least, T most) {
    T value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size() || !(value >= least) ||
        !(value <= most))
        refuse(device, key, fmt::format("'{}' is not a number from {} to {}", text, least, most));
    return value;
}

void add_contention(GpuProfile& gpu, double share) {
    for (Subsystem& unit : gpu.subsystems) unit.contention = Estimate{.value = share};
}

// What a unit that each scheduler has does in a cycle is the same of all together.
void set_schedulers(GpuProfile& gpu, int count) {
    const double factor = static_cast<double>(count) / gpu.issue.schedulers;
    for (InstructionTiming& one : gpu.instructions) {
        const Subsystem* const unit = gpu.find_subsystem(one.subsystem);
        if (unit && unit->per_scheduler()) one.cpi.value *= factor;
    }
    gpu.issue.schedulers = count;
}

void take(ViolatingDevice& device, std::string_view key, std::string_view value) {
    const auto say = [&](std::string text) { device.violations.push_back(std::move(text)); };
    if (key == "policy") {
        device.policy = parse_policy(value);
        if (!device.policy)
            refuse(device.id, key, fmt::format("'{}' is not lrr, gto or oldest", value));
        if (*device.policy != device.gpu.issue.policy.value_or(Policy::lrr))
            say(fmt::format("policy {}", value));
    } else if (key == "select") {
        device.select = parse_select(value);
        if (!device.select)
            refuse(device.id, key, fmt::format("'{}' is not subsystem or warp", value));
        if (*device.select != device.gpu.issue.select.value_or(Select::subsystem))
            say(fmt::format("select {}", value));
    } else if (key == "skew") {
        device.skew = number(value, device.id, key, 0.0, 1e9);
        if (device.skew > 0) say(fmt::format("start skew {} cycles", device.skew));
    } else if (key == "contention") {
        const double share = number(value, device.id, key, 0.0, 0.99);
        add_contention(device.gpu, share);
        say(fmt::format("contention {}", share));
    } else if (key == "schedulers") {
        const int count = number(value, device.id, key, 1, 64);
        if (count != device.gpu.issue.schedulers) {
            say(fmt::format("{} schedulers instead of {}", count, device.gpu.issue.schedulers));
            set_schedulers(device.gpu, count);
        }
    } else if (key == "ways") {
        device.ways = number(value, device.id, key, 1, 1024);
        const bool costs = std::ranges::any_of(device.gpu.instructions, [](const auto& one) {
            return one.name.starts_with("ld.global.l1.") || one.name.starts_with("ld.global.l2.");
        });
        say(fmt::format(
            "hashed caches of {} way{}{}", *device.ways, *device.ways == 1 ? "" : "s",
            costs ? "" : ", without effect: the profile does not say what a hit costs"));
    } else if (key == "noise") {
        device.noise = number(value, device.id, key, 0.0, 0.5);
        if (device.noise > 0) say(fmt::format("noise {}", device.noise));
    } else if (key == "seed") {
        device.seed = number<std::uint64_t>(value, device.id, key, 0, ~std::uint64_t{0});
    } else {
        refuse(device.id, key,
               "expected policy, select, skew, contention, schedulers, ways, noise or seed");
    }
}

KernelInstruction& first_instruction(std::vector<KernelItem>& items) {
    if (auto* const repeat = std::get_if<Repeat>(&items.front()))
        return first_instruction(repeat->body);
    return std::get<KernelInstruction>(items.front());
}

std::string start_op(int quarter) { return fmt::format("start.{}", quarter); }

// Every program in four parts, whose first instruction waits 0, 1/3, 2/3 and all of the skew.
Kernel skewed(const Kernel& kernel) {
    Kernel out = kernel;
    out.warps.clear();
    for (const WarpProgram& program : kernel.warps) {
        for (int quarter = 0; quarter < quarters; ++quarter) {
            WarpProgram part = program;
            part.share = program.share / quarters;
            const std::string id = "late_start";
            first_instruction(part.instructions).after.push_back({id, 0});
            std::vector<KernelItem> items;
            items.emplace_back(KernelInstruction{.id = id, .op = start_op(quarter), .after = {}});
            std::ranges::move(part.instructions, std::back_inserter(items));
            part.instructions = std::move(items);
            out.warps.push_back(std::move(part));
        }
    }
    if (!out.groups) return out;
    // Each warp of a kind keeps its program, and starts with the quarter of its place.
    for (std::vector<std::int32_t>& kind : out.groups->kinds)
        for (std::size_t place = 0; place < kind.size(); ++place)
            kind[place] = static_cast<std::int32_t>(
                static_cast<std::size_t>(kind[place]) * quarters + place * quarters / kind.size());
    return out;
}

// Units that start() takes: no time of any other, and no issue slot worth speaking of.
void add_starts(GpuProfile& gpu, double skew) {
    gpu.subsystems.push_back({.name = "late-starts"});
    for (int quarter = 0; quarter < quarters; ++quarter) {
        InstructionTiming start;
        start.name = start_op(quarter);
        start.subsystem = "late-starts";
        start.source = Source::assumed;
        start.kind = InstructionKind::compute;
        start.cpi.value = 0.001;
        start.latency = Estimate{.value = std::max(skew * quarter / (quarters - 1), 0.001)};
        gpu.instructions.push_back(std::move(start));
    }
}

// Normal, mean 1; from seed and place alone.
double noise_of(const ViolatingDevice& device, const std::string& kernel, std::size_t point) {
    if (device.noise == 0) return 1;
    std::uint64_t mixed = device.seed;
    for (const char c : kernel) mixed = random_bits(mixed, static_cast<unsigned char>(c));
    const auto unit = [&](std::uint64_t index) {
        return (static_cast<double>(random_bits(mixed, index) >> 11U) + 1) * 0x1p-53;
    };
    const double normal = std::sqrt(-2 * std::log(unit(2 * point))) *
                          std::cos(6.283185307179586 * unit(2 * point + 1));
    return std::max(1 + device.noise * normal, 0.1);
}

}  // namespace

ViolatingDevice open_violating_device(const std::string& id) {
    if (!id.starts_with(prefix))
        throw InputError(fmt::format(
            "device '{}': expected model:PROFILE; measure a GPU from --dump, and give --import",
            id));
    const std::string_view rest = std::string_view(id).substr(prefix.size());
    const std::size_t question = rest.find('?');
    ViolatingDevice device;
    device.id = id;
    device.profile = std::string(rest.substr(0, question));
    device.gpu = named_profile(device.profile);
    std::string_view text =
        question == std::string_view::npos ? std::string_view() : rest.substr(question + 1);
    std::set<std::string_view> given;
    while (!text.empty()) {
        const std::string_view entry = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), entry.size() + 1));
        const std::size_t equals = std::min(entry.find('='), entry.size());
        const std::string_view key = entry.substr(0, equals);
        if (!given.insert(key).second) refuse(id, key, "is given twice");
        take(device, key, entry.substr(std::min(equals + 1, entry.size())));
    }
    validate(device.gpu);
    return device;
}

void measure_curve(ValidationCurve& curve, const ReadyKernel& ready, const ViolatingDevice& device,
                   const std::vector<ToldLaunch>& launches, const SimulationOptions& limits,
                   MemoryPricing pricing) {
    SimulationOptions options = limits;
    options.policy = device.policy;
    options.select = device.select;
    std::vector<std::vector<std::string>> lacking(launches.size());
    const Ready on_device = completed(device.gpu, ready, pricing);
    parallel_for(launches.size(), [&](std::size_t i) {
        const ToldLaunch& told = launches[i];
        std::vector<std::string> unused;
        Kernel kernel = told.kernel;
        if (ready.in && pricing != MemoryPricing::none) {
            if (told.cores != device.gpu.cores)
                kernel =
                    with_memory(*ready.in, ready.kernel, told.launch, device.gpu.cores, unused);
            if (device.ways)
                kernel = with_hashed_caches(*ready.in, ready.kernel, told.launch, device.gpu.cores,
                                            memory_view(kernel, device.gpu, {}).sizes, *device.ways,
                                            device.seed);
        }
        const Told with = at_launch(priced(on_device, std::move(kernel)), told.launch);
        lacking[i] = with.priced->lacking;
        if (!lacking[i].empty()) return;
        kernel = with.kernel();
        GpuProfile gpu = with.profile();
        // What stands in for other instructions has its unit's contention; the slot's unit has
        // none.
        if (device.skew > 0) {
            kernel = skewed(kernel);
            add_starts(gpu, device.skew);
        }
        const SimulationResult run = simulate(gpu, kernel, told.launch, options);
        const double cycles = run.cycles * noise_of(device, curve.kernel, i);
        curve.points[i].measured =
            Throughput{cycles, static_cast<double>(told.launch.groups_per_core(device.gpu.cores)) *
                                   told.launch.group_warps / cycles};
    });
    if (!lacking.empty() && !lacking.front().empty() && curve.not_predicted.empty())
        curve.warnings.push_back(fmt::format("not measured: {} has no numbers for {}", device.id,
                                             fmt::join(lacking.front(), ", ")));
}

}  // namespace occupipe::analysis

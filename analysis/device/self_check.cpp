// SPDX-License-Identifier: MIT
#include "analysis/device/self_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/device/self_check_parts.h"

namespace occupipe::analysis {
namespace {

constexpr double throughput_tolerance = 0.03;
constexpr double latency_tolerance = 0.10;  // sources differ in how they measure
constexpr double backend_tolerance = 0.03;
constexpr double bandwidth_tolerance = 0.02;
constexpr double low_bandwidth = 0.5;  // of the peak

// How much a comparison is worth at a small and at a large disagreement, of 100. From 50 on a
// finding is serious, from 25 on suspicious.
struct Weight {
    double least = 0;
    double most = 0;
};

Weight weight_of(Check check) {
    switch (check) {
        case Check::physics:
            return {80, 100};
        case Check::memory_order:
            return {70, 90};
        case Check::counted_latency:
            return {65, 85};
        case Check::memory_bandwidth:
            return {62, 80};
        case Check::issue_limit:
            return {58, 75};
        case Check::profiler:
            return {55, 75};
        case Check::throughput:
            return {50, 70};
        case Check::clock:
            return {40, 60};
        case Check::backends:
            return {35, 60};
        case Check::latency:
            return {25, 49};
        case Check::doubts:
            return {30, 45};
        case Check::missing:
            return {8, 24};
    }
    return {};
}

double copies_of(const GpuProfile& profile, const InstructionTiming& timing) {
    return profile.copies(timing.subsystem);
}

Compared cpi_of(const GpuProfile& profile, const InstructionTiming& timing, Check check) {
    Compared out{
        .check = check, .subject = timing.name, .quantity = "λ per core", .unit = "cycles"};
    out.measured = profile.cpi_per_core(timing);
    if (copies_of(profile, timing) > 1) out.per_scheduler = timing.cpi.value;
    return out;
}

std::string sources_of(std::span<const PublishedFigure> figures) {
    std::vector<std::string> all;
    for (const PublishedFigure& figure : figures) {
        std::string one = citation(figure);
        if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
    }
    return fmt::format("{}", fmt::join(all, "; "));
}

// "exactly the number of schedulers" and other ratios that suggest a cause.
std::string telling_ratio(double ratio, int schedulers) {
    const auto near = [&](double to) { return std::abs(ratio / to - 1) < 0.03; };
    if (schedulers > 1 && near(schedulers))
        return fmt::format(
            "The ratio is the number of schedulers ({}): the λ of one scheduler may "
            "stand where the core's belongs. ",
            schedulers);
    if (schedulers > 1 && near(1.0 / schedulers))
        return fmt::format(
            "The ratio is one over the number of schedulers ({}): the λ of the core "
            "may stand where one scheduler's belongs. ",
            schedulers);
    if (near(0.5)) return "Exactly half: two steps may have become one instruction. ";
    if (near(0.75))
        return "Three quarters: every second step may share an instruction with its neighbour. ";
    if (near(2)) return "Exactly twice: a step may take two instructions. ";
    return {};
}

}  // namespace

Estimate exact(double value) {
    Estimate e;
    e.value = value;
    return e;
}

Range range_of(const Estimate& e) {
    const double infinite = std::numeric_limits<double>::infinity();
    switch (e.kind) {
        case Estimate::Kind::value: {
            const double error = 3 * e.std_error.value_or(0);
            return {e.value - error, e.value + error};
        }
        case Estimate::Kind::upper_bound:
            return {-infinite, e.value};
        case Estimate::Kind::lower_bound:
            return {e.value, infinite};
        case Estimate::Kind::undetermined:
            break;
    }
    return {-infinite, infinite};
}

Side Comparison::side_of(const Compared& compared, double tolerance) {
    const Range range = range_of(*compared.measured);
    const auto [low, high] = *compared.reference;
    if (range.high < low * (1 - tolerance)) return Side::below;
    if (range.low > high * (1 + tolerance)) return Side::above;
    return Side::inside;
}

void Comparison::relate(Compared& compared) {
    const auto [low, high] = *compared.reference;
    const double value = compared.measured->value;
    compared.relative = value < low ? value / low - 1 : value > high ? value / high - 1 : 0;
}

void Comparison::agree(Compared compared) {
    if (compared.measured && compared.reference) relate(compared);
    out_.agreements.push_back(std::move(compared));
}

void Comparison::find(Compared compared, std::string meaning, std::string explanation,
                      std::string look_at, double doubt) {
    if (compared.measured && compared.reference) relate(compared);
    const Weight weight = weight_of(compared.check);
    // By the logarithm, so that half and twice weigh the same; 25 % gives most of the addition.
    const double size = compared.relative
                            ? std::abs(std::log1p(std::max(*compared.relative, -0.99)))
                            : std::numeric_limits<double>::infinity();
    Finding finding{{std::move(compared)}, 0, {}, {}, {}};
    finding.severity = weight.least + (weight.most - weight.least) * (1 - std::exp(-size / 0.25));
    finding.severity *= doubt;
    finding.meaning = std::move(meaning);
    finding.explanation = std::move(explanation);
    finding.look_at = std::move(look_at);
    out_.findings.push_back(std::move(finding));
}

void Comparison::skip(Check check, const std::string& reason) {
    out_.not_compared.push_back(fmt::format("{}: {}", to_string(check), reason));
}

SelfCheck Comparison::finish() {
    std::ranges::stable_sort(out_.findings, std::ranges::greater(), &Finding::severity);
    std::ranges::stable_sort(out_.agreements, {}, &Compared::check);
    return std::move(out_);
}

namespace {

void check_physics(const SelfCheckInput& input, const Published& published, Comparison& out) {
    const GpuProfile& profile = input.profile;
    const auto widths = published.issue_width(profile.device.compute_capability);
    for (const InstructionTiming& timing : profile.instructions) {
        if (!timing.latency) continue;
        Compared latency{
            .check = Check::physics, .subject = timing.name, .quantity = "Λ", .unit = "cycles"};
        latency.measured = timing.latency;
        const double infinite = std::numeric_limits<double>::infinity();
        latency.reference = {1, infinite};
        if (Comparison::side_of(latency, 0.01) == Side::below) {
            out.find(latency, "Λ is below one cycle",
                     "No result is available to the next instruction in less than a cycle: the "
                     "compiler removed or merged the chain's instructions.",
                     fmt::format("`occupipe explain {}`: what the receipt counts in the loop",
                                 timing.name));
        } else {
            latency.reference = {timing.cpi.value, infinite};
            // λ of one copy: a chain cannot be faster than its unit, whoever shares the rest.
            if (timing.cpi.identifiable() && Comparison::side_of(latency, 0.03) == Side::below)
                out.find(latency,
                         "Λ is below λ: one instruction would be done before its unit takes the "
                         "next",
                         "Λ and λ come from different code, or one of the two fits failed.",
                         fmt::format("the curve of {} in `occupipe fit --report`", timing.name));
        }
        if (widths.empty()) continue;
        Compared cpi = cpi_of(profile, timing, Check::physics);
        cpi.reference = {1 / span_of(widths).second, infinite};
        cpi.source = sources_of(widths);
        if (Comparison::side_of(cpi, throughput_tolerance) == Side::below)
            out.find(cpi, "λ is below what a core can issue",
                     telling_ratio(cpi.measured->value / cpi.reference->first,
                                   profile.issue.schedulers) +
                         "More instructions complete per cycle than schedulers can issue: "
                         "instructions were merged or removed, or the unit of λ is wrong.",
                     fmt::format("`occupipe explain {}`: what the receipt counts in the loop",
                                 timing.name));
    }
}

void check_throughput(const SelfCheckInput& input, const Published& published, Comparison& out) {
    const GpuProfile& profile = input.profile;
    const std::string& capability = profile.device.compute_capability;
    if (!published.knows_throughput(capability))
        return out.skip(Check::throughput, capability.empty()
                                               ? "the profile states no compute capability"
                                               : "no table for compute capability " + capability);
    for (const InstructionTiming& timing : profile.instructions) {
        const auto figures = published.cpi(capability, timing.name, profile.warp_size);
        if (figures.empty()) continue;
        Compared cpi = cpi_of(profile, timing, Check::throughput);
        cpi.reference = span_of(figures);
        cpi.source = sources_of(figures);
        const Side side = Comparison::side_of(cpi, throughput_tolerance);
        if (side == Side::inside) {
            out.agree(std::move(cpi));
            continue;
        }
        const double edge = side == Side::below ? cpi.reference->first : cpi.reference->second;
        const double ratio = cpi.measured->value / edge;
        const std::string receipt =
            fmt::format("`occupipe explain {}`: the loop's receipt", timing.name);
        if (side == Side::below)
            out.find(std::move(cpi),
                     fmt::format("λ is {:.3g} % below the vendor's table: faster than the hardware "
                                 "is said to be",
                                 100 * (1 - ratio)),
                     telling_ratio(ratio, profile.issue.schedulers) +
                         "Instructions were merged or removed, other units share the work, or the "
                         "clock counter runs at another rate than the issue port.",
                     receipt);
        else
            out.find(std::move(cpi),
                     fmt::format("λ is {:.3g} % above the vendor's table", 100 * (ratio - 1)),
                     telling_ratio(ratio, profile.issue.schedulers) +
                         "Something else limits it: register ports (compare the rows .same and "
                         ".immediate), loop control in a short body, a second instruction per "
                         "step, or too few warps for the plateau.",
                     receipt + "; the curve's right end", 0.7);
    }
}

void check_latency(const SelfCheckInput& input, const Published& published, Comparison& out) {
    const GpuProfile& profile = input.profile;
    bool any = false;
    for (const InstructionTiming& timing : profile.instructions) {
        const auto figures = published.latency(profile.device.compute_capability, timing.name);
        if (figures.empty() || !timing.latency) continue;
        any = true;
        Compared latency{
            .check = Check::latency, .subject = timing.name, .quantity = "Λ", .unit = "cycles"};
        latency.measured = timing.latency;
        latency.reference = span_of(figures);
        latency.source = sources_of(figures);
        const Side side = Comparison::side_of(latency, latency_tolerance);
        if (side == Side::inside) {
            out.agree(std::move(latency));
            continue;
        }
        const double edge =
            side == Side::below ? latency.reference->first : latency.reference->second;
        out.find(std::move(latency),
                 fmt::format("Λ is {:.3g} % {} what others published",
                             100 * std::abs(timing.latency->value / edge - 1),
                             side == Side::below ? "below" : "above"),
                 kind_of(timing.name) == InstructionKind::load
                     ? "Another memory level than intended, address translation, a half of the "
                       "cache farther away, or another method: a pair of clock readings adds its "
                       "own cost, a slope does not."
                     : "Further instructions on the chain, or another method: a pair of clock "
                       "readings adds its own cost, a slope does not.",
                 fmt::format("`occupipe explain {}`; the sources' methods", timing.name));
    }
    if (!any) out.skip(Check::latency, "nothing is published for its compute capability");
}

void check_counted(const SelfCheckInput& input, const CountedLatencies& counted, Comparison& out) {
    if (counted.empty())
        return out.skip(Check::counted_latency, "no receipts with counted cycles were given");
    for (const auto& [name, count] : counted) {
        const InstructionTiming* const timing = input.profile.find_instruction(name);
        if (timing == nullptr || !timing->latency) continue;
        Compared latency{.check = Check::counted_latency,
                         .subject = name,
                         .quantity = "Λ",
                         .unit = "cycles",
                         .source = "stall counts in the machine code"};
        latency.measured = timing->latency;
        latency.reference = {count.mean, std::max<double>(count.mean, count.most)};
        const Side side = Comparison::side_of(latency, 0.02);
        if (side == Side::below) {
            out.find(std::move(latency),
                     fmt::format("Λ is below the {:.4g} cycles that the assembler counts between "
                                 "two dependent steps",
                                 count.mean),
                     "No instruction can depend on a fixed-latency one earlier than the compiler's "
                     "stall count: the clock, the number of steps or the fit is wrong.",
                     fmt::format("the receipt of {}, its clock reads and its count", name));
            continue;
        }
        if (side == Side::above && timing->latency->value > 1.1 * count.most + 0.5)
            out.find(std::move(latency), "Λ is above what the assembler counts",
                     "Loop control, register ports or another instruction on the chain add to it.",
                     fmt::format("the receipt of {}: what else is in the loop", name), 0.35);
        else
            out.agree(std::move(latency));
    }
}

void check_issue_limit(const SelfCheckInput& input, Comparison& out) {
    const GpuProfile& profile = input.profile;
    if (!profile.issue.limit) return out.skip(Check::issue_limit, "the profile has no issue limit");
    const InstructionTiming* fastest = nullptr;
    for (const InstructionTiming& timing : profile.instructions)
        if (timing.cpi.identifiable() &&
            (fastest == nullptr ||
             profile.cpi_per_core(timing).value < profile.cpi_per_core(*fastest).value))
            fastest = &timing;
    if (fastest == nullptr) return;
    const Range cpi = range_of(profile.cpi_per_core(*fastest));
    Compared limit{.check = Check::issue_limit,
                   .subject = {},
                   .quantity = "issue limit",
                   .unit = "warp-instructions per cycle and core",
                   .source = "λ of " + fastest->name};
    limit.measured = Estimate{
        .value = *profile.issue.limit, .std_error = profile.issue.limit_std_error, .note = {}};
    limit.reference = {1 / cpi.high, std::numeric_limits<double>::infinity()};
    if (Comparison::side_of(limit, throughput_tolerance) == Side::below)
        out.find(
            std::move(limit),
            fmt::format("the issue limit is below the throughput measured for {}", fastest->name),
            "A mix was misjudged (one of its two instructions shares a unit), or λ of the "
            "fastest instruction is too small.",
            fmt::format("the mixes in `occupipe fit`'s table; λ of {}", fastest->name));
    else
        out.agree(std::move(limit));
}

void compare_levels(const std::string& near_name, const Estimate& near_latency,
                    const std::string& far_name, const Estimate& far_latency, Comparison& out) {
    Compared far{.check = Check::memory_order,
                 .subject = far_name,
                 .quantity = "Λ",
                 .unit = "cycles",
                 .source = "Λ of " + near_name};
    far.measured = far_latency;
    far.reference = {range_of(near_latency).low, std::numeric_limits<double>::infinity()};
    if (!std::isfinite(far.reference->first)) return;
    if (Comparison::side_of(far, 0) == Side::below)
        out.find(std::move(far),
                 fmt::format("{} responds sooner than {}, which is nearer to the core", far_name,
                             near_name),
                 "A walk went through another level than it was meant to: a working set that is "
                 "too small or too large, a cache that was cold or bypassed, or rows exchanged.",
                 "the working-set curve; the sizes of the walks in the file's context");
    else
        out.agree(std::move(far));
}

void check_memory_order(const GpuProfile& profile, Comparison& out) {
    constexpr std::array types = {"u32", "u64"};
    constexpr std::array levels = {"ld.global.l1.", "ld.global.l2.", "ld.global."};
    for (const char* type : types) {
        const InstructionTiming* nearer = nullptr;
        for (const char* level : levels) {
            const InstructionTiming* const timing =
                profile.find_instruction(std::string(level) + type);
            if (timing == nullptr || !timing->latency) continue;
            if (nearer != nullptr)
                compare_levels(nearer->name, *nearer->latency, timing->name, *timing->latency, out);
            nearer = timing;
        }
    }
    const MemoryLevel* nearer = nullptr;
    for (const MemoryLevel& level : profile.memory_levels) {
        const auto name = [](const MemoryLevel& l) {
            return fmt::format("{} up to {:g} KiB", l.instruction, l.last_bytes / 1024);
        };
        if (nearer != nullptr && nearer->instruction == level.instruction)
            compare_levels(name(*nearer), nearer->latency, name(level), level.latency, out);
        nearer = &level;
    }
}

// Streams beyond the caches; those of the second-level cache have names of their own.
bool streams_from_memory(std::string_view name) {
    if (!name.starts_with("ld.global.") && !name.starts_with("st.global.")) return false;
    const std::string_view rest = name.substr(10);
    return !rest.starts_with("l1.") && !rest.starts_with("l2.") && !rest.starts_with("nc.");
}

void check_bandwidth(const SelfCheckInput& input, const Published& published, Comparison& out) {
    const GpuProfile& profile = input.profile;
    auto figures = published.memory_bandwidth(profile.device.name);
    for (const MeasurementFile& file : input.measurements)
        if (const auto peak = peak_bandwidth_of_bus(file))
            figures.push_back(
                {*peak, *peak, "memory clock and bus width reported by the driver", {}, {}});
    if (figures.empty())
        return out.skip(Check::memory_bandwidth,
                        "the peak bandwidth of the device's memory is not known");
    for (const InstructionTiming& timing : profile.instructions) {
        const auto bytes = access_bytes(timing.name);
        if (!bytes || !streams_from_memory(timing.name) || !timing.cpi.identifiable()) continue;
        const double amount =
            static_cast<double>(*bytes) * profile.warp_size * profile.cores * profile.clock_hz;
        const Estimate cpi = profile.cpi_per_core(timing);
        Compared rate{.check = Check::memory_bandwidth,
                      .subject = timing.name,
                      .quantity = "bandwidth",
                      .unit = "GB/s",
                      .source = sources_of(figures)};
        rate.measured = exact(amount / cpi.value / 1e9);
        if (cpi.std_error)
            rate.measured->std_error = rate.measured->value * *cpi.std_error / cpi.value;
        const double peak = span_of(figures).second / 1e9;
        rate.reference = {low_bandwidth * span_of(figures).first / 1e9, peak};
        const Side side = Comparison::side_of(rate, bandwidth_tolerance);
        if (side == Side::above)
            out.find(std::move(rate), "more bytes per second than the device's memory can deliver",
                     "Part of the stream came from a cache: the working set is too small or is "
                     "read again within a launch. Or the clock in the profile is too high.",
                     "the walk's size against the second-level cache; clock_hz of the rows");
        else if (side == Side::inside)
            out.agree(std::move(rate));
        // Below half of the peak one access per lane and step may simply not keep enough in
        // flight, and a chase never does: no contradiction.
    }
}

void check_backends(const SelfCheckInput& input, Comparison& out) {
    const GpuProfile& profile = input.profile;
    bool any = false;
    for (const GpuProfile& other : input.others) {
        const bool same_device = other.device.name == profile.device.name;
        if (!same_device || backend_of(other) == backend_of(profile)) continue;
        any = true;
        for (const InstructionTiming& timing : profile.instructions) {
            const InstructionTiming* const same = other.find_instruction(timing.name);
            if (same == nullptr) continue;
            const Range there = range_of(other.cpi_per_core(*same));
            if (!std::isfinite(there.low) || !std::isfinite(there.high)) continue;
            Compared cpi = cpi_of(profile, timing, Check::backends);
            cpi.reference = {std::max(there.low, 0.0), there.high};
            cpi.source = "the profile by " + backend_of(other);
            if (Comparison::side_of(cpi, backend_tolerance) == Side::inside) {
                out.agree(std::move(cpi));
                continue;
            }
            const double ratio = cpi.measured->value / other.cpi_per_core(*same).value;
            out.find(std::move(cpi),
                     fmt::format("λ by {} and by {} differ by {:+.3g} %", backend_of(profile),
                                 backend_of(other), 100 * (ratio - 1)),
                     "The two compilers made different loops, or one of the clocks is wrong; the "
                     "hardware is the same.",
                     fmt::format("`occupipe explain {}` for both backends", timing.name));
        }
    }
    if (!any) out.skip(Check::backends, "no profile of the device by another backend");
}

void check_doubts(const GpuProfile& profile, Comparison& out) {
    std::vector<std::string> doubted;
    for (const InstructionTiming& timing : profile.instructions) {
        const Estimate* const doubtful = is_doubtful(timing.cpi) ? &timing.cpi
                                         : timing.latency && is_doubtful(*timing.latency)
                                             ? &*timing.latency
                                             : nullptr;
        if (doubtful != nullptr)
            doubted.push_back(fmt::format("{} ({})", timing.name, doubtful->note));
    }
    if (doubted.empty()) return;
    const auto all = static_cast<double>(profile.instructions.size());
    out.find({.check = Check::doubts,
              .quantity = "λ and Λ without doubts, of",
              .unit = "instructions",
              .measured = exact(all - static_cast<double>(doubted.size())),
              .reference = {{all, all}},
              .source = "the profile's notes"},
             fmt::format("{} of {:g} instructions have doubtful values", doubted.size(), all),
             fmt::format("The fit says so: {}.", fmt::join(doubted, "; ")),
             "`occupipe explain`, the fit's report");
}

}  // namespace

SelfCheck self_check(const SelfCheckInput& given) {
    // An assumption neither agrees nor disagrees with anything.
    const auto without_assumptions = [](GpuProfile profile) {
        std::erase_if(profile.instructions, [](const InstructionTiming& timing) {
            return timing.source == Source::assumed;
        });
        return profile;
    };
    const GpuProfile profile = without_assumptions(given.profile);
    std::vector<GpuProfile> others;
    for (const GpuProfile& other : given.others) others.push_back(without_assumptions(other));
    const SelfCheckInput input{.profile = profile,
                               .measurements = given.measurements,
                               .others = others,
                               .counted = given.counted,
                               .expected = given.expected,
                               .profiled = given.profiled,
                               .published = given.published};
    const Published& published = input.published ? *input.published : built_in_published();
    CountedLatencies counted = input.counted;
    for (const MeasurementFile& file : input.measurements) counted.merge(counted_latencies(file));
    Comparison out;
    check_physics(input, published, out);
    check_memory_order(input.profile, out);
    check_counted(input, counted, out);
    check_bandwidth(input, published, out);
    check_issue_limit(input, out);
    check_throughput(input, published, out);
    check_backends(input, out);
    check_latency(input, published, out);
    check_clock(input, out);
    check_profiled(input, out);
    check_doubts(input.profile, out);
    check_missing(input, out);
    return out.finish();
}

Level Finding::level() const {
    if (severity >= 50) return Level::serious;
    return severity >= 25 ? Level::suspicious : Level::notice;
}

std::size_t SelfCheck::serious() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        findings, [](const Finding& f) { return f.level() == Level::serious; }));
}

std::string_view to_string(Check check) {
    switch (check) {
        case Check::physics:
            return "physics";
        case Check::memory_order:
            return "order of memory levels";
        case Check::counted_latency:
            return "assembler's count";
        case Check::memory_bandwidth:
            return "memory bandwidth";
        case Check::issue_limit:
            return "issue limit";
        case Check::throughput:
            return "vendor's throughput";
        case Check::clock:
            return "clock";
        case Check::backends:
            return "other backend";
        case Check::latency:
            return "published latency";
        case Check::profiler:
            return "profiler";
        case Check::doubts:
            return "doubtful values";
        case Check::missing:
            break;
    }
    return "missing rows";
}

std::string_view to_string(Level level) {
    switch (level) {
        case Level::serious:
            return "serious";
        case Level::suspicious:
            return "suspicious";
        case Level::notice:
            break;
    }
    return "notice";
}

std::string backend_of(const GpuProfile& profile) {
    for (const AnnotationEntry& entry : profile.provenance.entries)
        if (entry.key == "backend") return entry.value.text;
    return {};
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "published/shelf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"

namespace occupipe::analysis {
namespace {

constexpr int group_threads = 1024;
constexpr std::int64_t registers = 65536;
constexpr double line_bytes = 128;
// A conflict's further pass delays the result by so many cycles (sun-2023; ada-tables).
constexpr double conflict_cycles = 2;

ShelfValue scaled(ShelfValue value, double factor) {
    value.value *= factor;
    value.std_error *= factor;
    return value;
}

// The error of a product of independent numbers, relative.
double relative(const ShelfValue& value) { return value.std_error / value.value; }

Estimate estimate(const ShelfValue& value) {
    return {.value = value.value,
            .std_error = value.std_error,
            .note = value.how,
            .source = value.source};
}

Annotation text_of(std::string text) {
    return {.text = std::move(text), .items = {}, .entries = {}};
}

class Assembler {
public:
    Assembler(const ShelfCard& card, const Shelf& shelf, const Published& published)
        : card_(card),
          shelf_(shelf),
          published_(published),
          architecture_(*shelf.architecture(card.capability)),
          share_(reached_share(shelf, architecture_.vendor)) {}

    GpuProfile make() {
        const bool nvidia = architecture_.vendor == "NVIDIA";
        profile_.device = {card_.name, architecture_.vendor,
                           nvidia ? architecture_.generation
                                  : architecture_.generation + " (" + card_.capability + ")",
                           nvidia ? card_.capability : ""};
        profile_.cores = card_.cores;
        profile_.warp_size = architecture_.warp_size;
        profile_.clock_hz = card_.clock_hz;
        profile_.limits = {architecture_.warps, architecture_.groups,
                           group_threads / architecture_.warp_size, registers,
                           architecture_.shared_bytes};
        profile_.issue = {.limit = architecture_.schedulers,
                          .limit_std_error = {},
                          .schedulers = architecture_.schedulers,
                          .policy = {},
                          .select = {}};
        for (const ShelfInstructionCache& cache : shelf_.instruction_caches)
            if (std::ranges::find(cache.capabilities, card_.capability) != cache.capabilities.end())
                profile_.instruction_cache = {.bytes = cache.bytes,
                                              .bytes_per_cycle = cache.bytes_per_cycle,
                                              .reference = cache.source};
        for (const ShelfUnit& unit : shelf_.units)
            profile_.subsystems.push_back(
                {.name = unit.name,
                 .scope = scope_of(unit.name),
                 .contention = {},
                 .issue_slots = nvidia ? unit.issue_slots : std::nullopt});
        for (const ShelfInstruction& row : shelf_.instructions)
            if (shelf_.row(row.names.front(), card_.capability) == &row) add(row);
        add_launch();
        add_levels();
        add_match();
        add_provenance();
        validate(profile_);
        return std::move(profile_);
    }

private:
    Scope scope_of(std::string_view unit) const {
        if (unit == "fp64") return architecture_.fp64;
        return std::ranges::find(shelf_.units, unit, &ShelfUnit::name)->scope;
    }

    std::optional<ShelfValue> published_value(const ShelfInstruction& row, Figure figure) const {
        return shelf_value(shelf_, published_, card_.capability, row, figure);
    }

    // λ of a core.
    std::optional<ShelfValue> cpi_of(const ShelfInstruction& row) const {
        if (row.level) return level_cpi(row);
        if (row.slot) {
            const double width = architecture_.schedulers;
            return ShelfValue{
                .value = 1 / width, .std_error = 0, .source = Source::vendor, .how = row.why};
        }
        if (row.cpi)
            return ShelfValue{.value = *row.cpi,
                              .std_error = row.cpi_error,
                              .source = Source::assumed,
                              .how = row.why};
        const auto found = published_value(row, Figure::cpi);
        return found && half_rate(row) ? std::optional(scaled(*found, 2)) : found;
    }

    // Matrix products that sum in single precision have half the rate on GeForce cards that the
    // same chips have on others (NVIDIA's whitepapers of TU102, GA102, AD102 and GB202, peak rates
    // of "FP16 Tensor with FP32 accumulate").
    bool half_rate(const ShelfInstruction& row) const {
        return row.unit == "tensor" && card_.name.find("GeForce") != std::string::npos &&
               row.names.front().find(".f32.") != std::string::npos;
    }

    std::optional<ShelfValue> level_cpi(const ShelfInstruction& row) const {
        const double bytes = static_cast<double>(row.bytes) * architecture_.warp_size;
        ShelfValue found;
        switch (*row.level) {
            case ShelfLevel::shared:
                found = of_request(architecture_.pass * row.bytes / 4);
                break;
            case ShelfLevel::first:
                if (const auto own = row.bytes == 4 && !row.store
                                         ? published_value(row, Figure::cpi)
                                         : std::nullopt)
                    return own;
                found = of_request(bytes / architecture_.first_bytes);
                break;
            case ShelfLevel::second: {
                const ShelfInstruction& words = *shelf_.row("ld.global.l2.u32", card_.capability);
                found = scaled(*published_value(words, Figure::cpi), row.bytes / 4.0 * row.times);
                break;
            }
            case ShelfLevel::dram:
                found.value = bytes * card_.cores * card_.clock_hz /
                              (card_.dram_bytes_per_second * share_.value);
                found.std_error = found.value * relative(share_);
                found.how =
                    fmt::format("{:.4g} GB/s; {}", card_.dram_bytes_per_second * 1e-9, share_.how);
        }
        if (row.times != 1 && row.level == ShelfLevel::second) {
            found.std_error = std::hypot(found.std_error, shelf_.substitute * found.value);
            found.source = Source::assumed;
            found.how = row.why;
        }
        return found;
    }

    // Cycles of the core's path to shared memory and first level: those of a request or of its
    // data.
    ShelfValue of_request(double cycles) const {
        ShelfValue found{.value = std::max(architecture_.request, cycles)};
        found.std_error = found.value * shelf_.spreads.find("bandwidth")->second.relative;
        found.how = architecture_.why;
        return found;
    }

    void add(const ShelfInstruction& row) {
        // Of the pipes of another vendor nothing is known.
        if (architecture_.vendor != "NVIDIA" && (row.slot || row.cpi)) return;
        const auto cpi = cpi_of(row);
        if (!cpi) return;
        const auto latency = row.store ? std::nullopt : published_value(row, Figure::latency);
        if (!latency && !row.store) return;
        InstructionTiming timing;
        timing.subsystem = row.unit;
        const int copies = scope_of(row.unit) == Scope::scheduler ? architecture_.schedulers : 1;
        timing.cpi = estimate(scaled(*cpi, copies));
        if (!architecture_.code.empty())
            timing.cpi.std_error =
                std::hypot(*timing.cpi.std_error, shelf_.code * timing.cpi.value);
        if (latency)
            timing.latency = estimate(*latency);
        else
            timing.latency_unknown = "nothing waits for a store";
        timing.source = std::max(cpi->source, latency ? latency->source : cpi->source);
        timing.reference =
            timing.source == Source::assumed ? assumed_reference() : "docs/background/shelf.md";
        if (row.level == ShelfLevel::shared) timing.tables.push_back(conflicts(row, timing));
        for (const std::string& name : row.names) {
            timing.name = name;
            if (name.starts_with("cp.async")) timing.kind = InstructionKind::load;
            profile_.instructions.push_back(timing);
        }
    }

    std::string assumed_reference() const {
        return fmt::format(
            "not published for compute capability {}; numbers of a similar instruction or "
            "architecture stand in, with wider errors ('occupipe explain' names the substitute)",
            card_.capability);
    }

    ParameterTable conflicts(const ShelfInstruction& row, const InstructionTiming& timing) const {
        ParameterTable table{.over = "conflict_degree",
                             .note = "a request takes so long, or its passes if that is longer",
                             .rows = {}};
        for (const int degree : {1, 2, 4, 8, 16, 32}) {
            TableRow at{.at = static_cast<double>(degree), .cpi = {}, .latency = {}};
            Estimate cpi = timing.cpi;
            cpi.value =
                std::max(architecture_.request, architecture_.pass * degree * row.bytes / 4);
            cpi.std_error = *timing.cpi.std_error / timing.cpi.value * cpi.value;
            cpi.note.clear();
            at.cpi = std::move(cpi);
            if (timing.latency) {
                at.latency = timing.latency;
                at.latency->value += conflict_cycles * (degree - 1);
                at.latency->note.clear();
            }
            table.rows.push_back(std::move(at));
        }
        return table;
    }

    // Of this vendor's cards; absent: of none of them.
    std::optional<Estimate> mean_of(const std::vector<ShelfReached>& figures,
                                    std::string_view what) const {
        std::vector<SourceFigure> seconds;
        std::set<std::string> sources;
        for (const ShelfReached& one : figures)
            if (shelf_.architecture(shelf_.card(one.card)->capability)->vendor ==
                architecture_.vendor) {
                seconds.push_back({.value = one.figure.low, .source = one.card});
                sources.insert(one.figure.source);
            }
        if (seconds.empty()) return std::nullopt;
        const Combined made =
            combine(seconds, {.relative = shelf_.spreads.find("dram")->second.relative}, false);
        return Estimate{
            .value = made.value,
            .std_error = made.std_error,
            .note = fmt::format("{} on {} card{}, {}", what, seconds.size(),
                                seconds.size() == 1 ? "" : "s", fmt::join(sources, ", "))};
    }

    void add_launch() {
        profile_.overheads.launch_seconds = mean_of(shelf_.launches, "queued launches");
        profile_.overheads.kernel_seconds = mean_of(shelf_.kernels, "empty kernels");
    }

    Estimate latency_of(std::string_view name) const {
        return estimate(*published_value(*shelf_.row(name, card_.capability), Figure::latency));
    }

    void add_levels() {
        constexpr const char* walk = "ld.global.u32.working_set";
        constexpr double least = 1024, most_bytes = 1024.0 * 1024 * 1024;
        double begin = least;
        const auto level = [&](Estimate latency, double end) {
            profile_.memory_levels.push_back({.instruction = walk,
                                              .latency = std::move(latency),
                                              .first_bytes = begin,
                                              .last_bytes = end,
                                              .edge_confidence = {}});
            begin = end + 1;
        };
        level(latency_of("ld.global.l1.u32"), static_cast<double>(architecture_.first_level_bytes));
        // Two halves: what lies in the far one is farther, from half the size on.
        const ShelfInstruction far{.names = {"ld.global.l2.u32.far"},
                                   .unit = "mem",
                                   .spread = "second",
                                   .like = {},
                                   .why = {},
                                   .level = {},
                                   .cpi = {},
                                   .from = {},
                                   .to = {}};
        const bool halves = !figures_of(published_, card_.capability, far, Figure::latency).empty();
        level(latency_of("ld.global.l2.u32"), halves ? card_.l2_bytes / 2 : card_.l2_bytes);
        if (halves) level(estimate(*published_value(far, Figure::latency)), card_.l2_bytes);
        level(latency_of("ld.global.u32"), std::max(most_bytes, 2 * begin));
    }

    // AutoMatch's numbers (docs/background/shelf.md).
    void add_match() {
        for (const char* const name : {"fma.f32", "fma.f64", "ld.shared.u32", "ld.global.l2.u32"})
            if (profile_.find_instruction(name) == nullptr) return;
        const auto timing = [&](std::string_view name) -> const InstructionTiming& {
            return *profile_.find_instruction(name);
        };
        const auto rate = [&](std::string_view name, double amount) {
            const Estimate cpi = profile_.cpi_per_core(timing(name));
            const double value = amount * profile_.cores * profile_.clock_hz / cpi.value;
            return ShelfValue{.value = value, .std_error = value * *cpi.std_error / cpi.value};
        };
        const double lanes =
            std::round(architecture_.warp_size / profile_.cpi_per_core(timing("fma.f32")).value *
                       profile_.cores);
        MatchDevice& match = profile_.match;
        match.processors = static_cast<std::int64_t>(lanes);
        match.vector_width = 1;
        const auto of_lane = [&](ShelfValue value, const char* how) {
            value.how = how;
            return estimate(scaled(value, 1 / lanes));
        };
        match.flops_per_second =
            of_lane(rate("fma.f64", 2.0 * architecture_.warp_size), "λ of fma.f64");
        match.f32_flops_per_second =
            of_lane(rate("fma.f32", 2.0 * architecture_.warp_size), "λ of fma.f32");
        match.fast_bytes =
            profile_.cores * architecture_.shared_bytes + static_cast<std::int64_t>(card_.l2_bytes);
        match.line_bytes = static_cast<std::int64_t>(line_bytes);
        const ShelfValue shared = rate("ld.shared.u32", 4.0 * architecture_.warp_size);
        const ShelfValue second = rate("ld.global.l2.u32", 4.0 * architecture_.warp_size);
        ShelfValue fast{.value = 2 / (1 / shared.value + 1 / second.value)};
        fast.std_error = fast.value * fast.value / 2 *
                         std::hypot(shared.std_error / (shared.value * shared.value),
                                    second.std_error / (second.value * second.value));
        fast.how = "harmonic mean of shared memory and second level";
        match.fast_bytes_per_second = estimate(fast);
        ShelfValue slow = rate("ld.global.f32", 4.0 * architecture_.warp_size);
        slow.how = share_.how;
        match.slow_bytes_per_second = estimate(slow);
        const auto seconds = [&](std::initializer_list<std::string_view> names, const char* how) {
            ShelfValue mean{.how = how};
            for (const std::string_view name : names) {
                mean.value += timing(name).latency->value / static_cast<double>(names.size());
                mean.std_error = std::hypot(mean.std_error, *timing(name).latency->std_error /
                                                                static_cast<double>(names.size()));
            }
            return estimate(scaled(mean, 1 / profile_.clock_hz));
        };
        match.fast_latency_seconds = seconds({"ld.shared.u32", "ld.global.l2.u32"},
                                             "mean of Λ of shared memory and second level");
        match.slow_latency_seconds = seconds({"ld.global.u32"}, "Λ of device memory");
        match.synchronisation_seconds = profile_.overheads.launch_seconds;
        match.reference = "the profile's λ and Λ, by the rules of docs/background/shelf.md";
    }

    void add_provenance() {
        auto& entries = profile_.provenance.entries;
        const auto say = [&](const char* key, std::string text) {
            entries.emplace_back(key, text_of(std::move(text)));
        };
        say("made", "published");
        if (card_.year) say("year", fmt::format("{}", *card_.year));
        say("card",
            card_.source.empty() ? std::string("numbers of a data sheet, as given") : card_.source);
        say("clock_hz", "boost clock");
        say("architecture", fmt::format("{}; {}", architecture_.source, architecture_.why));
    }

    const ShelfCard& card_;
    const Shelf& shelf_;
    const Published& published_;
    const ShelfArchitecture& architecture_;
    const ShelfValue share_;
    GpuProfile profile_;
};

}  // namespace

GpuProfile shelf_profile(const ShelfCard& card) {
    return Assembler(card, built_in_shelf(), built_in_published()).make();
}

std::optional<GpuProfile> shelf_profile(std::string_view id) {
    const ShelfCard* const card = built_in_shelf().card(id);
    if (card == nullptr) return std::nullopt;
    return shelf_profile(*card);
}

}  // namespace occupipe::analysis

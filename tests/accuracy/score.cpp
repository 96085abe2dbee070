// SPDX-License-Identifier: MIT
#include "tests/accuracy/score.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "core/statistics.h"
#include "tests/fit/synthetic.h"

namespace occupipe::test {
namespace {

// Whether the fit says of a curve that something is wrong with it.
bool flagged(const TimingFit& fit) {
    if (fit.misfit) return true;
    constexpr std::array words{"misfit",  "law does not hold", "drift",        "at most",
                               "far off", "differ in speed",   "in proportion"};
    return std::ranges::any_of(fit.notes, [&](const std::string& note) {
        return std::ranges::any_of(
            words, [&](const char* word) { return note.find(word) != std::string::npos; });
    });
}

void compare(const char* symbol, const Estimate& e, double truth, bool flag,
             const std::string& where, ParameterScore& parameter, Score& score) {
    constexpr double room = 0.01;
    if (!e.identifiable()) {
        ++score.bounds;
        const bool upper = e.kind == Estimate::Kind::upper_bound;
        const bool broken = upper ? truth > e.value * (1 + room) : truth < e.value * (1 - room);
        score.false_bounds += broken;
        if (broken)
            score.details.push_back(fmt::format("{}: false bound {} {:.5g} (planted {:.5g})", where,
                                                symbol, e.value, truth));
        return;
    }
    const double off = e.value / truth - 1;
    const double z = std::abs(e.value - truth) / e.std_error.value_or(0);
    ++parameter.values;
    parameter.within_one += z <= 1;
    parameter.within_two += z <= 2;
    parameter.bias += off;
    parameter.errors.push_back(std::abs(off));
    const bool silent = std::abs(off) > 0.03 && z > 3 && !flag;
    score.silent += silent;
    if (z > 2)
        score.details.push_back(
            fmt::format("{}: {} {:.5g} ± {:.2g} (planted {:.5g}), {:+.2f} %, {:.1f} s.e.{}{}",
                        where, symbol, e.value, *e.std_error, truth, 100 * off, z,
                        silent ? " SILENT" : "", flag ? " flagged" : ""));
}

void compare_limit(const PlantedDevice& device, const FitOutcome& found, const std::string& where,
                   Score& score) {
    const std::optional<double>& limit = found.profile.issue.limit;
    if (!(device.issue_limit > 0)) {
        score.invented_limits += limit.has_value();
        if (limit) score.details.push_back(fmt::format("{}: invented limit {:.4g}", where, *limit));
        return;
    }
    ++score.limits;
    score.shown_limits += device.limit_shows;
    if (!limit) {
        score.details.push_back(fmt::format("{}: no limit (planted {:.4g}, {})", where,
                                            device.issue_limit,
                                            device.limit_shows ? "shows" : "does not show"));
        return;
    }
    ++score.found_limits;
    const bool wrong = std::abs(*limit / device.issue_limit - 1) > 0.05;
    score.wrong_limits += wrong;
    score.right_limits += device.limit_shows && !wrong;
    if (wrong)
        score.details.push_back(
            fmt::format("{}: limit {:.4g} (planted {:.4g})", where, *limit, device.issue_limit));
}

// Whether two instructions have one subsystem if they have one unit; only those that some mix
// decided about are sorted by measurement.
void compare_partition(const PlantedDevice& device, const FitOutcome& found,
                       const std::string& where, Score& score) {
    constexpr double sure = 0.9;
    if (device.unit_of.empty()) return;
    ++score.partitions;
    bool right = device.exact_partition;
    for (const auto& [a, unit_a] : device.unit_of)
        for (const auto& [b, unit_b] : device.unit_of) {
            const bool told =
                found.partition.witnessed.contains(a) && found.partition.witnessed.contains(b);
            const auto& subsystem_of = found.partition.subsystem_of;
            if (told && subsystem_of.contains(a) && subsystem_of.contains(b))
                right &= (unit_a == unit_b) == (subsystem_of.at(a) == subsystem_of.at(b));
        }
    const double confidence = found.partition.confidence.value_or(0);
    score.right_partitions += right;
    score.sure_partitions += confidence > sure;
    score.sure_and_wrong += confidence > sure && !right;
    if (!right)
        score.details.push_back(fmt::format("{}: partition {}, confidence {:.3f}", where,
                                            device.exact_partition ? "wrong" : "inexact",
                                            confidence));
}

void compare_scope(const PlantedInstruction& planted, const FitOutcome& found,
                   const std::string& where, Score& score) {
    const InstructionTiming* timing = found.profile.find_instruction(planted.name);
    if (!timing) return;
    const std::optional<Scope> scope = found.profile.find_subsystem(timing->subsystem)->scope;
    ++score.scopes;
    score.unknown_scopes += !scope;
    const bool wrong = scope && *scope != (planted.copied ? Scope::scheduler : Scope::core);
    score.wrong_scopes += wrong;
    if (wrong || !scope)
        score.details.push_back(fmt::format("{}: scope {}, planted {}", where,
                                            scope ? to_string(*scope) : "not known",
                                            planted.copied ? "scheduler" : "core"));
}

void compare_units(const PlantedDevice& device, const FitOutcome& found, const std::string& where,
                   Score& score) {
    if (device.scopes_differ || !device.unit_of.empty()) return;
    const bool torn = found.profile.subsystems.size() > 1;
    score.torn_units += torn;
    if (torn) score.details.push_back(fmt::format("{}: one unit in two subsystems", where));
}

std::string percent(int part, int whole) {
    return whole > 0 ? fmt::format("{:.1f}", 100.0 * part / whole) : "-";
}

std::string coverage(const ParameterScore& p) {
    if (p.values == 0) return "- | - | - | -";
    std::vector<double> errors = p.errors;
    return fmt::format("{} | {} | {:+.2f} | {:.2f}", percent(p.within_one, p.values),
                       percent(p.within_two, p.values), 100 * p.bias / p.values,
                       100 * median(std::move(errors)));
}

}  // namespace

void Score::add(const Score& o) {
    devices += o.devices;
    curves += o.curves;
    failed += o.failed;
    const auto pool = [](ParameterScore& a, const ParameterScore& b) {
        a.values += b.values;
        a.within_one += b.within_one;
        a.within_two += b.within_two;
        a.bias += b.bias;
        a.errors.insert(a.errors.end(), b.errors.begin(), b.errors.end());
    };
    pool(cpi, o.cpi);
    pool(latency, o.latency);
    bounds += o.bounds;
    false_bounds += o.false_bounds;
    wrong_schedulers += o.wrong_schedulers;
    invented_growth += o.invented_growth;
    invented_limits += o.invented_limits;
    limits += o.limits;
    found_limits += o.found_limits;
    wrong_limits += o.wrong_limits;
    shown_limits += o.shown_limits;
    right_limits += o.right_limits;
    partitions += o.partitions;
    right_partitions += o.right_partitions;
    sure_partitions += o.sure_partitions;
    sure_and_wrong += o.sure_and_wrong;
    scopes += o.scopes;
    wrong_scopes += o.wrong_scopes;
    unknown_scopes += o.unknown_scopes;
    torn_units += o.torn_units;
    silent += o.silent;
    flagged += o.flagged;
    details.insert(details.end(), o.details.begin(), o.details.end());
}

Score score_device(const Scenario& scenario, std::uint64_t seed) {
    // Every scenario has devices of its own, whatever its place in the list.
    std::seed_seq mixed(scenario.name.begin(), scenario.name.end());
    std::uint32_t start = 0;
    mixed.generate(&start, &start + 1);
    const PlantedDevice device = make_device(scenario, (std::uint64_t{start} << 20U) + seed);
    const FitOutcome found = fit_measurements(std::vector{device.file});
    Score score;
    score.devices = 1;
    const std::string where = fmt::format("{} #{}", scenario.name, seed);
    for (const PlantedInstruction& planted : device.instructions) {
        const auto it = std::ranges::find(
            found.subjects, planted.name, [](const auto& s) -> auto& { return s.curve.subject; });
        ++score.curves;
        const std::string what = fmt::format("{} {} (k {}, Λ/λ {:.1f})", where, planted.name,
                                             device.schedulers, planted.ridge_warps());
        if (it == found.subjects.end() || !it->fit.ok) {
            ++score.failed;
            score.details.push_back(what + ": no result");
            continue;
        }
        const TimingFit& fit = it->fit;
        const bool flag = flagged(fit) || it->curve.in_order;  // a note on the whole profile
        score.flagged += flag;
        compare("λ", fit.cpi, planted.cpi, flag, what, score.cpi, score);
        compare("Λ", fit.latency, planted.latency, flag, what, score.latency, score);
        if (device.scopes_differ) compare_scope(planted, found, what, score);
        const int copies = planted.copied ? device.schedulers : 1;
        const bool wrong = fit.schedulers != copies &&
                           (fit.schedulers != 1 || std::ranges::find(fit.visible_copies, copies) !=
                                                       fit.visible_copies.end());
        score.wrong_schedulers += wrong;
        if (wrong) score.details.push_back(fmt::format("{}: k {}", what, fit.schedulers));
        const bool growth = fit.contention && fit.contention->value > 0 && !scenario.contention &&
                            !(scenario.jitter > 0);  // varying service times queue, too
        score.invented_growth += growth;
        if (growth)
            score.details.push_back(fmt::format("{}: growth {:.3g} ± {:.2g}", what,
                                                fit.contention->value, *fit.contention->std_error));
    }
    compare_limit(device, found, where, score);
    compare_partition(device, found, where, score);
    compare_units(device, found, where, score);
    return score;
}

std::vector<Score> score_scenarios(const std::vector<Scenario>& of, int devices, int threads) {
    const std::size_t n = of.size() * static_cast<std::size_t>(devices);
    std::vector<Score> single(n);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < n; i = next++) {
            const auto scenario = i / static_cast<std::size_t>(devices);
            const auto device = i % static_cast<std::size_t>(devices);
            single[i] = score_device(of[scenario], device + 1);
        }
    };
    {
        std::vector<std::jthread> pool;
        for (int t = 1; t < threads; ++t) pool.emplace_back(work);
        work();
    }
    std::vector<Score> out(of.size());
    for (std::size_t i = 0; i < n; ++i) out[i / static_cast<std::size_t>(devices)].add(single[i]);
    return out;
}

std::string markdown_table(const std::vector<Scenario>& chosen, const std::vector<Score>& scores) {
    std::string out =
        "| scenario | curves | λ ±1 | λ ±2 | λ bias | λ error | Λ ±1 | Λ ±2 | Λ bias | Λ error | "
        "bounds | false | wrong k | growth invented | limits: invented | found | wrong | of those "
        "that "
        "show | partitions right | sure and wrong | scopes: wrong | not known | flagged | silent "
        "|\n|---|" +
        std::string("---|");
    for (int i = 0; i < 22; ++i) out += "---|";
    out += "\n";
    Score all;
    const auto of = [](int part, int whole) {
        return whole > 0 ? fmt::format("{} of {}", part, whole) : std::string("-");
    };
    const auto row = [&](const std::string& name, const Score& s) {
        out += fmt::format(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} "
            "| {} "
            "|\n",
            name, s.curves, coverage(s.cpi), coverage(s.latency), s.bounds, s.false_bounds,
            s.wrong_schedulers, s.invented_growth, s.invented_limits, of(s.found_limits, s.limits),
            s.wrong_limits, of(s.right_limits, s.shown_limits),
            of(s.right_partitions, s.partitions), of(s.sure_and_wrong, s.sure_partitions),
            of(s.wrong_scopes, s.scopes), of(s.unknown_scopes, s.scopes),
            percent(s.flagged, s.curves), s.silent);
    };
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        row(chosen[i].name, scores[i]);
        all.add(scores[i]);
    }
    row("**all**", all);
    return out;
}

}  // namespace occupipe::test

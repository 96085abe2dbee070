// SPDX-License-Identifier: MIT
#include "analysis/measured/issue_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "analysis/measured/comparison.h"
#include "analysis/measured/measured_graph.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/subsystem_scope.h"
#include "sim/engine/simulate.h"

namespace occupipe::analysis {
namespace {

constexpr double least_margin = 0.01;
constexpr double standard_errors = 3;
constexpr std::size_t least_mixes = 4;
constexpr std::int64_t most_issues = 5'000'000;  // of one simulation; longer ones are left out

constexpr std::array selects = {Select::subsystem, Select::warp};
constexpr std::array policies = {Policy::lrr, Policy::gto, Policy::oldest};

// Of each mix and number in flight the deepest point, where the launch itself counts least. A core
// with one warp has none to choose among.
std::vector<MeasuredPoint> mix_points(const GpuProfile& profile,
                                      std::span<const MeasurementFile> files) {
    std::map<std::tuple<std::string, int, int>, MeasuredPoint> deepest;
    for (const MeasurementFile& file : files) {
        MeasurementFile mixes{file.path, file.content_hash, file.context, {}};
        std::ranges::copy_if(
            file.rows, std::back_inserter(mixes.rows),
            [](const MeasurementRow& row) { return parse_mix(row.subject).has_value(); });
        for (MeasuredPoint& point : measured_points(mixes)) {
            const auto mix = parse_mix(point.subject);
            if (!mix || point.shape.warps() < 2 || !profile.find_instruction(mix->first) ||
                !profile.find_instruction(mix->second))
                continue;
            const std::tuple key(point.subject, point.shape.warps(), point.shape.chains);
            const auto found = deepest.find(key);
            if (found == deepest.end() || found->second.shape.depth < point.shape.depth)
                deepest.insert_or_assign(key, std::move(point));
        }
    }
    std::vector<MeasuredPoint> points;
    points.reserve(deepest.size());
    for (auto& [key, point] : deepest) points.push_back(std::move(point));
    return points;
}

// Errors of one way by mix; absent where a point could not be simulated.
using MixErrors = std::map<std::string, double>;

class Trial {
public:
    Trial(const GpuProfile& profile, std::vector<MeasuredPoint> points)
        : graphs_(profile), points_(std::move(points)) {}

    void run() {
        for (const Select select : selects)
            for (const Policy policy : policies) ways_.push_back({{select, policy}, {}, {}});
        for (Way& way : ways_) way.errors.assign(points_.size(), std::nullopt);
        parallel_for(points_.size() * ways_.size(), [&](std::size_t i) {
            Way& way = ways_[i / points_.size()];
            way.errors[i % points_.size()] = error(way.way, points_[i % points_.size()]);
        });
        for (Way& way : ways_) average(way);
        std::ranges::stable_sort(ways_, {}, [](const Way& way) { return way.way.error; });
    }

    std::vector<IssueWay> ways() const {
        std::vector<IssueWay> all;
        for (const Way& way : ways_) all.push_back(way.way);
        return all;
    }
    std::size_t mixes() const { return ways_.front().by_mix.size(); }
    double error() const { return ways_.front().way.error; }
    // Whether this profile's best way is clearly nearer than the other's, over the mixes that the
    // two do not simulate alike: the others cannot tell.
    bool clearly_nearer(const Trial& other) const {
        constexpr double alike = 0.5 * least_margin;
        std::vector<double> nearer;
        for (const auto& [mix, error] : ways_.front().by_mix) {
            const auto theirs = other.ways_.front().by_mix.find(mix);
            if (theirs == other.ways_.front().by_mix.end()) continue;
            if (std::abs(theirs->second - error) > alike) nearer.push_back(theirs->second - error);
        }
        if (nearer.size() < least_mixes) return false;
        const auto n = static_cast<double>(nearer.size());
        double mean = 0;
        for (const double d : nearer) mean += d / n;
        double squares = 0;
        for (const double d : nearer) squares += std::pow(d - mean, 2);
        return mean >= least_margin && mean >= standard_errors * std::sqrt(squares / (n * (n - 1)));
    }

    // Whether the best way is clearly nearer than the best of those that differ in this.
    template <class Differs>
    bool decided(const Differs& differs) const {
        const Way& best = ways_.front();
        if (best.by_mix.size() < least_mixes) return false;
        return std::ranges::all_of(ways_, [&](const Way& other) {
            return !differs(best.way, other.way) || clearly_nearer(best, other);
        });
    }

private:
    struct Way {
        IssueWay way;
        std::vector<std::optional<double>> errors;  // by point
        MixErrors by_mix;
    };

    std::optional<double> error(const IssueWay& way, const MeasuredPoint& point) const {
        const GpuProfile& profile = graphs_.profile();
        const Launch launch{point.shape.group_warps, point.shape.concurrent_groups,
                            std::int64_t{point.shape.concurrent_groups} * profile.cores};
        try {
            SimulationOptions options;
            options.select = way.select;
            options.policy = way.policy;
            options.max_simulated = most_issues;
            const Kernel kernel = graphs_.graph(point.kernel, point.shape);
            const double cycles = simulate(profile, kernel, launch, options).cycles;
            return std::abs(std::log(cycles / point.cycles));
        } catch (const std::exception&) {  // cannot be said: absent, for all ways
            return std::nullopt;
        }
    }

    // Over the points that every way could simulate.
    void average(Way& way) {
        std::map<std::string, std::pair<double, int>> sums;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (std::ranges::any_of(ways_, [&](const Way& w) { return !w.errors[i]; })) continue;
            auto& [sum, count] = sums[points_[i].subject];
            sum += *way.errors[i];
            ++count;
        }
        double total = 0;
        for (const auto& [mix, sum] : sums) {
            way.by_mix[mix] = sum.first / sum.second;
            total += way.by_mix[mix];
        }
        way.way.error = sums.empty() ? 0 : total / static_cast<double>(sums.size());
    }

    static bool clearly_nearer(const Way& best, const Way& other) {
        const auto n = static_cast<double>(best.by_mix.size());
        const double margin = other.way.error - best.way.error;
        double squares = 0;
        for (const auto& [mix, error] : best.by_mix)
            squares += std::pow(other.by_mix.at(mix) - error - margin, 2);
        return margin >= least_margin &&
               margin >= standard_errors * std::sqrt(squares / (n * (n - 1)));
    }

    MeasuredGraphs graphs_;
    std::vector<MeasuredPoint> points_;
    std::vector<Way> ways_;
};

std::string way_text(const IssueWay& way) {
    return fmt::format("select {}, policy {} ({:.1f} %)", to_string(way.select),
                       to_string(way.policy), 100 * way.error);
}

}  // namespace

IssueChoice choose_issue(const GpuProfile& profile, std::span<const MeasurementFile> files) {
    IssueChoice choice;
    std::vector<MeasuredPoint> points = mix_points(profile, files);
    if (points.empty()) {
        choice.text = "not known: no mix was measured with several warps on a core";
        return choice;
    }
    Trial trial(profile, std::move(points));
    trial.run();
    choice.mixes = static_cast<int>(trial.mixes());
    if (choice.mixes == 0) {
        choice.text = "not known: no mix could be simulated";
        return choice;
    }
    choice.ways = trial.ways();
    const IssueWay& best = choice.ways.front();
    if (trial.decided([](const auto& a, const auto& b) { return a.select != b.select; }))
        choice.select = best.select;
    if (trial.decided([](const auto& a, const auto& b) { return a.policy != b.policy; }))
        choice.policy = best.policy;
    const auto other = std::ranges::find_if(
        choice.ways, [&](const IssueWay& way) { return way.select != best.select; });
    choice.text = fmt::format(
        "select {}, policy {}, by {} mixes: nearest {}; nearest otherwise {}; farthest {}",
        choice.select ? "decided" : "undecided", choice.policy ? "decided" : "undecided",
        choice.mixes, way_text(best), way_text(*other), way_text(choice.ways.back()));
    return choice;
}

namespace {

std::vector<MeasuredPoint> points_of(const GpuProfile& profile, const std::string& subsystem,
                                     std::span<const MeasurementFile> files) {
    std::vector<MeasuredPoint> points = mix_points(profile, files);
    std::erase_if(points, [&](const MeasuredPoint& point) {
        const auto mix = parse_mix(point.subject);
        return profile.find_instruction(mix->first)->subsystem != subsystem &&
               profile.find_instruction(mix->second)->subsystem != subsystem;
    });
    return points;
}

}  // namespace

std::vector<ScopeChoice> choose_scopes(const GpuProfile& profile,
                                       std::span<const MeasurementFile> files,
                                       std::span<const std::string> subsystems) {
    std::vector<ScopeChoice> out;
    for (const std::string& name : subsystems) {
        ScopeChoice& choice = out.emplace_back();
        choice.subsystem = name;
        if (profile.issue.schedulers < 2 || profile.find_subsystem(name) == nullptr) continue;
        const std::vector<MeasuredPoint> points = points_of(profile, name, files);
        if (points.empty()) {
            choice.text = fmt::format("scope of {} undecided: it is in no mix", name);
            continue;
        }
        GpuProfile one = profile;
        GpuProfile copies = profile;
        set_scope(one, name, Scope::core);
        set_scope(copies, name, Scope::scheduler);
        Trial shared(one, points);
        Trial copied(copies, points);
        shared.run();
        copied.run();
        if (copied.clearly_nearer(shared)) choice.scope = Scope::scheduler;
        if (shared.clearly_nearer(copied)) choice.scope = Scope::core;
        choice.text = fmt::format(
            "scope of {} {}, by {} mixes: one for the core {:.1f} %, one per scheduler {:.1f} %",
            name, choice.scope ? to_string(*choice.scope) : "undecided", shared.mixes(),
            100 * shared.error(), 100 * copied.error());
    }
    return out;
}

void apply_issue_choice(GpuProfile& profile, std::span<const MeasurementFile> files,
                        std::span<const std::string> assumed_scopes) {
    std::string scopes;
    for (const ScopeChoice& scope : choose_scopes(profile, files, assumed_scopes)) {
        if (scope.scope) set_scope(profile, scope.subsystem, scope.scope);
        if (!scope.text.empty()) scopes += (scopes.empty() ? "" : "; ") + scope.text;
    }
    if (!scopes.empty()) {
        Annotation text;
        text.text = scopes;
        profile.provenance.entries.emplace_back("scope_choice", std::move(text));
    }
    const IssueChoice choice = choose_issue(profile, files);
    // What the fit has from the warps' stops is nearer to the scheduler than any mix.
    Annotation text;
    text.text = profile.issue.policy
                    ? fmt::format(
                          "policy {} by the stops of warps (choice_among_warps); by mixes "
                          "alone: {}",
                          to_string(*profile.issue.policy), choice.text)
                    : choice.text;
    if (!profile.issue.select) profile.issue.select = choice.select;
    if (!profile.issue.policy) profile.issue.policy = choice.policy;
    profile.provenance.entries.emplace_back("issue_choice", std::move(text));
}

namespace {

const Annotation* entry_of(const Annotation& tree, std::string_view key) {
    const auto it = std::ranges::find(tree.entries, key, &AnnotationEntry::key);
    return it == tree.entries.end() ? nullptr : &it->value;
}

// Hashes of what a profile was fitted to.
std::multiset<std::string> fitted_to(const GpuProfile& profile) {
    std::multiset<std::string> hashes;
    if (const Annotation* measured = entry_of(profile.provenance, "measurements"))
        for (const Annotation& one : measured->items)
            if (const Annotation* hash = entry_of(one, "hash")) hashes.insert(hash->text);
    return hashes;
}

}  // namespace

bool take_issue_choice(const GpuProfile& decided, std::span<const MeasurementFile> files,
                       GpuProfile& profile) {
    std::multiset<std::string> hashes;
    for (const MeasurementFile& file : files) hashes.insert(file.content_hash);
    const Annotation* choice = entry_of(decided.provenance, "issue_choice");
    const Annotation* mine = entry_of(profile.provenance, "tool");
    const Annotation* tool = entry_of(decided.provenance, "tool");
    if (!choice || !mine || !tool || mine->text != tool->text || hashes.contains("") ||
        fitted_to(decided) != hashes || decided.issue.schedulers != profile.issue.schedulers)
        return false;
    for (const Subsystem& subsystem : profile.subsystems)
        if (!decided.find_subsystem(subsystem.name)) return false;
    for (const Subsystem& subsystem : std::vector(profile.subsystems))
        set_scope(profile, subsystem.name, decided.find_subsystem(subsystem.name)->scope);
    profile.issue.select = decided.issue.select;
    profile.issue.policy = decided.issue.policy;
    for (const char* key : {"scope_choice", "issue_choice"})
        if (const Annotation* text = entry_of(decided.provenance, key))
            profile.provenance.entries.emplace_back(key, *text);
    return true;
}

}  // namespace occupipe::analysis

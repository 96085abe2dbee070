// SPDX-License-Identifier: MIT
#include "fit/structure/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <string>
#include <utility>

namespace occupipe {
namespace {

// A curve that its law misses by more has no opinion about ports.
constexpr double too_much_misfit = 0.01;

// Weighted mean with at least a part in a thousand of error each, and half the range as error
// where the values contradict each other.
class WeightedMean {
public:
    void add(const Estimate& e) {
        const double error = std::max(e.std_error.value_or(0), 1e-3 * e.value);
        const double w = 1 / (error * error);
        low_ = weight_ > 0 ? std::min(low_, e.value) : e.value;
        high_ = std::max(high_, e.value);
        weight_ += w;
        sum_ += w * e.value;
    }
    bool empty() const { return !(weight_ > 0); }
    double value() const { return sum_ / weight_; }
    double error() const { return std::max(1 / std::sqrt(weight_), 0.5 * (high_ - low_)); }
    double low() const { return low_; }
    double high() const { return high_; }

private:
    double weight_ = 0;
    double sum_ = 0;
    double low_ = 0;
    double high_ = 0;
};

// The most frequent number above one, the smallest of several such; 1 when nothing votes.
int winner(const std::map<int, int>& votes) {
    int best = 1;
    for (const auto& [k, n] : votes)
        if (k > 1 && (best == 1 || n > votes.at(best))) best = k;
    return best;
}

// One curve's or one mix's opinion about the issue limit.
struct LimitEvidence {
    Estimate limit;
    bool from_mix = false;
    int schedulers = 1;    // that showed the ports
    bool seconds = false;  // agrees with others, but has no number of its own
    double weight() const { return from_mix ? 2 : 1; }
};

// Instructions per cycle that some instruction or mix reached: no limit lies below [warp
// instructions per cycle and core].
double highest_reached(const FitOutcome& out) {
    double highest = 0;
    for (const SubjectReport& s : out.subjects)
        if (!s.subsystem.empty() && s.fit.reached_cpi)
            highest = std::max(highest, 1 / *s.fit.reached_cpi);
    for (const MixFit& mix : out.mixes)
        for (const MixPoint& p : mix.points)
            highest =
                std::max(highest, p.per_cycle * (p.beta + 1) / p.beta * (1 - 3 * p.relative_error));
    return highest;
}

double error_of(const Estimate& limit) {
    // Real plateaus and mixes scatter by more than their repetitions.
    return std::hypot(limit.std_error.value_or(0), 0.01 * limit.value);
}

bool agree(const Estimate& a, const Estimate& b) {
    return std::abs(a.value - b.value) <= 3 * std::hypot(error_of(a), error_of(b));
}

// Numbers of schedulers that staircases show: of copies where most curves of a subsystem that would
// show so many do, of a shared subsystem where two curves say the same number, of ports where their
// limit is the profile's. One curve's law that happens to fit a little better is no evidence about
// the whole core.
std::map<int, int> votes_of_staircases(const FitOutcome& out) {
    struct Share {
        int with = 0;
        int visible = 0;
    };
    std::map<std::pair<std::string, int>, Share> shares;
    std::map<int, int> votes;
    std::map<int, int> sharing;
    const Issue& issue = out.profile.issue;
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty()) continue;
        for (const int k : s.fit.visible_copies)
            if (k != s.fit.schedulers && k != s.fit.sharing_schedulers)
                ++shares[{s.subsystem, k}].visible;
        if (s.fit.schedulers > 1) {
            Share& share = shares[{s.subsystem, s.fit.schedulers}];
            ++share.with;
            ++share.visible;
        }
        if (s.fit.sharing_schedulers == 1) continue;
        const Estimate limit{.value = issue.limit.value_or(0), .std_error = issue.limit_std_error};
        if (s.fit.port_limit && issue.limit && agree(limit, *s.fit.port_limit)) {
            ++votes[s.fit.sharing_schedulers];
        } else if (!s.fit.port_limit) {
            ++sharing[s.fit.sharing_schedulers];
        }
    }
    for (const auto& [k, n] : sharing)
        if (n >= 2 || votes.contains(k)) votes[k] += n;
    for (const auto& [key, share] : shares)
        if (2 * share.with > share.visible) votes[key.second] += share.with;
    return votes;
}

int number_of_schedulers(FitOutcome& out) {
    std::map<int, int> placed;
    for (const SubjectReport& s : out.subjects)
        if (!s.subsystem.empty()) ++placed[schedulers_seen(s.curve)];
    // Few warps in every row of a subject show too few schedulers, never too many.
    const int by_placement = placed.empty() ? 1 : placed.rbegin()->first;
    const int by_staircase = winner(votes_of_staircases(out));
    if (by_placement == 1) return by_staircase;
    if (by_staircase != 1 && by_staircase != by_placement)
        out.notes.push_back(
            fmt::format("staircases have a period of {} warps, but placements show {} schedulers",
                        by_staircase, by_placement));
    return by_placement;
}

const SubjectReport* primary_of(const FitOutcome& out, const std::string& name) {
    for (const SubjectReport& s : out.subjects)
        if (s.curve.subject == name && s.fit.ok && s.primary) return &s;
    return nullptr;
}

// The most of all instructions together that a mix reached, where the units alone would allow
// clearly more, and one unit for both clearly less.
std::optional<Estimate> ceiling_of(const FitOutcome& out, const MixFit& mix) {
    constexpr double clear = 1.05;
    const SubjectReport* first = primary_of(out, mix.first);
    const SubjectReport* second = primary_of(out, mix.second);
    if (!first || !second) return std::nullopt;
    if (!first->fit.cpi.identifiable() || !second->fit.cpi.identifiable()) return std::nullopt;
    std::optional<Estimate> most;
    for (const MixPoint& p : mix.points) {
        const double all = p.per_cycle * (p.beta + 1) / p.beta;
        const double busy_first = p.beta * first->fit.cpi.value;
        const double busy_second = second->fit.cpi.value;
        const double units = (p.beta + 1) / std::max(busy_first, busy_second);
        const double one_unit = (p.beta + 1) / (busy_first + busy_second);
        if (units < clear * all || all < clear * one_unit || (most && all < most->value)) continue;
        most = Estimate{.value = all, .std_error = all * p.relative_error};
    }
    return most;
}

// Mixes of different pairs that end at one throughput of all instructions together, whatever their
// units, and that no mix exceeds: no law of two instructions says so, and neither does it need one
// (behind ports two units hide a part of each other's time at all β but one). Two pairs have to
// agree more closely than three.
std::vector<LimitEvidence> common_ceiling(const FitOutcome& out) {
    std::vector<Estimate> ceilings;
    double highest = 0;
    for (const MixFit& mix : out.mixes) {
        if (const auto ceiling = ceiling_of(out, mix)) ceilings.push_back(*ceiling);
        for (const MixPoint& p : mix.points)
            highest = std::max(highest, p.per_cycle * (p.beta + 1) / p.beta);
    }
    const auto near_the_highest = [&](double alike) {
        std::vector<LimitEvidence> agreed;
        for (const Estimate& one : ceilings)
            if (one.value > (1 - alike) * highest) agreed.push_back({one, true});
        return agreed;
    };
    if (std::vector<LimitEvidence> three = near_the_highest(0.015); three.size() >= 3) return three;
    if (std::vector<LimitEvidence> two = near_the_highest(0.01); two.size() >= 2) return two;
    return {};
}

std::vector<LimitEvidence> limit_evidence(const FitOutcome& out) {
    std::vector<LimitEvidence> all = common_ceiling(out);
    for (const MixFit& mix : out.mixes)
        if (mix.issue_limit && mix.issue_limit->identifiable())
            all.push_back({*mix.issue_limit, true});
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty() || !s.fit.port_limit) continue;
        Estimate limit = *s.fit.port_limit;
        const double misfit = s.fit.misfit ? s.fit.misfit->relative_size : 0;
        if (misfit > too_much_misfit) continue;
        limit.std_error = std::hypot(limit.std_error.value_or(0), misfit * limit.value);
        all.push_back({limit, false, s.fit.sharing_schedulers});
    }
    // Ports that nearly take as long as the subsystem look like copies of it: such curves agree
    // with those whose ports show, but say nothing alone.
    const std::vector<LimitEvidence> clear = all;
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty() || s.fit.schedulers == 1 || !s.fit.cpi.identifiable()) continue;
        const Estimate as_port{.value = 1 / s.fit.cpi.value, .std_error = 0.03 / s.fit.cpi.value};
        const bool seconded = std::ranges::any_of(clear, [&](const LimitEvidence& e) {
            return e.schedulers == s.fit.schedulers && agree(e.limit, as_port);
        });
        if (seconded) all.push_back({as_port, false, s.fit.schedulers, true});
    }
    return all;
}

// Whether other curves than the one whose ports show tell the same number of schedulers that share
// a subsystem.
bool number_is_seconded(const FitOutcome& out, int schedulers) {
    return std::ranges::count_if(out.subjects, [&](const SubjectReport& s) {
               return !s.subsystem.empty() && s.fit.sharing_schedulers == schedulers;
           }) >= 2;
}

// Staircases that the ports of the profile's limit make are no copies.
void give_back_to_ports(const std::vector<LimitEvidence>& agreed, FitOutcome& out) {
    constexpr double nearly = 0.9;
    constexpr double room = 1.03;
    const double limit = *out.profile.issue.limit;
    for (SubjectReport& s : out.subjects) {
        if (s.fit.schedulers == 1 || !s.fit.cpi.identifiable()) continue;
        const double rate = 1 / s.fit.cpi.value;
        const bool ports = std::ranges::any_of(
            agreed, [&](const LimitEvidence& e) { return e.schedulers == s.fit.schedulers; });
        if (!ports || rate < nearly * limit || rate > room * limit) continue;
        s.fit.sharing_schedulers = s.fit.schedulers;
        s.fit.schedulers = 1;
        std::erase(s.fit.visible_copies, s.fit.sharing_schedulers);
        s.fit.notes.emplace_back(
            "its staircase may be the issue ports' or that of copies: scope undecided");
    }
}

// Evidence that agrees with the opinion most others agree with.
std::vector<LimitEvidence> largest_agreement(const std::vector<LimitEvidence>& all) {
    std::vector<LimitEvidence> best;
    double most = 0;
    for (const LimitEvidence& centre : all) {
        std::vector<LimitEvidence> with;
        double weight = 0;
        for (const LimitEvidence& e : all)
            if (agree(centre.limit, e.limit)) {
                with.push_back(e);
                weight += e.weight();
            }
        if (weight > most) {
            most = weight;
            best = std::move(with);
        }
    }
    return best;
}

}  // namespace

// A limit needs opinions of several curves, or of a mix, that agree, and must not lie below what
// was reached.
void set_issue_limit(FitOutcome& out) {
    constexpr double room = 0.97;  // mixes at finite occupancy stay a little below the law
    std::vector<LimitEvidence> all = limit_evidence(out);
    const double reached = highest_reached(out);
    const auto below = std::erase_if(all, [&](const LimitEvidence& e) {
        return e.limit.value + 3 * e.limit.std_error.value_or(0) < room * reached;
    });
    if (below > 0)
        out.notes.push_back(fmt::format(
            "estimates of the issue limit dropped: {}; below the {:.3g} instructions per "
            "cycle that were reached",
            below, reached));
    const std::vector<LimitEvidence> agreed = largest_agreement(all);
    double weight = 0;
    double against = 0;
    WeightedMean limits;
    bool mixes = false;
    for (const LimitEvidence& e : all) against += e.weight();
    for (const LimitEvidence& e : agreed) {
        weight += e.weight();
        if (!e.seconds) limits.add(e.limit);
        mixes |= e.from_mix;
    }
    against -= weight;
    if (weight == 1 && number_is_seconded(out, agreed.front().schedulers) &&
        *agreed.front().limit.std_error < 0.05 * agreed.front().limit.value)
        weight = 2;
    if (weight < 2 || against > weight) {
        if (!all.empty())
            out.notes.push_back(fmt::format(
                "no issue limit: {} estimates, which disagree or are too few", all.size()));
        return;
    }
    out.profile.issue.limit = std::max(limits.value(), room * reached);
    out.profile.issue.limit_std_error = std::max(limits.error(), 0.005 * limits.value());
    if (!mixes) give_back_to_ports(agreed, out);
    const char* source = mixes ? "mixes" : "staircases";
    if (limits.high() > 1.05 * limits.low() || against > 0)
        out.notes.push_back(fmt::format("{} disagree about the issue limit: {:.3g} to {:.3g}",
                                        source, limits.low(), limits.high()));
    if (!mixes)
        out.notes.emplace_back(
            "issue limit from the schedulers' ports in staircases: no mix determines it");
}

void note_values_at_issue_limit(FitOutcome& out) {
    constexpr double widest = 0.05;  // a λ whose error is larger lies anywhere
    const Issue& issue = out.profile.issue;
    if (!issue.limit) return;
    const double least = 1 / *issue.limit;
    const double error_of_least = issue.limit_std_error.value_or(0) * least * least;
    for (SubjectReport& s : out.subjects) {
        Estimate& cpi = s.fit.cpi;
        if (s.subsystem.empty() || !cpi.identifiable()) continue;
        const double error = std::hypot(cpi.std_error.value_or(0), error_of_least);
        if (error < widest * least && cpi.value < least + 2 * error)
            add_doubt(cpi, {Doubt::Kind::at_issue_limit, {}});
    }
}

namespace {

struct ScopeVotes {
    int copies = 0;
    int one = 0;
    int total() const { return copies + one; }
    // Where a third or more say otherwise nothing is decided.
    std::optional<Scope> scope() const {
        if (total() == 0 || 3 * std::max(copies, one) < 2 * total()) return std::nullopt;
        return copies > one ? Scope::scheduler : Scope::core;
    }
};

// Only curves that would show so many copies vote. A staircase of another period is no evidence
// for one unit.
std::map<std::string, ScopeVotes> scope_votes(const FitOutcome& out, int schedulers) {
    std::map<std::string, ScopeVotes> votes;
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty()) continue;
        const std::vector<int>& visible = s.fit.visible_copies;
        const auto would_show = [&](int k) {
            return std::ranges::find(visible, k) != visible.end();
        };
        // Where no number of schedulers shows, none that cores have may have been hidden.
        const bool shows = schedulers == 1 ? std::ranges::all_of(std::views::iota(2, 9), would_show)
                                           : would_show(schedulers);
        if (schedulers > 1 && s.fit.schedulers == schedulers)
            ++votes[s.subsystem].copies;
        else if (shows && s.fit.schedulers == 1)
            ++votes[s.subsystem].one;
    }
    return votes;
}

bool several_warps_at_once(const FitOutcome& out) {
    return std::ranges::any_of(out.subjects, [](const SubjectReport& s) {
        return std::ranges::any_of(s.curve.points,
                                   [](const CurvePoint& p) { return p.shape.warps() > 1; });
    });
}

}  // namespace

void set_scopes(FitOutcome& out) {
    const int schedulers = number_of_schedulers(out);
    out.profile.issue.schedulers = schedulers;
    if (schedulers == 1 && !several_warps_at_once(out)) {
        for (Subsystem& subsystem : out.profile.subsystems) subsystem.scope = Scope::core;
        return;
    }
    if (schedulers == 1)
        out.notes.emplace_back(
            "the number of schedulers is not known: no placement or staircase shows it; one is "
            "assumed");
    const std::map<std::string, ScopeVotes> votes = scope_votes(out, schedulers);
    for (Subsystem& subsystem : out.profile.subsystems) {
        const auto it = votes.find(subsystem.name);
        const ScopeVotes of = it == votes.end() ? ScopeVotes{} : it->second;
        subsystem.scope = of.scope();
        if (!subsystem.scope) {
            if (schedulers > 1) out.assumed_scopes.push_back(subsystem.name);
            out.notes.push_back(fmt::format(
                "scope of subsystem {} is not known, one for the core is assumed: {}",
                subsystem.name,
                of.total() == 0 ? "no placement or staircase shows it"
                                : fmt::format("{} of {} instructions have a copy per scheduler",
                                              of.copies, of.total())));
            continue;
        }
        if (const int other = std::min(of.copies, of.one); other > 0)
            out.notes.push_back(
                fmt::format("{} of {} instructions of subsystem {} do not fit its scope ({})",
                            other, of.total(), subsystem.name, to_string(*subsystem.scope)));
    }
}

}  // namespace occupipe

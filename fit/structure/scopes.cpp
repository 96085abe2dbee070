// SPDX-License-Identifier: MIT
#include "fit/structure/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace occupipe {
namespace {

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

int number_of_schedulers(FitOutcome& out) {
    std::map<int, int> placed;
    std::map<int, int> shown;
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty()) continue;
        ++placed[schedulers_seen(s.curve)];
        ++shown[s.fit.schedulers];
        ++shown[s.fit.port_schedulers];
    }
    // Few warps in every row of a subject show too few schedulers, never too many.
    const int by_placement = placed.empty() ? 1 : placed.rbegin()->first;
    const int by_staircase = winner(shown);
    if (by_placement == 1) return by_staircase;
    if (by_staircase != 1 && by_staircase != by_placement)
        out.notes.push_back(
            fmt::format("staircases have a period of {} warps, but placements show {} schedulers",
                        by_staircase, by_placement));
    return by_placement;
}

}  // namespace

void set_issue_limit(FitOutcome& out) {
    WeightedMean mixes;
    for (const MixFit& mix : out.mixes)
        if (mix.issue_limit && mix.issue_limit->identifiable()) mixes.add(*mix.issue_limit);
    WeightedMean ports;
    for (const SubjectReport& s : out.subjects)
        if (!s.subsystem.empty() && s.fit.port_limit) ports.add(*s.fit.port_limit);
    const WeightedMean& limits = mixes.empty() ? ports : mixes;
    if (limits.empty()) return;
    out.profile.issue.limit = limits.value();
    out.profile.issue.limit_std_error = limits.error();
    const char* source = mixes.empty() ? "staircases" : "mixes";
    if (limits.high() > 1.05 * limits.low())
        out.notes.push_back(fmt::format("{} disagree about the issue limit: {:.3g} to {:.3g}",
                                        source, limits.low(), limits.high()));
    if (mixes.empty())
        out.notes.push_back(
            "issue limit from the schedulers' ports in staircases: no mix determines it");
}

void set_scopes(FitOutcome& out) {
    const int schedulers = number_of_schedulers(out);
    out.profile.issue.schedulers = schedulers;
    if (schedulers == 1) return;
    struct Votes {
        int with = 0;
        int total = 0;
    };
    std::map<std::string, Votes> votes;
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty() || !s.fit.scope_shows) continue;
        Votes& v = votes[s.subsystem];
        ++v.total;
        v.with += s.fit.schedulers == schedulers;
    }
    for (Subsystem& subsystem : out.profile.subsystems) {
        const auto it = votes.find(subsystem.name);
        if (it == votes.end()) {
            out.notes.push_back(
                fmt::format("scope of subsystem {} assumed: no placement or staircase tells it",
                            subsystem.name));
            continue;
        }
        const auto [with, total] = it->second;
        if (2 * with > total) subsystem.scope = Scope::scheduler;
        const int agree = subsystem.scope == Scope::scheduler ? with : total - with;
        if (agree < total)
            out.notes.push_back(
                fmt::format("{} of {} instructions of subsystem {} do not fit its scope ({})",
                            total - agree, total, subsystem.name, to_string(subsystem.scope)));
    }
}

}  // namespace occupipe

// SPDX-License-Identifier: MIT
#include "fit/structure/subsystems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/instruction.h"

namespace occupipe {
namespace {

constexpr double most_certain = 6.9;  // log(1000)
// Odds, before any mix is seen, that some instruction belongs to no one subsystem alone.
constexpr double odds_of_inexact = 0.05;

// A pair that every law misses by more has no place in a partition; log(20) for that, and for a law
// that holds only if an instruction's λ in the mix is another than alone.
constexpr double no_law = 0.05;
constexpr double strained = 2;
constexpr double odds_of_no_law = 3;

// Whether a partition would have to explain away what the pair shows.
bool is_unexplained(const MixFit& mix) {
    return mix.overlap || mix.missed > no_law || mix.scale > strained;
}

double log_odds(const MixFit& mix) {
    const double margin = mix.overlap ? mix.margin : mix.shared_margin;
    return std::min(0.5 * margin, most_certain);
}

// Classes of the instructions that mixes have touched, and how well they agree with the mixes.
class PairMatrix {
public:
    explicit PairMatrix(std::vector<const MixFit*> decided) : mixes_(std::move(decided)) {
        for (const MixFit* mix : mixes_)
            for (const std::string& name : {mix->first, mix->second})
                if (!class_of_.contains(name)) class_of_[name] = next_++;
    }

    // The most certain first; a mix that would contradict one before it changes nothing.
    void join_by_certainty() {
        std::set<std::pair<int, int>> apart;
        for (const MixFit* mix : mixes_) {
            const int a = class_of_.at(mix->first);
            const int b = class_of_.at(mix->second);
            if (a == b) continue;
            if (!*mix->shared) {
                apart.insert({std::min(a, b), std::max(a, b)});
                continue;
            }
            if (apart.contains({std::min(a, b), std::max(a, b)})) continue;
            for (auto& [name, c] : class_of_)
                if (c == b) c = a;
            std::set<std::pair<int, int>> moved;
            for (auto [x, y] : apart) {
                if (x == b) x = a;
                if (y == b) y = a;
                moved.insert({std::min(x, y), std::max(x, y)});
            }
            apart = std::move(moved);
        }
    }

    // Every step gains, and there are finitely many partitions.
    void improve() {
        for (bool moved = true; moved;) {
            moved = false;
            for (auto& [name, c] : class_of_)
                for (const int other : alternatives(name))
                    if (gain(name, other) > 1e-9) {
                        c = other < 0 ? next_++ : other;
                        moved = true;
                    }
        }
    }

    // Log odds that moving `name` to `other` (-1: a class of its own) gains.
    double gain(const std::string& name, int other) const {
        double sum = 0;
        for (const MixFit* mix : mixes_) {
            if (mix->first != name && mix->second != name) continue;
            const std::string& fellow = mix->first == name ? mix->second : mix->first;
            const bool before = class_of_.at(fellow) == class_of_.at(name);
            const bool after = class_of_.at(fellow) == other;
            if (before != after) sum += (after == *mix->shared ? 1 : -1) * log_odds(*mix);
        }
        return sum;
    }

    // Classes of which a member was mixed with `name`, and a class of its own.
    std::vector<int> alternatives(const std::string& name) const {
        const int mine = class_of_.at(name);
        std::set<int> out;
        for (const MixFit* mix : mixes_) {
            if (mix->first != name && mix->second != name) continue;
            const std::string& fellow = mix->first == name ? mix->second : mix->first;
            const int theirs = class_of_.at(fellow);
            out.insert(theirs == mine ? -1 : theirs);
        }
        return {out.begin(), out.end()};
    }

    // The partition after such a move, as classes numbered in order of first appearance.
    std::vector<int> after(const std::string& name, int other) const {
        std::map<int, int> number;
        std::vector<int> out;
        for (const auto& [member, c] : class_of_) {
            const int moved = member == name ? other : c;
            out.push_back(number.try_emplace(moved, static_cast<int>(number.size())).first->second);
        }
        return out;
    }

    bool agrees(const MixFit& mix) const {
        return (class_of_.at(mix.first) == class_of_.at(mix.second)) == *mix.shared;
    }
    const std::map<std::string, int>& classes() const { return class_of_; }
    const std::vector<const MixFit*>& mixes() const { return mixes_; }

private:
    std::vector<const MixFit*> mixes_;  // most certain first
    std::map<std::string, int> class_of_;
    int next_ = 0;
};

// Sets of instructions, and pairs of sets that must stay apart.
class Partition {
public:
    // `partial`: pairs that hide a part of each other's time. They are neither one subsystem nor
    // two, so no assumption may make them one.
    Partition(std::span<const std::string> instructions, const PairMatrix& matrix,
              std::span<const MixFit* const> partial) {
        for (const std::string& name : instructions) parent_[name] = name;
        std::map<int, std::string> first;
        for (const auto& [name, c] : matrix.classes())
            parent_[name] = first.try_emplace(c, name).first->second;
        for (const MixFit* mix : matrix.mixes())
            if (!*mix->shared && find(mix->first) != find(mix->second))
                apart_.insert(ordered(find(mix->first), find(mix->second)));
        for (const MixFit* mix : partial)
            if (mix->overlap && find(mix->first) != find(mix->second))
                apart_.insert(ordered(find(mix->first), find(mix->second)));
    }

    std::string find(const std::string& name) const {
        std::string at = name;
        while (parent_.at(at) != at) at = parent_.at(at);
        return at;
    }

    bool join(const std::string& a, const std::string& b) {
        const std::string ra = find(a);
        const std::string rb = find(b);
        if (ra == rb) return true;
        if (apart_.contains(ordered(ra, rb))) return false;
        parent_[rb] = ra;
        std::set<std::pair<std::string, std::string>> moved;
        for (const auto& [x, y] : apart_) moved.insert(ordered(find(x), find(y)));
        apart_ = std::move(moved);
        return true;
    }

private:
    static std::pair<std::string, std::string> ordered(std::string a, std::string b) {
        if (b < a) std::swap(a, b);
        return {std::move(a), std::move(b)};
    }

    std::map<std::string, std::string> parent_;
    std::set<std::pair<std::string, std::string>> apart_;
};

PairMatrix matrix_of(std::span<const std::string> instructions, std::span<const MixFit> mixes) {
    const std::set<std::string> known(instructions.begin(), instructions.end());
    std::vector<const MixFit*> decided;
    for (const MixFit& mix : mixes)
        if (mix.ok && mix.shared && mix.first != mix.second && known.contains(mix.first) &&
            known.contains(mix.second))
            decided.push_back(&mix);
    std::stable_sort(decided.begin(), decided.end(), [](const MixFit* a, const MixFit* b) {
        return a->shared_margin > b->shared_margin;
    });
    PairMatrix matrix(std::move(decided));
    matrix.join_by_certainty();
    matrix.improve();
    return matrix;
}

// Mixes that no partition into subsystems explains: the two hide a part of each other's time, or no
// law comes near.
std::vector<const MixFit*> partial_overlaps(std::span<const std::string> instructions,
                                            std::span<const MixFit> mixes) {
    const std::set<std::string> known(instructions.begin(), instructions.end());
    std::vector<const MixFit*> out;
    for (const MixFit& mix : mixes)
        if (mix.ok && !mix.shared && is_unexplained(mix) && mix.first != mix.second &&
            known.contains(mix.first) && known.contains(mix.second))
            out.push_back(&mix);
    return out;
}

// Posterior odds against every neighbouring partition, each once; a move counts for the class that
// the instruction would leave and for the one that it would enter.
// A mix that contradicts the partition is wrong by accident, with the odds of its margin, or shows
// that there is no exact one.
void fill_confidence(const PairMatrix& matrix, std::span<const MixFit* const> partial,
                     SubsystemMap& out) {
    if (matrix.classes().empty()) return;
    std::map<int, std::string> subsystem_of_class;
    for (const auto& [name, c] : matrix.classes())
        subsystem_of_class[c] = out.subsystem_of.at(name);
    std::map<std::string, double> against;
    double all = 0;
    std::set<std::vector<int>> seen;
    for (const auto& [name, c] : matrix.classes())
        for (const int other : matrix.alternatives(name)) {
            if (!seen.insert(matrix.after(name, other)).second) continue;
            const double odds = std::exp(matrix.gain(name, other));
            all += odds;
            against[subsystem_of_class.at(c)] += odds;
            if (other >= 0) against[subsystem_of_class.at(other)] += odds;
        }
    // By instruction and class: log odds that it takes a part of that class's unit as well (or less
    // than all of its own). Of pairs that one law explains those that agree with the partition
    // weigh against those that do not; a pair that no law explains is not taken back by another
    // that some law does, since a part of a unit shows in one mix and hides in the next.
    std::map<std::pair<std::string, int>, double> evidence;
    std::map<std::pair<std::string, int>, double> unexplained;
    const auto add = [&](const MixFit& mix, double log_odds, auto& to) {
        for (const auto& [one, other] :
             {std::pair{mix.first, mix.second}, std::pair{mix.second, mix.first}})
            if (matrix.classes().contains(one) && matrix.classes().contains(other))
                to[{one, matrix.classes().at(other)}] += log_odds;
    };
    for (const MixFit* mix : matrix.mixes()) {
        if (is_unexplained(*mix)) {
            add(*mix, odds_of_no_law, unexplained);
        } else {
            add(*mix, matrix.agrees(*mix) ? -log_odds(*mix) : log_odds(*mix), evidence);
        }
    }
    for (const MixFit* mix : partial)
        add(*mix, mix->overlap ? log_odds(*mix) : odds_of_no_law, unexplained);
    for (const auto* places : {&evidence, &unexplained})
        for (const auto& [where, log_odds] : *places) {
            if (log_odds <= 0) continue;
            const double odds = odds_of_inexact * std::exp(log_odds);
            const std::set<std::string> touched{out.subsystem_of.at(where.first),
                                                subsystem_of_class.at(where.second)};
            all += odds;
            for (const std::string& subsystem : touched) against[subsystem] += odds;
        }
    out.confidence = 1 / (1 + all);
    for (const auto& [subsystem, odds] : against) out.confidence_of[subsystem] = 1 / (1 + odds);
}

std::string describe(const MixFit& mix) {
    return fmt::format("{} and {}: {} (margin {:.3g})", mix.first, mix.second,
                       *mix.shared ? "one subsystem" : "two subsystems", mix.shared_margin);
}

}  // namespace

std::string assumed_subsystem(std::string_view instruction) {
    const auto starts = [&](std::string_view prefix) { return instruction.starts_with(prefix); };
    switch (kind_of(instruction)) {
        case InstructionKind::barrier:
            return "barrier";
        case InstructionKind::load:
        case InstructionKind::store:
            break;
        case InstructionKind::compute: {
            if (starts("atom.shared") || starts("red.shared")) return "shared";
            if (starts("atom.") || starts("red.")) return "mem";
            static constexpr std::array<std::string_view, 9> special{
                "sin.", "cos.", "ex2.", "lg2.", "rcp.", "rsqrt.", "tanh.", "sqrt.approx", "ex2"};
            const bool approximate = instruction.find(".approx") != std::string_view::npos;
            if (approximate && std::any_of(special.begin(), special.end(), starts)) return "sfu";
            return instruction.ends_with(".f64") ? "fp64" : "alu";
        }
    }
    return instruction.find(".shared") != std::string_view::npos ? "shared" : "mem";
}

std::string_view SubsystemMap::decided_by(const std::string& subsystem) const {
    if (const auto it = measured.find(subsystem); it != measured.end() && it->second)
        return "mixes";
    return split_by_scope.contains(subsystem) ? "instruction class and scope" : "instruction class";
}

SubsystemMap assign_subsystems(std::span<const std::string> instructions,
                               std::span<const MixFit> mixes) {
    SubsystemMap out;
    const PairMatrix matrix = matrix_of(instructions, mixes);
    for (const MixFit* mix : matrix.mixes())
        if (!matrix.agrees(*mix))
            out.disagreements.push_back(describe(*mix) + " contradicts more certain mixes");
    const std::vector<const MixFit*> partial = partial_overlaps(instructions, mixes);
    Partition partition(instructions, matrix, partial);
    std::set<std::string>& witnessed = out.witnessed;
    for (const auto& [name, c] : matrix.classes()) witnessed.insert(name);
    // Assumptions join the rest, where no mix forbids it: witnessed instructions first, so that an
    // assumed class gathers around a measured one.
    std::map<std::string, std::vector<std::string>> members;  // assumed class → instructions
    for (const bool first_pass : {true, false})
        for (const std::string& name : instructions)
            if (witnessed.contains(name) == first_pass)
                members[assumed_subsystem(name)].push_back(name);
    for (const auto& [subsystem, names] : members)
        for (std::size_t i = 1; i < names.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (partition.join(names[j], names[i])) break;
    // Names: the class of the set's first instruction; a class split by mixes gets numbers.
    std::map<std::string, std::string> name_of;
    std::map<std::string, int> used;
    for (const std::string& name : instructions) {
        const std::string root = partition.find(name);
        if (!name_of.contains(root)) {
            const std::string base = assumed_subsystem(name);
            const int n = ++used[base];
            name_of[root] = n == 1 ? base : fmt::format("{}{}", base, n);
        }
        out.subsystem_of[name] = name_of.at(root);
        out.measured[name_of.at(root)] |= witnessed.contains(name);
    }
    fill_confidence(matrix, partial, out);
    return out;
}

}  // namespace occupipe

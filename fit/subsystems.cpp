// SPDX-License-Identifier: MIT
#include "fit/subsystems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/instruction.h"

namespace occupipe {
namespace {

// Sets of instructions, and pairs of sets that must stay apart.
class Partition {
public:
    explicit Partition(std::span<const std::string> instructions) {
        for (const std::string& name : instructions) parent_[name] = name;
    }

    bool knows(const std::string& name) const { return parent_.contains(name); }

    std::string find(const std::string& name) const {
        std::string at = name;
        while (parent_.at(at) != at) at = parent_.at(at);
        return at;
    }

    bool apart(const std::string& a, const std::string& b) const {
        return apart_.contains(ordered(find(a), find(b)));
    }

    bool join(const std::string& a, const std::string& b) {
        const std::string ra = find(a);
        const std::string rb = find(b);
        if (ra == rb) return true;
        if (apart(a, b)) return false;
        parent_[rb] = ra;
        std::set<std::pair<std::string, std::string>> moved;
        for (const auto& [x, y] : apart_) moved.insert(ordered(find(x), find(y)));
        apart_ = std::move(moved);
        return true;
    }

    bool separate(const std::string& a, const std::string& b) {
        if (find(a) == find(b)) return false;
        apart_.insert(ordered(find(a), find(b)));
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

SubsystemMap assign_subsystems(std::span<const std::string> instructions,
                               std::span<const MixFit> mixes) {
    SubsystemMap out;
    Partition partition(instructions);
    std::vector<const MixFit*> decided;
    for (const MixFit& mix : mixes)
        if (mix.ok && mix.shared && partition.knows(mix.first) && partition.knows(mix.second))
            decided.push_back(&mix);
    std::stable_sort(decided.begin(), decided.end(), [](const MixFit* a, const MixFit* b) {
        return a->shared_margin > b->shared_margin;
    });
    std::set<std::string> witnessed;
    for (const MixFit* mix : decided) {
        const bool done = *mix->shared ? partition.join(mix->first, mix->second)
                                       : partition.separate(mix->first, mix->second);
        if (done) {
            witnessed.insert({mix->first, mix->second});
        } else {
            out.disagreements.push_back(describe(*mix) + " contradicts more certain mixes");
        }
    }
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
    return out;
}

}  // namespace occupipe

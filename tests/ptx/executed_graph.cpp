// SPDX-License-Identifier: MIT
#include "tests/ptx/executed_graph.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace occupipe::ptx {
namespace {

class Comparison {
public:
    Comparison(const Program& program, const std::vector<Executed>& trace, const Idg& graph,
               const std::map<std::string, Spelling>& spellings,
               const std::vector<std::string>& control)
        : program_(program),
          trace_(trace),
          graph_(graph),
          spellings_(spellings),
          control_(control),
          node_of_(trace.size(), -1) {}

    std::vector<std::string> run() {
        find_loop();
        match_control();
        if (match_steps()) compare_edges();
        return found_;
    }

private:
    const std::string& opcode(std::size_t place) const {
        return program_.code[trace_[place].at].opcode;
    }
    const std::string& op(std::size_t node) const {
        return graph_.ops[static_cast<std::size_t>(graph_.nodes[node].op)].name;
    }
    bool is_control(std::size_t node) const {
        return std::ranges::find(control_, op(node)) != control_.end() &&
               in_control_.contains(node);
    }
    void differ(const std::string& what) { found_.push_back(what); }

    // The backward branch that encloses all others is the timed loop's.
    void find_loop() {
        for (const Executed& one : trace_) {
            const Instruction& text = program_.code[one.at];
            if (text.words.front() == "bra" && text.target <= one.at)
                last_ = std::max(last_.value_or(0), one.at);
        }
        if (!last_) return;
        for (std::size_t i = 0; i < trace_.size(); ++i) {
            if (trace_[i].at != *last_) continue;
            const auto compared = only_need(i, "setp");
            const auto counted = compared ? only_need(*compared, "add") : std::nullopt;
            if (!compared || !counted) return differ("the loop's branch waits for no count");
            loop_.push_back({*counted, *compared, i});
        }
    }

    // The one execution of this kind whose result it reads.
    std::optional<std::size_t> only_need(std::size_t place, const std::string& word) const {
        std::optional<std::size_t> found;
        for (const int need : trace_[place].needs) {
            const auto at = static_cast<std::size_t>(need);
            if (program_.code[trace_[at].at].words.front() != word) continue;
            if (found) return std::nullopt;
            found = at;
        }
        return found;
    }

    // Each iteration's addition needs the one before; in the graph as in the trace.
    void match_control() {
        std::vector<std::vector<std::size_t>> nodes(control_.size());
        // In the graph the loop's own are those on the slice of its branch.
        for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
            if (control_.empty() || op(node) != control_.back()) continue;
            std::size_t at = node;
            for (std::size_t k = control_.size(); k-- > 0;) {
                nodes[k].push_back(at);
                in_control_.insert(at);
                if (k > 0) at = need_named(at, control_[k - 1]).value_or(at);
            }
        }
        const std::size_t iterations = nodes.empty() ? 0 : nodes.back().size();
        if (iterations != loop_.size())
            differ("the graph has " + std::to_string(iterations) + " iterations, executed were " +
                   std::to_string(loop_.size()));
        for (std::size_t i = 0; i < loop_.size(); ++i) {
            for (std::size_t k = 0; k < loop_[i].size(); ++k) {
                ours_.insert(loop_[i][k]);
                if (opcode(loop_[i][k]).rfind(control_.at(k), 0) != 0)
                    differ("the loop executes " + opcode(loop_[i][k]) + ", the graph has " +
                           control_[k]);
            }
            if (i == 0) continue;
            const auto& needs = trace_[loop_[i].front()].needs;
            if (std::ranges::find(needs, static_cast<int>(loop_[i - 1].front())) == needs.end())
                differ("the loop's addition does not need the one before");
        }
    }

    std::optional<std::size_t> need_named(std::size_t node, const std::string& name) const {
        for (const std::int32_t from : predecessors(node))
            if (op(static_cast<std::size_t>(from)) == name) return static_cast<std::size_t>(from);
        return std::nullopt;
    }

    std::vector<std::int32_t> predecessors(std::size_t node) const {
        const Idg::Node& n = graph_.nodes[node];
        const auto begin = graph_.predecessors.begin() + n.first_predecessor;
        return {begin, begin + n.predecessor_count};
    }

    bool match_steps() {
        std::set<std::string> counted;
        for (const auto& [name, spelling] : spellings_) counted.insert(spelling.opcode);
        std::vector<std::size_t> places;
        // Before the loop stands a comparison, behind it the chains' results are put together.
        for (std::size_t i = 0; i < trace_.size(); ++i) {
            const bool inside =
                !last_ || (trace_[i].at <= *last_ && trace_[i].at >= program_.code[*last_].target);
            if (inside && counted.contains(opcode(i)) && !ours_.contains(i)) places.push_back(i);
        }
        std::size_t next = 0;
        std::size_t iteration = 0;
        for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
            if (is_control(node)) {
                iteration += op(node) == control_.back() ? 1 : 0;
                continue;
            }
            const Spelling& spelling = spellings_.at(op(node));
            for (int i = 0; i < spelling.count; ++i, ++next) {
                if (next == places.size()) {
                    differ("executed were fewer than the graph's steps");
                    return false;
                }
                if (opcode(places[next]) != spelling.opcode) {
                    differ("step " + std::to_string(node) + " is " + op(node) + ", executed was " +
                           opcode(places[next]));
                    return false;
                }
                node_of_[places[next]] = static_cast<int>(node);
                // The branch before it and no later one.
                const bool early = iteration > 0 && iteration <= loop_.size() &&
                                   places[next] < loop_[iteration - 1].back();
                const bool late =
                    iteration < loop_.size() && places[next] > loop_[iteration].back();
                if (early || late) {
                    differ("step " + std::to_string(node) + " belongs to another iteration");
                    return false;
                }
            }
        }
        if (next != places.size()) {
            differ("executed were " + std::to_string(places.size() - next) +
                   " steps more than the graph has");
            return false;
        }
        return true;
    }

    // The steps whose results an execution needs, through whatever stands between.
    void collect(std::size_t place, int own, std::set<int>& nodes, std::set<int>& seen) const {
        for (const int need : trace_[place].needs) {
            if (!seen.insert(need).second) continue;
            const auto at = static_cast<std::size_t>(need);
            if (node_of_[at] >= 0 && node_of_[at] != own)
                nodes.insert(node_of_[at]);
            else
                collect(at, own, nodes, seen);
        }
    }

    void compare_edges() {
        std::map<int, std::pair<std::set<int>, std::set<int>>> needed;  // by node; seen
        for (std::size_t i = 0; i < trace_.size(); ++i) {
            if (node_of_[i] < 0) continue;
            auto& [nodes, seen] = needed[node_of_[i]];
            collect(i, node_of_[i], nodes, seen);
        }
        // What the graph waits for through other instructions (add.s64, whose carry and halves
        // come on different ways), by node.
        std::vector<std::vector<bool>> before;
        for (const auto& [node, sets] : needed) {
            const auto at = static_cast<std::size_t>(node);
            std::set<int> wanted;
            for (const std::int32_t from : predecessors(at))
                if (!is_control(static_cast<std::size_t>(from))) wanted.insert(from);
            for (auto next = before.size(); next <= at; ++next) {
                std::vector<bool>& all = before.emplace_back(next + 1);
                for (const std::int32_t from : predecessors(next)) {
                    const auto direct = static_cast<std::size_t>(from);
                    if (is_control(direct)) continue;
                    for (std::size_t i = 0; i <= direct; ++i)
                        if (i == direct || before[direct][i]) all[i] = true;
                }
            }
            const auto implied = [&](int from) {
                return from < node && before[at][static_cast<std::size_t>(from)];
            };
            for (const int from : sets.first)
                if (!implied(from) && !accumulates(from, node))
                    differ(edge(from, node) + " is not in the graph");
            for (const int from : wanted) {
                const bool waits = spellings_.at(op(static_cast<std::size_t>(from))).waits;
                if (!sets.first.contains(from) && !waits)
                    differ(edge(from, node) + " is in the graph alone");
            }
        }
    }

    bool accumulates(int from, int to) const {
        const std::string& name = op(static_cast<std::size_t>(to));
        return name == op(static_cast<std::size_t>(from)) && spellings_.at(name).accumulates;
    }

    std::string edge(int from, int to) const {
        return "dependence of " + op(static_cast<std::size_t>(to)) + " " + std::to_string(to) +
               " on " + op(static_cast<std::size_t>(from)) + " " + std::to_string(from);
    }

    const Program& program_;
    const std::vector<Executed>& trace_;
    const Idg& graph_;
    const std::map<std::string, Spelling>& spellings_;
    const std::vector<std::string>& control_;
    std::optional<std::size_t> last_;             // the loop's branch in the text
    std::vector<int> node_of_;                    // by place in the trace; -1: no step's
    std::vector<std::vector<std::size_t>> loop_;  // by iteration: places of its control
    std::set<std::size_t> ours_;                  // of the loop's control, in the trace
    std::set<std::size_t> in_control_;            // and in the graph
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> differences(const Program& program, const std::vector<Executed>& trace,
                                     const Idg& graph,
                                     const std::map<std::string, Spelling>& spellings,
                                     const std::vector<std::string>& control) {
    return Comparison(program, trace, graph, spellings, control).run();
}

}  // namespace occupipe::ptx

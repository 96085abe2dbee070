// SPDX-License-Identifier: MIT
#include "sim/program/loop_program.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/program/lowered.h"

namespace occupipe::sim {
namespace {

// How many instances of the program of unordered_barriers() are looked at, about.
constexpr std::int64_t max_short_instances = 100'000;

std::vector<std::int32_t> loops_around(const LoopProgram& program, std::int32_t stream) {
    std::vector<std::int32_t> path;
    for (std::int32_t l = program.streams[stream].loop; l >= 0; l = program.loops[l].parent)
        path.insert(path.begin(), l);
    return path;
}

// Divisor and multiplier again, for the cut trip counts.
void shorten(const LoopProgram& program, LoopProgram::Edge& edge, std::int64_t longest_back) {
    const auto user = loops_around(program, edge.user);
    const auto producer = loops_around(program, edge.producer);
    const auto fork = std::mismatch(user.begin(), user.end(), producer.begin(), producer.end());
    edge.divisor = edge.multiplier = 1;
    for (auto l = fork.first; l != user.end(); ++l) edge.divisor *= program.loops[*l].count;
    for (auto l = fork.second; l != producer.end(); ++l) edge.multiplier *= program.loops[*l].count;
    if (edge.restart != 0) edge.restart = program.loops[*(fork.first - 1)].count;
    if (edge.back > longest_back) edge.back = longest_back + 3;  // never there
}

// The dependences of the program with short loops. A path between two instances there is a path
// between the corresponding ones of the whole program.
class ShortGraph {
public:
    explicit ShortGraph(const LoopProgram& program, std::int64_t longest_back = 1)
        : program_(with_short_loops(program, longest_back)) {}

    std::int64_t instances(std::int32_t stream) const { return program_.streams[stream].instances; }

    std::int64_t program_index(std::int32_t stream, std::int64_t instance) const {
        return program_.program_index(stream, instance);
    }

    using Instance = std::pair<std::int32_t, std::int64_t>;  // stream, number

    // Does `from` have to complete before `to` issues?
    bool path(const Instance& from, const Instance& to) const {
        const std::int64_t earliest = program_index(from.first, from.second);
        std::vector<Instance> open{to};
        std::set<Instance> seen;
        while (!open.empty()) {
            const auto [stream, number] = open.back();
            open.pop_back();
            const auto& s = program_.streams[stream];
            for (std::int32_t e = s.first_edge; e < s.first_edge + s.edge_count; ++e) {
                const auto& edge = program_.edges[e];
                const Instance before{edge.producer, edge.required(number) - 1};
                if (before == from) return true;
                if (before.second < 0 || program_index(before.first, before.second) < earliest)
                    continue;
                if (seen.insert(before).second) open.push_back(before);
            }
        }
        return false;
    }

private:
    LoopProgram program_;
};

bool is_chain(const ShortGraph& graph, std::int32_t stream) {
    for (std::int64_t j = 0; j + 1 < graph.instances(stream); ++j)
        if (!graph.path({stream, j}, {stream, j + 1})) return false;
    return true;
}

// Streams whose instances might not issue in order. A stream is in order when each instance
// depends on the one before, or when all it waits for is in order and never drops out again: by
// induction over program order no instance is then ready before the one ahead of it, which wins
// on a tie.
std::vector<bool> out_of_order_streams(const LoopProgram& program) {
    const ShortGraph graph(program);
    const std::size_t count = program.streams.size();
    std::vector<bool> out(count, false);
    std::vector<std::optional<bool>> chain(count);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t s = 0; s < count; ++s) {
            const auto& stream = program.streams[s];
            if (out[s] || stream.instances == 1) continue;
            const auto first = program.edges.begin() + stream.first_edge;
            const bool safe = std::none_of(first, first + stream.edge_count, [&](const auto& edge) {
                return edge.restart != 0 || out[edge.producer];
            });
            if (safe) continue;
            if (!chain[s]) chain[s] = is_chain(graph, static_cast<std::int32_t>(s));
            if (*chain[s]) continue;
            out[s] = changed = true;
        }
    }
    return out;
}

// The loops to replicate next: those whose iterations restart a dependence of such a stream.
std::set<std::int32_t> restarting_loops(const Lowered& lowered) {
    std::set<std::int32_t> loops;
    const LoopProgram& program = lowered.program;
    const auto out = out_of_order_streams(program);
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
        if (!out[s]) continue;
        const auto& stream = program.streams[s];
        for (std::int32_t e = stream.first_edge; e < stream.first_edge + stream.edge_count; ++e) {
            const auto& edge = program.edges[e];
            if (edge.restart == 0) continue;
            // The common loop is the innermost one around both; its parent restarts it.
            std::int32_t common = stream.loop;
            const auto holds = [&](std::int32_t loop) {
                return program.loops[loop].first <= edge.producer &&
                       edge.producer < program.loops[loop].last;
            };
            while (!holds(common)) common = program.loops[common].parent;
            loops.insert(lowered.source[program.loops[common].parent]);
        }
    }
    return loops;
}

// The longest distance of a dependence `NAME@-N`, as far as the program with loops that are long
// enough for it stays small; at least 1.
std::int64_t longest_back_of(const LoopProgram& program) {
    std::set<std::int64_t> distances{1};
    for (const auto& edge : program.edges) distances.insert(edge.back);
    for (auto distance = distances.rbegin(); *distance > 1; ++distance) {
        double instances = 0;
        for (std::int32_t s = 0; s < static_cast<std::int32_t>(program.streams.size()); ++s) {
            double own = 1;
            for (const std::int32_t l : loops_around(program, s))
                own *= static_cast<double>(std::min(program.loops[l].count, *distance + 2));
            instances += own;
        }
        if (instances <= max_short_instances) return *distance;
    }
    return 1;
}

}  // namespace

LoopProgram with_short_loops(LoopProgram program, std::int64_t longest_back) {
    for (auto& loop : program.loops) loop.count = std::min(loop.count, longest_back + 2);
    for (auto& stream : program.streams) {
        stream.instances = 1;
        for (std::int32_t l = stream.loop; l >= 0; l = program.loops[l].parent)
            stream.instances *= program.loops[l].count;
    }
    for (auto& edge : program.edges) shorten(program, edge, longest_back);
    return program;
}

std::int64_t LoopProgram::program_index(std::int32_t stream, std::int64_t instance) const {
    std::int64_t index = streams[stream].offset;
    for (std::int32_t l = streams[stream].loop; l >= 0; l = loops[l].parent) {
        index += (instance % loops[l].count) * loops[l].length;
        instance /= loops[l].count;
    }
    return index;
}

std::optional<UnorderedBarriers> unordered_barriers(const LoopProgram& program,
                                                    const Machine& machine) {
    const ShortGraph graph(program, longest_back_of(program));
    std::map<std::int64_t, std::pair<std::int32_t, std::int64_t>> barriers;  // in program order
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
        if (machine.ops[program.streams[s].op].kind != InstructionKind::barrier) continue;
        const auto stream = static_cast<std::int32_t>(s);
        for (std::int64_t j = 0; j < graph.instances(stream); ++j)
            barriers[graph.program_index(stream, j)] = {stream, j};
    }
    if (barriers.empty()) return std::nullopt;
    for (auto before = barriers.begin(), after = std::next(before); after != barriers.end();
         before = after++)
        if (!graph.path(before->second, after->second)) {
            // From later in the text: of the loop's previous iteration.
            const std::int32_t from = before->second.first;
            const std::int32_t to = after->second.first;
            return UnorderedBarriers{program.ids[to], program.ids[from] + (from < to ? "" : "@-1")};
        }
    return std::nullopt;
}

LoopProgram build_loop_program(const ResolvedProgram& program, const Machine& machine,
                               Order order) {
    std::set<std::int32_t> replicated;
    while (true) {
        Lowered lowered = lower(program, replicated, machine);
        if (order == Order::in_order) return std::move(lowered.program);
        const auto more = restarting_loops(lowered);
        if (more.empty()) return std::move(lowered.program);
        replicated.insert(more.begin(), more.end());
    }
}

}  // namespace occupipe::sim

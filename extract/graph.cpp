// SPDX-License-Identifier: MIT
#include "extract/graph.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace occupipe::extract {
namespace {

// Loops by number and the iteration in which something was executed, outermost first. Two
// iterations of each are walked, the first and one of those that follow, which are all alike; more
// where asynchronous copies are awaited that were begun several iterations before.
struct Round {
    std::uint32_t loop;
    std::int32_t iteration;
};

struct Instance {
    std::uint32_t node = 0;
    std::uint64_t time = 0;  // position in the walk
    std::vector<Round> rounds;
};

struct Writer {
    Instance instance;
    std::uint32_t lanes = 0;
};

class Walk {
public:
    Walk(std::span<const StreamInstruction> instructions, std::span<const CodeFacts> code)
        : instructions_(instructions), code_(code) {
        // A wait that leaves n groups of copies under way may wait for an iteration n + 1 before.
        // Nested loops multiply the walk; nobody has more stages under way than this.
        constexpr std::size_t most_stages = 7;
        if (std::ranges::none_of(code, &CodeFacts::copies)) return;
        for (const CodeFacts& one : code)
            if (one.leaves && *one.leaves > 0)
                rounds_walked_ =
                    std::max(rounds_walked_,
                             static_cast<std::int64_t>(std::min(*one.leaves, most_stages)) + 3);
    }

    std::vector<GraphItem> run(std::span<const FoldedItem> items) {
        std::vector<GraphItem> graph = build(items);
        execute(graph);
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            nodes_[i]->after.assign(edges_[i].begin(), edges_[i].end());
        return graph;
    }

    // Loops, in program order, whose first iteration waits for what only an outer one can name.
    const std::set<std::uint32_t>& unsayable() const { return unsayable_; }

private:
    std::vector<GraphItem> build(std::span<const FoldedItem> items) {
        std::vector<GraphItem> graph;
        graph.reserve(items.size());
        for (const FoldedItem& item : items) {
            if (const auto* loop = std::get_if<FoldedLoop>(&item)) {
                graph.emplace_back(GraphLoop{loop->count, build(loop->body)});
                continue;
            }
            GraphNode node;
            node.number = node_count_++;
            node.what = instructions_[std::get<std::uint32_t>(item)];
            graph.emplace_back(std::move(node));
        }
        return graph;
    }

    void execute(std::vector<GraphItem>& graph) {
        nodes_.resize(node_count_);
        edges_.resize(node_count_);
        walk(graph);
    }

    void walk(std::vector<GraphItem>& items) {
        for (GraphItem& item : items) {
            if (auto* loop = std::get_if<GraphLoop>(&item)) {
                const std::uint32_t number = loop_number(*loop);
                rounds_.push_back({number, 0});
                for (; rounds_.back().iteration < std::min(loop->count, rounds_walked_);
                     ++rounds_.back().iteration)
                    walk(loop->body);
                rounds_.pop_back();
            } else {
                step(std::get<GraphNode>(item));
            }
        }
    }

    std::uint32_t loop_number(const GraphLoop& loop) {
        return loop_numbers_.try_emplace(&loop, static_cast<std::uint32_t>(loop_numbers_.size()))
            .first->second;
    }

    void step(GraphNode& node) {
        nodes_[node.number] = &node;
        const CodeFacts& facts = code_[node.what.code];
        const Instance self{node.number, ++time_, rounds_};
        std::uint64_t latest = 0;  // time of the latest that is waited for
        for (const RegisterName& name : facts.registers.read) {
            const auto found = writers_.find(name);
            if (found == writers_.end()) continue;
            for (const Writer& writer : found->second) {
                // Where the guard holds in no lane, its scoreboards are waited for all the same.
                if (node.what.active != 0 && (writer.lanes & node.what.active) == 0) continue;
                wait_for(self, writer.instance);
                latest = std::max(latest, writer.instance.time);
            }
        }
        if (branch_ && (branch_meets_ || facts.place != branch_at_ + 1)) wait_for(self, *branch_);
        branch_.reset();
        if (facts.branch) {
            branch_ = self;
            branch_at_ = facts.place;
            branch_meets_ = facts.meets;
        }
        if (barrier_ && (facts.barrier || latest < barrier_->time)) wait_for(self, *barrier_);
        if (facts.barrier) barrier_ = self;
        if (facts.ends_group) copied_.push_back(std::exchange(copies_, {}));
        for (; facts.leaves && copied_.size() > *facts.leaves; copied_.pop_front())
            for (const Instance& copy : copied_.front()) wait_for(self, copy);
        if (node.what.active == 0) return;
        if (facts.copies) copies_.push_back(self);
        for (const RegisterName& name : facts.registers.written) {
            std::vector<Writer>& writers = writers_[name];
            // The uniform datapath has one lane for all.
            const bool one_for_all = name.file == RegisterName::File::uniform ||
                                     name.file == RegisterName::File::uniform_predicate;
            const std::uint32_t lanes = one_for_all ? ~std::uint32_t{0} : node.what.active;
            for (Writer& writer : writers) writer.lanes &= ~lanes;
            std::erase_if(writers, [](const Writer& writer) { return writer.lanes == 0; });
            writers.push_back({self, lanes});
        }
    }

    void wait_for(const Instance& user, const Instance& writer) {
        std::size_t common = 0;
        while (common < user.rounds.size() && common < writer.rounds.size() &&
               user.rounds[common].loop == writer.rounds[common].loop)
            ++common;
        std::int32_t back = 0;
        for (std::size_t i = 0; i < common; ++i) {
            const std::int32_t apart = user.rounds[i].iteration - writer.rounds[i].iteration;
            if (apart == 0) continue;
            if (i + 1 < common) {
                // Another iteration of an outer loop, within the same inner one.
                unsayable_.insert(user.rounds[common - 1].loop);
                return;
            }
            back = apart;
        }
        edges_[user.node].insert({writer.node, back});
    }

    std::span<const StreamInstruction> instructions_;
    std::span<const CodeFacts> code_;
    std::int64_t rounds_walked_ = 2;  // of a loop: the first, and those that differ from later ones
    std::uint32_t node_count_ = 0;
    std::uint64_t time_ = 0;
    std::vector<GraphNode*> nodes_;
    std::vector<std::set<GraphEdge>> edges_;
    std::map<const GraphLoop*, std::uint32_t> loop_numbers_;
    std::vector<Round> rounds_;
    std::map<RegisterName, std::vector<Writer>> writers_;
    std::optional<Instance> barrier_;
    std::optional<Instance> branch_;  // if it is the instruction before
    std::uint32_t branch_at_ = 0;     // its place
    bool branch_meets_ = false;
    std::vector<Instance> copies_;              // of no group yet
    std::deque<std::vector<Instance>> copied_;  // groups under way
    std::set<std::uint32_t> unsayable_;
};

// Loops are numbered as Walk numbers them: when they are first entered, in program order.
std::vector<FoldedItem> peeled(std::span<const FoldedItem> items,
                               const std::set<std::uint32_t>& which, std::uint32_t& number) {
    std::vector<FoldedItem> result;
    for (const FoldedItem& item : items) {
        const auto* loop = std::get_if<FoldedLoop>(&item);
        if (!loop) {
            result.push_back(item);
            continue;
        }
        const bool peel = which.contains(number++);
        std::vector<FoldedItem> body = peeled(loop->body, which, number);
        if (!peel) {
            result.emplace_back(FoldedLoop{loop->count, std::move(body)});
            continue;
        }
        result.insert(result.end(), body.begin(), body.end());
        if (loop->count == 2)
            result.insert(result.end(), body.begin(), body.end());
        else if (loop->count > 2)
            result.emplace_back(FoldedLoop{loop->count - 1, std::move(body)});
    }
    return result;
}

}  // namespace

std::vector<GraphItem> dependence_graph(std::span<const FoldedItem> items,
                                        std::span<const StreamInstruction> instructions,
                                        std::span<const CodeFacts> code) {
    std::vector<FoldedItem> folded(items.begin(), items.end());
    while (true) {
        Walk walk(instructions, code);
        std::vector<GraphItem> graph = walk.run(folded);
        if (walk.unsayable().empty()) return graph;
        std::uint32_t number = 0;
        folded = peeled(folded, walk.unsayable(), number);
    }
}

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
#include "extract/kernel_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "extract/naming.h"

namespace occupipe::extract {
namespace {

// Waits for the other warps of its group.
bool is_barrier(const isa::Instruction& instruction) {
    return instruction.opcode == "BAR" && !instruction.has("ARV");
}

std::string lower(std::string_view text) {
    std::string result;
    for (const char c : text)
        result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

std::string with_modifiers(const isa::Instruction& instruction) {
    std::string text(instruction.opcode);
    for (const std::string_view modifier : instruction.modifiers) {
        text += '.';
        text += modifier;
    }
    return text;
}

std::int64_t barriers(std::span<const FoldedItem> items,
                      const std::vector<StreamInstruction>& instructions,
                      const std::vector<CodeFacts>& facts) {
    std::int64_t count = 0;
    for (const FoldedItem& item : items) {
        if (const auto* loop = std::get_if<FoldedLoop>(&item))
            count += loop->count * barriers(loop->body, instructions, facts);
        else
            count += facts[instructions[std::get<std::uint32_t>(item)].code].barrier ? 1 : 0;
    }
    return count;
}

// Adds how often a warp executes each machine instruction, by the name that the kernel gives it.
void count_names(std::span<const FoldedItem> items, double times,
                 const std::vector<StreamInstruction>& instructions,
                 const std::vector<isa::Instruction>& code, const std::vector<std::string>& ops,
                 std::map<std::string, std::map<std::string, double>>& names) {
    for (const FoldedItem& item : items) {
        if (const auto* loop = std::get_if<FoldedLoop>(&item)) {
            count_names(loop->body, times * static_cast<double>(loop->count), instructions, code,
                        ops, names);
            continue;
        }
        const std::uint32_t one = instructions[std::get<std::uint32_t>(item)].code;
        names[ops[one]][with_modifiers(code[one])] += times;
    }
}

class Writer {
public:
    Writer(const isa::Kernel& machine, const std::vector<isa::Instruction>& code,
           const std::vector<std::string>& ops)
        : machine_(machine), code_(code), ops_(ops) {}

    std::vector<KernelItem> run(const std::vector<GraphItem>& graph) {
        name_nodes(graph);
        return items(graph);
    }
    // After run().
    std::map<std::string, StreamInstruction> nodes() { return std::move(nodes_); }

private:
    void name_nodes(const std::vector<GraphItem>& graph) {
        for (const GraphItem& item : graph) {
            if (const auto* loop = std::get_if<GraphLoop>(&item)) {
                name_nodes(loop->body);
                continue;
            }
            const isa::Instruction& instruction = code_[std::get<GraphNode>(item).what.code];
            const int copy = ++copies_[instruction.address];
            ids_.push_back(
                fmt::format("{}.{:04x}", lower(instruction.opcode), instruction.address));
            if (copy > 1) ids_.back() += fmt::format(".{}", copy);
            nodes_[ids_.back()] = std::get<GraphNode>(item).what;
        }
    }

    std::vector<KernelItem> items(const std::vector<GraphItem>& graph) const {
        std::vector<KernelItem> result;
        result.reserve(graph.size());
        for (const GraphItem& item : graph) {
            if (const auto* loop = std::get_if<GraphLoop>(&item)) {
                result.emplace_back(Repeat{.count = loop->count, .body = items(loop->body)});
                continue;
            }
            const auto& node = std::get<GraphNode>(item);
            KernelInstruction one;
            one.id = ids_[node.number];
            one.op = ops_[node.what.code];
            const isa::Instruction& instruction = code_[node.what.code];
            one.at = isa::source_line(machine_, instruction.address);
            if (instruction.control.stall > 1) one.stall = instruction.control.stall;
            for (const GraphEdge& edge : node.after)
                one.after.push_back({ids_[edge.node], edge.iterations_back});
            result.emplace_back(std::move(one));
        }
        return result;
    }

    const isa::Kernel& machine_;
    const std::vector<isa::Instruction>& code_;
    const std::vector<std::string>& ops_;  // by index in the code
    std::map<std::int64_t, int> copies_;
    std::vector<std::string> ids_;  // by number of the node
    std::map<std::string, StreamInstruction> nodes_;
};

}  // namespace

NameOf names_known_to(std::set<std::string> known) {
    return [known = std::move(known)](const isa::Instruction& instruction) {
        const std::vector<std::string> names = profile_names(instruction);
        for (const std::string& name : names)
            if (known.contains(name)) return name;
        return names.front();
    };
}

namespace {

// How many barriers most of the executed instructions' warps have.
std::int64_t usual_barriers(const std::vector<WarpClass>& classes,
                            const std::vector<std::int64_t>& counts) {
    std::map<std::int64_t, double> executed;
    for (std::size_t i = 0; i < classes.size(); ++i)
        executed[counts[i]] += classes[i].weight * static_cast<double>(classes[i].instructions);
    return std::ranges::max_element(executed, {}, [](const auto& one) { return one.second; })
        ->first;
}

// For each class how much of the weight it stands for; 0: none.
std::vector<double> representatives(const std::vector<WarpClass>& classes, std::size_t most) {
    std::vector<double> weights;
    double all = 0;
    for (const WarpClass& one : classes) {
        weights.push_back(one.weight);
        all += one.weight;
    }
    if (classes.size() <= most) return weights;
    std::vector<std::size_t> rest;
    std::size_t left = most;
    double rest_weight = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        // The last slot is for the others, unless there are none.
        if (left > 1 && classes[i].weight * static_cast<double>(most) >= all) {
            --left;
            continue;
        }
        rest.push_back(i);
        rest_weight += classes[i].weight;
        weights[i] = 0;
    }
    std::ranges::stable_sort(rest, {}, [&](std::size_t i) { return classes[i].instructions; });
    std::size_t at = 0;
    double used = 0;
    for (std::size_t part = 1; part <= left && at < rest.size(); ++part) {
        const std::size_t begin = at;
        double weight = 0, executed = 0;
        // Up to where its share of the weight ends, and at least one class.
        const double end = rest_weight * static_cast<double>(part) / static_cast<double>(left);
        while (at < rest.size() &&
               (at == begin || part == left || used + classes[rest[at]].weight / 2 <= end)) {
            const WarpClass& one = classes[rest[at++]];
            weight += one.weight;
            used += one.weight;
            executed += one.weight * static_cast<double>(one.instructions);
        }
        const double mean = executed / weight;
        const auto nearest = std::ranges::min_element(
            rest.begin() + static_cast<std::ptrdiff_t>(begin),
            rest.begin() + static_cast<std::ptrdiff_t>(at), {}, [&](std::size_t i) {
                return std::pair(std::abs(static_cast<double>(classes[i].instructions) - mean),
                                 -classes[i].weight);
            });
        weights[*nearest] = weight;
    }
    return weights;
}

// The stream with the barriers behind the first `most` marked: their numbers in the code are higher
// by `marked`. The marked instructions join `instructions`.
std::vector<FoldedItem> with_marked_barriers(std::span<const FoldedItem> stream, std::int64_t most,
                                             std::uint32_t marked,
                                             std::vector<StreamInstruction>& instructions,
                                             const std::vector<CodeFacts>& facts) {
    std::map<std::uint32_t, std::uint32_t> mark_of;
    std::int64_t met = 0;
    Folder folder;
    unfold(stream, [&](std::uint32_t number) {
        const StreamInstruction what = instructions[number];
        if (facts[what.code].barrier && ++met > most) {
            const auto [place, is_new] =
                mark_of.try_emplace(number, static_cast<std::uint32_t>(instructions.size()));
            if (is_new) instructions.push_back({what.code + marked, what.active});
            number = place->second;
        }
        folder.add(number);
    });
    return folder.folded();
}

// `count` barriers that take an issue slot each, after what the list has.
void add_barriers(std::vector<KernelItem>& items, std::int64_t count,
                  const std::vector<std::string>& barrier_ops) {
    std::string last;
    for_each_instruction(items, [&](const KernelInstruction& one) {
        if (std::ranges::count(barrier_ops, one.op) != 0) last = one.id;
    });
    KernelInstruction barrier;
    barrier.id = "left";
    barrier.op = issue_slot;
    barrier.kind = InstructionKind::barrier;
    barrier.after.push_back({barrier.id, 1});
    if (!last.empty()) barrier.after.push_back({last, 0});
    items.emplace_back(Repeat{.count = count, .body = {barrier}});
}

}  // namespace

ExtractedKernel extract_kernel(const std::string& name, const StreamObserver::Streams& streams,
                               const isa::Kernel& machine,
                               const std::vector<isa::Instruction>& machine_code,
                               const NameOf& name_of, std::size_t most_classes) {
    // The code twice: the second time, barriers are issue slots.
    const auto size = static_cast<std::uint32_t>(machine_code.size());
    std::vector<isa::Instruction> code = machine_code;
    code.insert(code.end(), machine_code.begin(), machine_code.end());
    std::vector<CodeFacts> facts;
    std::vector<std::string> ops, barrier_ops;
    for (std::uint32_t i = 0; i < 2 * size; ++i) {
        const bool barrier = is_barrier(code[i]);
        facts.push_back({registers_of(code[i]), barrier && i < size});
        ops.push_back(barrier && i >= size ? std::string(issue_slot) : name_of(code[i]));
        if (facts.back().barrier) barrier_ops.push_back(ops.back());
    }

    double warps = 0, executed = 0;
    std::vector<std::int64_t> counts;  // barriers, by class
    for (const WarpClass& one : streams.classes) {
        warps += one.weight;
        executed += one.weight * static_cast<double>(one.instructions);
        counts.push_back(barriers(one.stream, streams.instructions, facts));
    }
    if (executed == 0) throw InputError(fmt::format("kernel '{}': nothing was executed", name));

    ExtractedKernel result;
    result.kernel.name = name;
    result.instructions = executed / warps;
    const std::int64_t usual = usual_barriers(streams.classes, counts);
    const std::vector<double> stand_for = representatives(streams.classes, most_classes);
    std::vector<StreamInstruction> instructions = streams.instructions;
    double own = 0;
    for (std::size_t i = 0; i < streams.classes.size(); ++i) {
        const WarpClass& one = streams.classes[i];
        const double share = stand_for[i] / warps;
        const bool taken = share > 0;
        result.classes.push_back({.share = one.weight / warps,
                                  .stands_for = share,
                                  .instructions = one.instructions,
                                  .first_group = one.first_group,
                                  .first_warp = one.first_warp,
                                  .taken = taken});
        if (!taken) continue;
        ExtractedClass& found = result.classes.back();
        found.barriers_added = std::max<std::int64_t>(usual - counts[i], 0);
        found.barriers_left_out = std::max<std::int64_t>(counts[i] - usual, 0);
        result.barriers_changed +=
            stand_for[i] * static_cast<double>(found.barriers_added + found.barriers_left_out) /
            executed;
        own += std::min(one.weight, stand_for[i]) * static_cast<double>(one.instructions);
        result.kernel_instructions += share * static_cast<double>(one.instructions);
        const std::vector<FoldedItem> stream =
            found.barriers_left_out > 0
                ? with_marked_barriers(one.stream, usual, size, instructions, facts)
                : one.stream;
        count_names(stream, share, instructions, code, ops, result.names);
        Writer writer(machine, code, ops);
        std::vector<KernelItem> items = writer.run(dependence_graph(stream, instructions, facts));
        result.nodes.push_back(writer.nodes());
        for (auto& [id, what] : result.nodes.back()) what.code %= size;
        if (found.barriers_added > 0) add_barriers(items, found.barriers_added, barrier_ops);
        result.kernel.warps.push_back({share, std::move(items)});
    }
    result.represented = own / executed;
    validate(result.kernel);
    return result;
}

}  // namespace occupipe::extract

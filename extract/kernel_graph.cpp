// SPDX-License-Identifier: MIT
#include "extract/kernel_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

ExtractedKernel extract_kernel(const std::string& name, const StreamObserver::Streams& streams,
                               const isa::Kernel& machine,
                               const std::vector<isa::Instruction>& code, const NameOf& name_of,
                               std::size_t most_classes) {
    std::vector<CodeFacts> facts;
    facts.reserve(code.size());
    std::vector<std::string> ops;
    ops.reserve(code.size());
    for (const isa::Instruction& one : code) {
        facts.push_back({registers_of(one), is_barrier(one)});
        ops.push_back(name_of(one));
    }

    double warps = 0, executed = 0;
    for (const WarpClass& one : streams.classes) {
        warps += one.weight;
        executed += one.weight * static_cast<double>(one.instructions);
    }
    if (executed == 0) throw InputError(fmt::format("kernel '{}': nothing was executed", name));

    ExtractedKernel result;
    result.kernel.name = name;
    std::optional<std::int64_t> barriers_of_all;
    double taken_warps = 0, taken_instructions = 0;
    std::vector<const WarpClass*> taken;
    for (const WarpClass& one : streams.classes) {
        const std::int64_t count = barriers(one.stream, streams.instructions, facts);
        if (!barriers_of_all) barriers_of_all = count;
        const bool take = taken.size() < most_classes && count == *barriers_of_all;
        result.classes.push_back({.share = one.weight / warps,
                                  .instructions = one.instructions,
                                  .first_group = one.first_group,
                                  .first_warp = one.first_warp,
                                  .taken = take});
        if (!take) continue;
        taken.push_back(&one);
        taken_warps += one.weight;
        taken_instructions += one.weight * static_cast<double>(one.instructions);
    }
    result.represented = taken_instructions / executed;

    for (const WarpClass* one : taken) {
        const double share = one->weight / taken_warps;
        count_names(one->stream, share, streams.instructions, code, ops, result.names);
        Writer writer(machine, code, ops);
        result.kernel.warps.push_back(
            {share, writer.run(dependence_graph(one->stream, streams.instructions, facts))});
        result.nodes.push_back(writer.nodes());
    }
    validate(result.kernel);
    return result;
}

}  // namespace occupipe::extract

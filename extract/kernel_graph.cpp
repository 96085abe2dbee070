// SPDX-License-Identifier: MIT
#include "extract/kernel_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/group_shares.h"
#include "core/instruction.h"
#include "core/text.h"
#include "extract/code_reuse.h"
#include "extract/naming.h"

namespace occupipe::extract {
namespace {

// Waits for the other warps of its group.
bool is_barrier(const isa::Instruction& instruction) {
    return instruction.opcode == "BAR" && !instruction.has("ARV");
}

// What may go on elsewhere in the code, or where lanes that did meet again.
bool changes_path(const isa::Instruction& instruction) {
    constexpr std::string_view opcodes[] = {"BRA", "BRX",  "BRXU", "JMP",
                                            "JMX", "CALL", "RET",  "BSYNC"};
    return std::ranges::find(opcodes, instruction.opcode) != std::end(opcodes);
}

// Where lanes that went different ways meet, or go different ways, at more than the price of a
// branch; empty: at none.
std::string_view name_where_lanes_part(const isa::Instruction& instruction) {
    if (instruction.opcode == "BSYNC") return branch_in_parts;
    if (instruction.opcode == "BRX" || instruction.opcode == "JMX") return indirect_branch;
    return {};
}

// DEPBAR.LE SB0, 0x1: of the groups that LDGDEPBARs ended, at most the newest is under way.
std::optional<std::size_t> groups_left(const isa::Instruction& instruction) {
    if (instruction.opcode != "DEPBAR" || !instruction.has("LE")) return std::nullopt;
    const auto count =
        std::ranges::find(instruction.operands, isa::Operand::Kind::immediate, &isa::Operand::kind);
    if (count == instruction.operands.end()) return std::nullopt;
    return static_cast<std::size_t>(count->value);
}

// Registers have two banks, even and odd, each of which gives one per cycle (H100, H200: fma.f32,
// fma.f32.same, fma.f64). Those are not read that the instruction before kept for this operand.
int most_reads(const isa::Instruction& instruction, const isa::Instruction* before) {
    std::set<int> read;
    int place = 0;  // among the operands that are read
    for (const isa::Operand& operand : instruction.operands) {
        if (operand.written) continue;
        const int own = place++;
        if (operand.kind != isa::Operand::Kind::registers || !operand.number ||
            operand.file != isa::File::general)
            continue;
        int other = 0;
        const bool kept =
            before != nullptr &&
            std::ranges::any_of(before->operands, [&](const isa::Operand& one) {
                return !one.written && other++ == own && one.reuse && one.number == operand.number;
            });
        if (!kept) read.insert(*operand.number);
    }
    const auto odd = std::ranges::count_if(read, [](int one) { return one % 2 == 1; });
    return static_cast<int>(std::max<std::ptrdiff_t>(odd, std::ssize(read) - odd));
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
                fmt::format("{}.{:04x}", lower_case(instruction.opcode), instruction.address));
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

constexpr std::string_view read_at_once = "fma.f32.same";

// Instructions of a kernel, all classes together and loops counted once, that models take in a
// second and less than half a GB; of a class, so many at least.
constexpr std::size_t most_written = std::size_t{1} << 17, least_written = std::size_t{1} << 14;

std::vector<std::string> possible_names(const isa::Instruction& instruction) {
    std::vector<std::string> names = profile_names(instruction);
    if (changes_path(instruction)) names.emplace_back(taken_branch);
    if (const auto name = name_where_lanes_part(instruction); !name.empty())
        names.emplace_back(name);
    if (instruction.opcode == "FFMA") names.emplace_back(read_at_once);
    return names;
}

NameOf names_known_to(std::set<std::string> known) {
    return [known = std::move(known)](const isa::Instruction& instruction,
                                      const isa::Instruction* before, bool lanes_part) {
        std::string branch(taken_branch), at_once(read_at_once);
        if (lanes_part)
            if (std::string name(name_where_lanes_part(instruction)); known.contains(name))
                return name;
        if (changes_path(instruction) && known.contains(branch)) return branch;
        if (instruction.opcode == "FFMA" && known.contains(at_once) &&
            most_reads(instruction, before) <= 1)
            return at_once;
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

// Σ weight · |instructions − those of the class that stands for it| of classes [first, last),
// sorted by instructions: least with the median by weight.
class Spread {
public:
    Spread(const std::vector<WarpClass>& classes, const std::vector<std::size_t>& sorted) {
        for (const std::size_t i : sorted) {
            length_.push_back(static_cast<double>(classes[i].instructions));
            weight_.push_back(weight_.back() + classes[i].weight);
            executed_.push_back(executed_.back() + classes[i].weight * length_.back());
        }
    }

    std::size_t median(std::size_t first, std::size_t last) const {
        const double middle = (weight_[first] + weight_[last]) / 2;
        const auto found =
            std::lower_bound(weight_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                             weight_.begin() + static_cast<std::ptrdiff_t>(last), middle);
        return static_cast<std::size_t>(found - weight_.begin()) - 1;
    }
    double cost(std::size_t first, std::size_t last) const {
        const std::size_t m = median(first, last);
        const double below =
            length_[m] * (weight_[m] - weight_[first]) - (executed_[m] - executed_[first]);
        const double above =
            (executed_[last] - executed_[m]) - length_[m] * (weight_[last] - weight_[m]);
        return below + above;
    }

private:
    std::vector<double> length_;
    std::vector<double> weight_{0}, executed_{0};  // of those before
};

// Where `parts` parts of `count` sorted classes end so that their costs sum to the least: by
// dynamic programming, each row by divide and conquer, as the best cut moves with the end.
std::vector<std::size_t> best_parts(const Spread& spread, std::size_t count, std::size_t parts) {
    std::vector<double> before(count + 1);
    for (std::size_t end = 1; end <= count; ++end) before[end] = spread.cost(0, end);
    std::vector<std::vector<std::size_t>> cuts;  // by part from the second on, and end
    for (std::size_t part = 2; part <= parts; ++part) {
        std::vector<double> now(count + 1);
        cuts.emplace_back(count + 1);
        const auto fill = [&](const auto& self, std::size_t first, std::size_t last,
                              std::size_t from, std::size_t to) -> void {
            if (first > last) return;
            const std::size_t end = (first + last) / 2;
            double least = std::numeric_limits<double>::infinity();
            std::size_t best = part - 1;
            for (std::size_t cut = std::max(from, part - 1); cut <= std::min(to, end - 1); ++cut) {
                const double cost = before[cut] + spread.cost(cut, end);
                if (cost >= least) continue;
                least = cost;
                best = cut;
            }
            now[end] = least;
            cuts.back()[end] = best;
            if (end > first) self(self, first, end - 1, from, best);
            self(self, end + 1, last, best, to);
        };
        fill(fill, part, count, part - 1, count - 1);
        before = std::move(now);
    }
    std::vector<std::size_t> ends{count};
    for (std::size_t part = parts; part >= 2; --part) ends.push_back(cuts[part - 2][ends.back()]);
    std::ranges::reverse(ends);
    return ends;
}

// For each class the one that stands for it.
std::vector<std::size_t> representatives(const std::vector<WarpClass>& classes, std::size_t most) {
    std::vector<std::size_t> stands(classes.size());
    std::iota(stands.begin(), stands.end(), 0U);
    if (classes.size() <= most) return stands;
    const auto executed = [&](std::size_t i) {
        return classes[i].weight * static_cast<double>(classes[i].instructions);
    };
    double all = 0;
    for (const std::size_t i : stands) all += executed(i);
    std::vector<std::size_t> order = stands;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return -executed(i); });
    const std::size_t longest = *std::ranges::max_element(
        stands, {}, [&](std::size_t i) { return classes[i].instructions; });
    std::vector<std::size_t> rest;
    // One is for the longest, and one for the rest.
    std::size_t left = most > 1 ? most - 1 : most;
    for (const std::size_t i : order) {
        if (i == longest && most > 1) continue;
        if (left > 1 && executed(i) * static_cast<double>(most) >= all)
            --left;
        else
            rest.push_back(i);
    }
    std::ranges::stable_sort(rest, {}, [&](std::size_t i) { return classes[i].instructions; });
    const Spread spread(classes, rest);
    std::size_t begin = 0;
    for (const std::size_t end : best_parts(spread, rest.size(), std::min(left, rest.size()))) {
        const std::size_t one = rest[spread.median(begin, end)];
        for (; begin < end; ++begin) stands[rest[begin]] = one;
    }
    return stands;
}

// The groups of a launch, by the programs that their warps run.
GroupKinds kinds_of(const StreamObserver::Streams& streams, const std::vector<GroupRun>& runs,
                    const std::vector<std::size_t>& stands,
                    const std::vector<std::int32_t>& program_of) {
    GroupKinds result;
    std::map<std::vector<std::int32_t>, std::int32_t> known;
    for (const GroupRun& run : runs) {
        std::vector<std::int32_t> programs;
        for (const std::uint32_t one : streams.groups.at(run.group))
            programs.push_back(program_of[stands[one]]);
        const auto [kind, is_new] =
            known.try_emplace(programs, static_cast<std::int32_t>(known.size()));
        if (is_new) result.kinds.push_back(programs);
        if (!result.order.empty() && result.order.back().kind == kind->second)
            result.order.back().groups += static_cast<std::int64_t>(run.count);
        else
            result.order.push_back({kind->second, static_cast<std::int64_t>(run.count)});
    }
    return result;
}

// Whether the warps of each group meet at as many barriers, as the classes have them that stand for
// theirs.
bool groups_agree(const StreamObserver::Streams& streams, const std::vector<GroupRun>& runs,
                  const std::vector<std::size_t>& stands, const std::vector<std::int64_t>& counts) {
    if (runs.empty()) return false;
    return std::ranges::all_of(streams.groups, [&](const auto& group) {
        return std::ranges::all_of(group.second, [&](std::uint32_t one) {
            return counts[stands[one]] == counts[stands[group.second.front()]];
        });
    });
}

// The stream with the barriers behind the first `most` marked: their numbers in the code are higher
// by `marked`. The marked instructions join `instructions`.
std::vector<FoldedItem> with_marked_barriers(std::span<const FoldedItem> stream, std::int64_t most,
                                             std::uint32_t marked,
                                             std::vector<StreamInstruction>& instructions,
                                             const std::vector<CodeFacts>& facts) {
    std::int64_t met = 0;
    return with_changed(stream, instructions, [&](StreamInstruction what) {
        if (facts[what.code].barrier && ++met > most) what.code += marked;
        return what;
    });
}

// The stream with the branches marked at which lanes part, and the places where not all of them
// meet at once: their numbers in the code are higher by `marked`. All rounds of a loop are as its
// second one.
class PartedLanes {
public:
    PartedLanes(const std::vector<isa::Instruction>& code, std::uint32_t marked,
                std::vector<StreamInstruction>& instructions)
        : code_(code), marked_(marked), instructions_(instructions) {}

    void mark(std::vector<FoldedItem>& stream) { walk(stream, true); }

private:
    void walk(std::vector<FoldedItem>& stream, bool marks) {
        for (FoldedItem& item : stream) {
            if (auto* const loop = std::get_if<FoldedLoop>(&item)) {
                if (loop->count > 1) walk(loop->body, false);
                walk(loop->body, marks);
            } else {
                look_at(std::get<std::uint32_t>(item), marks);
            }
        }
    }

    void look_at(std::uint32_t& number, bool marks) {
        const StreamInstruction what = instructions_[number];
        const isa::Instruction& one = code_[what.code];
        std::uint32_t* const before = std::exchange(indirect_, nullptr);
        if (marks && before != nullptr && what.active > 0 &&
            what.active < instructions_[*before].active)
            mark(*before);
        if (one.opcode == "BSSY")
            lanes_[barrier_of(one)] = what.active;
        else if (one.opcode == "BSYNC" && marks && what.active > 0 &&
                 what.active < lanes_[barrier_of(one)])
            mark(number);
        else if (name_where_lanes_part(one) == indirect_branch)
            indirect_ = &number;
    }

    void mark(std::uint32_t& number) {
        if (instructions_[number].code >= marked_) return;
        const auto [place, fresh] =
            numbers_.try_emplace(number, static_cast<std::uint32_t>(instructions_.size()));
        if (fresh) {
            instructions_.push_back(instructions_[number]);
            instructions_.back().code += marked_;
        }
        number = place->second;
    }

    static int barrier_of(const isa::Instruction& one) {
        const auto found =
            std::ranges::find(one.operands, isa::Operand::Kind::barrier, &isa::Operand::kind);
        return found == one.operands.end() ? -1 : found->number.value_or(-1);
    }

    const std::vector<isa::Instruction>& code_;
    std::uint32_t marked_;
    std::vector<StreamInstruction>& instructions_;
    std::map<std::uint32_t, std::uint32_t> numbers_;
    std::map<int, std::uint32_t> lanes_;  // by barrier, of its last BSSY
    std::uint32_t* indirect_ = nullptr;   // the instruction before, if it is one
};

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
                               const NameOf& name_of, std::size_t most_classes,
                               const std::vector<GroupRun>& runs) {
    // The code twice: the second time, barriers are issue slots, and lanes part at branches.
    const auto size = static_cast<std::uint32_t>(machine_code.size());
    std::vector<isa::Instruction> code = machine_code;
    code.insert(code.end(), machine_code.begin(), machine_code.end());
    std::vector<CodeFacts> facts;
    std::vector<std::string> ops, barrier_ops;
    for (std::uint32_t i = 0; i < 2 * size; ++i) {
        const bool barrier = is_barrier(code[i]);
        ops.push_back(barrier && i >= size
                          ? std::string(issue_slot)
                          : name_of(code[i], i % size == 0 ? nullptr : &code[i - 1], i >= size));
        facts.push_back({.registers = registers_of(code[i]),
                         .place = i % size,
                         .barrier = barrier && i < size,
                         .branch = is_branch(ops.back()),
                         .meets = code[i].opcode == "BSYNC" || ops.back() == indirect_branch,
                         .copies = code[i].opcode == "LDGSTS",
                         .ends_group = code[i].opcode == "LDGDEPBAR",
                         .leaves = groups_left(code[i])});
        if (facts.back().barrier) barrier_ops.push_back(ops.back());
    }

    // A barrier that no lane comes to is an issue slot.
    std::vector<StreamInstruction> instructions = streams.instructions;
    for (StreamInstruction& one : instructions)
        if (one.active == 0 && facts[one.code].barrier) one.code += size;
    double warps = 0, executed = 0;
    std::vector<std::int64_t> counts;  // barriers, by class
    for (const WarpClass& one : streams.classes) {
        warps += one.weight;
        executed += one.weight * static_cast<double>(one.instructions);
        counts.push_back(barriers(one.stream, instructions, facts));
    }
    if (executed == 0) throw InputError(fmt::format("kernel '{}': nothing was executed", name));

    ExtractedKernel result;
    result.kernel.name = name;
    result.instructions = executed / warps;
    const std::int64_t usual = usual_barriers(streams.classes, counts);
    const std::vector<std::size_t> stands = representatives(streams.classes, most_classes);
    const bool agree = groups_agree(streams, runs, stands, counts);
    std::vector<double> stand_for(stands.size());  // warps
    for (std::size_t i = 0; i < stands.size(); ++i)
        stand_for[stands[i]] += streams.classes[i].weight;
    std::vector<std::int32_t> program_of(stands.size(), -1);
    double own = 0;
    const auto taken = static_cast<std::size_t>(
        std::ranges::count_if(stand_for, [](double one) { return one > 0; }));
    PartedLanes parted(code, size, instructions);
    bool parts = false;  // whether branches at which lanes part have rows of their own
    for (std::uint32_t i = 0; i < size; ++i)
        parts = parts || (facts[size + i].branch && ops[size + i] != ops[i]);
    CodeReuse code_reuse(streams.instructions, machine_code);
    for (std::size_t i = 0; i < streams.classes.size(); ++i) {
        const WarpClass& one = streams.classes[i];
        const double share = stand_for[i] / warps;
        const bool is_taken = share > 0;
        result.classes.push_back({.share = one.weight / warps,
                                  .stands_for = share,
                                  .instructions = one.instructions,
                                  .first_group = one.first_group,
                                  .first_warp = one.first_warp,
                                  .taken = is_taken});
        if (!is_taken) continue;
        program_of[i] = static_cast<std::int32_t>(result.kernel.warps.size());
        code_reuse.add(one.stream, share);
        ExtractedClass& found = result.classes.back();
        if (!agree) {
            found.barriers_added = std::max<std::int64_t>(usual - counts[i], 0);
            found.barriers_left_out = std::max<std::int64_t>(counts[i] - usual, 0);
        }
        result.barriers_changed +=
            stand_for[i] * static_cast<double>(found.barriers_added + found.barriers_left_out) /
            executed;
        own += std::min(one.weight, stand_for[i]) * static_cast<double>(one.instructions);
        result.kernel_instructions += share * static_cast<double>(one.instructions);
        std::vector<FoldedItem> marked =
            found.barriers_left_out > 0
                ? with_marked_barriers(one.stream, usual, size, instructions, facts)
                : one.stream;
        if (parts) parted.mark(marked);
        const auto [stream, every] =
            thinned(marked, std::max(most_written / taken, least_written),
                    [&](std::uint32_t number) { return facts[instructions[number].code].barrier; });
        result.windows_each = std::max(result.windows_each, every);
        count_names(stream, share, instructions, code, ops, result.names);
        Writer writer(machine, code, ops);
        std::vector<KernelItem> items = writer.run(dependence_graph(stream, instructions, facts));
        result.nodes.push_back(writer.nodes());
        for (auto& [id, what] : result.nodes.back()) what.code %= size;
        if (found.barriers_added > 0) add_barriers(items, found.barriers_added, barrier_ops);
        result.kernel.warps.push_back({share, std::move(items)});
    }
    if (!runs.empty() && result.kernel.warps.size() > 1) {
        result.kernel.groups = kinds_of(streams, runs, stands, program_of);
        // Of the groups that are predicted; of a sample, what the classes stand for is another
        // estimate.
        const std::vector<double> shares =
            shares_of_groups(*result.kernel.groups, result.kernel.warps.size());
        for (std::size_t i = 0; i < shares.size(); ++i) result.kernel.warps[i].share = shares[i];
        result.kernel.launch.emplace().group_warps =
            static_cast<int>(result.kernel.groups->kinds.front().size());
    }
    result.kernel.code = code_reuse.points();
    result.represented = own / executed;
    validate(result.kernel);
    return result;
}

}  // namespace occupipe::extract

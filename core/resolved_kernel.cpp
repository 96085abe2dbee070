// SPDX-License-Identifier: MIT
#include "core/resolved_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "core/name_rules.h"

namespace occupipe {
namespace {

// First declares all names, so that a name which comes too late is told from one that is not there.
template <class OpNumber>
class ProgramResolver {
public:
    ProgramResolver(const WarpProgram& program, const std::string& file_name,
                    const OpNumber& op_number)
        : file_name_(file_name), op_number_(op_number) {
        result_.share = program.share;
        declare(program.instructions);
        for (std::size_t i = 0; i < texts_.size(); ++i) add_dependences(i);
    }

    ResolvedProgram take() { return std::move(result_); }

private:
    void declare(const std::vector<KernelItem>& items) {
        for (const KernelItem& item : items) {
            if (const auto* repeat = std::get_if<Repeat>(&item))
                declare(*repeat);
            else
                declare(std::get<KernelInstruction>(item));
        }
    }

    void declare(const Repeat& repeat) {
        if (repeat.body.empty())
            throw InputError(file_name_, repeat.where, "body", "contains no instruction");
        const std::size_t self = result_.loops.size();
        const std::int32_t outer = loop_;
        ResolvedProgram::Loop loop{.parent = outer,
                                   .count = repeat.count,
                                   .where = repeat.where,
                                   .first = result_.size(),
                                   .last = 0,
                                   .path = result_.path_of(outer)};
        loop_ = static_cast<std::int32_t>(self);
        loop.path.push_back(loop_);
        result_.loops.push_back(std::move(loop));
        declare(repeat.body);
        result_.loops[self].last = result_.size();
        loop_ = outer;
    }

    void declare(const KernelInstruction& text) {
        if (const auto fault = name_fault(text.id))
            throw InputError(file_name_, text.where, "id", *fault);
        if (const auto fault = name_fault(text.op))
            throw InputError(file_name_, text.where, text.id + ".op", *fault);
        if (!number_.try_emplace(text.id, result_.size()).second)
            throw InputError(file_name_, text.where, "id", fmt::format("duplicate '{}'", text.id));
        texts_.push_back(&text);
        result_.instructions.push_back({.id = text.id,
                                        .op = op_number_(text),
                                        .loop = loop_,
                                        .stall = text.stall.value_or(0),
                                        .after = {}});
    }

    void add_dependences(std::size_t user) {
        const std::vector<Dependence>& after = texts_[user]->after;
        result_.instructions[user].after.reserve(after.size());
        for (auto it = after.begin(); it != after.end(); ++it) {
            if (std::find(after.begin(), it, *it) != it) fail(user, *it, "duplicate");
            result_.instructions[user].after.push_back(resolved(user, *it));
        }
    }

    ResolvedProgram::Dependence resolved(std::size_t user, const Dependence& dependence) const {
        const auto found = number_.find(dependence.id);
        if (found == number_.end()) fail(user, dependence, "no instruction has this id");
        if (dependence.iterations_back < 0)
            fail(user, dependence, "refers to a later iteration; write NAME@-N");
        const std::int32_t producer = found->second;
        if (dependence.iterations_back == 0 && std::cmp_greater_equal(producer, user))
            fail(user, dependence, "is used before it is defined");
        const auto& own = result_.loops_around(result_.instructions[user]);
        const auto& other =
            result_.loops_around(result_.instructions[static_cast<std::size_t>(producer)]);
        const auto fork = std::mismatch(own.begin(), own.end(), other.begin(), other.end());
        const std::int32_t common = fork.first == own.begin() ? -1 : *std::prev(fork.first);
        if (dependence.iterations_back > 0 && common < 0)
            fail(user, dependence, "no repeat contains both");
        return {producer, dependence.iterations_back, common};
    }

    [[noreturn]] void fail(std::size_t user, const Dependence& dependence,
                           const std::string& reason) const {
        throw InputError(file_name_, texts_[user]->where, texts_[user]->id + ".after",
                         fmt::format("{}: {}", to_string(dependence), reason));
    }

    const std::string& file_name_;
    const OpNumber& op_number_;
    ResolvedProgram result_;
    std::vector<const KernelInstruction*> texts_;
    std::unordered_map<std::string_view, std::int32_t> number_;  // names are the program's own
    std::int32_t loop_ = -1;                                     // the present one
};

// A loop-carried dependence reads a cell that its loop fills at the end of every iteration and
// empties on entry; the cell keeps as many iterations as its dependence goes back.
class Expander {
public:
    Expander(const WarpProgram& program, std::int64_t max_nodes) {
        const std::string no_file;
        NameResolver resolver(no_file);
        program_ = resolver.resolve(program);
        for (ResolvedKernel::Op& op : resolver.take_ops())
            idg_.ops.push_back({std::move(op.name), op.kind});
        const std::int64_t limit =
            std::min<std::int64_t>(max_nodes, std::numeric_limits<std::int32_t>::max());
        const std::int64_t count = instruction_count(program);
        if (count > limit)
            throw InputError(fmt::format(
                "one warp executes {} instructions; the limit for a graph is {}", count, limit));
        idg_.nodes.reserve(static_cast<std::size_t>(count));
        last_.resize(program_.instructions.size());
        number_cells();
        run(-1);
    }

    Idg take() { return std::move(idg_); }

private:
    struct Cell {
        std::int32_t producer = 0;
        std::int64_t back = 1;
        std::deque<std::int32_t> nodes;  // of the last iterations
    };
    using Key = std::tuple<std::int32_t, std::int32_t, std::int64_t>;  // loop, producer, back

    void number_cells() {
        cells_of_.resize(program_.loops.size());
        for (const auto& instruction : program_.instructions)
            for (const auto& on : instruction.after) {
                if (on.back == 0) continue;
                const Key key{on.common_loop, on.producer, on.back};
                if (!cell_.try_emplace(key, cells_.size()).second) continue;
                cells_of_[static_cast<std::size_t>(on.common_loop)].push_back(cells_.size());
                cells_.push_back({on.producer, on.back, {}});
            }
    }

    void run(std::int32_t loop) {
        for_each_item(
            program_, loop, [this](std::int32_t i) { emit(static_cast<std::size_t>(i)); },
            [this](std::int32_t inner) { repeat(inner); });
    }

    void repeat(std::int32_t loop) {
        const auto self = static_cast<std::size_t>(loop);
        for (const std::size_t cell : cells_of_[self]) cells_[cell].nodes.clear();
        for (std::int64_t i = 0; i < program_.loops[self].count; ++i) {
            run(loop);
            for (const std::size_t number : cells_of_[self]) {
                Cell& cell = cells_[number];
                cell.nodes.push_back(last_[static_cast<std::size_t>(cell.producer)]);
                if (std::cmp_greater(cell.nodes.size(), cell.back)) cell.nodes.pop_front();
            }
        }
    }

    void emit(std::size_t number) {
        const ResolvedProgram::Instruction& from = program_.instructions[number];
        if (idg_.predecessors.size() + from.after.size() >
            static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw InputError("the graph of one warp has more than 2^31 - 1 dependences");
        Idg::Node node;
        node.op = from.op;
        node.stall = from.stall;
        node.first_predecessor = static_cast<std::int32_t>(idg_.predecessors.size());
        for (const auto& on : from.after) {
            if (on.back == 0) {
                idg_.predecessors.push_back(last_[static_cast<std::size_t>(on.producer)]);
                continue;
            }
            const Cell& cell = cells_[cell_.at({on.common_loop, on.producer, on.back})];
            if (std::cmp_equal(cell.nodes.size(), cell.back))
                idg_.predecessors.push_back(cell.nodes.front());
        }
        node.predecessor_count =
            static_cast<std::int32_t>(idg_.predecessors.size()) - node.first_predecessor;
        last_[number] = static_cast<std::int32_t>(idg_.nodes.size());
        idg_.nodes.push_back(node);
    }

    ResolvedProgram program_;
    Idg idg_;
    std::vector<std::int32_t> last_;  // node of each instruction's last instance
    std::vector<Cell> cells_;
    std::map<Key, std::size_t> cell_;
    std::vector<std::vector<std::size_t>> cells_of_;  // per loop
};

}  // namespace

std::int32_t NameResolver::op_of(const KernelInstruction& instruction) {
    const auto [it, is_new] = number_.try_emplace({instruction.op, instruction.kind},
                                                  static_cast<std::int32_t>(ops_.size()));
    if (is_new) ops_.push_back({instruction.op, instruction.kind, instruction.where});
    return it->second;
}

ResolvedProgram NameResolver::resolve(const WarpProgram& program) {
    const auto number = [this](const KernelInstruction& one) { return op_of(one); };
    return ProgramResolver(program, file_name_, number).take();
}

Idg expand(const WarpProgram& program, std::int64_t max_nodes) {
    return Expander(program, max_nodes).take();
}

ResolvedProgram part_of(const ResolvedProgram& program, std::int32_t loop, std::int32_t first,
                        std::int32_t last) {
    const std::size_t depth = program.path_of(loop).size();
    ResolvedProgram part;
    std::vector<std::int32_t> number(program.loops.size(), -1);  // of those inside
    for (std::size_t l = 0; l < program.loops.size(); ++l) {
        ResolvedProgram::Loop inner = program.loops[l];
        if (inner.first < first || inner.last > last || inner.path.size() <= depth) continue;
        number[l] = static_cast<std::int32_t>(part.loops.size());
        inner.parent = inner.parent < 0 ? -1 : number[static_cast<std::size_t>(inner.parent)];
        inner.first -= first;
        inner.last -= first;
        inner.path = part.path_of(inner.parent);
        inner.path.push_back(number[l]);
        part.loops.push_back(std::move(inner));
    }
    const auto inside = [&](std::int32_t l) {
        return l < 0 ? -1 : number[static_cast<std::size_t>(l)];
    };
    for (std::int32_t i = first; i < last; ++i) {
        ResolvedProgram::Instruction one = program.instructions[static_cast<std::size_t>(i)];
        one.loop = inside(one.loop);
        std::erase_if(one.after, [&](ResolvedProgram::Dependence& on) {
            if (on.producer < first || on.producer >= last) return true;
            on.producer -= first;
            on.common_loop = inside(on.common_loop);
            return on.back > 0 && on.common_loop < 0;
        });
        part.instructions.push_back(std::move(one));
    }
    return part;
}

ResolvedKernel alone(const ResolvedKernel& kernel, ResolvedProgram program,
                     std::vector<std::int32_t>& used) {
    ResolvedKernel one{
        .name = kernel.name, .order = kernel.order, .ops = {}, .programs = {}, .groups = {}};
    std::vector<std::int32_t> number(kernel.ops.size(), -1);
    used.clear();
    for (ResolvedProgram::Instruction& instruction : program.instructions) {
        std::int32_t& own = number[static_cast<std::size_t>(instruction.op)];
        if (own < 0) {
            own = static_cast<std::int32_t>(used.size());
            used.push_back(instruction.op);
            one.ops.push_back(kernel.ops[static_cast<std::size_t>(instruction.op)]);
        }
        instruction.op = own;
    }
    program.share = 1;
    one.programs.push_back(std::move(program));
    return one;
}

}  // namespace occupipe

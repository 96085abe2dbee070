// SPDX-License-Identifier: MIT
#include "core/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/name_rules.h"

namespace occupipe {
namespace {

constexpr std::int64_t count_limit = std::int64_t{1} << 62;

std::int64_t counted(const std::vector<KernelItem>& items, const std::string& file_name);

std::int64_t counted(const KernelItem& item, const std::string& file_name) {
    const auto* repeat = std::get_if<Repeat>(&item);
    if (repeat == nullptr) {
        return 1;
    }
    if (repeat->count < 1) {
        throw InputError(file_name, repeat->where, "repeat",
                         fmt::format("must be at least 1, not {}", repeat->count));
    }
    std::int64_t count = 0;
    if (__builtin_mul_overflow(repeat->count, counted(repeat->body, file_name), &count) ||
        count > count_limit) {
        throw InputError(file_name, repeat->where, "repeat", "more than 2^62 instructions");
    }
    return count;
}

std::int64_t counted(const std::vector<KernelItem>& items, const std::string& file_name) {
    std::int64_t total = 0;
    for (const KernelItem& item : items) {
        const std::int64_t more = counted(item, file_name);
        if (more > count_limit - total) {
            throw InputError(file_name, {}, "instructions", "more than 2^62 instructions");
        }
        total += more;
    }
    return total;
}

// The program with names replaced by numbers. Instructions are numbered in program text order.
// A loop-carried dependence reads a cell that its repeat fills at the end of every iteration and
// empties on entry; the cell keeps as many iterations as its dependence goes back.
struct Resolved {
    struct Operand {
        bool carried = false;
        std::size_t index = 0;  // of an instruction, or of a cell
    };
    struct Instruction {
        std::int32_t op = 0;
        std::int32_t stall = 0;
        std::vector<Operand> after;
    };
    struct Cell {
        std::size_t repeat = 0;
        std::size_t instruction = 0;
        std::int64_t iterations_back = 1;
    };
    std::vector<Idg::Op> ops;
    std::vector<Instruction> instructions;
    std::vector<Cell> cells;
};

class Resolver {
public:
    Resolver(const WarpProgram& program, const std::string& file_name) : file_name_(file_name) {
        paths_.emplace_back();
        declare(program.instructions);
        path_.clear();
        repeats_ = 0;
        next_ = 0;
        resolve(program.instructions);
    }

    Resolved take() { return std::move(result_); }

private:
    struct Declared {
        std::size_t index = 0;
        std::size_t path = 0;  // into paths_
    };

    template <class OnInstruction, class OnRepeat>
    void walk(const std::vector<KernelItem>& items, OnInstruction on_instruction,
              OnRepeat on_repeat) {
        for (const KernelItem& item : items) {
            if (const auto* instruction = std::get_if<KernelInstruction>(&item)) {
                on_instruction(*instruction);
                continue;
            }
            const auto& repeat = std::get<Repeat>(item);
            path_.push_back(repeats_++);
            on_repeat(repeat);
            path_.pop_back();
        }
    }

    void declare(const std::vector<KernelItem>& items) {
        walk(
            items, [this](const KernelInstruction& instruction) { declare(instruction); },
            [this](const Repeat& repeat) {
                if (repeat.body.empty()) {
                    throw InputError(file_name_, repeat.where, "body", "contains no instruction");
                }
                // Instructions behind an inner repeat share the path of those before it.
                const std::size_t outer = declaring_;
                declaring_ = paths_.size();
                paths_.push_back(path_);
                declare(repeat.body);
                declaring_ = outer;
            });
    }

    void declare(const KernelInstruction& instruction) {
        if (const auto fault = name_fault(instruction.id)) {
            throw InputError(file_name_, instruction.where, "id", *fault);
        }
        if (const auto fault = name_fault(instruction.op)) {
            throw InputError(file_name_, instruction.where, instruction.id + ".op", *fault);
        }
        if (!declared_.try_emplace(instruction.id, Declared{next_++, declaring_}).second) {
            throw InputError(file_name_, instruction.where, "id",
                             fmt::format("duplicate '{}'", instruction.id));
        }
    }

    void resolve(const std::vector<KernelItem>& items) {
        walk(
            items, [this](const KernelInstruction& instruction) { resolve(instruction); },
            [this](const Repeat& repeat) { resolve(repeat.body); });
    }

    void resolve(const KernelInstruction& instruction) {
        Resolved::Instruction resolved{op_index(instruction), instruction.stall.value_or(0), {}};
        resolved.after.reserve(instruction.after.size());
        for (auto it = instruction.after.begin(); it != instruction.after.end(); ++it) {
            if (std::find(instruction.after.begin(), it, *it) != it) {
                fail(instruction, *it, "duplicate");
            }
            resolved.after.push_back(operand(instruction, *it));
        }
        result_.instructions.push_back(std::move(resolved));
        ++next_;
    }

    Resolved::Operand operand(const KernelInstruction& user, const Dependence& dependence) {
        const auto found = declared_.find(dependence.id);
        if (found == declared_.end()) {
            fail(user, dependence, "no instruction has this id");
        }
        const Declared& target = found->second;
        if (dependence.iterations_back < 0) {
            fail(user, dependence, "refers to a later iteration; write NAME@-N");
        }
        if (dependence.iterations_back == 0) {
            if (target.index >= next_) {
                fail(user, dependence, "is used before it is defined");
            }
            return {.carried = false, .index = target.index};
        }
        const auto& repeats = paths_[target.path];
        const auto fork = std::mismatch(path_.begin(), path_.end(), repeats.begin(), repeats.end());
        if (fork.first == path_.begin()) {
            fail(user, dependence, "no repeat contains both");
        }
        return {.carried = true,
                .index = cell(*std::prev(fork.first), target.index, dependence.iterations_back)};
    }

    std::size_t cell(std::size_t repeat, std::size_t instruction, std::int64_t iterations_back) {
        const auto [it, is_new] =
            cell_of_.try_emplace({repeat, instruction, iterations_back}, result_.cells.size());
        if (is_new) {
            result_.cells.push_back({repeat, instruction, iterations_back});
        }
        return it->second;
    }

    std::int32_t op_index(const KernelInstruction& instruction) {
        const auto [it, is_new] = op_of_.try_emplace({instruction.op, instruction.kind},
                                                     static_cast<std::int32_t>(result_.ops.size()));
        if (is_new) {
            result_.ops.push_back({instruction.op, instruction.kind});
        }
        return it->second;
    }

    [[noreturn]] void fail(const KernelInstruction& user, const Dependence& dependence,
                           const std::string& reason) const {
        throw InputError(file_name_, user.where, user.id + ".after",
                         fmt::format("{}: {}", to_string(dependence), reason));
    }

    const std::string& file_name_;
    Resolved result_;
    // Names are the program's own.
    std::unordered_map<std::string_view, Declared> declared_;
    std::map<std::pair<std::string_view, std::optional<InstructionKind>>, std::int32_t> op_of_;
    std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, std::size_t> cell_of_;
    std::vector<std::size_t> path_;  // the repeats around the present instruction, outermost first
    std::vector<std::vector<std::size_t>> paths_;  // of none, then of each repeat's body
    std::size_t declaring_ = 0;                    // the present one
    std::size_t repeats_ = 0;
    std::size_t next_ = 0;
};

class Expander {
public:
    Expander(const WarpProgram& program, std::int64_t max_nodes)
        : resolved_(Resolver(program, {}).take()) {
        const std::int64_t limit =
            std::min<std::int64_t>(max_nodes, std::numeric_limits<std::int32_t>::max());
        const std::int64_t count = instruction_count(program);
        if (count > limit) {
            throw InputError(fmt::format(
                "one warp executes {} instructions; the limit for a graph is {}", count, limit));
        }
        idg_.ops = resolved_.ops;
        idg_.nodes.reserve(static_cast<std::size_t>(count));
        last_.resize(resolved_.instructions.size());
        carried_.resize(resolved_.cells.size());
        cells_of_.resize(resolved_.cells.size());
        for (std::size_t i = 0; i < resolved_.cells.size(); ++i) {
            const std::size_t repeat = resolved_.cells[i].repeat;
            cells_of_.resize(std::max(cells_of_.size(), repeat + 1));
            cells_of_[repeat].push_back(i);
        }
        run(program.instructions, 0, 0);
    }

    Idg take() { return std::move(idg_); }

private:
    struct Counters {
        std::size_t instruction = 0;
        std::size_t repeat = 0;
    };

    // Emits items; `instruction` and `repeat` number the first of each among them. Returns the
    // numbers after the last.
    Counters run(const std::vector<KernelItem>& items, std::size_t instruction,
                 std::size_t repeat) {
        Counters at{instruction, repeat};
        for (const KernelItem& item : items) {
            if (std::holds_alternative<KernelInstruction>(item)) {
                emit(at.instruction++);
                continue;
            }
            const auto& loop = std::get<Repeat>(item);
            const std::size_t self = at.repeat;
            static const std::vector<std::size_t> none;
            const auto& cells = self < cells_of_.size() ? cells_of_[self] : none;
            for (const std::size_t cell : cells) {
                carried_[cell].clear();
            }
            Counters after;
            for (std::int64_t i = 0; i < loop.count; ++i) {
                after = run(loop.body, at.instruction, self + 1);
                for (const std::size_t cell : cells) {
                    auto& nodes = carried_[cell];
                    nodes.push_back(last_[resolved_.cells[cell].instruction]);
                    if (static_cast<std::int64_t>(nodes.size()) >
                        resolved_.cells[cell].iterations_back) {
                        nodes.pop_front();
                    }
                }
            }
            at = after;
        }
        return at;
    }

    void emit(std::size_t instruction) {
        const Resolved::Instruction& from = resolved_.instructions[instruction];
        if (idg_.predecessors.size() + from.after.size() >
            static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
            throw InputError("the graph of one warp has more than 2^31 - 1 dependences");
        }
        Idg::Node node;
        node.op = from.op;
        node.stall = from.stall;
        node.first_predecessor = static_cast<std::int32_t>(idg_.predecessors.size());
        for (const Resolved::Operand& operand : from.after) {
            if (!operand.carried) {
                idg_.predecessors.push_back(last_[operand.index]);
            } else if (static_cast<std::int64_t>(carried_[operand.index].size()) ==
                       resolved_.cells[operand.index].iterations_back) {
                idg_.predecessors.push_back(carried_[operand.index].front());
            }
        }
        node.predecessor_count =
            static_cast<std::int32_t>(idg_.predecessors.size()) - node.first_predecessor;
        last_[instruction] = static_cast<std::int32_t>(idg_.nodes.size());
        idg_.nodes.push_back(node);
    }

    Resolved resolved_;
    Idg idg_;
    std::vector<std::int32_t> last_;                  // node of each instruction's last instance
    std::vector<std::deque<std::int32_t>> carried_;   // per cell: of the last iterations
    std::vector<std::vector<std::size_t>> cells_of_;  // per repeat
};

void validate(const Launch& launch, const std::string& file_name) {
    const auto check = [&](const char* key, std::int64_t value) {
        if (value < 1) {
            throw InputError(file_name, {}, fmt::format("launch.{}", key),
                             fmt::format("must be at least 1, not {}", value));
        }
    };
    check("group_warps", launch.group_warps);
    check("concurrent_groups", launch.concurrent_groups);
    check("groups", launch.groups);
    if (launch.groups > most_groups) {
        throw InputError(file_name, {}, "launch.groups",
                         fmt::format("must be at most {}, not {}", most_groups, launch.groups));
    }
    if (launch.group_warps > std::numeric_limits<int>::max() / launch.concurrent_groups ||
        launch.groups > std::numeric_limits<std::int64_t>::max() / launch.group_warps) {
        throw InputError(file_name, {}, "launch", "too many warps");
    }
}

void validate_memory(const Kernel& kernel, const std::string& file_name) {
    for_each_instruction(kernel, [&](const KernelInstruction& one) {
        if (!one.memory) return;
        if (const auto fault = fault_of(*one.memory)) {
            throw InputError(file_name, one.where, fmt::format("{}.memory.{}", one.id, fault->key),
                             fault->reason);
        }
    });
    if (!kernel.memory) return;
    const auto check = [&](const char* key, std::int64_t value, std::int64_t least) {
        if (value < least) {
            throw InputError(file_name, {}, fmt::format("memory.{}", key),
                             fmt::format("must be at least {}, not {}", least, value));
        }
    };
    check("cores", kernel.memory->cores, 1);
    check("concurrent_groups", kernel.memory->concurrent_groups, 1);
    check("group_shared_bytes", kernel.memory->group_shared_bytes, 0);
}

}  // namespace

std::string_view to_string(Order order) {
    return order == Order::dataflow ? "dataflow" : "in_order";
}

std::string to_string(const Dependence& dependence) {
    if (dependence.iterations_back == 0) {
        return dependence.id;
    }
    return fmt::format("{}@-{}", dependence.id, dependence.iterations_back);
}

bool Repeat::operator==(const Repeat& o) const { return count == o.count && body == o.body; }

std::int64_t instruction_count(const WarpProgram& program) {
    return counted(program.instructions, {});
}

Idg expand(const WarpProgram& program, std::int64_t max_nodes) {
    return Expander(program, max_nodes).take();
}

namespace {

void validate_groups(const Kernel& kernel, const std::string& file_name) {
    const GroupKinds& groups = *kernel.groups;
    if (!kernel.launch)
        throw InputError(file_name, {}, "groups", "needs a launch, which tells their size");
    if (groups.kinds.empty() || groups.order.empty())
        throw InputError(file_name, {}, "groups", "needs a kind of groups, and an order of them");
    for (const auto& kind : groups.kinds) {
        if (std::cmp_not_equal(kind.size(), kernel.launch->group_warps))
            throw InputError(file_name, {}, "groups.kinds",
                             fmt::format("a kind has {} warps, a group of the launch {}",
                                         kind.size(), kernel.launch->group_warps));
        for (const std::int32_t program : kind)
            if (program < 0 || std::cmp_greater_equal(program, kernel.warps.size()))
                throw InputError(file_name, {}, "groups.kinds",
                                 fmt::format("'warps' has {} entries, from 0 on, none is {}",
                                             kernel.warps.size(), program));
    }
    std::int64_t all = 0;
    for (const GroupKinds::Run& run : groups.order) {
        if (run.kind < 0 || std::cmp_greater_equal(run.kind, groups.kinds.size()))
            throw InputError(file_name, {}, "groups.order",
                             fmt::format("there are {} kinds, from 0 on, none is {}",
                                         groups.kinds.size(), run.kind));
        if (run.groups < 1 || run.groups > most_groups - all)
            throw InputError(file_name, {}, "groups.order",
                             fmt::format("the groups of all runs must be 1 to {}", most_groups));
        all += run.groups;
    }
}

}  // namespace

void validate(const Kernel& kernel, const std::string& file_name) {
    if (kernel.name.empty()) {
        throw InputError(file_name, {}, "name", "must not be empty");
    }
    if (const auto fault = control_character_fault(kernel.name)) {
        throw InputError(file_name, {}, "name", *fault);
    }
    if (kernel.warps.empty()) {
        throw InputError(file_name, {}, "instructions", "contains no instruction");
    }
    double shares = 0;
    for (const WarpProgram& program : kernel.warps) {
        if (!std::isfinite(program.share) || program.share <= 0) {
            throw InputError(
                file_name, {}, "warps.share",
                fmt::format("must be a positive finite number, not {}", program.share));
        }
        shares += program.share;
        if (program.instructions.empty()) {
            throw InputError(file_name, {}, "instructions", "contains no instruction");
        }
        static_cast<void>(Resolver(program, file_name).take());
        counted(program.instructions, file_name);
    }
    validate_memory(kernel, file_name);
    // Shares are written by hand, thirds as 0.333333.
    if (std::abs(shares - 1) > 1e-5) {
        throw InputError(file_name, {}, "warps.share",
                         fmt::format("the shares sum to {}, not 1", shares));
    }
    if (kernel.launch) {
        validate(*kernel.launch, file_name);
    }
    if (kernel.groups) {
        validate_groups(kernel, file_name);
    }
}

}  // namespace occupipe

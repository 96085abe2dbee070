// SPDX-License-Identifier: MIT
#include "bench/cuda/proof/timed_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "bench/cuda/proof/ptx.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

bool contains(const std::vector<int>& list, int value) {
    return std::ranges::find(list, value) != list.end();
}

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
    return std::ranges::any_of(a, [&](int value) { return contains(b, value); });
}

// Positions of the loop's counter, comparison and branch: from the branch's predicate back to the
// comparison that makes it, and on to an instruction that counts one register up or down.
std::set<std::size_t> loop_control(const std::vector<Instruction>& code, const TimedLoop& loop) {
    std::set<std::size_t> control = {loop.last};
    std::vector<int> wanted = code[loop.last].reads;
    if (code[loop.last].guard) wanted.push_back(*code[loop.last].guard);
    if (wanted.empty() && loop.last > loop.first) {
        // On some architectures a loop is left by a conditional call that never returns, in front
        // of an unconditional branch.
        const Instruction& leave = code[loop.last - 1];
        if (leave.name == "CALL" && leave.guard) {
            control.insert(loop.last - 1);
            wanted.push_back(*leave.guard);
        }
    }
    std::size_t comparison = loop.last;
    for (std::size_t i = loop.last; i-- > loop.first;) {
        const bool compares = code[i].name == "ISETP" || code[i].name == "UISETP";
        if (compares && overlap(code[i].writes, wanted)) {
            comparison = i;
            control.insert(i);
            break;
        }
    }
    if (comparison == loop.last) return control;
    constexpr std::array counters = {"IADD3", "UIADD3", "VIADD", "IMAD.IADD"};
    for (std::size_t i = loop.first; i < loop.last; ++i) {
        const Instruction& one = code[i];
        const bool counts = std::ranges::find(counters, one.name) != counters.end();
        if (counts && !one.guard && one.reads.size() == 1 && one.writes == one.reads &&
            overlap(one.writes, code[comparison].reads)) {
            control.insert(i);
            break;
        }
    }
    return control;
}

bool is_key(const std::string& name, const std::vector<std::string>& keys) {
    return std::ranges::find(keys, name) != keys.end();
}

}  // namespace

namespace {

// The backward branch behind the timed loop that leads to the checkpoint's reading or to what is in
// front of it.
TimedLoop::Segments find_segments(const std::vector<Instruction>& code, const TimedLoop& loop,
                                  std::size_t checkpoint) {
    std::optional<TimedLoop::Segments> found;
    for (std::size_t i = loop.last + 1; i < loop.clock_stop; ++i) {
        if (!code[i].branch_target || *code[i].branch_target < 0) continue;
        const auto first =
            static_cast<std::size_t>(*code[i].branch_target / isa::instruction_bytes);
        if (first <= loop.clock_start || first > checkpoint) continue;
        if (found) throw InputError("several loops lead to the checkpoint's clock reading");
        found = {first, i};
    }
    if (!found) throw InputError("the checkpoint's clock reading is in no loop of its own");
    return *found;
}

}  // namespace

TimedLoop find_timed_loop(const std::vector<Instruction>& code, bool checkpointed) {
    std::vector<std::size_t> clocks;
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (code[i].core_clock) clocks.push_back(i);
    }
    clocks = timed_readings(std::move(clocks), checkpointed, "the core clock");
    TimedLoop loop{.clock_start = clocks.front(),
                   .first = 0,
                   .last = 0,
                   .clock_stop = clocks.back(),
                   .control = {},
                   .segments = {}};
    const std::size_t newest = clocks[clocks.size() - 2];  // reading in front of the loop
    int loops = 0;
    for (std::size_t i = loop.clock_stop; i-- > newest + 1;) {
        if (!code[i].branch_target) continue;
        const std::int64_t target = *code[i].branch_target / isa::instruction_bytes;
        const auto first = static_cast<std::size_t>(target);
        if (target < 0 || first > i || first <= newest) continue;
        if (loops > 0 && first >= loop.first) continue;  // inside of the loop found before it
        loop.first = first;
        loop.last = i;
        ++loops;
    }
    if (loops != 1) {
        throw InputError(fmt::format("{} loops between the clock readings, not one", loops));
    }
    loop.control = loop_control(code, loop);
    if (checkpointed) loop.segments = find_segments(code, loop, newest);
    return loop;
}

CheckpointCost checkpoint_cost(const std::vector<Instruction>& code, const TimedLoop& loop) {
    CheckpointCost cost;
    if (!loop.segments) return cost;
    for (std::size_t i = loop.segments->first; i <= loop.segments->last; ++i) {
        if (i >= loop.first && i <= loop.last) continue;
        ++cost.instructions;
        cost.stall_cycles += code[i].stall_cycles;
    }
    return cost;
}

LoopCount count_loop(const std::vector<Instruction>& code, const TimedLoop& loop) {
    LoopCount count;
    for (std::size_t i = loop.first; i <= loop.last; ++i) {
        ++(loop.control.contains(i) ? count.control : count.operations)[code[i].name];
    }
    return count;
}

int count_outside(const std::vector<Instruction>& code, const TimedLoop& loop,
                  const std::vector<std::string>& keys) {
    int found = 0;
    for (std::size_t i = loop.clock_start; i < loop.clock_stop; ++i) {
        const bool inside = i >= loop.first && i <= loop.last;
        if (!inside && is_key(code[i].name, keys)) ++found;
    }
    return found;
}

namespace {

using Positions = std::vector<std::vector<std::size_t>>;

// Where control may go from each instruction. A call comes back; where it goes is not known.
Positions successors(const std::vector<Instruction>& code) {
    Positions next(code.size());
    for (std::size_t i = 0; i < code.size(); ++i) {
        const Instruction& one = code[i];
        const bool leaves = one.name == "BRA" || one.name == "EXIT" || one.name == "RET";
        const bool conditional = one.guard || !one.reads.empty();
        if (i + 1 < code.size() && (!leaves || conditional)) next[i].push_back(i + 1);
        if (!one.branch_target || *one.branch_target < 0) continue;
        const auto target = static_cast<std::size_t>(*one.branch_target / isa::instruction_bytes);
        if (target < code.size()) next[i].push_back(target);
    }
    return next;
}

Positions turned(const Positions& next) {
    Positions before(next.size());
    for (std::size_t i = 0; i < next.size(); ++i) {
        for (const std::size_t to : next[i]) before[to].push_back(i);
    }
    return before;
}

std::vector<bool> reached(const Positions& next, std::size_t from) {
    std::vector<bool> seen(next.size());
    std::vector<std::size_t> open = {from};
    while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        open.insert(open.end(), next[at].begin(), next[at].end());
    }
    return seen;
}

}  // namespace

int count_cache_control(const std::vector<Instruction>& code, const TimedLoop& loop) {
    const Positions next = successors(code);
    const std::vector<bool> known = reached(next, 0);
    const std::vector<bool> after_a_pass = reached(next, loop.clock_stop);
    const std::vector<bool> before_a_pass = reached(turned(next), loop.clock_start);
    int found = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
        const bool inside = i >= loop.first && i <= loop.last;
        if (inside || !code[i].name.starts_with("CCTL")) continue;
        if (!known[i] || (after_a_pass[i] && before_a_pass[i])) ++found;
    }
    return found;
}

namespace {

// Keys on the longest path to each register's value.
struct Levels {
    std::array<int, register_names> of = {};

    int deepest(const std::vector<int>& registers) const {
        int deepest = 0;
        for (const int r : registers) deepest = std::max(deepest, of[static_cast<std::size_t>(r)]);
        return deepest;
    }
};

// Registers whose value at the loop's end the second clock reading waits for: what flows into the
// predicate of a conditional exit in front of it.
std::set<int> awaited_registers(const std::vector<Instruction>& code, const TimedLoop& loop) {
    std::set<int> awaited;
    for (std::size_t i = loop.clock_stop; i-- > loop.last + 1;) {
        const Instruction& one = code[i];
        if (one.name == "EXIT" && one.guard) {
            awaited.insert(*one.guard);
            continue;
        }
        const bool feeds =
            std::ranges::any_of(one.writes, [&](int r) { return awaited.contains(r); });
        if (!feeds) continue;
        if (!one.guard) {
            for (const int r : one.writes) awaited.erase(r);
        }
        awaited.insert(one.reads.begin(), one.reads.end());
        if (one.guard) awaited.insert(*one.guard);
    }
    return awaited;
}

// The newest key that each register's value depends on, and whether a scoreboard is awaited on the
// way from it.
class StepCycles {
public:
    void meet(const Instruction& one, bool is_key, bool may_not_act) {
        Origin origin;
        for (const int r : one.reads) origin = newer(origin, of(r));
        if (may_not_act) {
            for (const int r : one.writes) origin = newer(origin, of(r));
        }
        if (is_key && origin.at) {
            if (origin.awaited) awaits_ = true;
            ++seen_[now_ - *origin.at];
        }
        if (is_key) origin = {now_, false};
        origin.awaited |= one.scoreboard;
        for (const int r : one.writes) of(r) = origin;
        now_ += one.stall_cycles;
    }

    std::map<int, int> result() const { return awaits_ ? std::map<int, int>{} : seen_; }

private:
    struct Origin {
        std::optional<int> at;  // cycles from the loop's start
        bool awaited = false;
    };
    static Origin newer(const Origin& a, const Origin& b) {
        if (a.at && b.at && *a.at == *b.at) return {a.at, a.awaited || b.awaited};
        return !b.at || (a.at && *a.at > *b.at) ? a : b;
    }
    Origin& of(int r) { return origins_[static_cast<std::size_t>(r)]; }

    std::array<Origin, register_names> origins_ = {};
    std::map<int, int> seen_;
    int now_ = 0;
    bool awaits_ = false;
};

// Three iterations in a row; of the middle one, what needs a key's result and leads to another key.
std::map<std::string, int> on_chain(const std::vector<Instruction>& code, const TimedLoop& loop,
                                    const std::vector<std::string>& keys) {
    constexpr std::size_t iterations = 3;
    const std::size_t length = loop.last - loop.first + 1;
    const auto one = [&](std::size_t i) -> const Instruction& {
        return code[loop.first + i % length];
    };
    const auto key = [&](std::size_t i) {
        return is_key(one(i).name, keys) && !loop.control.contains(loop.first + i % length);
    };
    std::array<bool, register_names> marked = {};
    const auto any = [&](const std::vector<int>& registers) {
        return std::ranges::any_of(registers,
                                   [&](int r) { return marked[static_cast<std::size_t>(r)]; });
    };
    const auto mark = [&](const std::vector<int>& registers, bool value) {
        for (const int r : registers) marked[static_cast<std::size_t>(r)] = value;
    };
    std::vector<bool> needs(length);
    for (std::size_t i = 0; i < 2 * length; ++i) {
        const bool from_key = any(one(i).reads) || (one(i).guard && any({*one(i).guard}));
        if (i >= length) needs[i - length] = from_key;
        const bool value = key(i) || from_key;
        if (value || !one(i).guard) mark(one(i).writes, value);
    }
    marked = {};
    std::map<std::string, int> found;
    for (std::size_t i = iterations * length; i-- > length;) {
        const bool leads = any(one(i).writes);
        if (i < 2 * length && leads && needs[i - length] && !key(i) &&
            !loop.control.contains(loop.first + i - length)) {
            ++found[one(i).name];
        }
        if (!one(i).guard) mark(one(i).writes, false);
        if (leads || key(i)) mark(one(i).reads, true);
    }
    return found;
}

}  // namespace

Dependences follow_dependences(const std::vector<Instruction>& code, const TimedLoop& loop,
                               const std::vector<std::string>& keys) {
    Dependences result;
    Levels levels;
    StepCycles cycles;
    std::int64_t conditional_until = 0;  // position up to which a forward branch may skip
    for (std::size_t i = loop.first; i <= loop.last; ++i) {
        const Instruction& one = code[i];
        int level = levels.deepest(one.reads);
        const bool key = is_key(one.name, keys) && !loop.control.contains(i);
        if (key) {
            ++level;
            if (static_cast<std::size_t>(level) > result.per_level.size()) {
                result.per_level.resize(static_cast<std::size_t>(level));
            }
            ++result.per_level[static_cast<std::size_t>(level) - 1];
        }
        const bool may_not_act = one.guard || static_cast<std::int64_t>(i) < conditional_until;
        cycles.meet(one, key, may_not_act);
        for (const int r : one.writes) {
            int& of = levels.of[static_cast<std::size_t>(r)];
            of = may_not_act ? std::max(of, level) : level;
        }
        if (one.branch_target) {
            const std::int64_t target = *one.branch_target / isa::instruction_bytes;
            const bool inside = target > static_cast<std::int64_t>(i) &&
                                target <= static_cast<std::int64_t>(loop.last);
            if (inside) conditional_until = std::max(conditional_until, target);
        }
    }
    const int last = static_cast<int>(result.per_level.size());
    for (const int r : awaited_registers(code, loop)) {
        if (last > 0 && levels.of[static_cast<std::size_t>(r)] == last) ++result.awaited_results;
    }
    const bool one_chain =
        std::ranges::all_of(result.per_level, [](int width) { return width == 1; });
    if (one_chain && conditional_until == 0) {
        result.step_cycles = cycles.result();
    }
    result.on_chain = on_chain(code, loop, keys);
    return result;
}

}  // namespace occupipe::bench

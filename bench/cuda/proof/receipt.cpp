// SPDX-License-Identifier: MIT
#include "bench/cuda/proof/receipt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "bench/cuda/prelude.h"
#include "bench/cuda/proof/ptx.h"
#include "bench/cuda/proof/timed_loop.h"
#include "core/chain_step.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/text.h"

namespace occupipe::bench {
namespace {

std::vector<std::string> alternatives(std::string_view text) {
    const auto words = words_in(text, "|");
    return {words.begin(), words.end()};
}

std::vector<Receipt::Count> expectations(const KernelPlan& plan) {
    const auto make = [](const Row& row, int expected) {
        Receipt::Count count;
        count.instruction = row.id;
        count.ptx_opcode = row.ptx;
        count.sass = alternatives(row.sass);
        count.expected = expected * row.ptx_count;
        count.sass_expected = expected * row.sass_count;
        count.also = row.sass_also;
        count.with = alternatives(row.sass_with);
        return count;
    };
    const bool barrier = plan.first->pattern == Pattern::barrier;
    const int chains = barrier ? 1 : plan.chains;
    if (!plan.second) return {make(*plan.first, plan.unroll * chains)};
    const int second = plan.unroll / (plan.beta + 1);
    return {make(*plan.first, (plan.unroll - second) * chains),
            make(*plan.second, second * chains)};
}

// "sm_90a" → 90; 0 when it is no such name.
int architecture_number(std::string_view name) {
    int number = 0;
    if (name.starts_with("sm_"))
        std::from_chars(name.data() + 3, name.data() + name.size(), number);
    return number;
}

int found(const std::map<std::string, int>& counts, const std::string& name) {
    const auto at = counts.find(name);
    return at == counts.end() ? 0 : at->second;
}

// The assembler deals additions and moves to the pipe that is free.
std::string_view on_any_pipe(std::string_view name) {
    if (name.ends_with("MOV")) return "MOV";
    if (name == "IADD3.X" || name == "IMAD.X") return "IADD3.X";
    if (name == "IMAD.IADD" || name == "VIADD") return "IADD3";
    return name;
}

std::string cycles_text(const std::map<int, int>& cycles) {
    std::vector<std::string> parts;
    for (const auto& [length, number] : cycles) {
        parts.push_back(fmt::format("{} ({} times)", length, number));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

class ReceiptMaker {
public:
    ReceiptMaker(const KernelPlan& plan, Receipt& receipt) : plan_(plan), receipt_(receipt) {}

    void count_ptx_text(std::string_view ptx) {
        const PtxCount count = count_ptx(ptx, plan_.checkpointed);
        for (Receipt::Count& one : receipt_.counts) {
            one.ptx_found = found(count.in_loop, one.ptx_opcode);
            const int expected =
                same_elsewhere(one, &Receipt::Count::ptx_opcode, &Receipt::Count::expected);
            if (one.ptx_found != expected) {
                fault("PTX: {} {} in the timed loop, not {}", one.ptx_found, one.ptx_opcode,
                      expected);
            }
            if (const int stray = found(count.outside, one.ptx_opcode)) {
                fault("PTX: {} {} in the timed part outside the loop", stray, one.ptx_opcode);
            }
        }
    }

    void count_machine_code(std::string_view bytes, const char* entry) {
        const isa::Kernel kernel = isa::read_kernel(bytes, entry);
        receipt_.registers = kernel.registers;
        receipt_.stack_bytes = kernel.stack_bytes;
        const std::vector<Instruction> code =
            decode_for_receipt(kernel.code, architecture_number(receipt_.architecture));
        check_spills(code);
        const TimedLoop loop = find_timed_loop(code, plan_.checkpointed);
        receipt_.loop_bytes =
            static_cast<std::int64_t>(loop.last - loop.first + 1) * isa::instruction_bytes;
        const LoopCount count = count_loop(code, loop);
        receipt_.control = count.control;
        compare(count);
        check_caches(code, loop);
        // Results are added up, and comparisons guard loop and clock.
        if (const int stray = count_outside(code, loop, keys()); stray > 2 * plan_.chains + 3) {
            fault("{} of the counted instructions are in the timed part outside the loop", stray);
        }
        measure_others(code, loop);
        if (loop.segments) {
            const CheckpointCost cost = checkpoint_cost(code, loop);
            receipt_.checkpoint_instructions = cost.instructions;
            receipt_.checkpoint_stall_cycles = cost.stall_cycles;
        }
        const Dependences dependences = follow_dependences(code, loop, keys());
        check_dependences(dependences);
        describe_chain(count, dependences);
    }

private:
    template <typename... T>
    void fault(fmt::format_string<T...> format, T&&... values) {
        receipt_.faults.push_back(fmt::format(format, std::forward<T>(values)...));
    }

    // What is expected of this opcode, when the rows of a mix share it.
    template <typename Member>
    int same_elsewhere(const Receipt::Count& one, Member member,
                       int Receipt::Count::*expected) const {
        int sum = 0;
        for (const Receipt::Count& other : receipt_.counts) {
            if (other.*member == one.*member) sum += other.*expected;
        }
        return sum;
    }

    bool more_is_announced() const {
        return std::ranges::any_of(receipt_.counts,
                                   [](const Receipt::Count& one) { return !one.also.empty(); });
    }

    // The other instruction of a mix may bring more of the same along (a division its
    // multiply-adds).
    bool mix_may_add() const { return receipt_.counts.size() > 1 && more_is_announced(); }

    std::vector<std::string> keys() const {
        std::vector<std::string> names;
        for (const Receipt::Count& one : receipt_.counts) {
            names.insert(names.end(), one.sass.begin(), one.sass.end());
        }
        return names;
    }

    // What one iteration holds beside the counted instructions.
    void measure_others(const std::vector<Instruction>& code, const TimedLoop& loop) {
        const std::vector<std::string> names = keys();
        for (std::size_t i = loop.first; i <= loop.last; ++i) {
            ++receipt_.loop_instructions;
            const bool counted = std::ranges::find(names, code[i].name) != names.end();
            if (counted && !loop.control.contains(i)) continue;
            ++receipt_.other_instructions;
            receipt_.other_stall_cycles += code[i].stall_cycles;
        }
    }

    void check_spills(const std::vector<Instruction>& code) {
        if (plan_.first->pattern == Pattern::local_chase) return;  // measures local memory
        const auto local = std::ranges::count_if(
            code, [](const Instruction& i) { return i.name == "LDL" || i.name == "STL"; });
        if (local > 0) fault("registers spilled: {} local loads and stores", local);
        if (receipt_.stack_bytes.value_or(0) > 0) {
            fault("registers spilled: {} bytes of stack per thread", *receipt_.stack_bytes);
        }
    }

    // What the untimed pass has brought into the caches must be there when the clock is read.
    void check_caches(const std::vector<Instruction>& code, const TimedLoop& loop) {
        if (const int found = count_cache_control(code, loop)) {
            fault("caches are invalidated: {} CCTL outside the timed loop", found);
        }
        const int inside = found_in_loop("CCTL");
        if (inside > 0 && plan_.first->order != Order::waits) {
            fault("caches are invalidated: {} CCTL in the timed loop", inside);
        }
    }

    int found_in_loop(const std::string& name) const { return found(receipt_.others, name); }

    int steps() const { return plan_.unroll * plan_.chains; }

    // More than what may be left over at the begin and end of a loop's body.
    bool many(int instructions) const { return instructions > std::max(8, steps() / 16); }

    // Registers lead from step to step of one kind of instruction.
    bool is_chain() const {
        return !plan_.second && plan_.first->order == Order::registers &&
               plan_.first->pattern != Pattern::barrier;
    }

    void describe_chain(const LoopCount& count, const Dependences& dependences) {
        receipt_.step_cycles = dependences.step_cycles;
        int seen = 0;
        for (const auto& [cycles, number] : dependences.step_cycles) seen += number;
        for (const auto& [cycles, number] : dependences.step_cycles) {
            if (!many(seen - number)) receipt_.counted_latency = cycles;
        }
        if (!is_chain()) return;
        int kinds = 0;
        for (const std::string& name : keys()) {
            const int number = found(count.operations, name);
            if (number > 0) receipt_.chain[name] = static_cast<double>(number) / steps();
            if (many(number)) ++kinds;
        }
        for (const auto& [name, number] : dependences.on_chain) {
            receipt_.chain[name] += static_cast<double>(number) / steps();
        }
        const bool uneven = !dependences.step_cycles.empty() && !receipt_.counted_latency;
        receipt_.alternates = kinds > 1 || uneven;
        // Where a step is several instructions, their schedule may differ from step to step.
        const bool wrong = kinds > 1 || (uneven && plan_.first->sass_also.empty());
        if (wrong && !plan_.first->alternates) {
            fault("the chain's steps are not alike: {}; cycles from step to step: {}",
                  chain_step_text(receipt_.chain), cycles_text(receipt_.step_cycles));
        }
    }

    // In a step of few instructions each stands as often as the step itself, or a whole multiple.
    // Not what adds up the words of a wide access, beside the chain, in a state of its own.
    void check_multiples() {
        constexpr int sequence = 8;
        if (!is_chain() || plan_.first->pattern != Pattern::chain || !plan_.first->state.empty() ||
            plan_.first->sass_length >= sequence) {
            return;
        }
        std::map<std::string_view, int> kinds;
        for (const auto& [name, number] : receipt_.others) kinds[on_any_pipe(name)] += number;
        for (const auto& [name, number] : kinds) {
            if (name == "NOP" || name == "MOV") continue;
            const int over = number % steps();
            if (many(over) && many(steps() - over)) {
                fault("machine code: {} {} in {} steps", number, name, steps());
            }
        }
    }

    void compare(const LoopCount& count) {
        receipt_.others = count.operations;
        const bool announced = more_is_announced();
        for (Receipt::Count& one : receipt_.counts) {
            for (const std::string& name : one.sass) {
                one.sass_found += found(count.operations, name);
                receipt_.others.erase(name);
            }
            for (const std::string& name : one.with) {
                one.with_found += found(count.operations, name);
                receipt_.others.erase(name);
            }
            const int expected =
                same_elsewhere(one, &Receipt::Count::sass, &Receipt::Count::sass_expected);
            const bool right =
                mix_may_add() ? one.sass_found >= expected : one.sass_found == expected;
            if (!right) {
                fault("machine code: {} {} in the timed loop, not {}", one.sass_found,
                      fmt::join(one.sass, "|"), expected);
            }
        }
        for (const Receipt::Count& one : receipt_.counts) {
            if (!one.with.empty() && one.with_found != one.sass_expected) {
                fault("machine code: {} {} in the timed loop, not {}", one.with_found,
                      fmt::join(one.with, "|"), one.sass_expected);
            }
        }
        check_multiples();
        int others = 0;
        for (const auto& [name, number] : receipt_.others) others += number;
        // A few moves and address computations per iteration are the loop's own cost.
        const int allowance = 4 + plan_.unroll * plan_.chains / 16;
        if (!announced && others > allowance) {
            fault("{} instructions in the timed loop that the row does not announce", others);
        }
    }

    void check_dependences(const Dependences& dependences) {
        const Row& first = *plan_.first;
        const bool store = first.pattern == Pattern::global_store ||
                           (first.pattern == Pattern::chain && first.order == Order::none);
        if (first.order == Order::waits || store) return;  // no register to follow
        if (dependences.awaited_results < plan_.chains) {
            fault(
                "the clock is read before the last results are available ({} of {} chains awaited)",
                dependences.awaited_results, plan_.chains);
        }
        const std::size_t levels = expected_levels();
        const auto several_per_step = [](const Row* row) {
            return row && (row->sass_count > 1 || row->ptx_count > 1);
        };
        const bool several = several_per_step(plan_.first) || several_per_step(plan_.second);
        if ((mix_may_add() || several) && dependences.per_level.size() >= levels) return;
        if (dependences.per_level.size() != levels) {
            fault("{} dependent steps in the timed loop, not {}", dependences.per_level.size(),
                  levels);
        } else if (plan_.first->order == Order::registers && !plan_.separate_chains() &&
                   std::ranges::any_of(dependences.per_level,
                                       [&](int width) { return width != plan_.chains; })) {
            fault("the chains do not run in parallel: {} at each of {} steps",
                  fmt::join(dependences.per_level, ","), levels);
        }
    }

    // Steps of the longest chain.
    std::size_t expected_levels() const {
        if (plan_.first->order == Order::none) return 1;
        if (!plan_.separate_chains()) return static_cast<std::size_t>(plan_.unroll);
        const int second = plan_.unroll / (plan_.beta + 1);
        const bool chained = plan_.second->order == Order::registers;
        return static_cast<std::size_t>(std::max(plan_.unroll - second, chained ? second : 1));
    }

    const KernelPlan& plan_;
    Receipt& receipt_;
};

std::string list(const std::map<std::string, int>& counts) {
    std::vector<std::string> parts;
    parts.reserve(counts.size());
    for (const auto& [name, number] : counts) parts.push_back(fmt::format("{} {}", number, name));
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Receipt make_receipt(const KernelPlan& plan, const std::string& architecture,
                     std::string_view source, std::string_view ptx, std::string_view cubin,
                     const std::string& compiler_log, const char* entry) {
    Receipt receipt;
    receipt.subject = plan.subject();
    receipt.architecture = architecture;
    receipt.chains = plan.chains;
    receipt.unroll = plan.unroll;
    receipt.counts = expectations(plan);
    receipt.source_hash = content_hash(source);
    receipt.cubin_hash = content_hash(cubin);
    receipt.compiler_log = compiler_log;
    if (measures_launches(plan.first->pattern)) {  // nothing in the kernel is timed
        receipt.counts.clear();
        return receipt;
    }
    ReceiptMaker maker(plan, receipt);
    try {
        maker.count_ptx_text(ptx);
    } catch (const InputError& error) {
        receipt.faults.emplace_back(error.what());
    }
    try {
        maker.count_machine_code(cubin, entry);
    } catch (const InputError& error) {
        receipt.faults.emplace_back(error.what());
    }
    return receipt;
}

std::map<std::string, double> chain_counters(const Receipt& receipt) {
    std::map<std::string, double> counters;
    if (chain_step_text(receipt.chain).empty()) return counters;
    for (const auto& [name, number] : receipt.chain) counters[chain_counter_prefix + name] = number;
    return counters;
}

std::map<std::string, double> receipt_counters(const Receipt& receipt) {
    std::map<std::string, double> counters;
    if (receipt.loop_instructions > receipt.other_instructions) {
        counters["loop_instructions"] = receipt.loop_instructions;
        counters["other_instructions"] = receipt.other_instructions;
        counters["other_stall_cycles"] = receipt.other_stall_cycles;
    }
    if (receipt.checkpoint_instructions) {
        counters["checkpoint_instructions"] = *receipt.checkpoint_instructions;
        counters["checkpoint_stall_cycles"] = receipt.checkpoint_stall_cycles;
    }
    if (receipt.counted_latency) counters["counted_latency"] = *receipt.counted_latency;
    counters.merge(chain_counters(receipt));
    return counters;
}

std::string format_receipt(const Receipt& receipt) {
    std::string text = fmt::format("{} chains:{} unroll:{} for {}{}{}\n", receipt.subject,
                                   receipt.chains, receipt.unroll, receipt.architecture,
                                   receipt.compiler.empty() ? "" : " by ", receipt.compiler);
    for (const Receipt::Count& one : receipt.counts) {
        text += fmt::format("  {}: expected {}, PTX {} {}; expected {}, machine code {} {}\n",
                            one.instruction, one.expected, one.ptx_found, one.ptx_opcode,
                            one.sass_expected, one.sass_found, fmt::join(one.sass, "|"));
        if (!one.with.empty()) {
            text += fmt::format("    with each: {}, {} found\n", fmt::join(one.with, "|"),
                                one.with_found);
        }
        if (!one.also.empty()) text += fmt::format("    also: {}\n", one.also);
    }
    text += fmt::format("  others in the loop: {}; its control: {}\n", list(receipt.others),
                        list(receipt.control));
    if (receipt.checkpoint_instructions) {
        text += fmt::format(
            "  checkpoints: {}, each {} instructions and {} stall cycles outside the loop\n",
            checkpoints, *receipt.checkpoint_instructions, receipt.checkpoint_stall_cycles);
    }
    text += fmt::format("  loop: {} bytes of machine code\n", receipt.loop_bytes);
    if (const std::string chain = chain_step_text(receipt.chain); !chain.empty()) {
        text += fmt::format("  a step of the chain: {}{}\n", chain,
                            receipt.alternates ? "; steps are not alike" : "");
    }
    if (!receipt.step_cycles.empty()) {
        text += fmt::format("  the assembler counts from step to step: {} cycles\n",
                            cycles_text(receipt.step_cycles));
    }
    if (receipt.registers) {
        text += fmt::format("  registers: {} per thread, stack: {} bytes\n", *receipt.registers,
                            receipt.stack_bytes.value_or(0));
    }
    text += fmt::format("  source {}\n  cubin {}\n", receipt.source_hash, receipt.cubin_hash);
    if (!receipt.compiler_log.empty()) text += "  compiler: " + receipt.compiler_log + "\n";
    for (const std::string& fault : receipt.faults) text += "  REFUSED: " + fault + "\n";
    if (receipt.ok()) text += "  ok\n";
    return text;
}

}  // namespace occupipe::bench

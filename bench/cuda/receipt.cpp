// SPDX-License-Identifier: MIT
#include "bench/cuda/receipt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "bench/cuda/cubin.h"
#include "bench/cuda/prelude.h"
#include "bench/cuda/ptx.h"
#include "bench/cuda/timed_loop.h"
#include "core/error.h"
#include "core/files.h"

namespace occupipe::bench {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::vector<Receipt::Count> expectations(const KernelPlan& plan) {
    const auto make = [](const Row& row, int expected) {
        Receipt::Count count;
        count.instruction = row.id;
        count.ptx_opcode = row.ptx;
        count.sass = split(row.sass, '|');
        count.expected = expected * row.ptx_count;
        count.sass_expected = expected * row.sass_count;
        count.also = row.sass_also;
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

class ReceiptMaker {
public:
    ReceiptMaker(const KernelPlan& plan, Receipt& receipt) : plan_(plan), receipt_(receipt) {}

    void count_ptx_text(std::string_view ptx) {
        const PtxCount count = count_ptx(ptx);
        for (Receipt::Count& one : receipt_.counts) {
            one.ptx_found = found(count.in_loop, one.ptx_opcode);
            const int expected =
                same_elsewhere(one, &Receipt::Count::ptx_opcode, &Receipt::Count::expected);
            if (one.ptx_found != expected) {
                fault("PTX: {} {} in the timed loop, not {}", one.ptx_found, one.ptx_opcode,
                      expected);
            }
            if (const int stray = found(count.outside, one.ptx_opcode)) {
                fault("PTX: {} {} timed outside of the loop", stray, one.ptx_opcode);
            }
        }
    }

    void count_machine_code(std::string_view bytes, const char* entry) {
        const Cubin cubin = read_cubin(bytes, entry);
        receipt_.registers = cubin.registers;
        receipt_.stack_bytes = cubin.stack_bytes;
        const std::vector<Instruction> code =
            decode(cubin.code, architecture_number(receipt_.architecture));
        check_spills(code);
        const TimedLoop loop = find_timed_loop(code);
        receipt_.loop_bytes =
            static_cast<std::int64_t>(loop.last - loop.first + 1) * instruction_bytes;
        const LoopCount count = count_loop(code, loop);
        receipt_.control = count.control;
        compare(count);
        // Results are added up, and comparisons guard loop and clock.
        if (const int stray = count_outside(code, loop, keys()); stray > 2 * plan_.chains + 3) {
            fault("{} of the counted instructions are timed outside of the loop", stray);
        }
        measure_others(code, loop);
        check_dependences(follow_dependences(code, loop, keys()));
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

    void compare(const LoopCount& count) {
        receipt_.others = count.operations;
        const bool announced = more_is_announced();
        for (Receipt::Count& one : receipt_.counts) {
            for (const std::string& name : one.sass) {
                one.sass_found += found(count.operations, name);
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
        int others = 0;
        for (const auto& [name, number] : receipt_.others) others += number;
        // A few moves and address computations per iteration are the loop's own cost.
        const int allowance = 4 + plan_.unroll * plan_.chains / 16;
        if (!announced && others > allowance) {
            fault("{} instructions in the timed loop that the table does not announce", others);
        }
    }

    void check_dependences(const Dependences& dependences) {
        receipt_.counted_latency = dependences.counted_latency;
        const Row& first = *plan_.first;
        const bool store = first.pattern == Pattern::global_store ||
                           (first.pattern == Pattern::chain && first.order == Order::none);
        if (first.order == Order::waits || store) return;  // no register to follow
        if (dependences.awaited_results < plan_.chains) {
            fault("the clock is read before the last results are there ({} of {} chains awaited)",
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
            fault("the chains do not run side by side: {} at each of {} steps",
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

std::map<std::string, double> receipt_counters(const Receipt& receipt) {
    std::map<std::string, double> counters;
    if (receipt.loop_instructions > receipt.other_instructions) {
        counters["loop_instructions"] = receipt.loop_instructions;
        counters["other_instructions"] = receipt.other_instructions;
        counters["other_stall_cycles"] = receipt.other_stall_cycles;
    }
    if (receipt.counted_latency) counters["counted_latency"] = *receipt.counted_latency;
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
        if (!one.also.empty()) text += fmt::format("    also: {}\n", one.also);
    }
    text += fmt::format("  others in the loop: {}; its control: {}\n", list(receipt.others),
                        list(receipt.control));
    text += fmt::format("  loop: {} bytes of machine code\n", receipt.loop_bytes);
    if (receipt.counted_latency) {
        text += fmt::format("  the assembler counts {} cycles from step to step\n",
                            *receipt.counted_latency);
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

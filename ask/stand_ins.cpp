// SPDX-License-Identifier: MIT
#include "ask/stand_ins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace occupipe::analysis {
namespace {

struct Rule {
    std::string_view op;                           // what comes before the type
    std::string_view from;                         // the same of the replacement
    std::span<const std::string_view> types;       // of the op
    std::span<const std::string_view> from_types;  // of the entry, best first
    bool literature_only;
    std::string_view why;
};

constexpr std::array<std::string_view, 4> words = {"u32", "s32", "b32", "f32"};
constexpr std::array<std::string_view, 4> double_words = {"u64", "s64", "b64", "f64"};
// A measured ld.global.f32 is a stream of independent loads: it has no latency of its own to give.
constexpr std::array<std::string_view, 3> chased_words = {"u32", "s32", "b32"};
constexpr std::array<std::string_view, 3> chased_double_words = {"u64", "s64", "b64"};
constexpr std::array<std::string_view, 2> signs = {"s32", "u32"};
constexpr std::array<std::string_view, 1> f32 = {"f32"};
constexpr std::array<std::string_view, 1> f64 = {"f64"};

constexpr std::string_view same_instruction = "the same machine instruction";
constexpr std::string_view papers_multiply =
    "the published table has only the multiplication, which uses the same unit";

// A register's type is not in a load's or a store's machine code; nor is the sign in that of the
// low half of an integer's sum or product. What a paper has measured of a unit is taken for the
// unit's other instructions, as Lemeire et al. do with Table 5 of "Analysis of the Analytical
// Performance Models for GPUs".
constexpr std::array rules = {
    Rule{"ld.global", "ld.global", words, chased_words, false, same_instruction},
    Rule{"ld.global", "ld.global", double_words, chased_double_words, false, same_instruction},
    Rule{"ld.shared", "ld.shared", words, chased_words, false, same_instruction},
    Rule{"ld.shared", "ld.shared", double_words, chased_double_words, false, same_instruction},
    Rule{"st.global", "st.global", words, words, false, same_instruction},
    Rule{"st.shared", "st.shared", words, words, false, same_instruction},
    Rule{"add", "add", signs, signs, false, same_instruction},
    Rule{"sub", "add", signs, signs, false, same_instruction},
    Rule{"mul", "mul", signs, signs, false, same_instruction},
    Rule{"mad", "mad", signs, signs, false, same_instruction},
    Rule{"fma", "mul", f32, f32, true, papers_multiply},
    Rule{"add", "mul", f32, f32, true, papers_multiply},
    Rule{"sub", "mul", f32, f32, true, papers_multiply},
    Rule{"fma", "mul", f64, f64, true, papers_multiply},
    Rule{"add", "mul", f64, f64, true, papers_multiply},
    Rule{"sub", "mul", f64, f64, true, papers_multiply},
};

const InstructionTiming* stand_in(const GpuProfile& profile, std::string_view op, bool complete,
                                  std::string_view& why) {
    const std::size_t dot = op.rfind('.');
    if (dot == std::string_view::npos) return nullptr;
    const std::string_view stem = op.substr(0, dot);
    const std::string_view type = op.substr(dot + 1);
    for (const Rule& rule : rules) {
        if (rule.op != stem || !std::ranges::count(rule.types, type)) continue;
        for (const std::string_view other : rule.from_types) {
            const InstructionTiming* const found =
                profile.find_instruction(fmt::format("{}.{}", rule.from, other));
            if (!found || (rule.literature_only && found->source != Source::literature)) continue;
            if (complete && !found->determined()) continue;
            why = rule.why;
            return found;
        }
    }
    return nullptr;
}

constexpr std::string_view slot_unit = "issue-slots";

// A slot takes its share of the issue limit and of no unit; where the limit is not known, one per
// scheduler and cycle. Moves have results, after what the quickest computation takes.
std::string add_issue_slot(GpuProfile& profile) {
    InstructionTiming slot;
    slot.name = issue_slot;
    slot.subsystem = slot_unit;
    slot.source = Source::assumed;
    const double limit = profile.issue.limit.value_or(profile.issue.schedulers);
    slot.cpi.value = 1 / limit;
    const InstructionTiming* quickest = nullptr;
    for (const InstructionTiming& one : profile.instructions) {
        if (one.effective_kind() != InstructionKind::compute || !one.determined()) continue;
        if (!quickest || one.latency->value < quickest->latency->value) quickest = &one;
    }
    slot.latency = Estimate{.value = quickest ? quickest->latency->value : slot.cpi.value};
    std::string said = fmt::format(
        "{} (moves, branches, uniform datapath) takes an issue slot, {:.4g} cycles of {}, and no "
        "unit; its result comes after {:.4g} cycles{}",
        issue_slot, slot.cpi.value,
        profile.issue.limit ? "the issue limit" : "one instruction per scheduler and cycle",
        slot.latency->value, quickest ? fmt::format(", as {}'s", quickest->name) : "");
    profile.subsystems.push_back({.name = std::string(slot_unit)});
    profile.instructions.push_back(std::move(slot));  // `quickest` is gone from here on
    return said;
}

}  // namespace

std::vector<std::string> same_instructions(std::string_view op) {
    std::vector<std::string> names;
    const std::size_t dot = op.rfind('.');
    if (dot == std::string_view::npos) return names;
    for (const Rule& rule : rules) {
        if (rule.literature_only || rule.op != op.substr(0, dot) ||
            !std::ranges::count(rule.types, op.substr(dot + 1)))
            continue;
        for (const std::string_view type : rule.from_types)
            if (std::string name = fmt::format("{}.{}", rule.from, type); name != op)
                names.push_back(std::move(name));
    }
    return names;
}

std::vector<std::string> apply_stand_ins(const Kernel& kernel, GpuProfile& profile) {
    std::vector<std::string> said;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        if (profile.find_instruction(instruction.op)) return;
        if (instruction.op == issue_slot) {
            said.push_back(add_issue_slot(profile));
            return;
        }
        std::string_view why;
        const InstructionTiming* found = stand_in(profile, instruction.op, true, why);
        if (!found) found = stand_in(profile, instruction.op, false, why);
        if (!found) return;
        said.push_back(
            fmt::format("{} uses the numbers of {}: {}", instruction.op, found->name, why));
        InstructionTiming timing = *found;
        timing.name = instruction.op;
        profile.instructions.push_back(std::move(timing));
    });
    return said;
}

namespace {

// With one scheduler the scope makes no difference; where curves did not show their number, the
// fit left the scope open, too.
std::string assumed_scope(const GpuProfile& profile, const InstructionTiming& timing) {
    const Subsystem* const unit = profile.find_subsystem(timing.subsystem);
    if (!unit || unit->scope || timing.source != Source::measured) return {};
    if (profile.issue.schedulers > 1)
        return fmt::format(
            "whether {} is one unit for the core or one per scheduler is not known: one for the "
            "core is assumed",
            unit->name);
    return fmt::format(
        "whether schedulers have copies of {} is not known: one scheduler is assumed", unit->name);
}

void say_once(std::string sentence, std::vector<std::string>& said) {
    if (!sentence.empty() && std::ranges::find(said, sentence) == said.end())
        said.push_back(std::move(sentence));
}

}  // namespace

std::vector<std::string> assumed_scopes(const GpuProfile& profile) {
    std::vector<std::string> said;
    for (const InstructionTiming& timing : profile.instructions)
        say_once(assumed_scope(profile, timing), said);
    return said;
}

std::vector<std::string> assumed_in_profile(const Kernel& kernel, const GpuProfile& profile) {
    std::vector<std::string> said;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        const InstructionTiming* const timing = profile.find_instruction(instruction.op);
        if (!timing) return;
        say_once(assumed_scope(profile, *timing), said);
        if (timing->source == Source::assumed && !timing->reference.empty())
            say_once(fmt::format("{}'s numbers are an assumption of the profile: {}",
                                 instruction.op, timing->reference),
                     said);
    });
    return said;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "ask/substitutes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "ask/answer.h"
#include "ask/what_if.h"
#include "core/instruction.h"
#include "published/shelf.h"

namespace occupipe::analysis {
namespace {

struct Substitute {
    Strength strength;
    std::string_view begin, end;              // of the op
    std::span<const std::string_view> types;  // between them; none: anything
    std::span<const std::string_view> from;   // entries, best first
    std::string_view why;
};

using Name = std::string_view;
constexpr Name words[] = {"u32", "s32", "b32", "f32"};
constexpr Name double_words[] = {"u64", "s64", "b64", "f64"};
constexpr Name signs[] = {"s32", "u32"};
constexpr std::span<const Name> any = {};

// A measured ld.global.f32 is a stream of independent loads: it has no latency of its own to give.
constexpr Name chased_global[] = {"ld.global.u32", "ld.global.s32", "ld.global.b32"};
constexpr Name chased_global_64[] = {"ld.global.u64", "ld.global.s64", "ld.global.b64"};
constexpr Name chased_shared[] = {"ld.shared.u32", "ld.shared.s32", "ld.shared.b32"};
constexpr Name chased_shared_64[] = {"ld.shared.u64", "ld.shared.s64", "ld.shared.b64"};
constexpr Name stored_global[] = {"st.global.u32", "st.global.s32", "st.global.b32",
                                  "st.global.f32"};
constexpr Name stored_shared[] = {"st.shared.u32", "st.shared.s32", "st.shared.b32",
                                  "st.shared.f32"};
constexpr Name additions[] = {"add.s32", "add.u32"};
constexpr Name products[] = {"mul.s32", "mul.u32"};
constexpr Name multiply_adds[] = {"mad.s32", "mad.u32"};
constexpr Name slots[] = {issue_slot};
constexpr Name fma_f32[] = {"fma.f32"};
constexpr Name mul_f32[] = {"mul.f32"};
constexpr Name mul_f64[] = {"mul.f64"};
constexpr Name shared_loads[] = {"ld.shared.s32", "ld.shared.u32"};
constexpr Name shared_stores[] = {"st.shared.u32", "ld.shared.s32", "ld.shared.u32"};
constexpr Name global_loads[] = {"ld.global.s32", "ld.global.u32"};
constexpr Name global_stores[] = {"st.global.u32", "ld.global.s32", "ld.global.u32"};
constexpr Name barriers[] = {"bar.sync"};
constexpr Name special[] = {"cos.approx.f32"};
constexpr Name doubles[] = {"mul.f64", "fma.f64"};
constexpr Name singles[] = {"mul.f32", "fma.f32"};
constexpr Name integers[] = {"mul.s32", "mad.s32", "add.s32"};

constexpr Name same_machine_code = "the same machine instruction";
constexpr Name papers_multiply =
    "the published table has only the multiplication, which uses the same unit";

constexpr Strength same = Strength::same_instruction;
constexpr Strength published_unit = Strength::published_unit;
constexpr Strength of_class = Strength::of_class;

// A register's type is not in a load's or a store's machine code; nor is the sign in that of the
// low half of an integer's sum or product. What a paper has measured of a unit is taken for the
// unit's other instructions, as Lemeire et al. do with Table 5 of "Analysis of the Analytical
// Performance Models for GPUs"; in section 6.3 they have one number for a class. Of a class, the
// first row that fits an op counts.
constexpr Substitute table[] = {
    {same, "ld.global.", "", words, chased_global, same_machine_code},
    {same, "ld.global.", "", double_words, chased_global_64, same_machine_code},
    {same, "ld.shared.", "", words, chased_shared, same_machine_code},
    {same, "ld.shared.", "", double_words, chased_shared_64, same_machine_code},
    {same, "st.global.", "", words, stored_global, same_machine_code},
    {same, "st.shared.", "", words, stored_shared, same_machine_code},
    {same, "add.", "", signs, additions, same_machine_code},
    {same, "sub.", "", signs, additions, same_machine_code},
    {same, "mul.", "", signs, products, same_machine_code},
    {same, "mad.", "", signs, multiply_adds, same_machine_code},
    {same, taken_branch, "", any, slots, "a branch takes an issue slot"},
    {same, "fma.f32.same", "", any, fma_f32, same_machine_code},
    {published_unit, "fma.f32", "", any, mul_f32, papers_multiply},
    {published_unit, "add.f32", "", any, mul_f32, papers_multiply},
    {published_unit, "sub.f32", "", any, mul_f32, papers_multiply},
    {published_unit, "fma.f64", "", any, mul_f64, papers_multiply},
    {published_unit, "add.f64", "", any, mul_f64, papers_multiply},
    {published_unit, "sub.f64", "", any, mul_f64, papers_multiply},
    {of_class, "bar.", "", any, barriers, "barriers"},
    {of_class, "mma.", "", any, any, "matrix instructions"},
    {of_class, "ld.shared", "", any, shared_loads, "accesses to shared memory"},
    {of_class, "st.shared", "", any, shared_stores, "shared memory"},
    {of_class, "atom.shared", "", any, shared_loads, "accesses to shared memory"},
    {of_class, "ldmatrix", "", any, shared_loads, "accesses to shared memory"},
    {of_class, "ld.const", "", any, shared_loads, "constants, as shared memory"},
    {of_class, "ld.", "", any, global_loads, "accesses to global memory"},
    {of_class, "st.", "", any, global_stores, "global memory"},
    {of_class, "atom.", "", any, global_loads, "accesses to global memory"},
    {of_class, "red.", "", any, global_loads, "accesses to global memory"},
    {of_class, "cp.async", "", any, global_loads, "accesses to global memory"},
    {of_class, "shfl.", "", any, shared_loads, "exchanges, as shared memory"},
    {of_class, "rcp.", "", any, special, "special functions"},
    {of_class, "rsqrt.", "", any, special, "special functions"},
    {of_class, "sqrt.", "", any, special, "special functions"},
    {of_class, "ex2.", "", any, special, "special functions"},
    {of_class, "lg2.", "", any, special, "special functions"},
    {of_class, "sin.", "", any, special, "special functions"},
    {of_class, "cvt.", "", any, special, "conversions, as special functions"},
    {of_class, "", ".f64", any, doubles, "double precision"},
    {of_class, "", ".f32", any, singles, "single precision"},
    {of_class, "", "", any, integers, "integers"},
};

bool fits(const Substitute& row, std::string_view op) {
    if (!op.starts_with(row.begin) || !op.ends_with(row.end)) return false;
    if (row.strength == published_unit) return op == row.begin;
    return row.types.empty() || std::ranges::count(row.types, op.substr(row.begin.size())) > 0;
}

// An entry of the profile, and the row that allows it; null: there is none.
struct Found {
    const InstructionTiming* timing = nullptr;
    const Substitute* row = nullptr;
};

// `complete`: one with both λ and Λ alone.
Found stand_in(const GpuProfile& profile, std::string_view op, bool complete) {
    for (const Substitute& row : table) {
        if (row.strength == of_class || !fits(row, op)) continue;
        for (const std::string_view name : row.from) {
            const InstructionTiming* const timing = profile.find_instruction(name);
            if (!timing || (row.strength == published_unit && timing->source != Source::literature))
                continue;
            if (!complete || timing->determined()) return {timing, &row};
        }
    }
    return {};
}

Found from_class(const GpuProfile& profile, std::string_view op) {
    const auto* const row = std::ranges::find_if(
        table, [&](const Substitute& one) { return one.strength == of_class && fits(one, op); });
    for (const std::string_view name : row->from) {
        const InstructionTiming* const timing = profile.find_instruction(name);
        if (timing && timing->determined()) return {timing, row};
    }
    return {};
}

// Through the banks of shared memory, by the width in an op's name.
int passes_of_width(std::string_view op) {
    if (!op.starts_with("ld.shared") && !op.starts_with("st.shared")) return 1;
    return words_of_lane(op);
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
    for (const Substitute& row : table)
        if (row.strength == same && fits(row, op))
            for (const std::string_view name : row.from)
                if (name != op) names.emplace_back(name);
    return names;
}

std::vector<std::string> apply_stand_ins(const Kernel& kernel, GpuProfile& profile) {
    std::vector<std::string> said;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        if (profile.find_instruction(instruction.op)) return;
        const bool slot = instruction.op == issue_slot || is_branch(instruction.op);
        if (slot && !profile.find_instruction(issue_slot)) said.push_back(add_issue_slot(profile));
        if (profile.find_instruction(instruction.op)) return;
        Found found = stand_in(profile, instruction.op, true);
        if (!found.timing) found = stand_in(profile, instruction.op, false);
        if (!found.timing) return;
        said.push_back(fmt::format("{} uses the numbers of {}: {}", instruction.op,
                                   found.timing->name, found.row->why));
        InstructionTiming timing = *found.timing;
        timing.name = instruction.op;
        profile.instructions.push_back(std::move(timing));
    });
    return said;
}

Notes take_classes(const Kernel& kernel, GpuProfile& profile, const GpuProfile& offered,
                   const std::set<std::string>& but, Wide wide) {
    Notes notes;
    std::vector<std::string> uses;
    for (const LackingOp& lacking : lacking_ops(profile, kernel, offered)) {
        if (but.contains(lacking.op)) continue;
        const Found found = from_class(offered, lacking.op);
        if (!found.timing) continue;
        uses.push_back(lacking.op + "=" + found.timing->name);
        Note note{.kind = Note::Kind::of_class,
                  .sentence = fmt::format("{} uses the numbers of {} for its class: {}", lacking.op,
                                          found.timing->name, found.row->why),
                  .subject = lacking.op,
                  .size = 1};
        if (wide == Wide::by_pass) note.size = passes_of_width(lacking.op);
        if (note.size > 1) note.sentence += fmt::format(", λ for each of {} passes", note.size);
        notes.push_back(std::move(note));
    }
    apply_uses(uses, kernel, profile);
    for (const Note& note : notes) {
        InstructionTiming& one = *profile.find_instruction(note.subject);
        one.cpi = one.cpi.times(note.size);
    }
    return notes;
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

// Whether it has the clock that the shelf has for the card; of a data sheet's card it has.
bool is_boost(const GpuProfile& profile) {
    const ShelfCard* const card = shelf_card_of(profile.device);
    return card == nullptr || card->clock_hz == profile.clock_hz;
}

// As published/shelf.h marks its profiles.
bool made_of_published_figures(const GpuProfile& profile) {
    return std::ranges::any_of(profile.provenance.entries, [](const AnnotationEntry& entry) {
        return entry.key == "made" && entry.value.text == "published";
    });
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
    if (made_of_published_figures(profile))
        said.push_back(
            fmt::format("the profile of {} is assembled from published figures, not measured "
                        "(docs/background/shelf.md): {} of {:.4g} MHz",
                        profile.device.name, is_boost(profile) ? "boost clock" : "clock",
                        profile.clock_hz * 1e-6));
    // Those with one reason in one sentence.
    std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        const InstructionTiming* const timing = profile.find_instruction(instruction.op);
        if (!timing) return;
        say_once(assumed_scope(profile, *timing), said);
        if (timing->source != Source::assumed || timing->reference.empty()) return;
        auto reason = std::ranges::find(by_reason, timing->reference,
                                        [](const auto& one) { return one.first; });
        if (reason == by_reason.end())
            reason = by_reason.insert(by_reason.end(), {timing->reference, {}});
        say_once(instruction.op, reason->second);
    });
    for (const auto& [reason, ops] : by_reason)
        said.push_back(
            fmt::format("the profile assumes the numbers of {}: {}", fmt::join(ops, ", "), reason));
    return said;
}

}  // namespace occupipe::analysis

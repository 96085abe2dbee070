// SPDX-License-Identifier: MIT
#include "core/files/old_notes.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

namespace occupipe {
namespace {

// "12 % at 3 of 40 points": the number in front of the percent sign.
std::optional<double> percent_in(std::string_view text) {
    if (!text.starts_with(' ')) return std::nullopt;
    text.remove_prefix(1);
    double percent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (error != std::errc{} || !text.starts_with(" %")) return std::nullopt;
    return percent / 100;
}

}  // namespace

NotedBound bound_in_note(const std::string& note) {
    for (const Estimate::Kind kind : {Estimate::Kind::upper_bound, Estimate::Kind::lower_bound}) {
        const std::string_view direction = to_string(kind);
        if (note == direction) return {kind, {}};
        const std::string prefix = std::string(direction) + ": ";
        if (note.starts_with(prefix)) return {kind, note.substr(prefix.size())};
    }
    return {Estimate::Kind::undetermined, note};
}

std::vector<Doubt> doubts_in_note(const std::string& note) {
    std::vector<Doubt> doubts;
    if (note.empty()) return doubts;
    for (const Doubt::Kind kind : words(std::type_identity<Doubt::Kind>{})) {
        const std::string_view sentence = sentence_of(kind);
        const std::size_t at = note.find(sentence);
        if (at != note.npos)
            doubts.push_back(
                {kind, percent_in(std::string_view(note).substr(at + sentence.size()))});
    }
    return doubts;
}

void read_step(InstructionTiming& timing) {
    constexpr std::string_view words = "a step is ";
    if (!timing.latency || !timing.step.empty()) return;
    const std::string& note = timing.latency->note;
    const std::size_t at = note.find(words);
    if (at == note.npos) return;
    const std::size_t begin = at + words.size();
    timing.step = note.substr(begin, note.find(';', begin) - begin);
}

void withdraw_false_bound(InstructionTiming& timing) {
    if (!timing.latency || timing.latency->kind != Estimate::Kind::lower_bound ||
        !timing.latency->note.starts_with(nothing_waited))
        return;
    timing.latency_unknown = timing.latency->note;
    timing.latency.reset();
    timing.latency_growth.reset();
    timing.step.clear();
}

}  // namespace occupipe

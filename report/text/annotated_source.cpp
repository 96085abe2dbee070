// SPDX-License-Identifier: MIT
#include "report/text/annotated_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/observers/stalls.h"

namespace occupipe::report {
namespace {

using analysis::AnnotatedInstruction;
using analysis::AnnotatedLine;
using analysis::Annotation;
using analysis::MemorySums;
using analysis::Spent;

constexpr double second_reason = 0.2;  // of the time: from this on it is named, too

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string few_digits(double number) {
    if (number == 0) return "";
    return number >= 100 ? grouped_number(number) : fmt::format("{:.3g}", number);
}

// "1 pass", "1.6 passes"
std::string counted(double number, std::string_view one, std::string_view many) {
    const std::string digits = fmt::format("{:.3g}", number);
    return fmt::format("{} {}", digits, digits == "1" ? one : many);
}

std::string memory_text(const std::optional<MemorySums>& memory) {
    std::vector<std::string> parts;
    if (!memory) return {};
    if (memory->global > 0)
        parts.push_back(counted(memory->sectors / memory->global, "sector", "sectors"));
    for (std::size_t cache = 0; !memory->found.empty() && cache < analysis::device_memory();
         ++cache)
        if (memory->found[cache] > 0)
            parts.push_back(fmt::format("{:.0f} % {}", 100 * memory->found[cache] / memory->read,
                                        analysis::heading(cache)));
    if (memory->shared > 0)
        parts.push_back(counted(memory->passes / memory->shared, "pass", "passes"));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string_view short_name(sim::WaitReason reason) {
    if (reason == sim::WaitReason::subsystem) return "busy";
    if (reason == sim::WaitReason::issue_limit) return "issue";
    return to_string(reason);
}

// Files that lines are of, where there are several.
bool several_files(const Annotation& annotation) {
    const std::string* first = nullptr;
    for (const AnnotatedLine& line : annotation.lines) {
        if (line.number == 0) continue;
        if (first && *first != line.file) return true;
        first = &line.file;
    }
    return false;
}

class View {
public:
    View(const Annotation& annotation, AnnotationView view)
        : annotation_(annotation),
          view_(view),
          awaited_(annotation),
          files_(several_files(annotation)),
          memory_(std::ranges::any_of(annotation.instructions, [](const AnnotatedInstruction& one) {
              return one.memory.has_value();
          })) {
        const bool machine = view != AnnotationView::source;
        column(view == AnnotationView::machine ? "address" : "line", Align::right);
        column("executed", Align::right);
        column("per warp", Align::right);
        column("cycles", Align::right);
        if (annotation.interval_draws > 0) column("95 %", Align::right);
        column("share", Align::right);
        column("because of", Align::left);
        column("result of", Align::left);
        column("awaited", Align::right);
        if (machine) column("stall", Align::right);
        if (memory_) column("per access", Align::left);
        if (view == AnnotationView::machine) column("from line", Align::left);
        column(view == AnnotationView::machine ? "instruction" : "source", Align::left);
    }

    std::string run() {
        if (view_ == AnnotationView::machine)
            for (const AnnotatedInstruction& one : annotation_.instructions) add(one);
        else
            add_lines();
        std::string text = plain_text(table_);
        return text;
    }

private:
    void column(const char* name, Align align) {
        table_.header.emplace_back(name);
        table_.align.push_back(align);
    }

    void add_lines() {
        const AnnotatedLine* before = nullptr;
        for (const AnnotatedLine& line : annotation_.lines) {
            if (before && line.text && before->file == line.file &&
                before->number + 1 < line.number)
                table_.rows.emplace_back(std::vector<std::string>{"…"});
            add(line);
            if (view_ == AnnotationView::both)
                for (const std::size_t i : line.instructions) add(annotation_.instructions[i]);
            before = &line;
        }
    }

    void add(const AnnotatedLine& line) {
        std::string name = line.number == 0 ? "-"
                           : files_         ? fmt::format("{}:{}", line.file, line.number)
                                            : fmt::format("{}", line.number);
        std::string source = line.number == 0 ? "(instructions that say no line)"
                                              : shortened(line.text.value_or(""));
        std::vector<std::string> row = {std::move(name)};
        if (line.instructions.empty())
            row.resize(table_.header.size() - 1);
        else
            append(row, cells(annotation_, line.spent, line.memory), line.interval,
                   awaited_.of(line.instructions), "", "");
        row.push_back(std::move(source));
        table_.rows.push_back(std::move(row));
    }

    void add(const AnnotatedInstruction& one) {
        std::vector<std::string> row = {one.address ? fmt::format("{:04x}", *one.address) : ""};
        append(row, cells(annotation_, one.spent, one.memory), one.interval,
               awaited_instruction(one), one.stall ? fmt::format("{}", *one.stall) : "", one.at);
        std::string text = one.text.empty() ? fmt::format("{} ({})", one.id, one.op) : one.text;
        row.push_back(view_ == AnnotationView::both ? "    " + text : text);
        table_.rows.push_back(std::move(row));
    }

    void append(std::vector<std::string>& row, AnnotationCells cells,
                const std::optional<analysis::Interval>& interval, std::string what_for,
                std::string stall, const std::string& at) {
        row.insert(row.end(),
                   {std::move(cells.executed), std::move(cells.per_warp), std::move(cells.cycles)});
        if (annotation_.interval_draws > 0) row.push_back(interval_text(interval));
        row.insert(row.end(), {std::move(cells.share), std::move(cells.reason), std::move(what_for),
                               std::move(cells.awaited)});
        if (view_ != AnnotationView::source) row.push_back(std::move(stall));
        if (memory_) row.push_back(std::move(cells.memory));
        if (view_ == AnnotationView::machine) row.push_back(at);
    }

    const Annotation& annotation_;
    AnnotationView view_;
    AwaitedLines awaited_;
    bool files_;
    bool memory_;
    TextTable table_;
};

std::string heading(const Annotation& annotation) {
    return fmt::format("{} by {}: {:.10g} cycles; the busiest core runs {} warp{}, {} at once\n",
                       annotation.kernel, annotation.has_lines() ? "source line" : "instruction",
                       annotation.cycles,
                       grouped_number(static_cast<double>(annotation.core_warps)),
                       annotation.core_warps == 1 ? "" : "s", annotation.places);
}

std::string ending(const Annotation& annotation) {
    Spent all;
    for (const AnnotatedInstruction& one : annotation.instructions) all += one.spent;
    std::string text = fmt::format(
        "All: {} executed, {:.6g} per warp; {:.6g} cycles of a warp, {} of its place's time",
        grouped_number(all.executions), all.executions_per_warp, all.cycles(),
        percent(annotation.share(all.cycles())));
    for (const auto& [reason, cycles] : annotation.rest)
        if (cycles > 0)
            text += fmt::format("; {} {}", to_string(reason), percent(annotation.share(cycles)));
    text +=
        "\n"
        "executed: by all warps of the launch; cycles: a warp's wait to issue this, on average;\n"
        "share: of the time of all warp slots; busy: its subsystem is; issue: the issue limit;\n"
        "result of: what it waits for most; awaited: cycles in which others wait for its result\n";
    if (annotation.interval_draws > 0)
        text += fmt::format("95 %: of the cycles, in {} draws of the profile's standard errors\n",
                            annotation.interval_draws);
    return text;
}

nlohmann::ordered_json spent_json(const Annotation& annotation, const Spent& spent) {
    nlohmann::ordered_json waits = nlohmann::ordered_json::object();
    for (const auto& [reason, cycles] : spent.waits) waits[std::string(to_string(reason))] = cycles;
    return {{"executions", spent.executions},
            {"executions_per_warp", spent.executions_per_warp},
            {"cycles_per_warp", spent.cycles()},
            {"share", annotation.share(spent.cycles())},
            {"waits", waits},
            {"awaited_cycles_per_warp", spent.awaited}};
}

void add_interval(nlohmann::ordered_json& json, const std::optional<analysis::Interval>& interval) {
    if (!interval) return;
    json["cycles_per_warp_interval"] = {
        {"median", interval->median}, {"low", interval->low}, {"high", interval->high}};
}

void add_memory(nlohmann::ordered_json& json, const std::optional<MemorySums>& memory) {
    if (!memory) return;
    if (memory->global > 0) json["sectors_per_access"] = memory->sectors / memory->global;
    if (memory->read > 0 && !memory->found.empty())
        for (std::size_t cache = 0; cache < analysis::device_memory(); ++cache)
            json["hits"][std::string(analysis::cache_levels()[cache].nth)] =
                memory->found[cache] / memory->read;
    if (memory->shared > 0) json["passes_per_access"] = memory->passes / memory->shared;
}

}  // namespace

std::string shortened(const std::string& text) {
    constexpr std::size_t columns = 100;
    std::string plain;
    for (const char c : text) plain += c == '\t' ? "    " : std::string(1, c);
    if (display_width(plain) <= columns) return plain;
    while (display_width(plain) >= columns) {
        plain.pop_back();
        while (!plain.empty() && (static_cast<unsigned char>(plain.back()) & 0xc0) == 0x80)
            plain.pop_back();
    }
    return plain + "…";
}

std::string grouped_number(double number) {
    std::string digits = fmt::format("{:.0f}", number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0);
         at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

AnnotationCells cells(const Annotation& annotation, const Spent& spent,
                      const std::optional<MemorySums>& memory) {
    AnnotationCells cells{.executed = grouped_number(spent.executions),
                          .per_warp = fmt::format("{:.4g}", spent.executions_per_warp),
                          .cycles = few_digits(spent.cycles()),
                          .share = percent(annotation.share(spent.cycles())),
                          .reason = {},
                          .awaited = few_digits(spent.awaited),
                          .memory = memory_text(memory)};
    if (spent.cycles() == 0) {
        cells.share.clear();
        return cells;
    }
    std::vector<std::pair<sim::WaitReason, double>> reasons(spent.waits.begin(), spent.waits.end());
    std::ranges::stable_sort(reasons, std::greater(), [](const auto& one) { return one.second; });
    for (std::size_t i = 0; i < std::min<std::size_t>(2, reasons.size()); ++i) {
        const double part = reasons[i].second / spent.cycles();
        if (i > 0 && part < second_reason) break;
        if (i > 0) cells.reason += ", ";
        cells.reason += short_name(reasons[i].first);
        if (part < 0.995) cells.reason += fmt::format(" {:.0f} %", 100 * part);
    }
    return cells;
}

AwaitedLines::AwaitedLines(const Annotation& annotation) : annotation_(annotation) {
    for (const AnnotatedInstruction& one : annotation.instructions) by_id_[one.id] = &one;
}

std::string AwaitedLines::of(const std::vector<std::size_t>& instructions) const {
    std::map<std::string, double> sums;
    for (const std::size_t i : instructions)
        for (const auto& [id, cycles] : annotation_.instructions[i].waits_for) {
            const auto found = by_id_.find(id);
            const std::string& at = found == by_id_.end() ? std::string() : found->second->at;
            sums[at.empty() ? id : "line " + at.substr(at.rfind(':') + 1)] += cycles;
        }
    const auto most =
        std::ranges::max_element(sums, {}, [](const auto& one) { return one.second; });
    return most == sums.end() || most->second == 0 ? "" : most->first;
}

std::string interval_text(const std::optional<analysis::Interval>& interval) {
    if (!interval || interval->high == 0) return {};
    const auto number = [](double value) { return value == 0 ? "0" : few_digits(value); };
    if (number(interval->low) == number(interval->high)) return number(interval->low);
    return number(interval->low) + " to " + number(interval->high);
}

std::string awaited_instruction(const AnnotatedInstruction& instruction) {
    const auto most = std::ranges::max_element(instruction.waits_for, {},
                                               [](const auto& one) { return one.second; });
    return most == instruction.waits_for.end() || most->second == 0 ? "" : most->first;
}

std::string to_text(const Annotation& annotation, AnnotationView view) {
    std::string text = heading(annotation);
    if (!annotation.has_lines() && view != AnnotationView::machine) {
        text +=
            "No instruction of this kernel says which source line it comes from (`at`), so there "
            "is no\nview by line; by instruction:\n";
        view = AnnotationView::machine;
    }
    text += "\n" + View(annotation, view).run() + "\n" + ending(annotation);
    for (const std::string& note : annotation.notes) text += fmt::format("Note: {}.\n", note);
    return text;
}

nlohmann::ordered_json to_json(const Annotation& annotation) {
    nlohmann::ordered_json instructions = nlohmann::ordered_json::array();
    for (const AnnotatedInstruction& one : annotation.instructions) {
        nlohmann::ordered_json json = {{"id", one.id}, {"op", one.op}};
        if (one.address) json["address"] = *one.address;
        if (!one.text.empty()) json["text"] = one.text;
        if (!one.at.empty()) json["at"] = one.at;
        if (one.stall) json["stall"] = *one.stall;
        json.update(spent_json(annotation, one.spent));
        add_interval(json, one.interval);
        if (!one.waits_for.empty()) json["waits_for"] = one.waits_for;
        add_memory(json, one.memory);
        instructions.push_back(std::move(json));
    }
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const AnnotatedLine& line : annotation.lines) {
        if (line.number == 0 || line.instructions.empty()) continue;
        nlohmann::ordered_json json = {{"at", fmt::format("{}:{}", line.file, line.number)}};
        if (line.text) json["source"] = *line.text;
        json.update(spent_json(annotation, line.spent));
        add_interval(json, line.interval);
        add_memory(json, line.memory);
        nlohmann::ordered_json ids = nlohmann::ordered_json::array();
        for (const std::size_t i : line.instructions) ids.push_back(annotation.instructions[i].id);
        json["instructions"] = std::move(ids);
        lines.push_back(std::move(json));
    }
    nlohmann::ordered_json rest = nlohmann::ordered_json::object();
    for (const auto& [reason, cycles] : annotation.rest)
        rest[std::string(to_string(reason))] = annotation.share(cycles);
    nlohmann::ordered_json all = {
        {"cycles", annotation.cycles},      {"core_warps", annotation.core_warps},
        {"warp_places", annotation.places}, {"lines", lines},
        {"instructions", instructions},     {"rest", rest},
        {"notes", annotation.notes}};
    if (annotation.interval_draws > 0)
        all["intervals"] = {{"draws", annotation.interval_draws}, {"coverage", 0.95}};
    return all;
}

}  // namespace occupipe::report

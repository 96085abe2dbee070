// SPDX-License-Identifier: MIT
#include "report/text/extraction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/text/execution.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using extract::ExtractedClass;
using extract::ExtractedKernel;

std::size_t nodes(const std::vector<KernelItem>& items) {
    std::size_t count = 0;
    for_each_instruction(items, [&](const KernelInstruction&) { ++count; });
    return count;
}

std::string heading(const analysis::KernelIn& in) {
    return fmt::format("{} for sm_{}: {} group{}; {}\n{}\n", in.kernel().name, in.architecture,
                       in.seen.groups, in.seen.groups == 1 ? "" : "s", occupancy_text(in.occupancy),
                       analysis::to_text(in.seen));
}

std::string classes(const ExtractedKernel& extracted) {
    TextTable table;
    table.header = {"class", "warps", "stands for", "instructions", "in the file", "first seen"};
    table.align = {Align::right, Align::right, Align::right,
                   Align::right, Align::right, Align::left};
    std::size_t taken = 0;
    for (const ExtractedClass& one : extracted.classes) {
        if (!one.taken) continue;
        table.rows.push_back(
            {fmt::format("{}", taken + 1), fmt::format("{:.1f} %", 100 * one.share),
             fmt::format("{:.1f} %", 100 * one.stands_for), fmt::format("{}", one.instructions),
             fmt::format("{}", nodes(extracted.kernel.warps[taken].instructions)),
             fmt::format("group {}, warp {}", one.first_group, one.first_warp)});
        ++taken;
    }
    std::string text = plain_text(table);
    if (taken < extracted.classes.size())
        text += fmt::format(
            "{} of {} classes of warps are kept, and stand for the others; kept classes execute "
            "{:.1f} % of the instructions\n",
            taken, extracted.classes.size(), 100 * extracted.represented);
    return text;
}

std::string instructions(const ExtractedKernel& extracted) {
    TextTable table;
    table.header = {"instruction", "per warp", "machine instructions"};
    table.align = {Align::left, Align::right, Align::left};
    std::vector<std::pair<double, std::vector<std::string>>> rows;
    for (const auto& [name, machine] : extracted.names) {
        double sum = 0;
        std::vector<std::string> parts;
        for (const auto& [opcode, times] : machine) {
            sum += times;
            parts.push_back(opcode);
        }
        constexpr std::size_t most = 4;
        if (parts.size() > most) {
            const std::size_t more = parts.size() - most;
            parts.resize(most);
            parts.push_back(fmt::format("and {} more", more));
        }
        rows.emplace_back(sum, std::vector<std::string>{name, fmt::format("{:.4g}", sum),
                                                        fmt::format("{}", fmt::join(parts, ", "))});
    }
    std::ranges::stable_sort(rows, std::greater(), [](const auto& row) { return row.first; });
    for (auto& row : rows) table.rows.push_back(std::move(row.second));
    return plain_text(table);
}

std::string profile_text(const ProfileNames& names) {
    std::string text;
    for (const std::string& sentence : names.stand_ins) text += sentence + "\n";
    if (names.lacking.empty()) return text;
    text +=
        "The profile lacks these: 'measure --for' measures them, 'predict' has --assume-latency,\n"
        "or takes another's numbers with\n";
    for (const analysis::LackingOp& one : names.lacking)
        text += fmt::format("  --use {}={}\n", one.op, one.guess);
    return text;
}

}  // namespace

std::string to_text(const analysis::KernelIn& in, const std::optional<ProfileNames>& names) {
    const std::string of_profile = names ? profile_text(*names) : "";
    return fmt::format("{}\n{}\n{}{}{}", heading(in), classes(in.extracted),
                       instructions(in.extracted), of_profile.empty() ? "" : "\n", of_profile);
}

nlohmann::ordered_json to_json(const analysis::KernelIn& in,
                               const std::optional<ProfileNames>& names) {
    using Json = nlohmann::ordered_json;
    Json limits = Json::array();
    for (const Occupancy::Limit& limit : in.occupancy.limits)
        limits.push_back({{"what", occupipe::to_text(limit.what)}, {"groups", limit.groups}});
    Json json = {{"format", "occupipe-extraction/1"},
                 {"kernel", in.kernel().name},
                 {"architecture", fmt::format("sm_{}", in.architecture)},
                 {"groups", in.seen.groups},
                 {"executed_groups", in.seen.executed},
                 {"occupancy",
                  {{"groups", in.occupancy.groups},
                   {"group_warps", in.occupancy.group_warps},
                   {"share", in.occupancy.share},
                   {"limits", std::move(limits)}}},
                 {"instructions_per_warp", in.extracted.instructions},
                 {"represented", in.extracted.represented}};
    if (in.seen.standard_error) json["standard_error"] = *in.seen.standard_error;
    json["unseen_share"] = in.seen.unseen_share;
    json["classes"] = Json::array();
    for (const ExtractedClass& one : in.extracted.classes)
        json["classes"].push_back({{"share", one.share},
                                   {"stands_for", one.stands_for},
                                   {"instructions", one.instructions},
                                   {"first_group", one.first_group},
                                   {"first_warp", one.first_warp}});
    json["names"] = Json::object();
    for (const auto& [name, machine] : in.extracted.names) json["names"][name] = machine;
    if (names) {
        json["stand_ins"] = names->stand_ins;
        json["lacking"] = Json::array();
        for (const analysis::LackingOp& one : names->lacking)
            json["lacking"].push_back({{"op", one.op}, {"guess", one.guess}});
    }
    json["assumptions"] = texts(in.assumptions);
    return json;
}

}  // namespace occupipe::report

// SPDX-License-Identifier: MIT
#include "report/text/program_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "core/files/json_reader.h"
#include "report/text/program_launches.h"
#include "report/text/seconds_text.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using Kernel = EarlierRun::Kernel;

constexpr std::int64_t most_launches = std::int64_t{1} << 53;

Kernel& kernel_of(EarlierRun& run, const std::string& symbol) {
    const auto found = std::ranges::find(run.kernels, symbol, &Kernel::symbol);
    if (found != run.kernels.end()) return *found;
    run.kernels.push_back(
        {.symbol = symbol, .seconds = std::vector<std::optional<double>>(run.profiles.size(), 0)});
    return run.kernels.back();
}

void add(std::optional<double>& sum, const std::optional<double>& seconds) {
    if (sum && seconds)
        *sum += *seconds;
    else
        sum.reset();
}

EarlierRun of_journals(const program::Journals& journals) {
    EarlierRun run;
    run.profiles = journals.profiles;
    for (const program::ShapeTotal& one : journals.shapes) {
        Kernel& kernel = kernel_of(run, one.shape.kernel);
        kernel.launches += one.launches;
        for (std::size_t i = 0; i < run.profiles.size(); ++i)
            add(kernel.seconds[i], i < one.seconds.size() ? one.seconds[i] : std::nullopt);
    }
    return run;
}

// One kernel, or all, on one profile; no launches: it is not in that run.
struct Row {
    std::string name;
    std::uint64_t launches_before = 0, launches_after = 0;
    std::optional<double> before, after;

    double difference() const { return std::abs(after.value_or(0) - before.value_or(0)); }
};

std::vector<std::string> cells(const Row& row) {
    const auto time = [](std::uint64_t launches, const std::optional<double>& seconds) {
        return launches == 0 ? "" : seconds ? seconds_text(*seconds) : std::string("not known");
    };
    std::string change;
    if (row.launches_before == 0)
        change = "new";
    else if (row.launches_after == 0)
        change = "gone";
    else if (row.before && row.after && *row.before > 0)
        change = fmt::format("{:+.1f} %", 100 * (*row.after / *row.before - 1));
    return {row.name,
            row.launches_before == row.launches_after
                ? fmt::format("{}", row.launches_after)
                : fmt::format("{} → {}", row.launches_before, row.launches_after),
            time(row.launches_before, row.before), time(row.launches_after, row.after), change};
}

const Kernel* find(const EarlierRun& run, const std::string& symbol) {
    const auto found = std::ranges::find(run.kernels, symbol, &Kernel::symbol);
    return found == run.kernels.end() ? nullptr : &*found;
}

// A kernel whose parameters changed has another symbol.
void join_renamed(std::vector<std::pair<const Kernel*, const Kernel*>>& pairs) {
    std::map<std::string, std::vector<std::size_t>> gone, fresh;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (pairs[i].second == nullptr) gone[short_name(pairs[i].first->symbol)].push_back(i);
        if (pairs[i].first == nullptr) fresh[short_name(pairs[i].second->symbol)].push_back(i);
    }
    for (const auto& [name, places] : gone) {
        const auto found = fresh.find(name);
        if (places.size() != 1 || found == fresh.end() || found->second.size() != 1) continue;
        std::swap(pairs[places.front()].second, pairs[found->second.front()].second);
    }
    std::erase_if(pairs, [](const auto& one) { return !one.first && !one.second; });
}

std::string table_of(const EarlierRun& before, std::size_t at_before, const EarlierRun& after,
                     std::size_t at_after) {
    // By symbol; what has no partner, by the short name, where that has one symbol on each side.
    std::vector<std::pair<const Kernel*, const Kernel*>> pairs;
    for (const Kernel& one : before.kernels) pairs.emplace_back(&one, find(after, one.symbol));
    for (const Kernel& one : after.kernels)
        if (find(before, one.symbol) == nullptr) pairs.emplace_back(nullptr, &one);
    join_renamed(pairs);
    std::vector<Row> rows;
    Row all{.name = "all", .before = 0, .after = 0};
    for (const auto& [old, fresh] : pairs) {
        Row row{.name = short_name((old ? old : fresh)->symbol)};
        if (old) {
            row.launches_before = old->launches;
            row.before = old->seconds[at_before];
            all.launches_before += old->launches;
            add(all.before, row.before);
        }
        if (fresh) {
            row.launches_after = fresh->launches;
            row.after = fresh->seconds[at_after];
            all.launches_after += fresh->launches;
            add(all.after, row.after);
        }
        rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), &Row::difference);
    rows.push_back(all);
    TextTable table;
    table.header = {"kernel", "launches", "before", "after", "change"};
    table.align.assign(table.header.size(), Align::right);
    table.align[0] = Align::left;
    for (const Row& row : rows) table.rows.push_back(cells(row));
    return plain_text(table);
}

}  // namespace

EarlierRun parse_earlier_run(const std::string& text, const std::string& file_name) {
    const Document document = parse_json(text, file_name);
    const DocumentNode& root = document.root();
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format) != "occupipe-program/1")
        document.fail(format, "must be occupipe-program/1, which 'occupipe run --json' writes");
    EarlierRun run;
    run.file_name = file_name;
    for (const DocumentNode& one : document.items(document.required(root, "profiles")))
        run.profiles.push_back(document.text(one));
    for (const DocumentNode& one : document.items(document.required(root, "kernels"))) {
        Kernel& kernel = kernel_of(run, document.text(document.required(one, "symbol")));
        kernel.launches += static_cast<std::uint64_t>(
            document.integer(document.required(one, "launches"), 1, most_launches));
        const DocumentNode& predictions = document.required(one, "predictions");
        if (document.items(predictions).size() != run.profiles.size())
            document.fail(predictions, "must be one for each of the profiles");
        for (std::size_t i = 0; i < run.profiles.size(); ++i) {
            const DocumentNode* const seconds =
                Document::find(document.items(predictions)[i], "seconds");
            if (seconds && document.number(*seconds) < 0)
                document.fail(*seconds, "must not be negative");
            add(kernel.seconds[i],
                seconds ? std::optional(document.number(*seconds)) : std::nullopt);
        }
    }
    return run;
}

std::string comparison_text(const EarlierRun& before, const program::Journals& journals) {
    const EarlierRun after = of_journals(journals);
    std::string text;
    for (std::size_t i = 0; i < after.profiles.size(); ++i) {
        const auto found = std::ranges::find(before.profiles, after.profiles[i]);
        if (found == before.profiles.end()) continue;
        const auto at = static_cast<std::size_t>(std::distance(before.profiles.begin(), found));
        text += fmt::format("\n{} against {}\n{}", after.profiles[i], before.file_name,
                            table_of(before, at, after, i));
    }
    return text;
}

}  // namespace occupipe::report

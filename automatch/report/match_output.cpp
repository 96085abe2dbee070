// SPDX-License-Identifier: MIT
#include "automatch/report/match_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files/csv.h"
#include "report/text/seconds_text.h"
#include "report/text/text_table.h"

namespace occupipe::automatch {

using report::Align;
using report::plain_text;
using report::seconds_text;
using report::TextTable;

namespace {

using Json = nlohmann::ordered_json;

constexpr double giga = 1e9;

struct Part {
    const char* name;
    double Cost::*seconds;
};
constexpr Part parts[] = {{"computation", &Cost::computation},
                          {"memory", &Cost::memory},
                          {"synchronisation", &Cost::synchronisation}};

// Of the parts' sum: models that let computation and memory overlap take less than that.
std::optional<double> share(const Cost& cost, double Cost::*part) {
    double sum = 0;
    for (const Part& one : parts) sum += cost.*one.seconds;
    if (sum <= 0) return std::nullopt;
    return cost.*part / sum;
}

std::optional<double> gflops(const Workload& workload, const Cost& cost) {
    if (!cost.seconds || *cost.seconds <= 0 || workload.operations.total == 0) return std::nullopt;
    return static_cast<double>(workload.operations.total) / *cost.seconds / giga;
}

std::string number(std::optional<double> value, const char* format = "{:.4g}") {
    return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string summary(const Workload& w) {
    const Operations& o = w.operations;
    std::string text =
        fmt::format("{}{}\n", w.kernel, w.program.empty() ? "" : fmt::format(" ({})", w.program));
    if (!w.partial.empty()) text += fmt::format("  only a part was counted: {}\n", w.partial);
    if (!w.unseen.empty()) text += fmt::format("  not counted: what {} did\n", w.unseen);
    text += fmt::format(
        "  operations       {} (additions {}, multiplications {}, divisions {}, square roots {}, "
        "functions {}; {} in single precision)\n",
        o.total, o.additions, o.multiplications, o.divisions, o.square_roots, o.functions,
        o.single_precision);
    const auto of_all = [&](std::int64_t part) {
        return o.total == 0 ? "-"
                            : fmt::format("{:.1f} %", 100 * static_cast<double>(part) /
                                                          static_cast<double>(o.total));
    };
    text += fmt::format("  vectorisable     {}\n  in fused pairs   {}\n", of_all(o.vectorisable),
                        of_all(2 * o.fused_pairs));
    for (const Schedule& schedule : w.schedules)
        text += fmt::format(
            "  depth            {} levels{} ({})\n", schedule.depth,
            schedule.depth == 0
                ? ""
                : fmt::format(", {:.4g} operations each on average",
                              static_cast<double>(o.total) / static_cast<double>(schedule.depth)),
            schedule.name);
    for (const ReuseDistances& reuse : w.reuse)
        text += fmt::format("  references       {} to units of {} bytes, {} to new ones\n",
                            reuse.references, reuse.unit_bytes, reuse.first);
    text += w.synchronisations
                ? fmt::format("  synchronisations {}{}\n", *w.synchronisations,
                              w.synchronisations_from.empty()
                                  ? ""
                                  : fmt::format(" (from {})", w.synchronisations_from))
                : "  synchronisations not known\n";
    for (const Loop& loop : w.loops) {
        int depth = 1;
        for (std::string parent = loop.parent; !parent.empty(); ++depth) {
            const auto outer = std::ranges::find(w.loops, parent, &Loop::name);
            if (outer == w.loops.end() || depth > std::ssize(w.loops)) break;
            parent = outer->parent;
        }
        text += fmt::format("  {:{}}loop {}: {}, {} iterations{}{}\n", "", 2 * (depth - 1),
                            loop.name, to_string(loop.kind), loop.iterations,
                            loop.reason.empty() ? "" : ": ", loop.reason);
    }
    return text;
}

}  // namespace

std::vector<MatchCell> ranked(std::vector<MatchCell> cells, CostModel model) {
    std::erase_if(cells, [&](const MatchCell& cell) { return cell.model != model; });
    std::ranges::stable_sort(cells, [](const MatchCell& a, const MatchCell& b) {
        if (!a.cost.seconds || !b.cost.seconds) return a.cost.seconds.has_value();
        return *a.cost.seconds < *b.cost.seconds;
    });
    return cells;
}

Winner winner(const std::vector<MatchCell>& cells) {
    if (cells.empty() || !cells.front().cost.seconds) return {{}, "no device has a cost"};
    const MatchCell& best = cells.front();
    const std::string& name = best.device->device.name;
    if (cells.size() == 1) return {name, "the only device"};
    const bool all_known =
        std::ranges::all_of(cells, [](const MatchCell& c) { return c.cost.seconds.has_value(); });
    if (!all_known)
        return {{},
                fmt::format("no clear winner: {} leads, but not every device has a "
                            "cost",
                            name)};
    std::string alike;
    bool errors_known = best.std_error.has_value();
    for (std::size_t i = 1; i < cells.size(); ++i) {
        const double apart = *cells[i].cost.seconds - *best.cost.seconds;
        errors_known = errors_known && cells[i].std_error.has_value();
        const double error = std::hypot(best.std_error.value_or(0), cells[i].std_error.value_or(0));
        if (apart <= 2 * error)
            alike += fmt::format("{}{}", alike.empty() ? "" : ", ", cells[i].device->device.name);
    }
    if (!alike.empty())
        return {{},
                fmt::format("no clear winner: {} and {} lie within twice the error of their "
                            "difference",
                            name, alike)};
    const double margin = *cells[1].cost.seconds / *best.cost.seconds;
    return {name, fmt::format("{:.3g} times as fast as {}{}", margin, cells[1].device->device.name,
                              errors_known ? ""
                                           : "; the errors of the devices' numbers are not "
                                             "known")};
}

std::string to_text(const Workload& workload, const std::vector<MatchCell>& cells,
                    const MatchOptions& options) {
    using enum Align;
    std::string text = summary(workload);
    std::set<std::string> remarks;
    for (const CostModelName& model : cost_models()) {
        const std::vector<MatchCell> order = ranked(cells, model.model);
        if (order.empty()) continue;
        text += fmt::format("\n{}: {}\n", model.name, model.meaning);
        TextTable table{.header = {"device", "time", "+-", "GFLOP/s", "computation", "memory",
                                   "synchronisation", "bound by"},
                        .align = {left, right, right, right, right, right, right, left},
                        .rows = {}};
        std::vector<double> costs;
        for (const MatchCell& cell : order) {
            const std::string& name = cell.device->device.name;
            for (const std::string& remark : cell.cost.remarks)
                remarks.insert(fmt::format("{}: {}\n", name, remark));
            if (!cell.cost.seconds) {
                remarks.insert(
                    fmt::format("{}, {}: no cost: {}\n", name, model.name, cell.cost.silent));
                continue;
            }
            costs.push_back(*cell.cost.seconds);
            std::vector<std::string> row = {
                name, seconds_text(*cell.cost.seconds),
                cell.std_error ? seconds_text(*cell.std_error) : "not known",
                number(gflops(workload, cell.cost))};
            for (const Part& part : parts) {
                const auto of_all = share(cell.cost, part.seconds);
                row.push_back(of_all ? fmt::format("{:.1f} %", 100 * *of_all) : "-");
            }
            row.emplace_back(*cell.cost.seconds > 0 ? cell.cost.bottleneck() : "-");
            table.rows.push_back(std::move(row));
        }
        if (!table.rows.empty()) text += plain_text(table);
        const Winner best = winner(order);
        text += best.device.empty() ? fmt::format("{}\n", best.remark)
                                    : fmt::format("best: {} ({})\n", best.device, best.remark);
        if (options.split && costs.size() > 1 && costs.front() > 0) {
            const Split split = automatch::split(costs);
            text += "split over all of them:";
            for (std::size_t i = 0; i < costs.size(); ++i)
                text += fmt::format("{} {} {:.1f} %", i == 0 ? "" : ",",
                                    order[i].device->device.name, 100 * split.shares[i]);
            text += fmt::format("; {}, {:.3g} times as fast as equal shares\n",
                                seconds_text(split.seconds), split.gain);
        }
        if (!options.sensitivity) continue;
        TextTable exponents{.header = {"device"}, .align = {left}, .rows = {}};
        for (const DeviceNumber& one : device_numbers()) {
            exponents.header.emplace_back(one.symbol);
            exponents.align.push_back(right);
        }
        for (const MatchCell& cell : order) {
            if (cell.sensitivity.empty()) continue;
            std::vector<std::string> row = {cell.device->device.name};
            for (const DeviceNumber& one : device_numbers()) {
                const auto found =
                    std::ranges::find(cell.sensitivity, one.symbol, &Sensitivity::symbol);
                row.push_back(found == cell.sensitivity.end()
                                  ? "-"
                                  : fmt::format("{:+.3f}", found->exponent));
            }
            exponents.rows.push_back(std::move(row));
        }
        if (!exponents.rows.empty())
            text += "per cent of time by per cent of a device's number:\n" + plain_text(exponents);
    }
    if (!remarks.empty()) text += "\n";
    for (const std::string& remark : remarks) text += remark;
    return text;
}

std::string to_csv(const Workload& workload, const std::vector<MatchCell>& cells) {
    std::string text =
        "kernel,device,model,seconds,std_error,gflops,computation_seconds,memory_seconds,"
        "synchronisation_seconds,bound_by,no_cost_because\n";
    const auto exact = [](std::optional<double> value) {
        return value ? fmt::format("{}", *value) : std::string();
    };
    for (const CostModelName& model : cost_models())
        for (const MatchCell& cell : ranked(cells, model.model)) {
            const Cost& cost = cell.cost;
            const auto part = [&](double value) {
                return cost.seconds ? fmt::format("{}", value) : std::string();
            };
            text +=
                fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(workload.kernel),
                            csv_text(cell.device->device.name), model.name, exact(cost.seconds),
                            exact(cell.std_error), exact(gflops(workload, cost)),
                            part(cost.computation), part(cost.memory), part(cost.synchronisation),
                            cost.seconds ? cost.bottleneck() : "", csv_text(cost.silent));
        }
    return text;
}

Json to_json(const Workload& workload, const std::vector<MatchCell>& cells,
             const MatchOptions& options) {
    Json models = Json::array();
    for (const CostModelName& model : cost_models()) {
        const std::vector<MatchCell> order = ranked(cells, model.model);
        if (order.empty()) continue;
        Json devices = Json::array();
        std::vector<double> costs;
        for (const MatchCell& cell : order) {
            const Cost& cost = cell.cost;
            Json entry = {{"device", cell.device->device.name}};
            if (!cost.remarks.empty()) entry["remarks"] = cost.remarks;
            if (!cost.seconds) {
                entry["no_cost_because"] = cost.silent;
                devices.push_back(entry);
                continue;
            }
            costs.push_back(*cost.seconds);
            entry["seconds"] = *cost.seconds;
            if (cell.std_error) entry["std_error"] = *cell.std_error;
            if (const auto rate = gflops(workload, cost)) entry["gflops"] = *rate;
            for (const Part& part : parts)
                entry[fmt::format("{}_seconds", part.name)] = cost.*part.seconds;
            if (*cost.seconds > 0) entry["bound_by"] = cost.bottleneck();
            if (options.sensitivity) {
                Json exponents = Json::object();
                for (const Sensitivity& one : cell.sensitivity)
                    exponents[std::string(one.symbol)] = one.exponent;
                entry["sensitivity"] = exponents;
            }
            devices.push_back(entry);
        }
        const Winner best = winner(order);
        Json entry = {{"model", model.name}, {"devices", devices}};
        if (!best.device.empty()) entry["best"] = best.device;
        entry["remark"] = best.remark;
        if (options.split && costs.size() > 1 && costs.front() > 0) {
            const Split split = automatch::split(costs);
            Json shares = Json::object();
            for (std::size_t i = 0; i < costs.size(); ++i)
                shares[order[i].device->device.name] = split.shares[i];
            entry["split"] = {
                {"shares", shares}, {"seconds", split.seconds}, {"gain_over_even", split.gain}};
        }
        models.push_back(entry);
    }
    Json json = {{"format", "occupipe-match/1"}, {"kernel", workload.kernel}};
    if (!workload.partial.empty()) json["partial"] = workload.partial;
    json["models"] = models;
    return json;
}

}  // namespace occupipe::automatch

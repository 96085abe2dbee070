// SPDX-License-Identifier: MIT
#include "cli/list_instructions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "bench/devices.h"
#include "bench/instruction_table.h"
#include "cli/device.h"
#include "cli/text_table.h"
#include "cli/wrap.h"

namespace occupipe::cli {
namespace {

using Json = nlohmann::ordered_json;
using Backends = std::vector<std::unique_ptr<bench::Backend>>;

struct Kind {
    const char* ids;  // shell pattern
    const char* title;
};

// First match.
constexpr std::array kinds = {
    Kind{"cvt.*", "Conversions"},
    Kind{"ld.*", "Memory"},
    Kind{"st.*", "Memory"},
    Kind{"cp.*", "Memory"},
    Kind{"atom.*", "Atomic operations"},
    Kind{"red.*", "Atomic operations"},
    Kind{"bar*", "Synchronisation"},
    Kind{"fence*", "Synchronisation"},
    Kind{"membar*", "Synchronisation"},
    Kind{"shfl.*", "Exchange within a warp"},
    Kind{"vote.*", "Exchange within a warp"},
    Kind{"match.*", "Exchange within a warp"},
    Kind{"redux.*", "Exchange within a warp"},
    Kind{"*mma.*", "Matrix units"},
    Kind{"fma.f32.*[0-9]", "Behaviour of a core"},
    Kind{"*x[24]", "Vectors and pairs"},
    Kind{"*f16", "Half precision"},
    Kind{"*.f32*", "Single precision"},
    Kind{"*.f64*", "Double precision"},
    Kind{"*", "Integers and bits"},
};

const char* kind_of(std::string_view id) {
    const auto found = std::ranges::find_if(kinds, [&](const Kind& kind) {
        return fnmatch(kind.ids, std::string(id).c_str(), 0) == 0;
    });
    return found->title;
}

void print_json(const Backends& backends, std::span<const bench::Row> rows) {
    Json all = Json::array();
    for (const bench::Row& row : rows) {
        Json on = Json::object();
        for (const auto& backend : backends) {
            const auto reason = backend->unsupported(row);
            Json& entry = on[backend->facts().id];
            entry = {{"measurable", !reason}};
            if (reason) {
                entry["reason"] = *reason;
            } else if (const auto doubt = backend->unproved(row)) {
                entry["not_proved"] = *doubt;
            }
        }
        all.push_back({{"name", row.id}, {"meaning", row.meaning}, {"devices", on}});
    }
    fmt::print("{}\n", all.dump(2));
}

// Names that share a reason, under it.
using Reasons = std::map<std::string, std::vector<std::string>>;

void print_reasons(const std::string& heading, const Reasons& reasons) {
    if (reasons.empty()) return;
    fmt::print("\n{}\n", heading);
    for (const auto& [reason, names] : reasons) {
        fmt::print("{}", wrapped(reason + ":", 2));
        fmt::print("{}", wrapped(fmt::format("{}", fmt::join(names, " ")), 6));
    }
}

void print_tables(const Backends& backends, std::span<const bench::Row> rows) {
    std::vector<std::string> header = {"instruction"};
    for (const auto& backend : backends) header.push_back(backend->facts().id);
    header.emplace_back("what it is");
    std::set<std::string> done;
    for (const Kind& kind : kinds) {
        if (!done.insert(kind.title).second) continue;
        TextTable table{header, std::vector<Align>(header.size(), Align::left), {}};
        for (const bench::Row& row : rows) {
            if (kind_of(row.id) != std::string_view(kind.title)) continue;
            std::vector<std::string> cells = {std::string(row.id)};
            for (const auto& backend : backends) {
                const bool no = backend->unsupported(row).has_value();
                cells.emplace_back(no ? "-" : backend->unproved(row) ? "yes*" : "yes");
            }
            cells.emplace_back(row.meaning);
            table.rows.push_back(cells);
        }
        if (!table.rows.empty()) fmt::print("{}\n{}\n", kind.title, plain_text(table));
    }
}

void print_device(const bench::Backend& backend, std::span<const bench::Row> rows) {
    Reasons unsupported;
    Reasons unproved;
    std::size_t measurable = 0;
    std::size_t doubtful = 0;
    for (const bench::Row& row : rows) {
        if (const auto reason = backend.unsupported(row)) {
            unsupported[*reason].emplace_back(row.id);
            continue;
        }
        ++measurable;
        if (const auto doubt = backend.unproved(row)) {
            unproved[*doubt].emplace_back(row.id);
            ++doubtful;
        }
    }
    const std::string& id = backend.facts().id;
    print_reasons(fmt::format("yes*: {} measures it, but does not prove how often it stands in the "
                              "timed loop",
                              id),
                  unproved);
    print_reasons(fmt::format("-: {} cannot measure it", id), unsupported);
    fmt::print("\n{} ({}): {} of {} measurable, {} of them without proof of their count\n", id,
               backend.facts().name, measurable, rows.size(), doubtful);
}

}  // namespace

void list_instructions(const std::string& device, bool json) {
    Backends backends;
    if (!device.empty()) {
        backends.push_back(open_named_device(device));
    } else {
        for (const auto& facts : bench::list_devices()) {
            backends.push_back(bench::open_device(facts.id));
        }
    }
    const auto rows = backends.size() == 1 ? backends.front()->rows() : bench::instruction_table();
    if (json) {
        print_json(backends, rows);
        return;
    }
    print_tables(backends, rows);
    for (const auto& backend : backends) print_device(*backend, rows);
    if (backends.empty())
        fmt::print("{} instructions; no device here to measure on\n", rows.size());
}

}  // namespace occupipe::cli

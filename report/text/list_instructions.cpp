// SPDX-License-Identifier: MIT
#include "report/text/list_instructions.h"

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

#include "analysis/device/open_device.h"
#include "bench/cuda/unsupported.h"
#include "bench/devices.h"
#include "bench/instructions/instruction_table.h"
#include "bench/offline/architecture.h"
#include "report/text/text_table.h"
#include "report/text/wrap.h"

namespace occupipe::report {
namespace {

using Json = nlohmann::ordered_json;

// A device, or an architecture of which none need be here.
struct Column {
    std::string id;
    std::string name;
    bool architecture = false;
    std::unique_ptr<bench::Backend> backend;  // of a device
    int number = 0;                           // of an architecture: 90

    std::optional<std::string> unsupported(const bench::Row& row) const {
        return backend ? backend->unsupported(row) : bench::cuda_unsupported(row, number);
    }
    std::optional<std::string> unproved(const bench::Row& row) const {
        return backend ? backend->unproved(row) : std::nullopt;
    }
};
using Columns = std::vector<Column>;

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

const std::string stand_in = "sm_90";

const char* kind_of(std::string_view id) {
    const auto found = std::ranges::find_if(kinds, [&](const Kind& kind) {
        return fnmatch(kind.ids, std::string(id).c_str(), 0) == 0;
    });
    return found->title;
}

void print_json(const Columns& columns, std::span<const bench::Row> rows) {
    Json all = Json::array();
    for (const bench::Row& row : rows) {
        Json devices = Json::object();
        Json architectures = Json::object();
        for (const Column& column : columns) {
            const auto reason = column.unsupported(row);
            Json& entry = (column.architecture ? architectures : devices)[column.id];
            entry = {{"measurable", !reason}};
            if (reason) {
                entry["reason"] = *reason;
            } else if (const auto doubt = column.unproved(row)) {
                entry["not_proved"] = *doubt;
            }
        }
        all.push_back({{"name", row.id},
                       {"meaning", row.meaning},
                       {"kind", kind_of(row.id)},
                       {"devices", devices}});
        // What the timed loop has to contain, of each dialect that has the instruction.
        if (row.no_cuda.empty())
            all.back()["cuda"] = {{"ptx", row.ptx}, {"machine_code", row.sass}};
        else
            all.back()["no_cuda"] = row.no_cuda;
        if (!row.no_opencl.empty()) all.back()["no_opencl"] = row.no_opencl;
        if (!architectures.empty()) all.back()["architectures"] = architectures;
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

void print_tables(const Columns& columns, std::span<const bench::Row> rows) {
    std::vector<std::string> header = {"instruction"};
    for (const Column& column : columns) header.push_back(column.id);
    header.emplace_back("what it is");
    std::set<std::string> done;
    for (const Kind& kind : kinds) {
        if (!done.insert(kind.title).second) continue;
        TextTable table{header, std::vector<Align>(header.size(), Align::left), {}};
        for (const bench::Row& row : rows) {
            if (kind_of(row.id) != std::string_view(kind.title)) continue;
            std::vector<std::string> cells = {std::string(row.id)};
            for (const Column& column : columns) {
                const bool no = column.unsupported(row).has_value();
                cells.emplace_back(no ? "-" : column.unproved(row) ? "yes*" : "yes");
            }
            cells.emplace_back(row.meaning);
            table.rows.push_back(cells);
        }
        if (!table.rows.empty()) fmt::print("{}\n{}\n", kind.title, plain_text(table));
    }
}

void print_column(const Column& column, std::span<const bench::Row> rows) {
    Reasons unsupported;
    Reasons unproved;
    std::size_t measurable = 0;
    std::size_t doubtful = 0;
    for (const bench::Row& row : rows) {
        if (const auto reason = column.unsupported(row)) {
            unsupported[*reason].emplace_back(row.id);
            continue;
        }
        ++measurable;
        if (const auto doubt = column.unproved(row)) {
            unproved[*doubt].emplace_back(row.id);
            ++doubtful;
        }
    }
    print_reasons(fmt::format("yes*: {} measures it, but cannot prove how often it is in the "
                              "timed loop",
                              column.id),
                  unproved);
    print_reasons(fmt::format("-: {} cannot measure it", column.id), unsupported);
    fmt::print("\n{} ({}): {} of {} measurable, {}\n", column.id, column.name, measurable,
               rows.size(),
               column.architecture ? "each kernel's machine code counted"
                                   : fmt::format("{} of them without a proven count", doubtful));
}

Column column_of(std::unique_ptr<bench::Backend> backend) {
    const bench::DeviceFacts& facts = backend->facts();
    Column column{.id = facts.id, .name = facts.name};
    column.backend = std::move(backend);
    return column;
}

Column column_of(const std::string& architecture) {
    const bench::ArchitectureFacts& facts = bench::architecture_facts(architecture);
    return {.id = architecture,
            .name = fmt::format("NVIDIA {}, no such GPU here", facts.generation()),
            .architecture = true,
            .number = facts.number};
}

Columns columns_of(const InstructionListing& wanted) {
    Columns columns;
    if (!wanted.device.empty()) {
        columns.push_back(column_of(analysis::open_named_device(wanted.device, wanted.kernels)));
    } else if (wanted.architectures.empty()) {
        for (const auto& facts : bench::list_devices())
            columns.push_back(column_of(bench::open_device(facts.id)));
    }
    const bool gpu = std::ranges::any_of(
        columns, [](const Column& column) { return column.id.starts_with("cuda:"); });
    std::vector<std::string> architectures = wanted.architectures;
    if (wanted.device.empty() && architectures.empty() && !gpu)
        architectures = wanted.json ? bench::known_architectures() : std::vector{stand_in};
    for (const std::string& name : architectures) columns.push_back(column_of(name));
    return columns;
}

}  // namespace

void list_instructions(const InstructionListing& wanted) {
    const Columns columns = columns_of(wanted);
    const bool one_device = columns.size() == 1 && columns.front().backend;
    const auto rows = one_device ? columns.front().backend->rows() : bench::instruction_table();
    if (wanted.json) {
        print_json(columns, rows);
        return;
    }
    print_tables(columns, rows);
    for (const Column& column : columns) print_column(column, rows);
}

}  // namespace occupipe::report

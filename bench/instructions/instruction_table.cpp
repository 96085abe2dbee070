// SPDX-License-Identifier: MIT
#include "bench/instructions/instruction_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "bench/instructions/catalogue.h"

namespace occupipe::bench {
namespace {

using enum DataType;

// Texts that rows view, made once with the tables.
std::string_view kept(std::string text) {
    static std::deque<std::string> all;
    return all.emplace_back(std::move(text));
}

// The macro around PTX on a register of the type.
std::string_view default_step(DataType type) {
    switch (type) {
        case f32:
            return "OP_F(ptx, $, a, b)";
        case f64:
            return "OP_D(ptx, $, a, b)";
        case f16:
        case bf16:
            return "OP_H(ptx, $, a, b)";
        case s64:
            return "OP_L(ptx, $, a, b)";
        default:
            return "OP_R(ptx, $, a, b)";
    }
}

std::string_view cuda_step(const CatalogueRow& row) {
    const CudaForm& form = row.cuda;
    if (!form.none.empty()) return {};
    constexpr std::string_view place = "(ptx,";
    const std::string_view step = form.step.empty() ? default_step(row.type) : form.step;
    const auto at = step.find(place);
    if (at == step.npos) return step;
    return kept(
        fmt::format("{}(\"{}\",{}", step.substr(0, at), form.ptx, step.substr(at + place.size())));
}

// The first word of the form's PTX, behind a predicate.
std::string_view counted(const CudaForm& form) {
    if (!form.counted.empty()) return form.counted;
    std::string_view text = form.ptx;
    if (text.starts_with('@')) text.remove_prefix(text.find(' ') + 1);
    return text.substr(0, text.find_first_of(" ;"));
}

// What both dialects have in common.
Row common(const CatalogueRow& row) {
    return Row{.id = row.id,
               .type = row.type,
               .pattern = row.pattern,
               .step = {},
               .a = row.operands.a,
               .b = row.operands.b,
               .x = row.operands.x,
               .ptx = {},
               .sass = {},
               .x86 = row.opencl.x86,
               .sass_also = {},
               .x86_also = row.opencl.also,
               .opencl_extension = row.opencl.extension,
               .x86_count = row.opencl.count,
               .foldable = row.opencl.foldable,
               .meaning = row.meaning,
               .sass_length = row.cuda.length,
               .order = row.order,
               .counters = row.counters,
               .lane = row.walk.lane,
               .spread = row.walk.spread,
               .access_words = row.walk.access_words,
               .table = row.walk.table,
               .texture = row.walk.texture,
               .own_lines = row.walk.own_lines,
               .working_sets = row.walk.working_sets,
               .unroll = row.unroll,
               .most_chains = row.most_chains,
               .lanes_matter = row.lanes_matter,
               .principal = row.principal,
               .no_cuda = row.cuda.none,
               .no_opencl = row.opencl.none};
}

template <typename In>
std::vector<Row> table_in(const In& in) {
    std::vector<Row> table;
    for (const auto& rows : {float_rows(), half_rows(), integer_rows(), conversion_rows(),
                             vector_rows(), memory_rows(), atomic_rows(), matrix_rows(),
                             group_matrix_rows(), synchronisation_rows(), launch_rows()}) {
        for (const CatalogueRow& row : rows) table.push_back(in(row));
    }
    return table;
}

}  // namespace

Row in_cuda(const CatalogueRow& row) {
    Row own = common(row);
    const CudaForm& form = row.cuda;
    own.step = cuda_step(row);
    own.ptx = counted(form);
    own.sass = form.sass;
    own.sass_also = form.also;
    own.sass_with = form.with;
    own.ptx_count = form.ptx_count;
    own.sass_count = form.count;
    own.alternates = form.alternates;
    own.least_architecture = form.since;
    own.last_architecture = form.until;
    own.architecture_features = form.features;
    own.gap = form.gap;
    own.state = form.state;
    own.setup = form.setup;
    own.shared_bytes = form.shared_bytes;
    own.registers = form.registers;
    own.group_warps = form.group_warps;
    own.cluster = form.cluster;
    if (form.most_chains > 0) own.most_chains = form.most_chains;
    return own;
}

Row in_opencl(const CatalogueRow& row) {
    Row own = common(row);
    const OpenClForm& form = row.opencl;
    own.step = form.step;
    own.setup = form.setup;
    own.type = form.type.value_or(row.type);
    if (form.operands) {
        own.a = form.operands->a;
        own.b = form.operands->b;
        own.x = form.operands->x;
    }
    if (!form.meaning.empty()) own.meaning = form.meaning;
    if (form.pattern) {
        const Row plain{};
        own.pattern = *form.pattern;
        own.lane = plain.lane;
        own.spread = plain.spread;
        own.access_words = plain.access_words;
        own.table = plain.table;
        own.counters = plain.counters;
    }
    return own;
}

std::span<const Row> instruction_table() {
    static const std::vector<Row> all = table_in(in_cuda);
    return all;
}

std::span<const Row> opencl_table() {
    static const std::vector<Row> all = table_in(in_opencl);
    return all;
}

const Row* find_row(std::string_view id) { return find_row(instruction_table(), id); }

const Row* find_row(std::span<const Row> rows, std::string_view id) {
    const auto found = std::ranges::find(rows, id, &Row::id);
    return found == rows.end() ? nullptr : &*found;
}

std::string_view type_name(DataType type) {
    switch (type) {
        case f32:
            return "float";
        case f64:
            return "double";
        case s32:
            return "int";
        case u32:
        case b32:
        case f16x2:
        case bf16x2:
            return "uint";
        case s64:
            return "long";
        case f16:
        case bf16:
            return "ushort";
        case f32x4:
            return "float4";
        case f64x2:
            return "double2";
        case s32x4:
            return "int4";
    }
    return "";
}

std::string_view state_name(const Row& row) {
    return row.state.empty() ? type_name(row.type) : row.state;
}

std::size_t type_size(DataType type) {
    if (type == f32x4 || type == f64x2 || type == s32x4) return 16;
    if (type == f64 || type == s64) return 8;
    return type == f16 || type == bf16 ? 2 : 4;
}

DataType element_type(DataType type) {
    switch (type) {
        case f32x4:
            return f32;
        case f64x2:
            return f64;
        case s32x4:
            return s32;
        default:
            return type;
    }
}

}  // namespace occupipe::bench

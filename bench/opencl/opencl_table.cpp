// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bench/opencl/opencl_rows.h"

namespace occupipe::bench {
namespace {

struct Reason {
    const char* ids;  // shell pattern
    const char* why;
};

// First match.
constexpr std::array reasons = {
    Reason{"*.ftz.*",
           "OpenCL C cannot flush the subnormals of one instruction, only of a whole program"},
    Reason{"*bf16*", "OpenCL C has no bfloat16"},
    Reason{"tanh.approx.*", "OpenCL C has no native_tanh; tanh.f32 is its full-precision function"},
    Reason{"ex2.approx.f16", "OpenCL C has no native_ functions of half precision"},
    Reason{"div.full.f32",
           "OpenCL C has one division of full range (div.f32, built to be correctly rounded) and "
           "native_divide (div.approx.f32)"},
    Reason{"m??.f16x2", "half precision in OpenCL: sums, products and multiply-adds of pairs only"},
    Reason{"*.f16", "half precision in OpenCL: sums, products and multiply-adds of pairs only"},
    Reason{"cvt.rn.f16x2.*", "OpenCL C converts to half precision one value at a time"},
    Reason{"match.*", "OpenCL C cannot compare a value with those of the other lanes of a warp"},
    Reason{"activemask*", "OpenCL C has no mask of active lanes"},
    Reason{"dp2a.*", "OpenCL C has no dot product of 16-bit with 8-bit values"},
    Reason{"*mma*", "OpenCL C cannot reach matrix units"},
    Reason{"tcgen05.*", "OpenCL C cannot reach matrix units"},
    Reason{"movmatrix*", "OpenCL C cannot reach matrix units"},
    Reason{"*.shared.cluster.*", "OpenCL C knows no clusters of groups"},
    Reason{"ldmatrix*", "OpenCL C cannot reach matrix units"},
    Reason{"stmatrix*", "OpenCL C cannot reach matrix units"},
    Reason{"cp.async*",
           "OpenCL C has asynchronous copies of whole groups only, not single instructions"},
    Reason{"mbarrier*", "OpenCL C has barriers of whole groups only"},
    Reason{"barrier.cluster*", "OpenCL C knows no clusters of groups"},
    Reason{"barrier.grid*", "OpenCL C cannot make all groups of a launch wait for each other"},
    Reason{"bar.warp.*", "OpenCL C 1.2 has barriers of whole groups only"},
    Reason{"membar*", "OpenCL C's fences order a work-item's own accesses, of no given reach"},
    Reason{"fence*", "OpenCL C's fences order a work-item's own accesses, of no given reach"},
    Reason{"tex.*", "an image is read by a function of the OpenCL library, not an instruction"},
    Reason{"ld.global.l2.*", "OpenCL C cannot make a load pass the first-level cache by"},
    Reason{"ld.global.nc.*", "OpenCL C cannot ask for the read-only path"},
    Reason{"ld.global.*",
           "walks through global memory are of 32-bit words in OpenCL C: what a wider load brings "
           "besides, its compiler would drop"},
    Reason{"st.global.*",
           "an OpenCL store to ever new words is not in the table; st.global.u32 is to the same "
           "word"},
    Reason{"launch.graph", "OpenCL C 1.2 has no graphs of launches"},
    Reason{"fma.f32.same", "about registers and their banks, which OpenCL C cannot choose"},
    Reason{"fma.f32.immediate", "OpenCL C cannot choose how an operand is encoded"},
    Reason{"fma.f32.uniform", "OpenCL C cannot choose how an operand is encoded"},
    Reason{"add.s64.whole", "OpenCL C has one sum of 64-bit integers, add.s64"},
    Reason{"viadd*", "OpenCL C has no sum and extremum in one function"},
    Reason{"vimax3*", "OpenCL C has no extremum of three"},
    Reason{"vimin3*", "OpenCL C has no extremum of three"},
    Reason{"max3.*", "OpenCL C has no extremum of three"},
    Reason{"min3.*", "OpenCL C has no extremum of three"},
    Reason{"*.f32x2", "OpenCL C cannot ask for two single-precision numbers in one instruction"},
    Reason{"*16x2*", "OpenCL C's vectors of two 16-bit integers are instructions of whole lanes"},
    Reason{"redux.*", "OpenCL C 1.2 has no reductions over the lanes of a warp"},
    Reason{"*", "no OpenCL C is known that becomes this one instruction"},
};

struct Extension {
    std::string_view name;
    std::string_view brings;
};

constexpr std::array extensions = {
    Extension{"cl_khr_fp16", "half-precision arithmetic"},
    Extension{"cl_khr_extended_bit_ops", "reversal of bits and bit fields"},
    Extension{"cl_khr_integer_dot_product", "products of packed bytes"},
    Extension{"cl_khr_subgroup_shuffle", "a warp's exchange"},
    Extension{"cl_khr_subgroup_shuffle_relative", "a warp's exchange"},
    Extension{"cl_khr_subgroup_ballot", "a warp's vote"},
    Extension{"cl_khr_subgroups", "a warp's reduction"},
};

std::vector<Row> all_opencl_rows() {
    std::vector<Row> all;
    for (const auto& rows :
         {opencl_float_rows(), opencl_integer_rows(), opencl_wide_rows(), opencl_conversion_rows(),
          opencl_memory_rows(), opencl_extension_rows()}) {
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

// A step in the macros that both dialects may have ("FMA_F32($, a, b)"), not PTX in the row itself.
bool in_common_macros(const Row& row) {
    return row.opencl.empty() && !row.step.empty() && row.step.front() >= 'A' &&
           row.step.front() <= 'Z' && row.step.find('"') == std::string_view::npos;
}

}  // namespace

void join_opencl_rows(std::vector<Row>& table) {
    for (const Row& form : all_opencl_rows()) {
        const auto known = std::ranges::find(table, form.id, &Row::id);
        if (known == table.end()) {
            table.push_back(form);
            table.back().step = {};
            continue;
        }
        known->opencl = form.opencl;
        known->opencl_extension = form.opencl_extension;
        known->x86 = form.x86;
        known->x86_also = form.x86_also;
        known->x86_count = form.x86_count;
    }
}

std::span<const Row> opencl_table() {
    static const std::vector<Row> all = [] {
        const std::vector<Row> forms = all_opencl_rows();
        std::vector<Row> table;
        for (const Row& row : instruction_table()) {
            const Row* form = find_row(forms, row.id);
            table.push_back(form ? *form : row);
            Row& own = table.back();
            if (own.meaning.empty()) own.meaning = row.meaning;
            own.sass_length = row.sass_length;
            if (row.id.starts_with("atom.") && row.id.ends_with(".same")) own.lanes_matter = true;
            if (!form && !in_common_macros(row)) own.step = {};
        }
        return table;
    }();
    return all;
}

std::string why_no_opencl(std::string_view id) {
    const auto found = std::ranges::find_if(reasons, [&](const Reason& reason) {
        return fnmatch(reason.ids, std::string(id).c_str(), 0) == 0;
    });
    return found->why;
}

std::string missing_extension(const Row& row) {
    const auto found = std::ranges::find(extensions, row.opencl_extension, &Extension::name);
    return fmt::format("{}: OpenCL C itself has none, and this device does not offer {}",
                       found == extensions.end() ? "an extension's operation" : found->brings,
                       row.opencl_extension);
}

}  // namespace occupipe::bench

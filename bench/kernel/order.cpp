// SPDX-License-Identifier: MIT
#include "bench/kernel/order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <random>

namespace occupipe::bench {
namespace {

constexpr unsigned order_seed = 20160217;

// What every kernel needs, and what shows soonest that something is wrong.
constexpr std::array<std::string_view, 10> basic_rows = {
    "fma.f32", "add.f32", "mul.f32",           "add.s32",       "mad.s32",
    "xor.b32", "fma.f64", "shfl.sync.idx.b32", "ld.shared.u32", "bar.sync"};

bool is_basic(const Row& row) { return std::ranges::find(basic_rows, row.id) != basic_rows.end(); }

// Each level of memory, asked in the plainest way: a warp's lanes in line, one word each.
bool is_memory_level(const Row& row) {
    const bool plain = row.spread == 1 && row.access_words == 1 && row.lane == Row{}.lane;
    return facts_of(row.pattern).memory_level && (plain || row.own_lines);
}

bool is_special(const Row& row) { return row.id.find(".approx.") != row.id.npos; }

bool is_matrix(const Row& row) {
    return row.id.starts_with("mma.") || row.id.starts_with("wgmma.") ||
           row.id.find("matrix.") != row.id.npos;  // ldmatrix, stmatrix, movmatrix
}

// Arithmetic in an ordinary loop.
bool is_chain(const Row& row) {
    return row.pattern == Pattern::chain && row.order == Order::registers && row.unroll == 0;
}

bool is_float(const Row& row) {
    const DataType type = element_type(row.type);
    return is_chain(row) && (type == DataType::f32 || type == DataType::f64);
}

bool is_integer(const Row& row) {
    const DataType type = element_type(row.type);
    return is_chain(row) && (type == DataType::s32 || type == DataType::u32 ||
                             type == DataType::b32 || type == DataType::s64);
}

struct Block {
    std::string_view name;
    bool (*holds)(const Row&);
};
// The first one that holds a row has it.
constexpr std::array blocks = {
    Block{"basic", is_basic},
    Block{"memory levels", is_memory_level},
    Block{"special functions", is_special},
    Block{"matrix", is_matrix},
    Block{"floating point", is_float},
    Block{"integers", is_integer},
    Block{"half precision", is_chain},
    Block{"other memory, synchronisation, launches, loops", [](const Row&) { return true; }},
};
constexpr std::string_view mixes = "mixes";

}  // namespace

std::vector<std::string_view> order_blocks() {
    std::vector<std::string_view> names;
    for (const Block& block : blocks) names.push_back(block.name);
    names.push_back(mixes);
    return names;
}

std::size_t block_of(const KernelPlan& plan) {
    if (plan.second) return blocks.size();
    const auto found =
        std::ranges::find_if(blocks, [&](const Block& block) { return block.holds(*plan.first); });
    return static_cast<std::size_t>(found - blocks.begin());
}

std::vector<const PlannedPoint*> measuring_order(const SweepPlan& sweep) {
    std::vector<const PlannedPoint*> order;
    order.reserve(sweep.points.size());
    for (const PlannedPoint& point : sweep.points) order.push_back(&point);
    std::shuffle(order.begin(), order.end(), std::mt19937(order_seed));
    std::ranges::stable_sort(order, {},
                             [](const PlannedPoint* point) { return block_of(point->plan); });
    return order;
}

std::string order_text() {
    return fmt::format("blocks ({}), points shuffled within each, seed {}",
                       fmt::join(order_blocks(), "; "), order_seed);
}

}  // namespace occupipe::bench

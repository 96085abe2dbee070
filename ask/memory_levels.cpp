// SPDX-License-Identifier: MIT
#include "ask/memory_levels.h"

#include <fmt/format.h>

#include <algorithm>

namespace occupipe::analysis {
namespace {

const std::vector<LevelRow>& rows() {
    static const std::vector<LevelRow> all = {
        {.name = "l1",
         .nth = "first",
         .lost = "nothing is taken to be found there",
         .sharer = Sharer::core,
         .accesses = {{{4, "ld.global.l1.u32", ""}},
                      {{8, "ld.global.l1.u64", ""}},
                      {{16, "ld.global.l1.v2.u64", ""}}},
         .lines = {32, "ld.global.l1.u32.lines32"},
         .passes = {32, "ld.global.l1.u32.stride32"}},
        {.name = "l2",
         .nth = "second",
         .lost = "what the first level does not find is taken to come from DRAM",
         .accesses = {{{1, "ld.global.l2.u32.broadcast", ""},
                       {4, "ld.global.l2.u32", "ld.global.l2.f32"},
                       {8, "ld.global.l2.u32.stride2", ""},
                       {16, "ld.global.l2.u32.stride4", ""},
                       {32, "ld.global.l2.u32.stride8", ""}},
                      {{8, "ld.global.l2.u64", ""}},
                      {{16, "ld.global.l2.v2.u64", "ld.global.l2.v4.f32"}}},
         .lines = {32, "ld.global.l2.u32.stride32"}},
        // Papers measure one load of a word, under one of its names.
        {.name = "dram",
         .nth = "",
         .lost = "",
         .accesses = {{{4, "ld.global.u32", "ld.global.f32"}, {4, "ld.global.s32", ""}},
                      {{8, "ld.global.u64", "ld.global.v2.f32"}},
                      {{16, "ld.global.v2.u64", "ld.global.v4.f32"}}},
         .lines = {32, "ld.global.u32.stride32"}}};
    return all;
}

}  // namespace

std::span<const LevelRow> memory_levels() { return rows(); }

std::span<const LevelRow> cache_levels() { return memory_levels().first(device_memory()); }

LevelNumber device_memory() { return rows().size() - 1; }

LevelNumber shared_cache() {
    const auto found = std::ranges::find(rows(), Sharer::device, &LevelRow::sharer);
    return static_cast<LevelNumber>(found - rows().begin());
}

std::string heading(LevelNumber level) {
    std::string text(rows()[level].name);
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

std::optional<double> bytes_of(const CacheSizes& sizes, LevelNumber cache) {
    const auto found = sizes.find(rows()[cache].name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second.bytes);
}

namespace {

LevelShares shares_of(const std::optional<Reuse>& core, const std::optional<Reuse>& device,
                      const CacheSizes& sizes) {
    LevelShares shares;
    double found = 0;
    for (LevelNumber cache = 0; cache < device_memory(); ++cache) {
        const auto& reuse = rows()[cache].sharer == Sharer::core ? core : device;
        const std::optional<double> bytes = bytes_of(sizes, cache);
        const double nearer = found;
        if (reuse && bytes) found = std::max(found, share_at(*reuse, *bytes));
        shares.push_back(found - nearer);
    }
    shares.push_back(1 - found);
    return shares;
}

}  // namespace

LevelShares level_shares(const MemoryUse& use, const CacheSizes& sizes) {
    return shares_of(use.core, use.device, sizes);
}

LevelShares farthest_levels(const MemoryUse& use, const CacheSizes& sizes) {
    return shares_of(use.core_requests ? use.core_requests : use.core,
                     use.device_requests ? use.device_requests : use.device, sizes);
}

bool reaches_device_memory(std::string_view name) {
    constexpr std::string_view roots[] = {"ld.global.", "st.global.", "cp.async."};
    return std::ranges::any_of(roots,
                               [&](std::string_view root) { return name.starts_with(root); }) &&
           std::ranges::none_of(cache_levels(), [&](const LevelRow& cache) {
               return name.find(fmt::format(".{}.", cache.name)) != std::string_view::npos;
           });
}

}  // namespace occupipe::analysis

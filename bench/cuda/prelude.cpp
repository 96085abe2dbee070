// SPDX-License-Identifier: MIT
#include "bench/cuda/prelude.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

#include "bench/cuda/generated_macros.h"
#include "bench/cuda/stamps.h"
#include "bench/device_code.h"
#include "bench/harness/fresh_lines.h"
#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {
namespace {

// Looks at the start line before a group gives up: some 10 ms, longer than any launch takes to fill
// the GPU, short enough not to look like a hang when groups are not resident together.
constexpr int patience = 20'000;
// From the moment all groups have agreed until they begin [ns]: a few round trips to the
// second-level cache, and more than any step of the global timer known to us; and for each group
// what its look costs the others, since all look at one word. The write queues behind one look of
// each group, and a group's next look behind the others': twice two cycles of the cache at 1 to
// 2 GHz are 2 to 4 ns. Who sees the moment too late all the same counts itself.
constexpr int notice_ns = 10'000;
constexpr int notice_ns_per_group = 10;
// One group of so many reads the global timer as it stops.
constexpr int groups_per_wall_stop = 32;

std::string constants(std::size_t table_words, int line_words, int lap_iterations = 0) {
    const auto of_header = [](std::size_t offset) { return std::to_string(offset / 8); };
    const std::pair<const char*, std::string> values[] = {
        {"WARP_SIZE", fmt::format("{}u", cuda_warp_size)},
        {"TABLE_WORDS", fmt::format("{}u", table_words)},
        {"LINE_WORDS", fmt::format("{}u", line_words)},
        {"TABLE_LINES", "(TABLE_WORDS / LINE_WORDS)"},
        {"TABLE_END", fmt::format("((TABLE_WORDS + {}u) * 4u)", global_table_slack_words)},
        {"WARM_ITERATIONS(all)",
         fmt::format("max(min((all), {}), {})", untimed_iterations, lap_iterations)},
        {"PATIENCE", std::to_string(patience)},
        {"NOTICE_NS", std::to_string(notice_ns)},
        {"NOTICE_NS_PER_GROUP", std::to_string(notice_ns_per_group)},
        {"STAMPS_ARRIVED", of_header(offsetof(StampHeader, arrived))},
        {"STAMPS_MISSED", of_header(offsetof(StampHeader, missed))},
        {"STAMPS_LATE", of_header(offsetof(StampHeader, late))},
        {"STAMPS_BEGIN", of_header(offsetof(StampHeader, begin))},
        {"STAMPS_ANCHORS", of_header(offsetof(StampHeader, anchors))},
        {"CORE_ANCHORS", fmt::format("{}u", std::tuple_size_v<decltype(StampHeader::anchors)>)},
        {"STAMPS_RATE", of_header(offsetof(StampHeader, cycles_per_1024_ns))},
        {"STAMPS_BARRIER", of_header(offsetof(StampHeader, barrier))},
        {"STAMPS_HEADER_WORDS", of_header(sizeof(StampHeader))},
        {"STAMP_WORDS", of_header(sizeof(WarpStamp))},
        {"STAMP_CHECKPOINTS", std::to_string(offsetof(WarpStamp, checkpoints) / 4)},
        {"GROUPS_PER_WALL_STOP", std::to_string(groups_per_wall_stop)},
        {"SEGMENTS", std::to_string(checkpoints + 1)},
    };
    std::string text;
    for (const auto& [name, value] : values) text += fmt::format("#define {} {}\n", name, value);
    return text;
}

std::string device_text(const std::string& name) {
    return std::string(embedded(device_code(), "bench/cuda/device/" + name + ".cuh"));
}

}  // namespace

std::string cuda_prelude(std::size_t table_words, int line_words, bool mix, int lap_iterations) {
    std::string text = constants(table_words, line_words, lap_iterations);
    text += mix ? "#define GUARD_IN_MIX \"@go \"\n" : "#define GUARD_IN_MIX\n";
    for (const char* file : {"kernel", "arithmetic", "walks", "wide_walks", "fragments",
                             "group_matrix", "atomics", "copies", "barriers"}) {
        text += device_text(file);
    }
    text += cuda_divergence_macros();
    text += device_text("products");
    text += cuda_product_macros();
    for (const char* file : {"matrix_moves", "group_products", "cluster", "cluster_copies"}) {
        text += device_text(file);
    }
    return text;
}

std::string cuda_witness_source() {
    return constants(1, 1) + device_text("kernel") + device_text("witness");
}

std::string cuda_table_writer_source() {
    return constants(1, 1) + device_text("kernel") + device_text("table_writer");
}

std::string cuda_table_reader_source() {
    return constants(1, 1) + device_text("kernel") + device_text("table_reader");
}

}  // namespace occupipe::bench

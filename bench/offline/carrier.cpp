// SPDX-License-Identifier: MIT
#include "bench/offline/carrier.h"

#include <fmt/format.h>

namespace occupipe::bench {
namespace {

std::string words_text(TableWords words, int access_words) {
    switch (words) {
        case TableWords::index:
            return "index";
        case TableWords::address32:
            return "address32";
        case TableWords::address64:
            return fmt::format("address64/{}", access_words);
    }
    return "";
}

}  // namespace

std::string hex_contents(const std::vector<std::byte>& bytes, std::size_t offset) {
    std::string text = fmt::format("hex@{}:", offset);
    for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
    return text;
}

CarriedBuffer input_buffer(const KernelSource& source, const TableRequest& request,
                           TableWords words, bool random_order) {
    const Row* row = walking_row(source.plan);
    if (!row) return {source.operands.size(), hex_contents(source.operands, 0)};
    CarriedBuffer buffer;
    const std::size_t end = request.bytes + 4 * global_table_slack_words;
    buffer.bytes = end + global_table_operand_bytes;
    buffer.contents = request.pattern == Pattern::global_chase
                          ? fmt::format("walk(table_bytes={};line_bytes={};order={};words={})",
                                        request.bytes, request.line_bytes,
                                        request.own_lines ? "own"
                                        : random_order    ? "random"
                                                          : "sequential",
                                        words_text(words, request.access_words))
                          : std::string("floats");
    if (row != source.plan.first) buffer.contents += "+" + hex_contents(source.operands, end);
    return buffer;
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <optional>

#include "sim/engine/in_order_engine.h"

namespace occupipe::sim {
namespace {

constexpr std::int64_t longest_ring = 64;

// The innermost loop around both.
std::int32_t common_loop(const LoopProgram& program, const LoopProgram::Edge& edge) {
    std::int32_t loop = program.streams[edge.user].loop;
    while (loop >= 0 &&
           (edge.producer < program.loops[loop].first || edge.producer >= program.loops[loop].last))
        loop = program.loops[loop].parent;
    return loop;
}

// The instance that the edge asks for, counted back from the producer's last one, which is 1.
std::int64_t lag_of(const LoopProgram::Edge& edge) {
    if (edge.back == 0) return 1;
    const std::int64_t rounds = edge.producer < edge.user ? edge.back : edge.back - 1;
    return rounds * edge.multiplier + 1;
}

}  // namespace

std::optional<InOrderProgram> in_order_program(const CoreLayout& layout,
                                               const ProgramLayout& program) {
    const LoopProgram& from = program.program;
    InOrderProgram made;
    for (const LoopProgram::Loop& loop : from.loops) {
        const std::int32_t depth = loop.parent < 0 ? 0 : made.loops[loop.parent].depth + 1;
        made.loops.push_back({loop.count, loop.first, loop.last, loop.parent, depth, 1});
    }
    std::vector<std::int64_t> lags(from.streams.size(), 1);
    for (const LoopProgram::Edge& edge : from.edges) {
        if (lag_of(edge) > longest_ring) return std::nullopt;
        lags[edge.producer] = std::max(lags[edge.producer], lag_of(edge));
    }
    for (std::size_t s = 0; s < from.streams.size(); ++s) {
        const MachineOp& op = layout.machine.ops[from.streams[s].op];
        InOrderProgram::Instruction instruction;
        instruction.cpi = op.cpi;
        instruction.latency = op.latency;
        instruction.finishes = op.kind == InstructionKind::store ? op.cpi : op.latency;
        instruction.op = from.streams[s].op;
        instruction.subsystem = static_cast<std::int16_t>(op.subsystem);
        instruction.channel = static_cast<std::int16_t>(program.streams[s].barrier_channel);
        instruction.queued = op.queued;
        instruction.store = op.kind == InstructionKind::store;
        instruction.time = made.times;
        const auto ring =
            static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint64_t>(lags[s])));
        instruction.mask = ring - 1;
        made.times += ring;
        for (std::int32_t l = from.streams[s].loop;
             l >= 0 && from.loops[l].last == static_cast<std::int32_t>(s) + 1; l = -1)
            instruction.ends_loop = l;
        made.instructions.push_back(instruction);
    }
    for (std::size_t s = 0; s < from.streams.size(); ++s) {
        const auto& stream = from.streams[s];
        made.instructions[s].first_lookup = static_cast<std::int32_t>(made.lookups.size());
        for (std::int32_t e = stream.first_edge; e < stream.first_edge + stream.edge_count; ++e) {
            const LoopProgram::Edge& edge = from.edges[e];
            const auto& producer = made.instructions[edge.producer];
            InOrderProgram::Lookup lookup;
            lookup.first = producer.time;
            lookup.mask = producer.mask;
            lookup.stream = edge.producer;
            lookup.lag = static_cast<std::int32_t>(lag_of(edge));
            if (edge.back > 0) {
                const std::int32_t loop = common_loop(from, edge);
                made.loops[loop].settled = std::max(made.loops[loop].settled, edge.back);
                if (edge.restart != 0) {
                    lookup.loop = loop;
                    lookup.back = edge.back;
                }
            }
            made.lookups.push_back(lookup);
        }
        made.instructions[s].last_lookup = static_cast<std::int32_t>(made.lookups.size());
    }
    return made;
}

}  // namespace occupipe::sim

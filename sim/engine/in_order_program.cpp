// SPDX-License-Identifier: MIT
#include "sim/engine/in_order_program.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace occupipe::sim {
namespace {

constexpr std::int64_t longest_ring = 64;
constexpr std::int32_t last_near = 255;  // places beyond have no room in Instruction

bool holds(const LoopProgram::Loop& loop, std::int32_t stream) {
    return loop.first <= stream && stream < loop.last;
}

// The innermost loop around both.
std::int32_t common_loop(const LoopProgram& program, const LoopProgram::Edge& edge) {
    std::int32_t loop = program.streams[edge.user].loop;
    while (loop >= 0 && !holds(program.loops[loop], edge.producer))
        loop = program.loops[loop].parent;
    return loop;
}

// The first instruction whose issue may overwrite the producer's result: the user itself, or what
// follows the outermost loop that it is in and the producer is not.
std::int32_t end_of_need(const LoopProgram& program, const LoopProgram::Edge& edge) {
    std::int32_t end = edge.user;
    for (std::int32_t l = program.streams[edge.user].loop;
         l >= 0 && !holds(program.loops[l], edge.producer); l = program.loops[l].parent)
        end = program.loops[l].last;
    return end;
}

// The instance that the edge asks for, counted back from the producer's last one, which is 1.
std::int64_t lag_of(const LoopProgram::Edge& edge) {
    if (edge.back == 0) return 1;
    const std::int64_t rounds = edge.producer < edge.user ? edge.back : edge.back - 1;
    return rounds * edge.multiplier + 1;
}

class Builder {
public:
    Builder(const CoreLayout& layout, const ProgramLayout& program)
        : layout_(layout), program_(program), from_(program.program), needs_(from_.streams.size()) {
        made_.busy.resize(layout.machine.subsystems.size());
    }

    InOrderProgram build() {
        for (const LoopProgram::Edge& edge : from_.edges) {
            const std::int64_t lag = lag_of(edge);
            Need& need = needs_[edge.producer];
            need.lag = std::max(need.lag, lag);
            need.end = std::max(need.end, end_of_need(from_, edge));
            need.for_ever |= edge.back > 0;
        }
        for (const LoopProgram::Loop& loop : from_.loops) {
            const std::int32_t depth = loop.parent < 0 ? 0 : made_.loops[loop.parent].depth + 1;
            made_.loops.push_back({loop.count, loop.first, loop.last, loop.parent, depth, 1});
        }
        for (std::size_t s = 0; s < from_.streams.size(); ++s)
            add_instruction(static_cast<std::int32_t>(s));
        give_places();
        for (std::size_t s = 0; s < from_.streams.size(); ++s)
            add_lookups(static_cast<std::int32_t>(s));
        made_.instructions.emplace_back();
        return std::move(made_);
    }

private:
    // How long a result is needed.
    struct Need {
        std::int64_t lag = 1;
        std::int32_t end = -1;  // before this instruction issues; -1: by none
        bool for_ever = false;  // in the next iteration, too
    };

    void add_instruction(std::int32_t s) {
        const LoopProgram::Stream& stream = from_.streams[s];
        const MachineOp& op = layout_.machine.ops[stream.op];
        InOrderProgram::Instruction instruction;
        InOrderProgram::Details details;
        instruction.op = static_cast<std::uint16_t>(stream.op);
        instruction.subsystem = static_cast<std::uint8_t>(op.subsystem);
        details.channel = program_.streams[s].barrier_channel;
        details.queued = op.queued;
        details.store = op.kind == InstructionKind::store;
        details.completes = program_.streams[s].completion_queue >= 0;
        details.loop = stream.loop;
        if (stream.loop >= 0 && from_.loops[stream.loop].last == s + 1)
            details.ends_loop = stream.loop;
        if (needs_[s].lag > 1) {
            details.ring = static_cast<std::int32_t>(made_.ring_masks.size());
            details.mask = static_cast<std::int32_t>(
                std::bit_ceil(static_cast<std::uint64_t>(needs_[s].lag)) - 1);
            made_.ring_masks.push_back(details.mask);
        }
        if (details.channel >= 0 || details.queued || details.mask != 0)
            instruction.flags |= InOrderProgram::special;
        if (details.ends_loop >= 0 || s + 1 == static_cast<std::int32_t>(from_.streams.size()))
            instruction.flags |= InOrderProgram::ends;
        made_.busy[op.subsystem] +=
            static_cast<std::uint64_t>(stream.instances) * static_cast<std::uint64_t>(op.cpi);
        made_.instructions.push_back(instruction);
        made_.details.push_back(details);
    }

    // Linear scan. A barrier's result is written when the barrier opens, maybe after others were
    // issued, so its place is its own.
    void give_places() {
        // Per instruction before which places are given back: a list of those whose they are.
        std::vector<std::int32_t> given_back(made_.instructions.size() + 1, -1);
        std::vector<std::int32_t> next(made_.instructions.size(), -1);
        std::vector<std::int32_t> unused;
        for (std::size_t s = 0; s < made_.instructions.size(); ++s) {
            // What is needed last by this instruction has been looked up when it issues.
            for (std::int32_t of = given_back[s]; of >= 0; of = next[of])
                unused.push_back(made_.details[of].place);
            InOrderProgram::Instruction& instruction = made_.instructions[s];
            InOrderProgram::Details& details = made_.details[s];
            const Need& need = needs_[s];
            if (need.end < 0 && !need.for_ever) continue;
            const bool own = need.for_ever || details.channel >= 0;
            if (own || unused.empty()) {
                details.place = made_.places;
                made_.places += details.mask + 1;
            } else {
                details.place = unused.back();
                unused.pop_back();
            }
            if (!own) {
                next[s] = given_back[need.end];
                given_back[need.end] = static_cast<std::int32_t>(s);
            }
            if (details.place > last_near) instruction.flags |= InOrderProgram::special;
            instruction.place = static_cast<std::uint8_t>(details.place);
        }
    }

    void add_lookups(std::int32_t s) {
        const LoopProgram::Stream& stream = from_.streams[s];
        InOrderProgram::Instruction& instruction = made_.instructions[s];
        made_.details[s].first_lookup = static_cast<std::int32_t>(made_.lookups.size());
        std::size_t plain = 0;
        for (std::int32_t e = stream.first_edge; e < stream.first_edge + stream.edge_count; ++e) {
            const LoopProgram::Edge& edge = from_.edges[e];
            InOrderProgram::Lookup lookup;
            lookup.first = made_.details[edge.producer].place;
            lookup.mask = made_.details[edge.producer].mask;
            lookup.ring = made_.details[edge.producer].ring;
            lookup.lag = static_cast<std::int32_t>(lag_of(edge));
            lookup.stream = edge.producer;
            if (edge.back > 0) {
                const std::int32_t loop = common_loop(from_, edge);
                made_.loops[loop].settled = std::max(made_.loops[loop].settled, edge.back);
                if (edge.restart != 0) {
                    lookup.loop = loop;
                    lookup.back = edge.back;
                }
            }
            made_.lookups.push_back(lookup);
            if (lookup.mask != 0 || lookup.loop >= 0 || lookup.first > last_near ||
                plain == instruction.lookups.size())
                instruction.flags |= InOrderProgram::looks_more;
            else
                instruction.lookups[plain++] = static_cast<std::uint8_t>(lookup.first);
        }
        made_.details[s].last_lookup = static_cast<std::int32_t>(made_.lookups.size());
    }

    const CoreLayout& layout_;
    const ProgramLayout& program_;
    const LoopProgram& from_;
    std::vector<Need> needs_;
    InOrderProgram made_;
};

}  // namespace

bool fits_scoreboard(const ProgramLayout& program) {
    const auto& edges = program.program.edges;
    return std::all_of(edges.begin(), edges.end(),
                       [](const LoopProgram::Edge& edge) { return lag_of(edge) <= longest_ring; });
}

InOrderProgram in_order_program(const CoreLayout& layout, const ProgramLayout& program) {
    return Builder(layout, program).build();
}

}  // namespace occupipe::sim

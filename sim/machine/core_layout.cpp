// SPDX-License-Identifier: MIT
#include "sim/machine/core_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/error.h"
#include "sim/program/stream_order.h"

namespace occupipe::sim {
namespace {

constexpr std::int64_t max_state = std::int64_t{1}
                                   << 24;  // streams and credits of all resident warps

std::int16_t queue_index(CoreLayout& layout, const QueueKind& kind) {
    const auto found = std::find(layout.queues.begin(), layout.queues.end(), kind);
    const auto index = static_cast<std::int16_t>(found - layout.queues.begin());
    if (index == std::numeric_limits<std::int16_t>::max())
        throw InputError("the kernel uses more kinds of instructions than the simulator can hold");
    if (found == layout.queues.end()) layout.queues.push_back(kind);
    return index;
}

ProgramLayout::Stream build_stream(CoreLayout& layout, const LoopProgram& program, std::size_t s) {
    const LoopProgram::Stream& from = program.streams[s];
    const MachineOp& op = layout.machine.ops[from.op];
    ProgramLayout::Stream stream;
    stream.instances = from.instances;
    stream.cpi = op.cpi;
    stream.subsystem = static_cast<std::int16_t>(op.subsystem);
    stream.first_edge = from.first_edge;
    stream.last_edge = from.first_edge + from.edge_count;
    stream.first_user = from.first_user;
    stream.last_user = from.first_user + from.user_count;
    stream.top_end = from.top_end;
    for (std::int32_t l = from.loop; l >= 0; l = program.loops[l].parent) ++stream.depth;
    stream.waits = op.queued;
    stream.own_unit = layout.machine.subsystems[op.subsystem].per_scheduler();
    stream.run = stream.instances;
    if (from.loop >= 0) {
        stream.step = program.loops[from.loop].length;
        stream.run = program.loops[from.loop].count;
    }
    const auto add_queue = [&](QueueKind kind) {
        if (!stream.waits || !kind.completes) return queue_index(layout, kind);
        // One queue per copy of the subsystem, side by side.
        kind.op = from.op;
        const int units = layout.machine.unit_count_of(op.subsystem);
        kind.unit = layout.machine.unit(op.subsystem, 0);
        const std::int16_t first = queue_index(layout, kind);
        for (int copy = 1; copy < units; ++copy) {
            ++kind.unit;
            queue_index(layout, kind);
        }
        return first;
    };
    if (op.kind == InstructionKind::store) {
        // A dependence on a store waits for Λ; the end of the group waits for issue + λ only.
        stream.finish_queue = add_queue({.delay = op.cpi, .completes = false, .finishes = true});
        if (from.user_count > 0)
            stream.completion_queue =
                add_queue({.delay = op.latency, .completes = true, .finishes = false});
    } else {
        stream.completion_queue =
            add_queue({.delay = op.latency, .completes = true, .finishes = true});
    }
    const bool both = stream.completion_queue >= 0 && stream.finish_queue >= 0;
    if (op.kind != InstructionKind::barrier && !stream.waits && !both)
        stream.only_queue = std::max(stream.completion_queue, stream.finish_queue);
    if (stream.only_queue >= 0) stream.delay = layout.queues[stream.only_queue].delay;
    return stream;
}

// Credits lie between what the producer executes and what the user needs, negated.
std::int64_t largest_credit(const LoopProgram& program) {
    std::int64_t largest = 0;
    for (const LoopProgram::Edge& edge : program.edges)
        largest = std::max({largest, program.streams[edge.producer].instances - edge.required(0),
                            edge.required(program.streams[edge.user].instances - 1)});
    return largest;
}

// Lanes of the least width that holds every credit.
void choose_lanes(CoreLayout& layout, const std::vector<LoopProgram>& programs) {
    std::int64_t largest = 0;
    for (const LoopProgram& program : programs)
        largest = std::max(largest, largest_credit(program));
    while (layout.lane_bits < 64 && largest >> (layout.lane_bits - 1) != 0) layout.lane_bits *= 2;
    for (int lane = 0; lane < 64 / layout.lane_bits; ++lane)
        layout.credit_signs |= std::uint64_t{1} << ((lane + 1) * layout.lane_bits - 1);
}

// Gives every edge its lane, next to the others of the same user.
void place_credits(const CoreLayout& layout, ProgramLayout& result, const LoopProgram& program) {
    const int lanes = 64 / layout.lane_bits;
    std::vector<UserEdge> by_edge(program.edges.size());
    for (std::size_t s = 0; s < result.streams.size(); ++s) {
        ProgramLayout::Stream& stream = result.streams[s];
        const int edges = stream.last_edge - stream.first_edge;
        stream.first_credit = static_cast<std::int32_t>(result.initial_credits.size());
        stream.last_credit = stream.first_credit + std::max(2, (edges + lanes - 1) / lanes);
        result.initial_credits.resize(stream.last_credit);
        result.credit_steps.resize(stream.last_credit);
        for (int e = 0; e < edges; ++e) {
            const LoopProgram::Edge& edge = program.edges[stream.first_edge + e];
            const std::uint64_t one = std::uint64_t{1} << (e % lanes * layout.lane_bits);
            const std::int32_t word = stream.first_credit + e / lanes;
            by_edge[stream.first_edge + e] = {.credit = one,
                                              .word = word,
                                              .user = static_cast<std::int32_t>(s),
                                              .subsystem = stream.subsystem};
            result.initial_credits[word] -= one * static_cast<std::uint64_t>(edge.required(0));
            // Where a loop lies between them, the same throughout a run of the innermost loop.
            if (edge.divisor == 1)
                result.credit_steps[word] += one * static_cast<std::uint64_t>(edge.multiplier);
            if (edge.divisor == 1 && edge.restart != 0)
                stream.first_of_run = std::max(stream.first_of_run, edge.back);
        }
        if (stream.first_of_run > 1) result.initial_heads[s].run_left = 1;
    }
    for (const std::int32_t e : program.users) result.users.push_back(by_edge[e]);
}

ProgramLayout build_program(CoreLayout& layout, LoopProgram program) {
    ProgramLayout result;
    const std::size_t count = program.streams.size();
    result.words = static_cast<int>((count + 63) / 64);
    result.subsystem_streams.resize(layout.machine.subsystems.size() * result.words);
    for (std::size_t s = 0; s < count; ++s) {
        result.streams.push_back(build_stream(layout, program, s));
        const ProgramLayout::Stream& stream = result.streams.back();
        result.subsystem_streams[stream.subsystem * result.words + s / 64] |= std::uint64_t{1}
                                                                              << (s % 64);
        const bool waits = std::any_of(
            program.edges.begin() + stream.first_edge, program.edges.begin() + stream.last_edge,
            [](const LoopProgram::Edge& edge) { return edge.required(0) > 0; });
        result.initial_heads.push_back({.issued = 0,
                                        .completed = 0,
                                        .index = program.streams[s].offset,
                                        .run_left = stream.run});
        if (!waits && (layout.order == Order::dataflow || s == 0))
            result.initially_ready.push_back(static_cast<std::int32_t>(s));
    }
    place_credits(layout, result, program);
    result.program = std::move(program);
    return result;
}

// One channel per barrier instruction when all warps of a group run the same program, so that its
// n-th instances meet. When they do not, all barriers share one channel, and the n-th a warp issues
// meets the n-th of the others; that is the n-th in program order when each depends on the one
// before.
void set_barrier_channels(CoreLayout& layout, const std::string& kernel) {
    bool diverges = false;
    std::set<std::int32_t> used;
    for (const auto& kind : layout.kinds) {
        const std::int64_t barriers = layout.programs[kind.front()].program.barriers;
        for (const std::int32_t p : kind) {
            used.insert(p);
            diverges = diverges || p != kind.front();
            if (layout.programs[p].program.barriers != barriers)
                throw InputError(
                    fmt::format("deadlock: some warps of a group execute {} barriers, others {}",
                                barriers, layout.programs[p].program.barriers));
        }
    }
    for (const std::int32_t p : used) {
        ProgramLayout& program = layout.programs[p];
        int channels = 0;
        for (std::size_t s = 0; s < program.streams.size(); ++s)
            if (layout.machine.ops[program.program.streams[s].op].kind == InstructionKind::barrier)
                program.streams[s].barrier_channel = diverges ? 0 : channels++;
        if (diverges && program.program.barriers > 0) {
            channels = 1;
            const auto fault = unordered_barriers(program.program, layout.machine);
            if (fault)
                throw InputError(fmt::format(
                    "kernel '{}': where warps diverge, each barrier must depend on the one before: "
                    "put {} into the `after` of {}, or of what {} waits for",
                    kernel, fault->before, fault->barrier, fault->barrier));
        }
        layout.barrier_channels = std::max(layout.barrier_channels, channels);
    }
}

// Room for the largest program that each warp may run.
void place_warps(CoreLayout& layout) {
    struct Room {
        std::size_t streams = 0, credits = 0;
        int words = 0;
    };
    std::vector<Room> rooms(static_cast<std::size_t>(layout.group_warps));
    for (const auto& kind : layout.kinds)
        for (std::size_t index = 0; index < rooms.size(); ++index) {
            const ProgramLayout& program = layout.programs[kind[index]];
            Room& room = rooms[index];
            room.streams = std::max(room.streams, program.streams.size());
            room.credits = std::max(room.credits, program.initial_credits.size());
            room.words = std::max(room.words, program.words);
        }
    std::int64_t streams = 0;
    std::int64_t credits = 0;
    std::int64_t words = 0;
    for (int warp = 0; warp < layout.warps(); ++warp) {
        const auto index = static_cast<std::size_t>(warp % layout.group_warps);
        const Room& room = rooms[index];
        layout.program_of.push_back(layout.kinds.front()[index]);
        layout.scheduler_of.push_back(warp % layout.machine.schedulers);
        layout.first_stream.push_back(static_cast<std::int32_t>(streams));
        layout.first_credit.push_back(static_cast<std::int32_t>(credits));
        layout.first_word.push_back(static_cast<std::int32_t>(words));
        streams += static_cast<std::int64_t>(room.streams);
        credits += static_cast<std::int64_t>(room.credits);
        words += room.words;
        if (streams + credits > max_state)
            throw InputError(
                fmt::format("{} warps of {} instructions each are more than the "
                            "simulator's limit of {} in all",
                            layout.warps(), room.streams, max_state));
    }
    layout.stream_count = static_cast<std::int32_t>(streams);
    layout.credit_count = static_cast<std::int32_t>(credits);
    layout.word_count = static_cast<std::int32_t>(words);
}

// Of each kind, and together where the core's groups are known.
void count_instructions(CoreLayout& layout) {
    for (const auto& kind : layout.kinds) {
        std::int64_t& sum = layout.kind_instructions.emplace_back();
        for (const std::int32_t p : kind)
            if (__builtin_add_overflow(sum, layout.programs[p].program.instructions, &sum))
                throw InputError("a group executes more than 2^63 instructions");
        std::int64_t total = 0;
        if (__builtin_mul_overflow(sum, layout.groups, &total))
            throw InputError("the launch executes more than 2^63 instructions on one core");
    }
    layout.group_instructions = layout.kind_instructions.front();
}

// In order, streams are the instructions of the text. The machine counts a stall from the issue.
void add_stalls(CoreLayout& layout, const ResolvedKernel& kernel) {
    if (layout.order != Order::in_order)
        throw InputError(
            "stall counts are of instructions that issue in order: use order in_order");
    for (std::size_t p = 0; p < layout.programs.size(); ++p) {
        std::size_t s = 0;
        for (const ResolvedProgram::Instruction& one : kernel.programs[p].instructions) {
            ProgramLayout::Stream& stream = layout.programs[p].streams[s++];
            if (one.stall > 0)
                stream.stall_queue = queue_index(
                    layout, {.delay = one.stall * layout.machine.cycle, .releases = true});
        }
    }
}

// Sets of one word, and a table of those that the scheduler unites.
void build_narrow(CoreLayout& layout, ProgramLayout& program) {
    const std::size_t subsystems = layout.machine.subsystems.size();
    for (std::size_t open = 0; open < std::size_t{1} << layout.unit_pitch; ++open) {
        program.open_streams.push_back(0);
        for (std::size_t s = 0; s < subsystems; ++s)
            if ((open >> s & 1) != 0) program.open_streams.back() |= program.subsystem_streams[s];
    }
    const auto laggards = possible_laggards(program.program);
    for (std::size_t s = 0; s < program.streams.size(); ++s)
        program.streams[s].rivals = laggards[s];
    for (UserEdge& edge : program.users) edge.head = std::uint64_t{1} << edge.user;
}

void choose_width(CoreLayout& layout) {
    const std::size_t subsystems = layout.machine.subsystems.size();
    layout.unit_pitch = static_cast<int>(subsystems);
    layout.narrow =
        !layout.heeds_stalls && layout.warp_words() == 1 && subsystems <= max_narrow_subsystems &&
        layout.machine.schedulers <= max_narrow_schedulers &&
        layout.queues.size() <= max_narrow_queues &&
        std::all_of(layout.programs.begin(), layout.programs.end(),
                    [](const ProgramLayout& program) {
                        return program.initial_credits.size() == 2 * program.streams.size();
                    });
    layout.many_streams =
        std::any_of(layout.programs.begin(), layout.programs.end(),
                    [](const ProgramLayout& program) { return program.words > 1; });
    if (!layout.narrow) return;
    layout.unit_pitch = subsystems <= 4 ? 4 : 8;
    if (layout.many_streams) return;
    for (ProgramLayout& program : layout.programs) build_narrow(layout, program);
}

}  // namespace

CoreLayout build_layout(const Problem& problem, const SimulationOptions& options) {
    const ResolvedKernel& kernel = problem.kernel();
    const Launch& launch = problem.launch();
    CoreLayout layout;
    layout.machine = build_machine(problem);
    for (std::size_t op = 0; op < layout.machine.ops.size(); ++op) {
        if (!layout.machine.ops[op].queued) continue;
        const int subsystem = layout.machine.ops[op].subsystem;
        for (int copy = 0; copy < layout.machine.unit_count_of(subsystem); ++copy)
            layout.waiting_lines.push_back(
                {static_cast<std::int32_t>(op), layout.machine.unit(subsystem, copy)});
    }
    layout.policy = policy_of(options, problem.gpu().issue);
    layout.select = select_of(options, problem.gpu().issue);
    layout.order = options.order.value_or(kernel.order.value_or(Order::dataflow));
    layout.group_warps = launch.group_warps;
    layout.kinds = problem.groups().kinds();
    const std::int64_t per_core = launch.groups_per_core(problem.gpu().cores);
    // A core may run more of them than another where they differ.
    layout.groups = problem.groups().alike() ? per_core : 0;
    // Nor does any hold more at once: what fits at the beginning is dealt out evenly.
    layout.slots = static_cast<int>(std::min<std::int64_t>(launch.concurrent_groups, per_core));
    std::vector<LoopProgram> programs;
    for (const ResolvedProgram& program : kernel.programs)
        programs.push_back(build_loop_program(program, layout.machine, layout.order));
    choose_lanes(layout, programs);
    for (LoopProgram& program : programs)
        layout.programs.push_back(build_program(layout, std::move(program)));
    layout.heeds_stalls = options.stall_counts;
    if (layout.heeds_stalls) add_stalls(layout, kernel);
    set_barrier_channels(layout, kernel.name);
    place_warps(layout);
    choose_width(layout);
    count_instructions(layout);
    return layout;
}

std::vector<double> work_of_group(const CoreLayout& layout, std::size_t kind) {
    std::vector<double> work(layout.machine.subsystems.size());
    for (const std::int32_t program : layout.kinds[kind])
        for (const auto& stream : layout.programs[program].streams)
            work[stream.subsystem] +=
                static_cast<double>(stream.cpi) * static_cast<double>(stream.instances);
    return work;
}

std::vector<Bound> bounds_of(const CoreLayout& layout, std::span<const double> groups,
                             std::int64_t ticks) {
    const Machine& machine = layout.machine;
    std::vector<double> work(machine.subsystems.size());
    double issued = 0;
    for (std::size_t kind = 0; kind < groups.size(); ++kind) {
        const std::vector<double> own = work_of_group(layout, kind);
        for (std::size_t s = 0; s < work.size(); ++s) work[s] += groups[kind] * own[s];
        issued += groups[kind] * static_cast<double>(layout.kind_instructions[kind]);
    }
    std::vector<std::int64_t> busy;  // per unit
    for (std::size_t s = 0; s < work.size(); ++s) {
        const int units = machine.unit_count_of(static_cast<int>(s));
        busy.insert(busy.end(), units, std::llround(work[s] / units));
    }
    return utilisations(machine, busy, std::llround(issued), ticks);
}

}  // namespace occupipe::sim

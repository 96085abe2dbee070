// SPDX-License-Identifier: MIT
#include "sim/program/lowered.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace occupipe::sim {
namespace {

constexpr std::int64_t max_streams = 65'536;  // where loops are replicated
constexpr std::int64_t max_text = 4'000'000;

// Emits streams in program order. A copy of an instruction is named by the iteration of each
// replicated loop around it.
class Emitter {
public:
    Emitter(const ResolvedProgram& program, const std::set<std::int32_t>& replicated,
            const Machine& machine)
        : program_(program), machine_(machine), iteration_(replicated.size(), -1) {
        copied_.assign(program.loops.size(), -1);
        for (std::int32_t number = 0; const std::int32_t loop : replicated)
            copied_[loop] = number++;
        refuse_too_many();
        stream_of_.resize(program.instructions.size());
        out_.program.instructions = emit(0, program.instructions.size(), 0, -1, 0);
        add_edges();
        finish();
    }

    Lowered take() { return std::move(out_); }

private:
    bool copied(std::int32_t loop) const { return copied_[loop] >= 0; }
    const std::vector<std::int32_t>& loops_around(std::size_t instruction) const {
        return program_.loops_around(program_.instructions[instruction]);
    }

    void refuse_too_many() const {
        std::int64_t total = 0;
        for (const auto& instruction : program_.instructions) {
            std::int64_t copies = 1;
            for (const std::int32_t loop : program_.loops_around(instruction)) {
                if (!copied(loop)) continue;
                if (__builtin_mul_overflow(copies, program_.loops[loop].count, &copies) ||
                    copies > max_streams)
                    fail(loop);
            }
            total += copies;
            const bool any_copied =
                std::ranges::any_of(program_.loops_around(instruction),
                                    [&](std::int32_t loop) { return copied(loop); });
            if (any_copied && total > max_streams) fail(program_.loops_around(instruction)[0]);
        }
        if (total > max_text)
            throw InputError(fmt::format(
                "the kernel's text has {} instructions; {} can be simulated", total, max_text));
    }

    [[noreturn]] void fail(std::int32_t loop) const {
        throw InputError(
            "", program_.loops[loop].where, "repeat",
            fmt::format("its {} iterations do not depend on one another, so that with order "
                        "dataflow all of them may overlap; more than {} instructions would have to "
                        "be told apart. Use order in_order, or make an iteration depend on the "
                        "one before (NAME@-1)",
                        program_.loops[loop].count, max_streams));
    }

    // Emits instructions [first, last), all `depth` loops deep at least, inside the emitted loop
    // `parent`; `start` instructions come before them. Returns how many one pass executes.
    std::int64_t emit(std::size_t first, std::size_t last, std::size_t depth, std::int32_t parent,
                      std::int64_t start) {
        std::int64_t length = 0;
        for (std::size_t i = first; i < last;) {
            const auto& loops = loops_around(i);
            if (loops.size() == depth) {
                add_stream(i++, parent, start + length);
                ++length;
                continue;
            }
            const std::int32_t loop = loops[depth];
            std::size_t end = i;
            while (end < last && loops_around(end).size() > depth &&
                   loops_around(end)[depth] == loop)
                ++end;
            length += copied(loop) ? emit_copies(loop, i, end, depth, parent, start + length)
                                   : emit_loop(loop, i, end, depth, parent, start + length);
            i = end;
        }
        return length;
    }

    std::int64_t emit_copies(std::int32_t loop, std::size_t first, std::size_t last,
                             std::size_t depth, std::int32_t parent, std::int64_t start) {
        std::int64_t length = 0;
        for (std::int64_t i = 0; i < program_.loops[loop].count; ++i) {
            iteration_[copied_[loop]] = i;
            length += emit(first, last, depth + 1, parent, start + length);
        }
        iteration_[copied_[loop]] = -1;
        return length;
    }

    std::int64_t emit_loop(std::int32_t loop, std::size_t first, std::size_t last,
                           std::size_t depth, std::int32_t parent, std::int64_t start) {
        auto& loops = out_.program.loops;
        const auto self = static_cast<std::int32_t>(loops.size());
        const auto begin = static_cast<std::int32_t>(out_.program.streams.size());
        loops.push_back({parent, program_.loops[loop].count, begin, 0, 0});
        paths_.push_back(emitted_path(parent));
        paths_.back().push_back(self);
        out_.source.push_back(loop);
        const std::int64_t length = emit(first, last, depth + 1, self, start);
        loops[self].last = static_cast<std::int32_t>(out_.program.streams.size());
        loops[self].length = length;
        return length * loops[self].count;
    }

    void add_stream(std::size_t instruction, std::int32_t parent, std::int64_t start) {
        LoopProgram::Stream stream;
        stream.offset = start;
        stream.op = program_.instructions[instruction].op;
        stream.loop = parent;
        for (std::int32_t l = parent; l >= 0; l = out_.program.loops[l].parent)
            stream.instances *= out_.program.loops[l].count;
        stream_of_[instruction].push_back(static_cast<std::int32_t>(out_.program.streams.size()));
        out_.program.streams.push_back(stream);
        out_.program.ids.push_back(program_.instructions[instruction].id);
        instruction_of_.push_back(instruction);
        iterations_of_.insert(iterations_of_.end(), iteration_.begin(), iteration_.end());
    }

    // Copies of an instruction stand in stream_of_ in program order, so the one with the given
    // iterations of the replicated loops around it has a mixed-radix index.
    std::int32_t copy_of(std::size_t instruction,
                         const std::vector<std::int64_t>& iterations) const {
        std::int64_t index = 0;
        for (const std::int32_t loop : loops_around(instruction))
            if (copied(loop))
                index = index * program_.loops[loop].count + iterations[copied_[loop]];
        return stream_of_[instruction][index];
    }

    void add_edges() {
        for (std::size_t user = 0; user < out_.program.streams.size(); ++user) {
            auto& stream = out_.program.streams[user];
            stream.first_edge = static_cast<std::int32_t>(out_.program.edges.size());
            for (const auto& dependence : program_.instructions[instruction_of_[user]].after)
                add_edge(user, dependence);
            stream.edge_count =
                static_cast<std::int32_t>(out_.program.edges.size()) - stream.first_edge;
        }
    }

    void add_edge(std::size_t user, const ResolvedProgram::Dependence& dependence) {
        std::vector<std::int64_t>& iterations = iterations_;
        const auto first =
            iterations_of_.begin() + static_cast<std::ptrdiff_t>(user * iteration_.size());
        iterations.assign(first, first + static_cast<std::ptrdiff_t>(iteration_.size()));
        std::int64_t back = dependence.back;
        if (back > 0) {
            if (back >= program_.loops[dependence.common_loop].count) return;
            if (copied(dependence.common_loop)) {
                std::int64_t& iteration = iterations[copied_[dependence.common_loop]];
                iteration -= back;
                if (iteration < 0) return;
                back = 0;
            }
        }
        // Loops that hold only the producer have ended: their last iteration counts.
        const auto& loops = loops_around(dependence.producer);
        bool shared = dependence.common_loop >= 0;
        for (const std::int32_t loop : loops) {
            if (!shared && copied(loop)) iterations[copied_[loop]] = program_.loops[loop].count - 1;
            if (loop == dependence.common_loop) shared = false;
        }
        LoopProgram::Edge edge;
        edge.producer = copy_of(dependence.producer, iterations);
        edge.user = static_cast<std::int32_t>(user);
        edge.back = back;
        set_counts(edge);
        out_.program.edges.push_back(edge);
    }

    void set_counts(LoopProgram::Edge& edge) const {
        const auto& user = emitted_path(out_.program.streams[edge.user].loop);
        const auto& producer = emitted_path(out_.program.streams[edge.producer].loop);
        const auto fork = std::mismatch(user.begin(), user.end(), producer.begin(), producer.end());
        for (auto l = fork.first; l != user.end(); ++l)
            edge.divisor *= out_.program.loops[*l].count;
        for (auto l = fork.second; l != producer.end(); ++l)
            edge.multiplier *= out_.program.loops[*l].count;
        if (edge.back > 0 && fork.first - user.begin() > 1)
            edge.restart = out_.program.loops[*(fork.first - 1)].count;
    }

    // The emitted loops around what is in this one, outermost first.
    const std::vector<std::int32_t>& emitted_path(std::int32_t loop) const {
        return loop < 0 ? no_path_ : paths_[loop];
    }

    void finish() {
        LoopProgram& program = out_.program;
        for (const LoopProgram::Edge& edge : program.edges)
            ++program.streams[edge.producer].user_count;
        std::int32_t users = 0;
        for (auto& stream : program.streams) {
            stream.first_user = users;
            users += stream.user_count;
            stream.user_count = 0;
        }
        program.users.resize(users);
        for (std::size_t e = 0; e < program.edges.size(); ++e) {
            auto& producer = program.streams[program.edges[e].producer];
            program.users[producer.first_user + producer.user_count++] =
                static_cast<std::int32_t>(e);
        }
        for (auto& stream : program.streams) {
            const auto& path = emitted_path(stream.loop);
            if (!path.empty()) stream.top_end = program.loops[path[0]].last;
            if (machine_.ops[stream.op].kind == InstructionKind::barrier)
                program.barriers += stream.instances;
        }
    }

    const ResolvedProgram& program_;
    const Machine& machine_;
    std::vector<std::int32_t>
        copied_;  // per loop of the program: its number of those replicated, or -1
    std::vector<std::int64_t> iteration_;               // per replicated loop, while emitting
    std::vector<std::vector<std::int32_t>> stream_of_;  // per instruction: its copies
    std::vector<std::size_t> instruction_of_;           // per stream
    std::vector<std::int64_t> iterations_of_;           // per stream and replicated loop
    std::vector<std::vector<std::int32_t>> paths_;      // per emitted loop: it and those around
    std::vector<std::int32_t> no_path_;
    std::vector<std::int64_t> iterations_;  // of the edge that is being added
    Lowered out_;
};

}  // namespace

Lowered lower(const ResolvedProgram& program, const std::set<std::int32_t>& replicated,
              const Machine& machine) {
    return Emitter(program, replicated, machine).take();
}

}  // namespace occupipe::sim

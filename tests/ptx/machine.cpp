// SPDX-License-Identifier: MIT
#include "tests/ptx/machine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "tests/ptx/matrix.h"
#include "tests/ptx/operations.h"
#include "tests/ptx/state.h"

namespace occupipe::ptx {
namespace {

std::string word_among(const Instruction& one, std::initializer_list<const char*> words) {
    for (const char* word : words) {
        if (std::ranges::find(one.words, word) != one.words.end()) return word;
    }
    return {};
}

enum class Kind {
    branch,
    leave,
    barrier,
    cluster_barrier,
    nothing,  // memory is in order here, and lanes that meet go together
    access,
    copy,
    texel,
    unpack,
    pack,
    carry,
    collective,
    matrix,
    plain  // on its operands alone
};

// What executes an instruction, found once for each in the text.
Kind kind_of(const Instruction& one) {
    const std::string& name = one.words.front();
    const auto is = [&](std::initializer_list<const char*> names) {
        return std::ranges::find(names, name) != names.end();
    };
    const auto lists = [&](std::size_t operand) {
        return name == "mov" && one.operands.at(operand).kind == Operand::Kind::list;
    };
    if (is({"bra"})) return Kind::branch;
    if (is({"ret", "exit"})) return Kind::leave;
    if (is({"barrier"}) && one.words.at(1) == "cluster") return Kind::cluster_barrier;
    if (is({"bar"}) && one.words.at(1) == "warp") return Kind::collective;
    if (is({"bar"}) && one.words.at(1) != "cta") return Kind::barrier;
    if (is({"bar", "fence", "membar"})) return Kind::nothing;
    if (is({"ld", "st", "atom", "red"})) return Kind::access;
    if (is({"cp", "mbarrier"})) return Kind::copy;
    if (one.opcode == "tex.1d.v4.u32.s32") return Kind::texel;
    if (lists(0)) return Kind::unpack;
    if (lists(1)) return Kind::pack;
    const bool carries = std::ranges::find(one.words, "cc") != one.words.end();
    if (is({"addc", "subc", "madc"}) || carries) return Kind::carry;
    if (is({"mma", "wgmma", "ldmatrix", "stmatrix", "movmatrix"})) return Kind::matrix;
    if (is({"shfl", "vote", "match", "redux"})) return Kind::collective;
    return Kind::plain;
}

class Machine {
public:
    Machine(const Program& program, const Launch& launch, std::vector<Buffer>& buffers)
        : program_(program),
          state_(program, launch, buffers),
          most_steps_(launch.most_steps),
          plain_(launch.block[0] == 0),
          copies_arrive_(launch.copies_arrive) {
        state_.groups = &groups_;
        const unsigned groups =
            plain_ ? launch.groups : launch.grid[0] * launch.grid[1] * launch.grid[2];
        for (unsigned g = 0; g + launch.absent_groups < groups; ++g)
            groups_.push_back(state_.make_group(g));
        for (const Instruction& one : program.code) kinds_.push_back(kind_of(one));
        if (!launch.trace || groups_.empty()) return;
        tracer_.of = &groups_.front().warps.front().lanes.front();
        state_.tracer = &tracer_;
    }

    Outcome run() {
        while (std::ranges::any_of(groups_, [](const Group& g) { return !all_done(g); })) {
            const std::int64_t before = state_.now;
            bool released = false;
            for (Group& group : groups_) {
                for (Warp& warp : group.warps) {
                    for (int i = 0; i < turn && step(group, warp); ++i) {
                    }
                }
                released |= plain_ ? release(group) : release_barriers(group);
            }
            if (state_.now == before && !released && program_.cluster == 1) {
                throw Fault("nobody can go on");
            }
            for (std::size_t g = 0; g + program_.cluster <= groups_.size(); g += program_.cluster) {
                release_cluster(g);
            }
        }
        outcome_.trace = std::move(tracer_.executed);
        return std::move(outcome_);
    }

private:
    static bool all_done(const Group& group) {
        return std::ranges::all_of(group.warps, [](const Warp& warp) {
            return std::ranges::all_of(warp.lanes, &Thread::done);
        });
    }

    // Lets the group's threads pass the barrier when all have come.
    static bool release(Group& group) {
        for (const Warp& warp : group.warps) {
            for (const Thread& lane : warp.lanes) {
                if (!lane.done && (!lane.waits || lane.waits_for_cluster)) return false;
            }
        }
        for (Warp& warp : group.warps) {
            for (Thread& lane : warp.lanes) lane.waits = false;
        }
        return true;
    }

    // The same with numbers of threads and reductions.
    bool release_barriers(Group& group) {
        unsigned there = 0;
        for (const Warp& warp : group.warps) {
            there += static_cast<unsigned>(
                std::ranges::count_if(warp.lanes, [](const Thread& lane) { return !lane.done; }));
        }
        bool any = false;
        for (std::size_t number = 0; number < group.barriers.size(); ++number) {
            Barrier& barrier = group.barriers[number];
            const unsigned expected = barrier.expected == 0 ? there : barrier.expected;
            if (barrier.arrived == 0 || barrier.arrived < expected) continue;
            for (Warp& warp : group.warps) {
                for (Thread& lane : warp.lanes) {
                    if (lane.barrier != static_cast<int>(number)) continue;
                    lane.waits = false;
                    lane.barrier = -1;
                    write_reduction(lane, barrier);
                }
            }
            barrier = {};
            any = true;
        }
        return any;
    }

    void write_reduction(Thread& lane, const Barrier& barrier) {
        const Instruction& one = program_.code[lane.at - 1];
        // Lanes that have ended stand behind their exit.
        if (one.words.size() < 2 || one.words[1] != "red") return;
        state_.thread = &lane;
        state_.instruction = &one;
        const std::string how = word_among(one, {"popc", "and", "or"});
        state_.write(one.operands[0], how == "popc"  ? barrier.truths
                                      : how == "and" ? (barrier.truths == barrier.voted ? 1 : 0)
                                                     : (barrier.truths != 0 ? 1 : 0));
    }

    // bar.sync a[, b]; bar.arrive a, b; bar.red.OP d, a[, b], [!]p.
    void arrive() {
        const auto& operands = state_.instruction->operands;
        const std::string& how = state_.instruction->words.at(1);
        const std::size_t first = how == "red" ? 1 : 0;
        const std::size_t numbers = operands.size() - 2 * first;
        const std::uint64_t number = state_.value(operands.at(first));
        if (number >= state_.group->barriers.size()) state_.fail("no such barrier");
        Barrier& barrier = state_.group->barriers[number];
        barrier.expected =
            numbers > 1 ? static_cast<unsigned>(state_.value(operands.at(first + 1))) : 0;
        ++barrier.arrived;
        if (how == "red") {
            ++barrier.voted;
            barrier.truths += state_.value(operands.back()) != 0 ? 1 : 0;
        }
        if (how == "arrive") return;
        state_.thread->waits = true;
        state_.thread->barrier = static_cast<int>(number);
    }

    template <typename Visit>
    void for_cluster(std::size_t first, Visit visit) {
        for (std::size_t g = first; g < first + program_.cluster; ++g) {
            for (Warp& warp : groups_[g].warps) {
                for (Thread& lane : warp.lanes) {
                    if (!lane.done) visit(lane);
                }
            }
        }
    }

    // Lets those threads of the cluster pass whose every arrival all others have matched.
    void release_cluster(std::size_t first) {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for_cluster(first, [&](Thread& lane) { least = std::min(least, lane.cluster_arrivals); });
        for_cluster(first, [&](Thread& lane) {
            if (!lane.waits_for_cluster || lane.cluster_arrivals > least) return;
            lane.waits = lane.waits_for_cluster = false;
        });
    }

    // One instruction for the lanes that are furthest behind; false when all wait or are done.
    bool step(Group& group, Warp& warp) {
        std::size_t at = program_.code.size();
        bool any = false;
        for (const Thread& lane : warp.lanes) {
            if (lane.done || lane.waits || lane.meets) continue;
            at = std::min(at, lane.at);
            any = true;
        }
        if (!any) return false;
        if (at == program_.code.size()) throw Fault("ran beyond the end");
        if (++state_.now > most_steps_) throw Fault("does not end");
        const Instruction& one = program_.code[at];
        state_.group = &group;
        state_.instruction = &one;
        std::vector<Thread*> active;
        bool together = true;
        bool passed_by = false;  // the traced thread, with a predicate that does not hold
        tracer_.begin();
        for (Thread& lane : warp.lanes) {
            if (lane.done) continue;
            if (lane.waits || lane.meets || lane.at != at) {
                together = false;
                continue;
            }
            ++lane.at;
            state_.thread = &lane;
            if (one.guard && !state_.read_predicate(*one.guard)) {
                passed_by |= &lane == tracer_.of;
                continue;
            }
            active.push_back(&lane);
        }
        if (warp.counted && !active.empty()) count();
        const bool meet = kinds_[at] == Kind::collective || kinds_[at] == Kind::matrix;
        if (!active.empty() && meet && !plain_) {
            for (Thread* lane : active) {
                lane->meets = true;
                lane->at = at;
            }
            meet_at(warp, at);
        } else if (!active.empty()) {
            execute(kinds_[at], active, together);
        }
        const bool traced = tracer_.of && std::ranges::find(active, tracer_.of) != active.end();
        if (traced || (passed_by && kinds_[at] == Kind::branch)) tracer_.end(at, traced);
        return true;
    }

    // Lanes that wait at a collective instruction, by the mask that they name: once all of its
    // lanes that are still there have come, it is executed for them.
    void meet_at(Warp& warp, std::size_t at) {
        std::map<std::uint64_t, std::uint64_t> come;  // by mask
        std::uint64_t there = 0;
        for (std::size_t i = 0; i < warp_size; ++i) {
            Thread& lane = warp.lanes[i];
            if (!lane.done) there |= std::uint64_t{1} << i;
            if (!lane.meets || lane.at != at) continue;
            state_.thread = &lane;
            const bool matrix = kinds_[at] == Kind::matrix;
            const std::uint64_t mask =
                matrix ? 0xffffffff
                       : state_.value(state_.instruction->operands.back()) & 0xffffffff;
            come[mask] |= std::uint64_t{1} << i;
        }
        for (const auto& [mask, lanes] : come) {
            if ((mask & there & ~lanes) != 0) continue;
            std::vector<Thread*> members;
            for (std::size_t i = 0; i < warp_size; ++i) {
                if ((lanes >> i & 1) != 0) members.push_back(&warp.lanes[i]);
            }
            for (Thread* lane : members) {
                lane->meets = false;
                lane->at = at + 1;
            }
            if (kinds_[at] == Kind::matrix) {
                state_.thread = members.front();
                if (members.size() != warp_size) state_.fail("not all lanes of the warp are here");
                matrices_.execute(state_, members);
            } else {
                among(members);
            }
        }
    }

    // shfl, vote, match, redux, bar.warp.sync among these lanes (PTX ISA 9.0, 9.7.9.6, 9.7.13).
    void among(const std::vector<Thread*>& members) {
        const Instruction& one = *state_.instruction;
        const std::string& name = one.words.front();
        if (name == "bar") return;
        std::array<std::uint64_t, warp_size> in{};
        std::uint64_t mask = 0;
        const std::string& type = one.words.back();
        for (Thread* lane : members) {
            state_.thread = lane;
            const unsigned number = lane->index % warp_size;
            in[number] =
                truncated(state_.value(one.operands.at(1)), type == "ballot" ? "pred" : type);
            mask |= std::uint64_t{1} << number;
        }
        std::vector<std::pair<std::uint64_t, bool>> results;
        for (Thread* lane : members) {
            state_.thread = lane;
            results.push_back(result_among(in, mask, lane->index % warp_size));
        }
        const Operand& to = one.operands[0];
        for (std::size_t i = 0; i < members.size(); ++i) {
            state_.thread = members[i];
            const bool two = to.kind == Operand::Kind::list;
            state_.write(two ? to.parts.at(0) : to, results[i].first);
            if (two) state_.write(to.parts.at(1), results[i].second ? 1 : 0);
        }
    }

    std::pair<std::uint64_t, bool> result_among(const std::array<std::uint64_t, warp_size>& in,
                                                std::uint64_t mask, unsigned lane) const {
        const Instruction& one = *state_.instruction;
        const std::string& name = one.words.front();
        if (name == "shfl") {
            const auto b = static_cast<int>(state_.value(one.operands.at(2)) & 31);
            const std::uint64_t c = state_.value(one.operands.at(3));
            const auto clamp = static_cast<int>(c & 31), segment = static_cast<int>(c >> 8 & 31);
            const auto own = static_cast<int>(lane);
            const int most = (own & segment) | (clamp & ~segment), least = own & segment;
            const std::string& how = one.words.at(2);
            int from = 0;
            bool valid = false;
            if (how == "up") {
                from = own - b;
                valid = from >= most;
            } else {
                from = how == "down" ? own + b : how == "bfly" ? own ^ b : least | (b & ~segment);
                valid = from <= most;
            }
            if (!valid) from = own;
            // Of a lane that does not take part nothing is defined.
            if ((mask >> from & 1) == 0) state_.fail("a lane that is not there");
            return {in[static_cast<std::size_t>(from)], valid};
        }
        std::uint64_t truths = 0, equal = 0;
        std::optional<std::uint64_t> reduced;
        const std::string& how = one.words.at(name == "redux" ? 2 : name == "vote" ? 2 : 1);
        for (unsigned i = 0; i < warp_size; ++i) {
            if ((mask >> i & 1) == 0) continue;
            truths |= (in[i] & 1) << i;
            equal |= std::uint64_t{in[i] == in[lane]} << i;
            if (name != "redux") continue;
            if (!reduced) {
                reduced = in[i];
                continue;
            }
            const Instruction operation{.guard = {},
                                        .opcode = how,
                                        .words = {how, one.words.back()},
                                        .operands = {},
                                        .text = one.text};
            const std::array sources = {*reduced, in[i]};
            reduced = compute(operation, sources).value();
        }
        if (name == "redux") return {*reduced, false};
        if (name == "match") {
            if (how == "any") return {equal, false};
            const bool all = equal == mask;
            return {all ? mask : 0, all};
        }
        if (how == "ballot") return {truths, false};
        if (how == "any") return {truths != 0 ? 1 : 0, false};
        if (how == "all") return {truths == mask ? 1 : 0, false};
        if (how == "uni") return {truths == mask || truths == 0 ? 1 : 0, false};
        throw NotUnderstood(one.text);
    }

    void execute(Kind kind, const std::vector<Thread*>& active, bool together) {
        if (kind == Kind::collective || kind == Kind::matrix) {
            state_.thread = active.front();
            if (!together || active.size() != warp_size) {
                state_.fail("not all lanes of the warp are here");
            }
            return kind == Kind::matrix ? matrices_.execute(state_, active) : collective(active);
        }
        for (Thread* lane : active) {
            state_.thread = lane;
            execute_one(kind);
        }
    }

    void count() {
        const auto& operands = state_.instruction->operands;
        if (operands.size() == 2 && state_.counts_as_reading(operands[1].name)) {
            if (reading_) outcome_.intervals.push_back(counts_);
            reading_ = true;
            counts_.clear();
        } else {
            ++counts_[state_.instruction->opcode];
        }
    }

    void execute_one(Kind kind) {
        const std::string& name = state_.instruction->words.front();
        const auto& operands = state_.instruction->operands;
        switch (kind) {
            case Kind::branch:
                state_.thread->at = state_.instruction->target;
                break;
            case Kind::leave:
                state_.thread->done = true;
                break;
            case Kind::barrier:
                if (!plain_) return arrive();
                if (state_.instruction->words.at(1) == "sync") state_.thread->waits = true;
                break;
            case Kind::cluster_barrier:
                return meet_cluster();
            case Kind::nothing:
                break;
            case Kind::access:
                return access(name);
            case Kind::copy:
                return copy(name);
            case Kind::texel:
                return texel(operands);
            case Kind::unpack:
                return unpack(operands[0].parts, state_.value(operands.at(1)));
            case Kind::pack:
                return state_.write(operands[0], packed(operands[1].parts));
            case Kind::carry:
                return with_carry();
            default:
                sources_.clear();
                for (std::size_t i = 1; i < operands.size(); ++i) {
                    sources_.push_back(state_.value(operands[i]));
                }
                const auto result = compute(*state_.instruction, sources_);
                if (!result) throw NotUnderstood(state_.instruction->text);
                state_.write(operands.at(0), *result);
        }
    }

    // add, sub and mad with the carry of 32 or 64 bits (9.7.2).
    void with_carry() {
        __extension__ using Wide = unsigned __int128;
        const Instruction& one = *state_.instruction;
        const auto& operands = one.operands;
        const std::string& name = one.words.front();
        const std::string& type = one.words.back();
        const int bits = static_cast<int>(type_width(type)) * 8;
        const Wide ones = (Wide{1} << bits) - 1;
        const auto source = [&](std::size_t i) {
            return Wide{truncated(state_.value(operands.at(i)), type)};
        };
        const Wide carry = name.ends_with('c') && state_.thread->carry ? 1 : 0;
        Wide result = 0;
        if (name.starts_with("sub")) {
            result = source(1) - source(2) - carry;
        } else if (name.starts_with("mad")) {
            if (type[0] == 's' && one.words.at(1) == "hi") throw NotUnderstood(one.text);
            const Wide product = source(1) * source(2);
            result =
                (one.words.at(1) == "hi" ? product >> bits : product & ones) + source(3) + carry;
        } else {
            result = source(1) + source(2) + carry;
        }
        if (!word_among(one, {"cc"}).empty()) state_.thread->carry = (result >> bits & 1) != 0;
        state_.write(operands[0], static_cast<std::uint64_t>(result & ones));
    }

    void meet_cluster() {
        const std::string& what = state_.instruction->words.at(2);
        if (what == "arrive") {
            ++state_.thread->cluster_arrivals;
        } else if (what == "wait") {
            state_.thread->waits = state_.thread->waits_for_cluster = true;
        } else {
            throw NotUnderstood(state_.instruction->text);
        }
    }

    std::size_t part_bits(std::size_t parts) const {
        return type_width(state_.instruction->words.back()) * 8 / parts;
    }

    void unpack(const std::vector<Operand>& parts, std::uint64_t whole) {
        const std::size_t bits = part_bits(parts.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            state_.write(parts[i], whole >> i * bits & ((std::uint64_t{1} << bits) - 1));
        }
    }

    std::uint64_t packed(const std::vector<Operand>& parts) const {
        const std::size_t bits = part_bits(parts.size());
        std::uint64_t whole = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) whole |= state_.value(parts[i]) << i * bits;
        return whole;
    }

    // Of words in linear memory; a texture's handle is its address. Channels that it lacks are 0,
    // the fourth is 1.
    void texel(const std::vector<Operand>& operands) {
        const Operand& place = operands.at(1);
        const std::uint64_t index = state_.value(place.parts.at(1).parts.at(0));
        std::uint32_t value = 0;
        std::memcpy(&value, state_.memory("global", state_.value(place) + 4 * index, 4), 4);
        for (std::size_t i = 0; i < 4; ++i) {
            state_.write(operands[0].parts.at(i), i == 0 ? value : i == 3 ? 1 : 0);
        }
    }

    void access(const std::string& name) {
        const auto& operands = state_.instruction->operands;
        const std::string space =
            word_among(*state_.instruction,
                       {"global", "shared", "shared::cluster", "const", "local", "param"});
        const std::size_t width = type_width(state_.instruction->words.back());
        const std::string vector = word_among(*state_.instruction, {"v2", "v4"});
        const std::size_t elements = vector.empty() ? 1 : static_cast<std::size_t>(vector[1] - '0');
        if (space == "param") {
            if (name != "ld") throw NotUnderstood(state_.instruction->text);
            const Operand& from = operands.at(1);
            for (std::size_t i = 0; i < elements; ++i) {
                const std::uint64_t bits =
                    state_.parameter(from.parts.at(0).name, from.value + i * width, width);
                state_.write(elements > 1 ? operands[0].parts.at(i) : operands[0],
                             truncated(bits, state_.instruction->words.back()));
            }
            return;
        }
        const bool address_first = name == "st" || name == "red";
        const std::uint64_t address = state_.value(operands.at(address_first ? 0 : 1));
        std::byte* at = state_.memory(space, address, width * elements);
        if (name == "ld" || name == "st") {
            const Operand& data = operands.at(name == "ld" ? 0 : 1);
            for (std::size_t i = 0; i < elements; ++i) {
                const Operand& element = elements > 1 ? data.parts.at(i) : data;
                std::uint64_t bits = name == "st" ? state_.value(element) : 0;
                if (name == "st") {
                    std::memcpy(at + i * width, &bits, width);
                } else {
                    std::memcpy(&bits, at + i * width, width);
                    // Signed ones fill the register.
                    const std::size_t unused = 64 - 8 * width;
                    if (state_.instruction->words.back()[0] == 's' && width < 8) {
                        bits = static_cast<std::uint64_t>(
                            static_cast<std::int64_t>(bits << unused) >> unused);
                    }
                    state_.write(element, bits);
                }
            }
            return;
        }
        std::uint64_t old = 0;
        std::memcpy(&old, at, width);
        const std::uint64_t made = exchanged(old, address_first ? 1 : 2);
        std::memcpy(at, &made, width);
        if (name == "atom") state_.write(operands[0], old);
    }

    // What an atomic operation leaves in memory; its operands begin at `first`.
    std::uint64_t exchanged(std::uint64_t old, std::size_t first) const {
        const std::uint64_t x = state_.value(state_.instruction->operands.at(first));
        const std::string how = word_among(*state_.instruction, {"add", "exch", "cas", "max", "min",
                                                                 "and", "or", "xor", "inc", "dec"});
        if (how == "inc") return old >= (x & 0xffffffff) ? 0 : old + 1;
        if (how == "dec") return old == 0 || old > (x & 0xffffffff) ? x : old - 1;
        if (how == "exch") return x;
        if (how == "cas")
            return old == truncated(x, state_.instruction->words.back())
                       ? state_.value(state_.instruction->operands.at(first + 1))
                       : old;
        const Instruction operation{.guard = {},
                                    .opcode = how,
                                    .words = {how, state_.instruction->words.back()},
                                    .operands = {},
                                    .text = state_.instruction->text};
        const std::array sources = {old, x};
        const auto made = compute(operation, sources);
        if (!made) throw NotUnderstood(state_.instruction->text);
        return *made;
    }

    // A barrier in shared memory: 64 bits that hold what the hardware counts.
    struct Arrivals {
        std::int32_t bytes = 0;    // announced and not yet here
        std::int16_t missing = 0;  // arrivals of this phase
        std::uint16_t phase = 0;   // bit 15; the others: arrivals of each phase
    };
    static_assert(sizeof(Arrivals) == 8);

    void change_barrier(const std::string& space, std::uint64_t address, std::int32_t bytes,
                        std::int16_t arrivals) {
        std::byte* at = state_.memory(space, address, 8);
        Arrivals barrier;
        std::memcpy(&barrier, at, 8);
        barrier.bytes += bytes;
        barrier.missing = static_cast<std::int16_t>(barrier.missing - arrivals);
        if (barrier.missing < 0) state_.fail("more arrivals than the barrier has");
        if (barrier.missing == 0 && barrier.bytes == 0) {
            barrier.phase ^= 0x8000;
            barrier.missing = static_cast<std::int16_t>(barrier.phase & 0x7fff);
        }
        std::memcpy(at, &barrier, 8);
    }

    // Asynchronous copies are done at once.
    void copy(const std::string& name) {
        const auto& operands = state_.instruction->operands;
        const std::string& what = state_.instruction->words.at(1);
        if (name == "cp") {
            if (what != "async") throw NotUnderstood(state_.instruction->text);
            const std::string& how = state_.instruction->words.at(2);
            if (how != "wait_all" && how != "wait_group" && how != "commit_group")
                copy_bytes(operands);
        } else if (what == "init") {
            const auto count = static_cast<std::uint16_t>(state_.value(operands.at(1)));
            const Arrivals barrier{0, static_cast<std::int16_t>(count), count};
            std::memcpy(state_.memory("shared", state_.value(operands.at(0)), 8), &barrier, 8);
        } else if (what == "try_wait") {
            Arrivals barrier;
            std::memcpy(&barrier, state_.memory("shared", state_.value(operands.at(1)), 8), 8);
            const std::uint64_t parity = barrier.phase >> 15;
            state_.write(operands[0], parity != state_.value(operands.at(2)) ? 1 : 0);
        } else if (what == "arrive" && state_.instruction->words.at(2) == "expect_tx") {
            change_barrier("shared", state_.value(operands.at(1)),
                           static_cast<std::int32_t>(state_.value(operands.at(2))), 1);
        } else {
            throw NotUnderstood(state_.instruction->text);
        }
    }

    void copy_bytes(const std::vector<Operand>& operands) {
        const Instruction& one = *state_.instruction;
        const bool global = word_among(one, {"global"}) == "global";
        const bool bulk = one.words.at(2) == "bulk";
        const std::uint64_t to = state_.value(operands.at(0));
        const std::uint64_t from = state_.value(operands.at(1));
        const std::uint64_t bytes = state_.value(operands.at(2));
        const std::string target = bulk ? "shared::cluster" : "shared";
        if (!bulk && bytes < 16) {
            std::memcpy(state_.memory("shared", to, bytes), state_.memory("global", from, bytes),
                        bytes);
            return;
        }
        if (bytes % 16 != 0) state_.fail("a part of 16 bytes");
        const std::uint64_t barrier = bulk ? state_.value(operands.at(3)) : 0;
        const auto land = [&](std::uint64_t window) {
            for (std::uint64_t i = 0; i < bytes; i += 16) {
                std::memcpy(state_.memory(target, (to | window) + i, 16),
                            state_.memory(global ? "global" : "shared", from + i, 16), 16);
            }
            if (bulk && copies_arrive_) {
                change_barrier(target, barrier | window, -static_cast<std::int32_t>(bytes), 0);
            }
        };
        if (word_among(one, {"multicast::cluster"}).empty()) return land(0);
        const std::uint64_t mask = state_.value(operands.at(4));
        for (unsigned rank = 0; rank < 16; ++rank) {
            if ((mask >> rank & 1) != 0) land(std::uint64_t{rank + 1} << 24);
        }
    }

    void collective(const std::vector<Thread*>& lanes) {
        if (state_.instruction->words.front() == "bar") return;  // of a warp: its lanes are here
        const std::string& name = state_.instruction->words.front();
        const auto& operands = state_.instruction->operands;
        std::array<std::uint64_t, warp_size> in{};
        for (std::size_t i = 0; i < warp_size; ++i) {
            state_.thread = lanes[i];
            in[i] = state_.value(operands.at(1));
        }
        for (std::size_t i = 0; i < warp_size; ++i) {
            state_.thread = lanes[i];
            state_.write(operands[0], gathered(name, in, i));
        }
    }

    std::uint64_t gathered(const std::string& name, const std::array<std::uint64_t, warp_size>& in,
                           std::size_t lane) const {
        const std::string& how =
            state_.instruction->words.at(name == "shfl" || name == "redux" ? 2 : 1);
        if (name == "shfl") {
            const std::uint64_t by = state_.value(state_.instruction->operands.at(2)) & 31;
            const std::uint64_t from = how == "idx"    ? by
                                       : how == "bfly" ? lane ^ by
                                       : how == "up"   ? lane - by
                                                       : lane + by;
            return in[from < warp_size ? from : lane];
        }
        std::uint64_t result = name == "redux" ? in[0] : 0;
        for (std::size_t i = 0; i < warp_size; ++i) {
            if (name == "vote") result |= (in[i] & 1) << i;
            if (name == "match") result |= std::uint64_t{in[i] == in[lane]} << i;
            if (name != "redux" || i == 0) continue;
            const Instruction operation{.guard = {},
                                        .opcode = how,
                                        .words = {how, state_.instruction->words.back()},
                                        .operands = {},
                                        .text = state_.instruction->text};
            const std::array sources = {result, in[i]};
            result = compute(operation, sources).value();
        }
        return result;
    }

    const Program& program_;
    State state_;
    Tracer tracer_;
    MatrixUnit matrices_;
    std::int64_t most_steps_;
    static constexpr int turn = 64;  // instructions of one warp before the next one's turn
    bool plain_;                     // whole warps of one dimension, whose lanes go together
    bool copies_arrive_;
    std::vector<Kind> kinds_;  // of each instruction in the text
    std::vector<Group> groups_;
    std::vector<std::uint64_t> sources_;
    bool reading_ = false;
    Counts counts_;
    Outcome outcome_;
};

}  // namespace

Outcome run(const Program& program, const Launch& launch, std::vector<Buffer>& buffers) {
    return Machine(program, launch, buffers).run();
}

}  // namespace occupipe::ptx

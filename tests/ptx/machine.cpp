// SPDX-License-Identifier: MIT
#include "tests/ptx/machine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>

#include "tests/ptx/operations.h"
#include "tests/ptx/state.h"

namespace occupipe::ptx {
namespace {

constexpr int turn = 64;  // instructions of one warp before the next one's turn

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
    nothing,  // memory is in order here, and lanes that meet go together
    access,
    copy,
    texel,
    unpack,
    pack,
    carry,
    collective,
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
    if (is({"bar"}) && one.words.at(1) == "sync") return Kind::barrier;
    if (is({"bar", "fence", "membar"})) return Kind::nothing;
    if (is({"ld", "st", "atom", "red"})) return Kind::access;
    if (is({"cp", "mbarrier"})) return Kind::copy;
    if (one.opcode == "tex.1d.v4.u32.s32") return Kind::texel;
    if (lists(0)) return Kind::unpack;
    if (lists(1)) return Kind::pack;
    if (is({"addc"}) || one.opcode == "add.cc.u32") return Kind::carry;
    if (is({"shfl", "vote", "match", "redux", "mma", "wgmma"})) return Kind::collective;
    return Kind::plain;
}

class Machine {
public:
    Machine(const Program& program, const Launch& launch, std::vector<Buffer>& buffers)
        : program_(program),
          state_(program, launch, buffers),
          most_steps_(launch.most_steps),
          copies_arrive_(launch.copies_arrive) {
        for (unsigned g = 0; g + launch.absent_groups < launch.groups; ++g)
            groups_.push_back(state_.make_group(g));
        for (const Instruction& one : program.code) kinds_.push_back(kind_of(one));
    }

    Outcome run() {
        while (std::ranges::any_of(groups_, [](const Group& g) { return !all_done(g); })) {
            for (Group& group : groups_) {
                for (Warp& warp : group.warps) {
                    for (int i = 0; i < turn && step(group, warp); ++i) {
                    }
                }
                release(group);
            }
        }
        return outcome_;
    }

private:
    static bool all_done(const Group& group) {
        return std::ranges::all_of(group.warps, [](const Warp& warp) {
            return std::ranges::all_of(warp.lanes, &Thread::done);
        });
    }

    // Lets the group's threads pass the barrier when all have come.
    static void release(Group& group) {
        for (const Warp& warp : group.warps) {
            for (const Thread& lane : warp.lanes) {
                if (!lane.done && !lane.waits) return;
            }
        }
        for (Warp& warp : group.warps) {
            for (Thread& lane : warp.lanes) lane.waits = false;
        }
    }

    // One instruction for the lanes that are furthest behind; false when all wait or are done.
    bool step(Group& group, Warp& warp) {
        std::size_t at = program_.code.size();
        bool any = false;
        for (const Thread& lane : warp.lanes) {
            if (lane.done || lane.waits) continue;
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
        for (Thread& lane : warp.lanes) {
            if (lane.done) continue;
            if (lane.waits || lane.at != at) {
                together = false;
                continue;
            }
            ++lane.at;
            state_.thread = &lane;
            if (one.guard && !state_.read_predicate(*one.guard)) continue;
            active.push_back(&lane);
        }
        if (warp.counted && !active.empty()) count();
        if (!active.empty()) execute(kinds_[at], active, together);
        return true;
    }

    void execute(Kind kind, const std::vector<Thread*>& active, bool together) {
        if (kind == Kind::collective) {
            state_.thread = active.front();
            if (!together || active.size() != warp_size) {
                state_.fail("not all lanes of the warp are here");
            }
            return collective(active);
        }
        for (Thread* lane : active) {
            state_.thread = lane;
            execute_one(kind);
        }
    }

    void count() {
        const auto& operands = state_.instruction->operands;
        if (operands.size() == 2 && operands[1].name.starts_with("%clock")) {
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
                state_.thread->waits = true;
                break;
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
                return add_with_carry(name == "addc");
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

    void add_with_carry(bool carry_in) {
        const auto& operands = state_.instruction->operands;
        const std::uint64_t sum = state_.value(operands.at(1)) + state_.value(operands.at(2)) +
                                  (carry_in && state_.thread->carry ? 1 : 0);
        state_.thread->carry = sum >> 32 != 0;
        state_.write(operands[0], sum & 0xffffffff);
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
            word_among(*state_.instruction, {"global", "shared", "const", "local", "param"});
        const std::size_t width = type_width(state_.instruction->words.back());
        if (space == "param") {
            return state_.write(operands[0],
                                truncated(state_.parameter(operands.at(1).parts.at(0).name),
                                          state_.instruction->words.back()));
        }
        const std::string vector = word_among(*state_.instruction, {"v2", "v4"});
        const std::size_t elements = vector.empty() ? 1 : static_cast<std::size_t>(vector[1] - '0');
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
        const std::string how = word_among(
            *state_.instruction, {"add", "exch", "cas", "max", "min", "and", "or", "xor"});
        if (how == "exch") return x;
        if (how == "cas")
            return old == x ? state_.value(state_.instruction->operands.at(first + 1)) : old;
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

    // Asynchronous copies, and the barriers in shared memory that say when they are done: a word
    // that counts the phases. With one arrival and its copy a phase is over.
    void copy(const std::string& name) {
        const auto& operands = state_.instruction->operands;
        if (state_.instruction->words.at(1) == "async" &&
            state_.instruction->words.at(2) == "wait_all")
            return;
        if (name == "cp") {
            const std::uint64_t bytes = state_.value(operands.at(2));
            for (std::uint64_t i = 0; i < bytes; i += 16) {
                std::memcpy(state_.memory("shared", state_.value(operands[0]) + i, 16),
                            state_.memory("global", state_.value(operands[1]) + i, 16), 16);
            }
            if (operands.size() > 3 && copies_arrive_)
                *state_.memory("shared", state_.value(operands[3]), 8) ^= std::byte{1};
        } else if (state_.instruction->words.at(1) == "init") {
            const std::uint64_t phase = 0;
            std::memcpy(state_.memory("shared", state_.value(operands.at(0)), 8), &phase, 8);
        } else if (state_.instruction->words.at(1) == "try_wait") {
            const std::byte phase =
                *state_.memory("shared", state_.value(operands.at(1)), 8) & std::byte{1};
            state_.write(operands[0],
                         static_cast<std::uint64_t>(phase) != state_.value(operands.at(2)) ? 1 : 0);
        } else if (state_.instruction->words.at(1) == "arrive") {
            state_.memory("shared", state_.value(operands.at(1)), 8);
        } else {
            throw NotUnderstood(state_.instruction->text);
        }
    }

    void collective(const std::vector<Thread*>& lanes) {
        const std::string& name = state_.instruction->words.front();
        const auto& operands = state_.instruction->operands;
        if (name == "wgmma") return;  // the accumulators stay as they are
        if (name == "mma") {
            for (Thread* lane : lanes) {
                state_.thread = lane;
                std::vector<std::uint64_t> passed;
                for (const Operand& part : operands.at(1).parts) state_.value(part);
                for (const Operand& part : operands.at(2).parts) state_.value(part);
                for (const Operand& part : operands.at(3).parts)
                    passed.push_back(state_.value(part));
                for (std::size_t i = 0; i < passed.size(); ++i)
                    state_.write(operands[0].parts.at(i), passed[i]);
            }
            return;
        }
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
    std::int64_t most_steps_;
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

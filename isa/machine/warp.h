// SPDX-License-Identifier: MIT
// The state of a warp and of its group while a kernel runs, and what instructions read and write
// of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/machine/lanes.h"
#include "isa/machine/machine.h"
#include "isa/machine/step.h"

namespace occupipe::isa {

struct Launch;
struct Group;

// Indices in Warp::predicates. P0 to P6 stand at 0 to 6, PT at 7; UP0 to UP6 at 8 to 14, UPT at 15.
namespace predicate_index {
inline constexpr std::uint8_t always = 7, uniform = 8, uniform_always = 15, sink = 16, count = 17;
}

// Lanes of a warp that stand at another place than those that run, or wait for others.
struct Split {
    enum class Waits : std::uint8_t { no, reconvergence, warp_barrier, group_barrier };
    std::uint32_t pc = 0;  // of the next step, once it runs again
    Mask lanes = 0;
    Waits waits = Waits::no;
    std::uint8_t barrier = 0;  // of convergence, or of the group
    Mask awaited = 0;          // of a warp barrier: lanes

    bool operator==(const Split&) const = default;
};

struct Warp {
    // General registers, then zeros, a sink and the uniform registers (Step's indices).
    Lanes* registers = nullptr;
    const Lanes* constants = nullptr;
    std::array<Mask, predicate_index::count> predicates{};
    Mask active = 0;       // lanes that run now
    std::uint32_t pc = 0;  // of the next step
    // Set by what ends a run of steps: no lane is left that could run, or others shall run first.
    bool stop = false;
    // Lanes that executed YIELD of late, and before that: every split has taken thousands of steps
    // and had several turns in between, as a loop may be longer than a turn.
    Mask yielded = 0, yielded_before = 0;
    bool gave_way = false;  // within this turn: no need to do so at its end
    // Turns that it leaves out, as it waits for other groups, and as many the next time.
    std::uint32_t rests = 0, next_rest = 1;
    std::uint64_t steps_since_shift = 0;  // since `yielded` became `yielded_before`
    Mask alive = 0;                       // lanes that have not left
    Mask present = 0;          // lanes that there are (the last warp may have fewer than 32)
    std::uint32_t number = 0;  // in the group
    std::vector<Split> splits;
    // Of convergence, by number and lane: the lanes that meet there.
    std::array<Lanes, 16> barriers{};
    Lanes thread_x, thread_y, thread_z;
    std::byte* local = nullptr;  // of lane 0; the others follow
    Group* group = nullptr;
    const Launch* launch = nullptr;
    // Of the last BAR.RED.
    std::uint32_t barrier_count = 0;
    bool barrier_truth = false;
};

// With all that is known of the place. `lane` -1: the warp as a whole.
ExecutionError error_at(const Warp& warp, const Step& step, int lane, const std::string& why,
                        ExecutionError::Fault fault, std::uint64_t address);
// Throws it.
[[noreturn]] void fail(const Warp& warp, const Step& step, int lane, const std::string& why,
                       ExecutionError::Fault fault = ExecutionError::Fault::other,
                       std::uint64_t address = 0);

// The registers or the splatted word of a source, without its modifiers; pairs and quadruples
// follow each other.
OCCUPIPE_INLINE const Lanes* raw(const Warp& warp, const Source& source) {
    return (source.constant ? warp.constants : warp.registers) + source.index;
}

OCCUPIPE_INLINE const Lanes* raw(const Warp& warp, const Step& step, int i) {
    return raw(warp, step.source[static_cast<std::size_t>(i)]);
}

// A source of 32 bits as an integer: -R and ~R are applied, in `scratch` where need be.
OCCUPIPE_INLINE const Lanes& integer(const Warp& warp, const Step& step, int i, Lanes& scratch) {
    const Source& source = step.source[static_cast<std::size_t>(i)];
    const Lanes& plain = *raw(warp, source);
    if (!source.negated && !source.inverted) return plain;
    if (source.negated) {
        each_lane([&](int lane) { scratch[lane] = 0 - plain[lane]; });
    } else {
        each_lane([&](int lane) { scratch[lane] = ~plain[lane]; });
    }
    return scratch;
}

// The same for 64 bits; `scratch` has two elements.
OCCUPIPE_INLINE const Lanes* integer_pair(const Warp& warp, const Step& step, int i,
                                          Lanes* scratch) {
    const Source& source = step.source[static_cast<std::size_t>(i)];
    const Lanes* plain = raw(warp, source);
    if (!source.negated && !source.inverted) return plain;
    each_lane([&](int lane) {
        const std::uint64_t value = pair(plain, lane);
        const std::uint64_t changed = source.negated ? 0 - value : ~value;
        scratch[0][lane] = static_cast<std::uint32_t>(changed);
        scratch[1][lane] = static_cast<std::uint32_t>(changed >> 32);
    });
    return scratch;
}

// A source of 32 bits as a binary32: |R|, then -R.
OCCUPIPE_INLINE const Lanes& real(const Warp& warp, const Step& step, int i, Lanes& scratch) {
    const Source& source = step.source[static_cast<std::size_t>(i)];
    const Lanes& plain = *raw(warp, source);
    if (!source.negated && !source.absolute) return plain;
    const std::uint32_t keep = source.absolute ? 0x7fffffff : 0xffffffff;
    const std::uint32_t turn = source.negated ? 0x80000000 : 0;
    each_lane([&](int lane) { scratch[lane] = (plain[lane] & keep) ^ turn; });
    return scratch;
}

// A binary64 in two registers; `scratch` has two elements.
OCCUPIPE_INLINE const Lanes* real_pair(const Warp& warp, const Step& step, int i, Lanes* scratch) {
    const Source& source = step.source[static_cast<std::size_t>(i)];
    const Lanes* plain = raw(warp, source);
    if (!source.negated && !source.absolute) return plain;
    const std::uint32_t keep = source.absolute ? 0x7fffffff : 0xffffffff;
    const std::uint32_t turn = source.negated ? 0x80000000 : 0;
    scratch[0] = plain[0];
    each_lane([&](int lane) { scratch[1][lane] = (plain[1][lane] & keep) ^ turn; });
    return scratch;
}

// Where the result goes. Handlers of uniform instructions write all lanes: use `written`.
OCCUPIPE_INLINE Lanes& destination(const Warp& warp, const Step& step) {
    return warp.registers[step.destination];
}

OCCUPIPE_INLINE Mask written(const Step& step, Mask active) {
    return step.uniform ? all_lanes : active;
}

// Predicates read, by place: 0 bits 87 to 90, 1 bits 77 to 80, 2 bits 68 to 71.
OCCUPIPE_INLINE Mask predicate(const Warp& warp, const Step& step, int i) {
    const PredicateSource& source = step.predicate_in[static_cast<std::size_t>(i)];
    const Mask value = warp.predicates[source.index];
    return source.inverted ? ~value : value;
}

// Predicates written, by place: 0 bits 81 to 83, 1 bits 84 to 86.
OCCUPIPE_INLINE void set_predicate(Warp& warp, const Step& step, int i, Mask active, Mask value) {
    Mask& place = warp.predicates[step.predicate_out[static_cast<std::size_t>(i)]];
    const Mask mask = written(step, active);
    place = (place & ~mask) | (value & mask);
}

}  // namespace occupipe::isa

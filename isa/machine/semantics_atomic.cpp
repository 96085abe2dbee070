// SPDX-License-Identifier: MIT
// Atomic operations on global, generic and shared memory. Lanes of a warp do theirs one after the
// other, lowest first; hardware promises no order.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <type_traits>

#include "core/architectures.h"
#include "isa/machine/access.h"
#include "isa/machine/atomics.h"
#include "isa/machine/semantics.h"

namespace occupipe::isa {
namespace {

enum class Do : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor, exchange };

template <Do what, typename T>
constexpr T changed(T old, T operand) {
    using U = std::make_unsigned_t<T>;
    switch (what) {
        case Do::add:
            return static_cast<T>(static_cast<U>(old) + static_cast<U>(operand));
        case Do::min:
            return std::min(old, operand);
        case Do::max:
            return std::max(old, operand);
        case Do::inc:
            return old >= operand ? T{0} : static_cast<T>(old + 1);
        case Do::dec:
            return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
        case Do::bit_and:
            return old & operand;
        case Do::bit_or:
            return old | operand;
        case Do::bit_xor:
            return old ^ operand;
        case Do::exchange:
            return operand;
    }
    return old;
}

// Changes one place, against other threads of the host where there are any; what stood there.
template <typename Bits, typename Change>
OCCUPIPE_INLINE Bits exchange(Group& group, Bits* place, Change change) {
    Bits old = *place;
    if (group.shares_memory) {
        const std::atomic_ref<Bits> shared(*place);
        old = shared.load();
        while (!shared.compare_exchange_weak(old, change(old))) {
        }
    } else {
        *place = change(old);
    }
    if (change(old) != old) group.memory_changed = true;
    return old;
}

template <typename Bits>
OCCUPIPE_INLINE Bits operand_of(const Lanes* from, int lane) {
    if constexpr (sizeof(Bits) == 8) return pair(from, lane);
    return from[0][lane];
}

template <typename Bits>
OCCUPIPE_INLINE void put(Lanes* into, int lane, Bits value) {
    into[0][lane] = static_cast<std::uint32_t>(value);
    if constexpr (sizeof(Bits) == 8) into[1][lane] = static_cast<std::uint32_t>(value >> 32);
}

enum class Where : std::uint8_t { global, generic, shared };

// Calls use(lanes, places) once per memory that is meant.
// Generic operations that write a predicate do so where they are done: in global memory. For shared
// and local memory the code behind them has another way.
template <Where where, typename Use>
OCCUPIPE_INLINE void each_memory(Warp& warp, const Step& step, Mask active, std::uint32_t bytes,
                                 Use use) {
    Addresses addresses;
    if constexpr (where == Where::shared) {
        narrow_addresses(warp, step.address, active, addresses);
        translate(warp, step, active,
                  {.space = Space::shared, .kind = AccessKind::atomic, .bytes = bytes}, addresses);
        use(active, addresses);
    } else {
        wide_addresses(warp, step.address, active, addresses);
        const auto one = [&](Space space, Mask lanes, Addresses& some) {
            translate(warp, step, lanes,
                      {.space = space, .kind = AccessKind::atomic, .bytes = bytes}, some);
            use(lanes, some);
        };
        if constexpr (where == Where::global) {
            one(Space::global, active, addresses);
        } else {
            const bool global_alone = step.predicate_written[0];
            Mask done = 0;
            by_space(active, addresses, [&](Space space, Mask lanes, Addresses& some) {
                if (global_alone && space != Space::global) return;
                one(space, lanes, some);
                done |= lanes;
            });
            if (global_alone) set_predicate(warp, step, 0, active, done);
        }
    }
}

template <Where where, Do what, typename T>
struct Atomic {
    static void run(Warp& warp, const Step& step, Mask active) {
        using Bits = std::make_unsigned_t<T>;
        Lanes* const into = &destination(warp, step);
        // The result's registers may be those of the operand.
        Lanes operand[2];
        operand[0] = raw(warp, step, 0)[0];
        if constexpr (sizeof(T) == 8) operand[1] = raw(warp, step, 0)[1];
        each_memory<where>(warp, step, active, sizeof(T), [&](Mask lanes, Addresses& places) {
            each_of(lanes, [&](int lane) {
                const auto value = static_cast<T>(operand_of<Bits>(operand, lane));
                const Bits old = exchange(*warp.group, at<Bits>(places, lane), [&](Bits before) {
                    return static_cast<Bits>(changed<what>(static_cast<T>(before), value));
                });
                put(into, lane, old);
            });
        });
    }
};

// Floating-point numbers, one or several in a row; element: how one of them is added.
template <Where where, typename Bits, auto add, int count>
struct AtomicReal {
    static void run(Warp& warp, const Step& step, Mask active) {
        constexpr int words = static_cast<int>(sizeof(Bits)) / 4;
        Lanes* const into = &destination(warp, step);
        Lanes operand[words * count];
        std::copy_n(raw(warp, step, 0), words * count, operand);
        each_memory<where>(
            warp, step, active, sizeof(Bits) * count, [&](Mask lanes, Addresses& places) {
                each_of(lanes, [&](int lane) {
                    for (int i = 0; i < count; ++i) {
                        const auto value = operand_of<Bits>(operand + words * i, lane);
                        const Bits old = exchange(
                            *warp.group, at<Bits>(places, lane) + i,
                            [&](Bits before) { return static_cast<Bits>(add(before, value)); });
                        put(into + words * i, lane, old);
                    }
                });
            });
    }
};

// Compares with the first operand and writes the second; `reports`: whether it was written instead
// of what stood there.
template <Where where, typename Bits, bool reports>
struct CompareAndSwap {
    static void run(Warp& warp, const Step& step, Mask active) {
        constexpr std::size_t words = sizeof(Bits) / 4;
        Lanes* const into = &destination(warp, step);
        Lanes expected[words], fresh[words];
        std::copy_n(raw(warp, step, 0), words, expected);
        std::copy_n(raw(warp, step, 1), words, fresh);
        Mask done = 0;
        each_memory<where>(warp, step, active, sizeof(Bits), [&](Mask lanes, Addresses& places) {
            each_of(lanes, [&](int lane) {
                const Bits wanted = operand_of<Bits>(expected, lane);
                const Bits value = operand_of<Bits>(fresh, lane);
                const Bits old = exchange(*warp.group, at<Bits>(places, lane), [&](Bits before) {
                    return before == wanted ? value : before;
                });
                if (old == wanted) done |= Mask{1} << lane;
                if constexpr (reports) {
                    put(into, lane, static_cast<Bits>(old == wanted ? 1 : 0));
                } else {
                    put(into, lane, old);
                }
            });
        });
        if (reports) set_predicate(warp, step, 0, active, done);
    }
};

// Every lane adds one.
struct CountUp {  // ATOMS.POPC.INC.32
    static void run(Warp& warp, const Step& step, Mask active) {
        each_memory<Where::shared>(warp, step, active, 4, [&](Mask lanes, Addresses& places) {
            warp.group->memory_changed = true;
            each_of(lanes, [&](int lane) { ++*at<std::uint32_t>(places, lane); });
        });
    }
};

// Barriers in shared memory (PTX, mbarrier) as compiled code lays them out. A count stands there as
// what is missing to a power of two. Ampere: the count of a phase in bits 0 to 29, what is left of
// it in bits 32 to 62, the phase in bit 63.
struct SplitBarrier {
    static constexpr std::uint64_t left_unit = std::uint64_t{1} << 32;

    static std::uint64_t arrived(std::uint64_t before) {
        const std::uint64_t after = before + left_unit;  // the last one turns the phase's bit over
        if ((before >> 63) == (after >> 63)) return after;
        const std::uint64_t count = (before + 0x40000000) & 0x7fffffff;
        return (after & ~(std::uint64_t{0x7fffffff} << 32)) | count << 32;
    }
};

// Hopper: the count in bits 1 to 20, what is left in 43 to 62, the phase in 63. Where the bytes
// stand that are awaited code never looks: here in 21 to 41, as a signed number.
struct TransactionBarrier {
    static constexpr std::uint64_t count_unit = 2, left_unit = std::uint64_t{1} << 43,
                                   bytes_unit = std::uint64_t{1} << 21;
    static constexpr std::uint64_t count_mask = 0xfffff * count_unit,
                                   left_mask = 0xfffff * left_unit,
                                   bytes_mask = 0x1fffff * bytes_unit;

    static std::uint64_t left(std::uint64_t word) {
        return (0x100000 - (word & left_mask) / left_unit) & 0xfffff;
    }
    static std::uint64_t with_bytes(std::uint64_t word, std::uint64_t more) {
        return (word & ~bytes_mask) |
               ((word & bytes_mask) + more * bytes_unit) % (bytes_mask + bytes_unit);
    }
    // `arrivals` that were awaited; none are left and no bytes awaited: the next phase begins.
    static std::uint64_t arrived(std::uint64_t word, std::uint64_t arrivals, bool leaves) {
        if (leaves) word = (word & ~count_mask) | ((word + arrivals * count_unit) & count_mask);
        const std::uint64_t phase = word & (std::uint64_t{1} << 63);
        const std::uint64_t rest = left(word) - arrivals;
        word = (word & ~left_mask) | ((word + arrivals * left_unit) & left_mask);
        if (rest != 0 || (word & bytes_mask) != 0) return word;
        const std::uint64_t count = (word & count_mask) / count_unit;
        return (word & ~left_mask & ~(std::uint64_t{1} << 63)) | count * left_unit |
               (phase ^ (std::uint64_t{1} << 63));
    }
};

OCCUPIPE_INLINE void change_barriers(Warp& warp, const Step& step, Mask active, auto change) {
    Lanes* const into = &destination(warp, step);
    each_memory<Where::shared>(warp, step, active, 8, [&](Mask lanes, Addresses& places) {
        warp.group->memory_changed = true;
        each_of(lanes, [&](int lane) {
            auto* const place = at<std::uint64_t>(places, lane);
            const std::uint64_t before = *place;
            *place = change(lane, before);
            put(into, lane, before);
        });
    });
}

struct ArriveOnSplitBarrier {  // ATOMS.ARRIVE.64, ARRIVES.LDGSTSBAR of Ampere
    static void run(Warp& warp, const Step& step, Mask active) {
        change_barriers(warp, step, active,
                        [](int, std::uint64_t before) { return SplitBarrier::arrived(before); });
    }
};

// option 0: arrivals, 1: bytes that are awaited from now on; 2 stands for the register's number and
// 3 for its negative. option 2: .OPTOUT.
struct ArriveOnTransactionBarrier {  // SYNCS.ARRIVE, ARRIVES.LDGSTSBAR
    static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes numbers = step.source_count == 0 ? Lanes{} : *raw(warp, step, 0);
        change_barriers(warp, step, active, [&](int lane, std::uint64_t before) {
            const std::uint64_t number = numbers[lane];
            const auto amount = [&](std::uint8_t how) {
                return how == 2   ? number
                       : how == 3 ? 0 - number
                       : how == 4 ? ~std::uint64_t{0}
                                  : how;
            };
            const std::uint64_t arrivals = amount(step.option[0]);
            if (arrivals > TransactionBarrier::left(before)) {
                fail(warp, step, lane, "more threads arrive at the barrier than it awaits");
            }
            return TransactionBarrier::arrived(
                TransactionBarrier::with_bytes(before, amount(step.option[1])), arrivals,
                step.option[2] != 0);
        });
    }
};

// Whether the phase whose parity the register's highest bit says is over. Who waits gives way.
struct CheckPhase {  // SYNCS.PHASECHK
    static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& parity = *raw(warp, step, 0);
        Addresses places;
        narrow_addresses(warp, step.address, active, places);
        translate(warp, step, active,
                  {.space = Space::shared, .kind = AccessKind::load, .bytes = 8}, places);
        Mask over = 0;
        each_of(active, [&](int lane) {
            const auto phase = static_cast<std::uint32_t>(*at<std::uint64_t>(places, lane) >> 63);
            if (phase != parity[lane] >> 31) over |= Mask{1} << lane;
        });
        set_predicate(warp, step, 0, active, over);
        if (over == active) return;
        // Other warps have their turn at once, other lanes of this one at the turn's end.
        warp.yielded |= warp.active;
        warp.stop = warp.splits.empty();
    }
};

struct WriteBarrierWord {  // SYNCS.EXCH.64
    static void run(Warp& warp, const Step& step, Mask active) {
        const std::uint64_t value = pair(raw(warp, step, 0), 0);
        change_barriers(warp, step, active & (0 - active),
                        [&](int, std::uint64_t) { return value; });
    }
};

struct ForgetBarrier {  // SYNCS.CCTL: the place is free for something else
    static void run(Warp&, const Step&, Mask) {}
};

Handler bind_barrier_word(const Instruction& one, int architecture, Step& step,
                          std::string& why_not) {
    if (one.has("CCTL")) return handler_of<ForgetBarrier>();
    if (one.has("PHASECHK")) return handler_of<CheckPhase>();
    if (one.has("EXCH")) {
        if (step.destination_is_zero) return handler_of<WriteBarrierWord>();
        why_not = "with a register written";
        return nullptr;
    }
    if (one.opcode == "ARRIVES") {
        if (!architecture_like(architecture).code.transaction_barriers)
            return handler_of<ArriveOnSplitBarrier>();
        step.option[0] = one.has("ARVCNT") ? 1 : 0;
        step.option[1] = one.has("TRANSCNT") ? 4 : 0;  // one less
        return handler_of<ArriveOnTransactionBarrier>();
    }
    struct Row {
        std::string_view name;
        std::uint8_t arrivals, bytes;
    };
    step.option[0] = 1;  // where nothing is written: one arrival, and the register's bytes
    step.option[1] = 2;
    for (const Row row : {Row{"A1T0", 1, 0}, Row{"A0T1", 0, 1}, Row{"A0TR", 0, 2},
                          Row{"A0TX", 0, 3}, Row{"ART0", 2, 0}}) {
        if (!one.has(row.name)) continue;
        step.option[0] = row.arrivals;
        step.option[1] = row.bytes;
    }
    step.option[2] = one.has("OPTOUT") ? 1 : 0;
    return handler_of<ArriveOnTransactionBarrier>();
}

template <Where where, typename T>
Handler integer_handler(const Instruction& one) {
    if (one.has("ADD")) return handler_of<Atomic<where, Do::add, T>>();
    if (one.has("MIN")) return handler_of<Atomic<where, Do::min, T>>();
    if (one.has("MAX")) return handler_of<Atomic<where, Do::max, T>>();
    if (one.has("INC")) return handler_of<Atomic<where, Do::inc, T>>();
    if (one.has("DEC")) return handler_of<Atomic<where, Do::dec, T>>();
    if (one.has("AND")) return handler_of<Atomic<where, Do::bit_and, T>>();
    if (one.has("OR")) return handler_of<Atomic<where, Do::bit_or, T>>();
    if (one.has("XOR")) return handler_of<Atomic<where, Do::bit_xor, T>>();
    if (one.has("EXCH")) return handler_of<Atomic<where, Do::exchange, T>>();
    return nullptr;
}

template <Where where, typename Bits, auto add>
Handler vector_handler(int count) {
    if (count == 1) return handler_of<AtomicReal<where, Bits, add, 1>>();
    if (count == 2) return handler_of<AtomicReal<where, Bits, add, 2>>();
    if (count == 4) return handler_of<AtomicReal<where, Bits, add, 4>>();
    return nullptr;
}

template <Where where>
Handler real_handler(const Instruction& one) {
    using u32 = std::uint32_t;
    using arithmetic::Half;
    if (!one.has("ADD")) return nullptr;
    const bool flushes = one.has("FTZ");
    struct Row {
        std::string_view name;
        int count;
    };
    for (const Row row : {Row{"F32", 1}, Row{"F32x2", 2}, Row{"F32x4", 4}}) {
        if (!one.has(row.name)) continue;
        return flushes ? vector_handler<where, u32, add_f32_flushed>(row.count)
                       : vector_handler<where, u32, add_f32>(row.count);
    }
    for (const Row row : {Row{"F16x2", 1}, Row{"F16x4", 2}, Row{"F16x8", 4}}) {
        if (one.has(row.name)) return vector_handler<where, u32, add_halves<Half::ieee>>(row.count);
    }
    for (const Row row : {Row{"BF16x2", 1}, Row{"BF16x4", 2}, Row{"BF16x8", 4}}) {
        if (one.has(row.name))
            return vector_handler<where, u32, add_halves<Half::brain>>(row.count);
    }
    if (one.has("F64")) return vector_handler<where, std::uint64_t, add_f64>(1);
    return nullptr;
}

bool is_real(const Instruction& one) {
    return std::ranges::any_of(one.modifiers, [](std::string_view name) {
        return name.starts_with("F16") || name.starts_with("BF16") || name.starts_with("F32") ||
               name.starts_with("F64");
    });
}

template <Where where>
Handler bind_atomic(const Instruction& one, int, Step& step, std::string& why_not) {
    if (where != Where::shared && !one.has("E")) {
        why_not = "an address of 32 bits";
        return nullptr;
    }
    if (one.has("POPC")) {
        if (step.destination_is_zero) return handler_of<CountUp>();
        why_not = "with a result that is used";
        return nullptr;
    }
    if (one.has("ARRIVE")) return handler_of<ArriveOnSplitBarrier>();
    const bool wide = one.has("64") || one.has("S64");
    if (one.has("CAST")) {
        if (!wide) return handler_of<CompareAndSwap<where, std::uint32_t, true>>();
        return handler_of<CompareAndSwap<where, std::uint64_t, true>>();
    }
    if (step.predicate_written[0] && where != Where::generic) {
        why_not = "with a predicate written";
        return nullptr;
    }
    if (one.has("CAS")) {
        if (!wide) return handler_of<CompareAndSwap<where, std::uint32_t, false>>();
        return handler_of<CompareAndSwap<where, std::uint64_t, false>>();
    }
    Handler found = nullptr;
    if (is_real(one)) {
        found = real_handler<where>(one);
    } else if (one.has("S64")) {
        found = integer_handler<where, std::int64_t>(one);
    } else if (wide) {
        found = integer_handler<where, std::uint64_t>(one);
    } else if (one.has("S32")) {
        found = integer_handler<where, std::int32_t>(one);
    } else {
        found = integer_handler<where, std::uint32_t>(one);
    }
    if (!found) why_not = "this operation of this type";
    return found;
}

constexpr Semantics table[] = {
    {"ATOM", &bind_atomic<Where::generic>}, {"ATOMG", &bind_atomic<Where::global>},
    {"ATOMS", &bind_atomic<Where::shared>}, {"RED", &bind_atomic<Where::global>},
    {"REDG", &bind_atomic<Where::global>},  {"SYNCS", &bind_barrier_word},
    {"ARRIVES", &bind_barrier_word},
};

}  // namespace

std::span<const Semantics> atomic_semantics() { return table; }

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
// Atomic operations on global, generic and shared memory. Lanes of a warp do theirs one after the
// other, lowest first; hardware promises no order.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <type_traits>

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
        if (one.has(row.name)) return vector_handler<where, u32, add_f16x2>(row.count);
    }
    for (const Row row : {Row{"BF16x2", 1}, Row{"BF16x4", 2}, Row{"BF16x8", 4}}) {
        if (one.has(row.name)) return vector_handler<where, u32, add_bf16x2>(row.count);
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
    {"REDG", &bind_atomic<Where::global>},
};

}  // namespace

std::span<const Semantics> atomic_semantics() { return table; }

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
// CUDA's atomics: threads of the host's grid never run at once, so a plain read and write will do.
// One that leaves memory as it was may be a wait for another thread (a lock that is taken, a flag
// that is read): the others get a turn.
#pragma once

#include <concepts>
#include <cstring>
#include <type_traits>

#include "tests/kernels/host/fibers.h"
#include "tests/kernels/host/half.h"

namespace occupipe::test::host {

template <typename T, typename... Types>
concept OneOf = (std::same_as<T, Types> || ...);
template <typename T>
concept AtomicInteger = OneOf<T, int, unsigned, long long, unsigned long long>;
template <typename T>
concept AtomicSum = OneOf<T, int, unsigned, unsigned long long, float, double, __half, __half2,
                          __nv_bfloat16, __nv_bfloat162>;

template <typename T, typename Change>
T changed(T* at, Change change) {
    const T before = *at, after = change(before);
    if (std::memcmp(static_cast<const void*>(&before), static_cast<const void*>(&after),
                    sizeof before) == 0)
        let_others_run();
    else
        *at = after;
    return before;
}

}  // namespace occupipe::test::host

#define OCCUPIPE_ATOMIC(name, types, expression)                                          \
    template <occupipe::test::host::types T>                                              \
    T atomic##name(T* at, std::type_identity_t<T> value) {                                \
        return occupipe::test::host::changed(at, [&](T old) -> T { return expression; }); \
    }                                                                                     \
    template <occupipe::test::host::types T>                                              \
    T atomic##name##_block(T* at, std::type_identity_t<T> value) {                        \
        return atomic##name(at, value);                                                   \
    }                                                                                     \
    template <occupipe::test::host::types T>                                              \
    T atomic##name##_system(T* at, std::type_identity_t<T> value) {                       \
        return atomic##name(at, value);                                                   \
    }
OCCUPIPE_ATOMIC(Add, AtomicSum, old + value)
OCCUPIPE_ATOMIC(Sub, AtomicInteger, old - value)
OCCUPIPE_ATOMIC(Min, AtomicInteger, value < old ? value : old)
OCCUPIPE_ATOMIC(Max, AtomicInteger, value > old ? value : old)
OCCUPIPE_ATOMIC(And, AtomicInteger, old& value)
OCCUPIPE_ATOMIC(Or, AtomicInteger, old | value)
OCCUPIPE_ATOMIC(Xor, AtomicInteger, old ^ value)
#undef OCCUPIPE_ATOMIC

inline unsigned atomicInc(unsigned* at, unsigned last) {
    return occupipe::test::host::changed(at,
                                         [&](unsigned old) { return old >= last ? 0 : old + 1; });
}
inline unsigned atomicDec(unsigned* at, unsigned last) {
    return occupipe::test::host::changed(
        at, [&](unsigned old) { return old == 0 || old > last ? last : old - 1; });
}
template <typename T>
T atomicExch(T* at, std::type_identity_t<T> value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    return occupipe::test::host::changed(at, [&](T) { return value; });
}
template <typename T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    static_assert(std::is_integral_v<T> && sizeof(T) >= 2);
    return occupipe::test::host::changed(at, [&](T old) { return old == expected ? value : old; });
}

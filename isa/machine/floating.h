// SPDX-License-Identifier: MIT
// What the rows of floating-point instructions share: handlers that may use the processor's fused
// multiply-add, and what the text says about rounding.
#pragma once

#include "isa/machine/arithmetic/binary32.h"
#include "isa/machine/semantics.h"
#include "isa/machine/warp.h"

namespace occupipe::isa {

inline arithmetic::Rounding rounding_of(const Instruction& one) {
    using arithmetic::Rounding;
    return one.has("RM")   ? Rounding::down
           : one.has("RP") ? Rounding::up
           : one.has("RZ") ? Rounding::zero
                           : Rounding::nearest;
}

// As handler_of, for an Op whose `run` is a template: true where std::fma is one instruction.
template <typename Op>
void run_without_fma(Warp& warp, const Step& step, Mask active) {
    Op::template run<false>(warp, step, active);
}
#if defined(__x86_64__)
bool host_has_fma();
template <typename Op>
[[gnu::target("avx2,fma,bmi,bmi2,popcnt,lzcnt")]] void run_with_fma(Warp& warp, const Step& step,
                                                                    Mask active) {
    Op::template run<true>(warp, step, active);
}
template <typename Op>
Handler fused_handler_of() {
    return host_has_fma() ? &run_with_fma<Op> : &run_without_fma<Op>;
}
#else
template <typename Op>
Handler fused_handler_of() {
    return &run_without_fma<Op>;
}
#endif

// Writes a comparison's two predicates: the outcome and its opposite, combined with a third one.
OCCUPIPE_INLINE void set_compared(Warp& warp, const Step& step, Mask active, std::uint8_t how,
                                  Mask outcome) {
    const Mask other = predicate(warp, step, 0);
    const auto with_other = [&](Mask truth) {
        return how == 0 ? truth & other : how == 1 ? truth | other : truth ^ other;
    };
    set_predicate(warp, step, 0, active, with_other(outcome));
    set_predicate(warp, step, 1, active, with_other(~outcome));
}

}  // namespace occupipe::isa

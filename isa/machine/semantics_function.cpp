// SPDX-License-Identifier: MIT
// MUFU: special functions, rounded to nearest (arithmetic/function.h says what that means).
#include <array>
#include <cmath>
#include <utility>

#include "isa/machine/arithmetic/function.h"
#include "isa/machine/arithmetic/half.h"
#include "isa/machine/floating.h"

namespace occupipe::isa {
namespace {

using Function = std::uint32_t (*)(std::uint32_t);

template <Function function>
struct Evaluation {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch;
        const Lanes& a = real(warp, step, 0, scratch);
        Lanes& into = destination(warp, step);
        each_of(active, [&](int lane) { into[lane] = function(a[lane]); });
    }
};

template <Function function>
Handler evaluation() {
    return handler_of<Evaluation<function>>();
}

// Of all lanes at once.
template <Function function>
struct WideEvaluation {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch;
        const Lanes& a = real(warp, step, 0, scratch);
        assign(
            destination(warp, step),
            active, [&](int lane) __attribute__((always_inline)) { return function(a[lane]); });
    }
};

template <Function function>
Handler wide_evaluation() {
    return handler_of<WideEvaluation<function>>();
}

// Of a half, in the lower half of the result; what stands above it is not read by code of ours.
template <arithmetic::Half half, bool exponential>
struct FunctionOfHalf {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Source& source = step.source[0];
        const Lanes& a = *raw(warp, source);
        Lanes& into = destination(warp, step);
        each_of(active, [&](int lane) {
            std::uint32_t pattern = a[lane] >> step.option[0] & 0xffff;
            if (source.absolute) pattern &= 0x7fff;
            if (source.negated) pattern ^= 0x8000;
            const double value = arithmetic::widened<half>(pattern);
            into[lane] =
                arithmetic::halved<half>(exponential ? std::exp2(value) : std::tanh(value));
        });
    }
};

Handler bind_function(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("F16") || one.has("BF16")) {
        step.option[0] = one.operands.back().part == ".H1" ? 16 : 0;
        using arithmetic::Half;
        const bool is_tangent = one.has("TANH");
        if (!is_tangent && !(one.has("EX2") && one.has("F16"))) {
            why_not = "of a half";
            return nullptr;
        }
        if (!is_tangent) return handler_of<FunctionOfHalf<Half::ieee, true>>();
        return one.has("F16") ? handler_of<FunctionOfHalf<Half::ieee, false>>()
                              : handler_of<FunctionOfHalf<Half::brain, false>>();
    }
    using namespace arithmetic;
    constexpr std::array<std::pair<std::string_view, Handler (*)()>, 10> functions = {
        {{"COS", &evaluation<&cosine>},
         {"SIN", &evaluation<&sine>},
         {"EX2", &evaluation<&power_of_two>},
         {"LG2", &evaluation<&binary_logarithm>},
         {"RCP", &wide_evaluation<&reciprocal>},
         {"RSQ", &wide_evaluation<&reciprocal_root>},
         {"SQRT", &wide_evaluation<&square_root>},
         {"TANH", &evaluation<&hyperbolic_tangent>},
         {"RCP64H", &evaluation<&reciprocal_high>},
         {"RSQ64H", &evaluation<&reciprocal_root_high>}}};
    for (const auto& [name, make] : functions) {
        if (one.has(name)) return make();
    }
    why_not = "of this function";
    return nullptr;
}

constexpr Semantics table[] = {{"MUFU", &bind_function}};

}  // namespace

std::span<const Semantics> function_semantics() { return table; }

}  // namespace occupipe::isa

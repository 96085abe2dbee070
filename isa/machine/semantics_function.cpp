// SPDX-License-Identifier: MIT
// MUFU: special functions, rounded to nearest (arithmetic/function.h says what that means).
#include <array>
#include <cmath>
#include <utility>

#include "isa/machine/arithmetic/function.h"
#include "isa/machine/arithmetic/half.h"
#include "isa/machine/arithmetic/wide_function.h"
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

// Of all lanes at once by `Wide`; one by one where that is in doubt.
template <typename Wide, Function function>
struct SeriesEvaluation {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch, fresh, high;
        const Lanes& a = real(warp, step, 0, scratch);
        alignas(64) std::array<double, lane_count> values;
        each_lane([&](int lane) __attribute__((always_inline)) {
            values[static_cast<std::size_t>(lane)] = arithmetic::as_float(a[lane]);
        });
        each_lane([&](int lane) __attribute__((always_inline)) {
            double& value = values[static_cast<std::size_t>(lane)];
            value = Wide::of(value);
        });
        each_lane([&](int lane) __attribute__((always_inline)) {
            const auto rounded = arithmetic::Rounded::of(values[static_cast<std::size_t>(lane)]);
            fresh[lane] = rounded.low;
            high[lane] = rounded.high;
        });
        const Mask usual = mask_where([&](int lane) __attribute__((always_inline)) {
            return Wide::usual(a[lane]);
        });
        const Mask sure = usual & mask_where([&](int lane) __attribute__((always_inline)) {
                              return arithmetic::Rounded{fresh[lane], high[lane]}.sure();
                          });
        each_of(active & ~sure, [&](int lane) { fresh[lane] = function(a[lane]); });
        assign(destination(warp, step), active, fresh);
    }
};

template <typename Wide, Function function>
Handler series_evaluation() {
    return handler_of<SeriesEvaluation<Wide, function>>();
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
        {{"COS", &series_evaluation<WideCircular<1>, &cosine>},
         {"SIN", &series_evaluation<WideCircular<0>, &sine>},
         {"EX2", &series_evaluation<WidePower, &power_of_two>},
         {"LG2", &series_evaluation<WideLogarithm, &binary_logarithm>},
         {"RCP", &wide_evaluation<&reciprocal>},
         {"RSQ", &wide_evaluation<&reciprocal_root>},
         {"SQRT", &wide_evaluation<&square_root>},
         {"TANH", &series_evaluation<WideTangent, &hyperbolic_tangent>},
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

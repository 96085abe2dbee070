// SPDX-License-Identifier: MIT
// The functions of the mathematical library, by name: those of C23's <math.h> and <complex.h> and
// of the GNU C library. LLVM's TargetLibraryInfo knows only some of them (not hypot, tgamma, fdim
// or nextafter), and others that are no mathematics (strtod).
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>

#include <array>

namespace occupipe_match {

using namespace llvm;

// Shape: the result, a colon, the arguments. x: floating point; i: integer; p: where a result of
// the type of the first argument is left; n: where an int is; c: a complex number (as a result; as
// an argument it is two of x); v: nothing.
inline StringRef libm_shape(StringRef name) {
    return StringSwitch<StringRef>(name)
        .Cases("acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atanh", "x:x")
        .Cases("atanpi", "cbrt", "ceil", "cos", "cosh", "cospi", "erf", "erfc", "exp", "x:x")
        .Cases("exp10", "exp10m1", "exp2", "exp2m1", "expm1", "fabs", "floor", "gamma", "x:x")
        .Cases("j0", "j1", "lgamma", "log", "log10", "log10p1", "log1p", "log2", "log2p1", "x:x")
        .Cases("logb", "logp1", "nearbyint", "nextdown", "nextup", "pow10", "rint", "x:x")
        .Cases("round", "roundeven", "rsqrt", "significand", "sin", "sinh", "sinpi", "x:x")
        .Cases("sqrt", "tan", "tanh", "tanpi", "tgamma", "trunc", "y0", "y1", "x:x")
        .Cases("atan2", "atan2pi", "copysign", "drem", "fdim", "fmax", "fmin", "fmod", "x:xx")
        .Cases("fmaximum", "fmaximum_mag", "fmaximum_mag_num", "fmaximum_num", "x:xx")
        .Cases("fminimum", "fminimum_mag", "fminimum_mag_num", "fminimum_num", "x:xx")
        .Cases("fmaxmag", "fminmag", "hypot", "nextafter", "nexttoward", "pow", "powr", "x:xx")
        .Cases("remainder", "scalb", "cabs", "carg", "x:xx")
        .Cases("compoundn", "ldexp", "pown", "rootn", "scalbln", "scalbn", "x:xi")
        .Cases("jn", "yn", "x:ix")
        .Case("fma", "x:xxx")
        .Cases("ilogb", "llogb", "llrint", "llround", "lrint", "lround", "i:x")
        .Cases("frexp", "gamma_r", "lgamma_r", "x:xn")
        .Case("modf", "x:xp")
        .Case("remquo", "x:xxn")
        .Case("sincos", "v:xpp")
        .Cases("cacos", "cacosh", "casin", "casinh", "catan", "catanh", "ccos", "ccosh", "c:xx")
        .Cases("cexp", "clog", "clog10", "csin", "csinh", "csqrt", "ctan", "ctanh", "c:xx")
        .Case("cpow", "c:xxxx")
        // Comparisons with a few constants, which are no operations.
        .Cases("finite", "fpclassify", "isinf", "isnan", "signbit", "i:x")
        .Default("");
}

inline bool fits(const Type& type, char letter) {
    if (letter == 'x') return type.isFloatingPointTy();
    if (letter == 'i') return type.isIntegerTy();
    if (letter == 'p' || letter == 'n') return type.isPointerTy();
    if (letter == 'v') return type.isVoidTy();
    const auto* const pair = dyn_cast<StructType>(&type);
    return pair != nullptr && pair->getNumElements() == 2 &&
           pair->getElementType(0)->isFloatingPointTy();
}
inline bool fits(const FunctionType& type, StringRef shape) {
    const StringRef arguments = shape.drop_front(2);
    if (type.isVarArg() || type.getNumParams() != arguments.size() ||
        !fits(*type.getReturnType(), shape.front()))
        return false;
    for (unsigned i = 0; i < arguments.size(); ++i)
        if (!fits(*type.getParamType(i), arguments[i])) return false;
    return true;
}

struct LibmCall {
    StringRef name;   // without what says of which precision it is; empty: it is none
    StringRef shape;  // as above

    bool is_sign() const { return name == "fabs" || name == "copysign"; }
    bool is_test() const {
        return name == "finite" || name == "fpclassify" || name == "isinf" || name == "isnan" ||
               name == "signbit";
    }
};

inline LibmCall libm_call(const Function& f) {
    StringRef name = f.getName();
    // The GNU C library's own names: __exp_finite, __isnan.
    if (name.consume_front("__")) name.consume_back("_finite");
    const auto known = [&](StringRef base) {
        const StringRef shape = libm_shape(base);
        return !shape.empty() && fits(*f.getFunctionType(), shape) ? LibmCall{base, shape}
                                                                   : LibmCall{};
    };
    if (const LibmCall call = known(name); !call.name.empty()) return call;
    // The reentrant ones have it in their midst: lgammaf_r.
    if (name == "lgammaf_r" || name == "lgammal_r") return known("lgamma_r");
    if (name == "gammaf_r" || name == "gammal_r") return known("gamma_r");
    for (const StringRef precision :
         std::array<StringRef, 7>{"f128", "f64x", "f32x", "f64", "f32", "f", "l"}) {
        StringRef base = name;
        if (!base.consume_back(precision)) continue;
        if (const LibmCall call = known(base); !call.name.empty()) return call;
    }
    return {};
}

}  // namespace occupipe_match

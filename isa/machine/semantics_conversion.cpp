// SPDX-License-Identifier: MIT
// Between formats and integers.
#include <cmath>
#include <optional>

#include "isa/machine/arithmetic/conversion.h"
#include "isa/machine/arithmetic/half.h"
#include "isa/machine/floating.h"

namespace occupipe::isa {
namespace {

using arithmetic::as_bits;
using arithmetic::as_double;
using arithmetic::as_float;
using arithmetic::bfloat16;
using arithmetic::binary16;
using arithmetic::binary32;
using arithmetic::binary64;
using arithmetic::Format;
using arithmetic::Half;
using arithmetic::IntegerType;
using arithmetic::Rounding;

// Step::option of this file.
enum Option : std::uint8_t {
    flush = 0,
    direction = 1,
    from = 2,  // index of a format
    to = 3,
    integer_bits = 4,
    integer_signed = 5,
    nan_to_zero = 6,
    limits = 7,  // 1: .RELU, 2: .SATFINITE
    shift = 7,   // of an integer or a half in a part of a register
};

constexpr Format formats[] = {binary16, binary32, binary64, bfloat16};
enum : std::uint8_t { f16 = 0, f32 = 1, f64 = 2, bf16 = 3 };

std::optional<std::uint8_t> format_named(std::string_view name) {
    if (name == "F16") return f16;
    if (name == "F32") return f32;
    if (name == "F64") return f64;
    if (name == "BF16") return bf16;
    return std::nullopt;
}

std::optional<IntegerType> integer_named(std::string_view name) {
    if (name.size() < 2 || (name[0] != 'U' && name[0] != 'S')) return std::nullopt;
    for (const int bits : {8, 16, 32, 64}) {
        if (name.substr(1) == std::to_string(bits)) return IntegerType{bits, name[0] == 'S'};
    }
    return std::nullopt;
}

// Of instructions that round to an integer; nearest where nothing is written.
Rounding integral_rounding(const Instruction& one) {
    return one.has("FLOOR")   ? Rounding::down
           : one.has("CEIL")  ? Rounding::up
           : one.has("TRUNC") ? Rounding::zero
                              : Rounding::nearest;
}

Format format_at(const Step& step, Option which) { return formats[step.option[which]]; }

// A source in any format, in a lane: its marks applied, flushed where a binary32 is.
std::uint64_t operand(const Warp& warp, const Step& step, int lane, Format format) {
    const Source& source = step.source[0];
    const Lanes* const words = raw(warp, source);
    std::uint64_t pattern = format.bits() == 64 ? pair(words, lane) : words[0][lane];
    if (format.bits() == 16) pattern = pattern >> step.option[shift] & 0xffff;
    if (source.absolute) pattern &= ~format.sign();
    if (source.negated) pattern ^= format.sign();
    const bool flushing = step.option[flush] != 0 && format.bits() == 32;
    return flushing ? format.flushed(pattern) : pattern;
}

void put(Warp& warp, const Step& step, int lane, std::uint64_t value) {
    Lanes* const into = &destination(warp, step);
    into[0][lane] = static_cast<std::uint32_t>(value);
    if (step.destination_count == 2) into[1][lane] = static_cast<std::uint32_t>(value >> 32);
}

void set_half(const Instruction& one, Step& step) {
    if (one.operands.back().part == ".H1") step.option[shift] = 16;
}

// F2F, any to any.
struct FormatToFormat {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Format source = format_at(step, from), target = format_at(step, to);
        each_of(active, [&](int lane) {
            const std::uint64_t value =
                arithmetic::converted(operand(warp, step, lane, source), source, target,
                                      static_cast<Rounding>(step.option[direction]));
            const bool flushing = step.option[flush] != 0 && target.bits() == 32;
            put(warp, step, lane, flushing ? target.flushed(value) : value);
        });
    }
};

// The two that programs use most.
struct Widening {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch;
        const Lanes& a = real(warp, step, 0, scratch);
        const Lanes value = a;  // the result may lie over it
        assign_pair(&destination(warp, step), active,
                    [&](int lane) { return as_bits(static_cast<double>(as_float(value[lane]))); });
    }
};

struct Narrowing {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch[2];
        const Lanes* const a = real_pair(warp, step, 0, scratch);
        assign(destination(warp, step), active, [&](int lane) {
            const auto value = static_cast<float>(as_double(pair(a, lane)));
            return arithmetic::canonical(as_bits(value));
        });
    }
};

Handler bind_f2f(const Instruction& one, int, Step& step, std::string& why_not) {
    std::uint8_t found[2] = {};
    int count = 0;
    for (const std::string_view name : one.modifiers) {
        const auto format = format_named(name);
        if (format && count < 2) found[count++] = *format;
    }
    if (count != 2) {
        why_not = "with these formats";
        return nullptr;
    }
    const Rounding rounding = rounding_of(one);
    step.option[flush] = one.has("FTZ");
    step.option[direction] = static_cast<std::uint8_t>(rounding);
    step.option[to] = found[0];
    step.option[from] = found[1];
    set_half(one, step);
    if (!one.has("FTZ") && found[0] == f64 && found[1] == f32) return handler_of<Widening>();
    if (!one.has("FTZ") && found[0] == f32 && found[1] == f64 && rounding == Rounding::nearest) {
        return handler_of<Narrowing>();
    }
    return handler_of<FormatToFormat>();
}

struct FormatToInteger {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Format source = format_at(step, from);
        const IntegerType type = {step.option[integer_bits], step.option[integer_signed] != 0};
        each_of(written(step, active), [&](int lane) {
            put(warp, step, lane,
                arithmetic::to_integer(operand(warp, step, lane, source), source, type,
                                       static_cast<Rounding>(step.option[direction]),
                                       step.option[nan_to_zero] != 0));
        });
    }
};

// binary32 to 32 bits.
template <bool is_signed, Rounding rounding>
struct RealToWord {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch;
        const Lanes& a = real(warp, step, 0, scratch);
        const std::uint32_t kept = step.option[flush] != 0 ? 0x80000000 : 0xffffffff;
        const std::uint32_t nan = step.option[nan_to_zero] != 0 ? 0 : 0x80000000;
        assign(
            destination(warp, step),
            written(step, active), [&](int lane) __attribute__((always_inline)) {
                const std::uint32_t pattern =
                    (a[lane] & 0x7f800000) == 0 ? a[lane] & kept : a[lane];
                const double value = as_float(pattern);
                const double whole = rounding == Rounding::down   ? std::floor(value)
                                     : rounding == Rounding::up   ? std::ceil(value)
                                     : rounding == Rounding::zero ? std::trunc(value)
                                                                  : std::nearbyint(value);
                const double least = is_signed ? -2147483648.0 : 0.0;
                const double most = is_signed ? 2147483647.0 : 4294967295.0;
                const double low = whole > least ? whole : least;  // a NaN as well
                const double clamped = low < most ? low : most;
                // Within the range of a signed word, so that there is one conversion for both.
                const double shift = is_signed ? 0.0 : 2147483648.0;
                const auto word =
                    static_cast<std::uint32_t>(static_cast<std::int32_t>(clamped - shift));
                const std::uint32_t back = is_signed ? word : word ^ 0x80000000;
                return value == value ? back : nan;
            });
    }
};

template <Rounding rounding>
Handler real_to_word(bool is_signed) {
    return is_signed ? handler_of<RealToWord<true, rounding>>()
                     : handler_of<RealToWord<false, rounding>>();
}

Handler bind_f2i(const Instruction& one, int, Step& step, std::string&) {
    IntegerType type = {32, true};
    std::uint8_t source = f32;
    for (const std::string_view name : one.modifiers) {
        if (const auto integer = integer_named(name)) type = *integer;
        if (const auto format = format_named(name)) source = *format;
    }
    const Rounding rounding = integral_rounding(one);
    step.option[flush] = one.has("FTZ");
    step.option[direction] = static_cast<std::uint8_t>(rounding);
    step.option[from] = source;
    step.option[integer_bits] = static_cast<std::uint8_t>(type.bits);
    step.option[integer_signed] = type.is_signed;
    step.option[nan_to_zero] = one.has("NTZ");
    set_half(one, step);
    if (source != f32 || type.bits != 32) return handler_of<FormatToInteger>();
    switch (rounding) {
        case Rounding::nearest:
            return real_to_word<Rounding::nearest>(type.is_signed);
        case Rounding::down:
            return real_to_word<Rounding::down>(type.is_signed);
        case Rounding::up:
            return real_to_word<Rounding::up>(type.is_signed);
        case Rounding::zero:
            break;
    }
    return real_to_word<Rounding::zero>(type.is_signed);
}

struct IntegerToFormat {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Format target = format_at(step, to);
        const IntegerType type = {step.option[integer_bits], step.option[integer_signed] != 0};
        const Lanes* const words = raw(warp, step, 0);
        each_of(written(step, active), [&](int lane) {
            const std::uint64_t value =
                type.bits == 64 ? pair(words, lane) : words[0][lane] >> step.option[shift];
            put(warp, step, lane,
                arithmetic::from_integer(value, type, target,
                                         static_cast<Rounding>(step.option[direction])));
        });
    }
};

// 32 bits to binary32.
template <bool is_signed, Rounding rounding>
struct WordToReal {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        assign(
            destination(warp, step),
            written(step, active), [&](int lane) __attribute__((always_inline)) {
                const auto word =
                    static_cast<std::int32_t>(is_signed ? a[lane] : a[lane] ^ 0x80000000);
                const double value = static_cast<double>(word) + (is_signed ? 0 : 2147483648.0);
                return arithmetic::narrowed<rounding>(value);
            });
    }
};

// 8 or 16 bits to binary32, which is exact.
template <bool is_signed>
struct PartToReal {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const int unused = 32 - step.option[integer_bits];
        const int above = unused - step.option[shift];
        assign(
            destination(warp, step),
            written(step, active), [&](int lane) __attribute__((always_inline)) {
                const std::uint32_t top = a[lane] << above;
                const float value =
                    is_signed ? static_cast<float>(static_cast<std::int32_t>(top) >> unused)
                              : static_cast<float>(static_cast<std::int32_t>(top >> unused));
                return std::bit_cast<std::uint32_t>(value);
            });
    }
};

template <Rounding rounding>
Handler word_to_real(bool is_signed) {
    return is_signed ? handler_of<WordToReal<true, rounding>>()
                     : handler_of<WordToReal<false, rounding>>();
}

// I2F, UI2F and I2FP.
Handler bind_i2f(const Instruction& one, int, Step& step, std::string&) {
    IntegerType type = {32, true};
    std::uint8_t target = f32;
    for (const std::string_view name : one.modifiers) {
        if (const auto integer = integer_named(name)) type = *integer;
        if (const auto format = format_named(name)) target = *format;
    }
    const Rounding rounding = rounding_of(one);
    step.option[direction] = static_cast<std::uint8_t>(rounding);
    step.option[to] = target;
    step.option[integer_bits] = static_cast<std::uint8_t>(type.bits);
    step.option[integer_signed] = type.is_signed;
    for (const Operand& operand : one.operands) {
        const std::string_view part = operand.part;
        if (part == ".B1") step.option[shift] = 8;
        if (part == ".B2" || part == ".H1") step.option[shift] = 16;
        if (part == ".B3") step.option[shift] = 24;
    }
    if (target == f32 && type.bits < 32 && step.option[shift] + type.bits <= 32)
        return type.is_signed ? handler_of<PartToReal<true>>() : handler_of<PartToReal<false>>();
    if (target != f32 || type.bits != 32) return handler_of<IntegerToFormat>();
    switch (rounding) {
        case Rounding::nearest:
            return word_to_real<Rounding::nearest>(type.is_signed);
        case Rounding::down:
            return word_to_real<Rounding::down>(type.is_signed);
        case Rounding::up:
            return word_to_real<Rounding::up>(type.is_signed);
        case Rounding::zero:
            break;
    }
    return word_to_real<Rounding::zero>(type.is_signed);
}

struct Integral {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Format format = format_at(step, from);
        each_of(active, [&](int lane) {
            put(warp, step, lane,
                arithmetic::integral(operand(warp, step, lane, format), format,
                                     static_cast<Rounding>(step.option[direction])));
        });
    }
};

Handler bind_frnd(const Instruction& one, int, Step& step, std::string&) {
    step.option[flush] = one.has("FTZ");
    step.option[direction] = static_cast<std::uint8_t>(integral_rounding(one));
    set_half(one, step);
    step.option[from] = one.has("F64") ? f64 : one.has("F16") ? f16 : one.has("BF16") ? bf16 : f32;
    return handler_of<Integral>();
}

// F2FP: the first operand becomes the upper half.
template <Half half>
struct Pack {
    OCCUPIPE_INLINE static std::uint32_t one(std::uint32_t pattern, std::uint8_t how) {
        const std::uint32_t value = arithmetic::halved<half>(as_float(pattern));
        const std::uint32_t largest = half == Half::ieee ? 0x7bff : 0x7f7f;
        const bool infinite = (value & 0x7fff) == largest + 1;
        const auto finite = (how & 2) != 0 && infinite
                                ? static_cast<std::uint32_t>((value & 0x8000) | largest)
                                : value;
        return (how & 1) != 0 ? arithmetic::half_rectified<half>(finite) : finite;
    }
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch_a, scratch_b;
        const Lanes& a = real(warp, step, 0, scratch_a);
        const Lanes& b = real(warp, step, 1, scratch_b);
        const std::uint8_t how = step.option[limits];
        assign(
            destination(warp, step), active, [&](int lane) __attribute__((always_inline)) {
                return one(a[lane], how) << 16 | one(b[lane], how);
            });
    }
};

struct PackTowardsZero {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Format format = format_at(step, to);
        each_of(active, [&](int lane) {
            const auto half = [&](std::uint32_t pattern) {
                const std::uint64_t value =
                    arithmetic::converted(pattern, binary32, format, Rounding::zero);
                const bool negative = (value & 0x8000) != 0 && !format.is_nan(value);
                const bool infinite = format.is_infinite(value);
                if ((step.option[limits] & 1) != 0 && negative) return std::uint64_t{0};
                return (step.option[limits] & 2) != 0 && infinite ? value - 1 : value;
            };
            put(warp, step, lane, half(a[lane]) << 16 | half(b[lane]));
        });
    }
};

// Formats of eight bits (PTX, cvt): E5M2 is the upper half of a binary16, E4M3 has no infinity and
// one NaN per sign. A number becomes the nearest, what is too large the largest, a NaN 0x7f.
std::uint32_t byte_of(std::uint64_t pattern, Format format, bool e4m3, bool rectified) {
    if (format.is_nan(pattern)) return 0x7f;
    if (rectified && (pattern & format.sign()) != 0) return 0;
    const std::uint32_t sign = (pattern & format.sign()) != 0 ? 0x80 : 0;
    const std::uint32_t largest = e4m3 ? 0x7e : 0x7b;
    // As a format without a sign's bit it would round alike; 0x7f of E4M3 is where 480 would be.
    constexpr Format wide_e4m3{5, 3, 0xff}, e5m2{5, 2, 0x7f};
    if (format.is_infinite(pattern)) return sign | largest;
    const arithmetic::Exact value = arithmetic::exact(pattern, format);
    if (!e4m3) {
        const auto rounded = static_cast<std::uint32_t>(round(value, e5m2, Rounding::nearest));
        return sign | std::min(rounded & 0x7f, largest);
    }
    // E4M3 has an exponent of 4 bits whose bias is 7: as of 5 bits with bias 15, 256 times smaller.
    arithmetic::Exact scaled = value;
    scaled.exponent -= 8;
    const auto rounded = static_cast<std::uint32_t>(round(scaled, wide_e4m3, Rounding::nearest));
    return sign | std::min(rounded & 0xff, largest);
}

std::uint32_t half_of_byte(std::uint32_t byte, bool e4m3) {
    if (!e4m3) return (byte & 0x7f) > 0x7c ? 0x7fff : byte << 8;
    if ((byte & 0x7f) == 0x7f) return 0x7fff;
    const std::uint32_t sign = (byte & 0x80) << 8;
    // The same digits as a denormal of binary16 times 2^8, which is exact.
    const std::uint64_t value =
        arithmetic::product((byte & 0x7f) << 7, 0x5c00, binary16, Rounding::nearest);
    return sign | static_cast<std::uint32_t>(value);
}

// Two numbers to the lower half, the third operand's lower or upper half above them.
struct PackBytes {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Format source = format_at(step, from);
        const bool e4m3 = step.option[to] != 0, rectified = (step.option[limits] & 1) != 0;
        const bool packed = source.bits() == 16;
        Lanes scratch_a, scratch_b;
        const Lanes& a = packed ? *raw(warp, step, 0) : real(warp, step, 0, scratch_a);
        const Lanes& b = packed ? a : real(warp, step, 1, scratch_b);
        const Lanes& c = *raw(warp, step, packed ? 1 : 2);
        const int above = step.option[direction] != 0 ? 16 : 0;
        each_of(active, [&](int lane) {
            const std::uint32_t high = packed ? a[lane] >> 16 : a[lane];
            const std::uint32_t low = packed ? a[lane] & 0xffff : b[lane];
            put(warp, step, lane,
                (c[lane] >> above & 0xffff) << 16 | byte_of(high, source, e4m3, rectified) << 8 |
                    byte_of(low, source, e4m3, rectified));
        });
    }
};

struct UnpackBytes {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const bool e4m3 = step.option[to] != 0, rectified = (step.option[limits] & 1) != 0;
        const auto half = [&](std::uint32_t byte) {
            const std::uint32_t value = half_of_byte(byte & 0xff, e4m3);
            return rectified ? arithmetic::half_rectified<Half::ieee>(value) : value;
        };
        each_of(active, [&](int lane) {
            const std::uint32_t bytes = a[lane] >> step.option[direction];
            put(warp, step, lane, half(bytes >> 8) << 16 | half(bytes));
        });
    }
};

Handler bind_bytes(const Instruction& one, Step& step) {
    step.option[to] = one.has("E4M3") ? 1 : 0;
    step.option[direction] = one.operands.back().part == ".H1" ? 16 : 0;
    if (one.has("UNPACK_B")) return handler_of<UnpackBytes>();
    step.option[from] = one.has("F32") ? f32 : f16;
    return handler_of<PackBytes>();
}

Handler bind_pack(const Instruction& one, int, Step& step, std::string&) {
    step.option[limits] =
        static_cast<std::uint8_t>((one.has("RELU") ? 1 : 0) | (one.has("SATFINITE") ? 2 : 0));
    if (one.has("E4M3") || one.has("E5M2")) return bind_bytes(one, step);
    step.option[to] = one.has("BF16") ? bf16 : f16;
    if (one.has("RZ")) return handler_of<PackTowardsZero>();
    if (one.has("MERGE_C")) std::swap(step.source[0], step.source[1]);  // RZ is above
    return one.has("BF16") ? handler_of<Pack<Half::brain>>() : handler_of<Pack<Half::ieee>>();
}

// Two numbers to bytes, the first above the second, the third operand above both: what is F2I of
// both and I2IP before sm_90. cvt.u8.f32 leaves the first and the third zero.
template <bool is_signed>
struct RealsToBytes {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = *raw(warp, step, 2);
        const bool cut = static_cast<Rounding>(step.option[direction]) == Rounding::zero;
        constexpr double least = is_signed ? -128 : 0, most = is_signed ? 127 : 255;
        const auto byte = [&](std::uint32_t pattern) -> std::uint32_t {
            const double value = as_float(pattern);
            if (std::isnan(value)) return 0;
            const double whole = cut ? std::trunc(value) : std::nearbyint(value);
            return static_cast<std::uint32_t>(static_cast<int>(std::clamp(whole, least, most))) &
                   0xff;
        };
        each_of(active, [&](int lane) {
            put(warp, step, lane, c[lane] << 16 | byte(a[lane]) << 8 | byte(b[lane]));
        });
    }
};

Handler bind_pack_bytes(const Instruction& one, int, Step& step, std::string& why_not) {
    if (!one.has("NTZ")) {
        why_not = "without .NTZ";
        return nullptr;
    }
    step.option[direction] = static_cast<std::uint8_t>(integral_rounding(one));
    return one.has("S8") ? handler_of<RealsToBytes<true>>() : handler_of<RealsToBytes<false>>();
}

constexpr Semantics table[] = {
    {"F2IP", &bind_pack_bytes}, {"F2F", &bind_f2f},   {"F2I", &bind_f2i},   {"I2F", &bind_i2f},
    {"UI2F", &bind_i2f},        {"I2FP", &bind_i2f},  {"FRND", &bind_frnd}, {"F2FP", &bind_pack},
    {"UF2I", &bind_f2i},        {"UI2FP", &bind_i2f},
};

}  // namespace

std::span<const Semantics> conversion_semantics() { return table; }

}  // namespace occupipe::isa

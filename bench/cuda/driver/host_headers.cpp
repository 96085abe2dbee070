// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/host_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace occupipe::bench {
namespace {

// Of x86-64 Linux, as nvcc sees them there; libcu++ has its own, which is the one that other
// headers of it want.
constexpr const char* integers = R"(#pragma once
#if __has_include(<cuda/std/cstdint>)
#include <cuda/std/cstdint>
#else
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
typedef signed char int_least8_t;
typedef short int_least16_t;
typedef int int_least32_t;
typedef long int_least64_t;
typedef unsigned char uint_least8_t;
typedef unsigned short uint_least16_t;
typedef unsigned int uint_least32_t;
typedef unsigned long uint_least64_t;
typedef signed char int_fast8_t;
typedef long int_fast16_t;
typedef long int_fast32_t;
typedef long int_fast64_t;
typedef unsigned char uint_fast8_t;
typedef unsigned long uint_fast16_t;
typedef unsigned long uint_fast32_t;
typedef unsigned long uint_fast64_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807L - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX 18446744073709551615UL
#define INT64_C(c) c##L
#define UINT64_C(c) c##UL
#define UINT32_C(c) c##U
#define INT32_C(c) c
#endif
)";

constexpr const char* limits = R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
)";

constexpr const char* floats = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.19209290e-7F
#define FLT_MIN 1.17549435e-38F
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
)";

constexpr const char* mathematics = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define HUGE_VALF __int_as_float(0x7f800000)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
)";

constexpr const char* first = R"(#pragma once
#include <stdint.h>
#include <limits.h>
#include <math.h>
typedef unsigned char u_char;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
)";

struct Fixed {
    const char* name;
    const char* text;
};
constexpr Fixed of_c[] = {
    {first_header, first},
    {"stdint.h", integers},
    {"inttypes.h", "#include <stdint.h>\n"},
    {"limits.h", limits},
    {"float.h", floats},
    {"math.h", mathematics},
    {"stdio.h", "#pragma once\n#define EOF (-1)\ntypedef struct occupipe_file FILE;\n"},
    {"stdlib.h",
     "#pragma once\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n#define RAND_MAX 2147483647\n"},
    {"stddef.h",
     "#pragma once\n#ifndef offsetof\n#define offsetof(type, member) "
     "__builtin_offsetof(type, member)\n#endif\n"},
    {"string.h", ""},
    {"strings.h", ""},
    {"memory.h", ""},
    {"assert.h", ""},
    {"stdbool.h", ""},
    {"stdarg.h", ""},
    {"stdalign.h", ""},
    {"time.h", ""},
    {"errno.h", ""},
    {"ctype.h", ""},
    {"signal.h", ""},
    {"unistd.h", ""},
    {"getopt.h", ""},
    {"malloc.h", ""},
    {"fcntl.h", ""},
    {"sys/time.h", ""},
    {"sys/types.h", ""},
    {"sys/stat.h", ""},
    {"omp.h", ""},
};

constexpr Fixed of_cuda[] = {
    {"cuda.h", ""},
    {"cuda_runtime.h", ""},
    {"cuda_runtime_api.h", ""},
    {"device_launch_parameters.h", ""},
    {"device_functions.h", ""},
    {"vector_types.h", ""},
    {"vector_functions.h", ""},
    {"builtin_types.h", ""},
    {"driver_types.h", ""},
    {"host_defines.h", ""},
    {"math_functions.h", ""},
    {"sm_20_intrinsics.h", ""},
};

// Of C in C++: what they put into std.
constexpr Fixed of_c_in_cpp[] = {
    {"cstdint",
     "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using "
     "::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using "
     "::intptr_t; using ::uintptr_t;"},
    {"cstddef", "using ::size_t; using ::ptrdiff_t;"},
    {"cinttypes", ""},
    {"climits", ""},
    {"cfloat", ""},
    {"cstdio", "using ::printf;"},
    {"cstdlib", ""},
    {"cstring", ""},
    {"cassert", ""},
    {"ctime", ""},
    {"cerrno", ""},
    {"cctype", ""},
    {"cstdarg", ""},
    {"csignal", ""},
    {"cmath",
     "using ::sqrt; using ::fabs; using ::abs; using ::exp; using ::log; using ::pow; "
     "using ::sin; using ::cos; using ::tan; using ::tanh; using ::floor; using ::ceil; "
     "using ::fmax; using ::fmin; using ::fma; using ::isnan; using ::isinf; "
     "using ::round; using ::log2; using ::exp2; using ::atan2;"},
};

// What libcu++ stands in for where it is: these names of it, not all, since its own functions
// beside built-in ones would leave `using namespace std` a choice.
constexpr Fixed of_libcuxx[] = {
    {"array", "array get"},
    {"atomic",
     "atomic memory_order memory_order_relaxed memory_order_acquire memory_order_release "
     "memory_order_acq_rel memory_order_seq_cst"},
    {"bit", "bit_cast countl_zero countr_zero popcount has_single_bit"},
    {"chrono", ""},
    {"complex", "complex real imag norm conj polar"},
    {"concepts", "same_as convertible_to integral floating_point"},
    {"functional", "plus minus multiplies divides less greater equal_to negate"},
    {"initializer_list", "initializer_list"},
    {"iterator", "begin end distance advance iterator_traits"},
    {"limits", "numeric_limits"},
    {"new", ""},
    {"numeric", ""},
    {"optional", "optional nullopt"},
    {"ratio", ""},
    {"span", "span"},
    {"tuple", "tuple make_tuple tie get"},
    {"type_traits",
     "integral_constant true_type false_type bool_constant is_same is_same_v is_integral "
     "is_integral_v is_floating_point is_floating_point_v is_arithmetic is_arithmetic_v is_signed "
     "is_signed_v is_unsigned is_unsigned_v is_pointer is_pointer_v is_const is_void is_void_v "
     "is_base_of is_base_of_v is_convertible is_convertible_v is_trivially_copyable "
     "is_trivially_copyable_v enable_if enable_if_t conditional conditional_t remove_cv "
     "remove_cv_t remove_const remove_const_t remove_reference remove_reference_t remove_pointer "
     "remove_pointer_t decay decay_t make_signed make_signed_t make_unsigned make_unsigned_t "
     "underlying_type underlying_type_t common_type common_type_t void_t declval"},
    {"utility",
     "pair make_pair move forward swap declval exchange index_sequence "
     "make_index_sequence integer_sequence"},
    {"variant", ""},
};

// Of hosts alone.
constexpr const char* of_hosts[] = {
    "iostream",
    "fstream",
    "sstream",
    "iomanip",
    "ios",
    "ostream",
    "istream",
    "string",
    "vector",
    "list",
    "map",
    "set",
    "deque",
    "queue",
    "stack",
    "memory",
    "random",
    "stdexcept",
    "exception",
    "thread",
    "mutex",
    "future",
    "regex",
    "unordered_map",
    "typeinfo",
    "filesystem",
    "iosfwd",
    "unordered_set",
    "condition_variable",
    "string_view",
    "typeindex",
    "cxxabi.h",
    "execution",
    "valarray",
};

std::vector<Header> made(bool with_cuda) {
    std::vector<Header> all;
    const auto add = [&](const Fixed& one) { all.push_back({one.name, one.text}); };
    for (const Fixed& one : of_c) add(one);
    // "stdint.h" for "cstdint".
    for (const Fixed& one : of_c_in_cpp)
        all.push_back(
            {one.name, fmt::format("#pragma once\n#include <{}.h>\nnamespace std {{ {} }}\n",
                                   one.name + 1, one.text)});
    all.push_back({"algorithm", "#pragma once\nnamespace std { using ::min; using ::max; }\n"});
    for (const Fixed& one : of_libcuxx) {
        std::string names;
        for (std::string_view rest = one.text; !rest.empty();) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            names += fmt::format("using ::cuda::std::{};\n", rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        all.push_back({one.name, fmt::format("#pragma once\nnamespace std {{}}\n"
                                             "#if __has_include(<cuda/std/{0}>)\n"
                                             "#include <cuda/std/{0}>\n"
                                             "namespace std {{\n{1}}}\n#endif\n",
                                             one.name, names)});
    }
    for (const char* name : of_hosts) all.push_back({name, "#pragma once\nnamespace std {}\n"});
    if (with_cuda)
        for (const Fixed& one : of_cuda) add(one);
    return all;
}

}  // namespace

const std::vector<Header>& host_headers(bool with_cuda) {
    static const std::vector<Header> without = made(false);
    static const std::vector<Header> with = made(true);
    return with_cuda ? with : without;
}

}  // namespace occupipe::bench

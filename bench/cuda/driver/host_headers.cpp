// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/host_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "bench/device_code.h"
#include "core/files/embedded.h"

namespace occupipe::bench {
namespace {

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
// Those without a text here are files of bench/cuda/host_headers/.
constexpr Fixed of_c[] = {
    {first_header, first},
    {"stdint.h", nullptr},
    {"inttypes.h", "#include <stdint.h>\n"},
    {"limits.h", nullptr},
    {"float.h", nullptr},
    {"math.h", nullptr},
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
    const auto add = [&](const Fixed& one) {
        const std::string file = fmt::format(
            "bench/cuda/host_headers/{}.cuh",
            std::string_view(one.name).substr(0, std::string_view(one.name).rfind('.')));
        all.push_back({one.name, std::string(one.text != nullptr ? one.text
                                                                 : embedded(device_code(), file))});
    };
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

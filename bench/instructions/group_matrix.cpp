// SPDX-License-Identifier: MIT
// Matrix units: multiplications of four warps (a warp group), from shared memory. Made from the
// shapes and types below, since the texts follow from them.
#include <fmt/format.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "bench/instructions/catalogue.h"
#include "bench/instructions/reasons.h"

namespace occupipe::bench {
namespace {

// Multiplicands of a warp group's product. Every row of A and column of B is 32 bytes.
struct Factors {
    const char* name;  // in the row's
    int k;
    const char* types;  // in the instruction's, with the accumulator's
    const char* accumulator;
    const char* sass;
    const char* bits;  // which of a word are arbitrary, and which are set (matrix_macros.cpp)
    const char* words;
    bool transposes;  // the instruction says whether the matrices are transposed
};

constexpr Factors halves{"f32.f16",
                         16,
                         "f32.f16.f16",
                         "float",
                         "HGMMA",
                         "0x83ff83ffu, 0x34003400u",
                         "half precision into single",
                         true};
constexpr Factors halves_only{"f16.f16",        16,      "f16.f16.f16",
                              "uint",           "HGMMA", "0x83ff83ffu, 0x34003400u",
                              "half precision", true};
constexpr Factors bfloats{"f32.bf16",
                          16,
                          "f32.bf16.bf16",
                          "float",
                          "HGMMA",
                          "0x807f807fu, 0x3e803e80u",
                          "bfloat16 into single",
                          true};
constexpr Factors tf32{"f32.tf32",
                       8,
                       "f32.tf32.tf32",
                       "float",
                       "HGMMA",
                       "0x807fe000u, 0x3e800000u",
                       "19-bit floats into single",
                       false};
constexpr Factors e4m3{
    "f32.e4m3",         32,   "f32.e4m3.e4m3", "float", "QGMMA", "0x87878787u, 0x28282828u",
    "e4m3 into single", false};
constexpr Factors e5m2{
    "f32.e5m2",         32,   "f32.e5m2.e5m2", "float", "QGMMA", "0x83838383u, 0x34343434u",
    "e5m2 into single", false};
constexpr Factors bytes{
    "s32.s8", 32, "s32.s8.s8", "int", "IGMMA", "0xffffffffu, 0u", "bytes into integers", false};

// Texts that rows view.
std::string_view kept(std::string text) {
    static std::deque<std::string> all;
    return all.emplace_back(std::move(text));
}

// One multiplication, and the wait until at most `flight` - 1 are on their way: for the next one,
// all of whose registers are this one's, they need not have arrived.
std::string step_macro(const Factors& factors, int n, int registers, int flight) {
    std::string names;
    std::string operands;
    const char* constraint = std::string_view(factors.accumulator) == "float" ? "+f" : "+r";
    for (int i = 0; i < registers; ++i) {
        names += fmt::format("{}%{}", i > 0 ? "," : "", i);
        operands += fmt::format("{}\"{}\"((x).element[{}])", i > 0 ? ", " : "", constraint, i);
    }
    const bool integers = std::string_view(factors.sass) == "IGMMA";
    return fmt::format(
        "MATRIX_FILL(16384, {});\n"
        "#define WGMMA(x) asm volatile(\"{{ .reg .pred add; setp.eq.u32 add, 0, 0; "
        "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n{}k{}.{} {{{}}}, %{}, %{}, "
        "add{}{}; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned {}; }}\" : {} : "
        "\"l\"((x).left), \"l\"((x).right) : \"memory\")\n",
        factors.bits, n, factors.k, factors.types, names, registers, registers + 1,
        integers ? "" : ", 1, 1", factors.transposes ? ", 0, 0" : "", flight - 1, operands);
}

CatalogueRow group_product(const Factors& factors, int n, int flight = 1) {
    const int registers = n / (std::string_view(factors.name) == "f16.f16" ? 4 : 2);
    const bool awaited = flight == 1;
    return {
        .id = kept(fmt::format("wgmma.m64n{}k{}.{}{}", n, factors.k, factors.name,
                               awaited ? "" : fmt::format(".flight{}", flight))),
        .type = DataType::b32,
        .operands = {1, 1, 1},
        .meaning = kept(fmt::format(
            "four warps' matrix multiply-add 64x{}x{} from shared memory, {}, {}", n, factors.k,
            factors.words, awaited ? "awaited" : fmt::format("up to {} in flight", flight))),
        .order = awaited ? Order::waits : Order::none,
        .counters = {{{"operations", 2.0 * 64 * n * factors.k},
                      {"shape_n", static_cast<double>(n)}}},
        // The compiler is slow on many operands. The product of a large n takes longer than the
        // loop.
        .unroll = n > 128  ? 8
                  : n > 64 ? 16
                  : n > 16 ? 32
                           : 64,
        .most_chains = 1,
        .cuda = {.ptx = kept(fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}", n, factors.k,
                                         factors.types)),
                 .step = "WGMMA($)",
                 .sass = factors.sass,
                 .also =
                     awaited
                         ? "the fence before each multiplication and the wait for it; "
                           "no-operations behind large ones"
                         : "the fence before each multiplication and the wait for earlier ones; "
                           "no-operations behind large ones",
                 .length = 4,
                 .since = 90,
                 .until = 90,
                 .features = true,
                 .state = kept(fmt::format("GroupProduct<{}, {}>", factors.accumulator, registers)),
                 .setup = kept(step_macro(factors, n, registers, flight)),
                 .shared_bytes = std::size_t{16} * 1024,
                 .registers = registers + 32,  // beside the accumulators
                 .group_warps = 4},
        .opencl = {.none = no_matrix_units},
    };
}

}  // namespace

std::span<const CatalogueRow> group_matrix_rows() {
    static const std::vector<CatalogueRow> rows = [] {
        std::vector<CatalogueRow> all;
        for (const int n : {8, 16, 32, 64, 128, 256}) all.push_back(group_product(halves, n));
        for (const Factors* factors : {&bfloats, &tf32, &e4m3, &e5m2, &bytes, &halves_only}) {
            for (const int n : {8, 64, 128, 256}) all.push_back(group_product(*factors, n));
        }
        for (const int flight : {2, 4}) {
            for (const int n : {8, 64, 128, 256}) {
                all.push_back(group_product(halves, n, flight));
            }
            for (const Factors* factors : {&bfloats, &tf32, &e4m3, &e5m2, &bytes, &halves_only}) {
                if (flight == 4) all.push_back(group_product(*factors, 256, flight));
            }
        }
        return all;
    }();
    return rows;
}

}  // namespace occupipe::bench

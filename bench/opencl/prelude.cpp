// SPDX-License-Identifier: MIT
#include "bench/opencl/prelude.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "bench/device_code.h"
#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {
namespace {

// A vector is fenced as a whole, where the assembly takes one; NVIDIA's takes none, and the backend
// refuses rows with vectors there.
std::string fence_text(Fence fence) {
    const auto make = [](std::string_view f32, std::string_view f64, std::string_view word,
                         std::string_view index, std::string_view half_word,
                         std::string_view vector) {
        std::string text;
        for (const auto& [name, constraint] :
             {std::pair{"F32", f32}, std::pair{"F64", f64}, std::pair{"32", word},
              std::pair{"64", index}, std::pair{"INDEX", index}, std::pair{"16", half_word},
              std::pair{"VECTOR", vector}}) {
            text += constraint.empty()
                        ? fmt::format("#define FENCE_{}(x)\n", name)
                        : fmt::format("#define FENCE_{}(x) __asm__ volatile(\"\" : \"+{}\"(x))\n",
                                      name, constraint);
        }
        text += word.empty() ? "#define FENCE_BOTH(x, y)\n"
                             : fmt::format(
                                   "#define FENCE_BOTH(x, y) __asm__ volatile(\"\" : \"+{0}\"(x), "
                                   "\"+{0}\"(y))\n",
                                   word);
        return text;
    };
    switch (fence) {
        case Fence::x86:
            return make("x", "x", "r", "r", "r", "x");
        case Fence::amd:
            return make("v", "v", "v", "v", "v", "v");
        case Fence::nvidia:
            return make("f", "d", "r", "l", "h", "");
        case Fence::none:
            break;
    }
    return make("", "", "", "", "", "");
}

}  // namespace

std::string opencl_prelude(Fence fence, int warp_size, std::size_t table_words, int line_words) {
    // A ring that a CPU walks word by word would sit in one cache line; 16 words are one.
    const int ring_stride = warp_size > 1 ? warp_size : 16;
    return fmt::format(
               "#define WARP_SIZE {}u\n#define TABLE_WORDS {}u\n#define LINE_WORDS {}u\n"
               "#define TABLE_LINES (TABLE_WORDS / LINE_WORDS)\n#define RING_STRIDE {}u\n"
               "#define TABLE_END ((TABLE_WORDS + {}u) * 4u)\n",
               warp_size, table_words, line_words, ring_stride, global_table_slack_words) +
           fence_text(fence) +
           std::string(embedded(device_code(), "bench/opencl/device/kernel.cl"));
}

}  // namespace occupipe::bench

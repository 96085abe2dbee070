// SPDX-License-Identifier: MIT
// What a host program does with kernels: buffers, launches in order, and what to look at in the
// end. Files: docs/reference/file-formats/, "Launch file"; core/files/launch_files.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/buffer_fill.h"
#include "core/element_type.h"
#include "core/error.h"

namespace occupipe {

struct BufferPlan {
    std::string name;
    ElementType type = ElementType::f32;
    std::uint64_t count = 0;  // elements
    BufferFill fill;
    SourcePosition where;

    std::uint64_t bytes() const { return count * bytes_of(type); }
};

struct ArgumentPlan {
    enum class Kind : std::uint8_t {
        buffer,  // its address, `offset` bytes behind its begin
        scalar,  // `type`, `text`
        bytes,   // as they are
        record,  // a C struct of `fields`, each at a multiple of its size
        local,   // `size` bytes of dynamic shared memory (OpenCL's __local)
        number,  // `text`, of the parameter's own type (command line)
    };
    Kind kind = Kind::scalar;
    std::string buffer;
    std::uint64_t offset = 0;  // bytes
    ElementType type = ElementType::i32;
    std::string text;
    std::vector<std::uint8_t> content;
    std::vector<ArgumentPlan> fields;
    std::uint64_t size = 0;  // bytes
    SourcePosition where;
};

struct KernelLaunch {
    std::string kernel;  // empty (command line): the only one in the file
    std::array<std::uint32_t, 3> grid = {1, 1, 1};   // groups
    std::array<std::uint32_t, 3> block = {1, 1, 1};  // threads of a group
    std::uint32_t shared_bytes = 0;                  // dynamic, per group
    std::vector<ArgumentPlan> arguments;
    SourcePosition where;
};

// The two names stand for each other's buffer from here on, as host programs swap pointers.
struct SwapBuffers {
    std::array<std::string, 2> names;
    SourcePosition where;
};

// The buffer is filled anew (cudaMemset).
struct SetBuffer {
    std::string buffer;
    BufferFill fill;
    SourcePosition where;
};

// The whole content; both have the same size (cudaMemcpy).
struct CopyBuffer {
    std::string from;
    std::string to;
    SourcePosition where;
};

struct RepeatSteps;
using PlanStep = std::variant<KernelLaunch, RepeatSteps, SwapBuffers, SetBuffer, CopyBuffer>;

struct RepeatSteps {
    std::uint64_t times = 1;
    std::vector<PlanStep> steps;
    SourcePosition where;
};

// A buffer that is reported in the end, and what it is compared with.
struct BufferCheck {
    std::string buffer;
    std::string against;  // path of raw elements; empty: only described
    double absolute = 0;  // |found - expected| <= absolute + relative |expected| counts as equal
    double relative = 0;
    SourcePosition where;
};

struct LaunchPlan {
    std::string file;          // as in messages; empty: made from a command line
    std::string source;        // path of the kernels (.cu, .ptx, .cubin); empty: not told
    std::string architecture;  // "sm_90"; empty: not told
    std::vector<std::string> compiler_options;
    std::vector<BufferPlan> buffers;
    std::vector<BufferPlan> symbols;  // variables of the module (__constant__, __device__) by name
    std::vector<PlanStep> steps;
    std::vector<BufferCheck> checks;

    const BufferPlan* find_buffer(std::string_view name) const;
};

// How many launches the plan makes, repetitions multiplied out; saturates.
std::uint64_t launch_count(const LaunchPlan& plan);

inline constexpr std::uint64_t most_plan_bytes = std::uint64_t{1} << 36;  // of all buffers
inline constexpr std::uint32_t most_group_threads = 1024;
inline constexpr std::uint32_t most_shared_bytes = 232448;  // dynamic, of any architecture
inline constexpr std::array<std::uint32_t, 3> most_grid = {0x7fffffff, 65535, 65535};
inline constexpr std::array<std::uint32_t, 3> most_block = {1024, 1024, 64};

}  // namespace occupipe

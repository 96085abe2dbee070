// SPDX-License-Identifier: MIT
// Launch files: what a host program does with kernels (docs/reference/file-formats/, "Launch
// file").
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/launch_plan.h"

namespace occupipe {

// Paths in the file (`source`, `file`, `against`) are relative to its folder.
LaunchPlan read_launches(const std::filesystem::path& path);
// The same with `folder` for the paths. Throws InputError naming file, line, column and key, also
// where a name stands for no buffer or a pattern does not fit its type.
LaunchPlan parse_launches(const std::string& text, const std::string& file_name,
                          const std::filesystem::path& folder = {});

// What the buffer holds before the first launch; reads its file. Throws InputError where that has
// another size.
std::vector<std::byte> buffer_contents(const LaunchPlan& plan, const BufferPlan& buffer,
                                       const BufferFill& fill);

// A buffer as a command line has it: "f32[1024]", "f32[1024]:iota", "u8[64]:value(7)",
// "f32[1024]:random(-1,1)", "…:random(-1,1,SEED)", "f16[64]:integers(-4,4,SEED)",
// "i32[9]:permutation", "…:permutation(SEED)", "f32[1024]:file(PATH)", "i32[3]:values(1,2,3)",
// "u32[8]:iota(START,STEP)", "f32[8]:ones". Without a range, random is 0 to 1, of integers
// 0 to 99. Throws InputError.
BufferPlan parse_buffer(std::string_view text);

// Arguments as a command line has them, separated by blanks: "x=f32[1024]:iota x+512 2.5 u32:7
// bytes:00ff local:1024"; adds the buffers to the plan. A number without a type takes its
// parameter's. Throws InputError.
std::vector<ArgumentPlan> parse_arguments(std::string_view text, LaunchPlan& plan);

}  // namespace occupipe

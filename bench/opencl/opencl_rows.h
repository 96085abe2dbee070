// SPDX-License-Identifier: MIT
// THE TABLE as the OpenCL backend sees it. Needs no OpenCL installation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/instructions/instruction_table.h"

namespace occupipe::bench {

// Rows in OpenCL C. A row of an id that CUDA has, too, means the same instruction.
std::span<const Row> opencl_float_rows();
std::span<const Row> opencl_integer_rows();
std::span<const Row> opencl_wide_rows();        // 64-bit integers, vectors
std::span<const Row> opencl_conversion_rows();  // conversions and comparisons
std::span<const Row> opencl_memory_rows();
std::span<const Row> opencl_extension_rows();  // half precision, exchange within a warp, …

// Every row of THE TABLE with `step`, operands and x86 receipt as OpenCL has them; `step` is empty
// where OpenCL has none.
std::span<const Row> opencl_table();

// Gives each row of the table its OpenCL form and adds the rows that only OpenCL has.
void join_opencl_rows(std::vector<Row>& table);

// Why OpenCL C has no form of a row of THE TABLE, for people.
std::string why_no_opencl(std::string_view id);

// What an extension that a row needs would have brought: "cl_khr_fp16: half-precision arithmetic".
std::string missing_extension(const Row& row);

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
// The date as Google Benchmark writes it into a file's context, in UTC:
//
//   context["date"] = bench::date_now();  // 2026-11-23T01:14:36+00:00
#pragma once

#include <string>

namespace occupipe::bench {

std::string date_now();

}  // namespace occupipe::bench

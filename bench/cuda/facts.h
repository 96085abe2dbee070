// SPDX-License-Identifier: MIT
#pragma once

#include "bench/backend.h"
#include "bench/cuda/driver_api.h"
#include "bench/cuda/placement.h"

namespace occupipe::bench {

DeviceFacts cuda_facts(const Driver& driver, cu::Device device, int ordinal);

CoreLimits core_limits(const Driver& driver, cu::Device device);

// Size of the table that memory walks read: at least four times the last cache and 128 MiB, at most
// a quarter of the memory; a power of two.
std::size_t table_words(std::int64_t cache_bytes, std::int64_t memory_bytes);

TableSizes cuda_tables(std::int64_t l2_bytes, std::int64_t memory_bytes);

}  // namespace occupipe::bench

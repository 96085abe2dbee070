// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>

#include "bench/backend.h"
#include "bench/kernel/kernel_source.h"
#include "bench/opencl/api.h"

namespace occupipe::bench {

// A buffer on the device with this content.
cl::Buffer buffer_with(const cl::Context& context, const cl::CommandQueue& queue,
                       const std::vector<std::byte>& bytes);

// The tables in global memory that kernels walk, built when first needed, and what of them a launch
// finds in the last cache.
class OpenClTables {
public:
    OpenClTables(cl::Context context, cl::Device device, cl::CommandQueue queue);

    // For DeviceFacts::tables.
    TableSizes sizes(const DeviceFacts& facts) const;

    // random_order: if hardware would prefetch an ordered walk.
    cl::Buffer table(const TableRequest& request, bool random_order);

    // Reads the first `bytes` of the table, or other memory: on a CPU of twice the cache's size, on
    // a GPU, whose driver may tell a smaller cache's, as much as a table beyond the caches has.
    void prepare_cache(CacheState state, const cl::Buffer& table, std::size_t bytes,
                       const TableSizes& sizes);

private:
    void read(const cl::Buffer& buffer, std::size_t bytes);

    cl::Context context_;
    cl::Device device_;
    cl::CommandQueue queue_;
    std::map<TableRequest, cl::Buffer> tables_;
    bool cpu_;
    cl::Buffer elsewhere_;
    cl::Buffer result_;
    cl::Kernel reader_;
};

}  // namespace occupipe::bench

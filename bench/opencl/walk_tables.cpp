// SPDX-License-Identifier: MIT
#include "bench/opencl/walk_tables.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "bench/opencl/build.h"

namespace occupipe::bench {
namespace {

constexpr std::uint64_t table_seed = 1;
constexpr std::size_t gpu_group_items = 256;
constexpr std::size_t gpu_groups_per_unit = 8;

// A word of each 32 bytes. What is read goes into a result that is practically never written.
constexpr const char* reader_source = R"(
__kernel void occupipe_table_reader(__global const uint* table, ulong words, __global uint* result)
{
    uint sum = 0;
    for (ulong i = get_global_id(0) * 8; i < words; i += get_global_size(0) * 8) sum = sum * 3 + table[i];
    if (sum == 0x5eed5eedu) result[0] = sum;
}
)";

}  // namespace

cl::Buffer buffer_with(const cl::Context& context, const cl::CommandQueue& queue,
                       const std::vector<std::byte>& bytes) {
    cl::Buffer buffer(context, CL_MEM_READ_WRITE, bytes.size());
    queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, bytes.size(), bytes.data());
    return buffer;
}

OpenClTables::OpenClTables(cl::Context context, cl::Device device, cl::CommandQueue queue)
    : context_(std::move(context)),
      device_(std::move(device)),
      queue_(std::move(queue)),
      cpu_((device_.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0) {}

TableSizes OpenClTables::sizes(const DeviceFacts& facts) const {
    TableSizes sizes;
    sizes.cache_bytes = device_.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
    // Four times the last cache, so that a walk comes back to no line that is still there.
    const std::size_t wanted =
        std::bit_ceil(std::max<std::size_t>(4 * sizes.cache_bytes, 128u << 20));
    const std::size_t most =
        std::bit_floor(static_cast<std::size_t>(facts.global_memory_bytes) / 8);
    sizes.beyond_caches = std::min(wanted, most);
    return sizes;
}

cl::Buffer OpenClTables::table(const TableRequest& request, bool random_order) {
    cl::Buffer& table = tables_[request];
    if (!table()) {
        table = buffer_with(context_, queue_, global_table(request, random_order, table_seed));
    }
    return table;
}

void OpenClTables::prepare_cache(CacheState state, const cl::Buffer& table, std::size_t bytes,
                                 const TableSizes& sizes) {
    if (state == CacheState::as_it_is) return;
    if (state == CacheState::holds_table) return read(table, bytes);
    const std::size_t other = cpu_ ? 2 * sizes.cache_bytes : sizes.beyond_caches;
    if (!elsewhere_()) {
        elsewhere_ = cl::Buffer(context_, CL_MEM_READ_WRITE, other);
        queue_.enqueueFillBuffer(elsewhere_, cl_uint{1}, 0, other);
    }
    read(elsewhere_, other);
}

void OpenClTables::read(const cl::Buffer& buffer, std::size_t bytes) {
    if (!reader_()) {
        reader_ =
            cl::Kernel(opencl_build(context_, device_, reader_source), "occupipe_table_reader");
        result_ = cl::Buffer(context_, CL_MEM_READ_WRITE, sizeof(cl_uint));
    }
    const std::size_t units = device_.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
    const std::size_t items =
        std::min(gpu_group_items, device_.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
    reader_.setArg(0, buffer);
    reader_.setArg(1, static_cast<cl_ulong>(bytes / sizeof(cl_uint)));
    reader_.setArg(2, result_);
    queue_.enqueueNDRangeKernel(reader_, cl::NullRange,
                                cl::NDRange(cpu_ ? units : units * gpu_groups_per_unit * items),
                                cl::NDRange(cpu_ ? 1 : items));
    queue_.finish();
}

}  // namespace occupipe::bench

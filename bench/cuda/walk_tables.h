// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/cuda/driver/kernel_compiler.h"
#include "bench/cuda/driver/session.h"
#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {

// The table's words hold indices; on the GPU a chase follows addresses. Accesses of two words and
// more have room for a whole one, a single word holds the lower half.
void relocate(std::vector<std::byte>& table, cu::DevicePointer base, int access_words);

// The tables in global memory that kernels walk, and what of them a launch finds in the
// second-level cache. Each table is built when first needed and kept, since points come in random
// order: together they may take a quarter of the GPU's memory, then all are built again.
class WalkTables {
public:
    // compiled_for: the architecture, as in KernelCompiler::compile. `compiler` outlives this.
    WalkTables(std::shared_ptr<const Session> session, const KernelCompiler& compiler,
               std::string compiled_for, int cores, std::size_t memory_bytes);

    DeviceBuffer& table(const TableRequest& request);

    // Reads the first `bytes` of the table on every core, or other memory of several times the
    // cache's size; the launch that follows finds all of the table there, or nothing of it.
    void prepare_cache(CacheState state, const DeviceBuffer& table, std::size_t bytes,
                       std::size_t cache_bytes);

private:
    struct Table {
        std::unique_ptr<DeviceBuffer> words;
        std::unique_ptr<Texture> texture;  // where the table is read as one
    };
    void make_room(std::size_t bytes);
    // Large ones are made by a kernel: the host would take a second for each gigabyte, and as much
    // memory.
    DeviceBuffer& written_there(const TableRequest& request);
    std::unique_ptr<DeviceBuffer> in_one_window(std::size_t bytes);

    std::shared_ptr<const Session> session_;
    const KernelCompiler& compiler_;
    std::string compiled_for_;
    std::unique_ptr<LoadedKernel> read_;
    std::unique_ptr<LoadedKernel> write_;
    DeviceBuffer result_;  // of reading; nobody looks
    unsigned cores_;
    std::size_t memory_bytes_;
    std::map<TableRequest, Table> tables_;
    std::size_t tables_bytes_ = 0;
    std::unique_ptr<DeviceBuffer> elsewhere_;
};

}  // namespace occupipe::bench

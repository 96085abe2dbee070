// SPDX-License-Identifier: MIT
#include "bench/cuda/walk_tables.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "bench/cuda/prelude.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

constexpr std::uint64_t table_seed = 20240229;
constexpr std::size_t sector_bytes = 32;  // what a miss of the second-level cache brings at least
constexpr unsigned reading_threads = 1024;

}  // namespace

void relocate(std::vector<std::byte>& table, cu::DevicePointer base, int access_words) {
    const std::size_t step = static_cast<std::size_t>(access_words) * 4;
    for (std::size_t i = 0; i + step <= table.size(); i += step) {
        std::uint32_t index = 0;
        std::memcpy(&index, &table[i], 4);
        const std::uint64_t address = base + std::uint64_t{index} * 4;
        const auto lower_half = static_cast<std::uint32_t>(address);
        if (access_words > 1) {
            std::memcpy(&table[i], &address, 8);
        } else {
            std::memcpy(&table[i], &lower_half, 4);
        }
    }
}

WalkTables::WalkTables(std::shared_ptr<const Session> session, const KernelCompiler& compiler,
                       std::string compiled_for, int cores, std::size_t memory_bytes)
    : session_(std::move(session)),
      compiler_(compiler),
      compiled_for_(std::move(compiled_for)),
      result_(session_, sizeof(std::uint32_t)),
      cores_(static_cast<unsigned>(cores)),
      memory_bytes_(memory_bytes) {}

void WalkTables::make_room(std::size_t bytes) {
    if (tables_bytes_ + bytes > memory_bytes_ / 4) {
        tables_.clear();
        tables_bytes_ = 0;
    }
    tables_bytes_ += bytes;
}

DeviceBuffer& WalkTables::written_there(const TableRequest& request) {
    if (!write_) {
        write_ = std::make_unique<LoadedKernel>(
            session_, compiler_.compile(cuda_table_writer_source(), compiled_for_).cubin,
            table_writer_entry);
    }
    std::uint64_t words = request.bytes / 4;
    std::uint64_t slack = global_table_slack_words;
    const std::size_t bytes = (words + slack) * 4 + global_table_operand_bytes;
    make_room(bytes);
    std::unique_ptr<DeviceBuffer> table = in_one_window(bytes);
    cu::DevicePointer address = table->address();
    auto line_words = static_cast<std::uint32_t>(request.line_bytes / 4);
    auto access_words = static_cast<std::uint32_t>(request.access_words);
    std::uint32_t own_lines = request.own_lines ? 1 : 0;
    std::uint32_t numbers = request.pattern == Pattern::global_chase ? 0 : 1;
    std::array<void*, 8> arguments = {&address,      &words,     &slack,   &line_words,
                                      &access_words, &own_lines, &numbers, &address};
    write_->launch(2 * cores_, reading_threads, 0, arguments);
    Table& kept = tables_[request];
    kept.words = std::move(table);
    return *kept.words;
}

DeviceBuffer& WalkTables::table(const TableRequest& request) {
    constexpr std::size_t quickly_copied = 16u << 20;
    if (const auto known = tables_.find(request); known != tables_.end())
        return *known->second.words;
    if (request.bytes > quickly_copied && !request.texture) return written_there(request);
    std::vector<std::byte> content = global_table(request, false, table_seed);
    make_room(content.size());
    std::unique_ptr<DeviceBuffer> words = in_one_window(content.size());
    std::unique_ptr<Texture> texture;
    if (request.texture) {
        texture = std::make_unique<Texture>(session_, words->address(), request.bytes);
        const cu::TextureObject handle = texture->handle();
        std::memcpy(&content[content.size() - global_table_operand_bytes], &handle, sizeof handle);
    } else if (request.pattern == Pattern::global_chase) {
        relocate(content, words->address(), request.access_words);
    }
    words->write(content);
    Table& kept = tables_[request];
    kept.words = std::move(words);
    kept.texture = std::move(texture);
    return *kept.words;
}

// Memory whose addresses all have the same upper 32 bits. A block that does not is kept until
// another one is found, so that the next attempt cannot give the same again.
std::unique_ptr<DeviceBuffer> WalkTables::in_one_window(std::size_t bytes) {
    std::vector<std::unique_ptr<DeviceBuffer>> across;
    for (int attempt = 0; attempt < 4; ++attempt) {
        auto buffer = std::make_unique<DeviceBuffer>(session_, bytes);
        const cu::DevicePointer last = buffer->address() + bytes - 1;
        if (buffer->address() >> 32 == last >> 32) return buffer;
        across.push_back(std::move(buffer));
    }
    throw DeviceError("CUDA: no memory block of one 4 GiB window for the table");
}

void WalkTables::prepare_cache(CacheState state, const DeviceBuffer& table, std::size_t bytes,
                               std::size_t cache_bytes) {
    if (state == CacheState::as_it_is) return;
    if (!read_) {
        read_ = std::make_unique<LoadedKernel>(
            session_, compiler_.compile(cuda_table_reader_source(), compiled_for_).cubin,
            table_reader_entry);
    }
    const bool fill = state == CacheState::holds_table;
    if (!fill && !elsewhere_) {
        const std::size_t wanted = std::min(4 * cache_bytes, memory_bytes_ / 8);
        elsewhere_ = std::make_unique<DeviceBuffer>(session_, wanted);
        elsewhere_->fill(0, wanted);
    }
    cu::DevicePointer from = fill ? table.address() : elsewhere_->address();
    std::uint64_t sectors = (fill ? bytes : elsewhere_->size()) / sector_bytes;
    // A cache of two halves keeps what each half's cores have read: to fill it, every core reads
    // everything; to empty it, once is enough.
    int each_core = fill ? 1 : 0;
    cu::DevicePointer result = result_.address();
    std::array<void*, 4> arguments = {&from, &sectors, &each_core, &result};
    read_->launch(cores_, reading_threads, 0, arguments);
}

}  // namespace occupipe::bench

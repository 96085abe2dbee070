// SPDX-License-Identifier: MIT
#include "isa/machine/heap.h"

#include <fmt/format.h>

#include <algorithm>

namespace occupipe::isa {
namespace {

// Both change what the next allocation gets.
DeviceHeap& used_heap(Warp& warp) {
    DeviceHeap& heap = warp.launch->memory->heap();
    warp.group->turn_to(heap.buffer(), AccessKind::atomic);
    return heap;
}

}  // namespace

std::uint64_t DeviceHeap::allocate(std::uint64_t size) {
    const std::scoped_lock lock(mutex_);
    if (size > buffer_->size) return 0;
    size = std::max(alignment, (size + alignment - 1) / alignment * alignment);
    std::uint64_t begin = buffer_->address;
    for (const auto& [address, bytes] : taken_) {
        if (address - begin >= size) break;
        begin = address + bytes;
    }
    if (buffer_->address + buffer_->size - begin < size) return 0;
    taken_[begin] = size;
    return begin;
}

bool DeviceHeap::release(std::uint64_t address) {
    const std::scoped_lock lock(mutex_);
    return taken_.erase(address) == 1;
}

void allocate(Warp& warp, Mask lanes) {
    DeviceHeap& heap = used_heap(warp);
    Lanes* const registers = warp.registers;
    each_of(lanes, [&](int lane) {
        const std::uint64_t address = heap.allocate(pair(registers + 4, lane));
        registers[4][lane] = static_cast<std::uint32_t>(address);
        registers[5][lane] = static_cast<std::uint32_t>(address >> 32);
    });
}

void release(Warp& warp, const Step& step, Mask lanes) {
    DeviceHeap& heap = used_heap(warp);
    each_of(lanes, [&](int lane) {
        const std::uint64_t address = pair(warp.registers + 4, lane);
        if (address != 0 && !heap.release(address))
            fail(warp, step, lane,
                 fmt::format("frees {:#x}, where nothing is allocated by malloc", address));
    });
}

}  // namespace occupipe::isa

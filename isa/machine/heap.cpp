// SPDX-License-Identifier: MIT
#include "isa/machine/heap.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace occupipe::isa {
namespace {

// Both change what the next allocation gets.
DeviceHeap& used_heap(Warp& warp) {
    DeviceHeap& heap = warp.launch->memory->heap();
    warp.group->turn_to(heap.buffer(), AccessKind::atomic);
    return heap;
}

}  // namespace

DeviceHeap::DeviceHeap(const GlobalMemory::Buffer& buffer)
    : buffer_(&buffer), free_{{buffer.address, buffer.size}} {}

std::uint64_t DeviceHeap::allocate(std::uint64_t size, std::uint64_t align) {
    const std::scoped_lock lock(mutex_);
    if (size > buffer_->size || !std::has_single_bit(align)) return 0;
    size = std::max(alignment, (size + alignment - 1) / alignment * alignment);
    for (auto place = free_.begin(); place != free_.end(); ++place) {
        const auto [address, bytes] = *place;
        const std::uint64_t before = (align - address % align) % align;
        if (bytes < before || bytes - before < size) continue;
        const std::uint64_t begin = address + before;
        if (before == 0)
            free_.erase(place);
        else
            place->second = before;
        if (bytes - before > size) free_[begin + size] = bytes - before - size;
        taken_[begin] = size;
        return begin;
    }
    return 0;
}

bool DeviceHeap::release(std::uint64_t address) {
    const std::scoped_lock lock(mutex_);
    const auto found = taken_.find(address);
    if (found == taken_.end()) return false;
    std::uint64_t size = found->second;
    taken_.erase(found);
    auto next = free_.lower_bound(address);
    if (next != free_.end() && next->first == address + size) {
        size += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == address) {
            before->second += size;
            return true;
        }
    }
    free_[address] = size;
    return true;
}

void allocate(Warp& warp, Mask lanes, bool aligned) {
    DeviceHeap& heap = used_heap(warp);
    Lanes* const registers = warp.registers;
    each_of(lanes, [&](int lane) {
        const std::uint64_t align = aligned
                                        ? std::max(DeviceHeap::alignment, pair(registers + 6, lane))
                                        : DeviceHeap::alignment;
        const std::uint64_t address = heap.allocate(pair(registers + 4, lane), align);
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

// SPDX-License-Identifier: MIT
#include "extract/shadow_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace occupipe::extract {
namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

// Calls use(word, bits of it).
template <typename Use>
void each_word(std::uint64_t begin, std::uint64_t end, Use use) {
    for (std::uint64_t word = begin / 64; begin < end; ++word) {
        const std::uint64_t next = std::min(end, (word + 1) * 64);
        const std::uint64_t bits = next - begin == 64
                                       ? all_bits
                                       : ((std::uint64_t{1} << (next - begin)) - 1) << (begin % 64);
        use(word, bits);
        begin = next;
    }
}

}  // namespace

template <typename T>
ZeroPages<T>::ZeroPages(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* const pages = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    pages_ = std::unique_ptr<T[], Unmap>(static_cast<T*>(pages), Unmap{count});
}

template <typename T>
void ZeroPages<T>::Unmap::operator()(T* begin) const {
    munmap(begin, count * sizeof(T));
}

template class ZeroPages<std::uint32_t>;
template class ZeroPages<std::uint64_t>;

void WrittenBytes::set(std::uint64_t begin, std::uint64_t end) {
    each_word(begin, end,
              [&](std::uint64_t word, std::uint64_t bits) { bits_.set_bits(word, bits); });
}

void WrittenBytes::clear(std::uint64_t begin, std::uint64_t end) {
    each_word(begin, end,
              [&](std::uint64_t word, std::uint64_t bits) { bits_.clear_bits(word, bits); });
}

bool WrittenBytes::all(std::uint64_t begin, std::uint64_t end) const {
    bool all = true;
    each_word(begin, end, [&](std::uint64_t word, std::uint64_t bits) {
        all = all && (bits_.get(word) & bits) == bits;
    });
    return all;
}

bool WrittenBytes::any(std::uint64_t begin, std::uint64_t end) const {
    bool any = false;
    each_word(begin, end, [&](std::uint64_t word, std::uint64_t bits) {
        any = any || (bits_.get(word) & bits) != 0;
    });
    return any;
}

BufferShadow* ShadowMemory::known(std::uint64_t address, std::uint64_t size) {
    auto behind = buffers_.upper_bound(address);
    if (behind == buffers_.begin()) return nullptr;
    BufferShadow& one = (--behind)->second;
    return one.holds(address, size) ? &one : nullptr;
}

BufferShadow* ShadowMemory::find(std::uint64_t address, std::uint64_t size) {
    return known(address, size);
}

void ShadowMemory::begins_unwritten(const isa::GlobalMemory::Buffer& buffer) {
    BufferShadow one;
    one.buffer = &buffer;
    one.began_unwritten = true;
    one.all_written = false;
    one.written = WrittenBytes(buffer.size);
    buffers_[buffer.address] = std::move(one);
}

void ShadowMemory::remove(const isa::GlobalMemory::Buffer& buffer) {
    buffers_.erase(buffer.address);
}

void ShadowMemory::set_written(std::uint64_t address, std::uint64_t size) {
    BufferShadow* const one = known(address, size);
    if (one == nullptr || one->all_written) return;
    if (size == one->buffer->size) {
        one->all_written = true;
        one->written = {};
        return;
    }
    one->written.set(address - one->buffer->address, address - one->buffer->address + size);
}

bool ShadowMemory::is_written(std::uint64_t address, std::uint64_t size) const {
    const BufferShadow* const one = const_cast<ShadowMemory*>(this)->known(address, size);
    if (one == nullptr || one->all_written) return true;
    const std::uint64_t begin = address - one->buffer->address;
    return one->written.all(begin, begin + size);
}

bool ShadowMemory::is_any_written(std::uint64_t address, std::uint64_t size) const {
    const BufferShadow* const one = const_cast<ShadowMemory*>(this)->known(address, size);
    if (one == nullptr || one->all_written) return true;
    const std::uint64_t begin = address - one->buffer->address;
    return one->written.any(begin, begin + size);
}

void ShadowMemory::copied(std::uint64_t to, std::uint64_t from, std::uint64_t size) {
    BufferShadow* const into = known(to, size);
    if (into == nullptr || !into->began_unwritten) return;
    if (is_written(from, size)) {
        set_written(to, size);
        return;
    }
    if (into->all_written) {
        into->all_written = false;
        into->written = WrittenBytes(into->buffer->size);
        into->written.set(0, into->buffer->size);
    }
    // Backwards where the copy is behind what it is of and overlaps it.
    const std::uint64_t begin = to - into->buffer->address;
    const WrittenBytes& source = known(from, size)->written;
    const std::uint64_t source_begin = from - known(from, size)->buffer->address;
    for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t at = to > from ? size - 1 - i : i;
        if (source.all(source_begin + at, source_begin + at + 1))
            into->written.set(begin + at, begin + at + 1);
        else
            into->written.clear(begin + at, begin + at + 1);
    }
}

void ShadowMemory::begin_launch(std::uint64_t groups, std::uint32_t granule) {
    const auto& present = memory_.buffers();
    std::erase_if(buffers_, [&](const auto& one) { return !present.contains(one.first); });
    const bool restart = next_ + groups >= several;
    if (restart) next_ = 0;
    base_ = static_cast<std::uint32_t>(next_);
    next_ += groups;
    granule_ = granule;
    for (const auto& [address, buffer] : present) {
        if (memory_.is_heap(buffer)) continue;  // who has which bytes of it is not known here
        BufferShadow& one = buffers_[address];
        one.buffer = &buffer;
        const std::uint64_t granules = (buffer.size + granule - 1) / granule;
        if (restart || one.users.size() < 2 * granules)
            one.users = ZeroPages<std::uint32_t>(2 * granules);
    }
}

ShadowMemory::Others ShadowMemory::read(BufferShadow& in, std::uint64_t begin, std::uint64_t end,
                                        std::uint64_t group) {
    const auto number = static_cast<std::uint32_t>(base_ + 1 + group);
    Others others;
    for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint32_t wrote = in.users.get(2 * i);
        others.wrote = others.wrote || (is_of_launch(wrote) && wrote != number);
        const std::uint32_t read = in.users.get(2 * i + 1);
        if (read == number || (is_of_launch(read) && (read & several) != 0)) continue;
        in.users.set(2 * i + 1, is_of_launch(read) ? read | several : number);
    }
    return others;
}

ShadowMemory::Others ShadowMemory::others(const BufferShadow& in, std::uint64_t begin,
                                          std::uint64_t end, std::uint64_t group) const {
    const auto number = static_cast<std::uint32_t>(base_ + 1 + group);
    Others others;
    for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint32_t wrote = in.users.get(2 * i);
        others.wrote = others.wrote || (is_of_launch(wrote) && wrote != number);
        const std::uint32_t read = in.users.get(2 * i + 1);
        others.read = others.read || (is_of_launch(read) && read != number);
    }
    return others;
}

void ShadowMemory::write(BufferShadow& in, std::uint64_t begin, std::uint64_t end,
                         std::uint64_t group) {
    const auto number = static_cast<std::uint32_t>(base_ + 1 + group);
    for (std::uint64_t i = begin; i < end; ++i)
        if (in.users.get(2 * i) != number) in.users.set(2 * i, number);
}

}  // namespace occupipe::extract

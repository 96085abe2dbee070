// SPDX-License-Identifier: MIT
// What is known of global memory beside its content: which bytes something has written, and which
// groups of a launch have read and written a place.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "isa/machine/memory.h"

namespace occupipe::extract {

// So many numbers, all zero, of which only those that are used take memory.
template <typename T>
class ZeroPages {
public:
    ZeroPages() = default;
    // Throws std::bad_alloc.
    explicit ZeroPages(std::size_t count);

    std::size_t size() const { return count_; }
    // Who reads what another thread has set sees what that had done before.
    T get(std::size_t i) const { return at(i).load(std::memory_order_acquire); }
    void set(std::size_t i, T value) { at(i).store(value, std::memory_order_release); }
    void set_bits(std::size_t i, T bits) {
        if ((get(i) & bits) != bits) at(i).fetch_or(bits, std::memory_order_relaxed);
    }
    void clear_bits(std::size_t i, T bits) { at(i).fetch_and(~bits, std::memory_order_relaxed); }

private:
    struct Unmap {
        std::size_t count = 0;
        void operator()(T* begin) const;
    };
    std::atomic_ref<T> at(std::size_t i) const { return std::atomic_ref<T>(pages_.get()[i]); }

    std::unique_ptr<T[], Unmap> pages_;
    std::size_t count_ = 0;
};

// A bit for each byte of a stretch of memory: whether something has written it.
class WrittenBytes {
public:
    WrittenBytes() = default;
    explicit WrittenBytes(std::uint64_t bytes) : bits_((bytes + 63) / 64) {}

    // `end`: behind the last one, at most what there are.
    void set(std::uint64_t begin, std::uint64_t end);
    void clear(std::uint64_t begin, std::uint64_t end);
    bool all(std::uint64_t begin, std::uint64_t end) const;
    bool any(std::uint64_t begin, std::uint64_t end) const;
    std::uint64_t bytes() const { return 64 * bits_.size(); }

private:
    ZeroPages<std::uint64_t> bits_;
};

// Of one buffer.
struct BufferShadow {
    const isa::GlobalMemory::Buffer* buffer = nullptr;
    bool began_unwritten = false;  // else the host writes it as it likes
    bool all_written = true;
    WrittenBytes written;  // where not all is
    // By granule, side by side: the number of the group that wrote it last; that of the first one
    // that read it, and whether another one did.
    ZeroPages<std::uint32_t> users;

    bool holds(std::uint64_t address, std::uint64_t size) const {
        return address >= buffer->address && size <= buffer->size &&
               address - buffer->address <= buffer->size - size;
    }
};

// Calls may come from several threads where they are for launches that run; all others change what
// there is, and come alone.
class ShadowMemory {
public:
    explicit ShadowMemory(const isa::GlobalMemory& memory) : memory_(memory) {}

    // Of the memory's buffers; one that is not told of here counts as written (variables, memory
    // that the host writes as it likes).
    void begins_unwritten(const isa::GlobalMemory::Buffer& buffer);
    // Before the memory's buffer is removed.
    void remove(const isa::GlobalMemory::Buffer& buffer);
    // What lies in no buffer is passed over.
    void set_written(std::uint64_t address, std::uint64_t size);
    // After a copy: bytes are as unwritten as those that they were copied from. From the host:
    // all are written.
    void copied(std::uint64_t to, std::uint64_t from, std::uint64_t size);
    bool is_written(std::uint64_t address, std::uint64_t size) const;
    bool is_any_written(std::uint64_t address, std::uint64_t size) const;

    // Before a launch of so many groups, whose accesses are told apart by `granule` bytes (1 or 4);
    // of earlier launches nothing is left.
    void begin_launch(std::uint64_t groups, std::uint32_t granule);
    // nullptr: no buffer holds all of it.
    BufferShadow* find(std::uint64_t address, std::uint64_t size);

    // An access of a group of the launch, at granules of a buffer: what others have done there.
    struct Others {
        bool read = false, wrote = false;
    };
    Others read(BufferShadow& in, std::uint64_t begin, std::uint64_t end, std::uint64_t group);
    // What others have done; `write`: and that this group has written there, when it has.
    Others others(const BufferShadow& in, std::uint64_t begin, std::uint64_t end,
                  std::uint64_t group) const;
    void write(BufferShadow& in, std::uint64_t begin, std::uint64_t end, std::uint64_t group);
    std::uint32_t granule() const { return granule_; }

private:
    // Of a reader: others read it, too.
    static constexpr std::uint32_t several = std::uint32_t{1} << 31;
    bool is_of_launch(std::uint32_t number) const { return (number & ~several) > base_; }

    BufferShadow* known(std::uint64_t address, std::uint64_t size);

    const isa::GlobalMemory& memory_;
    std::map<std::uint64_t, BufferShadow> buffers_;  // by address
    // Groups are numbered on from launch to launch; those of this one have numbers above `base_`.
    std::uint32_t base_ = 0;
    std::uint64_t next_ = 0;
    std::uint32_t granule_ = 4;
};

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
// Memory that kernels see: global memory as named buffers with nothing mapped between them, and the
// windows of the generic address space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace occupipe::isa {

// Which memory an access goes to.
enum class Space : std::uint8_t { global, shared, local, constant };

// Generic addresses whose upper half is one of these lie in shared or local memory; all others are
// global. Hardware chooses others; a program may not depend on them.
inline constexpr std::uint32_t shared_window = 0x00000100;
inline constexpr std::uint32_t local_window = 0x00000200;

class DeviceHeap;

// Bytes that several memories begin with, made once: each maps them and gets a copy of a page when
// it is first written.
class SharedBytes {
public:
    // None where the system has no such pages.
    static std::shared_ptr<const SharedBytes> made(std::span<const std::byte> bytes);
    ~SharedBytes();
    SharedBytes(const SharedBytes&) = delete;
    SharedBytes& operator=(const SharedBytes&) = delete;

    std::uint64_t size() const { return size_; }

private:
    friend class GlobalMemory;
    SharedBytes(int file, std::uint64_t size) : file_(file), size_(size) {}

    int file_;
    std::uint64_t size_;
};

class GlobalMemory {
public:
    struct Buffer {
        std::string name;
        std::uint64_t address = 0;  // as kernels see it
        std::uint64_t size = 0;     // bytes
        std::byte* data = nullptr;  // on the host, aligned to 256 bytes
    };

    GlobalMemory();
    ~GlobalMemory();
    GlobalMemory(GlobalMemory&&) noexcept;
    GlobalMemory& operator=(GlobalMemory&&) noexcept;

    // CUDA maps pages of 2 MiB: what lies behind a buffer is there, and be it for another one. So
    // much of it is there in the last unit of a buffer.
    static constexpr std::uint64_t unit = std::uint64_t{32} << 10;

    // A buffer of `size` bytes, all zero, at a multiple of 256 bytes; at least 64 KiB around it are
    // not mapped. The address depends on the sizes added before alone. Throws InputError where the
    // name is taken or the size is 0 or above 2^40.
    const Buffer& add(std::string name, std::uint64_t size);

    // The same with this content.
    const Buffer& add(std::string name, const SharedBytes& content);

    // A buffer whose bytes are the caller's and that kernels see where they lie on the host
    // (pinned and managed memory). The bytes have to live until remove(). Throws InputError where
    // the name is taken, or another buffer lies there.
    const Buffer& add_host(std::string name, std::span<std::byte> bytes);

    // Releases a buffer of this memory: its address is not given to another one. Pointers to it
    // end.
    void remove(const Buffer& buffer);

    // None where no buffer has this name.
    const Buffer* named(std::string_view name) const;

    // The buffer that holds all of [address, address + size); none where there is no such one.
    const Buffer* find(std::uint64_t address, std::uint64_t size) const;

    // The buffer in whose last unit bytes lie that are not all within it; its memory reaches there.
    // None: they are elsewhere, or the buffer is the host's.
    const Buffer* in_last_unit(std::uint64_t address, std::uint64_t size) const;

    // The buffer that is next to an address, before or behind; none where there are no buffers.
    const Buffer* nearest(std::uint64_t address) const;

    // What kernels allocate from, made at its first use; of 8 MiB unless set_heap_bytes() was
    // called before. Not for several threads at once until then.
    DeviceHeap& heap();
    // False: it is in use already.
    bool set_heap_bytes(std::uint64_t size);
    // With all that was allocated; the next one has 8 MiB again.
    void remove_heap();
    bool is_heap(const Buffer& buffer) const;

    // By address.
    const std::map<std::uint64_t, Buffer>& buffers() const { return buffers_; }

    static std::span<std::byte> bytes(const Buffer& buffer) { return {buffer.data, buffer.size}; }

private:
    struct Storage;
    const Buffer& add(std::string name, std::uint64_t size, const SharedBytes* content);
    const Buffer& put(Buffer buffer);
    void refuse(const std::string& name, std::uint64_t size) const;

    std::map<std::uint64_t, Buffer> buffers_;
    std::map<std::string, std::uint64_t, std::less<>> addresses_;  // by name
    std::map<std::uint64_t, std::unique_ptr<Storage>> storage_;    // by address; of add() alone
    std::uint64_t next_ = 0;
    static constexpr std::uint64_t usual_heap_bytes = std::uint64_t{8} << 20;
    std::uint64_t heap_bytes_ = usual_heap_bytes;
    std::unique_ptr<DeviceHeap> heap_;
};

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
#include "isa/machine/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

#include "core/error.h"
#include "isa/machine/heap.h"

namespace occupipe::isa {
namespace {

constexpr std::uint64_t first_address = 0x0000'7000'0000'0000;
constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t gap = 64 * 1024;
constexpr std::uint64_t largest = std::uint64_t{1} << 40;

}  // namespace

struct GlobalMemory::Storage {
    explicit Storage(std::uint64_t size)
        : data(static_cast<std::byte*>(std::calloc(1, size + unit + alignment))) {
        if (!data) throw std::bad_alloc();
    }
    Storage(int file, std::uint64_t size) : data(nullptr), mapped(size) {
        void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        data = static_cast<std::byte*>(at);
    }
    ~Storage() {
        if (mapped != 0)
            ::munmap(data, mapped);
        else
            std::free(data);
    }
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    std::byte* aligned() const {
        const auto at = reinterpret_cast<std::uintptr_t>(data);
        return data + ((at + alignment - 1) / alignment * alignment - at);
    }

    std::byte* data;
    std::uint64_t mapped = 0;  // bytes; 0: allocated
};

std::shared_ptr<const SharedBytes> SharedBytes::made(std::span<const std::byte> bytes) {
    const int file = ::memfd_create("occupipe-buffer", MFD_CLOEXEC);
    if (file < 0) return nullptr;
    std::shared_ptr<const SharedBytes> shared(new SharedBytes(file, bytes.size()));
    while (!bytes.empty()) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written <= 0) return nullptr;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return shared;
}

SharedBytes::~SharedBytes() { ::close(file_); }

GlobalMemory::GlobalMemory() : next_(first_address) {}
GlobalMemory::~GlobalMemory() = default;
GlobalMemory::GlobalMemory(GlobalMemory&&) noexcept = default;
GlobalMemory& GlobalMemory::operator=(GlobalMemory&&) noexcept = default;

DeviceHeap& GlobalMemory::heap() {
    if (!heap_) heap_ = std::make_unique<DeviceHeap>(add("heap of the device", heap_bytes_));
    return *heap_;
}

bool GlobalMemory::set_heap_bytes(std::uint64_t size) {
    if (heap_) return false;
    heap_bytes_ = size;
    return true;
}

void GlobalMemory::remove_heap() {
    if (heap_) remove(heap_->buffer());
    heap_.reset();
    heap_bytes_ = usual_heap_bytes;
}

bool GlobalMemory::is_heap(const Buffer& buffer) const {
    return heap_ && heap_->buffer().address == buffer.address;
}

void GlobalMemory::refuse(const std::string& name, std::uint64_t size) const {
    if (size == 0) throw InputError(fmt::format("buffer '{}' has no bytes", name));
    if (size > largest) {
        throw InputError(fmt::format("buffer '{}' has {} bytes; at most {}", name, size, largest));
    }
    if (named(name)) throw InputError(fmt::format("two buffers are called '{}'", name));
}

const GlobalMemory::Buffer& GlobalMemory::put(Buffer buffer) {
    const std::uint64_t address = buffer.address;
    addresses_[buffer.name] = address;
    return buffers_[address] = std::move(buffer);
}

const GlobalMemory::Buffer& GlobalMemory::add(std::string name, std::uint64_t size) {
    return add(std::move(name), size, nullptr);
}

const GlobalMemory::Buffer& GlobalMemory::add(std::string name, const SharedBytes& content) {
    return add(std::move(name), content.size(), &content);
}

const GlobalMemory::Buffer& GlobalMemory::add(std::string name, std::uint64_t size,
                                              const SharedBytes* content) {
    refuse(name, size);
    std::unique_ptr<Storage> storage;
    try {
        storage = content ? std::make_unique<Storage>(content->file_, size)
                          : std::make_unique<Storage>(size);
    } catch (const std::bad_alloc&) {
        throw InputError(
            fmt::format("buffer '{}': no {} bytes of memory are left here", name, size));
    }
    const std::uint64_t address = next_;
    next_ += (size + gap + gap - 1) / gap * gap;
    std::byte* const data = storage->aligned();
    storage_[address] = std::move(storage);
    return put({.name = std::move(name), .address = address, .size = size, .data = data});
}

const GlobalMemory::Buffer& GlobalMemory::add_host(std::string name, std::span<std::byte> bytes) {
    refuse(name, bytes.size());
    const auto address = reinterpret_cast<std::uint64_t>(bytes.data());
    const auto behind = buffers_.lower_bound(address);
    const bool covers_next = behind != buffers_.end() && behind->first - address < bytes.size();
    const bool in_previous = behind != buffers_.begin() &&
                             address - std::prev(behind)->first < std::prev(behind)->second.size;
    if (covers_next || in_previous)
        throw InputError(fmt::format("buffer '{}' overlaps another one", name));
    return put(
        {.name = std::move(name), .address = address, .size = bytes.size(), .data = bytes.data()});
}

void GlobalMemory::remove(const Buffer& buffer) {
    const std::uint64_t address = buffer.address;
    addresses_.erase(buffer.name);
    buffers_.erase(address);
    storage_.erase(address);
}

const GlobalMemory::Buffer* GlobalMemory::named(std::string_view name) const {
    const auto found = addresses_.find(name);
    return found == addresses_.end() ? nullptr : &buffers_.at(found->second);
}

const GlobalMemory::Buffer* GlobalMemory::find(std::uint64_t address, std::uint64_t size) const {
    auto behind = buffers_.upper_bound(address);
    if (behind == buffers_.begin()) return nullptr;
    const Buffer& buffer = (--behind)->second;
    const std::uint64_t offset = address - buffer.address;
    return offset <= buffer.size && size <= buffer.size - offset ? &buffer : nullptr;
}

const GlobalMemory::Buffer* GlobalMemory::in_last_unit(std::uint64_t address,
                                                       std::uint64_t size) const {
    auto behind = buffers_.upper_bound(address);
    if (behind == buffers_.begin()) return nullptr;
    const Buffer& buffer = (--behind)->second;
    const std::uint64_t offset = address - buffer.address;
    const std::uint64_t end = (buffer.size + unit - 1) / unit * unit;
    const bool there = offset <= end && size <= end - offset && storage_.contains(buffer.address);
    return there ? &buffer : nullptr;
}

const GlobalMemory::Buffer* GlobalMemory::nearest(std::uint64_t address) const {
    if (buffers_.empty()) return nullptr;
    const auto behind = buffers_.upper_bound(address);
    if (behind == buffers_.begin()) return &behind->second;
    const Buffer& before = std::prev(behind)->second;
    if (behind == buffers_.end()) return &before;
    const std::uint64_t end = before.address + before.size;
    const std::uint64_t beyond = address >= end ? address - end : 0;
    return behind->second.address - address < beyond ? &behind->second : &before;
}

}  // namespace occupipe::isa

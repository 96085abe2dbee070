// SPDX-License-Identifier: MIT
// Large tables in large pages, where the system has them: a table that is touched at random
// otherwise waits for an address translation with each reference, and a growing one for a page
// fault every 4 KiB.
//   std::vector<Entry, HugePages<Entry>> table;
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace occupipe::extract {

template <typename T>
class HugePages {
public:
    using value_type = T;

    HugePages() = default;
    template <typename Other>
    explicit(false) HugePages(const HugePages<Other>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < page_bytes) return static_cast<T*>(::operator new(bytes));
        const std::size_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
        void* const memory = std::aligned_alloc(page_bytes, whole);
        if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
        ::madvise(memory, whole, MADV_HUGEPAGE);  // a wish: small pages will do
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (count * sizeof(T) < page_bytes)
            ::operator delete(memory);
        else
            std::free(memory);
    }

    bool operator==(const HugePages&) const = default;

private:
    static constexpr std::size_t page_bytes = std::size_t{2} << 20;
};

}  // namespace occupipe::extract

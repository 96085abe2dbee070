// SPDX-License-Identifier: MIT
// Large tables in large pages, where the system has them: a table that is touched at random
// otherwise waits for an address translation with each reference, and a growing one for a page
// fault every 4 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace occupipe::extract {

// So many zeros, in memory that was asked for as large pages before it was written.
template <typename T>
std::vector<T> zeros_in_large_pages(std::size_t count) {
    std::vector<T> values;
    values.reserve(count);
#ifdef MADV_HUGEPAGE
    constexpr std::size_t large = std::size_t{2} << 20;
    constexpr std::size_t small = std::size_t{4} << 10;
    const std::size_t bytes = count * sizeof(T);
    auto* const begin = reinterpret_cast<std::byte*>(values.data());
    const std::size_t skipped = (small - reinterpret_cast<std::uintptr_t>(begin) % small) % small;
    // A wish: small pages will do. Pages at both ends may hold other data, which that leaves alone.
    if (bytes >= 2 * large)
        static_cast<void>(
            ::madvise(begin + skipped, (bytes - skipped) / small * small, MADV_HUGEPAGE));
#endif
    values.resize(count);
    return values;
}

}  // namespace occupipe::extract

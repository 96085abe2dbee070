// SPDX-License-Identifier: MIT
#include "extract/memory_requests.h"

#include <algorithm>
#include <array>
#include <bit>

namespace occupipe::extract {
namespace {

using isa::each_of;

// At most 32 lanes of 16 bytes, each part of which may lie in another sector.
struct Numbers {
    std::array<std::uint64_t, 32 * 5> values;
    std::size_t count = 0;
    bool ascends = true;

    void add(std::uint64_t value) {
        if (count > 0 && values[count - 1] == value) return;
        ascends = ascends && (count == 0 || values[count - 1] < value);
        values[count++] = value;
    }

    void sort() {
        if (ascends) return;
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
        std::sort(values.begin(), end);
        count = static_cast<std::size_t>(std::unique(values.begin(), end) - values.begin());
        ascends = true;
    }
};

// Sectors, and lines of four of them.
void count_sectors(MemoryCounts& counts, Numbers& sectors) {
    sectors.sort();
    counts.sectors += sectors.count;
    constexpr std::uint64_t per_line = line_bytes / sector_bytes;
    for (std::size_t i = 0; i < sectors.count; ++i)
        counts.lines += i == 0 || sectors.values[i] / per_line != sectors.values[i - 1] / per_line;
}

void add_global(MemoryCounts& counts, const isa::MemoryAccess& access) {
    Numbers sectors;
    Numbers addresses;
    each_of(access.active, [&](int lane) {
        const std::uint64_t first = access.addresses[lane];
        const std::uint64_t last = first + access.bytes - 1;
        addresses.add(first);
        for (std::uint64_t at = first / sector_bytes; at <= last / sector_bytes; ++at)
            sectors.add(at);
    });
    addresses.sort();
    count_sectors(counts, sectors);
    counts.least_sectors += (addresses.count * access.bytes + sector_bytes - 1) / sector_bytes;
}

void add_local(MemoryCounts& counts, const isa::MemoryAccess& access) {
    Numbers sectors;
    each_of(access.active, [&](int lane) {
        const std::uint64_t first = access.addresses[lane] / 4;
        const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / 4;
        for (std::uint64_t word = first; word <= last; ++word)
            sectors.add((word * 32 + static_cast<std::uint64_t>(lane)) * 4 / sector_bytes);
    });
    count_sectors(counts, sectors);
    const auto lanes = static_cast<std::uint64_t>(std::popcount(access.active));
    counts.least_sectors += (lanes * access.bytes + sector_bytes - 1) / sector_bytes;
}

// Passes of the lanes of one phase.
std::uint64_t passes_of(const isa::MemoryAccess& access, isa::Mask lanes) {
    std::array<std::uint64_t, bank_count> words_of_bank{};
    std::array<std::uint64_t, 32 * 5> words;
    std::size_t count = 0;
    each_of(lanes, [&](int lane) {
        const std::uint64_t first = access.addresses[lane] / 4;
        const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / 4;
        for (std::uint64_t word = first; word <= last; ++word) {
            std::uint64_t& in_bank = words_of_bank[word % bank_count];
            const auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
            // Only where the bank has words already can this be one of them.
            if (in_bank > 0 && std::find(words.begin(), end, word) != end) continue;
            ++in_bank;
            words[count++] = word;
        }
    });
    return std::ranges::max(words_of_bank);
}

void add_shared(MemoryCounts& counts, const isa::MemoryAccess& access) {
    const int lanes = access.bytes <= 4 ? 32 : access.bytes <= 8 ? 16 : 8;
    for (int first = 0; first < 32; first += lanes) {
        const isa::Mask together = (lanes == 32 ? isa::all_lanes : (isa::Mask{1} << lanes) - 1)
                                   << first;
        if ((access.active & together) == 0) continue;
        ++counts.phases;
        counts.passes += passes_of(access, access.active & together);
    }
}

std::uint64_t most_at_one_address(const isa::MemoryAccess& access) {
    std::array<std::uint64_t, 32> addresses;
    std::size_t count = 0;
    each_of(access.active, [&](int lane) { addresses[count++] = access.addresses[lane]; });
    const auto end = addresses.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(addresses.begin(), end);
    std::uint64_t most = 0;
    for (auto at = addresses.begin(); at != end;) {
        const auto next = std::upper_bound(at, end, *at);
        most = std::max(most, static_cast<std::uint64_t>(next - at));
        at = next;
    }
    return most;
}

}  // namespace

MemoryCounts& MemoryCounts::operator+=(const MemoryCounts& other) {
    requests += other.requests;
    lanes += other.lanes;
    bytes_asked += other.bytes_asked;
    sectors += other.sectors;
    least_sectors += other.least_sectors;
    lines += other.lines;
    passes += other.passes;
    phases += other.phases;
    same_address += other.same_address;
    return *this;
}

void add_request(MemoryCounts& counts, const isa::MemoryAccess& access) {
    if (access.active == 0) return;
    const auto lanes = static_cast<std::uint64_t>(std::popcount(access.active));
    ++counts.requests;
    counts.lanes += lanes;
    counts.bytes_asked += lanes * access.bytes;
    if (access.kind == isa::AccessKind::atomic) counts.same_address += most_at_one_address(access);
    if (access.space == isa::Space::global) add_global(counts, access);
    if (access.space == isa::Space::local) add_local(counts, access);
    if (access.space == isa::Space::shared) add_shared(counts, access);
}

}  // namespace occupipe::extract

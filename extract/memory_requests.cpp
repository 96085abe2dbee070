// SPDX-License-Identifier: MIT
#include "extract/memory_requests.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

namespace occupipe::extract {
namespace {

using isa::each_of;

constexpr std::uint64_t sectors_per_line = line_bytes / sector_bytes;

enum class Pattern : std::uint8_t {
    side_by_side,  // all lanes, each after the one before it
    same,          // all lanes ask for the same
    other,
};

Pattern pattern_of(const isa::MemoryAccess& access) {
    const std::uint64_t* const at = access.addresses;
    if (access.active != isa::all_lanes) return Pattern::other;
    const std::uint64_t step = at[1] - at[0];
    if (step != 0 && step != access.bytes) return Pattern::other;
    std::uint64_t differs = 0;
    for (std::uint64_t lane = 0; lane < 32; ++lane) differs |= at[lane] ^ (at[0] + lane * step);
    if (differs != 0) return Pattern::other;
    return step == 0 ? Pattern::same : Pattern::side_by_side;
}

// The least and the largest address of these lanes; at least one of them.
struct Span {
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t last = 0;

    Span(const isa::MemoryAccess& access, isa::Mask lanes) {
        each_of(lanes, [&](int lane) {
            first = std::min(first, access.addresses[lane]);
            last = std::max(last, access.addresses[lane]);
        });
    }
};

// Addresses of the active lanes, ascending, each once.
struct Addresses {
    std::array<std::uint64_t, 32> values;
    std::size_t count = 0;

    explicit Addresses(const isa::MemoryAccess& access) {
        bool ascends = true;
        each_of(access.active, [&](int lane) {
            const std::uint64_t value = access.addresses[lane];
            if (count > 0 && values[count - 1] == value) return;
            ascends = ascends && (count == 0 || values[count - 1] < value);
            values[count++] = value;
        });
        if (ascends) return;
        const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
        std::sort(values.begin(), end);
        count = static_cast<std::size_t>(std::unique(values.begin(), end) - values.begin());
    }
};

// Numbers of the different values of a request, from 1 on, by a hash table most of which stays
// free, so that a branch rarely goes another way than the ones before it.
class Numbers {
public:
    std::uint8_t of(std::uint64_t value) {
        std::uint64_t at = value * 0x9E3779B97F4A7C15 >> 56;
        while (places_[at] != 0 && values_[places_[at]] != value) at = (at + 1) % places_.size();
        if (places_[at] == 0) {
            places_[at] = ++count_;
            values_[count_] = value;
        }
        return places_[at];
    }
    std::uint8_t count() const { return count_; }

private:
    std::array<std::uint8_t, 256> places_{};
    std::array<std::uint64_t, 1 + 32 * 5> values_;
    std::uint8_t count_ = 0;
};

// Passes of the lanes of one phase.
std::uint64_t passes_of(const isa::MemoryAccess& access, isa::Mask lanes) {
    const Span span(access, lanes);
    if ((span.last + access.bytes - 1) / 4 - span.first / 4 < bank_count)
        return 1;  // as many words in a row have a bank each
    Numbers words;
    std::array<std::uint8_t, bank_count> in_bank{};
    std::uint8_t passes = 0;
    each_of(lanes, [&](int lane) {
        const std::uint64_t first = access.addresses[lane] / 4;
        const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / 4;
        for (std::uint64_t word = first; word <= last; ++word) {
            const std::uint8_t known = words.count();
            if (words.of(word) <= known) continue;
            passes = std::max(passes, ++in_bank[word % bank_count]);
        }
    });
    return passes;
}

void add_passes(MemoryCounts& counts, const isa::MemoryAccess& access) {
    const int lanes = access.bytes <= 4 ? 32 : access.bytes <= 8 ? 16 : 8;
    if (pattern_of(access) != Pattern::other) {  // at most one word in each bank
        counts.phases += static_cast<std::uint64_t>(32 / lanes);
        counts.passes += static_cast<std::uint64_t>(32 / lanes);
        return;
    }
    for (int first = 0; first < 32; first += lanes) {
        const isa::Mask together = (lanes == 32 ? isa::all_lanes : (isa::Mask{1} << lanes) - 1)
                                   << first;
        if ((access.active & together) == 0) continue;
        ++counts.phases;
        counts.passes += passes_of(access, access.active & together);
    }
}

std::uint64_t most_at_one_address(const isa::MemoryAccess& access) {
    Numbers addresses;
    std::array<std::uint8_t, 1 + 32> lanes{};
    std::uint8_t most = 0;
    each_of(access.active, [&](int lane) {
        most = std::max(most, ++lanes[addresses.of(access.addresses[lane])]);
    });
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

void RequestLines::add(std::uint64_t line, std::uint32_t sectors) {
    if (count_ > 0 && lines_[count_ - 1].line == line) {
        lines_[count_ - 1].sectors |= sectors;
        return;
    }
    ascends_ = ascends_ && (count_ == 0 || lines_[count_ - 1].line < line);
    lines_[count_++] = {.line = line, .sectors = sectors};
}

void RequestLines::add_range(std::uint64_t first, std::uint64_t bytes) {
    const std::uint64_t last = first + bytes - 1;
    for (std::uint64_t line = first / line_bytes; line <= last / line_bytes; ++line) {
        std::uint32_t sectors = 0xF;
        if (line == first / line_bytes)
            sectors &= 0xFU << (first / sector_bytes % sectors_per_line);
        if (line == last / line_bytes)
            sectors &= 0xFU >> (3 - last / sector_bytes % sectors_per_line);
        add(line, sectors);
    }
}

void RequestLines::sort() {
    if (ascends_) return;
    std::sort(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const Line& a, const Line& b) { return a.line < b.line; });
    const std::size_t all = std::exchange(count_, 0);
    ascends_ = true;
    for (std::size_t i = 0; i < all; ++i) add(lines_[i].line, lines_[i].sectors);
}

// Where the addresses are near one another: without sorting them. Returns how many differ.
std::optional<std::uint64_t> RequestLines::add_near(const isa::MemoryAccess& access) {
    constexpr std::uint64_t reach = 4 * line_bytes;
    const Span span(access, access.active);
    const std::uint64_t first = span.first / line_bytes * line_bytes;
    if (span.last - first > reach - access.bytes) return std::nullopt;
    std::array<std::uint64_t, reach / 64> addresses{};
    std::uint32_t sectors = 0;
    each_of(access.active, [&](int lane) {
        const std::uint64_t at = access.addresses[lane] - first;
        addresses[at / 64] |= std::uint64_t{1} << at % 64;
        const std::uint64_t last = (at + access.bytes - 1) / sector_bytes;
        for (std::uint64_t sector = at / sector_bytes; sector <= last; ++sector)
            sectors |= 1U << sector;
    });
    for (std::uint64_t line = 0; line < reach / line_bytes; ++line)
        if (const std::uint32_t part = sectors >> line * sectors_per_line & 0xF; part != 0)
            add(first / line_bytes + line, part);
    std::uint64_t distinct = 0;
    for (const std::uint64_t word : addresses)
        distinct += static_cast<std::uint64_t>(std::popcount(word));
    return distinct;
}

void RequestLines::add_global(const isa::MemoryAccess& access) {
    std::uint64_t distinct = 1;
    switch (pattern_of(access)) {
        case Pattern::side_by_side:
            distinct = 32;
            [[fallthrough]];
        case Pattern::same:
            add_range(access.addresses[0], distinct * access.bytes);
            break;
        case Pattern::other: {
            if (const auto near = add_near(access)) {
                distinct = *near;
                break;
            }
            const Addresses addresses(access);
            distinct = addresses.count;
            for (std::size_t i = 0; i < addresses.count;) {
                const std::uint64_t first = addresses.values[i];
                std::uint64_t bytes = 0;
                for (; i < addresses.count && addresses.values[i] == first + bytes; ++i)
                    bytes += access.bytes;
                add_range(first, bytes);
            }
        }
    }
    least_sectors_ = (distinct * access.bytes + sector_bytes - 1) / sector_bytes;
}

// Word w of lane l lies at (32 w + l) 4: a line for each word.
void RequestLines::add_local(const isa::MemoryAccess& access) {
    each_of(access.active, [&](int lane) {
        const std::uint64_t first = access.addresses[lane] / 4;
        const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / 4;
        for (std::uint64_t word = first; word <= last; ++word) add(word, 1U << (lane / 8));
    });
    const std::uint64_t lanes = isa::count_of(access.active);
    least_sectors_ = (lanes * access.bytes + sector_bytes - 1) / sector_bytes;
}

RequestLines::RequestLines(const isa::MemoryAccess& access) {
    if (access.active == 0) return;
    if (access.space == isa::Space::global) add_global(access);
    if (access.space == isa::Space::local) add_local(access);
    sort();
}

bool BankPattern::add_if_same(const isa::MemoryAccess& access, MemoryCounts& counts) const {
    if (bytes_ != access.bytes || access.active != isa::all_lanes ||
        access.addresses[0] % 4 != in_word_)
        return false;
    std::uint32_t differs = 0;
    for (std::size_t lane = 0; lane < 32; ++lane)
        differs |= static_cast<std::uint32_t>(access.addresses[lane] - access.addresses[0]) ^
                   behind_first_[lane];
    if (differs != 0) return false;
    counts.passes += passes_;
    counts.phases += phases_;
    return true;
}

void BankPattern::add(const isa::MemoryAccess& access, MemoryCounts& counts) {
    const std::uint64_t passes = counts.passes, phases = counts.phases;
    add_passes(counts, access);
    bytes_ = 0;
    if (access.active != isa::all_lanes) return;
    bytes_ = access.bytes;
    in_word_ = access.addresses[0] % 4;
    passes_ = static_cast<std::uint32_t>(counts.passes - passes);
    phases_ = static_cast<std::uint32_t>(counts.phases - phases);
    for (std::size_t lane = 0; lane < 32; ++lane)
        behind_first_[lane] =
            static_cast<std::uint32_t>(access.addresses[lane] - access.addresses[0]);
}

namespace {

// What requests to any memory have; at least one lane is active.
void add_lanes(MemoryCounts& counts, const isa::MemoryAccess& access) {
    const std::uint64_t lanes = isa::count_of(access.active);
    ++counts.requests;
    counts.lanes += lanes;
    counts.bytes_asked += lanes * access.bytes;
    if (access.kind == isa::AccessKind::atomic) counts.same_address += most_at_one_address(access);
}

}  // namespace

void add_request(MemoryCounts& counts, const isa::MemoryAccess& access, const RequestLines& touched,
                 BankPattern& pattern) {
    if (access.active == 0) return;
    add_lanes(counts, access);
    counts.lines += touched.lines().size();
    for (const RequestLines::Line& line : touched.lines())
        counts.sectors += isa::count_of(line.sectors);
    counts.least_sectors += touched.least_sectors();
    if (access.space == isa::Space::constant) return;
    if (access.space == isa::Space::local) {  // a bank for each lane
        counts.phases += (access.bytes + 3) / 4;
        counts.passes += (access.bytes + 3) / 4;
    } else if (!pattern.add_if_same(access, counts)) {
        pattern.add(access, counts);
    }
}

}  // namespace occupipe::extract

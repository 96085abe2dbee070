// SPDX-License-Identifier: MIT
// What one memory instruction of one warp asks of the memory: sectors and lines of global memory,
// passes through the banks.
//   32 lanes, 4 bytes each, side by side: 4 sectors, 1 line, 1 pass
//   32 lanes, 4 bytes each, 128 bytes apart: 32 sectors, 32 lines, 32 passes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "isa/machine/machine.h"

namespace occupipe::extract {

inline constexpr std::uint64_t sector_bytes = 32;
inline constexpr std::uint64_t line_bytes = 128;
inline constexpr std::uint64_t bank_count = 32;  // of 4 bytes

// Sums over requests. A request is one execution of a memory instruction by one warp with at least
// one active lane.
struct MemoryCounts {
    std::uint64_t requests = 0;
    std::uint64_t lanes = 0;
    std::uint64_t bytes_asked = 0;  // by all lanes together, what several ask for counted for each
    // Global and local memory.
    std::uint64_t sectors = 0;        // distinct ones of each request, summed
    std::uint64_t least_sectors = 0;  // that the distinct bytes would take if they lay side by side
    std::uint64_t lines = 0;
    // Shared memory, and the first-level cache, whose banks are the same (H100: rows
    // ld.global.l1.u32.stride2 to stride32).
    std::uint64_t passes = 0;  // times that the banks are gone through
    std::uint64_t phases = 0;  // least possible passes: parts of the warp that are served together
    // Atomic operations: the most lanes of a request that go to one address, summed.
    std::uint64_t same_address = 0;

    MemoryCounts& operator+=(const MemoryCounts& other);
    bool operator==(const MemoryCounts&) const = default;
};

// The lines of global or local memory that one request touches, with their sectors; none of other
// spaces.
class RequestLines {
public:
    struct Line {
        std::uint64_t line;     // address / 128; local: the word, at 128 word of its warp
        std::uint32_t sectors;  // bit s: sector s
    };

    explicit RequestLines(const isa::MemoryAccess& access);

    std::span<const Line> lines() const { return {lines_.data(), count_}; }  // ascending
    // That the distinct bytes would take if they lay side by side.
    std::uint64_t least_sectors() const { return least_sectors_; }

private:
    void add(std::uint64_t line, std::uint32_t sectors);
    void add_range(std::uint64_t first, std::uint64_t bytes);
    void add_global(const isa::MemoryAccess& access);
    std::optional<std::uint64_t> add_near(const isa::MemoryAccess& access);
    void add_local(const isa::MemoryAccess& access);
    void sort();

    // At most 32 lanes of 16 bytes, each part of which may lie in another line.
    std::array<Line, 32 * 5> lines_;
    std::size_t count_ = 0;
    bool ascends_ = true;
    std::uint64_t least_sectors_ = 0;
};

// Adds one request to `counts`, `touched` being its lines.
//
// Global: a lane's access lies in the 32-byte sectors and 128-byte lines that its bytes touch.
// Local: lanes' words are interleaved, word w of lane l at (32 w + l) 4, as the hardware lays them
// out; the same rule then applies.
// Banks: accesses of up to 4 bytes are served for all 32 lanes together, 8 bytes for 16 lanes at a
// time, 16 bytes for 8 (phases). A phase takes as many passes as the bank with the most distinct
// words; lanes that ask for the same word share it (NVIDIA, CUDA C++ Programming Guide, "Shared
// Memory"; how wider accesses are divided is known from measurements, not documented). Local
// memory: each lane has a bank. Constant: requests, lanes and bytes alone.
class BankPattern;
void add_request(MemoryCounts& counts, const isa::MemoryAccess& access, const RequestLines& touched,
                 BankPattern& pattern);

// How far apart the lanes of a request lie, and what that costs: wherever in the banks they begin,
// it costs the same. Of the last request of an instruction.
class BankPattern {
public:
    // Whether all lanes are active and lie as they did; then counts passes and phases.
    bool add_if_same(const isa::MemoryAccess& access, MemoryCounts& counts) const;
    // Counts passes and phases the long way, and keeps them.
    void add(const isa::MemoryAccess& access, MemoryCounts& counts);

private:
    std::array<std::uint32_t, 32> behind_first_{};  // bytes, by lane
    std::uint32_t bytes_ = 0;                       // per lane; 0: nothing is kept
    std::uint32_t in_word_ = 0;                     // of the first lane's address
    std::uint32_t passes_ = 0, phases_ = 0;
};

inline void add_request(MemoryCounts& counts, const isa::MemoryAccess& access,
                        BankPattern& pattern) {
    add_request(counts, access, RequestLines(access), pattern);
}

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
// Measures the memory requests of one launch while it is executed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "extract/memory_requests.h"
#include "extract/race_check.h"
#include "isa/machine/machine.h"

namespace occupipe::extract {

// Requests of one instruction to one space.
struct MemorySite {
    std::size_t instruction = 0;  // index in the kernel's code
    isa::Space space = isa::Space::global;
    isa::AccessKind kind = isa::AccessKind::load;
    std::uint32_t bytes = 0;  // per lane
    MemoryCounts counts;
};

// Different sectors of global memory that a launch touched.
struct Footprint {
    std::uint64_t sectors_read = 0;  // atomic operations read and write
    std::uint64_t sectors_written = 0;
    std::uint64_t sectors = 0;  // either
};

class MemoryObserver : public isa::Observer {
public:
    // Watches a launch of a kernel of so many instructions.
    MemoryObserver(std::size_t instructions, const isa::GlobalMemory& memory);
    ~MemoryObserver() override;

    // Before the launch: has each group looked at as well.
    void watch_races(RaceCheck check) { race_check_ = std::move(check); }

    std::unique_ptr<isa::GroupObserver> begin(std::uint64_t group) override;
    void end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) override;

    // After the launch; by instruction, then space. Do not depend on the order of groups.
    std::vector<MemorySite> sites() const;
    Footprint footprint() const;
    std::set<Race> races() const;

private:
    class Counter;
    class Touched;

    std::size_t instructions_;
    std::unique_ptr<Touched> touched_;
    std::optional<RaceCheck> race_check_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<isa::GroupObserver>> resting_;  // Counters that watch no group
};

}  // namespace occupipe::extract

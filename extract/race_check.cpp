// SPDX-License-Identifier: MIT
#include "extract/race_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace occupipe::extract {
namespace {

// Accesses of less than a word.
bool is_narrow(const isa::Instruction& one) {
    const bool shared = one.opcode == "LDS" || one.opcode == "STS" || one.opcode == "LD" ||
                        one.opcode == "ST" || one.opcode == "LDGSTS";
    return shared && (one.has("U8") || one.has("S8") || one.has("U16") || one.has("S16"));
}

// Barriers in shared memory, of clusters, and of those that only arrive.
bool orders_otherwise(const isa::Instruction& one) {
    return one.opcode == "SYNCS" || one.opcode == "ARRIVES" || one.opcode == "UCGABAR" ||
           one.opcode == "MEMBAR" || (one.opcode == "ATOMS" && one.has("ARRIVE")) ||
           (one.opcode == "BAR" && one.has("ARV"));
}

}  // namespace

RaceCheck::RaceCheck(const std::vector<isa::Instruction>& code)
    : granule_(std::ranges::any_of(code, is_narrow) ? 1 : 4),
      watches_(std::ranges::none_of(code, orders_otherwise)) {}

void RaceCheck::next_phase() {
    if (++phase_ < ~std::uint32_t{0} / warps) return;
    phase_ = 1;
    places_.clear();
}

void RaceCheck::begin() {
    next_phase();
    ended_ = !watches_;
}

void RaceCheck::barrier(bool all) {
    next_phase();
    ended_ = ended_ || !all;
}

void RaceCheck::find_race(const Users& others, bool reads, std::uint32_t key,
                          std::uint32_t instruction, int lane) {
    for (std::size_t i = 0; i < others.key.size(); ++i) {
        if (!is_of_phase(others.key[i]) || others.key[i] == key) continue;
        const std::size_t other = others.instruction[i];
        RaceSeen& seen = races_[reads ? Race{instruction, other} : Race{other, instruction}];
        if (++seen.count == 1) {
            seen.warp = key % warps;
            seen.lane = lane;
            seen.reads = reads;
        }
        return;
    }
}

inline void RaceCheck::note(Place& place, bool reads, std::uint32_t key, std::uint32_t instruction,
                            int lane) {
    Users& own = reads ? place.reads : place.writes;
    if (own.key[0] != key && own.key[1] != key) {
        const std::size_t free = is_of_phase(own.key[0]) ? 1 : 0;
        if (free == 0 || !is_of_phase(own.key[1])) {
            own.key[free] = key;
            own.instruction[free] = instruction;
        }
    }
    const Users& others = reads ? place.writes : place.reads;
    if (is_of_phase(others.key[0])) find_race(others, reads, key, instruction, lane);
}

void RaceCheck::access(std::uint32_t warp, std::size_t instruction,
                       const isa::MemoryAccess& access) {
    if (ended_ || access.space != isa::Space::shared || access.kind == isa::AccessKind::atomic)
        return;
    const bool reads = access.kind == isa::AccessKind::load;
    const std::uint32_t key = phase_ * warps + warp;
    const std::uint32_t shift = granule_ == 1 ? 0 : 2;
    // What lies beyond any group's memory is refused by the access itself.
    constexpr std::uint64_t most = std::uint64_t{1} << 20;
    // Many lanes read the same; where there is no race, the next one does nothing new.
    std::uint64_t done = 0;
    bool is_done = false;
    isa::each_of(access.active, [&](int lane) {
        const std::uint64_t address = access.addresses[lane];
        if (is_done && address == done) return;
        const std::uint64_t end = (address + access.bytes - 1) >> shift;
        if (end >= most) return;
        if (end >= places_.size()) places_.resize(end + 1, Place{});
        for (std::uint64_t at = address >> shift; at <= end; ++at)
            note(places_[at], reads, key, static_cast<std::uint32_t>(instruction), lane);
        done = address;
        is_done = races_.empty();
    });
}

std::string to_text(const Race& race, const isa::Kernel& kernel) {
    const auto place = [&](std::size_t instruction) {
        const auto address = static_cast<std::int64_t>(instruction * isa::instruction_bytes);
        const std::string line = isa::source_line(kernel, address);
        return line.empty() ? fmt::format("{:#06x}", address) : line;
    };
    const std::string reads = place(race.reads);
    std::string writes = place(race.writes);
    const std::size_t file = reads.rfind(':') + 1;
    if (file > 0 && writes.starts_with(reads.substr(0, file))) writes.erase(0, file);
    return fmt::format(
        "shared memory that one warp reads is written by another with no barrier in between ({} "
        "and {})",
        reads, writes);
}

}  // namespace occupipe::extract

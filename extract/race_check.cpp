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
           (one.opcode == "BAR" && one.has("ARV"));
}

}  // namespace

RaceCheck::RaceCheck(const std::vector<isa::Instruction>& code)
    : granule_(std::ranges::any_of(code, is_narrow) ? 1 : 4),
      watches_(std::ranges::none_of(code, orders_otherwise)) {}

void RaceCheck::begin() {
    ++phase_;
    ended_ = !watches_;
}

void RaceCheck::barrier(bool all) {
    ++phase_;
    ended_ = ended_ || !all;
}

void RaceCheck::add(Users& users, std::uint32_t warp, std::size_t instruction) const {
    if (users.phase != phase_) {
        users.phase = phase_;
        users.count = 0;
    } else if (users.warp[0] == warp || users.count == 2) {
        return;
    }
    users.warp[users.count] = warp;
    users.instruction[users.count] = static_cast<std::uint32_t>(instruction);
    ++users.count;
}

const std::uint32_t* RaceCheck::other(const Users& users, std::uint32_t warp) const {
    if (users.phase != phase_) return nullptr;
    for (std::size_t i = 0; i < users.count; ++i)
        if (users.warp[i] != warp) return &users.instruction[i];
    return nullptr;
}

void RaceCheck::access(std::uint32_t warp, std::size_t instruction,
                       const isa::MemoryAccess& access) {
    if (ended_ || access.space != isa::Space::shared || access.kind == isa::AccessKind::atomic)
        return;
    const bool reads = access.kind == isa::AccessKind::load;
    isa::each_of(access.active, [&](int lane) {
        const std::uint64_t begin = access.addresses[lane] / granule_;
        const std::uint64_t end = (access.addresses[lane] + access.bytes - 1) / granule_;
        // Beyond any group's memory: the access itself is refused.
        if (end >= std::uint64_t{1} << 20) return;
        if (end >= places_.size()) places_.resize(end + 1);
        for (std::uint64_t at = begin; at <= end; ++at) {
            Place& place = places_[at];
            add(reads ? place.reads : place.writes, warp, instruction);
            if (const std::uint32_t* found = other(reads ? place.writes : place.reads, warp))
                races_.insert(reads ? Race{instruction, *found} : Race{*found, instruction});
        }
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

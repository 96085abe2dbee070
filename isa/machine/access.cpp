// SPDX-License-Identifier: MIT
#include "isa/machine/access.h"

#include <fmt/format.h>

#include <bit>
#include <functional>

namespace occupipe::isa {
namespace {

std::string_view verb(AccessKind kind) {
    switch (kind) {
        case AccessKind::load:
            return "reads";
        case AccessKind::store:
            return "writes";
        case AccessKind::atomic:
            return "changes";
        case AccessKind::copy:
            return "copies";
    }
    return "";
}

// What an address is compared with: a buffer, or, where the buffer holds a module's variables, one
// of these.
struct Place {
    std::string name;  // "buffer 'x'"
    std::uint64_t address = 0, size = 0;

    std::string text() const {
        return fmt::format("{} ({} bytes from {:#x} on)", name, size, address);
    }
};

// The variable that begins last before the address, else the first.
Place place_near(const Launch& launch, const GlobalMemory::Buffer& buffer, std::uint64_t address) {
    Place place{"buffer '" + buffer.name + "'", buffer.address, buffer.size};
    bool found = false;
    for (const Symbol& one : launch.module->symbols()) {
        const std::uint64_t begin = one.space == Space::constant
                                        ? launch.module->bank_3_address() + one.address
                                        : one.address;
        if (begin < buffer.address || begin >= buffer.address + buffer.size) continue;
        const bool better =
            !found || (begin <= address && (begin > place.address || place.address > address)) ||
            (begin > address && place.address > address && begin < place.address);
        if (!better) continue;
        place = {"variable '" + one.name + "'", begin, one.size};
        found = true;
    }
    return place;
}

std::string global_text(const Launch& launch, std::uint64_t address) {
    const GlobalMemory& memory = *launch.memory;
    if (const std::string* const name = launch.module->foreign_function(address)) {
        return fmt::format("where the function '{}' of another file is taken to be", *name);
    }
    constexpr std::uint64_t first_page = 4096;
    if (address < first_page) return "at or next to a null pointer";
    const GlobalMemory::Buffer* const near = memory.nearest(address);
    if (!near) return "no buffer is there";
    const Place place = place_near(launch, *near, address);
    if (address < place.address) {
        return fmt::format("{} bytes before {}", place.address - address, place.text());
    }
    const std::uint64_t offset = address - place.address;
    if (offset < place.size) {
        return fmt::format("beyond the end of {}, which it begins in at byte {}", place.text(),
                           offset);
    }
    return fmt::format("{} bytes past the end of {}", offset - place.size, place.text());
}

bool tells_of_faults(const Group& group) {
    return group.options != nullptr && group.options->on_fault != nullptr;
}

ExecutionError unaligned(const Warp& warp, const Step& step, int lane, const Attempt& attempt,
                         std::uint64_t address) {
    return error_at(warp, step, lane,
                    fmt::format("{} {} bytes at {:#x}, which is not a multiple of {}",
                                verb(attempt.kind), attempt.bytes, address, attempt.bytes),
                    ExecutionError::Fault::misaligned, 0);
}

ExecutionError outside(const Warp& warp, const Step& step, int lane, const Attempt& attempt,
                       std::uint64_t address) {
    const Launch& launch = *warp.launch;
    if (attempt.space == Space::global)
        return error_at(warp, step, lane,
                        fmt::format("{} {} bytes at {:#x}, {}", verb(attempt.kind), attempt.bytes,
                                    address, global_text(launch, address)),
                        ExecutionError::Fault::outside, address);
    const bool shared = attempt.space == Space::shared;
    const std::uint64_t begin = shared ? launch.shared_base : 0;
    const std::uint64_t end = shared ? launch.shared_bytes : launch.local_bytes;
    return error_at(
        warp, step, lane,
        fmt::format("{} {} bytes at {:#x} of {} memory, which {}", verb(attempt.kind),
                    attempt.bytes, address, shared ? "the group's shared" : "its local",
                    begin == end ? std::string("there is none of")
                                 : fmt::format("reaches from {:#x} to {:#x}", begin, end)),
        ExecutionError::Fault::outside, 0);
}

// On the host; nullptr: the memory does not reach there.
std::byte* place_of(const Warp& warp, int lane, const Attempt& attempt, std::uint64_t address) {
    const Launch& launch = *warp.launch;
    if (attempt.space == Space::global) {
        const GlobalMemory::Buffer* const buffer = launch.memory->find(address, attempt.bytes);
        if (buffer == nullptr) return nullptr;
        warp.group->turn_to(*buffer, attempt.kind);
        return buffer->data + (address - buffer->address);
    }
    if (attempt.space == Space::shared) {
        const bool within =
            address >= launch.shared_base && address + attempt.bytes <= launch.shared_bytes;
        return within ? warp.group->shared.data() + address : nullptr;
    }
    if (address + attempt.bytes > launch.local_bytes) return nullptr;
    return warp.local + std::size_t{launch.local_bytes} * static_cast<std::size_t>(lane) + address;
}

}  // namespace

void tell_observer(Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                   const Addresses& addresses) {
    const MemoryAccess access{.space = attempt.space,
                              .kind = attempt.kind,
                              .bytes = attempt.bytes,
                              .active = active,
                              .addresses = addresses.v.data()};
    const auto instruction = static_cast<std::size_t>(&step - warp.launch->steps.data());
    warp.group->untold.tell(*warp.group);
    warp.group->observer->access(warp.number, instruction, access);
}

void translate_unaligned(Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                         Addresses& addresses) {
    if (tells_of_faults(*warp.group)) {
        translate_by_lane(warp, step, active, attempt, addresses);
        return;
    }
    int lane = std::countr_zero(active);
    each_of(active, [&](int one) {
        const bool found = addresses[lane] % attempt.bytes != 0;
        if (!found && addresses[one] % attempt.bytes != 0) lane = one;
    });
    throw unaligned(warp, step, lane, attempt, addresses[lane]);
}

void translate_by_lane(Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                       Addresses& addresses) {
    Group& group = *warp.group;
    const bool tells_of_behind = attempt.space == Space::global && group.options != nullptr &&
                                 group.options->on_behind != nullptr;
    Mask faults = 0, behind = 0;
    std::function<ExecutionError()> first, first_behind;
    each_of(active, [&](int lane) {
        const std::uint64_t address = addresses[lane];
        const bool aligned = address % attempt.bytes == 0;
        std::byte* const place = aligned ? place_of(warp, lane, attempt, address) : nullptr;
        if (place != nullptr) {
            addresses[lane] = reinterpret_cast<std::uint64_t>(place);
            return;
        }
        if (const GlobalMemory::Buffer* const before =
                aligned && tells_of_behind
                    ? warp.launch->memory->in_last_unit(address, attempt.bytes)
                    : nullptr) {
            if (behind == 0)
                first_behind = [&warp, &step, &attempt, lane, address] {
                    return outside(warp, step, lane, attempt, address);
                };
            behind |= Mask{1} << lane;
            group.turn_to(*before, attempt.kind);
            addresses[lane] =
                reinterpret_cast<std::uint64_t>(before->data) + (address - before->address);
            return;
        }
        if (faults == 0) {
            first = [&warp, &step, &attempt, lane, address, aligned] {
                return aligned ? outside(warp, step, lane, attempt, address)
                               : unaligned(warp, step, lane, attempt, address);
            };
            if (!tells_of_faults(group)) throw first();
        }
        faults |= Mask{1} << lane;
        Group::LeftOut& left_out =
            group.left_out[attempt.space == Space::global ? 0 : 1][static_cast<std::size_t>(lane)];
        left_out = {};
        addresses[lane] = reinterpret_cast<std::uint64_t>(left_out.bytes.data());
    });
    fill_inactive(active, addresses);
    const auto instruction = static_cast<std::size_t>(&step - warp.launch->steps.data());
    const auto count = [](Mask lanes) { return static_cast<std::uint32_t>(std::popcount(lanes)); };
    if (behind != 0) group.options->on_behind(instruction, count(behind), first_behind);
    if (faults != 0) group.options->on_fault(instruction, count(faults), first);
}

}  // namespace occupipe::isa

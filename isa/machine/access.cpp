// SPDX-License-Identifier: MIT
#include "isa/machine/access.h"

#include <fmt/format.h>

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
    return fmt::format("{} bytes behind the end of {}", offset - place.size, place.text());
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
    warp.group->observer->access(warp.number, instruction, access);
}

void fail_unaligned(const Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                    const Addresses& addresses) {
    int lane = std::countr_zero(active);
    each_of(active, [&](int one) {
        const bool found = addresses[lane] % attempt.bytes != 0;
        if (!found && addresses[one] % attempt.bytes != 0) lane = one;
    });
    fail(warp, step, lane,
         fmt::format("{} {} bytes at {:#x}, which is not a multiple of {}", verb(attempt.kind),
                     attempt.bytes, addresses[lane], attempt.bytes),
         ExecutionError::Fault::misaligned);
}

void fail_outside(const Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                  const Addresses& addresses) {
    const Launch& launch = *warp.launch;
    const bool shared = attempt.space == Space::shared;
    const std::uint64_t begin = shared ? launch.shared_base : 0;
    const std::uint64_t end = shared ? launch.shared_bytes : launch.local_bytes;
    int lane = -1;
    each_of(active, [&](int one) {
        const std::uint64_t address = addresses[one];
        if (lane < 0 && (address < begin || address + attempt.bytes > end)) lane = one;
    });
    if (lane < 0) lane = std::countr_zero(active);
    fail(warp, step, lane,
         fmt::format("{} {} bytes at {:#x} of {} memory, which {}", verb(attempt.kind),
                     attempt.bytes, addresses[lane], shared ? "the group's shared" : "its local",
                     begin == end ? std::string("there is none of")
                                  : fmt::format("reaches from {:#x} to {:#x}", begin, end)),
         ExecutionError::Fault::outside);
}

void translate_by_lane(Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                       Addresses& addresses) {
    const GlobalMemory& memory = *warp.launch->memory;
    each_of(active, [&](int lane) {
        const std::uint64_t address = addresses[lane];
        const GlobalMemory::Buffer* const buffer = memory.find(address, attempt.bytes);
        if (!buffer) {
            fail(warp, step, lane,
                 fmt::format("{} {} bytes at {:#x}, {}", verb(attempt.kind), attempt.bytes, address,
                             global_text(*warp.launch, address)),
                 ExecutionError::Fault::outside, address);
        }
        addresses[lane] =
            reinterpret_cast<std::uint64_t>(buffer->data) + (address - buffer->address);
    });
    fill_inactive(active, addresses);
}

}  // namespace occupipe::isa

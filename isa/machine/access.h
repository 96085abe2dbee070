// SPDX-License-Identifier: MIT
// From an instruction's operands to bytes on the host: addresses, bounds, alignment.
#pragma once

#include <array>
#include <cstdint>

#include "isa/machine/launch.h"

namespace occupipe::isa {

// By lane. Lanes that are not active hold what the first active one does, so that loops need no
// mask.
struct alignas(64) Addresses {
    std::array<std::uint64_t, lane_count> v;

    std::uint64_t& operator[](int lane) { return v[static_cast<std::size_t>(lane)]; }
    std::uint64_t operator[](int lane) const { return v[static_cast<std::size_t>(lane)]; }
};

// An access that is tried: what an error says of it, and what an observer is told.
struct Attempt {
    Space space = Space::global;
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 0;  // per lane
};

// Slow paths, access.cpp: lanes at fault end the execution, or they are told and left out.
void translate_by_lane(Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                       Addresses& addresses);
void translate_unaligned(Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                         Addresses& addresses);
void tell_observer(Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                   const Addresses& addresses);

OCCUPIPE_INLINE void fill_inactive(Mask active, Addresses& addresses) {
    if (active == all_lanes) return;
    const std::uint64_t first = addresses[std::countr_zero(active)];
    each_lane([&](int i) { addresses[i] = (active & lane_bits[i]) != 0 ? addresses[i] : first; });
}

// 64 bits: global and generic memory.
OCCUPIPE_INLINE void wide_addresses(const Warp& warp, const AddressSource& source, Mask active,
                                    Addresses& addresses) {
    const Lanes* const base = warp.registers + source.base;
    std::uint64_t common = static_cast<std::uint64_t>(source.offset);
    if (source.has_uniform) {
        const Lanes* const uniform = warp.registers + source.uniform;
        common += source.wide_uniform ? pair(uniform, 0) : uniform[0][0];
    }
    if (source.wide_base) {
        each_lane([&](int i) { addresses[i] = pair(base, i) + common; });
    } else {
        each_lane([&](int i) { addresses[i] = base[0][i] + common; });
    }
    fill_inactive(active, addresses);
}

// 32 bits: shared and local memory.
OCCUPIPE_INLINE void narrow_addresses(const Warp& warp, const AddressSource& source, Mask active,
                                      Addresses& addresses) {
    const Lanes& base = warp.registers[source.base];
    std::uint32_t common = static_cast<std::uint32_t>(source.offset);
    if (source.has_uniform) common += warp.registers[source.uniform][0];
    const std::uint32_t scale = source.scale;
    each_lane([&](int i) { addresses[i] = std::uint32_t{base[i] * scale + common}; });
    fill_inactive(active, addresses);
}

OCCUPIPE_INLINE bool all_within(const Addresses& addresses, std::uint64_t begin,
                                std::uint64_t limit) {
    std::uint64_t outside = 0;
    each_lane([&](int i) { outside |= addresses[i] - begin > limit ? 1 : 0; });
    return outside == 0;
}

// Turns addresses into places on the host, after checks; errors name the first lane at fault.
OCCUPIPE_INLINE void translate(Warp& warp, const Step& step, Mask active, const Attempt& attempt,
                               Addresses& addresses) {
    Group& group = *warp.group;
    if (group.observer) tell_observer(warp, step, active, attempt, addresses);
    if (attempt.kind == AccessKind::store || attempt.kind == AccessKind::copy) {
        group.memory_changed = true;
    }
    if (attempt.bytes > 1) {
        std::uint64_t any = 0;
        each_lane([&](int i) { any |= addresses[i]; });
        if ((any & (attempt.bytes - 1)) != 0) {
            translate_unaligned(warp, step, active, attempt, addresses);
            return;
        }
    }
    if (attempt.space == Space::global) {
        const GlobalMemory::Buffer* buffer = group.recent[static_cast<std::size_t>(attempt.kind)];
        if (!buffer || buffer->size < attempt.bytes ||
            !all_within(addresses, buffer->address, buffer->size - attempt.bytes)) {
            buffer = warp.launch->memory->find(addresses[0], attempt.bytes);
            if (!buffer || !all_within(addresses, buffer->address, buffer->size - attempt.bytes)) {
                translate_by_lane(warp, step, active, attempt, addresses);
                return;
            }
            group.turn_to(*buffer, attempt.kind);
        }
        const std::uint64_t shift = reinterpret_cast<std::uint64_t>(buffer->data) - buffer->address;
        each_lane([&](int i) { addresses[i] += shift; });
        return;
    }
    const Launch& launch = *warp.launch;
    if (attempt.space == Space::shared) {
        const std::uint64_t room = launch.shared_bytes - launch.shared_base;
        if (room < attempt.bytes ||
            !all_within(addresses, launch.shared_base, room - attempt.bytes)) {
            translate_by_lane(warp, step, active, attempt, addresses);
            return;
        }
        const auto data = reinterpret_cast<std::uint64_t>(group.shared.data());
        each_lane([&](int i) { addresses[i] += data; });
        return;
    }
    if (!all_within(addresses, 0, launch.local_bytes - attempt.bytes)) {
        translate_by_lane(warp, step, active, attempt, addresses);
        return;
    }
    const auto data = reinterpret_cast<std::uint64_t>(warp.local);
    const std::uint64_t stride = launch.local_bytes;
    each_lane([&](int i) { addresses[i] += data + stride * static_cast<std::uint64_t>(i); });
}

// Generic addresses: calls use(Space, lanes, addresses) for each memory that lanes of `active`
// mean.
template <typename Use>
OCCUPIPE_INLINE void by_space(Mask active, const Addresses& generic, Use use) {
    Mask shared = 0, local = 0;
    each_of(active, [&](int lane) {
        const auto window = static_cast<std::uint32_t>(generic[lane] >> 32);
        if (window == shared_window) shared |= Mask{1} << lane;
        if (window == local_window) local |= Mask{1} << lane;
    });
    const auto part = [&](Space space, Mask lanes) {
        if (lanes == 0) return;
        Addresses addresses = generic;
        if (space != Space::global) {
            each_lane([&](int i) { addresses[i] &= 0xffffffff; });
        }
        fill_inactive(lanes, addresses);
        use(space, lanes, addresses);
    };
    part(Space::global, active & ~shared & ~local);
    part(Space::shared, shared);
    part(Space::local, local);
}

template <typename T>
OCCUPIPE_INLINE T* at(const Addresses& hosts, int lane) {
    return reinterpret_cast<T*>(hosts[lane]);
}

}  // namespace occupipe::isa

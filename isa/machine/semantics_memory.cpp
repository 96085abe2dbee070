// SPDX-License-Identifier: MIT
// Loads and stores: global, generic, shared, local and constant memory.
#include <fmt/format.h>

#include <cstring>

#include "isa/machine/access.h"
#include "isa/machine/semantics.h"

namespace occupipe::isa {
namespace {

enum class Size : std::uint8_t { u8, s8, u16, s16, b32, b64, b128 };

constexpr std::uint32_t bytes_of(Size size) {
    switch (size) {
        case Size::u8:
        case Size::s8:
            return 1;
        case Size::u16:
        case Size::s16:
            return 2;
        case Size::b32:
            return 4;
        case Size::b64:
            return 8;
        case Size::b128:
            return 16;
    }
    return 0;
}

Size size_of(const Instruction& one) {
    if (one.has("U8")) return Size::u8;
    if (one.has("S8")) return Size::s8;
    if (one.has("U16")) return Size::u16;
    if (one.has("S16")) return Size::s16;
    if (one.has("64")) return Size::b64;
    if (one.has("128")) return Size::b128;
    return Size::b32;
}

template <Size size>
OCCUPIPE_INLINE std::uint32_t load_one(const Addresses& hosts, int lane) {
    switch (size) {
        case Size::u8:
            return *at<std::uint8_t>(hosts, lane);
        case Size::s8:
            return static_cast<std::uint32_t>(std::int32_t{*at<std::int8_t>(hosts, lane)});
        case Size::u16:
            return *at<std::uint16_t>(hosts, lane);
        case Size::s16:
            return static_cast<std::uint32_t>(std::int32_t{*at<std::int16_t>(hosts, lane)});
        default:
            return *at<std::uint32_t>(hosts, lane);
    }
}

// Whether lane i's bytes follow lane i - 1's, for all lanes.
OCCUPIPE_INLINE bool in_a_row(const Addresses& hosts, std::uint32_t bytes) {
    std::uint64_t other = 0;
    const std::uint64_t first = hosts[0];
    each_lane(
        [&](int i) { other |= (hosts[i] - first) ^ (static_cast<std::uint64_t>(i) * bytes); });
    return other == 0;
}

template <Size size>
OCCUPIPE_INLINE void load(Lanes* into, Mask active, const Addresses& hosts) {
    constexpr std::uint32_t words = bytes_of(size) < 4 ? 1 : bytes_of(size) / 4;
    if (active == all_lanes && words == 1 && size == Size::b32 && in_a_row(hosts, 4)) {
        std::memcpy(into->v.data(), at<std::uint32_t>(hosts, 0), sizeof(Lanes));
        return;
    }
    if (active == all_lanes) {
        for (int lane = 0; lane < lane_count; ++lane) {
            into[0][lane] = load_one<size>(hosts, lane);
            for (std::uint32_t w = 1; w < words; ++w) {
                into[w][lane] = at<std::uint32_t>(hosts, lane)[w];
            }
        }
        return;
    }
    each_of(active, [&](int lane) {
        into[0][lane] = load_one<size>(hosts, lane);
        for (std::uint32_t w = 1; w < words; ++w) into[w][lane] = at<std::uint32_t>(hosts, lane)[w];
    });
}

template <Size size>
OCCUPIPE_INLINE void store(const Lanes* from, Mask active, const Addresses& hosts) {
    constexpr std::uint32_t words = bytes_of(size) < 4 ? 1 : bytes_of(size) / 4;
    if (active == all_lanes && size == Size::b32 && in_a_row(hosts, 4)) {
        std::memcpy(at<std::uint32_t>(hosts, 0), from->v.data(), sizeof(Lanes));
        return;
    }
    each_of(active, [&](int lane) {
        if constexpr (bytes_of(size) == 1) {
            *at<std::uint8_t>(hosts, lane) = static_cast<std::uint8_t>(from[0][lane]);
        } else if constexpr (bytes_of(size) == 2) {
            *at<std::uint16_t>(hosts, lane) = static_cast<std::uint16_t>(from[0][lane]);
        } else {
            for (std::uint32_t w = 0; w < words; ++w)
                at<std::uint32_t>(hosts, lane)[w] = from[w][lane];
        }
    });
}

enum class Where : std::uint8_t { global, shared, local, generic };

constexpr Space space_of(Where where) {
    return where == Where::shared  ? Space::shared
           : where == Where::local ? Space::local
                                   : Space::global;
}

template <Where where>
OCCUPIPE_INLINE void find_addresses(const Warp& warp, const AddressSource& source, Mask active,
                                    Addresses& addresses) {
    if constexpr (where == Where::shared || where == Where::local) {
        narrow_addresses(warp, source, active, addresses);
    } else {
        wide_addresses(warp, source, active, addresses);
    }
}

template <Where where, Size size>
struct Load {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Addresses addresses;
        find_addresses<where>(warp, step.address, active, addresses);
        Lanes* const into = &destination(warp, step);
        if constexpr (where == Where::generic) {
            by_space(active, addresses, [&](Space space, Mask lanes, Addresses& some) {
                translate(warp, step, lanes,
                          {.space = space, .kind = AccessKind::load, .bytes = bytes_of(size)},
                          some);
                load<size>(into, lanes, some);
            });
        } else {
            translate(warp, step, active,
                      {.space = space_of(where), .kind = AccessKind::load, .bytes = bytes_of(size)},
                      addresses);
            load<size>(into, active, addresses);
        }
    }
};

template <Where where, Size size>
struct Store {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Addresses addresses;
        find_addresses<where>(warp, step.address, active, addresses);
        const Lanes* const from = raw(warp, step, 0);
        if constexpr (where == Where::generic) {
            by_space(active, addresses, [&](Space space, Mask lanes, Addresses& some) {
                translate(warp, step, lanes,
                          {.space = space, .kind = AccessKind::store, .bytes = bytes_of(size)},
                          some);
                store<size>(from, lanes, some);
            });
        } else {
            translate(
                warp, step, active,
                {.space = space_of(where), .kind = AccessKind::store, .bytes = bytes_of(size)},
                addresses);
            store<size>(from, active, addresses);
        }
    }
};

template <template <Where, Size> typename Op, Where where>
Handler by_size(Size size) {
    switch (size) {
        case Size::u8:
            return handler_of<Op<where, Size::u8>>();
        case Size::s8:
            return handler_of<Op<where, Size::s8>>();
        case Size::u16:
            return handler_of<Op<where, Size::u16>>();
        case Size::s16:
            return handler_of<Op<where, Size::s16>>();
        case Size::b32:
            return handler_of<Op<where, Size::b32>>();
        case Size::b64:
            return handler_of<Op<where, Size::b64>>();
        case Size::b128:
            return handler_of<Op<where, Size::b128>>();
    }
    return nullptr;
}

template <template <Where, Size> typename Op, Where where>
Handler bind_access(const Instruction& one, int, Step&, std::string& why_not) {
    if ((where == Where::global || where == Where::generic) && !one.has("E")) {
        why_not = "an address of 32 bits";
        return nullptr;
    }
    return by_size<Op, where>(size_of(one));
}

// Constant memory at an address that is known when it is reached.
template <Size size>
struct LoadConstant {
    static void run(Warp& warp, const Step& step, Mask active) {
        const Launch& launch = *warp.launch;
        const std::span<const std::byte> bytes = launch.banks[step.option[0]];
        const Lanes& base = warp.registers[step.address.base];
        Lanes* const into = &destination(warp, step);
        constexpr std::uint32_t length = bytes_of(size);
        const auto offset = static_cast<std::uint32_t>(step.address.offset);
        if (GroupObserver* const observer = warp.group->observer; observer) {
            Addresses addresses;
            each_lane([&](int i) { addresses[i] = std::uint32_t{base[i] + offset}; });
            tell_observer(warp, step, active,
                          {.space = Space::constant, .kind = AccessKind::load, .bytes = length},
                          addresses);
        }
        const auto word = [&](int lane, std::uint32_t* words) {
            const std::uint32_t at = base[lane] + offset;
            if (at > bytes.size() || bytes.size() - at < length ||
                (step.option[0] == 0 && !launch.bank_0->known(at, length))) {
                fail(warp, step, lane,
                     fmt::format("reads {} bytes at c[{:#x}][{:#x}]; nothing is known to be there",
                                 length, step.option[0], at));
            }
            if (at % length != 0) {
                fail(warp, step, lane,
                     fmt::format("reads {} bytes at c[{:#x}][{:#x}], which is not a multiple of {}",
                                 length, step.option[0], at, length));
            }
            words[0] = 0;
            std::memcpy(words, bytes.data() + at, length);
            const std::uint32_t sign = size == Size::s8 ? 0x80 : size == Size::s16 ? 0x8000 : 0;
            words[0] = (words[0] ^ sign) - sign;
        };
        constexpr std::size_t count = length < 4 ? 1 : length / 4;
        std::array<std::uint32_t, 4> words{};
        const Mask mask = written(step, active);
        if (!step.address.has_base || step.uniform) {
            word(std::countr_zero(active), words.data());
            for (std::size_t w = 0; w < count; ++w) {
                const std::uint32_t value = words[w];
                assign(into[w], mask, [&](int) { return value; });
            }
            return;
        }
        each_of(mask, [&](int lane) {
            word(lane, words.data());
            for (std::size_t w = 0; w < count; ++w) into[w][lane] = words[w];
        });
    }
};

Handler bind_constant(const Instruction& one, int, Step&, std::string&) {
    switch (size_of(one)) {
        case Size::u8:
            return handler_of<LoadConstant<Size::u8>>();
        case Size::s8:
            return handler_of<LoadConstant<Size::s8>>();
        case Size::u16:
            return handler_of<LoadConstant<Size::u16>>();
        case Size::s16:
            return handler_of<LoadConstant<Size::s16>>();
        case Size::b32:
            return handler_of<LoadConstant<Size::b32>>();
        case Size::b64:
            return handler_of<LoadConstant<Size::b64>>();
        case Size::b128:
            return handler_of<LoadConstant<Size::b128>>();
    }
    return nullptr;
}

// From global to shared memory; done at once, which a kernel that waits as it should cannot tell.
// Where the predicate does not hold, zeros are written. With .ZFILL the place within the unit at
// which the source begins says how many bytes at its end are zeros instead.
template <Size size>
struct Copy {
    static void run(Warp& warp, const Step& step, Mask active) {
        constexpr std::uint32_t length = bytes_of(size);
        Addresses to;
        narrow_addresses(warp, step.address, active, to);
        translate(warp, step, active,
                  {.space = Space::shared, .kind = AccessKind::copy, .bytes = length}, to);
        const Mask zeros = active & ~predicate(warp, step, 0);
        each_of(zeros, [&](int lane) { std::memset(at<std::byte>(to, lane), 0, length); });
        const Mask copies = active & ~zeros;
        if (copies == 0) return;
        Addresses from, zeros_behind;
        wide_addresses(warp, step.address_2, copies, from);
        const std::uint64_t within = step.option[0] != 0 ? length - 1 : 0;
        each_lane([&](int i) {
            zeros_behind[i] = from[i] & within;
            from[i] &= ~within;
        });
        translate(warp, step, copies,
                  {.space = Space::global, .kind = AccessKind::copy, .bytes = length}, from);
        each_of(copies, [&](int lane) {
            const std::size_t kept = length - zeros_behind[lane];
            std::memcpy(at<std::byte>(to, lane), at<std::byte>(from, lane), kept);
            std::memset(at<std::byte>(to, lane) + kept, 0, zeros_behind[lane]);
        });
    }
};

Handler bind_copy(const Instruction& one, int, Step& step, std::string& why_not) {
    step.option[0] = one.has("ZFILL") ? 1 : 0;
    switch (size_of(one)) {
        case Size::b32:
            return handler_of<Copy<Size::b32>>();
        case Size::b64:
            return handler_of<Copy<Size::b64>>();
        case Size::b128:
            return handler_of<Copy<Size::b128>>();
        default:
            why_not = "of this size";
            return nullptr;
    }
}

using Block = std::array<std::array<std::uint16_t, 8>, 8>;

OCCUPIPE_INLINE Block across(const Block& block) {
    Block other;
    for (std::size_t row = 0; row < 8; ++row) {
        for (std::size_t column = 0; column < 8; ++column) other[row][column] = block[column][row];
    }
    return other;
}

// Matrices of 8 x 8 elements of 16 bits: lanes 8 m to 8 m + 7 say where the rows of matrix m begin;
// lane 4 r + c gets elements 2 c and 2 c + 1 of row r, or, transposed, of column r.
template <int matrices, bool transposed>
struct LoadMatrix {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        if (active != warp.active || active != all_lanes) {
            fail(warp, step, -1, "all lanes of the warp have to run together here");
        }
        constexpr Mask given = matrices == 4 ? all_lanes : (Mask{1} << 8 * (matrices % 4)) - 1;
        Addresses rows;
        narrow_addresses(warp, step.address, given, rows);
        translate(warp, step, given,
                  {.space = Space::shared, .kind = AccessKind::load, .bytes = 16}, rows);
        Lanes* const into = &destination(warp, step);
        for (int m = 0; m < matrices; ++m) {
            Block block;
            for (int row = 0; row < 8; ++row) {
                std::memcpy(&block[static_cast<std::size_t>(row)], at<std::byte>(rows, 8 * m + row),
                            16);
            }
            if constexpr (transposed) block = across(block);
            // Four lanes to a row, two elements to a lane.
            static_assert(sizeof block == sizeof(Lanes));
            std::memcpy(&into[m], &block, sizeof block);
        }
    }
};

Handler bind_load_matrix(const Instruction& one, int, Step&, std::string&) {
    const bool transposed = one.has("MT88");
    if (one.has("4")) {
        return transposed ? handler_of<LoadMatrix<4, true>>() : handler_of<LoadMatrix<4, false>>();
    }
    if (one.has("2")) {
        return transposed ? handler_of<LoadMatrix<2, true>>() : handler_of<LoadMatrix<2, false>>();
    }
    return transposed ? handler_of<LoadMatrix<1, true>>() : handler_of<LoadMatrix<1, false>>();
}

// The other way round (PTX, stmatrix): what lane 4 r + c holds are elements 2 c and 2 c + 1 of row
// r, or, transposed, of column r.
template <int matrices, bool transposed>
struct StoreMatrix {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        if (active != warp.active || active != all_lanes) {
            fail(warp, step, -1, "all lanes of the warp have to run together here");
        }
        constexpr Mask given = matrices == 4 ? all_lanes : (Mask{1} << 8 * (matrices % 4)) - 1;
        Addresses rows;
        narrow_addresses(warp, step.address, given, rows);
        translate(warp, step, given,
                  {.space = Space::shared, .kind = AccessKind::store, .bytes = 16}, rows);
        const Lanes* const from = raw(warp, step, 0);
        for (int m = 0; m < matrices; ++m) {
            Block block;
            static_assert(sizeof block == sizeof(Lanes));
            std::memcpy(&block, &from[m], sizeof block);
            if constexpr (transposed) block = across(block);
            for (int row = 0; row < 8; ++row) {
                std::memcpy(at<std::byte>(rows, 8 * m + row), &block[static_cast<std::size_t>(row)],
                            16);
            }
        }
    }
};

Handler bind_store_matrix(const Instruction& one, int, Step&, std::string&) {
    const bool transposed = one.has("MT88");
    if (one.has("4")) {
        return transposed ? handler_of<StoreMatrix<4, true>>()
                          : handler_of<StoreMatrix<4, false>>();
    }
    if (one.has("2")) {
        return transposed ? handler_of<StoreMatrix<2, true>>()
                          : handler_of<StoreMatrix<2, false>>();
    }
    return transposed ? handler_of<StoreMatrix<1, true>>() : handler_of<StoreMatrix<1, false>>();
}

// A matrix that the lanes hold, transposed (PTX, movmatrix).
struct TransposeMatrix {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        if (active != warp.active || active != all_lanes) {
            fail(warp, step, -1, "all lanes of the warp have to run together here");
        }
        Block block;
        std::memcpy(&block, raw(warp, step, 0), sizeof block);
        block = across(block);
        std::memcpy(&destination(warp, step), &block, sizeof block);
    }
};

Handler bind_transpose(const Instruction&, int, Step&, std::string&) {
    return handler_of<TransposeMatrix>();
}

// Whether a generic address lies in shared memory.
struct QuerySpace {
    static void run(Warp& warp, const Step& step, Mask active) {
        Addresses addresses;
        wide_addresses(warp, step.address, active, addresses);
        Mask shared = 0, local = 0;
        each_of(active, [&](int lane) {
            if (addresses[lane] >> 32 == shared_window) shared |= Mask{1} << lane;
            if (addresses[lane] >> 32 == local_window) local |= Mask{1} << lane;
        });
        const auto asked = static_cast<Space>(step.option[0]);
        set_predicate(warp, step, 0, active,
                      asked == Space::shared  ? shared
                      : asked == Space::local ? local
                                              : active & ~(shared | local));
    }
};

Handler bind_query_space(const Instruction& one, int, Step& step, std::string& why_not) {
    if (!step.destination_is_zero) {
        why_not = "with a register written";
        return nullptr;
    }
    // .D, shared memory of any group of a cluster: without clusters there is the group's own alone.
    step.option[0] = static_cast<std::uint8_t>(one.has("S") || one.has("D") ? Space::shared
                                               : one.has("L")               ? Space::local
                                                                            : Space::global);
    return handler_of<QuerySpace>();
}

constexpr Semantics table[] = {
    {"LDSM", &bind_load_matrix},
    {"STSM", &bind_store_matrix},
    {"MOVM", &bind_transpose},
    {"QSPC", &bind_query_space},
    {"LDG", &bind_access<Load, Where::global>},
    {"STG", &bind_access<Store, Where::global>},
    {"LDS", &bind_access<Load, Where::shared>},
    {"STS", &bind_access<Store, Where::shared>},
    {"LDL", &bind_access<Load, Where::local>},
    {"STL", &bind_access<Store, Where::local>},
    {"LD", &bind_access<Load, Where::generic>},
    {"ST", &bind_access<Store, Where::generic>},
    {"LDC", &bind_constant},
    {"ULDC", &bind_constant},
    {"LDCU", &bind_constant},
    {"LDGSTS", &bind_copy},
};

}  // namespace

std::span<const Semantics> memory_semantics() { return table; }

}  // namespace occupipe::isa

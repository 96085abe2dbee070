// SPDX-License-Identifier: MIT
#include "extract/launch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace occupipe::extract {
namespace {

using isa::AccessKind;
using isa::Instruction;
using isa::Space;

constexpr std::uint64_t most_groups = std::uint64_t{1} << 31;

// Its order among groups is the kernel's own.
bool is_fence_of_groups(const Instruction& one) {
    return one.opcode == "MEMBAR" && (one.has("GPU") || one.has("SYS"));
}

bool accesses_less_than_a_word(const Instruction& one) {
    const bool global =
        one.opcode == "LDG" || one.opcode == "STG" || one.opcode == "LD" || one.opcode == "ST";
    return global && (one.has("U8") || one.has("S8") || one.has("U16") || one.has("S16"));
}

// Volatile accesses and those of memory orders.
bool is_ordered(const Instruction& one) { return one.has("STRONG") || one.has("MMIO"); }

// Exchanges overwrite, and so do barriers that are made; a copy that fills up with zeros need not
// read all.
bool reads_value(const Instruction& one) { return !one.has("EXCH") && !one.has("ZFILL"); }

std::uint64_t groups_of(const isa::LaunchShape& shape) {
    return std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
}

std::array<std::uint32_t, 3> place_in(const std::array<std::uint32_t, 3>& size,
                                      std::uint64_t number) {
    return {static_cast<std::uint32_t>(number % size[0]),
            static_cast<std::uint32_t>(number / size[0] % size[1]),
            static_cast<std::uint32_t>(number / size[0] / size[1])};
}

}  // namespace

class LaunchCheck::Group : public isa::GroupObserver {
public:
    explicit Group(LaunchCheck& of) : of_(of), races_(of.race_check_) {}

    void begin(std::uint64_t group) {
        group_ = group;
        shared_written_.clear(0, shared_end_);
        shared_end_ = 0;
        races_.begin();
    }

    void end() {
        look_at_writes();
        for (const auto& [race, seen] : races_.races()) {
            const std::size_t own = seen.reads ? race.reads : race.writes;
            const std::size_t other = seen.reads ? race.writes : race.reads;
            of_.report(
                Defect::race_shared, own, other, {group_, seen.warp, seen.lane}, seen.count,
                [&, reads = seen.reads] {
                    return fmt::format(
                        "{} shared memory that another warp {}{}, with no barrier in between",
                        reads ? "reads" : "writes", reads ? "writes" : "reads", of_.at_line(other));
                });
        }
        races_.forget_races();
    }

    void steps(std::uint32_t, std::span<const isa::Executed>) override {
        if (!writes_.empty()) look_at_writes();
    }

    void barrier(bool all) override { races_.barrier(all); }

    void access(std::uint32_t warp, std::size_t instruction,
                const isa::MemoryAccess& access) override {
        if (access.space == Space::global)
            global(warp, instruction, access);
        else if (access.space == Space::shared)
            shared(warp, instruction, access);
    }

private:
    // Calls use(begin, end, lane) for bytes that lanes access in a row.
    template <typename Use>
    static void each_stretch(const isa::MemoryAccess& access, Use use) {
        std::uint64_t begin = 0, end = 0;
        int first = -1;
        isa::each_of(access.active, [&](int lane) {
            const std::uint64_t address = access.addresses[lane];
            if (first >= 0 && address == end) {
                end += access.bytes;
                return;
            }
            if (first >= 0 && address >= begin && address + access.bytes <= end) return;
            if (first >= 0) use(begin, end, first);
            first = lane;
            begin = address;
            end = address + access.bytes;
        });
        if (first >= 0) use(begin, end, first);
    }

    template <typename Holds>
    static isa::Mask lanes_where(const isa::MemoryAccess& access, Holds holds) {
        isa::Mask lanes = 0;
        isa::each_of(access.active, [&](int lane) {
            if (holds(access.addresses[lane])) lanes |= isa::Mask{1} << lane;
        });
        return lanes;
    }

    // As each_stretch, where a buffer holds it; lane by lane where none holds all of a row.
    template <typename Use>
    void each_in_buffers(const isa::MemoryAccess& access, Use use) {
        each_stretch(access, [&](std::uint64_t begin, std::uint64_t end, int) {
            if (BufferShadow* const in = buffer_at(begin, end - begin)) {
                use(*in, begin, end);
                return;
            }
            isa::each_of(access.active, [&](int lane) {
                const std::uint64_t address = access.addresses[lane];
                if (address < begin || address + access.bytes > end) return;
                BufferShadow* const in = buffer_at(address, access.bytes);
                if (in != nullptr) use(*in, address, address + access.bytes);
            });
        });
    }

    BufferShadow* buffer_at(std::uint64_t address, std::uint64_t size) {
        if (recent_ != nullptr && recent_->holds(address, size)) return recent_;
        BufferShadow* const found = of_.shadow_.find(address, size);
        if (found != nullptr) recent_ = found;
        return found;
    }

    void global(std::uint32_t warp, std::size_t instruction, const isa::MemoryAccess& access) {
        const bool atomic = access.kind == AccessKind::atomic;
        const bool writes = access.kind == AccessKind::store;
        if (!writes && of_.reads_value_[instruction]) check_written(warp, instruction, access);
        if (writes || atomic) {
            each_in_buffers(access, [](BufferShadow& in, std::uint64_t begin, std::uint64_t end) {
                if (!in.all_written)
                    in.written.set(begin - in.buffer->address, end - in.buffer->address);
            });
        }
        if (!of_.global_races_ || atomic || of_.is_ordered_[instruction]) return;
        if (writes)
            write(warp, instruction, access);
        else
            read(warp, instruction, access);
    }

    void check_written(std::uint32_t warp, std::size_t instruction,
                       const isa::MemoryAccess& access) {
        bool all = true;
        each_in_buffers(access, [&](BufferShadow& in, std::uint64_t begin, std::uint64_t end) {
            if (in.all_written) return;
            all = all && in.written.all(begin - in.buffer->address, end - in.buffer->address);
        });
        if (all) return;
        // Of a wide access or a structure, some bytes may be nobody's.
        const isa::Mask lanes = lanes_where(access, [&](std::uint64_t address) {
            return !of_.shadow_.is_any_written(address, access.bytes);
        });
        report(Defect::unwritten_global, instruction, warp, lanes, [&](int lane) {
            return fmt::format("reads {} bytes at {:#x}, which nothing has written{}", access.bytes,
                               access.addresses[lane], place_text(access.addresses[lane]));
        });
    }

    // "byte 16 of buffer 'cudaMalloc 1' (4000 bytes from 0x700000000000 on)"
    std::string place_text(std::uint64_t address) {
        const BufferShadow* const in = buffer_at(address, 1);
        if (in == nullptr) return {};
        return fmt::format(": byte {} of buffer '{}' ({} bytes from {:#x} on)",
                           address - in->buffer->address, in->buffer->name, in->buffer->size,
                           in->buffer->address);
    }

    struct Granules {
        std::uint64_t begin, end;
    };
    Granules granules(const BufferShadow& in, std::uint64_t begin, std::uint64_t end) const {
        const std::uint32_t granule = of_.shadow_.granule();
        return {(begin - in.buffer->address) / granule,
                (end - in.buffer->address + granule - 1) / granule};
    }

    void read(std::uint32_t warp, std::size_t instruction, const isa::MemoryAccess& access) {
        bool others = false;
        const auto look = [&](std::uint64_t begin, std::uint64_t end) {
            BufferShadow* const in = buffer_at(begin, end - begin);
            if (in == nullptr) return false;
            const Granules at = granules(*in, begin, end);
            return of_.shadow_.read(*in, at.begin, at.end, group_).wrote;
        };
        each_in_buffers(access, [&](BufferShadow&, std::uint64_t begin, std::uint64_t end) {
            others = look(begin, end) || others;
        });
        if (!others) return;
        const isa::Mask lanes = lanes_where(
            access, [&](std::uint64_t address) { return look(address, address + access.bytes); });
        report_race(warp, instruction, lanes, access.bytes, "reads", "writes",
                    [&](int lane) { return access.addresses[lane]; });
    }

    void write(std::uint32_t warp, std::size_t instruction, const isa::MemoryAccess& access) {
        isa::Mask read_by_others = 0;
        isa::each_of(access.active, [&](int lane) {
            const std::uint64_t begin = access.addresses[lane];
            BufferShadow* const in = buffer_at(begin, access.bytes);
            if (in == nullptr) return;
            const Granules at = granules(*in, begin, begin + access.bytes);
            const auto others = of_.shadow_.others(*in, at.begin, at.end, group_);
            if (others.read) read_by_others |= isa::Mask{1} << lane;
            Write& one = writes_.emplace_back();
            one = {.instruction = instruction,
                   .warp = warp,
                   .lane = lane,
                   .bytes = access.bytes,
                   .address = begin,
                   .in = in,
                   .granules = at,
                   .compare = others.wrote && !others.read};
            if (one.compare)
                std::memcpy(one.before.data(), one.place(), std::min<std::size_t>(one.bytes, 16));
        });
        report_race(warp, instruction, read_by_others, access.bytes, "writes", "reads",
                    [&](int lane) { return access.addresses[lane]; });
    }

    // What was written is in memory by now, so that others who see who wrote it see it, too; and
    // whether it is what others had left there.
    void look_at_writes() {
        for (const Write& one : writes_) {
            of_.shadow_.write(*one.in, one.granules.begin, one.granules.end, group_);
            if (!one.compare || std::memcmp(one.before.data(), one.place(),
                                            std::min<std::size_t>(one.bytes, 16)) == 0)
                continue;
            report_race(one.warp, one.instruction, isa::Mask{1} << one.lane, one.bytes, "writes",
                        "writes differently", [&](int) { return one.address; });
        }
        writes_.clear();
    }

    template <typename AddressOf>
    void report_race(std::uint32_t warp, std::size_t instruction, isa::Mask lanes,
                     std::uint32_t bytes, const char* does, const char* others_do,
                     AddressOf address_of) {
        if (lanes == 0) return;
        report(Defect::race_global, instruction, warp, lanes, [&](int lane) {
            return fmt::format("{} {} bytes at {:#x}, which another group {} in the same launch{}",
                               does, bytes, address_of(lane), others_do,
                               place_text(address_of(lane)));
        });
    }

    void shared(std::uint32_t warp, std::size_t instruction, const isa::MemoryAccess& access) {
        races_.access(warp, instruction, access);
        const bool reads = access.kind == AccessKind::load ||
                           (access.kind == AccessKind::atomic && of_.reads_value_[instruction]);
        // What lies beyond any group's memory is refused by the access itself.
        constexpr std::uint64_t most = std::uint64_t{1} << 20;
        bool all = true;
        each_stretch(access, [&](std::uint64_t begin, std::uint64_t end, int) {
            if (end > most) return;
            if (reads) all = all && shared_is_written(begin, end);
            if (access.kind == AccessKind::load) return;
            if (shared_written_.bytes() == 0) shared_written_ = WrittenBytes(most);
            shared_written_.set(begin, end);
            shared_end_ = std::max(shared_end_, end);
        });
        if (all) return;
        if (shared_written_.bytes() == 0) shared_written_ = WrittenBytes(most);
        // An atomic operation of several lanes has written by now what it had not read before.
        const isa::Mask lanes =
            access.kind == AccessKind::load
                ? lanes_where(access,
                              [&](std::uint64_t address) {
                                  return !shared_written_.any(address, address + access.bytes);
                              })
                : access.active;
        report(Defect::unwritten_shared, instruction, warp, lanes, [&](int lane) {
            return fmt::format(
                "reads {} bytes at {:#x} of the group's shared memory, which nothing has written",
                access.bytes, access.addresses[lane]);
        });
    }

    bool shared_is_written(std::uint64_t begin, std::uint64_t end) const {
        return shared_written_.bytes() != 0 && shared_written_.all(begin, end);
    }

    template <typename What>
    void report(Defect defect, std::size_t instruction, std::uint32_t warp, isa::Mask lanes,
                What what) {
        if (lanes == 0) return;
        const int lane = std::countr_zero(lanes);
        of_.report(defect, instruction, instruction, {group_, warp, lane},
                   static_cast<std::uint64_t>(std::popcount(lanes)), [&] { return what(lane); });
    }

    // To a place that another group wrote before.
    struct Write {
        std::size_t instruction;
        std::uint32_t warp;
        int lane;
        std::uint32_t bytes;
        std::uint64_t address;
        BufferShadow* in;
        Granules granules;
        bool compare;  // others had written there
        std::array<std::byte, 16> before;

        const std::byte* place() const {
            return in->buffer->data + (address - in->buffer->address);
        }
    };

    LaunchCheck& of_;
    RaceCheck races_;
    std::uint64_t group_ = 0;
    BufferShadow* recent_ = nullptr;
    WrittenBytes shared_written_;
    std::uint64_t shared_end_ = 0;  // nothing is set from here on
    std::vector<Write> writes_;     // of the step before
};

LaunchCheck::LaunchCheck(ShadowMemory& shadow, const isa::Kernel& kernel, int architecture,
                         const std::vector<Instruction>& code, const isa::LaunchShape& shape)
    : shadow_(shadow),
      kernel_(kernel),
      architecture_(architecture),
      code_(code),
      shape_(shape),
      global_races_(std::ranges::none_of(code, is_fence_of_groups) &&
                    groups_of(shape) < most_groups),
      race_check_(code) {
    for (const Instruction& one : code) {
        is_ordered_.push_back(is_ordered(one));
        reads_value_.push_back(reads_value(one));
    }
    const bool narrow = std::ranges::any_of(code, accesses_less_than_a_word);
    shadow_.begin_launch(global_races_ ? groups_of(shape) : 0, narrow ? 1 : 4);
}

LaunchCheck::~LaunchCheck() = default;

std::unique_ptr<isa::GroupObserver> LaunchCheck::begin(std::uint64_t group) {
    std::unique_ptr<Group> one;
    {
        const std::scoped_lock lock(mutex_);
        if (!resting_.empty()) {
            one = std::move(resting_.back());
            resting_.pop_back();
        }
    }
    if (!one) one = std::make_unique<Group>(*this);
    one->begin(group);
    return one;
}

void LaunchCheck::end(std::uint64_t, std::unique_ptr<isa::GroupObserver> observer) {
    std::unique_ptr<Group> one(static_cast<Group*>(observer.release()));
    one->end();
    const std::scoped_lock lock(mutex_);
    resting_.push_back(std::move(one));
}

std::string LaunchCheck::at_line(std::size_t instruction) const {
    const std::string line =
        isa::source_line(kernel_, static_cast<std::int64_t>(instruction * isa::instruction_bytes));
    return line.empty() ? "" : fmt::format(" ({})", line);
}

void LaunchCheck::report(Defect defect, std::size_t instruction, std::size_t other,
                         const Place& place, std::uint64_t count,
                         const std::function<std::string()>& what) {
    const std::scoped_lock lock(mutex_);
    const auto [at, is_new] = found_.try_emplace({defect, instruction, other});
    Found& found = at->second;
    found.defect.count += count;
    if (!is_new && found.group <= place.group) return;
    found.group = place.group;
    found.defect.defect = defect;
    found.defect.instruction = instruction;
    found.defect.other = other;
    const auto thread = place_in(shape_.block, std::uint64_t{place.warp} * isa::lane_count +
                                                   static_cast<std::uint64_t>(place.lane));
    found.defect.text = fmt::format("{}, thread ({},{},{}): {}",
                                    isa::place_text(kernel_, architecture_, code_[instruction],
                                                    place_in(shape_.grid, place.group)),
                                    thread[0], thread[1], thread[2], what());
}

std::vector<FoundDefect> LaunchCheck::found() const {
    std::vector<FoundDefect> all;
    for (const auto& [key, one] : found_) all.push_back(one.defect);
    return all;
}

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
#include "extract/memory_observer.h"

#include <bit>
#include <span>
#include <utility>

namespace occupipe::extract {
namespace {

constexpr std::size_t spaces = 4;

using Bits = std::vector<std::atomic<std::uint64_t>>;

void set_bit(Bits& bits, std::uint64_t index) {
    std::atomic<std::uint64_t>& word = bits[index / 64];
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    // Most are set already; writing them again would only make threads wait for each other.
    if ((word.load(std::memory_order_relaxed) & bit) == 0)
        word.fetch_or(bit, std::memory_order_relaxed);
}

}  // namespace

// One bit per sector of each buffer.
class MemoryObserver::Touched {
public:
    explicit Touched(const isa::GlobalMemory& memory) : memory_(memory) {
        for (const auto& [address, buffer] : memory.buffers()) {
            const std::uint64_t words = (buffer.size / sector_bytes + 1 + 63) / 64;
            buffers_.push_back({&buffer, Bits(words), Bits(words)});
        }
    }

    void add(const isa::MemoryAccess& access, std::size_t& recent) {
        isa::each_of(access.active, [&](int lane) {
            const std::uint64_t first = access.addresses[lane];
            if (!holds(recent, first)) recent = find(first);
            if (recent >= buffers_.size()) return;
            OfBuffer& touched = buffers_[recent];
            const std::uint64_t begin = (first - touched.buffer->address) / sector_bytes;
            const std::uint64_t end =
                (first + access.bytes - 1 - touched.buffer->address) / sector_bytes;
            for (std::uint64_t at = begin; at <= end && at / 64 < touched.read.size(); ++at) {
                if (access.kind != isa::AccessKind::store) set_bit(touched.read, at);
                if (access.kind == isa::AccessKind::store || access.kind == isa::AccessKind::atomic)
                    set_bit(touched.written, at);
            }
        });
    }

    Footprint footprint() const {
        Footprint sum;
        for (const OfBuffer& buffer : buffers_) {
            for (std::size_t i = 0; i < buffer.read.size(); ++i) {
                const std::uint64_t read = buffer.read[i];
                const std::uint64_t written = buffer.written[i];
                sum.sectors_read += static_cast<std::uint64_t>(std::popcount(read));
                sum.sectors_written += static_cast<std::uint64_t>(std::popcount(written));
                sum.sectors += static_cast<std::uint64_t>(std::popcount(read | written));
            }
        }
        return sum;
    }

private:
    struct OfBuffer {
        const isa::GlobalMemory::Buffer* buffer;
        Bits read;
        Bits written;
    };

    bool holds(std::size_t index, std::uint64_t address) const {
        if (index >= buffers_.size()) return false;
        const isa::GlobalMemory::Buffer& buffer = *buffers_[index].buffer;
        return address >= buffer.address && address - buffer.address < buffer.size;
    }

    std::size_t find(std::uint64_t address) const {
        std::size_t index = 0;
        while (index < buffers_.size() && !holds(index, address)) ++index;
        return index;
    }

    const isa::GlobalMemory& memory_;
    std::vector<OfBuffer> buffers_;
};

class MemoryObserver::Counter : public isa::GroupObserver {
public:
    Counter(std::size_t instructions, Touched& touched)
        : sites(instructions), touched_(touched), patterns_(instructions) {}

    void begin() {
        if (races) races->begin();
    }
    void steps(std::uint32_t, std::span<const isa::Executed>) override {}
    void barrier(bool all) override {
        if (races) races->barrier(all);
    }

    void access(std::uint32_t warp, std::size_t instruction,
                const isa::MemoryAccess& access) override {
        if (races && access.space == isa::Space::shared) races->access(warp, instruction, access);
        MemorySite& site = sites[instruction][static_cast<std::size_t>(access.space)];
        site.kind = access.kind;
        site.bytes = access.bytes;
        add_request(site.counts, access, patterns_[instruction]);
        if (access.space == isa::Space::global) touched_.add(access, recent_);
    }

    std::vector<std::array<MemorySite, spaces>> sites;
    std::optional<RaceCheck> races;

private:
    Touched& touched_;
    std::vector<BankPattern> patterns_;  // by instruction
    std::size_t recent_ = 0;             // buffer
};

MemoryObserver::MemoryObserver(std::size_t instructions, const isa::GlobalMemory& memory)
    : instructions_(instructions), touched_(std::make_unique<Touched>(memory)) {}

MemoryObserver::~MemoryObserver() = default;

std::unique_ptr<isa::GroupObserver> MemoryObserver::begin(std::uint64_t) {
    const std::scoped_lock lock(mutex_);
    if (resting_.empty()) {
        auto counter = std::make_unique<Counter>(instructions_, *touched_);
        counter->races = race_check_;
        counter->begin();
        return counter;
    }
    std::unique_ptr<isa::GroupObserver> counter = std::move(resting_.back());
    resting_.pop_back();
    static_cast<Counter&>(*counter).begin();
    return counter;
}

void MemoryObserver::end(std::uint64_t, std::unique_ptr<isa::GroupObserver> observer) {
    const std::scoped_lock lock(mutex_);
    resting_.push_back(std::move(observer));
}

std::vector<MemorySite> MemoryObserver::sites() const {
    std::vector<MemorySite> all;
    for (std::size_t instruction = 0; instruction < instructions_; ++instruction) {
        for (std::size_t space = 0; space < spaces; ++space) {
            MemorySite sum{
                .instruction = instruction, .space = static_cast<isa::Space>(space), .counts = {}};
            for (const auto& observer : resting_) {
                const auto& counter = static_cast<const Counter&>(*observer);
                const MemorySite& site = counter.sites[instruction][space];
                if (site.counts.requests == 0) continue;
                sum.kind = site.kind;
                sum.bytes = site.bytes;
                sum.counts += site.counts;
            }
            if (sum.counts.requests > 0) all.push_back(sum);
        }
    }
    return all;
}

std::set<Race> MemoryObserver::races() const {
    std::set<Race> all;
    for (const auto& observer : resting_)
        if (const auto& races = static_cast<const Counter&>(*observer).races)
            for (const auto& [race, seen] : races->races()) all.insert(race);
    return all;
}

Footprint MemoryObserver::footprint() const { return touched_->footprint(); }

}  // namespace occupipe::extract

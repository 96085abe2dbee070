// SPDX-License-Identifier: MIT
// What the instructions of a launch read and change: threads' registers and all memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/ptx/machine.h"
#include "tests/ptx/program.h"

namespace occupipe::ptx {

inline constexpr unsigned warp_size = 32;

// Generic addresses of local memory and of constants: above all addresses of the host, which serve
// as those of global memory.
inline constexpr std::uint64_t local_window = std::uint64_t{1} << 60;
inline constexpr std::uint64_t constant_window = std::uint64_t{1} << 61;

struct Thread {
    unsigned index = 0;  // in its group
    std::size_t at = 0;  // position in the code
    bool waits = false;
    int barrier = -1;    // of the group, at which it waits; -1: none
    bool meets = false;  // waits at a collective instruction for lanes of its warp
    bool waits_for_cluster = false;
    std::int64_t cluster_arrivals = 0;
    bool done = false;
    bool carry = false;
    int clock_readings = 0;
    std::vector<std::uint64_t> registers;
    std::vector<bool> written;
    std::vector<std::byte> local;
};

struct Warp {
    std::vector<Thread> lanes;
    bool counted = false;  // the launch's first
};

// Of a group, by number.
struct Barrier {
    unsigned arrived = 0, expected = 0;  // threads; expected 0: all that are there
    unsigned voted = 0, truths = 0;      // of bar.red
};

struct Group {
    unsigned index = 0;
    std::array<Barrier, 16> barriers{};
    std::vector<Warp> warps;
    std::vector<std::byte> shared;
};

// Records what one thread executes, and who wrote the registers that it reads.
class Tracer {
public:
    const Thread* of = nullptr;  // nullptr: nothing is recorded
    std::vector<Executed> executed;

    void begin() { needs_.clear(); }
    void read(int reg) {
        if (const auto found = writers_.find(reg); found != writers_.end())
            needs_.insert(found->second);
    }
    void written(int reg) {
        if (of->clock_readings == timed_pass)
            writers_[reg] = static_cast<int>(executed.size());
        else
            writers_.erase(reg);
    }
    void end(std::size_t at, bool taken) {
        if (of->clock_readings == timed_pass)
            executed.push_back({at, taken, {needs_.begin(), needs_.end()}});
    }

private:
    static constexpr int timed_pass = 3;
    std::map<int, int> writers_;
    std::set<int> needs_;
};

class State {
public:
    State(const Program& program, const Launch& launch, std::vector<Buffer>& buffers);

    Group make_group(unsigned index) const;
    bool counts_as_reading(std::string_view name) const {
        return name == "%clock64" || (name == "%clock" && launch_.short_clock_counts);
    }

    // Who executes what; the functions below are about these.
    Group* group = nullptr;
    std::vector<Group>* groups = nullptr;  // of the launch
    Thread* thread = nullptr;
    const Instruction* instruction = nullptr;
    std::int64_t now = 0;
    Tracer* tracer = nullptr;

    // Throws Fault.
    [[noreturn]] void fail(const std::string& what) const;

    bool read_predicate(const Guard& guard) const;
    std::uint64_t value(const Operand& from) const;
    void write(const Operand& to, std::uint64_t value);
    // Bytes of a parameter, from `offset` on.
    std::uint64_t parameter(const std::string& name, std::uint64_t offset, std::size_t width) const;

    // The bytes that an access touches. space: "shared", "shared::cluster", "const", "local",
    // "global"; empty for a generic address. An address in the cluster's window says which group's
    // memory it is in bits 24 and up: its number in the cluster plus one.
    std::byte* memory(const std::string& space, std::uint64_t address, std::size_t bytes);

private:
    std::byte* shared_memory(const std::string& space, std::uint64_t address, std::size_t bytes);
    void place_variables();
    std::uint64_t read(int reg) const;
    std::optional<std::uint64_t> special(const std::string& name) const;

    const Program& program_;
    const Launch& launch_;
    std::vector<Buffer>& buffers_;
    std::map<std::string, std::uint64_t> addresses_;
    std::vector<std::byte> constants_;
    std::size_t shared_bytes_ = 0;
    unsigned threads_ = 0;
    std::size_t local_bytes_ = 0;
};

}  // namespace occupipe::ptx

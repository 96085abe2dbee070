// SPDX-License-Identifier: MIT
// One recorded instruction in one warp, with registers, predicates and memory that the test fills,
// and what is left after it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "isa/instruction.h"
#include "isa/machine/launch.h"

namespace occupipe::isa::test {

struct State {
    std::array<std::array<std::uint32_t, 32>, 256> general{};  // RZ at 255
    std::array<std::uint32_t, 256> uniform{};                  // URZ reads as zero
    std::array<std::uint32_t, 8> predicate{};                  // one bit per lane; PT at 7
    std::array<std::uint32_t, 8> uniform_predicate{};
    std::vector<std::byte> global;  // of one buffer
    std::vector<std::byte> shared;
    std::vector<std::byte> local;  // of the lanes, one after the other

    bool operator==(const State&) const = default;
};

struct Recorded {
    int architecture = 0;
    std::int64_t address = 0;
    Word word;
    std::string text;
};

// Every instruction of tests/isa/recorded.
std::vector<Recorded> recorded();

// A wrapper around a handler: calls it, or does something else.
using Wrap = void (*)(Handler real, Warp& warp, const Step& step, Mask active);

class SingleStep {
public:
    // `executed`: the word that is executed; `shown`: that registers are laid out for. They differ
    // where a fault is planted.
    SingleStep(int architecture, Word executed, Word shown, std::int64_t address,
               std::mt19937_64& random);
    ~SingleStep();
    SingleStep(const SingleStep&) = delete;
    SingleStep& operator=(const SingleStep&) = delete;

    // Why the instruction is refused; empty where it is executed.
    const std::string& refused() const { return refused_; }

    // Executes it from the state `before`. Throws ExecutionError.
    State run(const State& before, Mask active, Wrap wrap = nullptr);

    // Four bytes of a constant bank.
    std::uint32_t constant(int bank, std::int64_t offset) const;
    std::uint64_t buffer() const { return buffer_; }  // address of the global buffer
    std::uint32_t shared_base() const { return launch_->shared_base; }
    std::uint32_t local_bytes() const { return launch_->local_bytes; }
    static constexpr std::uint64_t buffer_bytes = 4096;
    static constexpr std::uint32_t shared_bytes = 8192;
    static constexpr std::uint32_t local_size = 1024;

private:
    Cubin cubin_;
    GlobalMemory memory_;
    std::uint64_t buffer_ = 0;
    std::unique_ptr<LoadedModule> module_;
    std::unique_ptr<Launch> launch_;
    std::unique_ptr<Group> group_;
    std::string refused_;
    int uniform_zero_ = 63;
};

}  // namespace occupipe::isa::test

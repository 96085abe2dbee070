// SPDX-License-Identifier: MIT
#include "program/effects.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "isa/cubin.h"
#include "isa/machine/memory.h"

namespace occupipe::program {
namespace {

struct EffectsTest : ::testing::Test {
    isa::GlobalMemory memory;
    std::uint64_t in = memory.add("in", 64).address;
    std::uint64_t out = memory.add("out", 64).address;
    isa::Kernel kernel;
    Effects effects;
    Effects::Launch launch{.kernel = &kernel, .shape = {.kernel = "k"}, .parameters = {}};

    static isa::Execution execution(std::vector<std::uint64_t> read,
                                    std::vector<std::uint64_t> written) {
        isa::Execution made;
        made.warp_instructions = 7;
        made.read = std::move(read);
        made.written = std::move(written);
        return made;
    }
    void executed(const isa::Execution& made) { effects.executed(launch, made, memory, true); }
};

TEST_F(EffectsTest, ALaunchRepeatsWhileItsBuffersAreAsItLeftThem) {
    EXPECT_FALSE(effects.repeated(launch));
    executed(execution({in}, {out}));
    EXPECT_EQ(effects.repeated(launch), 7U);
    for (const std::uint64_t buffer : {in, out}) {
        effects.changed(buffer);
        EXPECT_FALSE(effects.repeated(launch));
        executed(execution({in}, {out}));
        EXPECT_TRUE(effects.repeated(launch));
    }
    const std::uint64_t other = memory.add("other", 64).address;
    effects.changed(other);
    EXPECT_TRUE(effects.repeated(launch));
    effects.forget();
    EXPECT_FALSE(effects.repeated(launch));
}

TEST_F(EffectsTest, AnotherLaunchThatWritesThereIsAChange) {
    executed(execution({in}, {out}));
    Effects::Launch another = launch;
    another.parameters.resize(8);
    EXPECT_FALSE(effects.repeated(another));
    effects.executed(another, execution({}, {in}), memory, true);
    EXPECT_FALSE(effects.repeated(launch));
    EXPECT_TRUE(effects.repeated(another));
}

TEST_F(EffectsTest, WhatDependsOnItselfOrTheHostOrPrintsIsExecuted) {
    executed(execution({in, out}, {out}));
    EXPECT_FALSE(effects.repeated(launch));
    isa::Execution prints = execution({in}, {out});
    prints.printed = "!";
    executed(prints);
    EXPECT_FALSE(effects.repeated(launch));
    alignas(256) std::array<std::byte, 64> bytes{};
    const std::uint64_t host = memory.add_host("host", bytes).address;
    executed(execution({host}, {out}));
    EXPECT_FALSE(effects.repeated(launch));
    effects.executed(launch, execution({in}, {out}), memory, false);
    EXPECT_FALSE(effects.repeated(launch));
    executed(execution({in}, {out}));
    EXPECT_TRUE(effects.repeated(launch));
}

}  // namespace
}  // namespace occupipe::program

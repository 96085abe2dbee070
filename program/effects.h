// SPDX-License-Identifier: MIT
// What launches left in memory: one that would write again what is there already need not be
// executed again. Programs that time a kernel launch it a hundred times.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "isa/machine/machine.h"
#include "program/journal.h"

namespace occupipe::program {

class Effects {
public:
    struct Launch {
        const isa::Kernel* kernel = nullptr;
        Shape shape;
        std::vector<std::byte> parameters;

        auto operator<=>(const Launch&) const = default;
    };

    // Warp-instructions of the same launch before, if every buffer that it read or wrote is as it
    // left it, and it wrote to none that it read.
    std::optional<std::uint64_t> repeated(const Launch& launch) const;
    // `alone`: the host reaches what the launch refers to by calls alone, but for buffers of its
    // own.
    void executed(Launch launch, const isa::Execution& execution, const isa::GlobalMemory& memory,
                  bool alone);
    // Another one than a launch writes to the buffer at this address, or releases it.
    void changed(std::uint64_t buffer) { ++versions_[buffer]; }
    // A launch ended in an error, or modules are loaded anew.
    void forget() { known_.clear(); }

private:
    struct Known {
        std::uint64_t warp_instructions = 0;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> buffers;  // with their versions
    };

    std::map<std::uint64_t, std::uint64_t> versions_;  // by address
    std::map<Launch, Known> known_;
};

}  // namespace occupipe::program

// SPDX-License-Identifier: MIT
// What a program's copies and launches have referred to on the device so far: what of it caches may
// still hold when the next launch begins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace occupipe::program {

class DeviceHistory {
public:
    // `bytes` of a range, from its begin to its end; fewer than it has: evenly spread over it.
    void touched(std::uint64_t begin, std::uint64_t size, std::uint64_t bytes);
    // As many bytes elsewhere, nobody knows where.
    void passed(std::uint64_t bytes) { total_ += bytes; }
    // It is free again: nothing of it is known.
    void forget(std::uint64_t begin, std::uint64_t size);

    // Bytes that were referred to after the one at this address; absent: it never was.
    std::optional<std::uint64_t> since(std::uint64_t address) const;
    // Different ones, of all.
    std::uint64_t bytes() const { return different_; }

private:
    struct Piece {
        std::uint64_t size = 0;
        std::uint64_t bytes = 0;  // of them referred to
        std::uint64_t at = 0;     // so many had been before, of all
    };

    std::map<std::uint64_t, Piece> pieces_;  // by begin; they do not overlap
    std::uint64_t total_ = 0;                // referred to, repetitions counted
    std::uint64_t different_ = 0;
};

}  // namespace occupipe::program

// SPDX-License-Identifier: MIT
#include "program/device_history.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace occupipe::program {
namespace {

// So much of `whole` as `part` is of `size`.
std::uint64_t share(std::uint64_t whole, std::uint64_t part, std::uint64_t size) {
    return static_cast<std::uint64_t>(static_cast<double>(whole) * static_cast<double>(part) /
                                      static_cast<double>(size));
}

}  // namespace

void DeviceHistory::touched(std::uint64_t begin, std::uint64_t size, std::uint64_t bytes) {
    if (size == 0 || bytes == 0) return;
    bytes = std::min(bytes, size);
    forget(begin, size);
    pieces_[begin] = {.size = size, .bytes = bytes, .at = total_};
    total_ += bytes;
    different_ += bytes;
}

void DeviceHistory::forget(std::uint64_t begin, std::uint64_t size) {
    const std::uint64_t end = begin + size;
    auto at = pieces_.lower_bound(begin);
    if (at != pieces_.begin()) --at;
    while (at != pieces_.end() && at->first < end) {
        const auto [first, piece] = *at;
        const std::uint64_t last = first + piece.size;
        if (last <= begin) {
            ++at;
            continue;
        }
        at = pieces_.erase(at);
        different_ -= piece.bytes;
        const auto keep = [&](std::uint64_t from, std::uint64_t to) {
            if (from >= to) return;
            const std::uint64_t bytes = share(piece.bytes, to - from, piece.size);
            pieces_[from] = {.size = to - from,
                             .bytes = bytes,
                             .at = piece.at + share(piece.bytes, from - first, piece.size)};
            different_ += bytes;
        };
        keep(first, std::min(begin, last));
        keep(end, last);
    }
}

std::optional<std::uint64_t> DeviceHistory::since(std::uint64_t address) const {
    const auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin()) return std::nullopt;
    const auto& [begin, piece] = *std::prev(after);
    if (address >= begin + piece.size) return std::nullopt;
    return total_ - piece.at - share(piece.bytes, address - begin, piece.size);
}

}  // namespace occupipe::program

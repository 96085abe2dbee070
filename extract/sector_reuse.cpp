// SPDX-License-Identifier: MIT
#include "extract/sector_reuse.h"

#include <cmath>
#include <numeric>

namespace occupipe::extract {

double NeededLines::lines_of(std::size_t bin) {
    if (bin < 16) return static_cast<double>(bin);
    const std::size_t shift = bin / 8 - 1;
    return std::ldexp(static_cast<double>(8 + bin % 8), static_cast<int>(shift));
}

ReuseCounts& ReuseCounts::operator+=(const ReuseCounts& other) {
    if (other.counts_.empty()) return *this;
    counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    return *this;
}

ReuseCounts& ReuseCounts::operator*=(std::uint64_t times) {
    for (std::uint64_t& count : counts_) count *= times;
    return *this;
}

std::uint64_t ReuseCounts::total() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

Reuse ReuseCounts::reuse(double line_bytes) const {
    Reuse points;
    if (counts_.empty()) return points;
    const std::uint64_t all = total();
    std::uint64_t found = 0, told = 0, last = 0;
    for (std::size_t bin = 0; bin < NeededLines::none; ++bin)
        if (counts_[bin] > 0) last = bin;
    for (std::size_t bin = 0; bin < NeededLines::none; ++bin) {
        if (counts_[bin] == 0) continue;
        found += counts_[bin];
        if (bin != last && (found - told) * 200 < all) continue;
        told = found;
        const double share = static_cast<double>(found) / static_cast<double>(all);
        points.push_back(
            {static_cast<std::int64_t>(std::ceil(NeededLines::lines_of(bin) * line_bytes)), share});
    }
    return points;
}

}  // namespace occupipe::extract

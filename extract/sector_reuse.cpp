// SPDX-License-Identifier: MIT
#include "extract/sector_reuse.h"

#include <bit>
#include <cmath>

namespace occupipe::extract {

// Bins: 1 … 15, then eight to an octave: 16, 18, … 30, 32, 36, …
std::size_t ReuseCounts::bin(std::uint64_t lines) {
    if (lines < 16) return lines;
    const int shift = static_cast<int>(std::bit_width(lines)) - 4;
    const std::uint64_t rounded = (lines + (std::uint64_t{1} << shift) - 1) >> shift;  // 8 … 16
    return static_cast<std::size_t>(shift) * 8 + rounded;
}

double ReuseCounts::lines_of(std::size_t bin) {
    if (bin < 16) return static_cast<double>(bin);
    const std::size_t shift = bin / 8 - 1;
    return std::ldexp(static_cast<double>(8 + bin % 8), static_cast<int>(shift));
}

ReuseCounts& ReuseCounts::operator+=(const ReuseCounts& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    return *this;
}

Reuse ReuseCounts::reuse(double line_bytes) const {
    Reuse points;
    std::uint64_t found = 0, told = 0, last = 0;
    for (std::size_t bin = 0; bin < counts_.size(); ++bin)
        if (counts_[bin] > 0) last = bin;
    for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
        if (counts_[bin] == 0) continue;
        found += counts_[bin];
        if (bin != last && (found - told) * 200 < total_) continue;
        told = found;
        const double share = static_cast<double>(found) / static_cast<double>(total_);
        points.push_back({static_cast<std::int64_t>(std::ceil(lines_of(bin) * line_bytes)), share});
    }
    return points;
}

}  // namespace occupipe::extract

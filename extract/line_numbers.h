// SPDX-License-Identifier: MIT
// Numbers 0, 1, 2, … for the cache lines of a trace, in the order of first references, so that what
// is known of a line stands in a plain table.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace occupipe::extract {

// Lines in pages of 64, pages by a hash: neighbours of the line before are found without it.
// At most 30 bytes a line where whole pages are touched, 300 where each line has a page alone.
class LineNumbers {
public:
    LineNumbers() : places_(64), shift_(64 - 6) {}

    // Throws InputError when there are more than 2^29 different lines.
    std::uint32_t of(std::uint64_t line) {
        const std::uint64_t page = line / page_lines;
        if (page != recent_ || lines_.empty()) find(page);
        std::uint32_t& number = pages_[at_].numbers[line % page_lines];
        if (number == 0) number = enter(line);
        return number - 1;
    }

    // By number.
    const std::vector<std::uint64_t>& lines() const { return lines_; }
    std::vector<std::uint64_t> ascending_lines() const;

private:
    static constexpr std::uint64_t page_lines = 64;
    struct Page {
        std::uint64_t page = 0;
        std::array<std::uint32_t, page_lines> numbers{};  // plus one; 0: none yet
    };

    void find(std::uint64_t page);
    std::size_t place_of(std::uint64_t page) const;
    std::uint32_t enter(std::uint64_t line);

    std::vector<std::uint32_t> places_;  // a hash table of pages: index plus one; 0: free
    int shift_;
    std::vector<Page> pages_;
    std::vector<std::uint64_t> lines_;
    std::uint64_t recent_ = 0;  // page
    std::size_t at_ = 0;        // where it is
};

}  // namespace occupipe::extract

// SPDX-License-Identifier: MIT
#include "extract/line_numbers.h"

#include <algorithm>

#include "core/error.h"

namespace occupipe::extract {
namespace {

constexpr std::size_t most_lines = std::size_t{1} << 29;

// All upper bits depend on all bits of the value.
std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 32;
    return value * 0x9E3779B97F4A7C15;
}

}  // namespace

std::size_t LineNumbers::place_of(std::uint64_t page) const {
    std::size_t place = mixed(page) >> shift_;
    while (places_[place] != 0 && pages_[places_[place] - 1].page != page)
        place = (place + 1) & (places_.size() - 1);
    return place;
}

void LineNumbers::find(std::uint64_t page) {
    std::size_t place = place_of(page);
    if (places_[place] == 0) {
        if (2 * pages_.size() >= places_.size()) {
            places_.assign(places_.size() * 2, 0);
            --shift_;
            for (std::size_t i = 0; i < pages_.size(); ++i)
                places_[place_of(pages_[i].page)] = static_cast<std::uint32_t>(i + 1);
            place = place_of(page);
        }
        pages_.push_back({.page = page});
        places_[place] = static_cast<std::uint32_t>(pages_.size());
    }
    at_ = places_[place] - 1;
    recent_ = page;
}

std::vector<std::uint64_t> LineNumbers::ascending_lines() const {
    std::vector<const Page*> pages;
    for (const Page& page : pages_) pages.push_back(&page);
    std::ranges::sort(pages, {}, &Page::page);
    std::vector<std::uint64_t> ascending;
    ascending.reserve(lines_.size());
    for (const Page* const page : pages)
        for (std::uint64_t i = 0; i < page_lines; ++i)
            if (page->numbers[i] != 0) ascending.push_back(page->page * page_lines + i);
    return ascending;
}

std::uint32_t LineNumbers::enter(std::uint64_t line) {
    if (lines_.size() == most_lines) throw InputError("a trace of more than 2^29 different names");
    lines_.push_back(line);
    return static_cast<std::uint32_t>(lines_.size());
}

}  // namespace occupipe::extract

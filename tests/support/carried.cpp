// SPDX-License-Identifier: MIT
#include "tests/support/carried.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <sstream>

#include "core/files/files.h"

namespace occupipe::cli::testing {
namespace {

// Fields in quotes may hold commas.
std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    return fields;
}

std::size_t number_after(const std::string& text, const std::string& key) {
    return std::strtoull(text.c_str() + text.find(key) + key.size(), nullptr, 10);
}

std::vector<std::uint32_t> line_order(std::size_t lines, const std::string& term) {
    std::vector<std::uint32_t> next(lines);
    std::iota(next.begin(), next.end(), 0u);
    if (term.find("order=random") != term.npos) {
        std::mt19937 random(7);  // one cycle through all lines (Sattolo)
        for (std::size_t i = next.size() - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
    } else if (term.find("order=sequential") != term.npos) {
        std::rotate(next.begin(), next.begin() + 1, next.end());
    } else {
        EXPECT_NE(term.find("order=own"), term.npos) << term;
    }
    return next;
}

void fill_walk(Bytes& buffer, const std::string& term, std::uint64_t address) {
    const std::size_t words = number_after(term, "table_bytes=") / 4;
    const std::size_t line = number_after(term, "line_bytes=") / 4;
    const std::vector<std::uint32_t> next = line_order(words / line, term);
    const bool whole = term.find("words=address64/") != term.npos;
    const bool half = term.find("words=address32") != term.npos;
    EXPECT_TRUE(whole || half || term.find("words=index") != term.npos) << term;
    const std::size_t step = whole ? number_after(term, "words=address64/") : 1;
    for (std::size_t w = 0; (w + step) * 4 <= buffer.size(); w += step) {
        const std::size_t at = w % words;
        const std::uint64_t index = std::uint64_t{next[at / line]} * line + at % line;
        const std::uint64_t value = whole || half ? address + 4 * index : index;
        std::memcpy(&buffer[w * 4], &value, whole ? 8 : 4);
    }
}

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

CarriedTable read_launches(const std::filesystem::path& file) {
    CarriedTable table;
    std::istringstream in(read_text_file(file));
    std::getline(in, table.header);
    const std::vector<std::string> names = fields_of(table.header);
    for (std::string line; std::getline(in, line);) {
        const std::vector<std::string> fields = fields_of(line);
        EXPECT_EQ(fields.size(), names.size()) << line;
        CarriedLaunch launch{.line = line, .fields = {}};
        for (std::size_t i = 0; i < names.size(); ++i) launch.fields[names[i]] = fields.at(i);
        table.launches.push_back(std::move(launch));
    }
    return table;
}

Bytes contents(std::size_t bytes, const std::string& terms, std::uint64_t address) {
    Bytes buffer(bytes, std::byte{0});
    for (const std::string& term : split(terms, '+')) {
        if (term == "poison") {
            std::ranges::fill(buffer, std::byte{0xa5});
        } else if (term == "floats") {
            for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
                const float value = 1e-4f * static_cast<float>(i % 13);
                std::memcpy(&buffer[i], &value, 4);
            }
        } else if (term.starts_with("walk(")) {
            fill_walk(buffer, term, address);
        } else if (term.starts_with("hex@")) {
            const std::size_t offset = number_after(term, "hex@");
            const std::string digits = term.substr(term.find(':') + 1);
            for (std::size_t i = 0; i < digits.size() / 2; ++i) {
                buffer[offset + i] = static_cast<std::byte>(
                    std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, 16));
            }
        } else {
            EXPECT_EQ(term, "zero");
        }
    }
    return buffer;
}

}  // namespace occupipe::cli::testing

// SPDX-License-Identifier: MIT
#include "report/text/text_table.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace occupipe::report {
namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

template <std::size_t n>
bool any_holds(const std::array<Range, n>& ranges, std::uint32_t code) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [code](Range r) { return code >= r.first && code <= r.last; });
}

// Blocks of combining marks and zero-width characters; of wide and full-width characters
// (Unicode Standard Annex 11, by block).
constexpr std::array<Range, 5> zero_width = {
    {{0x0300, 0x036f}, {0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}}};
constexpr std::array<Range, 9> double_width = {{{0x1100, 0x115f},
                                                {0x2e80, 0x303e},
                                                {0x3041, 0xa4cf},
                                                {0xac00, 0xd7a3},
                                                {0xf900, 0xfaff},
                                                {0xfe30, 0xfe6f},
                                                {0xff00, 0xff60},
                                                {0xffe0, 0xffe6},
                                                {0x1f300, 0x3fffd}}};

std::size_t code_width(std::uint32_t code) {
    if (any_holds(zero_width, code)) {
        return 0;
    }
    return any_holds(double_width, code) ? 2 : 1;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
    const std::string blanks(width - std::min(width, display_width(text)), ' ');
    return align == Align::left ? text + blanks : blanks + text;
}

std::vector<std::size_t> column_widths(const TextTable& table) {
    std::vector<std::size_t> widths;
    for (const std::string& cell : table.header) {
        widths.push_back(display_width(cell));
    }
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], display_width(row[i]));
        }
    }
    return widths;
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '|') {
            result += '\\';
        }
        result += c;
    }
    return result;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        length = std::min(length, text.size() - i);
        std::uint32_t code = length == 1 ? first : first & (0xffU >> (length + 1));
        for (std::size_t k = 1; k < length; ++k) {
            code = (code << 6U) | (static_cast<unsigned char>(text[i + k]) & 0x3fU);
        }
        width += code_width(code);
        i += length;
    }
    return width;
}

std::string plain_text(const TextTable& table) {
    const auto widths = column_widths(table);
    std::string text;
    const auto add = [&](const std::vector<std::string>& row) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += (i == 0 ? "" : "  ") + padded(row[i], widths[i], table.align[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    add(table.header);
    for (const auto& row : table.rows) {
        add(row);
    }
    return text;
}

std::string markdown(const TextTable& table) {
    TextTable safe = table;
    for (std::string& cell : safe.header) {
        cell = escaped(cell);
    }
    for (auto& row : safe.rows) {
        for (std::string& cell : row) {
            cell = escaped(cell);
        }
    }
    auto widths = column_widths(safe);
    for (std::size_t& width : widths) {
        width = std::max<std::size_t>(width, 3);
    }
    const auto line = [&](const std::vector<std::string>& row) {
        std::string text = "|";
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += " " + padded(row[i], widths[i], safe.align[i]) + " |";
        }
        return text + '\n';
    };
    std::string text = line(safe.header) + "|";
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const bool right = safe.align[i] == Align::right;
        text += ' ' + std::string(widths[i] - (right ? 1 : 0), '-') + (right ? ": |" : " |");
    }
    text += '\n';
    for (const auto& row : safe.rows) {
        text += line(row);
    }
    return text;
}

}  // namespace occupipe::report

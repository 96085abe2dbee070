// SPDX-License-Identifier: MIT
#include "bench/offline/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>

#include "core/error.h"

namespace occupipe::bench {
namespace {

constexpr std::size_t block_bytes = 512;

// Offsets and lengths of the header's fields in use.
struct Field {
    std::size_t at;
    std::size_t length;
};
constexpr Field name_field{0, 100}, mode_field{100, 8}, owner_field{108, 8}, group_field{116, 8},
    size_field{124, 12}, time_field{136, 12}, sum_field{148, 8}, type_field{156, 1},
    magic_field{257, 8}, prefix_field{345, 155};
constexpr char file_type = '0', folder_type = '5';
constexpr std::string_view magic("ustar\00000", 8);
constexpr std::string_view gnu_magic("ustar  \0", 8);

using Header = std::array<char, block_bytes>;

void put(Header& header, Field field, std::string_view text) {
    std::memcpy(&header[field.at], text.data(), std::min(text.size(), field.length));
}

void put_octal(Header& header, Field field, std::uint64_t value) {
    put(header, field, fmt::format("{:0{}o}", value, field.length - 1));
}

// Of the header with blanks in place of the sum.
std::uint64_t check_sum(std::string_view header) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block_bytes; ++i) {
        const bool own = i >= sum_field.at && i < sum_field.at + sum_field.length;
        sum += own ? ' ' : static_cast<unsigned char>(header[i]);
    }
    return sum;
}

std::string_view text_of(std::string_view header, Field field) {
    const std::string_view all = header.substr(field.at, field.length);
    return all.substr(0, std::min(all.size(), all.find('\0')));
}

std::optional<std::uint64_t> octal_of(std::string_view header, Field field) {
    std::string_view text = text_of(header, field);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    std::uint64_t value = 0;
    if (text.empty()) return std::nullopt;
    for (const char digit : text) {
        if (digit < '0' || digit > '7') return std::nullopt;
        value = value * 8 + static_cast<std::uint64_t>(digit - '0');
    }
    return value;
}

bool is_empty(std::string_view block) {
    return std::ranges::all_of(block, [](char c) { return c == 0; });
}

std::size_t padded(std::size_t bytes) {
    return (bytes + block_bytes - 1) / block_bytes * block_bytes;
}

}  // namespace

std::string tar_entry(const std::string& name, std::string_view content) {
    if (name.empty() || name.size() >= name_field.length) {
        throw std::logic_error("a name in a tar archive has 1 to 99 characters: " + name);
    }
    Header header = {};
    put(header, name_field, name);
    put_octal(header, mode_field, 0644);
    put_octal(header, owner_field, 0);
    put_octal(header, group_field, 0);
    put_octal(header, size_field, content.size());
    put_octal(header, time_field, 0);
    header[type_field.at] = file_type;
    put(header, magic_field, magic);
    const std::uint64_t sum = check_sum(std::string_view(header.data(), header.size()));
    put(header, sum_field, fmt::format("{:06o}", sum));  // then a zero and a blank
    header[sum_field.at + 7] = ' ';
    std::string entry(header.data(), header.size());
    entry += content;
    entry.resize(block_bytes + padded(content.size()), '\0');
    return entry;
}

std::string tar_end() { return std::string(2 * block_bytes, '\0'); }

TarContents read_tar(std::string_view bytes, const std::string& file_name, TarEnd end) {
    if (bytes.starts_with("\x1f\x8b")) {
        throw InputError(file_name, {}, "", "is compressed; decompress it first (gunzip)");
    }
    TarContents contents;
    std::set<std::string> names;
    const auto refuse = [&](const std::string& name, const std::string& reason) {
        throw InputError(file_name, {}, name, reason);
    };
    for (std::size_t at = 0; at < bytes.size();) {
        const std::string where = fmt::format("byte {}", at);
        const std::string_view header = bytes.substr(at, block_bytes);
        std::string fault;
        std::uint64_t size = 0;
        if (header.size() < block_bytes) {
            fault = "truncated tar header";
        } else if (is_empty(header)) {
            contents.complete = true;
            break;
        } else if (octal_of(header, sum_field) != check_sum(header)) {
            fault = "not a tar header, or a damaged one";
        } else if (const std::string_view kind = header.substr(magic_field.at, magic_field.length);
                   kind != magic && kind != gnu_magic) {
            fault = "not a ustar header";
        } else if (const auto known = octal_of(header, size_field);
                   !known || *known > bytes.size() - at - block_bytes) {
            fault = "the entry extends beyond the end of the file";
        } else {
            size = *known;
        }
        if (!fault.empty()) {
            if (end == TarEnd::may_be_missing) return contents;
            refuse(where, fault);
        }
        const char type = header[type_field.at];
        std::string name(text_of(header, name_field));
        if (type == file_type) {
            name = name.substr(name.rfind('/') + 1);  // where there is none, from the beginning
            if (name.empty()) refuse(where, "an entry without a name");
            if (!names.insert(name).second) refuse(name, "duplicate entry");
            contents.entries.push_back({name, bytes.substr(at + block_bytes, size)});
        } else if (type != folder_type) {
            refuse(name, "is neither a regular file nor a folder");
        }
        at += block_bytes + std::min(padded(size), bytes.size() - at - block_bytes);
    }
    if (!contents.complete && end == TarEnd::required) {
        refuse("", "is truncated; copy it again");
    }
    return contents;
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
// A cubin of one kernel, made by hand: for tests that have no compiler.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "isa/word.h"

namespace occupipe::test {

struct MadeCubin {
    std::string kernel = "saxpy";
    int architecture = 90;
    std::vector<isa::Word> code;
    int registers = 10;
    std::int64_t shared_bytes = 256;
    std::string constants;  // .nv.constant3

    std::string bytes() const {
        std::vector<Section> sections = {{"", 0, "", 0, 0}};
        std::string text;
        for (const isa::Word& word : code) {
            put(text, word.low);
            put(text, word.high);
        }
        const std::string symbol_names = std::string("\0", 1) + kernel + std::string("\0", 1);
        std::string symbols(24, '\0');
        put(symbols, std::uint32_t{1});
        symbols.append(20, '\0');
        std::string common;
        put_note(common, 0x2f, {1, static_cast<std::uint32_t>(registers)});
        put_note(common, 0x11, {1, 0});
        std::string own;
        put_note(own, 0x17, {0, 8u << 16 | 1, 4u << 18 | 0x1f000});
        put_note(own, 0x17, {0, 0u, 8u << 18 | 0x1f000});
        put_note(own, 0x0a, {3, 12u << 16 | 0x210});
        sections.push_back({".text." + kernel, 1, text, 0, 0});
        sections.push_back({".symtab", 2, symbols, 3, 0});
        sections.push_back({".strtab", 3, symbol_names, 0, 0});
        sections.push_back({".nv.info", 0x70000000, common, 0, 0});
        sections.push_back({".nv.info." + kernel, 0x70000000, own, 0, 0});
        sections.push_back({".nv.shared." + kernel, 8, "", 0, shared_bytes});
        sections.push_back({".nv.constant3", 1, constants, 0, 0});
        return file(std::move(sections));
    }

private:
    struct Section {
        std::string name;
        std::uint32_t type;
        std::string content;
        std::uint32_t link;
        std::int64_t size;  // of one without content
    };

    template <typename T>
    static void put(std::string& into, T value) {
        into.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    static void put_note(std::string& into, std::uint8_t attribute,
                         const std::vector<std::uint32_t>& values) {
        put(into, std::uint8_t{4});
        put(into, attribute);
        put(into, static_cast<std::uint16_t>(values.size() * 4));
        for (const std::uint32_t value : values) put(into, value);
    }

    std::string file(std::vector<Section> sections) const {
        sections.push_back({".shstrtab", 3, "", 0, 0});
        std::string names;
        std::vector<std::uint32_t> name_offsets;
        for (const Section& one : sections) {
            name_offsets.push_back(static_cast<std::uint32_t>(names.size()));
            names += one.name + std::string("\0", 1);
        }
        sections.back().content = names;
        std::string body(0x40, '\0');
        std::string headers;
        for (std::size_t i = 0; i < sections.size(); ++i) {
            const Section& one = sections[i];
            put(headers, name_offsets[i]);
            put(headers, one.type);
            put(headers, std::uint64_t{0});
            put(headers, std::uint64_t{0});
            put(headers, std::uint64_t{body.size()});
            put(headers, one.type == 8 ? static_cast<std::uint64_t>(one.size)
                                       : std::uint64_t{one.content.size()});
            put(headers, one.link);
            put(headers, std::uint32_t{0});
            put(headers, std::uint64_t{0});
            put(headers, std::uint64_t{0});
            body += one.content;
        }
        const auto set = [&](std::size_t at, auto value) {
            std::memcpy(body.data() + at, &value, sizeof value);
        };
        set(0, std::uint32_t{0x464c457f});
        set(4, std::uint8_t{2});
        set(0x12, std::uint16_t{190});
        set(0x28, std::uint64_t{body.size()});
        set(0x30, static_cast<std::uint32_t>(architecture << 8));
        set(0x3a, std::uint16_t{0x40});
        set(0x3c, static_cast<std::uint16_t>(sections.size()));
        set(0x3e, static_cast<std::uint16_t>(sections.size() - 1));
        return body + headers;
    }
};

}  // namespace occupipe::test

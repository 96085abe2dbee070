// SPDX-License-Identifier: MIT
#include "bench/cuda/proof/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/error.h"

namespace occupipe::bench {
namespace {

[[noreturn]] void fault(const std::string& why) { throw InputError("not a usable cubin: " + why); }

// Reads that cannot leave the bytes.
class Bytes {
public:
    explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

    std::size_t size() const { return bytes_.size(); }

    template <typename T>
    T at(std::uint64_t offset) const {
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
            fault(fmt::format("it ends before byte {}", offset));
        }
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }

    Bytes part(std::uint64_t offset, std::uint64_t size) const {
        if (offset > bytes_.size() || bytes_.size() - offset < size) {
            fault(fmt::format("a section reaches beyond its end ({} bytes)", bytes_.size()));
        }
        return Bytes(bytes_.substr(offset, size));
    }

    std::string_view text(std::uint64_t offset) const {
        if (offset >= bytes_.size()) fault("a name lies outside of its table");
        const std::string_view rest = bytes_.substr(offset);
        const std::size_t end = rest.find('\0');
        if (end == std::string_view::npos) fault("a name has no end");
        return rest.substr(0, end);
    }

private:
    std::string_view bytes_;
};

// Offsets of the fields in use of ELF64's file header, section header and symbol.
namespace elf {
constexpr std::uint64_t section_table = 0x28, section_size = 0x3a, section_count = 0x3c,
                        section_names = 0x3e;
constexpr std::uint64_t name = 0, type = 4, offset = 0x18, size = 0x20, link = 0x28, info = 0x2c;
constexpr std::uint16_t header_bytes = 0x40;
constexpr std::uint64_t symbol_bytes = 24;
constexpr std::uint32_t no_bits = 8;
}  // namespace elf

struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    Bytes content;
};

std::vector<Section> sections(const Bytes& file) {
    if (file.size() < 0x40 || file.at<std::uint32_t>(0) != 0x464c457f || file.at<char>(4) != 2) {
        fault("no ELF64 header");
    }
    const auto table = file.at<std::uint64_t>(elf::section_table);
    const auto stride = file.at<std::uint16_t>(elf::section_size);
    const auto count = file.at<std::uint16_t>(elf::section_count);
    const auto names_index = file.at<std::uint16_t>(elf::section_names);
    if (stride < elf::header_bytes || names_index >= count) fault("a broken section table");
    const Bytes headers = file.part(table, std::uint64_t{stride} * count);
    const auto content = [&](std::uint64_t header) {
        if (headers.at<std::uint32_t>(header + elf::type) == elf::no_bits) return Bytes({});
        return file.part(headers.at<std::uint64_t>(header + elf::offset),
                         headers.at<std::uint64_t>(header + elf::size));
    };
    const Bytes names = content(std::uint64_t{stride} * names_index);
    std::vector<Section> found;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t header = i * stride;
        found.push_back({.name = names.text(headers.at<std::uint32_t>(header + elf::name)),
                         .type = headers.at<std::uint32_t>(header + elf::type),
                         .link = headers.at<std::uint32_t>(header + elf::link),
                         .content = content(header)});
    }
    return found;
}

const Section* find(const std::vector<Section>& all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &Section::name);
    return found == all.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> symbol_index(const std::vector<Section>& all,
                                          std::string_view symbol) {
    const Section* table = find(all, ".symtab");
    if (!table || table->link >= all.size()) return std::nullopt;
    const Bytes& names = all[table->link].content;
    for (std::uint64_t i = 0; (i + 1) * elf::symbol_bytes <= table->content.size(); ++i) {
        const auto name = table->content.at<std::uint32_t>(i * elf::symbol_bytes);
        if (names.text(name) == symbol) return static_cast<std::uint32_t>(i);
    }
    return std::nullopt;
}

// The assembler's notes (.nv.info): records of one byte format, one byte attribute, and a 16-bit
// value or size. Values that we read come as {symbol, value}, both 32 bits.
constexpr std::uint8_t sized = 4;
constexpr std::uint8_t register_count = 0x2f, frame_size = 0x11, min_stack_size = 0x12;

void read_notes(const Bytes& notes, std::uint32_t kernel_symbol, Cubin& cubin) {
    std::uint64_t at = 0;
    while (at + 4 <= notes.size()) {
        const auto format = notes.at<std::uint8_t>(at);
        const auto attribute = notes.at<std::uint8_t>(at + 1);
        const auto size = notes.at<std::uint16_t>(at + 2);
        at += 4;
        if (format != sized) continue;
        const Bytes value = notes.part(at, size);
        at += size;
        if (size != 8 || value.at<std::uint32_t>(0) != kernel_symbol) continue;
        const auto number = value.at<std::uint32_t>(4);
        if (attribute == register_count) cubin.registers = static_cast<int>(number);
        if (attribute == frame_size || attribute == min_stack_size) {
            cubin.stack_bytes = std::max<std::int64_t>(cubin.stack_bytes.value_or(0), number);
        }
    }
}

}  // namespace

Cubin read_cubin(std::string_view bytes, std::string_view kernel) {
    const std::vector<Section> all = sections(Bytes(bytes));
    const Section* text = find(all, fmt::format(".text.{}", kernel));
    if (!text) fault(fmt::format("no kernel '{}' in it", kernel));
    if (text->content.size() % instruction_bytes != 0) fault("machine code of an odd length");
    Cubin cubin;
    for (std::uint64_t at = 0; at < text->content.size(); at += instruction_bytes) {
        cubin.code.push_back(
            {text->content.at<std::uint64_t>(at), text->content.at<std::uint64_t>(at + 8)});
    }
    const Section* notes = find(all, ".nv.info");
    const std::optional<std::uint32_t> symbol = symbol_index(all, kernel);
    if (notes && symbol) read_notes(notes->content, *symbol, cubin);
    return cubin;
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "isa/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "core/architectures.h"
#include "core/error.h"
#include "isa/debug_lines.h"
#include "isa/decode.h"
#include "isa/functions.h"

namespace occupipe::isa {
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

    std::string_view all() const { return bytes_; }

    std::string_view text(std::uint64_t offset) const {
        if (offset >= bytes_.size()) fault("a name is outside of its table");
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
constexpr std::uint64_t kind = 0x10, flags = 0x30, section_table = 0x28, section_size = 0x3a,
                        section_count = 0x3c, section_names = 0x3e;
constexpr std::uint64_t name = 0, type = 4, offset = 0x18, size = 0x20, link = 0x28, info = 0x2c;
constexpr std::uint64_t symbol_kind = 4, symbol_other = 5, symbol_section = 6, symbol_value = 8,
                        symbol_size = 16;
constexpr std::uint32_t rela = 4, rel = 9;
constexpr std::uint8_t object = 1;
constexpr std::uint8_t cuda_object = 13;
constexpr std::uint16_t relocatable = 1;        // kind of file
constexpr std::uint8_t global_function = 0x12;  // binding and type
constexpr std::uint8_t cuda_entry = 0x10;       // in `other`
constexpr std::uint16_t header_bytes = 0x40;
constexpr std::uint64_t symbol_bytes = 24;
constexpr std::uint32_t no_bits = 8;
// Of relocatable code: zeros in global memory, local and shared memory. Nothing of them is in the
// file.
constexpr std::uint32_t cuda_no_bits[] = {0x70000007, 0x70000009, 0x7000000a};
}  // namespace elf

struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::uint64_t size = 0;  // also of a section without content
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
        const auto type = headers.at<std::uint32_t>(header + elf::type);
        if (type == elf::no_bits || std::ranges::count(elf::cuda_no_bits, type) > 0)
            return Bytes({});
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
                         .info = headers.at<std::uint32_t>(header + elf::info),
                         .size = headers.at<std::uint64_t>(header + elf::size),
                         .content = content(header)});
    }
    return found;
}

const Section* find(const std::vector<Section>& all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &Section::name);
    return found == all.end() ? nullptr : &*found;
}

// Names of the symbols, by index.
std::vector<std::string_view> symbols(const std::vector<Section>& all) {
    std::vector<std::string_view> found;
    const Section* table = find(all, ".symtab");
    if (!table || table->link >= all.size()) return found;
    const Bytes& names = all[table->link].content;
    for (std::uint64_t i = 0; (i + 1) * elf::symbol_bytes <= table->content.size(); ++i) {
        found.push_back(names.text(table->content.at<std::uint32_t>(i * elf::symbol_bytes)));
    }
    return found;
}

// The whole symbol table, by index.
std::vector<CubinSymbol> all_symbols(const std::vector<Section>& all) {
    std::vector<CubinSymbol> found;
    const Section* table = find(all, ".symtab");
    if (!table || table->link >= all.size()) return found;
    const Bytes& names = all[table->link].content;
    const Bytes& entries = table->content;
    for (std::uint64_t at = 0; at + elf::symbol_bytes <= entries.size(); at += elf::symbol_bytes) {
        CubinSymbol symbol;
        symbol.name = names.text(entries.at<std::uint32_t>(at));
        const auto section = entries.at<std::uint16_t>(at + elf::symbol_section);
        if (section < all.size()) symbol.section = all[section].name;
        symbol.value = entries.at<std::uint64_t>(at + elf::symbol_value);
        symbol.size = entries.at<std::uint64_t>(at + elf::symbol_size);
        const auto kind = entries.at<std::uint8_t>(at + elf::symbol_kind);
        symbol.is_object = (kind & 15) == elf::object;
        symbol.is_cuda_object = (kind & 15) == elf::cuda_object;
        symbol.is_foreign_function = section == 0 && kind == elf::global_function;
        symbol.is_entry = (entries.at<std::uint8_t>(at + elf::symbol_other) & elf::cuda_entry) != 0;
        found.push_back(std::move(symbol));
    }
    return found;
}

std::vector<Relocation> read_relocations(const Section& section,
                                         const std::vector<CubinSymbol>& symbols) {
    std::vector<Relocation> found;
    const bool with_addend = section.type == elf::rela;
    const std::uint64_t stride = with_addend ? 24 : 16;
    for (std::uint64_t at = 0; at + stride <= section.content.size(); at += stride) {
        Relocation one;
        one.offset = section.content.at<std::uint64_t>(at);
        const auto info = section.content.at<std::uint64_t>(at + 8);
        one.type = static_cast<std::uint32_t>(info);
        const std::uint64_t symbol = info >> 32;
        if (symbol >= symbols.size()) fault("a relocation names no symbol");
        one.symbol = symbols[symbol];
        if (with_addend) one.addend = section.content.at<std::int64_t>(at + 16);
        found.push_back(std::move(one));
    }
    return found;
}

// The assembler's notes (.nv.info): records of one byte format, one byte attribute, and a 16-bit
// value or size.
namespace note {
constexpr std::uint8_t sized = 4, half = 3, byte = 2;
constexpr std::uint8_t most_threads = 0x05, parameter_bank = 0x0a, frame_size = 0x11,
                       min_stack_size = 0x12, parameter = 0x17, parameter_bytes = 0x19,
                       register_count = 0x2f, cluster = 0x3d, barrier_count = 0x4c;
}  // namespace note

template <typename Use>
void each_note(const Bytes& notes, Use use) {
    std::uint64_t at = 0;
    while (at + 4 <= notes.size()) {
        const auto format = notes.at<std::uint8_t>(at);
        const auto attribute = notes.at<std::uint8_t>(at + 1);
        const auto size = notes.at<std::uint16_t>(at + 2);
        at += 4;
        if (format == note::sized) {
            use(attribute, size, notes.part(at, size));
            at += size;
        } else if (format == note::half) {
            use(attribute, size, Bytes({}));
        } else if (format == note::byte) {
            use(attribute, size & 0xff, Bytes({}));
        }
    }
}

// Of the whole file: {symbol, value} pairs for each kernel.
void read_common_notes(const Bytes& notes, std::string_view name,
                       const std::vector<std::string_view>& symbols, Kernel& kernel) {
    each_note(notes, [&](std::uint8_t attribute, std::uint16_t size, const Bytes& value) {
        if (size != 8 || value.size() != 8) return;
        const auto symbol = value.at<std::uint32_t>(0);
        if (symbol >= symbols.size() || symbols[symbol] != name) return;
        const auto number = value.at<std::uint32_t>(4);
        if (attribute == note::register_count) kernel.registers = static_cast<int>(number);
        if (attribute == note::frame_size || attribute == note::min_stack_size) {
            kernel.stack_bytes = std::max<std::int64_t>(kernel.stack_bytes.value_or(0), number);
        }
    });
}

// Of one kernel: its parameters and where they lie.
void read_own_notes(const Bytes& notes, Kernel& kernel) {
    each_note(notes, [&](std::uint8_t attribute, std::uint16_t size, const Bytes& value) {
        if (attribute == note::parameter_bank && value.size() == 8) {
            kernel.bank_0_base = value.at<std::uint16_t>(4);
            kernel.bank_0_bytes = value.at<std::uint16_t>(6);
        } else if (attribute == note::parameter_bytes && value.size() == 0) {
            kernel.bank_0_bytes = size;
        } else if (attribute == note::barrier_count && value.size() == 0) {
            kernel.barriers = static_cast<std::uint8_t>(size);
        } else if (attribute == note::most_threads && value.size() == 12) {
            // By dimension; only the product counts.
            kernel.most_threads = std::uint64_t{value.at<std::uint32_t>(0)} *
                                  value.at<std::uint32_t>(4) * value.at<std::uint32_t>(8);
        } else if (attribute == note::cluster && value.size() == 12) {
            kernel.cluster = {value.at<std::uint32_t>(0), value.at<std::uint32_t>(4),
                              value.at<std::uint32_t>(8)};
        } else if (attribute == note::parameter && value.size() == 12) {
            // Index of the record, ordinal and offset, then flags with the size in the upper bits.
            kernel.parameters.push_back({.ordinal = value.at<std::uint16_t>(4),
                                         .offset = value.at<std::uint16_t>(6),
                                         .size = value.at<std::uint32_t>(8) >> 18});
        }
    });
    std::ranges::sort(kernel.parameters, {}, &Parameter::ordinal);
}

constexpr std::string_view text_prefix = ".text.";
constexpr std::uint64_t most_shared_section = std::uint64_t{1} << 30;

Kernel read_section(const std::vector<Section>& all, const Section& text) {
    Kernel kernel;
    kernel.name = text.name.substr(text_prefix.size());
    if (text.content.size() % instruction_bytes != 0) fault("machine code of an odd length");
    for (std::uint64_t at = 0; at < text.content.size(); at += instruction_bytes) {
        kernel.code.push_back(
            {text.content.at<std::uint64_t>(at), text.content.at<std::uint64_t>(at + 8)});
    }
    if (const Section* notes = find(all, ".nv.info")) {
        read_common_notes(notes->content, kernel.name, symbols(all), kernel);
    }
    if (const Section* notes = find(all, fmt::format(".nv.info.{}", kernel.name))) {
        read_own_notes(notes->content, kernel);
    }
    if (const Section* shared = find(all, fmt::format(".nv.shared.{}", kernel.name))) {
        if (shared->size > most_shared_section) fault("too much shared memory");
        kernel.shared_bytes = static_cast<std::int64_t>(shared->size);
    }
    return kernel;
}

// The header's flags hold the number of the architecture: in their second byte from CUDA 13 on,
// in their lowest before.
std::optional<int> architecture(const Bytes& file) {
    const auto flags = file.at<std::uint32_t>(elf::flags);
    for (const std::uint32_t number : {flags >> 8 & 0xff, flags & 0xff}) {
        if (names_architecture(static_cast<int>(number))) return static_cast<int>(number);
    }
    return std::nullopt;
}

constexpr std::string_view shared_prefix = ".nv.shared.";

// In relocatable code the linker has yet to give shared variables their places: instead of these
// symbols have an alignment. They get places in the order of the table, as nothing depends on
// which; the system's part is not in their sections' sizes. Bytes by section.
std::map<std::string, std::uint64_t> lay_out_shared(std::vector<CubinSymbol>& symbols) {
    std::map<std::string, std::uint64_t> used;
    for (CubinSymbol& symbol : symbols) {
        if (!symbol.is_cuda_object || !symbol.section.starts_with(shared_prefix)) continue;
        std::uint64_t& end = used[symbol.section];
        const std::uint64_t alignment = std::clamp<std::uint64_t>(symbol.value, 1, 4096);
        symbol.value = (end + alignment - 1) / alignment * alignment;
        if (symbol.size > most_shared_section - std::min(symbol.value, most_shared_section))
            fault("too much shared memory");
        end = symbol.value + symbol.size;
    }
    return used;
}

}  // namespace

const Kernel& Cubin::kernel(std::string_view name) const {
    const auto found = std::ranges::find(kernels, name, &Kernel::name);
    if (found != kernels.end()) return *found;
    std::string names;
    for (const Kernel& one : kernels) {
        if (!one.is_function) names += (names.empty() ? "" : ", ") + one.name;
    }
    throw InputError(fmt::format("no kernel '{}' in {}; there are: {}", name, file,
                                 names.empty() ? "none" : names));
}

std::string source_line(const Kernel& kernel, std::int64_t address) {
    const auto behind = std::ranges::upper_bound(kernel.lines, address, {}, &SourceLine::address);
    if (behind == kernel.lines.begin()) return "";
    const SourceLine& line = *std::prev(behind);
    if (line.line == 0) return "";
    return fmt::format("{}:{}", line.file, line.line);
}

std::size_t own_instructions(const Kernel& kernel) {
    if (kernel.functions.empty()) return kernel.code.size();
    return static_cast<std::size_t>(kernel.functions.front().address / instruction_bytes);
}

std::int64_t own_shared_bytes(const Kernel& kernel, int architecture) {
    const std::int64_t of_system = architecture_like(architecture).code.system_shared;
    if (of_system == 0) return kernel.shared_bytes;
    return std::max<std::int64_t>(kernel.shared_bytes - of_system, 0);
}

Cubin read_cubin(std::string_view bytes) {
    const Bytes file(bytes);
    const std::vector<Section> all = sections(file);
    Cubin cubin;
    cubin.named_architecture = architecture(file);
    if (cubin.named_architecture && known_architecture(*cubin.named_architecture))
        cubin.architecture = cubin.named_architecture;
    cubin.symbols = all_symbols(all);
    const bool relocatable = file.at<std::uint16_t>(elf::kind) == elf::relocatable;
    std::map<std::string, std::uint64_t> shared;
    if (relocatable) shared = lay_out_shared(cubin.symbols);
    std::map<std::string, std::vector<SourceLine>> lines;
    for (const Section& section : all) {
        if (section.name.starts_with(text_prefix)) {
            cubin.kernels.push_back(read_section(all, section));
        } else if (section.name.starts_with(".nv.constant")) {
            cubin.constants[std::string(section.name)] = std::string(section.content.all());
        } else if (section.name == ".nv.global" || section.name == ".nv.global.init") {
            if (section.size > (std::uint64_t{1} << 34)) fault("too large variables");
            std::string& content = cubin.variables[std::string(section.name)];
            content = section.content.all();
            content.resize(section.size);
        } else if ((section.type == elf::rel || section.type == elf::rela) &&
                   section.info < all.size()) {
            const std::string_view changed = all[section.info].name;
            if (changed.starts_with(".text.") || changed.starts_with(".nv.constant") ||
                changed.starts_with(".nv.global")) {
                // A section may have two tables: with addends and without.
                std::vector<Relocation>& all_of_it = cubin.relocations[std::string(changed)];
                std::ranges::move(read_relocations(section, cubin.symbols),
                                  std::back_inserter(all_of_it));
            }
            if (changed == ".debug_line") {
                lines = read_debug_lines(all[section.info].content.all(),
                                         read_relocations(section, cubin.symbols));
            }
        }
    }
    for (Kernel& kernel : cubin.kernels) {
        if (relocatable && cubin.architecture) {
            const auto own =
                static_cast<std::int64_t>(shared[fmt::format("{}{}", shared_prefix, kernel.name)]);
            const std::int64_t of_system =
                architecture_like(*cubin.architecture).code.system_shared;
            kernel.shared_bytes = std::max(kernel.shared_bytes, own) + of_system;
        }
        kernel.lines = std::move(lines[fmt::format("{}{}", text_prefix, kernel.name)]);
    }
    add_functions(cubin);
    return cubin;
}

Kernel read_kernel(std::string_view bytes, std::string_view name) {
    const std::vector<Section> all = sections(Bytes(bytes));
    const Section* text = find(all, fmt::format("{}{}", text_prefix, name));
    if (!text) fault(fmt::format("no kernel '{}' in it", name));
    return read_section(all, *text);
}

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
#include "isa/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "core/error.h"

namespace occupipe::isa {
namespace {

constexpr std::string_view text_prefix = ".text.";
constexpr std::string_view constant_prefix = ".nv.constant";

std::uint64_t bytes_of(const Kernel& kernel) { return kernel.code.size() * instruction_bytes; }

// Kinds of relocations in code, by the names that NVIDIA's linker has for them: where bits of an
// address go. 128 bits are counted from the instruction's first.
struct Place {
    std::uint32_t type;
    int bit, width, shift;  // `width` bits of the address from bit `shift` on
};
constexpr Place places[] = {
    {0x37, 32, 32, 0},                       // ABS32_32
    {0x38, 32, 32, 0},                       // ABS32_LO_32
    {0x39, 32, 32, 32},                      // ABS32_HI_32
    {0x3a, 34, 47, 2},                       // ABS47_34: branches count in units of 4 bytes
    {0x3d, 32, 32, 0},                       // FUNC_DESC32_32
    {0x3e, 32, 32, 0},                       // FUNC_DESC32_LO_32
    {0x3f, 32, 32, 32},                      // FUNC_DESC32_HI_32
    {0x4a, 40, 24, 0},                       // ABS24_40: in an address of shared memory
    {0x4b, 16, 8, 2},   {0x4b, 34, 47, 10},  // ABS55_16_34
    {0x72, 16, 8, 2},   {0x72, 34, 48, 10},  // ABS56_16_34
    {0x70, 32, 32, 0},                       // UNIFIED32_LO_32
    {0x71, 32, 32, 32},                      // UNIFIED32_HI_32
};

// The same for variables in constant memory: where the offset in the bank goes, and the bank.
struct ConstantPlace {
    Place offset;
    bool with_bank;
};
constexpr int bank_bit = 54, bank_width = 5;
constexpr ConstantPlace constant_places[] = {
    {{0x3b, 32, 32, 0}, false},  // CONST_FIELD32: a register's value
    {{0x40, 40, 14, 2}, true},   // CONST_FIELD19_40
    {{0x42, 40, 14, 2}, true},   // CONST_FIELD21_38, of whole words
    {{0x73, 37, 17, 0}, true},   // CONST_FIELD22_37
};

void put_bits(Word& word, int first, int width, std::uint64_t value) {
    for (int i = 0; i < width; ++i) {
        const int at = first + i;
        std::uint64_t& half = at < 64 ? word.low : word.high;
        const std::uint64_t bit = std::uint64_t{1} << (at % 64);
        half = (value >> i & 1) != 0 ? half | bit : half & ~bit;
    }
}

}  // namespace

namespace {

// Sections that the relocations of `section` name.
std::set<std::string> named_by(const Cubin& cubin, const std::string& section) {
    std::set<std::string> named;
    const auto found = cubin.relocations.find(section);
    if (found == cubin.relocations.end()) return named;
    for (const Relocation& one : found->second) {
        if (one.symbol.section != section) named.insert(one.symbol.section);
    }
    return named;
}

std::string section_of(const Kernel& kernel) { return std::string(text_prefix) + kernel.name; }

void append(Kernel& kernel, const Kernel& function, std::uint64_t offset) {
    const auto begin = static_cast<std::int64_t>(bytes_of(kernel));
    kernel.functions.push_back({.name = function.name, .address = begin, .offset = offset});
    kernel.code.insert(kernel.code.end(), function.code.begin(), function.code.end());
    if (function.registers && kernel.registers) {
        kernel.registers = std::max(*kernel.registers, *function.registers);
    }
    if (function.stack_bytes) {
        kernel.stack_bytes = kernel.stack_bytes.value_or(0) + *function.stack_bytes;
    }
    kernel.lines.push_back({.address = begin});
    for (SourceLine line : function.lines) {
        line.address += begin;
        kernel.lines.push_back(std::move(line));
    }
}

}  // namespace

void add_functions(Cubin& cubin) {
    std::set<std::string> named, named_in_data;
    for (const auto& [section, relocations] : cubin.relocations) {
        named.merge(named_by(cubin, section));
        if (!section.starts_with(text_prefix)) named_in_data.merge(named_by(cubin, section));
    }
    std::set<std::string> entries;
    for (const CubinSymbol& one : cubin.symbols) {
        if (one.is_entry) entries.insert(one.section);
    }
    std::vector<Kernel> functions;
    for (Kernel& kernel : cubin.kernels) {
        // Relocatable code has functions that nothing calls any more.
        const std::string section = section_of(kernel);
        const bool not_launched = !entries.empty() && !entries.contains(section);
        kernel.is_function = !kernel.bank_0_bytes && (named.contains(section) || not_launched);
        if (kernel.is_function) functions.push_back(kernel);
    }
    if (functions.empty()) return;
    for (Kernel& kernel : cubin.kernels) {
        if (kernel.is_function) continue;
        std::set<std::string> reached = named_in_data;
        std::vector<std::string> open = {section_of(kernel)};
        open.insert(open.end(), reached.begin(), reached.end());
        while (!open.empty()) {
            const std::string section = open.back();
            open.pop_back();
            for (const std::string& one : named_by(cubin, section)) {
                if (reached.insert(one).second) open.push_back(one);
            }
        }
        std::uint64_t offset = 0;
        for (const Kernel& one : functions) {
            if (reached.contains(section_of(one))) append(kernel, one, offset);
            offset += bytes_of(one);
        }
    }
}

std::optional<std::uint64_t> function_offset(const Cubin& cubin, std::string_view section) {
    std::uint64_t offset = 0;
    for (const Kernel& kernel : cubin.kernels) {
        if (!kernel.is_function) continue;
        if (section.starts_with(text_prefix) && section.substr(text_prefix.size()) == kernel.name) {
            return offset;
        }
        offset += bytes_of(kernel);
    }
    return std::nullopt;
}

std::optional<std::uint64_t> place_of_function(const Kernel& kernel, std::uint64_t address) {
    const std::uint64_t offset = address - first_function;
    const auto behind =
        std::ranges::upper_bound(kernel.functions, offset, {}, &KernelFunction::offset);
    if (behind == kernel.functions.begin()) return std::nullopt;
    const KernelFunction& function = *std::prev(behind);
    const std::uint64_t within = offset - function.offset;
    const auto begin = static_cast<std::uint64_t>(function.address);
    const auto end = behind == kernel.functions.end() ? bytes_of(kernel)
                                                      : static_cast<std::uint64_t>(behind->address);
    if (within >= end - begin) return std::nullopt;
    return begin + within;
}

void relocate_code(const Cubin& cubin, const Kernel& kernel, std::vector<Word>& code,
                   const std::function<std::uint64_t(const Relocation&)>& address) {
    const auto relocate = [&](const std::string& name, std::uint64_t begin, std::uint64_t end) {
        const auto found = cubin.relocations.find(std::string(text_prefix) + name);
        if (found == cubin.relocations.end()) return;
        for (const Relocation& one : found->second) {
            const std::uint64_t at = begin + one.offset;
            const auto known = [&](const Place& place) { return place.type == one.type; };
            const auto* const constant =
                std::ranges::find_if(constant_places, known, &ConstantPlace::offset);
            const bool is_constant = constant != std::end(constant_places) &&
                                     one.symbol.section.starts_with(constant_prefix);
            if (one.symbol.section.empty() && !one.symbol.is_foreign_function)
                throw InputError(fmt::format(
                    "kernel '{}': relocatable code: '{}' is in another file; link it with nvlink "
                    "(nvcc -dlink)",
                    kernel.name, one.symbol.name));
            if (!is_constant && std::ranges::none_of(places, known)) {
                throw InputError(fmt::format(
                    "kernel '{}' calls or addresses '{}' in another section ({:#06x}, relocation "
                    "{}), which is not executed yet",
                    kernel.name, one.symbol.name, one.offset, one.type));
            }
            if (one.offset % instruction_bytes != 0 || at + instruction_bytes > end) {
                throw InputError(
                    fmt::format("kernel '{}': a relocation of '{}' is between "
                                "instructions or beyond the code ({:#06x})",
                                kernel.name, name, one.offset));
            }
            Word& word = code.at(at / instruction_bytes);
            if (is_constant) {
                const Place& place = constant->offset;
                const auto offset =
                    one.symbol.value + static_cast<std::uint64_t>(one.addend.value_or(0));
                put_bits(word, place.bit, place.width, offset >> place.shift);
                const char bank = one.symbol.section.c_str()[constant_prefix.size()];
                if (constant->with_bank)
                    put_bits(word, bank_bit, bank_width, static_cast<std::uint64_t>(bank - '0'));
                continue;
            }
            const std::uint64_t value = address(one);
            for (const Place& place : places) {
                if (known(place)) put_bits(word, place.bit, place.width, value >> place.shift);
            }
        }
    };
    const std::uint64_t all = code.size() * instruction_bytes;
    const auto begin_of = [&](std::size_t i) {
        return i < kernel.functions.size() ? static_cast<std::uint64_t>(kernel.functions[i].address)
                                           : all;
    };
    relocate(kernel.name, 0, begin_of(0));
    for (std::size_t i = 0; i < kernel.functions.size(); ++i) {
        relocate(kernel.functions[i].name, begin_of(i), begin_of(i + 1));
    }
}

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
// Where a cubin's variables lie, and the constants and variables that hold addresses of these.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "isa/decode.h"
#include "isa/functions.h"
#include "isa/machine/machine.h"
#include "isa/machine/semantics.h"

namespace occupipe::isa {
namespace {

// Types of relocations that were seen in data: an address of 32 or of 64 bits, and a generic one
// (of a variable by another one), which is the same here.
constexpr std::uint32_t address_32 = 1, address_64 = 2, generic_64 = 4;
// What a kernel is launched by from another one, which is not executed.
constexpr std::uint32_t descriptor_64 = 35;

// Variables in constant memory; kernels may read them by generic addresses, too, so they lie in
// global memory.
const std::string bank_3 = ".nv.constant3";

// Functions of another file get addresses at which neither code nor memory is, so that a module is
// executed as long as none of them is called.
constexpr std::uint64_t first_foreign = 0x0000'6000'0000'0000;
constexpr std::uint64_t foreign_bytes = 0x1'0000;

}  // namespace

struct LoadedModule::State {
    const Cubin* cubin = nullptr;
    GlobalMemory* memory = nullptr;
    std::map<std::string, const GlobalMemory::Buffer*> variables;          // by section
    std::map<std::string, std::vector<std::byte>, std::less<>> constants;  // by section
    std::vector<Symbol> symbols;
    std::map<std::string, std::shared_ptr<const std::vector<Instruction>>> decoded;  // by kernel
    std::map<std::string, std::shared_ptr<const PreparedCode>> prepared;             // by kernel
    std::vector<std::string> foreign;  // by address, `foreign_bytes` each

    void place_variables();
    void find_symbols();
    void relocate(const std::string& section, std::span<std::byte> bytes);
    std::uint64_t address_of(const CubinSymbol& symbol) const;
    std::uint64_t address_of_foreign(const std::string& function);
};

void LoadedModule::State::place_variables() {
    std::map<std::string, std::string> sections = cubin->variables;
    if (const auto bank = cubin->constants.find(bank_3); bank != cubin->constants.end()) {
        sections.insert(*bank);
    }
    for (const auto& [section, bytes] : sections) {
        if (bytes.empty()) continue;
        std::string name = section;
        for (int again = 2; memory->named(name); ++again) {
            name = fmt::format("{}#{}", section, again);
        }
        const GlobalMemory::Buffer& buffer = memory->add(name, bytes.size());
        std::memcpy(buffer.data, bytes.data(), bytes.size());
        variables[section] = &buffer;
    }
}

void LoadedModule::State::find_symbols() {
    for (const CubinSymbol& one : cubin->symbols) {
        if (!one.is_object && !one.is_cuda_object) continue;
        Symbol symbol;
        symbol.name = one.name;
        symbol.size = one.size;
        const auto found = variables.find(one.section);
        if (one.section == bank_3 && found != variables.end()) {
            symbol.space = Space::constant;
            symbol.address = one.value;
        } else if (found != variables.end()) {
            symbol.address = found->second->address + one.value;
        } else {
            continue;
        }
        symbols.push_back(std::move(symbol));
    }
}

std::uint64_t LoadedModule::State::address_of(const CubinSymbol& symbol) const {
    if (const auto found = variables.find(symbol.section); found != variables.end()) {
        return found->second->address + symbol.value;
    }
    if (const auto offset = function_offset(*cubin, symbol.section)) {
        return first_function + *offset + symbol.value;
    }
    // Shared memory begins at 0, behind the system's part, which code adds itself.
    if (symbol.section.starts_with(".nv.shared.")) return symbol.value;
    // Code begins at 0, each kernel for itself.
    if (symbol.section.starts_with(".text.")) return symbol.value;
    if (symbol.section.empty())
        throw InputError(fmt::format(
            "relocatable code: '{}' is in another file; link it with nvlink (nvcc -dlink)",
            symbol.name));
    // Of templates: the linker gives it a place.
    if (symbol.section == ".nv_debug.shared")
        throw InputError(fmt::format(
            "relocatable code: '{}' has no place in shared memory yet; link it with nvlink (nvcc "
            "-dlink)",
            symbol.name));
    throw InputError(
        fmt::format("the address of '{}' (in '{}') is not known", symbol.name, symbol.section));
}

std::uint64_t LoadedModule::State::address_of_foreign(const std::string& function) {
    auto found = std::ranges::find(foreign, function);
    if (found == foreign.end()) found = foreign.insert(foreign.end(), function);
    return first_foreign + static_cast<std::uint64_t>(found - foreign.begin()) * foreign_bytes;
}

void LoadedModule::State::relocate(const std::string& section, std::span<std::byte> bytes) {
    const auto found = cubin->relocations.find(section);
    if (found == cubin->relocations.end()) return;
    for (const Relocation& one : found->second) {
        const std::size_t size = one.type == address_32 ? 4 : 8;
        if (one.type != address_64 && one.type != address_32 && one.type != generic_64 &&
            one.type != descriptor_64) {
            throw InputError(
                fmt::format("{}: a relocation of type {} is not known (at {:#x}, '{}')", section,
                            one.type, one.offset, one.symbol.name));
        }
        if (one.offset > bytes.size() || bytes.size() - one.offset < size) {
            throw InputError(fmt::format("{}: a relocation is beyond its end", section));
        }
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + one.offset, size);
        if (one.addend) value = static_cast<std::uint64_t>(*one.addend);
        const bool outside =
            one.type == descriptor_64 || (one.symbol.is_foreign_function && one.type == address_64);
        value += outside ? address_of_foreign(one.symbol.name) : address_of(one.symbol);
        std::memcpy(bytes.data() + one.offset, &value, size);
    }
}

LoadedModule::LoadedModule(const Cubin& cubin, GlobalMemory& memory)
    : state_(std::make_unique<State>()) {
    if (!cubin.architecture || !known_architecture(*cubin.architecture)) {
        throw InputError("a cubin of an architecture whose machine code is not read");
    }
    state_->cubin = &cubin;
    state_->memory = &memory;
    state_->place_variables();
    state_->find_symbols();
    for (const auto& [section, bytes] : cubin.constants) {
        if (section == bank_3) continue;
        std::vector<std::byte>& copy = state_->constants[section];
        copy.resize(bytes.size());
        if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
        state_->relocate(section, copy);
    }
    for (const auto& [section, buffer] : state_->variables) {
        state_->relocate(section, GlobalMemory::bytes(*buffer));
    }
}

LoadedModule::~LoadedModule() = default;
LoadedModule::LoadedModule(LoadedModule&&) noexcept = default;
LoadedModule& LoadedModule::operator=(LoadedModule&&) noexcept = default;

const Cubin& LoadedModule::cubin() const { return *state_->cubin; }
GlobalMemory& LoadedModule::memory() const { return *state_->memory; }
const std::vector<Symbol>& LoadedModule::symbols() const { return state_->symbols; }

const Symbol* LoadedModule::symbol(std::string_view name) const {
    const auto found = std::ranges::find(state_->symbols, name, &Symbol::name);
    return found == state_->symbols.end() ? nullptr : &*found;
}

std::span<std::byte> LoadedModule::bytes(const Symbol& symbol) {
    std::uint64_t address = symbol.address;
    if (symbol.space == Space::constant) address += bank_3_address();
    const GlobalMemory::Buffer* const buffer = state_->memory->find(address, symbol.size);
    if (!buffer) return {};
    return GlobalMemory::bytes(*buffer).subspan(address - buffer->address, symbol.size);
}

std::shared_ptr<const std::vector<Instruction>> LoadedModule::decoded(const Kernel& kernel) {
    auto& code = state_->decoded[kernel.name];
    if (!code) {
        std::vector<Word> words = kernel.code;
        relocate_code(*state_->cubin, kernel, words, [&](const Relocation& one) {
            const auto addend = static_cast<std::uint64_t>(one.addend.value_or(0));
            return addend + (one.symbol.is_foreign_function
                                 ? state_->address_of_foreign(one.symbol.name)
                                 : state_->address_of(one.symbol));
        });
        code = std::make_shared<const std::vector<Instruction>>(
            decode(words, *state_->cubin->architecture));
    }
    return code;
}

std::shared_ptr<const PreparedCode>& LoadedModule::prepared(const Kernel& kernel) {
    return state_->prepared[kernel.name];
}

std::uint64_t LoadedModule::bank_3_address() const {
    const auto found = state_->variables.find(bank_3);
    return found == state_->variables.end() ? 0 : found->second->address;
}

const std::string* LoadedModule::foreign_function(std::uint64_t address) const {
    if (address < first_foreign) return nullptr;
    const std::uint64_t number = (address - first_foreign) / foreign_bytes;
    return number < state_->foreign.size() ? &state_->foreign[number] : nullptr;
}

bool LoadedModule::allocates() const {
    return std::ranges::any_of(state_->foreign, [](const std::string& name) {
        const DriverFunction* const function = driver_function(name);
        return function != nullptr && function->uses_heap;
    });
}

std::span<const std::byte> LoadedModule::bank(int number, std::string_view kernel) const {
    if (number == 3) {
        const auto found = state_->variables.find(bank_3);
        if (found == state_->variables.end()) return {};
        return GlobalMemory::bytes(*found->second);
    }
    const std::string section = fmt::format(".nv.constant{}", number);
    for (const std::string& name : {fmt::format("{}.{}", section, kernel), section}) {
        const auto found = state_->constants.find(name);
        if (found != state_->constants.end()) return found->second;
    }
    return {};
}

}  // namespace occupipe::isa

// SPDX-License-Identifier: MIT
// Instructions become steps: operands become places in a warp's registers or splatted constants.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "isa/decode.h"
#include "isa/functions.h"
#include "isa/machine/launch.h"
#include "isa/machine/semantics.h"
#include "isa/machine/stack_check.h"
#include "isa/machine/waiting.h"

namespace occupipe::isa {
namespace {

constexpr std::uint32_t block =
    16;  // zeros, and sinks: as many as the widest operand has registers
constexpr std::int64_t zero_special = 255;  // SRZ
constexpr std::uint32_t most_shared = 256 * 1024;

void refuse(Warp& warp, const Step& step, Mask) {
    fail(warp, step, -1,
         warp.launch->prepared->why_not.at(static_cast<std::size_t>(step.immediate)),
         ExecutionError::Fault::not_executed);
}

// A call of a function that the driver brings: an error where it happens, no reason to say so
// before.
void leave_the_file(Warp& warp, const Step& step, Mask active) { refuse(warp, step, active); }

void fall_off_the_end(Warp& warp, const Step& step, Mask) {
    fail(warp, step, -1, "there is no instruction at the place that it went to");
}

bool reads_bank(std::string_view opcode) {
    return opcode == "LDC" || opcode == "ULDC" || opcode == "LDCU";
}

bool switches(std::string_view opcode) {
    constexpr std::string_view all[] = {"BRA",  "BRX",   "BRXU",     "JMP",       "CALL", "RET",
                                        "EXIT", "BSYNC", "WARPSYNC", "NANOSLEEP", "BAR",  "YIELD"};
    return std::ranges::find(all, opcode) != std::end(all);
}

class Preparation {
public:
    // `launch`: whose banks tell what is known; its values are not looked at.
    Preparation(const Launch& launch, PreparedCode& made) : launch_(launch), made_(made) {}

    void run() {
        lay_out();
        made_.steps.reserve(made_.code->size() + 1);
        for (const Instruction& one : *made_.code) made_.steps.push_back(step(one));
        Step end;
        end.run = &fall_off_the_end;
        end.guard = predicate_index::always;
        end.instruction = &made_.code->back();
        made_.steps.push_back(end);
    }

private:
    void lay_out() {
        int general = 1, uniform = 1;
        for (const Instruction& one : *made_.code) {
            for (const Operand& operand : one.operands) {
                int& most = operand.file == File::uniform ? uniform : general;
                const int count = std::max(operand.count, 2);
                if (operand.number) most = std::max(most, *operand.number + count);
                for (const auto& also : {operand.uniform, operand.descriptor}) {
                    if (also) uniform = std::max(uniform, *also + 2);
                }
            }
        }
        made_.zero = static_cast<std::uint32_t>(general);
        made_.sink = made_.zero + block;
        made_.uniform = made_.sink + block;
        made_.register_count = made_.uniform + static_cast<std::uint32_t>(uniform);
    }

    // Two words, low first, splatted; where they stand in Launch::constants.
    std::uint32_t constant(std::uint32_t low, std::uint32_t high) {
        const auto [at, fresh] = pool_.try_emplace(
            std::pair(low, high), static_cast<std::uint32_t>(made_.constants.size()));
        if (fresh) {
            made_.constants.push_back(splat(low));
            made_.constants.push_back(splat(high));
        }
        return at->second;
    }

    // The same for two words of a bank, which every launch reads anew.
    std::uint32_t bank_words(int bank, std::uint64_t offset) {
        const auto [at, fresh] = bank_pool_.try_emplace(
            std::pair(bank, offset), static_cast<std::uint32_t>(made_.constants.size()));
        if (fresh) {
            made_.constants.resize(made_.constants.size() + 2);
            made_.bank_words.push_back({.at = at->second, .bank = bank, .offset = offset});
            made_.banks |= 1U << bank;
        }
        return at->second;
    }

    std::uint32_t register_index(File file, std::optional<int> number, bool is_written) const {
        if (file == File::uniform) {
            if (!number || *number == constant_register(File::uniform, launch_.architecture)) {
                return is_written ? made_.sink : made_.zero;
            }
            return made_.uniform + static_cast<std::uint32_t>(*number);
        }
        if (!number) return is_written ? made_.sink : made_.zero;
        return static_cast<std::uint32_t>(*number);
    }

    static std::uint8_t predicate_number(File file, std::optional<int> number) {
        const bool uniform = file == File::uniform_predicate;
        if (!number) return uniform ? predicate_index::uniform_always : predicate_index::always;
        return static_cast<std::uint8_t>(*number + (uniform ? predicate_index::uniform : 0));
    }

    void give_up(Step& step, const std::string& why) {
        step.run = &refuse;
        step.immediate = static_cast<std::int64_t>(made_.why_not.size());
        made_.why_not.push_back(why);
    }

    Step step(const Instruction& one) {
        Step step;
        step.instruction = &one;
        step.destination = made_.sink;
        step.predicate_out.fill(predicate_index::sink);
        step.predicate_in.fill({.index = predicate_index::always});
        step.guard = predicate_index::always;
        step.address.base = step.address.uniform = made_.zero;
        step.address_2 = step.address;
        if (one.guard) {
            step.guard = predicate_number(one.guard->file, one.guard->number);
            step.guard_inverted = one.guard->inverted;
        }
        step.uniform = one.opcode.starts_with('U');
        if (!one.unknown.empty()) {
            give_up(step, fmt::format("{} ({}); its bits: {:#018x} {:#018x}",
                                      one.opcode.empty() ? "not understood" : "not executed yet",
                                      one.unknown, one.word.low, one.word.high));
            return step;
        }
        problem_.clear();
        outside_ = nullptr;
        addresses_ = 0;
        if (const std::string undeclared = undeclared_register(one); !undeclared.empty()) {
            give_up(step, undeclared);
            return step;
        }
        for (const Operand& operand : one.operands) use(operand, one, step);
        if (!problem_.empty()) {
            give_up(step, "not executed yet: " + problem_);
            return step;
        }
        if (outside_ && one.opcode == "CALL" && driver_function(*outside_) != nullptr) {
            step.run = call_of_driver();
            step.may_switch = true;
            return step;
        }
        if (outside_) {
            give_up(step, fmt::format("calls '{}', which is not executed", *outside_));
            step.run = &leave_the_file;
            return step;
        }
        const Semantics* const meaning = semantics_of(one.opcode);
        std::string why_not;
        if (meaning && is_stack_check(*made_.code, index_of(one), launch_.architecture)) {
            // Local memory, the stack with it, begins at 0.
            Instruction zero = one;
            zero.operands.back().value = zero_special;
            step.run = meaning->bind(zero, launch_.architecture, step, why_not);
        } else if (meaning) {
            step.run = meaning->bind(one, launch_.architecture, step, why_not);
        }
        step.may_switch = switches(one.opcode);
        if (step.run && one.opcode == "HFMA2") fold(one, step);
        if (step.run) return step;
        give_up(step, "not executed yet" + (why_not.empty() ? "" : ": " + why_not));
        return step;
    }

    // Compilers write constants by HFMA2 -RZ, RZ, x, y; such a step becomes a move of its result.
    void fold(const Instruction& one, Step& step) {
        for (const Operand& operand : one.operands) {
            if (operand.kind == Operand::Kind::constant) return;
        }
        for (std::size_t i = 0; i < step.source_count; ++i) {
            const Source& source = step.source[i];
            if (!source.constant && source.index != made_.zero) return;
        }
        if (step.destination_count != 1 || step.predicate_in[0].index != predicate_index::always) {
            return;
        }
        std::vector<Lanes> registers(made_.register_count);
        Warp warp;
        warp.registers = registers.data();
        warp.constants = made_.constants.data();
        step.run(warp, step, all_lanes);
        std::string why_not;
        Step move = step;
        const std::uint32_t value = registers[step.destination][0];
        move.source = {};
        move.source_count = 0;
        Source source;
        source.constant = source.present = source.uniform = true;
        source.index = constant(value, 0);
        add_source(move, source);
        move.run = semantics_of("MOV")->bind(one, launch_.architecture, move, why_not);
        if (move.run) step = move;
    }

    void add_source(Step& step, const Source& source) {
        if (step.source_count == step.source.size()) {
            problem_ = "more operands than expected";
            return;
        }
        step.source[step.source_count++] = source;
    }

    std::size_t index_of(const Instruction& one) const {
        return static_cast<std::size_t>(&one - made_.code->data());
    }

    // A warp has as many registers as the kernel declares. Garbled code names others.
    std::string undeclared_register(const Instruction& one) const {
        const std::optional<int>& declared = launch_.kernel->registers;
        if (!declared) return {};
        for (const Operand& operand : one.operands) {
            using Kind = Operand::Kind;
            const bool names = operand.kind == Kind::registers || operand.kind == Kind::address ||
                               operand.kind == Kind::target || operand.kind == Kind::constant;
            if (!names || !operand.number || operand.file != File::general) continue;
            const int last = *operand.number + operand.count - 1;
            if (last < *declared) continue;
            return fmt::format("R{} is beyond the {} registers that the kernel declares", last,
                               *declared);
        }
        return {};
    }

    static Source marked(const Operand& operand) {
        Source source;
        source.present = true;
        source.negated = operand.negated;
        source.absolute = operand.absolute;
        source.inverted = operand.inverted;
        source.count = static_cast<std::uint8_t>(operand.count);
        source.halves = operand.part == ".H0_H0" ? 2 : operand.part == ".H1_H1" ? 3 : 0;
        return source;
    }

    void use(const Operand& operand, const Instruction& one, Step& step) {
        using Kind = Operand::Kind;
        switch (operand.kind) {
            case Kind::registers:
                use_registers(operand, step);
                break;
            case Kind::predicate:
                use_predicate(operand, step);
                break;
            case Kind::immediate:
            case Kind::real:
            case Kind::half_pair:
                // Tables of its results; the row takes them from the text.
                if (one.opcode != "PLOP3") use_immediate(operand, step);
                break;
            case Kind::constant:
                if (reads_bank(one.opcode)) {
                    step.address = {.base = register_index(operand.file, operand.number, false),
                                    .uniform = made_.zero,
                                    .has_base = operand.number.has_value(),
                                    .offset = operand.value};
                    step.option[0] = static_cast<std::uint8_t>(operand.bank);
                    made_.banks |= 1U << operand.bank;
                } else {
                    use_constant(operand, step);
                }
                break;
            case Kind::address:
                use_address(operand, step);
                break;
            case Kind::special:
                step.immediate = operand.value;
                break;
            case Kind::barrier:
                step.immediate = operand.number.value_or(0);
                break;
            case Kind::target:
                if (operand.number) {
                    step.immediate = operand.value;
                    Source source;
                    source.present = true;
                    source.count = 2;
                    source.index = register_index(operand.file, operand.number, false);
                    add_source(step, source);
                } else {
                    use_target(static_cast<std::uint64_t>(operand.value), step);
                }
                break;
            case Kind::scoreboard:
            case Kind::all_predicates:
                break;
        }
    }

    void use_target(std::uint64_t address, Step& step) {
        step.target = static_cast<std::int32_t>(launch_.step_at(address));
        outside_ = launch_.module->foreign_function(address);
        if (outside_) step.immediate = static_cast<std::int64_t>(address);
    }

    void use_registers(const Operand& operand, Step& step) {
        if (operand.written) {
            step.destination = register_index(operand.file, operand.number, true);
            step.destination_is_zero = step.destination == made_.sink;
            step.destination_count = static_cast<std::uint8_t>(operand.count);
            if (operand.file == File::uniform) step.uniform = true;
            return;
        }
        Source source = marked(operand);
        source.index = register_index(operand.file, operand.number, false);
        source.uniform = operand.file == File::uniform;
        add_source(step, source);
    }

    void use_predicate(const Operand& operand, Step& step) {
        const std::uint8_t number = predicate_number(operand.file, operand.number);
        if (operand.written) {
            const std::size_t at = operand.place == 84 ? 1 : 0;
            if (!operand.number) return;
            step.predicate_out[at] = number;
            step.predicate_written[at] = true;
            return;
        }
        const std::size_t at = operand.place == 77 ? 1 : operand.place == 68 ? 2 : 0;
        step.predicate_in[at] = {.index = number, .inverted = operand.inverted};
    }

    void use_immediate(const Operand& operand, Step& step) {
        Source source = marked(operand);
        source.constant = source.uniform = true;
        const auto value = static_cast<std::uint64_t>(operand.value);
        const auto low = static_cast<std::uint32_t>(value);
        if (operand.wide) {  // the upper half is given
            source.index = constant(0, low);
        } else {
            source.index = constant(low, static_cast<std::uint32_t>(value >> 32));
        }
        add_source(step, source);
    }

    void use_constant(const Operand& operand, Step& step) {
        if (operand.number) {
            problem_ = "a constant with an index";
            return;
        }
        Source source = marked(operand);
        source.constant = source.uniform = true;
        const auto offset = static_cast<std::uint64_t>(operand.value);
        const std::span<const std::byte> bytes = launch_.bank(operand.bank);
        const std::size_t size = operand.count > 1 ? 8 : 4;
        const bool there = operand.value >= 0 && offset + size <= bytes.size() &&
                           (operand.bank != 0 || launch_.bank_0->known(offset, size));
        if (!there) {
            problem_ =
                fmt::format("what is at c[{:#x}][{:#x}] is not known", operand.bank, operand.value);
            return;
        }
        source.index = bank_words(operand.bank, offset);
        add_source(step, source);
    }

    void use_address(const Operand& operand, Step& step) {
        AddressSource address;
        address.base = register_index(File::general, operand.number, false);
        address.has_base = operand.number.has_value();
        address.wide_base = operand.count == 2;
        address.uniform = register_index(File::uniform, operand.uniform, false);
        address.has_uniform = operand.uniform.has_value();
        address.wide_uniform = operand.count == 2 || operand.part == ".U32";
        address.scale = static_cast<std::uint8_t>(operand.scale);
        address.offset = operand.value;
        (addresses_++ == 0 ? step.address : step.address_2) = address;
    }

    const Launch& launch_;
    PreparedCode& made_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pool_;
    std::map<std::pair<int, std::uint64_t>, std::uint32_t> bank_pool_;
    std::string problem_;
    const std::string* outside_ = nullptr;  // the function of another file that the step calls
    int addresses_ = 0;                     // of the step at hand
};

std::uint32_t product(const std::array<std::uint32_t, 3>& of) { return of[0] * of[1] * of[2]; }

void check_shape(const Kernel& kernel, const LaunchShape& shape) {
    constexpr std::array<std::uint64_t, 3> most_threads = {1024, 1024, 64};
    constexpr std::array<std::uint64_t, 3> most_groups = {0x7fffffff, 65535, 65535};
    std::uint64_t threads = 1;
    for (std::size_t i = 0; i < 3; ++i) {
        const char axis = "xyz"[i];
        if (shape.block[i] == 0 || shape.block[i] > most_threads[i]) {
            throw InputError(fmt::format("kernel '{}': {} threads along {}; 1 to {} are possible",
                                         kernel.name, shape.block[i], axis, most_threads[i]));
        }
        if (shape.grid[i] == 0 || shape.grid[i] > most_groups[i]) {
            throw InputError(fmt::format("kernel '{}': {} groups along {}; 1 to {} are possible",
                                         kernel.name, shape.grid[i], axis, most_groups[i]));
        }
        threads *= shape.block[i];
    }
    if (threads > 1024) {
        throw InputError(
            fmt::format("kernel '{}': {} threads in a group; at most 1024", kernel.name, threads));
    }
}

// Per thread. Besides what the assembler counted, a kilobyte for functions that are called by
// address or call themselves, four where they have sections of their own; nothing where no
// instruction reaches local memory.
std::uint32_t local_bytes(const Kernel& kernel, const std::vector<Instruction>& code) {
    constexpr std::string_view reaching[] = {"LDL", "STL", "LD", "ST", "ATOM"};
    bool reaches = false, calls = false;
    for (const Instruction& one : code) {
        reaches |= std::ranges::find(reaching, one.opcode) != std::end(reaching);
        calls |= one.opcode == "CALL";
    }
    if (!reaches) return 16;
    constexpr std::int64_t most = 512 * 1024;
    const auto stack = std::clamp<std::int64_t>(kernel.stack_bytes.value_or(0), 0, most);
    const int more = !kernel.functions.empty() ? 4096 : calls ? 1024 : 0;
    return static_cast<std::uint32_t>((stack + more + 31) / 16 * 16);
}

bool order_shows(const Instruction& one) {
    const bool reduction = one.opcode == "RED" || one.opcode == "REDG";
    if (!reduction && one.opcode != "ATOM" && one.opcode != "ATOMG") return false;
    for (const std::string_view real : {"F32", "F16x2", "F64", "F32x2", "F32x4", "F16x4", "F16x8",
                                        "BF16x2", "BF16x4", "BF16x8"}) {
        if (one.has(real)) return true;
    }
    if (one.has("CAS") || one.has("EXCH") || one.has("INC") || one.has("DEC")) return true;
    return std::ranges::any_of(one.operands, [](const Operand& operand) {
        return operand.written && operand.number && operand.kind == Operand::Kind::registers;
    });
}

// What code asks of hardware that is not executed: opcodes, or functions that the driver brings.
struct Absent {
    std::string_view name;
    std::string_view words;
};
constexpr Absent absent[] = {
    {"TEX", "a texture fetch"},
    {"TLD", "a texture fetch"},
    {"TLD4", "a texture gather"},
    {"TXD", "a texture fetch"},
    {"TXQ", "a query of a texture"},
    {"TMML", "a query of a texture"},
    {"SULD", "a read of a surface"},
    {"SUST", "a write of a surface"},
    {"SURED", "an atomic operation on a surface"},
    {"SUATOM", "an atomic operation on a surface"},
};

}  // namespace

std::span<const std::byte> Launch::bank(int number) const {
    if (number == 0) return bank_0->bytes();
    return module->bank(number, kernel->name);
}

std::uint32_t Launch::step_at(std::uint64_t address) const {
    const auto count = static_cast<std::uint64_t>(prepared->code->size());
    if (address >= first_function && !kernel->functions.empty()) {
        const std::optional<std::uint64_t> place = place_of_function(*kernel, address);
        if (!place) return static_cast<std::uint32_t>(count);
        address = *place;
    }
    const bool there = address % instruction_bytes == 0 && address / instruction_bytes < count;
    return static_cast<std::uint32_t>(there ? address / instruction_bytes : count);
}

namespace {

// What cooperative_groups calls grid_workspace: a size that nobody reads, and the barrier's word.
std::uint64_t grid_workspace(GlobalMemory& memory) {
    constexpr std::string_view name = "(barrier of the grid)";
    const GlobalMemory::Buffer* known = memory.named(name);
    if (!known) known = &memory.add(std::string(name), 8);
    std::ranges::fill(GlobalMemory::bytes(*known), std::byte{0});
    return known->address;
}

// Whether the code asks where there is room for it in the system's shared memory: 1 KiB, which
// other kernels have no business in.
bool uses_system_memory(const std::vector<Instruction>& code, int architecture) {
    const ConstantBank& bank = architecture_like(architecture).bank;
    const auto asks = [&](const Operand& operand) {
        return operand.kind == Operand::Kind::constant && operand.bank == 0 &&
               std::cmp_equal(operand.value, *bank.system_memory) &&
               operand.number.has_value() == (bank.cluster_bytes > 0);
    };
    return bank.system_memory && std::ranges::any_of(code, [&](const Instruction& one) {
               return std::ranges::any_of(one.operands, asks);
           });
}

// SR_CLOCK, SR_CLOCKLO, SR_CLOCKHI, SR_GLOBALTIMERLO, SR_GLOBALTIMERHI.
std::vector<std::size_t> clock_reads(const std::vector<Instruction>& code) {
    constexpr std::int64_t clocks[] = {1, 80, 81, 82, 83};
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < code.size(); ++i)
        if (std::ranges::any_of(code[i].operands, [&](const Operand& one) {
                return one.kind == Operand::Kind::special &&
                       std::ranges::count(clocks, one.value) > 0;
            }))
            found.push_back(i);
    return found;
}

// Once per kernel of a module.
std::shared_ptr<const PreparedCode> prepared_code(LoadedModule& module, Launch& launch,
                                                  std::span<const std::byte> parameters) {
    const Kernel& kernel = *launch.kernel;
    std::shared_ptr<const PreparedCode>& known = module.prepared(kernel);
    const bool cooperative =
        known ? known->cooperative
              : std::ranges::any_of(*module.decoded(kernel), [&](const Instruction& one) {
                    return LaunchBank::names_grid_workspace(one, launch.architecture);
                });
    const auto bank = [&](std::uint32_t local) {
        return std::make_unique<LaunchBank>(kernel, launch.architecture, launch.shape, parameters,
                                            local, module.bank_3_address(),
                                            cooperative ? grid_workspace(module.memory()) : 0);
    };
    if (known && known->parameter_bytes == parameters.size()) {
        launch.bank_0 = bank(known->local_bytes);
        return known;
    }
    const auto made = std::make_shared<PreparedCode>();
    made->code = module.decoded(kernel);
    made->local_bytes = local_bytes(kernel, *made->code);
    made->parameter_bytes = parameters.size();
    made->order_shows = module.allocates() || std::ranges::any_of(*made->code, order_shows);
    made->may_wait = may_wait_for_groups(*made->code);
    made->cooperative = cooperative;
    made->waits = in_waiting_loop(*made->code);
    made->waits.push_back(false);  // behind the last
    made->clock_reads = clock_reads(*made->code);
    for (std::size_t i = 0; i < made->code->size(); ++i)
        if ((*made->code)[i].opcode == "NANOSLEEP") made->sleeps.push_back(i);
    launch.bank_0 = bank(made->local_bytes);
    launch.prepared = made;  // for step_at
    Preparation(launch, *made).run();
    known = made;
    return known;
}

void read_banks(Launch& launch) {
    for (std::uint32_t left = launch.prepared->banks; left != 0; left &= left - 1) {
        const int number = std::countr_zero(left);
        launch.banks[static_cast<std::size_t>(number)] = launch.bank(number);
    }
    launch.constants = launch.prepared->constants;
    for (const PreparedCode::BankWords& one : launch.prepared->bank_words) {
        const std::span<const std::byte> bytes = launch.banks[static_cast<std::size_t>(one.bank)];
        std::array<std::uint32_t, 2> words{};
        std::memcpy(words.data(), bytes.data() + one.offset,
                    std::min<std::size_t>(8, bytes.size() - one.offset));
        launch.constants[one.at] = splat(words[0]);
        launch.constants[one.at + 1] = splat(words[1]);
    }
}

}  // namespace

Launch prepare(LoadedModule& module, const Kernel& kernel, const LaunchShape& shape,
               std::span<const std::byte> parameters) {
    check_shape(kernel, shape);
    if (kernel.code.empty()) throw InputError(fmt::format("kernel '{}' has no code", kernel.name));
    if (kernel.bank_0_bytes &&
        static_cast<std::size_t>(*kernel.bank_0_bytes) != parameters.size()) {
        throw InputError(fmt::format("kernel '{}' takes {} bytes of parameters; there are {}",
                                     kernel.name, *kernel.bank_0_bytes, parameters.size()));
    }
    if (kernel.cluster && product(*kernel.cluster) != 1) {
        throw InputError(fmt::format("kernel '{}': clusters of {} groups are not executed yet",
                                     kernel.name, fmt::join(*kernel.cluster, " x ")));
    }
    if (kernel.most_threads && product(shape.block) > *kernel.most_threads) {
        throw InputError(
            fmt::format("kernel '{}': {} threads a group are more than the {} of its "
                        "__launch_bounds__",
                        kernel.name, product(shape.block), *kernel.most_threads));
    }
    Launch launch;
    launch.module = &module;
    launch.memory = &module.memory();
    launch.kernel = &kernel;
    launch.architecture = module.cubin().architecture.value_or(0);
    launch.shape = shape;
    launch.threads_per_group = product(shape.block);
    launch.warps_per_group = (launch.threads_per_group + lane_count - 1) / lane_count;
    // The section's size holds what is reserved.
    const std::int64_t system = architecture_like(launch.architecture).code.system_shared;
    launch.shared_base = static_cast<std::uint32_t>(system);
    const auto own = std::max<std::int64_t>(kernel.shared_bytes, launch.shared_base);
    if (own + shape.dynamic_shared_bytes > most_shared) {
        throw InputError(fmt::format("kernel '{}': {} bytes of shared memory; at most {}",
                                     kernel.name, own + shape.dynamic_shared_bytes, most_shared));
    }
    launch.shared_bytes = static_cast<std::uint32_t>(own) + shape.dynamic_shared_bytes;
    launch.prepared = prepared_code(module, launch, parameters);
    if (module.allocates()) module.memory().heap();
    if (uses_system_memory(*launch.prepared->code, launch.architecture)) {
        if (system > 0)
            launch.shared_base = 0;
        else
            launch.shared_bytes = (launch.shared_bytes + 127) / 128 * 128 + 1024;
    }
    launch.steps = launch.prepared->steps;
    launch.local_bytes = launch.prepared->local_bytes;
    launch.register_count = launch.prepared->register_count;
    read_banks(launch);
    return launch;
}

std::string without_counterpart(LoadedModule& module, const Kernel& kernel) {
    for (const Instruction& one : *module.decoded(kernel)) {
        const auto* const found = std::ranges::find(absent, one.opcode, &Absent::name);
        if (found == std::end(absent)) continue;
        const std::string line = source_line(kernel, one.address);
        return fmt::format("{}, {}, is not executed{}", found->name, found->words,
                           line.empty() ? "" : fmt::format(" ({})", line));
    }
    return {};
}

std::vector<std::string> not_executed(LoadedModule& module, const Kernel& kernel) {
    const std::vector<std::byte> parameters(
        static_cast<std::size_t>(std::max<std::int64_t>(kernel.bank_0_bytes.value_or(0), 0)));
    const Launch launch = prepare(module, kernel, {}, parameters);
    std::vector<std::string> lines;
    for (const Step& step : launch.steps) {
        if (step.run != &refuse) continue;
        const Instruction& one = *step.instruction;
        const std::string text =
            one.opcode.empty() ? "an instruction" : to_text(one, launch.architecture);
        lines.push_back(
            fmt::format("{} at {:#06x}: {}", text, one.address,
                        launch.prepared->why_not.at(static_cast<std::size_t>(step.immediate))));
    }
    return lines;
}

}  // namespace occupipe::isa

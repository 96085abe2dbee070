// SPDX-License-Identifier: MIT
#include "bench/kernel/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>

#include "core/measurement.h"

namespace occupipe::bench {
namespace {

// Small loop bodies keep inside the first-level instruction caches of every GPU since Volta
// (16-byte instructions, 128 instructions fit 2 KiB, 1024 fit 16 KiB) and of every CPU.
constexpr int gpu_body_instructions = 256;
constexpr int cpu_body_instructions = 512;
// Steps that are sequences of many instructions: 16 KiB of machine code, some steps at least.
constexpr int gpu_body_sequences = 1024;

bool is_walk(const Row& row) {
    return row.pattern == Pattern::global_chase || row.pattern == Pattern::global_stream ||
           row.pattern == Pattern::global_store;
}

bool is_stream(const Row& row) {
    return row.pattern == Pattern::global_stream || row.pattern == Pattern::global_store;
}

// A chain's variable, and the names of a row's operands: a second row with chains of its own has
// its own.
struct Names {
    char variable;
    std::string_view suffix;
};
constexpr Names first_names{'x', ""}, second_names{'y', "2"};

// The step with $ and # filled in, and the operands `a` and `b` renamed outside of string literals.
std::string step_text(const Row& row, const Names& names, int chain, int number) {
    std::string text;
    bool quoted = false;
    const auto part_of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    for (std::size_t i = 0; i < row.step.size(); ++i) {
        const char c = row.step[i];
        quoted ^= c == '"';
        if (quoted) {
            text += c;
        } else if (c == '$') {
            text += fmt::format("{}{}", names.variable, chain);
        } else if (c == '#') {
            text += std::to_string(number);
        } else {
            text += c;
            const bool alone = (i == 0 || !part_of_word(row.step[i - 1])) &&
                               (i + 1 == row.step.size() || !part_of_word(row.step[i + 1]));
            if ((c == 'a' || c == 'b') && alone) text += names.suffix;
        }
    }
    return text;
}

std::string loop_body(const KernelPlan& plan) {
    std::string text;
    for (const BenchmarkKernel::Step& step : benchmark_kernel(plan).steps()) {
        const Row& row = step.second ? *plan.second : *plan.first;
        const Names& names = step.apart ? second_names : first_names;
        text += fmt::format("            {};\n", step_text(row, names, step.chain, step.number));
    }
    return text;
}

// Streams: the pointer at the beginning of each iteration, and how far the iteration goes.
std::string stream_lines(const KernelPlan& plan, bool begin) {
    std::string text;
    for (const Row* row : {plan.first, plan.second}) {
        if (!row || !is_stream(*row)) continue;
        const int of_second = plan.second ? plan.unroll / (plan.beta + 1) : 0;
        const int steps = (row == plan.second ? of_second : plan.unroll - of_second) * plan.chains;
        text +=
            begin ? fmt::format("            STREAM_POINTER(position, {})\n", row->lane)
                  : fmt::format("            STREAM_ADVANCE(position, {});\n", steps * row->spread);
    }
    return text;
}

// The buffer that holds the row's operands, as a pointer. `offset`: where they begin in it.
std::string operands_text(const Row& row, std::string_view offset) {
    return offset == "0" ? "in" : fmt::format("OPERANDS_AT({}, {})", type_name(row.type), offset);
}

std::string chain_prologue(const KernelPlan& plan, const Row& row, const Names& names,
                           std::string_view offset) {
    const std::string_view type = type_name(row.type);
    const std::string at = operands_text(row, offset);
    std::string text = fmt::format(
        "    const {0} a{1} = {2}[0];\n    const {0} b{1} = {2}[1];\n    (void)a{1}; (void)b{1};\n",
        type, names.suffix, at);
    if (row.shared_bytes > 0) text += fmt::format("    SHARED_FILL({}, a);\n", row.shared_bytes);
    for (int c = 0; c < plan.chains; ++c) {
        text +=
            fmt::format("    {} {}{} = {}[{}];\n", state_name(row), names.variable, c, at, c + 2);
    }
    if (!row.setup.empty()) text += fmt::format("    {};\n", row.setup);
    return text;
}

std::string ring_text() {
    std::string text = fmt::format("CONSTANT_RING({}) = {{", constant_ring_words);
    for (int w = 0; w < constant_ring_words; ++w) {
        if (w % 16 == 0) text += "\n   ";
        text += fmt::format(" {},", (w + 1) % constant_ring_words * 4);
    }
    return text + "\n};\n";
}

std::string prologue(const KernelPlan& plan, const Row& row, const Names& names,
                     std::string_view offset) {
    std::string text;
    const auto chains = [&](std::string_view type, const auto& value) {
        for (int c = 0; c < plan.chains; ++c) {
            text += fmt::format("    {} {}{} = {};\n", type, names.variable, c, value(c));
        }
    };
    switch (row.pattern) {
        case Pattern::launch:
        case Pattern::awaited_launch:
        case Pattern::graph_launch:
        case Pattern::launch_groups:
            return {};
        case Pattern::chain:
        case Pattern::barrier:
        case Pattern::empty_loop:
            return chain_prologue(plan, row, names, offset);
        case Pattern::shared_chase:
            text = fmt::format("    SHARED_RING({}, {}[0] * {});\n", shared_ring_words,
                               operands_text(row, offset), row.spread);
            chains(row.state.empty() ? "INDEX" : row.state, [&](int c) {
                return fmt::format("SHARED_START({}, {}, {}, {}, {})", shared_ring_words, row.lane,
                                   row.spread, plan.chains, c);
            });
            break;
        case Pattern::constant_chase:
            chains("INDEX",
                   [&](int c) { return fmt::format("CONSTANT_START({}, {})", plan.chains, c); });
            break;
        case Pattern::local_chase:
            text = fmt::format("    LOCAL_RING({}[0]);\n", operands_text(row, offset));
            chains("INDEX", [&](int c) { return fmt::format("LOCAL_START({})", c); });
            break;
        case Pattern::global_chase:
            chains(row.state.empty() ? "INDEX" : row.state, [&](int c) {
                const std::string_view kind = row.texture            ? "TEXTURE_"
                                              : row.access_words > 1 ? "WIDE_"
                                                                     : "";
                return fmt::format("{}CHASE_START({}, {}, {})", kind, row.lane, plan.chains, c);
            });
            break;
        case Pattern::global_stream:
        case Pattern::global_store:
            text = "    uint position = STREAM_START();\n";
            chains(state_name(row), [](int) { return "0"; });
            break;
    }
    return text;
}

template <typename T>
void append(std::vector<std::byte>& bytes, double value) {
    const T typed = static_cast<T>(value);
    const auto* begin = reinterpret_cast<const std::byte*>(&typed);
    bytes.insert(bytes.end(), begin, begin + sizeof typed);
}

// IEEE half precision and bfloat16 of a value that is normal in both; digits beyond are cut off.
std::uint16_t half_bits(double value) {
    if (value == 0) return 0;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);  // in [0.5, 1)
    const auto digits = static_cast<std::uint32_t>(fraction * 2048) & 1023;
    const auto biased = static_cast<std::uint32_t>(exponent - 1 + 15);
    return static_cast<std::uint16_t>((value < 0 ? 0x8000u : 0u) | biased << 10 | digits);
}

std::uint16_t bfloat_bits(double value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >>
                                      16);
}

// From one chain's first value to the next one's.
double chain_spacing(DataType type) {
    switch (element_type(type)) {
        case DataType::f32:
        case DataType::f64:
            return 0.01;
        case DataType::f16:
        case DataType::bf16:
        case DataType::f16x2:
        case DataType::bf16x2:
            return 0.125;
        case DataType::s64:
            return 4;  // also an index into words, read four at a time
        default:
            return 2;
    }
}

void append_operands(std::vector<std::byte>& bytes, const Row& row, int chains) {
    std::vector<double> values = {row.a, row.b};
    for (int c = 0; c < chains; ++c) values.push_back(row.x + chain_spacing(row.type) * c);
    const std::size_t elements = type_size(row.type) / type_size(element_type(row.type));
    for (std::size_t i = 0; i < values.size() * elements; ++i) {
        const double value = values[i / elements];
        switch (element_type(row.type)) {
            case DataType::f32:
                append<float>(bytes, value);
                break;
            case DataType::f64:
                append<double>(bytes, value);
                break;
            case DataType::s32:
                append<std::int32_t>(bytes, value);
                break;
            case DataType::u32:
            case DataType::b32:
                append<std::uint32_t>(bytes, value);
                break;
            case DataType::s64:
                append<std::int64_t>(bytes, value);
                break;
            case DataType::f16:
                append<std::uint16_t>(bytes, half_bits(value));
                break;
            case DataType::bf16:
                append<std::uint16_t>(bytes, bfloat_bits(value));
                break;
            case DataType::f16x2:
                append<std::uint32_t>(bytes, half_bits(value) * 0x10001u);
                break;
            case DataType::bf16x2:
                append<std::uint32_t>(bytes, bfloat_bits(value) * 0x10001u);
                break;
            default:
                break;  // vectors: element by element
        }
    }
}

std::size_t second_offset(const KernelPlan& plan) {
    const std::size_t first = (plan.chains + 2) * type_size(plan.first->type);
    return (first + 15) / 16 * 16;
}

std::vector<std::byte> operands(const KernelPlan& plan) {
    std::vector<std::byte> bytes;
    append_operands(bytes, *plan.first, plan.chains);
    if (plan.separate_chains()) {
        bytes.resize(second_offset(plan));
        append_operands(bytes, *plan.second, plan.chains);
    }
    return bytes;
}

}  // namespace

namespace {

BenchmarkInstruction benchmark_instruction(const Row& row) {
    BenchmarkInstruction instruction{.name = std::string(row.id),
                                     .chained = row.order != Order::none,
                                     .one_chain = row.pattern == Pattern::barrier};
    if (row.pattern == Pattern::global_stream && !instruction.chained) {
        instruction.gathered_by = word_sum;  // LD_GLOBAL_F32 and its wide forms
        instruction.words = row.spread;
    }
    return instruction;
}

}  // namespace

BenchmarkKernel benchmark_kernel(const KernelPlan& plan) {
    BenchmarkKernel kernel{.first = benchmark_instruction(*plan.first),
                           .beta = plan.beta,
                           .chains = plan.chains,
                           .separate_chains = plan.separate_chains(),
                           .body = plan.unroll,
                           .counted_loop = !measures_launches(plan.first->pattern)};
    if (plan.second) kernel.second = benchmark_instruction(*plan.second);
    return kernel;
}

std::string KernelPlan::subject() const {
    if (!second) return std::string(first->id);
    return mix_name({std::string(first->id), beta, std::string(second->id)});
}

bool KernelPlan::separate_chains() const {
    return second && (first->type != second->type || state_name(*first) != state_name(*second) ||
                      second->pattern != Pattern::chain);
}

const Row* walking_row(const KernelPlan& plan) {
    if (is_walk(*plan.first)) return plan.first;
    return plan.second && is_walk(*plan.second) ? plan.second : nullptr;
}

std::size_t TableSizes::of(const KernelPlan& plan) const {
    if (plan.working_set_bytes > 0) return plan.working_set_bytes;
    const Row* row = walking_row(plan);
    if (!row || row->table == Table::beyond_caches) return beyond_caches;
    return row->table == Table::second_level ? second_level : first_level;
}

CacheState TableSizes::before_launch(const KernelPlan& plan) const {
    if (!walking_row(plan) || cache_bytes == 0) return CacheState::as_it_is;
    return of(plan) <= cache_bytes ? CacheState::holds_table : CacheState::holds_nothing_of_table;
}

int default_unroll(const Row& first, const Row* second, int beta, int chains, bool cpu) {
    if (first.unroll > 0 && !second) return first.unroll;
    if (first.pattern == Pattern::barrier) return 32;
    const int length = std::max(first.sass_length, second ? second->sass_length : 1);
    const bool sequence = !cpu && length >= 8;
    const int body = cpu        ? cpu_body_instructions
                     : sequence ? gpu_body_sequences / length
                                : gpu_body_instructions;
    const int budget = body / chains;
    const int period = second ? beta + 1 : 1;
    int unroll = sequence ? 4 : 16;
    // A body twice as long holds half as much of the loop's control.
    const bool plain = !cpu && length == 1 && first.pattern == Pattern::chain &&
                       (!second || second->pattern == Pattern::chain);
    const int most = plain ? 256 : 128;
    while (unroll * 2 <= std::min(budget, most)) unroll *= 2;
    return std::max(1, unroll / period) * period;
}

int second_unroll(const KernelPlan& plan) {
    const Row& first = *plan.first;
    const auto is_length = [](const RowCounter& counter) {
        return counter.name == body_length_counter;
    };
    if (measures_launches(first.pattern) || first.pattern == Pattern::empty_loop ||
        std::ranges::any_of(first.counters, is_length))
        return plan.unroll;
    const int period = plan.second ? plan.beta + 1 : 1;
    return std::max(1, plan.unroll / 4 / period) * period;
}

KernelSource kernel_source(const KernelPlan& plan) {
    KernelSource source{.plan = plan, .body = {}, .operands = {}, .shared_bytes = 0};
    if (measures_launches(plan.first->pattern)) {
        source.body = fmt::format(
            "// {}\nBARE_KERNEL({})\n{{\n    if (start == 0xffffffffu) out[0] = in[0];\n}}\n",
            plan.subject(), type_name(plan.first->type));
        source.operands = operands(plan);
        return source;
    }
    const bool apart = plan.separate_chains();
    const bool noted = plan.checkpointed;
    const std::string_view type = type_name(plan.first->type);
    std::string results = "x0";
    for (int c = 1; c < plan.chains; ++c) results += fmt::format(" + x{}", c);
    for (int c = 0; apart && c < plan.chains; ++c)
        results += fmt::format(" + JOINED({}, y{})", type, c);
    const bool behind_table = walking_row(plan) && !is_walk(*plan.first);
    std::string declarations =
        prologue(plan, *plan.first, first_names, behind_table ? "TABLE_END" : "0");
    if (apart) {
        declarations +=
            prologue(plan, *plan.second, second_names, fmt::format("{}", second_offset(plan)));
    }
    source.body = fmt::format(
        "// {} chains:{} unroll:{}{}\n"
        "{}{}KERNEL({})\n"
        "{{\n"
        "{}"
        "{}"
        "    TIMED_BEGIN\n"
        "{}"
        "        LOOP(i, {}) {{\n"
        "{}{}{}"
        "        }}\n"
        "{}"
        "    TIMED_END({})\n"
        "{}"
        "    out[THREAD] = {};\n"
        "}}\n",
        plan.subject(), plan.chains, plan.unroll, noted ? " checkpointed" : "",
        plan.first->pattern == Pattern::constant_chase ? ring_text() : "",
        plan.first->cluster > 1 ? "CLUSTER_" : "", type, declarations,
        noted ? "    CHECKPOINTS_DECLARED\n" : "", noted ? "        SEGMENTS_BEGIN\n" : "",
        noted ? "segment_iterations" : "iterations", stream_lines(plan, true), loop_body(plan),
        stream_lines(plan, false), noted ? "        SEGMENTS_END\n" : "", results,
        noted ? "    LEAVE_CHECKPOINTS\n" : "", results);
    source.operands = operands(plan);
    if (source.body.find("SHARED_RING(") != std::string::npos) {
        source.shared_bytes = shared_ring_words * sizeof(std::uint32_t);
    }
    source.shared_bytes = std::max({source.shared_bytes, plan.first->shared_bytes,
                                    plan.second ? plan.second->shared_bytes : 0});
    return source;
}

}  // namespace occupipe::bench

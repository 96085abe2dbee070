// SPDX-License-Identifier: MIT
#include "bench/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "core/measurement.h"

namespace occupipe::bench {
namespace {

// Small loop bodies keep inside the first-level instruction caches of every GPU since Volta
// (16-byte instructions, 128 instructions fit 2 KiB, 1024 fit 16 KiB) and of every CPU.
constexpr int gpu_body_instructions = 256;
constexpr int cpu_body_instructions = 512;
// Steps that are sequences of many instructions: 16 KiB of machine code, some steps at least.
constexpr int gpu_body_sequences = 1024;

std::string step_text(const Row& row, int chain, int number) {
    std::string text;
    for (const char c : row.step) {
        if (c == '$') {
            text += fmt::format("x{}", chain);
        } else if (c == '#') {
            text += std::to_string(number);
        } else {
            text += c;
        }
    }
    return text;
}

std::string loop_body(const KernelPlan& plan) {
    std::string text;
    int number = 0;
    for (int u = 0; u < plan.unroll; ++u) {
        const bool second = plan.second && u % (plan.beta + 1) == plan.beta;
        const Row& row = second ? *plan.second : *plan.first;
        const int chains = row.pattern == Pattern::barrier ? 1 : plan.chains;
        for (int c = 0; c < chains; ++c) {
            text += fmt::format("            {};\n", step_text(row, c, number++));
        }
    }
    return text;
}

std::string prologue(const KernelPlan& plan) {
    const std::string_view type = type_name(plan.first->type);
    std::string text;
    switch (plan.first->pattern) {
        case Pattern::chain:
        case Pattern::barrier:
            text = fmt::format(
                "    const {0} a = in[0];\n    const {0} b = in[1];\n    (void)a; (void)b;\n",
                type);
            for (int c = 0; c < plan.chains; ++c) {
                text += fmt::format("    {} x{} = in[{}];\n", type, c, c + 2);
            }
            break;
        case Pattern::shared_chase:
            text = fmt::format("    SHARED_RING({}, in[0]);\n", shared_ring_words);
            for (int c = 0; c < plan.chains; ++c) {
                text += fmt::format("    INDEX x{} = SHARED_START({}, {}, {});\n", c,
                                    shared_ring_words, plan.chains, c);
            }
            break;
        case Pattern::global_chase:
            for (int c = 0; c < plan.chains; ++c) {
                text += fmt::format("    INDEX x{} = CHASE_START({}, {});\n", c, plan.chains, c);
            }
            break;
        case Pattern::global_stream:
            text = "    uint position = STREAM_START();\n";
            for (int c = 0; c < plan.chains; ++c) {
                text += fmt::format("    float x{} = 0.0f;\n", c);
            }
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
    switch (type) {
        case DataType::f32:
        case DataType::f64:
            return 0.01;
        case DataType::f16:
        case DataType::bf16:
        case DataType::f16x2:
        case DataType::bf16x2:
            return 0.125;
        default:
            return 2;
    }
}

std::vector<std::byte> operands(const KernelPlan& plan) {
    const Row& row = *plan.first;
    std::vector<double> values = {row.a, row.b};
    for (int c = 0; c < plan.chains; ++c) {
        values.push_back(row.x + chain_spacing(row.type) * c);
    }
    std::vector<std::byte> bytes;
    for (const double value : values) {
        switch (row.type) {
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
        }
    }
    return bytes;
}

// Order in which lines follow each other: next[i] is the line after line i. One cycle through all.
std::vector<std::uint32_t> line_order(std::size_t lines, bool random_order, std::uint64_t seed) {
    std::vector<std::uint32_t> next(lines);
    std::iota(next.begin(), next.end(), 0u);
    if (!random_order) {
        std::rotate(next.begin(), next.begin() + 1, next.end());
        return next;
    }
    std::mt19937_64 engine(seed);
    for (std::size_t i = lines - 1; i > 0; --i) {  // Sattolo's algorithm: a single cycle
        std::swap(next[i], next[engine() % i]);
    }
    return next;
}

}  // namespace

std::string KernelPlan::subject() const {
    if (!second) return std::string(first->id);
    return mix_name({std::string(first->id), beta, std::string(second->id)});
}

int default_unroll(const Row& first, const Row* second, int beta, int chains, bool cpu) {
    if (first.pattern == Pattern::barrier) return 32;
    const int length = std::max(first.sass_length, second ? second->sass_length : 1);
    const bool sequence = !cpu && length >= 8;
    const int body = cpu        ? cpu_body_instructions
                     : sequence ? gpu_body_sequences / length
                                : gpu_body_instructions;
    const int budget = body / chains;
    const int period = second ? beta + 1 : 1;
    int unroll = sequence ? 4 : 16;
    while (unroll * 2 <= std::min(budget, 128)) unroll *= 2;
    return std::max(1, unroll / period) * period;
}

KernelSource kernel_source(const KernelPlan& plan) {
    KernelSource source{.plan = plan, .body = {}, .operands = {}, .shared_bytes = 0};
    std::string results = "x0";
    for (int c = 1; c < plan.chains; ++c) results += fmt::format(" + x{}", c);
    const bool stream = plan.first->pattern == Pattern::global_stream;
    source.body = fmt::format(
        "// {} chains:{} unroll:{}\n"
        "KERNEL({})\n"
        "{{\n"
        "{}"
        "    TIMED_BEGIN\n"
        "        LOOP(i, iterations) {{\n"
        "{}{}{}"
        "        }}\n"
        "    TIMED_END({})\n"
        "    out[THREAD] = {};\n"
        "}}\n",
        plan.subject(), plan.chains, plan.unroll, type_name(plan.first->type), prologue(plan),
        stream ? "            STREAM_POINTER(position)\n" : "", loop_body(plan),
        stream
            ? fmt::format("            STREAM_ADVANCE(position, {});\n", plan.unroll * plan.chains)
            : "",
        results, results);
    source.operands = operands(plan);
    if (plan.first->pattern == Pattern::shared_chase) {
        source.shared_bytes = shared_ring_words * sizeof(std::uint32_t);
    }
    return source;
}

std::vector<std::byte> global_table(Pattern pattern, std::size_t bytes, std::size_t line_bytes,
                                    bool random_order, std::uint64_t seed) {
    const std::size_t words = bytes / 4;
    std::vector<std::byte> table((words + global_table_slack_words) * 4);
    if (pattern == Pattern::global_stream) {
        std::mt19937 engine(static_cast<std::mt19937::result_type>(seed));
        std::uniform_real_distribution<float> value(-1e-3f, 1e-3f);
        for (std::size_t i = 0; i < table.size(); i += 4) {
            const float v = value(engine);
            std::memcpy(&table[i], &v, 4);
        }
        return table;
    }
    const std::size_t line_words = line_bytes / 4;
    const std::vector<std::uint32_t> next = line_order(words / line_words, random_order, seed);
    for (std::size_t word = 0; word < words + global_table_slack_words; ++word) {
        const std::size_t line = (word % words) / line_words;
        const auto v = static_cast<std::uint32_t>(next[line] * line_words + word % line_words);
        std::memcpy(&table[word * 4], &v, 4);
    }
    return table;
}

}  // namespace occupipe::bench

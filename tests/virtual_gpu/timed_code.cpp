// SPDX-License-Identifier: MIT
#include "tests/virtual_gpu/timed_code.h"

#include <fmt/format.h>

#include <istream>
#include <sstream>
#include <stdexcept>

#include "bench/cuda/proof/machine_code.h"
#include "bench/cuda/proof/timed_loop.h"
#include "bench/kernel/kernel_source.h"

namespace occupipe::test {
namespace {

constexpr int architecture = 90;

TimedInstruction timed(const bench::Instruction& one) {
    return {one.name, one.stall_cycles, one.result_scoreboard, one.operand_scoreboard,
            one.awaited_scoreboards};
}

std::string number_or_none(const std::optional<int>& number) {
    return number ? std::to_string(*number) : "-";
}

void append(std::string& text, const char* part, const std::vector<TimedInstruction>& list) {
    text += fmt::format("{}\n", part);
    for (std::size_t i = 0, end = 0; i < list.size(); i = end) {
        while (end < list.size() && list[end] == list[i]) ++end;
        text += fmt::format("  {} {} {} {} {} {}\n", end - i, list[i].name, list[i].stall,
                            number_or_none(list[i].result), number_or_none(list[i].operand),
                            list[i].awaited);
    }
}

std::optional<int> parsed(const std::string& word) {
    return word == "-" ? std::nullopt : std::optional(std::stoi(word));
}

}  // namespace

int TimedCode::other_stall_cycles() const {
    int sum = 0;
    for (const TimedInstruction& one : loop) sum += one.name == step ? 0 : one.stall;
    return sum;
}

TimedCode timed_code(const std::string& subject, int body, const std::string& step,
                     std::string_view cubin, bool checkpointed) {
    const auto code =
        bench::decode_for_receipt(isa::read_kernel(cubin, bench::kernel_entry).code, architecture);
    const bench::TimedLoop loop = bench::find_timed_loop(code, checkpointed);
    TimedCode out;
    out.subject = subject;
    out.body = body;
    out.step = step;
    for (std::size_t i = loop.clock_start; i <= loop.clock_stop; ++i) {
        const bool parted = loop.segments && i >= loop.segments->first && i <= loop.segments->last;
        auto& in_front = parted ? out.head : out.before;
        auto& behind = parted ? out.tail : out.after;
        auto& part = i < loop.first ? in_front : i <= loop.last ? out.loop : behind;
        part.push_back(timed(code[i]));
    }
    return out;
}

std::string to_text(const TimedCode& code) {
    std::string text = fmt::format("{} body {} of {}\n", code.subject, code.body, code.step);
    append(text, "before", code.before);
    if (code.checkpointed()) append(text, "head", code.head);
    append(text, "loop", code.loop);
    if (code.checkpointed()) append(text, "tail", code.tail);
    append(text, "after", code.after);
    return text;
}

TimedCode timed_code_from_text(std::istream& text) {
    TimedCode code;
    std::vector<TimedInstruction>* part = nullptr;
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        if (line.front() != ' ') {
            std::string word;
            words >> word;
            if (word == "before") {
                part = &code.before;
            } else if (word == "head") {
                part = &code.head;
            } else if (word == "tail") {
                part = &code.tail;
            } else if (word == "loop") {
                part = &code.loop;
            } else if (word == "after") {
                part = &code.after;
            } else {
                std::string body, of;
                code.subject = word;
                words >> body >> code.body >> of >> code.step;
                if (!words || body != "body" || of != "of")
                    throw std::runtime_error("no header: " + line);
            }
            continue;
        }
        std::size_t count = 0;
        TimedInstruction one;
        std::string result, operand;
        words >> count >> one.name >> one.stall >> result >> operand >> one.awaited;
        if (!words || part == nullptr) throw std::runtime_error("no instruction: " + line);
        one.result = parsed(result);
        one.operand = parsed(operand);
        part->insert(part->end(), count, one);
    }
    if (code.before.empty() || code.loop.empty() || code.after.empty())
        throw std::runtime_error("a part is missing");
    return code;
}

}  // namespace occupipe::test

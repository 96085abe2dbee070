// SPDX-License-Identifier: MIT
#include "bench/opencl/proof/x86_loop.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace occupipe::bench {
namespace {

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    if (!pipe) throw std::runtime_error("cannot run " + command);
    std::string text;
    std::array<char, 65536> block{};
    while (const std::size_t n = fread(block.data(), 1, block.size(), pipe.get()))
        text.append(block.data(), n);
    return text;
}

struct Instruction {
    unsigned long address = 0;
    std::string text;
    unsigned long target = 0;  // of a jump
};

std::vector<Instruction> disassemble(const std::filesystem::path& object) {
    std::istringstream lines(
        output_of("objdump -d --no-show-raw-insn '" + object.string() + "' 2>/dev/null"));
    std::vector<Instruction> code;
    for (std::string line; std::getline(lines, line);) {
        unsigned long address = 0;
        int used = 0;
        if (std::sscanf(line.c_str(), " %lx:%n", &address, &used) != 1 || used == 0) continue;
        std::istringstream words(line.substr(static_cast<std::size_t>(used)));
        Instruction instruction{.address = address};
        std::string operand;
        std::string mnemonic;
        words >> mnemonic >> operand;
        instruction.text = mnemonic;
        instruction.text.append(" ").append(operand);
        if (mnemonic == "lock" && words >> operand) instruction.text.append(" ").append(operand);
        if (mnemonic.starts_with("j"))
            instruction.target = std::strtoul(operand.c_str(), nullptr, 16);
        code.push_back(instruction);
    }
    return code;
}

}  // namespace

int MachineLoop::count(const std::string& expression, const std::string& operand) const {
    const std::regex pattern(expression);
    const bool whole = expression.find(' ') != std::string::npos;
    return static_cast<int>(std::ranges::count_if(instructions, [&](const std::string& text) {
        return std::regex_match(whole ? text : text.substr(0, text.find(' ')), pattern) &&
               text.find(operand) != std::string::npos;
    }));
}

std::vector<MachineLoop> loops_of(const std::filesystem::path& shared_object) {
    const auto code = disassemble(shared_object);
    std::vector<MachineLoop> loops;
    for (const Instruction& jump : code) {
        if (jump.target == 0 || jump.target > jump.address) continue;
        MachineLoop loop;
        for (const Instruction& instruction : code) {
            if (instruction.address < jump.target || instruction.address > jump.address) continue;
            loop.instructions.push_back(instruction.text);
        }
        loops.push_back(std::move(loop));
    }
    return loops;
}

std::vector<std::filesystem::path> shared_objects(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".so") found.push_back(entry.path());
    }
    std::ranges::sort(found, {},
                      [](const auto& path) { return std::filesystem::last_write_time(path); });
    return found;
}

}  // namespace occupipe::bench

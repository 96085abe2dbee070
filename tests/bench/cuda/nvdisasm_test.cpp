// SPDX-License-Identifier: MIT
// Our decoder of machine code beside NVIDIA's own disassembler: operation, guard and branch target
// of each instruction of compiled rows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/find_cuda.h"
#include "bench/cuda/prelude.h"
#include "bench/cuda/proof/machine_code.h"
#include "bench/kernel/kernel_source.h"
#include "isa/decode.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

struct Disassembled {
    std::string name;   // with all suffixes: "IMAD.MOV.U32"
    std::string guard;  // "@P0", "@!UP1", or empty
    std::optional<std::int64_t> branch_target;
    std::string text;  // all of it, with an address in place of the label
};

std::string output_of(const std::string& command) {
    std::string text;
    FILE* const pipe = popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error("cannot run " + command);
    std::array<char, 4096> part = {};
    while (const std::size_t size = fread(part.data(), 1, part.size(), pipe)) {
        text.append(part.data(), size);
    }
    if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
    return text;
}

// "/*00d0*/  @!P0 BRA `(.L_x_1) ;": the words of one line.
std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

// Without comments and without the blanks that stand before commas.
std::string plain(const std::string& text) {
    std::string out;
    for (const char letter : text.substr(0, text.find("(*"))) {
        if (letter == ',' && out.ends_with(' ')) out.pop_back();
        out += letter;
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
}

// One section of nvdisasm's text, by address.
std::map<std::int64_t, Disassembled> section(const std::string& text, const std::string& name) {
    std::map<std::int64_t, Disassembled> found;
    std::map<std::string, std::int64_t> labels;
    std::map<std::int64_t, std::string> targets;
    std::vector<std::string> waiting;  // labels of the instruction to come
    std::istringstream lines(text);
    std::string line;
    bool inside = false;
    while (std::getline(lines, line)) {
        if (line.starts_with("//-----")) inside = line.find(" " + name + " ") != line.npos;
        if (inside && !line.empty() && !std::isspace(line[0]) && line.ends_with(':'))
            waiting.push_back(line.substr(0, line.find(':')));
        const std::vector<std::string> words = words_of(line);
        if (!inside || words.size() < 2 || !words[0].starts_with("/*")) continue;
        const std::int64_t address = std::stoll(words[0].substr(2), nullptr, 16);
        for (const std::string& one : waiting) labels[one] = address;
        waiting.clear();
        Disassembled& here = found[address];
        const bool guarded = words[1].starts_with("@");
        if (guarded) here.guard = words[1];
        here.name = words.at(guarded ? 2 : 1);
        if (here.name.ends_with(';')) here.name.pop_back();  // no operands
        const std::size_t begin = line.find(words[1]);
        here.text = line.substr(begin, line.find_last_of(';') - begin);
        const std::size_t target = line.find("`(");
        if (target != line.npos) {
            targets[address] = line.substr(target + 2, line.find(')', target) - target - 2);
        }
    }
    for (const auto& [address, to] : targets) {
        const auto label = labels.find(to);
        if (label == labels.end()) continue;
        Disassembled& here = found[address];
        here.branch_target = label->second;
        const std::size_t begin = here.text.find('`');
        here.text.replace(begin, here.text.find(')', begin) + 1 - begin,
                          fmt::format("{:#x}", label->second));
    }
    for (auto& [address, here] : found) here.text = plain(here.text);
    return found;
}

std::vector<std::string> parts_of(const std::string& name) {
    std::vector<std::string> parts;
    std::istringstream in(name);
    for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
    return parts;
}

// Ours is theirs with some of its suffixes left out: "ATOMG.CAS" for "ATOMG.E.CAS.STRONG.GPU". "64"
// stands for any type of 64 bits. Codes that the decoder does not know keep their number.
bool same_operation(const std::string& ours, const std::string& theirs) {
    if (ours.starts_with("op:")) return true;
    if (ours == "IMAD.MOV" && theirs == "IMAD.U32") return true;  // moves a uniform register
    if (ours == "ERRBAR" && theirs == "CGAERRBAR") return true;   // of a cluster
    // Another release's name for the same code.
    if (ours == "RED" && theirs.starts_with("REDG.")) return true;
    // Arriving and waiting at a cluster's barrier, which the decoder does not tell apart.
    if (ours == "UCGABAR" && theirs.starts_with("UCGABAR_")) return true;
    const std::vector<std::string> parts = parts_of(theirs);
    auto at = parts.begin();
    for (const std::string& wanted : parts_of(ours)) {
        at = std::find_if(at, parts.end(), [&](const std::string& part) {
            return part == wanted || (wanted == "64" && part.ends_with("64"));
        });
        if (at == parts.end()) return false;
        ++at;
    }
    return ours.substr(0, ours.find('.')) == parts.front();
}

// Everything that one kernel's code differs in; empty where nothing does.
std::string differences(const std::vector<Instruction>& ours,
                        const std::map<std::int64_t, Disassembled>& theirs) {
    std::ostringstream text;
    for (const auto& [address, their] : theirs) {
        const auto index = static_cast<std::size_t>(address / isa::instruction_bytes);
        if (index >= ours.size()) return "the section is longer than what was read\n";
        const Instruction& our = ours[index];
        const auto differs = [&](const std::string& what) {
            text << std::hex << address << std::dec << ": " << what << "; " << their.guard << ' '
                 << their.name << '\n';
        };
        if (!same_operation(our.name, their.name)) differs("read as " + our.name);
        const bool guarded = !their.guard.empty() && their.guard.find("PT") == std::string::npos;
        if (guarded != our.guard.has_value()) differs("guard");
        if (guarded && our.guard && their.guard.find('U') == std::string::npos &&
            *our.guard - predicate_base != their.guard.back() - '0') {
            differs("another guard");
        }
        if (our.branch_target && our.branch_target != their.branch_target) {
            differs("branches to " + std::to_string(*our.branch_target));
        }
    }
    if (ours.size() < theirs.size() || theirs.empty()) text << "another number of instructions\n";
    return text.str();
}

// What isa/ writes about each instruction. Textures, clusters, bulk copies and some matrix
// instructions are named, not taken apart; nothing else may be left out.
void compare_text(const std::vector<isa::Word>& code, int architecture,
                  const std::map<std::int64_t, Disassembled>& theirs) {
    for (const auto& [address, their] : theirs) {
        const auto index = static_cast<std::size_t>(address / isa::instruction_bytes);
        const isa::Instruction ours = isa::decode(code.at(index), address, architecture);
        if (ours.unknown == "its operands are not read") continue;
        EXPECT_EQ(isa::to_text(ours, architecture), their.text)
            << std::hex << address << ' ' << ours.unknown;
    }
}

class Nvdisasm : public ::testing::TestWithParam<int> {};

TEST_P(Nvdisasm, ReadsTheSameInstructions) {
    if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    const auto tool = find_cuda_tool("nvdisasm", Surroundings::of_this_process());
    if (!tool) GTEST_SKIP() << "nvdisasm is not here (tools/setup.sh --wheels fetches it)";
    const int number = GetParam();
    const test::TemporaryFolder folder;
    int rows = 0;
    std::size_t instructions = 0;
    for (const Row& row : instruction_table()) {
        if (row.ptx.empty() || row.least_architecture > number || number > row.last_architecture) {
            continue;
        }
        // One row in twelve, others on each architecture: seconds, not a minute.
        if (++rows % 12 != number % 12) continue;
        const KernelPlan plan = {
            .first = &row, .chains = 1, .unroll = default_unroll(row, nullptr, 0, 1, false)};
        const auto kernel = compile_cuda(kernel_source(plan), "sm_" + std::to_string(number));
        const std::string file = folder.path / "kernel.cubin";
        std::ofstream(file, std::ios::binary) << kernel.cubin;
        const std::string text = output_of("'" + tool->string() + "' -c '" + file + "'");
        const auto theirs = section(text, std::string(".text.") + kernel_entry);
        const std::vector<isa::Word> code = isa::read_kernel(kernel.cubin, kernel_entry).code;
        compare_text(code, number, theirs);
        const auto ours = decode_for_receipt(code, number);
        EXPECT_EQ(differences(ours, theirs), "") << row.id;
        instructions += theirs.size();
    }
    EXPECT_GT(instructions, 2000u);
}

INSTANTIATE_TEST_SUITE_P(Cuda, Nvdisasm, ::testing::Values(75, 90, 120));

}  // namespace
}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "tests/isa/machine/single_step.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "isa/decode.h"
#include "isa/machine/semantics.h"
#include "tests/isa/machine/operands.h"

namespace occupipe::isa::test {
namespace {

// EXIT of sm_75 and later, so that the kernel ends.
constexpr Word exit_word = {0x000000000000794d, 0x000fea0003800000};

}  // namespace

std::vector<Recorded> recorded() {
    std::vector<Recorded> found;
    for (const int architecture : {75, 80, 86, 89, 90, 100, 120}) {
        const std::string path = std::string(OCCUPIPE_SOURCE_DIR) + "/tests/isa/recorded/sm_" +
                                 std::to_string(architecture) + ".txt";
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with("#")) continue;
            std::istringstream words(line);
            Recorded one;
            one.architecture = architecture;
            words >> std::hex >> one.address >> one.word.low >> one.word.high;
            std::getline(words >> std::ws, one.text);
            found.push_back(one);
        }
    }
    return found;
}

SingleStep::SingleStep(int architecture, Word executed, Word shown, std::int64_t,
                       std::mt19937_64& random) {
    cubin_.architecture = architecture;
    Kernel kernel;
    kernel.name = "one";
    // The second word is never executed: it makes the warp wide enough for what the test looks at.
    kernel.code = {executed, shown, exit_word};
    kernel.registers = 255;
    kernel.stack_bytes = local_size;
    kernel.shared_bytes = shared_bytes;
    kernel.bank_0_base = 0;
    const std::string words = interesting_bytes(0x1000, random);
    std::vector<std::byte> parameters(words.size());
    std::memcpy(parameters.data(), words.data(), words.size());
    kernel.bank_0_bytes = static_cast<std::int64_t>(parameters.size());
    for (const char* name : {".nv.constant3", ".nv.constant2.one", ".nv.constant4"}) {
        cubin_.constants[name] = interesting_bytes(0x1000, random);
    }
    cubin_.kernels.push_back(kernel);
    buffer_ = memory_.add("buffer", buffer_bytes).address;
    module_ = std::make_unique<LoadedModule>(cubin_, memory_);
    LaunchShape shape;
    shape.block = {32, 1, 1};
    launch_ =
        std::make_unique<Launch>(prepare(*module_, module_->cubin().kernels[0], shape, parameters));
    group_ = std::make_unique<Group>();
    uniform_zero_ = constant_register(File::uniform, architecture);
    const std::vector<std::string> lines = not_executed(*module_, module_->cubin().kernels[0]);
    for (const std::string& line : lines) {
        if (line.find("at 0x0000") != line.npos) refused_ = line;
    }
}

SingleStep::~SingleStep() = default;

std::uint32_t SingleStep::constant(int bank, std::int64_t offset) const {
    std::uint32_t word = 0;
    const auto bytes = launch_->bank(bank);
    if (offset < 0 || static_cast<std::size_t>(offset) + 4 > bytes.size()) return 0;
    std::memcpy(&word, bytes.data() + offset, 4);
    return word;
}

State SingleStep::run(const State& before, Mask active, Wrap wrap) {
    group_->begin(*launch_, 0);
    Warp& warp = group_->warps[0];
    const auto general = static_cast<std::size_t>(launch_->prepared->zero);
    const std::size_t uniform = launch_->register_count - launch_->prepared->uniform;
    const auto& held = before;
    for (std::size_t r = 0; r < general && r < 255; ++r) {
        for (int lane = 0; lane < 32; ++lane) {
            warp.registers[r][lane] = held.general[r][static_cast<std::size_t>(lane)];
        }
    }
    for (std::size_t r = 0; r < uniform && r < static_cast<std::size_t>(uniform_zero_); ++r) {
        warp.registers[launch_->prepared->uniform + r] = splat(held.uniform[r]);
    }
    for (std::size_t p = 0; p < 7; ++p) {
        warp.predicates[p] = held.predicate[p];
        warp.predicates[predicate_index::uniform + p] = held.uniform_predicate[p];
    }
    const auto buffer = GlobalMemory::bytes(*memory_.named("buffer"));
    std::ranges::copy(held.global, buffer.begin());
    std::ranges::copy(held.shared, group_->shared.begin());
    std::ranges::copy(held.local, group_->local.begin());
    const Step& step = launch_->steps[0];
    warp.pc = 1;
    if (wrap) {
        wrap(step.run, warp, step, active);
    } else {
        step.run(warp, step, active);
    }
    State after = before;
    for (std::size_t r = 0; r < general && r < 255; ++r) {
        for (int lane = 0; lane < 32; ++lane) {
            after.general[r][static_cast<std::size_t>(lane)] = warp.registers[r][lane];
        }
    }
    for (std::size_t r = 0; r < uniform && r < static_cast<std::size_t>(uniform_zero_); ++r) {
        after.uniform[r] = warp.registers[launch_->prepared->uniform + r][0];
        for (int lane = 1; lane < 32; ++lane) {  // splatted, or something is wrong
            if (warp.registers[launch_->prepared->uniform + r][lane] != after.uniform[r]) {
                after.uniform[r] = ~held.uniform[r];
            }
        }
    }
    for (std::size_t p = 0; p < 7; ++p) {
        after.predicate[p] = warp.predicates[p];
        after.uniform_predicate[p] = warp.predicates[predicate_index::uniform + p];
    }
    // As much as the test has filled.
    std::ranges::copy(buffer.first(after.global.size()), after.global.begin());
    std::copy_n(group_->shared.begin(), after.shared.size(), after.shared.begin());
    std::copy_n(group_->local.begin(), after.local.size(), after.local.begin());
    return after;
}

}  // namespace occupipe::isa::test

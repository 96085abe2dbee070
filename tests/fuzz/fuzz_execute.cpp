// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a cubin, and as the instructions of a kernel, executed for one
// group. Whatever comes out is a count, or an InputError.
// Built with clang and -DOCCUPIPE_FUZZ=ON; run: fuzz_execute -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "extract/memory_observer.h"
#include "isa/cubin.h"
#include "isa/machine/machine.h"
#include "tests/isa/make_cubin.h"

namespace {

using namespace occupipe;

void run(const isa::Cubin& cubin, const isa::Kernel& kernel) {
    isa::GlobalMemory memory;
    const std::uint64_t address = memory.add("buffer", 4096).address;
    isa::LoadedModule module(cubin, memory);
    // Every 8 bytes of the parameters are the buffer's address.
    std::vector<std::byte> parameters(256);
    for (std::size_t at = 0; at + 8 <= parameters.size(); at += 8)
        std::memcpy(parameters.data() + at, &address, 8);
    extract::MemoryObserver observer(kernel.code.size(), memory);
    isa::ExecutionOptions options;
    options.step_budget = 2000;
    const isa::LaunchShape shape{.grid = {2, 1, 1}, .block = {40, 1, 1}};
    const isa::Execution done = isa::execute(module, kernel, shape, parameters, options, &observer);
    std::uint64_t sum = 0;
    for (const isa::InstructionCount& count : done.counts) sum += count.warps;
    if (sum != done.warp_instructions) std::abort();
    for (const extract::MemorySite& site : observer.sites())
        if (site.instruction >= kernel.code.size() || site.counts.requests == 0) std::abort();
}

void run_all(const std::string& bytes) {
    try {
        const isa::Cubin cubin = isa::read_cubin(bytes);
        for (const isa::Kernel& kernel : cubin.kernels) {
            if (!cubin.architecture || kernel.shared_bytes > 1 << 20) continue;
            try {
                run(cubin, kernel);
            } catch (const InputError&) {
            }
        }
    } catch (const InputError&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(data, data + size);
    run_all(bytes);
    if (size < 1 + sizeof(isa::Word)) return 0;
    constexpr int architectures[] = {75, 80, 86, 89, 90, 100, 120};
    test::MadeCubin made;
    made.architecture = architectures[data[0] % 7];
    made.registers = 64;
    for (std::size_t at = 1; at + sizeof(isa::Word) <= size && made.code.size() < 64;
         at += sizeof(isa::Word)) {
        isa::Word word;
        std::memcpy(&word, data + at, sizeof word);
        // All lanes execute it: a random guard seldom holds.
        word.low = (word.low & ~std::uint64_t{0xf000}) | 0x7000;
        made.code.push_back(word);
    }
    run_all(made.bytes());
    return 0;
}

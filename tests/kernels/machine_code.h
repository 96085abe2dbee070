// SPDX-License-Identifier: MIT
// Recorded machine code of tests/kernels, executed as a launch file says.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "isa/cubin.h"
#include "isa/machine/machine.h"
#include "tests/kernels/run_on_cpu.h"

namespace occupipe::test {

class MachineCode : public PlanTarget {
public:
    MachineCode(const isa::Cubin& cubin, int threads, std::uint32_t turn = 1024)
        : cubin_(cubin), threads_(threads), turn_(turn) {}

    void add(const Buffer& buffer) override {
        memory_.add(buffer.name, buffer.bytes.size());
        std::ranges::copy(buffer.bytes, content(buffer.name).begin());
    }
    std::span<std::byte> content(const std::string& buffer) override {
        return isa::GlobalMemory::bytes(*memory_.named(buffer));
    }
    std::uint64_t address(const std::string& buffer) override {
        return memory_.named(buffer)->address;
    }
    std::span<std::byte> symbol(const std::string& name) override {
        const isa::Symbol* const symbol = module().symbol(name);
        if (!symbol) throw InputError("no variable '" + name + "' in the machine code");
        return module().bytes(*symbol);
    }

    void launch(const KernelLaunch& launch, const std::vector<Argument>& arguments) override {
        const isa::Kernel& kernel = cubin_.kernel(launch.kernel);
        if (kernel.parameters.size() != arguments.size())
            throw InputError("another number of parameters in the machine code");
        std::vector<std::byte> parameters(static_cast<std::size_t>(*kernel.bank_0_bytes));
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const isa::Parameter& parameter = kernel.parameters[i];
            if (parameter.size != static_cast<std::int64_t>(arguments[i].bytes.size()))
                throw InputError("a parameter of another size in the machine code");
            std::ranges::copy(arguments[i].bytes, parameters.begin() + parameter.offset);
        }
        const isa::Execution execution = isa::execute(
            module(), kernel,
            {.grid = launch.grid,
             .block = launch.block,
             .dynamic_shared_bytes = launch.shared_bytes},
            parameters, {.threads = threads_, .step_budget = 20'000'000, .turn = turn_});
        warp_instructions += execution.warp_instructions;
        std::vector<std::uint64_t>& ran = executed[launch.kernel];
        ran.resize(execution.counts.size());
        for (std::size_t k = 0; k < ran.size(); ++k) ran[k] += execution.counts[k].warps;
    }

    // By kernel and instruction, how often warps executed it.
    std::map<std::string, std::vector<std::uint64_t>> executed;
    std::uint64_t warp_instructions = 0;

private:
    isa::LoadedModule& module() {
        if (!module_) module_.emplace(cubin_, memory_);
        return *module_;
    }

    const isa::Cubin& cubin_;
    int threads_;
    std::uint32_t turn_;  // of a warp
    isa::GlobalMemory memory_;
    std::optional<isa::LoadedModule> module_;
};

// The first element that differs; empty: none.
inline std::string difference(const std::vector<Buffer>& cpu, const std::vector<Buffer>& executed,
                              const char* oracle = "CPU") {
    for (std::size_t b = 0; b < cpu.size(); ++b) {
        const std::size_t size = bytes_of(cpu[b].type), count = cpu[b].bytes.size() / size;
        std::size_t different = 0, first = 0;
        for (std::size_t i = count; i-- > 0;) {
            if (std::memcmp(&cpu[b].bytes[i * size], &executed[b].bytes[i * size], size) == 0)
                continue;
            ++different;
            first = i;
        }
        if (different == 0) continue;
        const auto text = [&](const Buffer& buffer) {
            const std::uint64_t bits = get_element(&buffer.bytes[first * size], buffer.type);
            return fmt::format("{} (0x{:x})", element_text(buffer.type, bits), bits);
        };
        return fmt::format("{}[{}]: {} {}, executed {}; {} of {} elements differ", cpu[b].name,
                           first, oracle, text(cpu[b]), text(executed[b]), different, count);
    }
    return {};
}

// `kind`: "debug/" for code made with --device-debug.
inline isa::Cubin recorded_code(const LaunchPlan& plan, int architecture, const char* kind = "") {
    const std::string name = std::filesystem::path(plan.source).stem().string();
    return isa::read_cubin(read_text_file(
        kernels_folder() / fmt::format("recorded/{}sm_{}/{}.cubin", kind, architecture, name)));
}

}  // namespace occupipe::test

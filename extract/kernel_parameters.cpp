// SPDX-License-Identifier: MIT
#include "extract/kernel_parameters.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "extract/signature.h"
#include "extract/units.h"

namespace occupipe::extract {
namespace {

constexpr std::string_view executed =
    "executed on the host; memory traffic is each touched sector once";

// A load of the constant bank is an operand that has an instruction of its own.
bool loads_constants(std::string_view opcode) { return opcode == "LDC" || opcode == "LDCU"; }

// Waits and fences of the memory unit move nothing.
bool moves_nothing(std::string_view opcode) {
    return opcode == "LDGDEPBAR" || opcode == "CCTL" || opcode == "CCTLL";
}

}  // namespace

KernelParameters parameters_of(const LaunchResult& result) {
    KernelParameters sums;
    sums.kernel = readable_name(result.kernel->name);
    sums.origin = executed;
    sums.launches = static_cast<std::int64_t>(result.times);
    double fp32_fma = 0, fp64_fma = 0, fp32 = 0, fp64 = 0, integer = 0, load_store = 0;
    const std::vector<isa::Instruction>& code = *result.execution.code;
    for (std::size_t i = 0; i < code.size(); ++i) {
        const auto lanes = static_cast<double>(result.execution.counts[i].lanes);
        const std::string_view opcode = code[i].opcode;
        const std::string_view unit = unit_of(opcode);
        if (unit == "float") {
            // FADD2 and its like do two lanes' work in one.
            const double each = opcode.ends_with('2') ? 2 : 1;
            fp32 += each * lanes;
            if (opcode.starts_with("FFMA")) fp32_fma += each * lanes;
        } else if (unit == "double") {
            fp64 += lanes;
            if (opcode == "DFMA") fp64_fma += lanes;
        } else if (unit == "integer") {
            integer += lanes;
        } else if ((unit == "memory" && !loads_constants(opcode) && !moves_nothing(opcode)) ||
                   unit == "atomic") {
            load_store += lanes;
        }
    }
    const auto times = static_cast<double>(result.times);
    sums.fp32_fma = fp32_fma / times;
    sums.fp64_fma = fp64_fma / times;
    sums.fp32 = fp32 / times;
    sums.fp64 = fp64 / times;
    sums.integer = integer / times;
    sums.load_store = load_store / times;
    sums.warp_instructions = static_cast<double>(result.execution.warp_instructions) / times;
    sums.dram_read_sectors = static_cast<double>(result.footprint.sectors_read);
    sums.dram_write_sectors = static_cast<double>(result.footprint.sectors_written);
    return sums;
}

std::vector<KernelParameters> parameters_of(const std::vector<LaunchResult>& results) {
    std::vector<KernelParameters> all;
    for (const LaunchResult& result : results) {
        const KernelParameters one = parameters_of(result);
        const auto same = std::ranges::find(all, one.kernel, &KernelParameters::kernel);
        if (same == all.end()) {
            all.push_back(one);
            continue;
        }
        const auto before = static_cast<double>(same->launches);
        const auto more = static_cast<double>(one.launches);
        for (const KernelCount& count : kernel_counts())
            if (const auto& value = one.*count.value)
                (*same).*count.value =
                    (*((*same).*count.value) * before + *value * more) / (before + more);
        same->launches += one.launches;
    }
    return all;
}

}  // namespace occupipe::extract

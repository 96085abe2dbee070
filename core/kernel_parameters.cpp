// SPDX-License-Identifier: MIT
#include "core/kernel_parameters.h"

namespace occupipe {

const std::vector<KernelCount>& kernel_counts() {
    using K = KernelParameters;
    static const std::vector<KernelCount> all = {
        {"fp32_fma", "M_fma32", "lanes", "single-precision multiply-adds", &K::fp32_fma},
        {"fp64_fma", "M_fma64", "lanes", "double-precision multiply-adds", &K::fp64_fma},
        {"load_store", "M_ldst", "lanes", "loads and stores", &K::load_store},
        {"warp_instructions", "M_inst", "warps", "all instructions", &K::warp_instructions},
        {"fp32", "M_fp32", "lanes", "single-precision instructions", &K::fp32},
        {"fp64", "M_fp64", "lanes", "double-precision instructions", &K::fp64},
        {"integer", "M_int", "lanes", "integer instructions", &K::integer},
        {"dram_read_sectors", "M_tran-r", "32 bytes", "read from memory", &K::dram_read_sectors},
        {"dram_write_sectors", "M_tran-w", "32 bytes", "written to memory", &K::dram_write_sectors},
        {"l2_sectors", "", "32 bytes", "between first and second level", &K::l2_sectors},
        {"seconds", "", "s", "measured time of a launch", &K::seconds},
    };
    return all;
}

std::optional<Fault> parts_fault(const KernelParameters& k) {
    const auto more = [](std::optional<double> part, std::optional<double> whole) {
        return part && whole && *part > *whole;
    };
    if (more(k.fp32_fma, k.fp32))
        return Fault{{"fp32_fma"}, "is more than fp32, a part of which it is"};
    if (more(k.fp64_fma, k.fp64))
        return Fault{{"fp64_fma"}, "is more than fp64, a part of which it is"};
    return std::nullopt;
}

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// usage: user PROFILE KERNEL: cycles of the kernel's own launch by the Pipeline model's simulation.
#include <cstdio>

#include "core/files/files.h"
#include "fit/profile/profile_diff.h"
#include "sim/engine/simulate.h"

int main(int, char** argv) {
    const occupipe::GpuProfile profile = occupipe::read_profile(argv[1]);
    const occupipe::Kernel kernel = occupipe::read_kernel(argv[2]);
    const auto compared = occupipe::diff_profiles(profile, profile, {});
    const auto result = occupipe::simulate(profile, kernel, *kernel.launch, {});
    std::printf("%.0f cycles, %zu quantities compared\n", result.cycles, compared.size());
}

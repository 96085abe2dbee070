// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a measurement file, through reader and fitter. Whatever comes out
// is a profile that validates, or an InputError; never a crash, another exception or a NaN.
// Built with clang and -DOCCUPIPE_FUZZ=ON; run:
// fuzz_measurements -max_total_time=600 CORPUS tests/fuzz/seeds
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/files.h"
#include "fit/import/gpu_stream.h"
#include "fit/profile/build_profile.h"
#include "fit/profile/fit_report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        const std::vector files{occupipe::parse_measurements(text, "fuzz.json")};
        const occupipe::FitOutcome out = occupipe::fit_measurements(files);
        occupipe::format_fit_report(out);
        occupipe::parse_profile(occupipe::format_profile(out.profile), "fuzz.yaml");
    } catch (const occupipe::InputError&) {
    }
    try {
        occupipe::format_contention_table(occupipe::parse_gpu_stream(text, "fuzz.txt"));
    } catch (const occupipe::InputError&) {
    }
    return 0;
}

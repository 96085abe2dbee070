// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a launch file, and as the arguments of a command line. Whatever
// comes out is a plan whose patterns can be made, or an InputError in one line.
// Built with clang and -DOCCUPIPE_FUZZ=ON; run:
// fuzz_launches -max_total_time=600 CORPUS tests/fuzz/launch_seeds
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "core/files/launch_files.h"

namespace {

using namespace occupipe;

void make_buffers(const LaunchPlan& plan) {
    for (const BufferPlan& buffer : plan.buffers) {
        if (buffer.bytes() > 1 << 16 || buffer.fill.kind == BufferFill::Kind::file) continue;
        if (buffer_contents(plan, buffer, buffer.fill).size() != buffer.bytes()) std::abort();
    }
}

void require_one_line(const InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        const LaunchPlan plan = parse_launches(text, "fuzz.yaml");
        launch_count(plan);
        make_buffers(plan);
    } catch (const InputError& error) {
        require_one_line(error);
    }
    try {
        LaunchPlan plan;
        parse_arguments(text, plan);
        make_buffers(plan);
    } catch (const InputError&) {
    }
    return 0;
}

// SPDX-License-Identifier: MIT
// Whatever happens to a file, it is read or refused in one line that names it.
#include <gtest/gtest.h>

#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/kernel_parameters.h"
#include "tests/support/random_values.h"

namespace occupipe {
namespace {

void read_any(const std::string& text) {
    switch (file_kind(text, "file")) {
        case FileKind::profile:
            format_profile(parse_profile(text, "file"));
            return;
        case FileKind::kernel: {
            const Kernel kernel = parse_kernel(text, "file");
            for (const WarpProgram& program : kernel.warps) {
                if (instruction_count(program) < 10000) {
                    expand(program);
                }
            }
            return;
        }
        case FileKind::measurements:
            parse_measurements(text, "file");
            return;
        case FileKind::kernel_parameters:
            parse_kernel_parameters(text, "file");
            return;
        case FileKind::workload:
            return;
        case FileKind::launches:
            parse_launches(text, "file");
            return;
    }
}

std::string mutated(std::string text, test::RandomValues& random) {
    for (std::int64_t n = random.between(1, 3); n > 0 && !text.empty(); --n) {
        const auto at =
            static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size()) - 1));
        const auto length = static_cast<std::size_t>(random.between(0, 12));
        switch (random.between(0, 3)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, random.text());
                break;
            case 2:
                text.insert(at, text.substr(text.size() - 1 - at, length * 4));
                break;
            default:
                text[at] = static_cast<char>(random.between(0, 255));
        }
    }
    return text;
}

TEST(MutatedFiles, AreReadOrRefusedInOneLine) {
    const std::vector<std::string> seeds = {
        "format: occupipe-profile/1\ndevice: {name: x}\ncores: 10\nwarp_size: 32\nclock_hz: 1e9\n"
        "issue: {limit: {value: 4, std_error: 1}}\nsubsystems:\n  alu: {scope: core}\n"
        "instructions:\n  fma.f32:\n    subsystem: alu\n    cpi: {value: 1, identifiable: false}\n"
        "    latency: 4\nprovenance: {a: [b, {c: \"d\"}]}\n",
        "format: occupipe-kernel/1\nname: k\ninstructions:\n  - {id: i, op: mad}\n  - repeat: 6\n"
        "    body:\n      - {id: a, op: fma, after: [i, a@-1]}\n"
        "launch: {group_warps: 1, concurrent_groups: 1, groups: 1}\n",
        "format: occupipe-kernel-parameters/1\nkernels:\n  - kernel: k\n    warp_size: 64\n"
        "    fp32: 5\n    fp32_fma: 1e3\n  - {kernel: l, fp64: 0}\n",
        R"({"context": {"cores": "1"}, "benchmarks": [{"name": "a/group_warps:4/concurrent_groups:2)"
        R"(/chains:1/depth:7", "real_time": 1.5, "time_unit": "us", "cycles": 12, "warps": 8}]})"};
    for (std::uint64_t seed = 0; seed < 20000; ++seed) {
        test::RandomValues random(seed);
        const std::string text = mutated(seeds[seed % seeds.size()], random);
        try {
            read_any(text);
        } catch (const InputError& fault) {
            const std::string message = fault.what();
            ASSERT_EQ(message.substr(0, 5), "file:") << "seed " << seed << ": " << message;
            ASSERT_EQ(message.find('\n'), std::string::npos) << "seed " << seed << ": " << message;
        }
    }
}

}  // namespace
}  // namespace occupipe

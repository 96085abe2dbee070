// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a file of published figures and as a receipt. Whatever comes out
// is read, or an InputError; never a crash or another exception. Built with clang and
// -DOCCUPIPE_FUZZ=ON; run: fuzz_published -max_total_time=600 CORPUS published
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/device/self_check.h"
#include "core/error.h"
#include "published/published.h"
#include "published/shelf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        const auto published = occupipe::analysis::parse_published(text, "fuzz.yaml");
        for (const auto& throughput : published.throughputs)
            for (const std::string& capability : throughput.capabilities)
                for (const auto& operation : published.operations)
                    for (const auto& figure :
                         published.cpi(capability, operation.instructions.front(), 32))
                        if (!(figure.low > 0)) std::abort();
    } catch (const occupipe::InputError&) {
    }
    try {
        occupipe::analysis::shelf_profile(occupipe::analysis::parse_card(text, "fuzz.yaml"));
    } catch (const occupipe::InputError&) {
    }
    try {
        if (occupipe::analysis::is_datasheet(text))
            occupipe::analysis::shelf_profile(occupipe::analysis::parse_datasheet(text));
    } catch (const occupipe::InputError&) {
    }
    try {
        occupipe::analysis::parse_shelf(text, "fuzz.yaml");
    } catch (const occupipe::InputError&) {
    }
    occupipe::analysis::counted_latency_of_receipt(text);
    occupipe::analysis::access_bytes(text);
    return 0;
}

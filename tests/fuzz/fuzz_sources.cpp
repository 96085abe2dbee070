// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a dump of PTX, as CUDA source whose kernels are listed and whose
// host code is left out, all or what a compiler rejects, and as a compile_commands.json. Whatever
// comes out is as long as what went in, stands in it, or is an InputError. Built with clang and
// -DOCCUPIPE_FUZZ=ON; run: fuzz_sources -max_total_time=600 tests/containers
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ask/cuda_text.h"
#include "ask/host_code.h"
#include "core/error.h"
#include "core/files/compile_commands.h"
#include "isa/containers/device_images.h"

using namespace occupipe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    for (const std::string& one : isa::ptx_texts(text)) {
        if (text.find(one) == std::string::npos) std::abort();
        isa::ptx_target(one);
    }
    const auto lines = std::ranges::count(text, '\n');
    for (const analysis::SourceKernel& one : analysis::kernels_of_text(text))
        if (one.name.empty() || one.line < 1 || one.line > lines + 1) std::abort();
    const std::string left = analysis::without_host_functions(text);
    if (left.size() != text.size() || std::ranges::count(left, '\n') != lines) std::abort();
    analysis::first_error(text);
    // What a compiler said stands behind the source, or is all of it.
    const std::string said = text.substr(std::min(text.find('\0'), text.size()));
    for (const std::string& one : {said, text})
        for (const auto goes : {analysis::HostCode::statements, analysis::HostCode::functions})
            if (const auto less = analysis::without_failing_host_code(text, one, goes))
                if (less->size() != text.size() || std::ranges::count(*less, '\n') != lines)
                    std::abort();
    try {
        compile_commands_options(text, "/p/compile_commands.json", "/p/k.cu");
    } catch (const InputError&) {
    }
    return 0;
}

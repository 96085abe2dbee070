// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a cubin, and as instructions of every architecture. Whatever comes
// out is text, a reason why an instruction is not understood, or an InputError.
// Built with clang and -DOCCUPIPE_FUZZ=ON; run: fuzz_machine_code -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"
#include "isa/cubin.h"
#include "isa/decode.h"

namespace {

using namespace occupipe::isa;

void read_as_instructions(const std::string& bytes) {
    for (std::size_t at = 0; at + sizeof(Word) <= bytes.size() && at < 4096; at += sizeof(Word)) {
        Word word;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        for (const int architecture : {75, 80, 86, 89, 90, 100, 120}) {
            const Instruction one = decode(word, static_cast<std::int64_t>(at), architecture);
            const std::string text = to_text(one, architecture) + to_text(one.control);
            if (text.empty() || (one.opcode.empty() && one.unknown.empty())) std::abort();
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(data, data + size);
    read_as_instructions(bytes);
    try {
        for (const Kernel& kernel : read_cubin(bytes).kernels) decode(kernel.code, 90);
    } catch (const occupipe::InputError&) {
    }
    return 0;
}

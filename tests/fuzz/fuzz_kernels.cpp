// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as an archive of compiled kernels, whole or cut short, and as what
// stands in one. Whatever comes out is an archive that means the same when written again, a receipt
// with or without faults, or an InputError.
// Built with clang and -DOCCUPIPE_FUZZ=ON; run:
// fuzz_kernels -max_total_time=600 CORPUS tests/fuzz/kernel_seeds
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "bench/cuda/proof/receipt.h"
#include "bench/offline/kernel_archive.h"
#include "bench/offline/tar.h"
#include "core/error.h"

namespace {

using namespace occupipe::bench;

void same_again(const KernelArchive& archive) {
    std::string bytes = format_archive_header(archive.header);
    for (const auto& [key, kernel] : archive.kernels) bytes += format_stored_kernel(key, kernel);
    const KernelArchive again = parse_kernel_archive(bytes + tar_end(), "again.tar");
    if (again.header != archive.header || again.kernels != archive.kernels) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(data, data + size);
    try {
        same_again(parse_kernel_archive(bytes, "fuzz.tar"));
    } catch (const occupipe::InputError&) {
    }
    try {
        same_again(parse_partial_archive(bytes, "fuzz.tar.partial"));
    } catch (const occupipe::InputError&) {
    }
    // A file's hash does not keep it from being wrong from the beginning.
    static const Row& row = *find_row("fma.f32");
    const std::size_t middle = bytes.find("\177ELF");
    format_receipt(make_receipt({.first = &row, .unroll = 128}, "sm_90", "",
                                bytes.substr(0, middle),
                                middle == bytes.npos ? bytes : bytes.substr(middle), ""));
    return 0;
}

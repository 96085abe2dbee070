// SPDX-License-Identifier: MIT
#include "bench/offline/cuda_kernel.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/proof/ptx.h"
#include "bench/device_code.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

// Of the module's own arrays; the dynamic one is declared `.extern`.
std::size_t static_shared_bytes(const std::string& ptx) {
    std::size_t bytes = 0;
    std::istringstream in(ptx);
    for (std::string line; std::getline(in, line);) {
        const auto begin = line.find_first_not_of(" \t");
        const auto bracket = line.find('[');
        if (begin == line.npos || bracket == line.npos) continue;
        if (line.compare(begin, 8, ".shared ") != 0) continue;
        bytes += std::strtoull(line.c_str() + bracket + 1, nullptr, 10);
    }
    return bytes;
}

}  // namespace

std::size_t carried_stamp_bytes(const KernelPlan& plan) { return plan.checkpointed ? 32 : 16; }

CarriedKernel carry_cuda(const KernelSource& source, const std::string& architecture,
                         const TableSizes& tables, const std::string& name, bool placement) {
    std::string text = prelude_of(source.plan, tables);
    text += fmt::format("#define CARRIED_STAMP_WORDS {}u\n#define PLACEMENT {}\n",
                        carried_stamp_bytes(source.plan) / 4, placement ? 1 : 0);
    text += embedded(device_code(), "bench/cuda/device/carried_timing.cuh");
    text += source.body;
    // Whatever is visible outside of its module carries the kernel's name.
    replace_all(text, kernel_entry, name);
    replace_all(text, "constant_ring", name + "_ring");
    const CompiledKernel compiled = compile_text(source.plan, text, architecture, name.c_str());
    if (!compiled.receipt.ok()) throw DeviceError(format_receipt(compiled.receipt));
    CarriedKernel carried;
    carried.files = {{".cu", compiled.source},
                     {".ptx", compiled.ptx},
                     {".cubin", compiled.cubin},
                     {".txt", format_receipt(compiled.receipt)}};
    for (const Receipt::Count& count : compiled.receipt.counts) {
        carried.counts[count.ptx_opcode] += count.expected;
        if (!count.sass.empty()) carried.counts[count.sass.front()] += count.sass_expected;
    }
    const PtxCount ptx = count_ptx(compiled.ptx, source.plan.checkpointed);
    for (const auto& [opcode, count] : ptx.in_loop)
        if (!carried.counts.contains(opcode)) carried.beside[opcode] += count;
    for (const auto& [opcode, count] : ptx.by_compiler) carried.beside[opcode] += count;
    carried.static_shared_bytes = static_shared_bytes(compiled.ptx);
    const Row* row = walking_row(source.plan);
    TableRequest request;
    if (row) {
        request = {row->pattern, tables.of(source.plan),
                   static_cast<std::size_t>(walked_words(source.plan)) * 4, row->access_words,
                   row->own_lines};
    }
    const TableWords words =
        row && row->access_words > 1 ? TableWords::address64 : TableWords::address32;
    carried.in = input_buffer(source, request, words, false);
    return carried;
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "bench/cuda/compile.h"

#include "bench/cuda/nvrtc.h"
#include "bench/cuda/prelude.h"

namespace occupipe::bench {

CompiledKernel compile_cuda(const KernelSource& source, const std::string& architecture,
                            std::size_t table_words) {
    CompiledKernel kernel;
    kernel.source =
        cuda_prelude(table_words, gpu_line_words, source.plan.second != nullptr) + source.body;
    NvrtcOutput output = nvrtc().compile(kernel.source, architecture);
    kernel.receipt = make_receipt(source.plan, architecture, kernel.source, output.ptx,
                                  output.cubin, output.log);
    kernel.receipt.compiler = "NVRTC " + nvrtc().version();
    kernel.ptx = std::move(output.ptx);
    kernel.cubin = std::move(output.cubin);
    return kernel;
}

}  // namespace occupipe::bench

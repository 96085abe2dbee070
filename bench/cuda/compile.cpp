// SPDX-License-Identifier: MIT
#include "bench/cuda/compile.h"

#include "bench/cuda/nvrtc.h"
#include "bench/cuda/prelude.h"

namespace occupipe::bench {

namespace {

// Instructions that later architectures do not keep are behind a name of their own ("sm_90a").
std::string target(const KernelPlan& plan, const std::string& architecture) {
    const bool features =
        plan.first->architecture_features || (plan.second && plan.second->architecture_features);
    return features && !architecture.ends_with('a') ? architecture + "a" : architecture;
}

}  // namespace

int walked_words(const KernelPlan& plan) {
    const Row* row = walking_row(plan);
    return gpu_line_words * (row ? row->spread : 1);
}

CompiledKernel compile_cuda(const KernelSource& source, const std::string& architecture,
                            const TableSizes& tables) {
    CompiledKernel kernel;
    kernel.source = cuda_prelude(tables.of(source.plan) / 4, walked_words(source.plan),
                                 source.plan.second != nullptr) +
                    source.body;
    NvrtcOutput output = nvrtc().compile(kernel.source, target(source.plan, architecture));
    kernel.receipt = make_receipt(source.plan, architecture, kernel.source, output.ptx,
                                  output.cubin, output.log);
    kernel.receipt.compiler = "NVRTC " + nvrtc().version();
    kernel.ptx = std::move(output.ptx);
    kernel.cubin = std::move(output.cubin);
    return kernel;
}

}  // namespace occupipe::bench

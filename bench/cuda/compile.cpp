// SPDX-License-Identifier: MIT
#include "bench/cuda/compile.h"

#include <utility>

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

CompiledKernel compile_text(const KernelPlan& plan, std::string text,
                            const std::string& architecture, const char* entry) {
    CompiledKernel kernel;
    kernel.source = std::move(text);
    NvrtcOutput output = nvrtc().compile(kernel.source, target(plan, architecture));
    kernel.receipt = make_receipt(plan, architecture, kernel.source, output.ptx, output.cubin,
                                  output.log, entry);
    kernel.receipt.compiler = "NVRTC " + nvrtc().version();
    kernel.ptx = std::move(output.ptx);
    kernel.cubin = std::move(output.cubin);
    return kernel;
}

CompiledKernel compile_cuda(const KernelSource& source, const std::string& architecture,
                            const TableSizes& tables) {
    return compile_text(source.plan,
                        cuda_prelude(tables.of(source.plan) / 4, walked_words(source.plan),
                                     source.plan.second != nullptr) +
                            source.body,
                        architecture, kernel_entry);
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/compile.h"

#include <utility>

#include "bench/cuda/driver/nvrtc.h"
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

std::string prelude_of(const KernelPlan& plan, const TableSizes& tables) {
    return cuda_prelude(tables.of(plan) / 4, walked_words(plan), plan.second != nullptr,
                        lap_iterations(plan, tables));
}

int lap_iterations(const KernelPlan& plan, const TableSizes& tables) {
    constexpr std::size_t beyond_first_level = 1u << 20;
    const Row* row = walking_row(plan);
    if (!row || row->pattern != Pattern::global_chase) return 0;
    const std::size_t bytes = tables.of(plan);
    const bool fresh = tables.before_launch(plan) == CacheState::holds_nothing_of_table;
    if (bytes > beyond_first_level || fresh) return 0;
    const std::size_t lines = bytes / 4 / static_cast<std::size_t>(walked_words(plan));
    const auto unroll = static_cast<std::size_t>(plan.unroll);
    return static_cast<int>((lines + unroll - 1) / unroll);
}

CompiledKernel compile_text(const KernelPlan& plan, std::string text,
                            const std::string& architecture, const char* entry,
                            const KernelCompiler* compiler) {
    CompiledKernel kernel;
    kernel.source = std::move(text);
    NvrtcOutput output =
        (compiler ? *compiler : nvrtc()).compile(kernel.source, target(plan, architecture));
    kernel.receipt = make_receipt(plan, architecture, kernel.source, output.ptx, output.cubin,
                                  output.log, entry);
    kernel.receipt.compiler = output.compiler;
    kernel.ptx = std::move(output.ptx);
    kernel.cubin = std::move(output.cubin);
    return kernel;
}

CompiledKernel compile_cuda(const KernelSource& source, const std::string& architecture,
                            const TableSizes& tables, const KernelCompiler* compiler) {
    return compile_text(source.plan, prelude_of(source.plan, tables) + source.body, architecture,
                        kernel_entry, compiler);
}

std::vector<std::string> cuda_helper_texts() {
    return {cuda_witness_source(), cuda_table_reader_source(), cuda_table_writer_source()};
}

}  // namespace occupipe::bench

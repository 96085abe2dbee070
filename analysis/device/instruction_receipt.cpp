// SPDX-License-Identifier: MIT
#include "analysis/device/instruction_receipt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/opencl/proof/x86_receipt.h"
#include "core/error.h"

namespace occupipe::analysis {
namespace {

constexpr const char* cache_variable = "POCL_CACHE_DIR";

std::string indented(const std::string& text, const char* by) {
    std::string result;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        result += by + text.substr(begin, end - begin) + '\n';
        begin = end + 1;
    }
    return result;
}

bench::KernelPlan plan_of(const bench::Row& row, bool cpu) {
    return {.first = &row, .chains = 1, .unroll = bench::default_unroll(row, nullptr, 0, 1, cpu)};
}

// 90 of "sm_90"; 0 if it is not such a word.
int number_of(const std::string& architecture) {
    return architecture.starts_with("sm_") ? std::atoi(architecture.c_str() + 3) : 0;
}

bool have_nvrtc() {
    try {
        bench::nvrtc();
        return true;
    } catch (const DeviceError&) {
        return false;
    }
}

}  // namespace

ScratchCache::ScratchCache() {
    std::string name =
        (std::filesystem::temp_directory_path() / "occupipe-explain-XXXXXX").string();
    if (mkdtemp(name.data())) setenv(cache_variable, name.c_str(), 1);
}

ScratchCache::~ScratchCache() {
    std::error_code none;
    if (const char* folder = std::getenv(cache_variable)) {
        std::filesystem::remove_all(folder, none);
    }
}

std::string step_of(std::string_view step) {
    std::string text;
    for (const char c : step) text += c == '$' ? 'x' : c;
    return text;
}

void check_architecture(const std::string& architecture) {
    if (number_of(architecture) < 70) {
        throw InputError(fmt::format("--arch '{}': expected sm_75, sm_90, …", architecture));
    }
}

std::string cuda_receipt(const bench::Row& row, const std::string& architecture, bool source) {
    if (!have_nvrtc()) return "  not counted here: no NVRTC to compile with\n";
    const int number = number_of(architecture);
    if (number < row.least_architecture) {
        return fmt::format("  {} does not have it: choose --arch\n", architecture);
    }
    const bench::CompiledKernel kernel =
        bench::compile_cuda(bench::kernel_source(plan_of(row, false)), architecture);
    std::string text = "  counted here, one chain:\n";
    text += indented(bench::format_receipt(kernel.receipt), "    ");
    if (source) text += "  kernel text:\n" + indented(kernel.source, "    ");
    return text;
}

std::string opencl_receipt(bench::Backend& backend, const bench::Row& row, bool source) {
    const bench::KernelSource kernel = bench::kernel_source(plan_of(row, backend.facts().cpu));
    std::string text;
    const char* cache = std::getenv(cache_variable);
    const auto platform = backend.facts().more.find("opencl_platform");
    const bool countable = !row.x86.empty() || !row.x86_also.empty();
    if (countable && cache && backend.facts().cpu && platform != backend.facts().more.end() &&
        platform->second.starts_with("Portable Computing Language")) {
        const auto loops = bench::loops_that_pocl_makes(backend, kernel, cache);
        text = "  counted here, one chain:\n" +
               indented(bench::format_x86_receipt(bench::make_x86_receipt(kernel.plan, loops)),
                        "    ");
    }
    if (source) text += "  kernel text:\n" + indented(backend.text(kernel), "    ");
    return text;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "ask/cuda_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "ask/cuda_text.h"
#include "bench/cuda/driver/find_cuda.h"
#include "bench/cuda/driver/nvcc.h"
#include "bench/cuda/driver/nvrtc.h"
#include "core/error.h"
#include "core/files/compile_commands.h"
#include "extract/signature.h"
#include "isa/cubin.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;

// Of a toolkit; empty: none is here.
std::vector<std::string> cuda_include_options() {
    std::vector<std::string> options;
    for (const fs::path& toolkit : bench::cuda_folders(bench::Surroundings::of_this_process())) {
        std::error_code none;
        if (!fs::exists(toolkit / "include" / "cuda_fp16.h", none)) continue;
        // From CUDA 13 on, libcu++ and CUB, which cooperative_groups.h needs, have their own
        // folder.
        for (const fs::path& folder : {toolkit / "include", toolkit / "include" / "cccl"})
            if (fs::exists(folder, none)) options.push_back("--include-path=" + folder.string());
        break;
    }
    return options;
}

bool holds(const bench::NvrtcOutput& output, const std::string& kernel) {
    if (output.lowered.contains(kernel)) return true;
    try {
        extract::find_kernel(isa::read_cubin(output.cubin), kernel);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

// A name with the arguments of a template.
bool is_instance(const std::string& kernel) {
    return kernel.find('<') != std::string::npos && kernel.find('(') == std::string::npos;
}

class Compiling {
public:
    Compiling(const std::string& path, const std::string& text, const std::string& architecture,
              const std::vector<std::string>& options, const std::vector<std::string>& kernels)
        : path_(path), text_(text), architecture_(architecture), kernels_(kernels) {
        options_ = options_of_project(path);
        options_.insert(options_.end(), options.begin(), options.end());
        defined_ = kernels_of_text(text);
    }

    CompiledSource run() {
        if (std::optional<CompiledSource> made = by_nvrtc()) return std::move(*made);
        return by_nvcc();
    }

private:
    struct Way {
        bool with_headers, without_host;
        const char* words;
    };

    std::optional<CompiledSource> by_nvrtc() {
        const bench::Nvrtc* compiler = nullptr;
        try {
            compiler = &bench::nvrtc();
            const std::size_t digits = architecture_.find_first_not_of("0123456789", 3);
            compiler->require(architecture_.substr(0, digits));
        } catch (const DeviceError& error) {
            no_nvrtc_ = error.what();
            return std::nullopt;
        }
        constexpr Way ways[] = {{false, false, ""},
                                {true, false, " with headers of C and C++ that it lacks"},
                                {true, true, "; code for the host is left out"}};
        for (const Way& way : ways) {
            std::optional<bench::NvrtcOutput> output = attempt(*compiler, way);
            if (!output) continue;
            if (way.without_host && !is_whole(*output)) {
                rest_ = CompiledSource{std::move(*output), note(compiler->name(), way.words)};
                return std::nullopt;
            }
            std::string said = way.with_headers ? note(compiler->name(), way.words) : "";
            return CompiledSource{std::move(*output), std::move(said)};
        }
        return std::nullopt;
    }

    std::string note(const std::string& compiler, const std::string& words) const {
        return fmt::format("{}: compiled by {}{}", path_, compiler, words);
    }

    // Whether what host code instantiates is not missed.
    bool is_whole(const bench::NvrtcOutput& output) const {
        if (!kernels_.empty())
            return std::ranges::all_of(kernels_,
                                       [&](const auto& one) { return holds(output, one); });
        return std::ranges::all_of(
            defined_, [](const SourceKernel& one) { return one.template_parameters.empty(); });
    }

    std::vector<std::string> missing_instances(const bench::NvrtcOutput& output) const {
        std::vector<std::string> missing;
        for (const std::string& one : kernels_)
            if (is_instance(one) && !holds(output, one)) missing.push_back(one);
        return missing;
    }

    std::optional<bench::NvrtcOutput> attempt(const bench::Nvrtc& compiler, const Way& way) {
        const fs::path source = path_;
        const fs::path folder = source.has_parent_path() ? source.parent_path() : fs::path(".");
        std::vector<std::string> options = {"--include-path=" + folder.string()};
        const std::vector<std::string> cuda = cuda_include_options();
        options.insert(options.end(), cuda.begin(), cuda.end());
        options.emplace_back("-lineinfo");
        bench::SourceText text{.text = way.without_host ? without_host_functions(text_) : text_,
                               .file = source.filename().string()};
        if (way.with_headers) {
            text.headers = bench::host_headers(cuda.empty());
            options.push_back(std::string("--pre-include=") + bench::first_header);
        }
        if (way.without_host) options.emplace_back("-default-device");
        options.insert(options.end(), options_.begin(), options_.end());
        bench::NvrtcOutput output;
        try {
            output = compiler.compile(text, architecture_, options);
        } catch (const bench::CompileError& error) {
            if (nvrtc_said_.empty() || way.with_headers) nvrtc_said_ = error.what();
            return std::nullopt;
        }
        text.instances = missing_instances(output);
        if (text.instances.empty()) return output;
        try {
            return compiler.compile(text, architecture_, options);
        } catch (const bench::CompileError& error) {
            const std::string& wanted = text.instances.front();
            const bool known = std::ranges::any_of(defined_, [&](const SourceKernel& one) {
                return wanted.starts_with(one.name + "<");
            });
            if (known)
                throw InputError(fmt::format("{}: there is no '{}': {}", path_, wanted,
                                             first_error(error.what())));
        }
        return output;
    }

    CompiledSource by_nvcc() {
        std::string nvcc_said;
        try {
            const bench::Nvcc nvcc = bench::find_nvcc(bench::Surroundings::of_this_process());
            bench::NvrtcOutput output =
                bench::compile_nvcc(nvcc, path_, architecture_, options_, {});
            if (const auto missing = missing_instances(output); !missing.empty())
                output = bench::compile_nvcc(nvcc, path_, architecture_, options_, missing);
            const std::string compiler = output.compiler;
            return {std::move(output), note(compiler, "")};
        } catch (const bench::CompileError& error) {
            nvcc_said = error.what();
        } catch (const DeviceError& error) {
            if (rest_) return std::move(*rest_);
            if (!no_nvrtc_.empty()) throw DeviceError(no_nvrtc_);
            throw InputError(
                fmt::format("{}: does not compile for {}: {}\n{}; nvcc, which knows host code and "
                            "all headers, would be taken: {} (104 MB to download)",
                            path_, architecture_, first_error(nvrtc_said_), error.what(),
                            bench::how_to_get_nvcc));
        }
        if (rest_) return std::move(*rest_);
        throw InputError(fmt::format("{}: does not compile for {}: nvcc: {}", path_, architecture_,
                                     first_error(nvcc_said)));
    }

    const std::string& path_;
    const std::string& text_;
    const std::string& architecture_;
    const std::vector<std::string>& kernels_;
    std::vector<std::string> options_;
    std::vector<SourceKernel> defined_;
    std::string no_nvrtc_, nvrtc_said_;
    std::optional<CompiledSource> rest_;  // compiles, but may lack what host code instantiates
};

bool is_error(std::string_view line) {
    return line.find("error") != line.npos || line.find("fatal") != line.npos;
}

}  // namespace

std::string first_error(const std::string& said) {
    std::string log = said;
    // What stands before the compiler's own words (Nvrtc::compile).
    constexpr std::string_view status = "NVRTC_ERROR_COMPILATION: ";
    if (const std::size_t at = log.find(status); at != log.npos) log.erase(0, at + status.size());
    std::string first;
    int more = 0;
    for (std::size_t begin = 0; begin < log.size();) {
        const std::size_t end = std::min(log.find('\n', begin), log.size());
        const std::string line = log.substr(begin, end - begin);
        begin = end + 1;
        const bool counts = line.find(" detected in ") != std::string::npos;
        if (!is_error(line) || counts) continue;
        if (first.empty())
            first = line;
        else if (line.find("error:") != std::string::npos)
            ++more;
    }
    if (first.empty()) return log.empty() ? "it says nothing" : log;
    return more == 0 ? first : fmt::format("{} (and {} more)", first, more);
}

CompiledSource compile_cuda_source(const std::string& path, const std::string& text,
                                   const std::string& architecture,
                                   const std::vector<std::string>& options,
                                   const std::vector<std::string>& kernels) {
    return Compiling(path, text, architecture, options, kernels).run();
}

std::string about_templates(const std::string& path, const std::string& text,
                            const std::string& kernel) {
    for (const SourceKernel& one : kernels_of_text(text)) {
        if (one.template_parameters.empty()) continue;
        const bool meant = kernel.empty() || one.name == kernel ||
                           one.name.ends_with("::" + kernel) || kernel.starts_with(one.name + "<");
        if (meant)
            return fmt::format(
                "'{0}' is a template ({1}:{2}: template <{3}>): --kernel '{0}<…>' makes an "
                "instance of it",
                one.name, fs::path(path).filename().string(), one.line, one.template_parameters);
    }
    return {};
}

}  // namespace occupipe::analysis

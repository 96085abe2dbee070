// SPDX-License-Identifier: MIT
#include "ask/kernel_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "bench/cuda/driver/find_cuda.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/driver/opencl_c.h"
#include "bench/cuda/driver/ptxas.h"
#include "core/architectures.h"
#include "core/error.h"
#include "core/files/files.h"
#include "isa/decode.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;

std::string known() { return "known are " + architectures_in_words(); }

// "sm_90a" is code of 90.
int number_of(const std::string& architecture) {
    int number = 0;
    const bool shaped = architecture.starts_with("sm_") && architecture.size() > 3;
    if (shaped)
        for (const char c : architecture.substr(3))
            if (c >= '0' && c <= '9' && number < 1000) number = number * 10 + (c - '0');
    const std::string plain = fmt::format("sm_{}", number);
    if (!shaped || !isa::known_architecture(number) ||
        (architecture != plain && architecture != plain + "a" && architecture != plain + "f"))
        throw InputError(fmt::format("--arch {}: is not an architecture that is executed; {}",
                                     architecture, known()));
    return number;
}

// The ".target sm_90" of PTX; empty where it has none.
std::string target_of(const std::string& ptx) {
    constexpr std::string_view word = ".target";
    const std::size_t at = ptx.find(word);
    if (at == std::string::npos) return {};
    const std::size_t begin = ptx.find_first_not_of(" \t", at + word.size());
    if (begin == std::string::npos) return {};
    return ptx.substr(begin, ptx.find_first_of(", \t\r\n", begin) - begin);
}

std::vector<std::string> include_options(const fs::path& source) {
    std::vector<std::string> options;
    const fs::path folder = source.has_parent_path() ? source.parent_path() : fs::path(".");
    options.push_back("--include-path=" + folder.string());
    for (const fs::path& toolkit : bench::cuda_folders(bench::Surroundings::of_this_process())) {
        std::error_code none;
        if (!fs::exists(toolkit / "include" / "cuda_fp16.h", none)) continue;
        // From CUDA 13 on, libcu++ and CUB, which cooperative_groups.h needs, have their own
        // folder.
        for (const fs::path& folder_of_headers :
             {toolkit / "include", toolkit / "include" / "cccl"})
            if (fs::exists(folder_of_headers, none))
                options.push_back("--include-path=" + folder_of_headers.string());
        break;
    }
    return options;
}

[[noreturn]] void refuse(const std::string& path, const std::string& architecture,
                         const bench::CompileError& error) {
    throw InputError(
        fmt::format("{}: does not compile for {}: {}", path, architecture, error.what()));
}

// OpenCL C through clang and the assembler.
void compile_opencl_c(KernelFile& file, const std::string& architecture,
                      const std::vector<std::string>& options, const std::string& clang) {
    constexpr std::string_view for_ptxas = "-Xptxas=";
    std::vector<std::string> for_clang;
    std::vector<std::string> assembler = {"--generate-line-info"};
    for (const std::string& one : options) {
        if (one.starts_with(for_ptxas))
            assembler.push_back(one.substr(for_ptxas.size()));
        else
            for_clang.push_back(one);
    }
    try {
        const bench::OpenClOutput front = bench::compile_opencl(
            file.path, architecture, for_clang,
            bench::find_opencl_compiler(clang, bench::Surroundings::of_this_process()));
        bench::NvrtcOutput back = bench::assemble_ptx(front.ptx, architecture, assembler);
        file.compiler = fmt::format("{} and {}", front.compiler, back.compiler);
        file.options = front.options;
        file.options.push_back("-Xptxas=--gpu-name=" + architecture);
        for (const std::string& one : assembler)
            file.options.push_back(std::string(for_ptxas) + one);
        file.note = fmt::format("{}: {}; NVIDIA's own OpenCL compiler may choose otherwise",
                                file.path, front.arithmetic);
        file.ptx = front.ptx;
        file.bytes = std::move(back.cubin);
    } catch (const bench::CompileError& error) {
        refuse(file.path, architecture, bench::CompileError(bench::plain_words(error.what())));
    }
}

bench::NvrtcOutput compiled(const std::string& path, const std::string& text,
                            const std::string& architecture,
                            const std::vector<std::string>& options) {
    try {
        if (path.ends_with(".ptx")) {
            std::vector<std::string> all = {"--generate-line-info"};
            all.insert(all.end(), options.begin(), options.end());
            return bench::assemble_ptx(text, architecture, all);
        }
        std::vector<std::string> all = include_options(path);
        all.emplace_back("-lineinfo");
        all.insert(all.end(), options.begin(), options.end());
        return bench::nvrtc().compile(text, architecture, all, fs::path(path).filename().string());
    } catch (const bench::CompileError& error) {
        refuse(path, architecture, error);
    }
}

isa::Cubin machine_code(const std::string& path, const std::string& bytes) {
    try {
        isa::Cubin cubin = isa::read_cubin(bytes);
        cubin.file = path;
        if (!cubin.architecture)
            throw InputError(
                fmt::format("machine code of an architecture that is not known; {}", known()));
        return cubin;
    } catch (const InputError& error) {
        throw InputError(path + ": " + error.what());
    }
}

}  // namespace

KernelFile read_kernel_file(const std::string& path, const std::string& architecture,
                            const std::vector<std::string>& asked, const std::string& clang,
                            const std::vector<std::string>& usual_options) {
    const std::vector<std::string>& options = asked.empty() ? usual_options : asked;
    const std::string text = read_text_file(path);
    KernelFile file;
    file.path = path;
    const bool elf = text.starts_with("\177ELF");
    const bool opencl = !elf && path.ends_with(".cl");
    const bool source = opencl || (!elf && path.ends_with(".cu"));
    const bool ptx = !elf && path.ends_with(".ptx");
    if (!architecture.empty()) number_of(architecture);
    if (!source && !ptx) {
        if (!asked.empty())
            throw InputError(path + ": is compiled already; --compiler option is for source");
        file.cubin = machine_code(path, text);
        file.bytes = text;
        if (!architecture.empty() && number_of(architecture) != *file.cubin.architecture)
            throw InputError(fmt::format("{}: is machine code of sm_{}, not of {}", path,
                                         *file.cubin.architecture, architecture));
        return file;
    }
    std::string target = architecture;
    if (target.empty() && ptx) target = target_of(text);
    if (target.empty())
        throw InputError(path +
                         ": --arch sm_NN says what to compile it for (or 'architecture' in "
                         "the launch file)");
    number_of(target);
    if (opencl) {
        compile_opencl_c(file, target, options, clang);
        file.cubin = machine_code(path, file.bytes);
        return file;
    }
    bench::NvrtcOutput output = compiled(path, text, target, options);
    file.cubin = machine_code(path, output.cubin);
    file.bytes = std::move(output.cubin);
    file.ptx = std::move(output.ptx);
    file.compiler = output.compiler;
    file.options = {"--gpu-architecture=" + target, ptx ? "--generate-line-info" : "-lineinfo"};
    file.options.insert(file.options.end(), options.begin(), options.end());
    return file;
}

}  // namespace occupipe::analysis

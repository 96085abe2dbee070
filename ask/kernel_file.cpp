// SPDX-License-Identifier: MIT
#include "ask/kernel_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "ask/code_cache.h"
#include "ask/cuda_source.h"
#include "bench/cuda/driver/find_cuda.h"
#include "bench/cuda/driver/opencl_c.h"
#include "bench/cuda/driver/ptxas.h"
#include "core/architectures.h"
#include "core/error.h"
#include "core/files/files.h"
#include "extract/signature.h"
#include "isa/containers/device_images.h"
#include "isa/decode.h"

namespace occupipe::analysis {
namespace {

std::string known() { return "known are " + architectures_in_words(); }

// "sm_90a" is code of 90. None: it is not executed.
std::optional<int> executed_number(const std::string& architecture) {
    int number = 0;
    if (!architecture.starts_with("sm_")) return std::nullopt;
    for (const char c : architecture.substr(3))
        if (c >= '0' && c <= '9' && number < 1000) number = number * 10 + (c - '0');
    const std::string plain = fmt::format("sm_{}", number);
    if (!isa::known_architecture(number) ||
        (architecture != plain && architecture != plain + "a" && architecture != plain + "f"))
        return std::nullopt;
    return number;
}

int number_of(const std::string& architecture) {
    const std::optional<int> number = executed_number(architecture);
    if (!number)
        throw InputError(fmt::format("--arch {}: is not an architecture that is executed; {}",
                                     architecture, known()));
    return *number;
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

[[noreturn]] void refuse_without_architecture(const std::string& path) {
    throw InputError(path +
                     ": --arch sm_NN says what to compile it for (or 'architecture' in "
                     "the launch file); " +
                     known());
}

std::vector<isa::DeviceImage> images_in(const std::string& path, const std::string& bytes) {
    try {
        return isa::device_images(bytes);
    } catch (const InputError& error) {
        throw InputError(path + ": " + error.what());
    }
}

isa::Cubin machine_code(const std::string& path, const std::string& bytes) {
    try {
        isa::Cubin cubin = isa::read_cubin(bytes);
        cubin.file = path;
        if (!cubin.architecture)
            throw InputError(cubin.named_architecture
                                 ? fmt::format("machine code of sm_{}, which is not read; {}",
                                               *cubin.named_architecture, known())
                                 : "machine code of an architecture that is not known; " + known());
        return cubin;
    } catch (const InputError& error) {
        throw InputError(path + ": " + error.what());
    }
}

KernelFile assembled(const std::string& path, const std::string& ptx, const std::string& target,
                     const std::vector<std::string>& options) {
    std::vector<std::string> all = {"--generate-line-info"};
    all.insert(all.end(), options.begin(), options.end());
    KernelFile file;
    try {
        bench::NvrtcOutput output = bench::assemble_ptx(ptx, target, all);
        file.bytes = std::move(output.cubin);
        file.compiler = output.compiler;
    } catch (const bench::CompileError& error) {
        refuse(path, target, error);
    }
    file.path = path;
    file.cubin = machine_code(path, file.bytes);
    file.ptx = ptx;
    file.options = {"--gpu-architecture=" + target, "--generate-line-info"};
    file.options.insert(file.options.end(), options.begin(), options.end());
    return file;
}

CompiledSource compile_or_find(const std::string& path, const std::string& text,
                               const std::string& target, const std::vector<std::string>& options,
                               const CompileRequest& request) {
    const std::string key =
        request.cache ? code_key(path, text, target, options, request.kernels, request.effort) : "";
    if (!key.empty())
        if (std::optional<CompiledSource> known = request.cache->find(key))
            return std::move(*known);
    CompiledSource made =
        compile_cuda_source(path, text, target, options, request.kernels, request.effort);
    if (!key.empty()) request.cache->keep(key, made);
    return made;
}

KernelFile compiled(const std::string& path, const std::string& text, const std::string& target,
                    const std::vector<std::string>& options, const CompileRequest& request) {
    const std::vector<std::string>& kernels = request.kernels;
    CompiledSource made = compile_or_find(path, text, target, options, request);
    KernelFile file;
    file.path = path;
    file.cubin = machine_code(path, made.output.cubin);
    file.cubin.also_called = std::move(made.output.lowered);
    file.bytes = std::move(made.output.cubin);
    file.ptx = std::move(made.output.ptx);
    file.compiler = made.output.compiler;
    file.note = std::move(made.note);
    file.options = {"--gpu-architecture=" + target};
    if (request.effort.line_numbers) file.options.emplace_back("-lineinfo");
    file.options.insert(file.options.end(), options.begin(), options.end());
    const auto launchable = [](const isa::Kernel& one) { return !one.is_function; };
    const bool none = std::ranges::none_of(file.cubin.kernels, launchable);
    for (const std::string& one : none&& kernels.empty() ? std::vector<std::string>{""} : kernels)
        if (none || extract::kernels_called(file.cubin, one).empty())
            if (const std::string said = why_not_compiled(path, text, one); !said.empty())
                throw InputError(fmt::format("{}: {}", path, said));
    return file;
}

bool is_code_of(const isa::DeviceImage& image, int architecture) {
    return image.kind == isa::DeviceImage::Kind::machine_code && image.architecture == architecture;
}

// As a driver chooses: code of the architecture, else of the last one before it in its generation.
int code_for(const std::vector<isa::DeviceImage>& images, int architecture) {
    int best = 0;
    for (const isa::DeviceImage& one : images)
        if (one.architecture <= architecture && one.architecture / 10 == architecture / 10 &&
            is_code_of(one, one.architecture) && isa::known_architecture(one.architecture))
            best = std::max(best, one.architecture);
    return best;
}

std::string names_of(const std::vector<isa::DeviceImage>& images) {
    std::vector<std::string> names;
    for (const isa::DeviceImage& one : images)
        if (std::ranges::find(names, one.name()) == names.end()) names.push_back(one.name());
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
}

// Which architecture's code is taken of a file that holds images; none where that is not said.
std::optional<int> architecture_of_images(const std::vector<isa::DeviceImage>& images,
                                          const CompileRequest& request) {
    if (!request.architecture.empty()) return number_of(request.architecture);
    std::set<int> code, ptx;
    for (const isa::DeviceImage& one : images) {
        if (one.kind == isa::DeviceImage::Kind::ptx)
            ptx.insert(one.architecture);
        else if (isa::known_architecture(one.architecture))
            code.insert(one.architecture);
    }
    if (code.size() == 1) return *code.begin();
    if (!request.preferred_architecture.empty()) return number_of(request.preferred_architecture);
    if (code.empty() && ptx.size() == 1 && isa::known_architecture(*ptx.begin()))
        return *ptx.begin();
    return std::nullopt;
}

std::string ptx_beside(const std::vector<isa::DeviceImage>& images, std::size_t container) {
    for (const isa::DeviceImage& one : images)
        if (one.container == container && one.kind == isa::DeviceImage::Kind::ptx) return one.bytes;
    return {};
}

std::vector<KernelFile> files_of_images(const std::string& path,
                                        const std::vector<isa::DeviceImage>& images,
                                        const CompileRequest& request) {
    const std::optional<int> architecture = architecture_of_images(images, request);
    if (!architecture)
        throw InputError(
            fmt::format("{}: holds code for {}: --arch says which", path, names_of(images)));
    std::vector<KernelFile> files;
    const int number = code_for(images, *architecture);
    const bool linked = std::ranges::any_of(images, [&](const isa::DeviceImage& one) {
        return is_code_of(one, number) && !one.relocatable;
    });
    for (const isa::DeviceImage& one : images) {
        // What is linked stands for its parts.
        if (!is_code_of(one, number) || (linked && one.relocatable)) continue;
        KernelFile& file = files.emplace_back();
        file.path = path;
        file.bytes = one.bytes;
        file.cubin = machine_code(path, one.bytes);
        file.ptx = ptx_beside(images, one.container);
    }
    if (!files.empty()) return files;
    std::set<std::size_t> done;
    for (const isa::DeviceImage& one : images) {
        if (one.kind != isa::DeviceImage::Kind::ptx || one.architecture > *architecture ||
            !done.insert(one.container).second)
            continue;
        files.push_back(
            assembled(path, one.bytes, fmt::format("sm_{}", *architecture), request.options));
        files.back().note = fmt::format("{}: compiled by ptxas from its {}", path, one.name());
    }
    if (files.empty())
        throw InputError(fmt::format("{}: holds no code for sm_{}, but for {}", path, *architecture,
                                     names_of(images)));
    return files;
}

std::vector<KernelFile> files_of_ptx(const std::string& path, const std::string& text,
                                     const CompileRequest& request,
                                     const std::vector<std::string>& options) {
    std::vector<KernelFile> files;
    std::set<std::string> targets;
    const std::vector<std::string> texts = isa::ptx_texts(text);
    for (const std::string& one : texts) targets.insert(isa::ptx_target(one));
    std::string target = request.architecture;
    const std::string own = targets.size() == 1 ? *targets.begin() : "";
    if (target.empty() && executed_number(own)) target = own;
    if (target.empty()) target = request.preferred_architecture;
    if (target.empty() && !own.empty())
        throw InputError(fmt::format(
            "{}: is PTX for {}, whose machine code is not read: --arch says what to compile it "
            "for; {}",
            path, own, known()));
    if (target.empty()) refuse_without_architecture(path);
    for (const std::string& one : texts) {
        // Of several targets of one text the architecture's own is taken, or what becomes it.
        if (targets.contains(target) && isa::ptx_target(one) != target) continue;
        files.push_back(assembled(path, one, target, options));
    }
    return files;
}

}  // namespace

bool is_source(const std::string& path) {
    return path.ends_with(".cu") || path.ends_with(".cuh") || path.ends_with(".cl");
}

std::vector<KernelFile> read_kernel_files(const std::string& path, const CompileRequest& asked) {
    CompileRequest request = asked;
    std::erase(request.kernels, "");
    const std::vector<std::string>& options =
        request.options.empty() ? request.usual_options : request.options;
    const std::string text = read_text_file(path);
    if (!request.architecture.empty()) number_of(request.architecture);
    const bool elf = text.starts_with("\177ELF");
    if (!elf && path.ends_with(".ptx")) return files_of_ptx(path, text, request, options);
    if (elf || !is_source(path)) {
        const std::vector<isa::DeviceImage> images =
            isa::is_cubin(text) ? std::vector<isa::DeviceImage>{} : images_in(path, text);
        const bool has_ptx = std::ranges::any_of(images, [](const isa::DeviceImage& one) {
            return one.kind == isa::DeviceImage::Kind::ptx;
        });
        if (!request.options.empty() && !has_ptx)
            throw InputError(path + ": is compiled already; --compiler option is for source");
        if (!images.empty()) return files_of_images(path, images, request);
        if (isa::is_host_object(text))
            throw InputError(path + ": is code for the host, with no CUDA code in it");
        if (!elf && isa::ptx_texts(text).front() != text)
            return files_of_ptx(path, text, request, options);
        if (!elf)
            throw InputError(fmt::format(
                "{}: holds no machine code (a cubin, or what has one in it); source is named .cu, "
                ".cuh, .cl or .ptx",
                path));
        KernelFile file;
        file.path = path;
        file.cubin = machine_code(path, text);
        file.bytes = text;
        if (!request.architecture.empty() &&
            number_of(request.architecture) != *file.cubin.architecture)
            throw InputError(fmt::format("{}: is machine code of sm_{}, not of {}", path,
                                         *file.cubin.architecture, request.architecture));
        std::vector<KernelFile> files;
        files.push_back(std::move(file));
        return files;
    }
    const std::string& target =
        request.architecture.empty() ? request.preferred_architecture : request.architecture;
    if (target.empty()) refuse_without_architecture(path);
    std::vector<KernelFile> files;
    if (path.ends_with(".cl")) {
        KernelFile& file = files.emplace_back();
        file.path = path;
        compile_opencl_c(file, target, options, request.clang);
        file.cubin = machine_code(path, file.bytes);
    } else {
        files.push_back(compiled(path, text, target, options, request));
    }
    return files;
}

KernelFile read_kernel_file(const std::string& path, const CompileRequest& request) {
    std::vector<KernelFile> files = read_kernel_files(path, request);
    if (files.size() == 1) return std::move(files.front());
    std::vector<std::string> names;
    KernelFile* found = nullptr;
    std::size_t with_kernels = 0;
    for (KernelFile& one : files) {
        const std::size_t before = names.size();
        for (const isa::Kernel& kernel : one.cubin.kernels)
            if (!kernel.is_function) names.push_back(extract::readable_name(kernel.name));
        if (names.size() == before) continue;
        ++with_kernels;
        const bool wanted = std::ranges::any_of(request.kernels, [&](const std::string& name) {
            return !extract::kernels_called(one.cubin, name).empty();
        });
        if (found == nullptr && wanted) found = &one;
    }
    if (found == nullptr && with_kernels == 1)
        for (KernelFile& one : files)
            if (!one.cubin.kernels.empty()) found = &one;
    if (found != nullptr) return std::move(*found);
    if (names.empty()) throw InputError("there is no kernel in " + path);
    throw InputError(fmt::format("which kernel of {}? --kernel NAME; there are: {}", path,
                                 fmt::join(names, ", ")));
}

KernelFile read_kernel_file(const std::string& path, const std::string& architecture,
                            const std::vector<std::string>& options, const std::string& clang,
                            const std::vector<std::string>& usual_options) {
    return read_kernel_file(path, {.architecture = architecture,
                                   .options = options,
                                   .usual_options = usual_options,
                                   .clang = clang});
}

}  // namespace occupipe::analysis

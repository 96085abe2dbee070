// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/opencl_c.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "bench/cuda/driver/kernel_compiler.h"
#include "bench/device_code.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/run_tool.h"

namespace occupipe::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view packages = "Debian 12: apt-get install clang-19 libclc-19 libclc-19-dev";
constexpr std::string_view builtins_file = "nvptx64--nvidiacl.bc";
constexpr const char* builtins_folders[] = {"/usr/lib/clc", "/usr/share/clc",
                                            "/usr/local/share/clc", "/usr/local/lib/clc"};

bool runs(const fs::path& file) {
    std::error_code none;
    return fs::is_regular_file(file, none) && access(file.c_str(), X_OK) == 0;
}

std::optional<fs::path> on_path(const std::string& name, const Surroundings& from) {
    const std::string folders = from.variable("PATH").value_or("");
    for (std::size_t begin = 0; begin <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', begin), folders.size());
        fs::path file = fs::path(folders.substr(begin, end - begin)) / name;
        if (end > begin && runs(file)) return file;
        begin = end + 1;
    }
    return std::nullopt;
}

fs::path find_clang(const std::string& wanted, const Surroundings& from) {
    const std::string said =
        wanted.empty() ? from.variable("OCCUPIPE_CLANG").value_or("") : std::string();
    if (said == "none") throw DeviceError("clang: not searched, because OCCUPIPE_CLANG is 'none'");
    const std::string& name = wanted.empty() ? said : wanted;
    if (!name.empty()) {
        const auto found = name.find('/') == std::string::npos ? on_path(name, from)
                           : runs(name)                        ? std::optional<fs::path>(name)
                                                               : std::nullopt;
        if (found) return *found;
        throw InputError(fmt::format("{} {}: there is no such program",
                                     wanted.empty() ? "OCCUPIPE_CLANG" : "--compiler clang", name));
    }
    for (const char* version : {"-19", "-22", "-21", "-20", "-18", "-17", "-16", "-15", ""})
        if (const auto found = on_path(fmt::format("clang{}", version), from)) return *found;
    throw DeviceError(fmt::format(
        "clang: not found, and OpenCL C needs it ({}; --compiler clang names another place)",
        packages));
}

// "Debian clang version 19.1.7 (3~deb12u1)" → 19.1.7
std::string version_of(const fs::path& clang) {
    const WorkFolder folder;
    const fs::path said = folder.path / "version.txt";
    const int exit_code = run_tool(clang, {"--version"}, said);
    const std::string text = read_text_file(said);
    constexpr std::string_view word = "clang version ";
    const std::size_t at = text.find(word);
    if (exit_code != 0 || at == std::string::npos)
        throw DeviceError(fmt::format("{}: does not say that it is clang", clang.string()));
    const std::size_t begin = at + word.size();
    return text.substr(begin, text.find_first_of(" \n-", begin) - begin);
}

int number_in(const std::string& architecture) {
    int number = 0;
    if (architecture.starts_with("sm_"))
        std::from_chars(architecture.data() + 3, architecture.data() + architecture.size(), number);
    return number;
}

bool has(const std::vector<std::string>& options, std::string_view part) {
    return std::ranges::any_of(
        options, [&](const std::string& one) { return one.find(part) != std::string::npos; });
}

bool relaxed(const std::vector<std::string>& options) {
    return has(options, "-cl-fast-relaxed-math") || has(options, "-cl-unsafe-math-optimizations");
}

// The default of each matter that the caller's options leave open.
std::vector<std::string> code_options(const std::string& architecture,
                                      const std::vector<std::string>& more) {
    const std::string target = number_in(architecture) > 90 ? "sm_90" : architecture;
    std::vector<std::string> options = {"--target=nvptx64-nvidia-nvcl", "-march=" + target};
    if (!has(more, "-cl-std=")) options.emplace_back("-cl-std=CL1.2");
    const bool level =
        std::ranges::any_of(more, [](const std::string& one) { return one.starts_with("-O"); });
    if (!level && !has(more, "-cl-opt-disable")) options.emplace_back("-O3");
    const bool exact = !relaxed(more);
    if (!has(more, "-ffp-contract="))
        options.emplace_back(exact ? "-ffp-contract=on" : "-ffp-contract=fast");
    // clang 19 hands fast arithmetic on to all but these two.
    for (const char* one : {"-nvptx-prec-divf32", "-nvptx-prec-sqrtf32"}) {
        if (has(more, one)) continue;
        const bool division = std::string_view(one).find("div") != std::string_view::npos;
        options.emplace_back("-mllvm");
        options.push_back(fmt::format("{}={}", one, !exact ? 0 : division ? 2 : 1));
    }
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

std::string arithmetic_of(const std::vector<std::string>& options) {
    const char* fused = has(options, "-ffp-contract=off")    ? "nothing is fused"
                        : has(options, "-ffp-contract=fast") ? "products and sums are fused"
                                                             : "products and sums are fused within "
                                                               "an expression (FP_CONTRACT ON)";
    const auto level = [&](const char* option, const char* exact) {
        return has(options, fmt::format("{}={}", option, exact)) ? "correctly rounded"
                                                                 : "approximate";
    };
    return fmt::format("{}{}; / of f32 is {}, sqrt {}; rsqrt and native functions are approximate",
                       fused, relaxed(options) ? " and reordered" : "",
                       level("-nvptx-prec-divf32", "2"), level("-nvptx-prec-sqrtf32", "1"));
}

// What clang says before it asks for a bug report.
std::string words_of(const fs::path& said) {
    std::string text = read_text_file(said);
    text.resize(std::min(text.size(), text.find("PLEASE submit a bug report")));
    return text.empty() ? "it failed" : text;
}

// "_Z12get_work_dimv" → get_work_dim; others as they are.
std::string plain_name(std::string_view name) {
    if (!name.starts_with("_Z")) return std::string(name);
    std::size_t length = 0;
    const auto [end, fault] = std::from_chars(name.data() + 2, name.data() + name.size(), length);
    if (fault != std::errc()) return std::string(name);
    return std::string(name.substr(static_cast<std::size_t>(end - name.data()), length));
}

}  // namespace

OpenClCompiler find_opencl_compiler(const std::string& wanted, const Surroundings& from) {
    OpenClCompiler found;
    found.clang = find_clang(wanted, from);
    std::vector<fs::path> folders;
    if (const auto said = from.variable("OCCUPIPE_LIBCLC"))
        folders.emplace_back(*said);
    else
        for (const char* folder : builtins_folders)
            folders.push_back(from.root / fs::path(folder).relative_path());
    std::error_code none;
    const auto place = std::ranges::find_if(
        folders, [&](const fs::path& one) { return fs::exists(one / builtins_file, none); });
    if (place == folders.end()) {
        std::vector<std::string> names;
        names.reserve(folders.size());
        for (const fs::path& folder : folders) names.push_back(folder.string());
        throw DeviceError(fmt::format(
            "libclc: no {} in {}, and OpenCL C needs it ({}; OCCUPIPE_LIBCLC names another folder)",
            builtins_file, fmt::join(names, ", "), packages));
    }
    found.builtins = *place / builtins_file;
    found.version = version_of(found.clang);
    return found;
}

OpenClOutput compile_opencl(const fs::path& source, const std::string& architecture,
                            const std::vector<std::string>& more, const OpenClCompiler& compiler) {
    const WorkFolder folder;
    const fs::path builtins = folder.path / "builtins.h";
    const fs::path ptx = folder.path / "kernel.ptx";
    const fs::path said = folder.path / "messages.txt";
    write_text_file(builtins,
                    std::string(embedded(device_code(), "bench/opencl/device/nvidia_builtins.cl")),
                    Overwrite::no);
    const fs::path whole = fs::absolute(source);
    OpenClOutput output;
    output.compiler = fmt::format("clang {} with libclc", compiler.version);
    output.options = code_options(architecture, more);
    output.arithmetic = arithmetic_of(output.options);
    std::vector<std::string> arguments = output.options;
    for (const std::string& one :
         {std::string("-x"), std::string("cl"), std::string("-S"), "-o" + ptx.string(),
          std::string("-Xclang"), std::string("-finclude-default-header"), std::string("-include"),
          builtins.string(), std::string("-Xclang"), std::string("-mlink-builtin-bitcode"),
          std::string("-Xclang"), compiler.builtins.string(), std::string("-Wno-linker-warnings"),
          // Lines as ptxas reads them; in this order.
          std::string("-gdwarf-2"), std::string("-gline-directives-only"),
          std::string("-fno-dwarf-directory-asm"), "-I" + whole.parent_path().string(),
          whole.string()})
        arguments.push_back(one);
    const int exit_code = run_tool(compiler.clang, arguments, said, said.parent_path());
    if (exit_code != 0) {
        std::string words = words_of(said);
        if (words.find("Producer: 'LLVM") != std::string::npos)
            words += fmt::format("libclc and clang are of different versions ({})\n", packages);
        throw CompileError(fmt::format("clang {}: {}", compiler.version, words));
    }
    output.ptx = read_text_file(ptx);
    // Lines are called as the file is, wherever it lies.
    const std::string named = '"' + whole.string() + '"';
    const std::size_t at = output.ptx.find(named);
    if (at != std::string::npos)
        output.ptx.replace(at, named.size(), '"' + whole.filename().string() + '"');
    return output;
}

std::string plain_words(const std::string& of_ptxas) {
    constexpr std::string_view before = "Unresolved extern function '";
    const std::size_t at = of_ptxas.find(before);
    if (at == std::string::npos) return of_ptxas;
    const std::size_t begin = at + before.size();
    const std::string name = of_ptxas.substr(begin, of_ptxas.find('\'', begin) - begin);
    return fmt::format("neither libclc nor Occupipe has {} for NVIDIA's GPUs", plain_name(name));
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "ask/cuda_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "ask/cuda_text.h"
#include "ask/host_code.h"
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

// A header that a compiler does not find; empty: it complains of something else.
std::string missing_header(const std::string& log) {
    constexpr std::pair<std::string_view, std::string_view> marks[] = {
        {"cannot open source file \"", "\""}, {"fatal error: ", ": No such file or directory"}};
    for (const auto& [before, behind] : marks) {
        const std::size_t found = log.find(before);
        if (found == log.npos) continue;
        const std::size_t begin = found + before.size();
        const std::size_t end = log.find(behind, begin);
        if (end != log.npos && log.find('\n', begin) > end) return log.substr(begin, end - begin);
    }
    return {};
}

// What the caller can do about the first error of `said`; empty: nothing.
std::string advice(const std::string& said) {
    if (const std::string header = missing_header(said); !header.empty())
        return fmt::format("; -IFOLDER says where {} is", header);
    constexpr std::string_view before = "identifier \"", behind = "\" is undefined";
    const std::string first = first_error(said);
    const std::size_t begin = first.find(before), end = first.find(behind);
    if (begin == first.npos || end == first.npos || begin + before.size() > end) return {};
    const std::string name = first.substr(begin + before.size(), end - begin - before.size());
    if (name.starts_with("__")) return {};
    if (name.ends_with("_t") && name.find("int") != name.npos)
        return "; the source does not include <cstdint>";
    return fmt::format("; -D{}=VALUE, if it is the build that defines it", name);
}

// Where the project has a header: a folder above the source, or one in such a folder, the nearest
// first, up to the one that holds the repository. Empty: nowhere.
fs::path folder_of_header(const fs::path& source, const std::string& header) {
    constexpr int levels = 6;
    constexpr std::size_t most_folders = 200;
    fs::path above = fs::absolute(source).lexically_normal().parent_path();
    for (int level = 0; level < levels && above.has_relative_path(); ++level) {
        std::vector<fs::path> folders = {above};
        std::error_code none;
        for (const fs::directory_entry& one : fs::directory_iterator(above, none))
            if (one.is_directory(none) && folders.size() < most_folders)
                folders.push_back(one.path());
        std::ranges::sort(folders);
        for (const fs::path& one : folders)
            if (fs::is_regular_file(one / header, none)) return one;
        if (fs::exists(above / ".git", none)) break;
        above = above.parent_path();
    }
    return {};
}

bool is_host_header(const std::string& name) {
    return std::ranges::find(bench::host_headers(true), name, &bench::Header::name) !=
           bench::host_headers(true).end();
}

bool holds(const bench::NvrtcOutput& output, const std::string& kernel) {
    if (output.lowered.contains(kernel)) return true;
    try {
        return !extract::kernels_called(isa::read_cubin(output.cubin), kernel).empty();
    } catch (const InputError&) {
        return false;
    }
}

// "k" of "k<4>(float*)".
std::string base_of(const std::string& kernel) {
    const std::string name = extract::without_parameters(kernel);
    return name.substr(0, name.find('<'));
}

bool is_or_ends_with(const std::string& name, const std::string& last) {
    return name == last || name.ends_with("::" + last);
}

// A name with the arguments of a template.
bool is_instance(const std::string& kernel) { return kernel.find('<') < kernel.find('('); }

// What is instantiated for a name as profilers print it, or without its scopes: "tools::k<(bool)1>"
// of "k<(bool)1>(float*)".
std::string instance_of(const std::string& kernel, const std::vector<SourceKernel>& defined) {
    std::string name = extract::without_parameters(kernel);
    const std::size_t arguments = name.find('<');
    if (arguments == name.npos) return name;
    const std::string base = name.substr(0, arguments);
    auto known = std::ranges::find(defined, base, &SourceKernel::name);
    if (known == defined.end())
        known = std::ranges::find_if(
            defined, [&](const SourceKernel& one) { return is_or_ends_with(one.name, base); });
    return (known == defined.end() ? base : known->name) + name.substr(arguments);
}

class Compiling {
public:
    Compiling(const std::string& path, const std::string& text, const std::string& architecture,
              const std::vector<std::string>& options, const std::vector<std::string>& kernels,
              const CompileEffort& effort)
        : path_(path), text_(text), architecture_(architecture), effort_(effort) {
        options_ = options_of_project(path);
        options_.insert(options_.end(), options.begin(), options.end());
        defined_ = kernels_of_text(text);
        for (const std::string& one : kernels) kernels_.push_back(instance_of(one, defined_));
    }

    CompiledSource run() {
        if (std::optional<CompiledSource> made = without_others()) return std::move(*made);
        if (std::optional<CompiledSource> made = by_nvrtc()) return std::move(*made);
        return by_nvcc();
    }

private:
    struct Way {
        bool with_headers = false, without_host = false, leaves_empty = false;
        const char* words = "";
    };

    // Where the whole text compiles as it is, too, and nothing of what is wanted is missing.
    std::optional<CompiledSource> without_others() {
        if (effort_.other_kernels || kernels_.empty()) return std::nullopt;
        std::string less = without_other_kernels(text_, kernels_);
        if (less == text_) return std::nullopt;
        std::swap(text_, less);
        try {
            const bench::Nvrtc& compiler = bench::nvrtc();
            if (std::optional<bench::NvrtcOutput> output = attempt_once(compiler, {});
                output && found_.empty() && is_whole(*output))
                return CompiledSource{std::move(*output), ""};
        } catch (const DeviceError&) {  // by_nvrtc() says so
        }
        std::swap(text_, less);
        found_.clear();
        empty_.clear();
        nvrtc_said_.clear();
        return std::nullopt;
    }

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
        constexpr Way ways[] = {{false, false, false, ""},
                                {true, false, false, " with headers of C and C++ that it lacks"},
                                {true, true, false, "; code for the host is left out"}};
        for (const Way& way : ways) {
            std::optional<bench::NvrtcOutput> output = attempt(*compiler, way);
            if (!output) continue;
            if (way.without_host && !is_whole(*output)) {
                rest_ = CompiledSource{std::move(*output), note(compiler->name(), way.words)};
                return std::nullopt;
            }
            std::string said =
                way.with_headers || !found_.empty() ? note(compiler->name(), way.words) : "";
            return CompiledSource{std::move(*output), std::move(said)};
        }
        return std::nullopt;
    }

    std::string note(const std::string& compiler, const std::string& words) const {
        std::string with;
        for (const std::string& one : found_) with += (with.empty() ? " with " : " ") + one;
        return fmt::format("{}: compiled by {}{}{}", path_, compiler, with, words);
    }

    // After a header was not found: whether the next options say where the project has it, or it is
    // left empty.
    bool found_header(const std::string& log, bool may_be_empty) {
        const std::string header = missing_header(log);
        if (header.empty() || is_host_header(header)) return false;
        const fs::path folder = folder_of_header(path_, header);
        const std::string option = "-I" + folder.string();
        if (!folder.empty() && std::ranges::find(found_, option) == found_.end()) {
            found_.push_back(option);
            return true;
        }
        if (!may_be_empty ||
            std::ranges::find(empty_, header, &bench::Header::name) != empty_.end())
            return false;
        empty_.push_back({header, ""});
        return true;
    }

    std::vector<std::string> all_options() const {
        std::vector<std::string> all = options_;
        all.insert(all.end(), found_.begin(), found_.end());
        return all;
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
        while (true) {
            const std::size_t headers = found_.size() + empty_.size();
            std::optional<bench::NvrtcOutput> output = attempt_once(compiler, way);
            if (output || found_.size() + empty_.size() == headers) return output;
        }
    }

    std::optional<bench::NvrtcOutput> attempt_once(const bench::Nvrtc& compiler, const Way& way) {
        const fs::path source = path_;
        const fs::path folder = source.has_parent_path() ? source.parent_path() : fs::path(".");
        std::vector<std::string> options = {"--include-path=" + folder.string()};
        const std::vector<std::string> cuda = cuda_include_options();
        options.insert(options.end(), cuda.begin(), cuda.end());
        if (effort_.line_numbers) options.emplace_back("-lineinfo");
        bench::SourceText text{.text = way.without_host ? without_host_functions(text_) : text_,
                               .file = source.filename().string()};
        if (way.with_headers) {
            text.headers = bench::host_headers(cuda.empty());
            text.headers.insert(text.headers.end(), empty_.begin(), empty_.end());
            options.push_back(std::string("--pre-include=") + bench::first_header);
        }
        if (way.without_host) options.emplace_back("-default-device");
        const std::vector<std::string> own = all_options();
        options.insert(options.end(), own.begin(), own.end());
        bench::NvrtcOutput output;
        try {
            output = compiler.compile(text, architecture_, options);
        } catch (const bench::CompileError& error) {
            if (nvrtc_said_.empty() || way.with_headers) nvrtc_said_ = error.what();
            found_header(error.what(), way.leaves_empty);
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
            if (known) {
                no_instance_ = fmt::format("{}: there is no '{}': {}", path_, wanted,
                                           first_error(error.what()));
                return std::nullopt;
            }
        }
        return output;
    }

    // Where nvcc does not take the source: without the code for the host that does not compile, and
    // with empty files for headers that are not here. Nothing: it takes none of that either.
    std::optional<CompiledSource> with_nvcc(const bench::Nvcc& nvcc) {
        constexpr int most_rounds = 12, of_statements = 4;
        // What the headers of others bring along; NVRTC has it before all source.
        constexpr const char* basics =
            "#include <cfloat>\n#include <climits>\n#include <cmath>\n#include <cstdint>\n";
        std::vector<std::string> instances;
        while (true) {
            for (bench::Header& one : empty_) one.text = basics;
            int round = 0;
            std::string whole_said;
            const auto next = [&](const std::string& text, const std::string& said) {
                if (++round > most_rounds) return std::optional<std::string>();
                if (round == 1) whole_said = said;
                return without_failing_host_code(
                    text, said,
                    round <= of_statements ? HostCode::statements : HostCode::functions);
            };
            try {
                bench::NvrtcOutput output =
                    bench::compile_nvcc(nvcc, path_, architecture_, all_options(), instances,
                                        {.headers = empty_, .next_text = next});
                if (instances.empty()) {
                    instances = missing_instances(output);
                    if (!instances.empty()) continue;
                } else if (!no_instance_.empty() && !missing_instances(output).empty()) {
                    throw InputError(no_instance_);  // left out as host code that is wrong
                }
                const std::string compiler = output.compiler;
                return CompiledSource{
                    std::move(output),
                    note(compiler, (round == 0 ? ""
                                               : "; code for the host that does not compile is "
                                                 "left out: " +
                                                     first_error(whole_said)) +
                                       words_of_empty_headers())};
            } catch (const bench::CompileError& error) {
                stays_wrong_ = error.what();
                if (empty_.empty()) nvcc_said_ = round == 0 ? stays_wrong_ : whole_said;
                if (!found_header(error.what(), true)) return std::nullopt;
            }
        }
    }

    // Where no compiler takes it: what is included for the host, of other projects, may be missing.
    std::optional<CompiledSource> with_empty_headers() {
        if (!no_nvrtc_.empty()) return std::nullopt;
        empty_.clear();
        const std::string said = nvrtc_said_;
        std::optional<bench::NvrtcOutput> output = attempt(bench::nvrtc(), {true, true, true, ""});
        nvrtc_said_ = said;
        if (!output || empty_.empty()) return std::nullopt;
        return CompiledSource{std::move(*output),
                              note(bench::nvrtc().name(),
                                   "; code for the host is left out" + words_of_empty_headers())};
    }

    std::string words_of_empty_headers() const {
        std::string names;
        for (const bench::Header& one : empty_) names += (names.empty() ? "" : ", ") + one.name;
        return names.empty() ? ""
                             : ", and headers that are not here are taken to be empty: " + names;
    }

    CompiledSource by_nvcc() {
        try {
            const bench::Nvcc nvcc = bench::find_nvcc(bench::Surroundings::of_this_process());
            if (auto made = with_nvcc(nvcc)) return std::move(*made);
        } catch (const DeviceError& error) {
            if (rest_) return std::move(*rest_);
            if (!no_nvrtc_.empty()) throw DeviceError(no_nvrtc_);
            if (!no_instance_.empty()) throw InputError(no_instance_);
            if (auto made = with_empty_headers()) return std::move(*made);
            throw InputError(
                fmt::format("{}: does not compile for {}: {}\n{}; nvcc, which knows host code and "
                            "all headers, would be taken: {} (104 MB to download)",
                            path_, architecture_, first_error(nvrtc_said_), error.what(),
                            bench::how_to_get_nvcc));
        }
        if (!no_instance_.empty()) throw InputError(no_instance_);
        const bool misses_headers = !empty_.empty();
        if (rest_) return std::move(*rest_);
        if (auto made = with_empty_headers()) return std::move(*made);
        std::string said = first_error(nvcc_said_);
        const std::string last = first_error(stays_wrong_);
        if (!stays_wrong_.empty() && last != said)
            said += (misses_headers ? "; with an empty file in its place: "
                                    : "; without code for the host that is wrong: ") +
                    last;
        throw InputError(fmt::format("{}: does not compile for {}: nvcc: {}{}", path_,
                                     architecture_, said, advice(nvcc_said_)));
    }

    const std::string& path_;
    std::string text_;
    const std::string& architecture_;
    std::vector<std::string> kernels_;  // that are wanted
    const CompileEffort effort_;
    std::vector<std::string> options_;
    std::vector<std::string> found_;  // further ones, for headers of the project
    std::vector<bench::Header> empty_;
    std::vector<SourceKernel> defined_;
    std::string no_nvrtc_, nvrtc_said_;
    std::string no_instance_;             // why NVRTC makes none that is asked for
    std::string nvcc_said_;               // of the source as it is
    std::string stays_wrong_;             // without the code for the host that is wrong, too
    std::optional<CompiledSource> rest_;  // compiles, but may lack what host code instantiates
};

}  // namespace

CompiledSource compile_cuda_source(const std::string& path, const std::string& text,
                                   const std::string& architecture,
                                   const std::vector<std::string>& options,
                                   const std::vector<std::string>& kernels,
                                   const CompileEffort& effort) {
    return Compiling(path, text, architecture, options, kernels, effort).run();
}

std::string why_not_compiled(const std::string& path, const std::string& text,
                             const std::string& kernel) {
    for (const SourceKernel& one : kernels_of_text(text)) {
        if (one.template_parameters.empty() && one.condition.empty()) continue;
        if (!kernel.empty() && !is_or_ends_with(one.name, base_of(kernel))) continue;
        const std::string where =
            fmt::format("{}:{}", fs::path(path).filename().string(), one.line);
        const std::string condition =
            one.condition.empty()
                ? ""
                : fmt::format("where {} holds (-DNAME defines what the build would)",
                              one.condition);
        if (one.template_parameters.empty())
            return fmt::format("'{}' ({}) is compiled only {}", one.name, where, condition);
        return fmt::format(
            "'{0}' is a template ({1}: template <{2}>): --kernel '{0}<…>' makes an instance of "
            "it{3}",
            one.name, where, one.template_parameters, condition.empty() ? "" : ", " + condition);
    }
    return {};
}

}  // namespace occupipe::analysis

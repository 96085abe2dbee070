// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/nvcc.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/files/files.h"
#include "core/run_tool.h"

namespace occupipe::bench {
namespace {

namespace fs = std::filesystem;

// "nvcc 13.0" of "Cuda compilation tools, release 13.0, V13.0.88".
std::string name_of(const Nvcc& nvcc, const fs::path& said) {
    if (run_tool(nvcc.program, {"--version"}, said) != 0) return "nvcc";
    const std::string text = read_text_file(said);
    constexpr std::string_view before = "release ";
    const std::size_t found = text.find(before);
    if (found == std::string::npos) return "nvcc";
    const std::size_t begin = found + before.size();
    return "nvcc " + text.substr(begin, text.find_first_of(", \n", begin) - begin);
}

bool of_nvrtc_alone(const std::string& option) {
    constexpr std::string_view all[] = {"-default-device", "--device-as-default-execution-space",
                                        "--pre-include"};
    return std::ranges::any_of(all, [&](std::string_view one) { return option.starts_with(one); });
}

// Taking a kernel's address on the host makes an instance of it.
std::string text_of_instances(const std::vector<std::string>& instances) {
    std::string text = "namespace { [[maybe_unused]] void* const occupipe_instances[] = {";
    for (const std::string& one : instances) text += fmt::format("(void*)&{}, ", one);
    return text + "nullptr}; }\n";
}

std::optional<fs::path> with_extension(const fs::path& folder, std::string_view extension) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == extension) return entry.path();
    return std::nullopt;
}

// What is left of the code is linked later, which changes nothing for a kernel that is whole.
bool wants_separate_compilation(const std::string& log) {
    return log.find("separate compilation mode") != std::string::npos ||
           log.find("Unresolved extern") != std::string::npos;
}

// Words of C++20, where the source does not say that it is.
bool wants_newer_language(const std::string& log) {
    for (const char* word : {"\"concept\" is undefined", "\"requires\" is undefined",
                             "\"consteval\" is undefined", "name followed by \"::\" must be a"})
        if (log.find(word) != std::string::npos) return true;
    return false;
}

// The folder where `headers` are found by their names, which may begin with "..": it lies so deep
// in `folder` that these lie in it, too. Throws CompileError for a name that leads elsewhere.
fs::path written(const std::vector<Header>& headers, const fs::path& folder) {
    constexpr int most_up = 8;
    fs::path found = folder / "headers";
    for (int level = 0; level < most_up; ++level) found /= "in";
    for (const Header& one : headers) {
        const fs::path name = fs::path(one.name).lexically_normal();
        const auto up = std::ranges::count(name, fs::path(".."));
        std::error_code fault;
        if (name.is_relative() && up <= most_up)
            fs::create_directories((found / one.name).parent_path(), fault);
        if (name.is_absolute() || up > most_up || fault ||
            fs::is_directory(found / one.name, fault))
            throw CompileError(one.name + ": not found, and cannot be taken to be empty");
        write_text_file(found / one.name, one.text, Overwrite::yes);
    }
    return found;
}

// A run of nvcc, and further ones with what it asks for.
class Run {
public:
    Run(const Nvcc& nvcc, std::vector<std::string> arguments, fs::path said, bool says_language)
        : nvcc_(nvcc),
          arguments_(std::move(arguments)),
          said_(std::move(said)),
          says_language_(says_language) {}

    // Whether it compiles.
    bool compiles(const fs::path& text) {
        text_ = text;
        bool done = attempt();
        log_ = read_text_file(said_);
        if (!done && wants_separate_compilation(log_)) {
            add("-rdc=true");
            done = attempt();
            log_ = read_text_file(said_);
        }
        if (!done && !says_language_ && wants_newer_language(log_)) {
            says_language_ = true;
            add("-std=c++20");
            done = attempt();
            // What it says of the older language is what the source is taken to be.
            if (done) log_ = read_text_file(said_);
        }
        return done;
    }
    void add(const std::string& option) { arguments_.insert(arguments_.begin(), option); }
    const std::string& log() const { return log_; }

private:
    bool attempt() {
        std::vector<std::string> all = arguments_;
        all.insert(all.end(), {"-x", "cu", text_.string()});
        // It leaves an empty file behind where a source does not compile.
        return run_tool(nvcc_.program, all, said_, said_.parent_path()) == 0;
    }

    const Nvcc& nvcc_;
    std::vector<std::string> arguments_;
    fs::path said_, text_;
    bool says_language_;
    std::string log_;
};

}  // namespace

Nvcc find_nvcc(const Surroundings& from) {
    const auto chosen = from.variable("OCCUPIPE_NVCC");
    if (chosen ? *chosen == nvrtc_hidden : from.variable("OCCUPIPE_NVRTC") == nvrtc_hidden)
        throw DeviceError("nvcc: not searched, because OCCUPIPE_NVCC or OCCUPIPE_NVRTC is 'none'");
    if (chosen) {
        if (access(chosen->c_str(), X_OK) != 0)
            throw DeviceError(fmt::format("nvcc: OCCUPIPE_NVCC={} is not a program", *chosen));
        return {*chosen};
    }
    if (const auto found = find_cuda_tool("nvcc", from)) return {*found};
    throw DeviceError("nvcc: not found (docs/background/cuda.md lists where it is searched)");
}

NvrtcOutput compile_nvcc(const Nvcc& nvcc, const fs::path& source, const std::string& architecture,
                         const std::vector<std::string>& options,
                         const std::vector<std::string>& instances, const NvccRepair& repair) {
    const WorkFolder folder;
    const fs::path code = folder.path / "kernel.cubin";
    const fs::path said = folder.path / "messages.txt";
    fs::path text = fs::absolute(source);
    if (!instances.empty()) {
        const fs::path made = folder.path / source.filename();
        write_text_file(
            made, fmt::format("#include \"{}\"\n{}", text.string(), text_of_instances(instances)),
            Overwrite::no);
        text = made;
    }
    const fs::path kept = folder.path / "kept";
    fs::create_directory(kept);
    // What is handed on to the host's compiler is split at blanks and commas.
    fs::path beside = fs::absolute(source).parent_path();
    if (beside.string().find_first_of(" ,'\"\\") != std::string::npos) {
        const fs::path linked = folder.path / "beside";
        fs::create_directory_symlink(beside, linked);
        beside = linked;
    }
    std::vector<std::string> arguments = {"-cubin", "-arch=" + architecture, "-lineinfo",
                                          "--expt-relaxed-constexpr", "--extended-lambda", "--keep",
                                          "--keep-dir=" + kept.string(),
                                          "--output-file=" + code.string(),
                                          // Behind all others: it may have a time.h of its own.
                                          "-Xcompiler=-idirafter", "-Xcompiler=" + beside.string()};
    for (const std::string& one : options)
        if (!of_nvrtc_alone(one)) arguments.push_back(one);
    if (!repair.headers.empty())
        arguments.push_back("-I" + written(repair.headers, folder.path).string());
    Run run(nvcc, std::move(arguments), said, std::ranges::any_of(options, [](const auto& one) {
                return one.starts_with("-std=") || one.starts_with("--std=");
            }));
    bool done = run.compiles(text);
    const auto preprocessed = with_extension(kept, ".ii");
    if (!done && preprocessed && repair.next_text) {
        std::string now = read_text_file(*preprocessed);
        // What nvcc includes before all source is in the text.
        run.add("-D__CUDA_RUNTIME_H__");
        while (!done) {
            const std::optional<std::string> next = repair.next_text(now, run.log());
            if (!next) break;
            now = *next;
            const fs::path made = folder.path / "repaired.cu";
            write_text_file(made, now, Overwrite::yes);
            done = run.compiles(made);
        }
    }
    if (!done) throw CompileError(run.log().empty() ? "it says nothing" : run.log());
    NvrtcOutput output;
    output.log = run.log();
    output.compiler = name_of(nvcc, said);
    output.cubin = read_text_file(code);
    if (const auto ptx = with_extension(kept, ".ptx")) output.ptx = read_text_file(*ptx);
    return output;
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/nvrtc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "bench/cuda/driver/find_cuda.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::bench {

// The subset of nvrtc.h in use; declared here so that building needs no CUDA toolkit.
struct NvrtcProgram;
using NvrtcResult = int;
struct NvrtcCalls {
    NvrtcResult (*version)(int*, int*);
    NvrtcResult (*count_architectures)(int*);
    NvrtcResult (*list_architectures)(int*);
    NvrtcResult (*create)(NvrtcProgram**, const char*, const char*, int, const char* const*,
                          const char* const*);
    NvrtcResult (*destroy)(NvrtcProgram**);
    NvrtcResult (*add_name)(NvrtcProgram*, const char*);
    NvrtcResult (*lowered_name)(NvrtcProgram*, const char*, const char**);
    NvrtcResult (*compile)(NvrtcProgram*, int, const char* const*);
    NvrtcResult (*log_size)(NvrtcProgram*, std::size_t*);
    NvrtcResult (*log)(NvrtcProgram*, char*);
    NvrtcResult (*ptx_size)(NvrtcProgram*, std::size_t*);
    NvrtcResult (*ptx)(NvrtcProgram*, char*);
    NvrtcResult (*cubin_size)(NvrtcProgram*, std::size_t*);
    NvrtcResult (*cubin)(NvrtcProgram*, char*);
    const char* (*error_text)(NvrtcResult);
};

namespace {

bool load_calls(const SharedLibrary& library, NvrtcCalls& calls) {
    return library.load(calls.version, "nvrtcVersion") &&
           library.load(calls.count_architectures, "nvrtcGetNumSupportedArchs") &&
           library.load(calls.list_architectures, "nvrtcGetSupportedArchs") &&
           library.load(calls.create, "nvrtcCreateProgram") &&
           library.load(calls.destroy, "nvrtcDestroyProgram") &&
           library.load(calls.add_name, "nvrtcAddNameExpression") &&
           library.load(calls.lowered_name, "nvrtcGetLoweredName") &&
           library.load(calls.compile, "nvrtcCompileProgram") &&
           library.load(calls.log_size, "nvrtcGetProgramLogSize") &&
           library.load(calls.log, "nvrtcGetProgramLog") &&
           library.load(calls.ptx_size, "nvrtcGetPTXSize") &&
           library.load(calls.ptx, "nvrtcGetPTX") &&
           library.load(calls.cubin_size, "nvrtcGetCUBINSize") &&
           library.load(calls.cubin, "nvrtcGetCUBIN") &&
           library.load(calls.error_text, "nvrtcGetErrorString");
}

// NVRTC takes this program with it where it crashes, as on some inline PTX: then a line says so.
// The signal comes to the thread that crashed; the handler may neither allocate nor return.
class CrashMessage {
public:
    CrashMessage(const std::string& compiler, const std::string& file,
                 const std::string& architecture) {
        text_ = fmt::format(
            "occupipe: {}: {} crashed while it compiled this for {}: its fault, on this text\n",
            file, compiler, architecture);
        const stack_t own = {.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
        sigaltstack(&own, &stack_before_);
        const std::scoped_lock lock(mutex_);
        if (users_++ > 0) return;
        struct sigaction action = {};
        action.sa_handler = [](int) {
            const auto written = ::write(STDERR_FILENO, text_.data(), text_.size());
            _exit(written >= 0 ? EXIT_FAILURE : EXIT_FAILURE + 1);
        };
        action.sa_flags = SA_ONSTACK;
        sigaction(SIGSEGV, &action, &before_);
    }
    ~CrashMessage() {
        sigaltstack(&stack_before_, nullptr);
        text_.clear();
        const std::scoped_lock lock(mutex_);
        if (--users_ == 0) sigaction(SIGSEGV, &before_, nullptr);
    }
    CrashMessage(const CrashMessage&) = delete;
    CrashMessage& operator=(const CrashMessage&) = delete;

private:
    static inline thread_local std::string text_;
    static inline std::mutex mutex_;
    static inline int users_ = 0;  // compilations at once
    static inline struct sigaction before_ = {};
    std::array<char, 65536> stack_;  // a compiler's recursion may have used up the thread's own
    stack_t stack_before_ = {};
};

// A program under compilation, destroyed on every way out.
class Compilation {
public:
    Compilation(const NvrtcCalls& calls, const SourceText& source) : calls_(calls) {
        std::vector<const char*> texts, names;
        for (const Header& one : source.headers) {
            texts.push_back(one.text.c_str());
            names.push_back(one.name.c_str());
        }
        check(calls.create(&program_, source.text.c_str(), source.file.c_str(),
                           static_cast<int>(texts.size()), texts.data(), names.data()),
              "nvrtcCreateProgram");
        for (const std::string& one : source.instances)
            check(calls.add_name(program_, one.c_str()), "nvrtcAddNameExpression");
    }
    ~Compilation() { calls_.destroy(&program_); }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    NvrtcResult compile(const std::vector<std::string>& options) {
        std::vector<const char*> pointers;
        pointers.reserve(options.size());
        for (const std::string& option : options) pointers.push_back(option.c_str());
        return calls_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
    }
    std::string lowered(const std::string& name) const {
        const char* text = nullptr;
        check(calls_.lowered_name(program_, name.c_str(), &text), "nvrtcGetLoweredName");
        return text;
    }
    std::string log() const { return text(calls_.log_size, calls_.log, "nvrtcGetProgramLog"); }
    std::string ptx() const { return text(calls_.ptx_size, calls_.ptx, "nvrtcGetPTX"); }
    std::string cubin() const { return bytes(calls_.cubin_size, calls_.cubin, "nvrtcGetCUBIN"); }

    void check(NvrtcResult result, const char* call) const {
        if (result != 0) {
            throw DeviceError(fmt::format("NVRTC: {}: {}", call, calls_.error_text(result)));
        }
    }

private:
    using Size = NvrtcResult (*)(NvrtcProgram*, std::size_t*);
    using Copy = NvrtcResult (*)(NvrtcProgram*, char*);

    std::string bytes(Size size_of, Copy copy, const char* call) const {
        std::size_t size = 0;
        check(size_of(program_, &size), call);
        std::string content(size, '\0');
        if (size > 0) check(copy(program_, content.data()), call);
        return content;
    }
    // Text comes with a terminating zero that is counted in its size.
    std::string text(Size size_of, Copy copy, const char* call) const {
        std::string content = bytes(size_of, copy, call);
        content.resize(std::min(content.size(), content.find('\0')));
        return content;
    }

    const NvrtcCalls& calls_;
    NvrtcProgram* program_ = nullptr;
};

}  // namespace

Nvrtc::Nvrtc(const std::vector<std::string>& names) : calls_(std::make_unique<NvrtcCalls>()) {
    if (names.empty()) {
        throw DeviceError(
            fmt::format("NVRTC: not searched, because OCCUPIPE_NVRTC or --compiler nvrtc is '{}'",
                        nvrtc_hidden));
    }
    std::string why_not;
    const bool found =
        std::ranges::any_of(names, [&](const std::string& name) { return open(name, why_not); });
    if (!found) {
        throw DeviceError(
            "NVRTC: libnvrtc.so not found: " + why_not +
            " (tools/setup.sh --wheels fetches it; docs/background/cuda.md lists where it is "
            "searched)");
    }
    int count = 0;
    if (calls_->version(&major_, &minor_) != 0 || calls_->count_architectures(&count) != 0) {
        throw DeviceError(fmt::format("NVRTC: {} does not report its version", library_.name()));
    }
    architectures_.resize(static_cast<std::size_t>(std::max(count, 0)));
    if (count > 0) calls_->list_architectures(architectures_.data());
    std::ranges::sort(architectures_);
    // NVRTC opens its other half by its bare name, which the loader finds only in folders that it
    // searches, or when it is open already.
    builtins_ = SharedLibrary({std::filesystem::path(path()).parent_path() /
                               fmt::format("libnvrtc-builtins.so.{}", version())});
}

bool Nvrtc::open(const std::string& name, std::string& why_not) {
    const auto note = [&](const std::string& reason) {
        why_not += (why_not.empty() ? "" : "; ") + reason;
        return false;
    };
    library_ = SharedLibrary({name});
    if (!library_.open()) return note(library_.why_not());
    if (load_calls(library_, *calls_)) return true;
    return note(library_.path() + " is too old: 11.2 or newer is needed");
}

Nvrtc::~Nvrtc() = default;

std::string Nvrtc::version() const { return fmt::format("{}.{}", major_, minor_); }

std::string Nvrtc::architecture_for(int major, int minor) const {
    int best = 0;
    for (const int known : architectures_) {
        if (known / 10 == major && known % 10 <= minor) best = known;
    }
    if (best == 0) {
        throw DeviceError(fmt::format(
            "NVRTC {} cannot compile for this GPU (compute capability {}.{}); it supports sm_{}",
            version(), major, minor, fmt::join(architectures_, ", sm_")));
    }
    return fmt::format("sm_{}", best);
}

void Nvrtc::require(const std::string& architecture) const {
    const bool known = std::ranges::any_of(
        architectures_, [&](int number) { return architecture == fmt::format("sm_{}", number); });
    if (known) return;
    throw DeviceError(fmt::format(
        "NVRTC {} ({}) does not compile for {}, only for sm_{}; --compiler nvrtc=FILE or "
        "OCCUPIPE_NVRTC=FILE names another one",
        version(), path(), architecture, fmt::join(architectures_, ", sm_")));
}

std::vector<std::string> KernelCompiler::options(const std::string& architecture) {
    return {"--gpu-architecture=" + architecture, "--std=c++17", "--fmad=false"};
}

NvrtcOutput Nvrtc::compile(const std::string& text, const std::string& architecture) const {
    return compile_with({.text = text}, architecture, options(architecture));
}

NvrtcOutput Nvrtc::compile(const SourceText& source, const std::string& architecture,
                           const std::vector<std::string>& more_options) const {
    std::vector<std::string> all = {"--gpu-architecture=" + architecture, "--std=c++17"};
    all.insert(all.end(), more_options.begin(), more_options.end());
    return compile_with(source, architecture, all);
}

NvrtcOutput Nvrtc::compile_with(const SourceText& source, const std::string& architecture,
                                const std::vector<std::string>& all_options) const {
    Compilation program(*calls_, source);
    const NvrtcResult result = [&] {
        const CrashMessage message(name(), source.file, architecture);
        return program.compile(all_options);
    }();
    NvrtcOutput output;
    output.log = program.log();
    output.compiler = name();
    if (result != 0) {
        throw CompileError(fmt::format("NVRTC: nvrtcCompileProgram for {}: {}: {}", architecture,
                                       calls_->error_text(result), output.log));
    }
    output.ptx = program.ptx();
    output.cubin = program.cubin();
    for (const std::string& one : source.instances) output.lowered[one] = program.lowered(one);
    if (output.cubin.empty()) {
        throw DeviceError(
            fmt::format("NVRTC: no machine code for {} (is it an sm_ name?)", architecture));
    }
    return output;
}

std::string kernel_key(const std::string& text, const std::string& architecture,
                       const std::string& compiler) {
    const std::string hash = content_hash(fmt::format(
        "{}\n{}\n{}", compiler, fmt::join(KernelCompiler::options(architecture), " "), text));
    return hash.substr(hash.find(':') + 1);
}

const Nvrtc& nvrtc() {
    // Never unloaded: the library does not give back all of its memory.
    static const Nvrtc& compiler = *new Nvrtc(nvrtc_names(Surroundings::of_this_process()));
    return compiler;
}

}  // namespace occupipe::bench

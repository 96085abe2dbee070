// SPDX-License-Identifier: MIT
#include "automatch/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "automatch/annotations.h"
#include "automatch/record.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/run_tool.h"

namespace occupipe::automatch {
namespace {

namespace fs = std::filesystem;

constexpr const char* packages = "Debian 12: apt-get install clang-19 llvm-19 llvm-19-dev";

bool runs(const fs::path& file) {
    std::error_code none;
    return fs::is_regular_file(file, none) && access(file.c_str(), X_OK) == 0;
}

// A program of LLVM 19's: in $OCCUPIPE_LLVM ("none": nowhere), in Debian's folder, on the path.
fs::path tool(const std::string& name) {
    const char* const wanted = std::getenv("OCCUPIPE_LLVM");
    if (wanted != nullptr && std::string(wanted) == "none")
        throw DeviceError("LLVM: not searched, because OCCUPIPE_LLVM is 'none'");
    const fs::path folder = wanted != nullptr ? wanted : "/usr/lib/llvm-19/bin";
    if (runs(folder / name)) return folder / name;
    const char* const path = std::getenv("PATH");
    std::istringstream folders(wanted == nullptr && path != nullptr ? path : "");
    for (std::string one; std::getline(folders, one, ':');)
        if (!one.empty() && runs(fs::path(one) / (name + "-19")))
            return fs::path(one) / (name + "-19");
    throw DeviceError(
        fmt::format("{} of LLVM 19: not found, and counting needs it ({}; "
                    "OCCUPIPE_LLVM names another folder)",
                    name, packages));
}

// Passes and run time: beside the program in a build, below lib/ where it is installed.
fs::path instrument(const std::string& name) {
    std::error_code none;
    const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
    for (const fs::path& folder :
         {program, program / ".." / "automatch", program / ".." / "lib" / "occupipe"})
        if (fs::exists(folder / name, none)) return folder / name;
    throw DeviceError(fmt::format(
        "{}: was not built, since LLVM 19's headers or clang-19 were not there ({}, then build "
        "again); workload files can be read without it",
        name, packages));
}

// What a tool said, as one line: the first that says what is wrong.
std::string complaint(const std::string& said) {
    std::istringstream lines(said);
    std::string first;
    constexpr std::string_view own = "occupipe-match: ";
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(own)) return line.substr(own.size());
        if (const std::size_t at = line.find("undefined reference to"); at != std::string::npos)
            return line.substr(at);
        if (first.empty() && line.find("error:") != std::string::npos) first = line;
    }
    return first.empty() ? said.substr(0, 300) : first;
}

// What a counted program says of its progress, told on after two seconds and then every ten.
class Watch {
public:
    Watch(const fs::path& progress, const std::function<void(const std::string&)>& note) {
        if (note) thread_ = std::thread([this, progress, note] { watch(progress, note); });
    }
    ~Watch() {
        if (!thread_.joinable()) return;
        {
            const std::scoped_lock lock(mutex_);
            done_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

private:
    void watch(const fs::path& progress, const std::function<void(const std::string&)>& note) {
        const auto begin = std::chrono::steady_clock::now();
        auto next = begin + std::chrono::seconds(2);
        std::unique_lock lock(mutex_);
        while (!ended_.wait_until(lock, next, [this] { return done_; })) {
            const auto now = std::chrono::steady_clock::now();
            std::ifstream in(progress);
            std::uint64_t iterations = 0;
            std::uint64_t references = 0;
            std::string so_far;
            if (in >> iterations >> references)
                so_far = fmt::format(
                    ", {:.3g} iterations of loops{}", static_cast<double>(iterations),
                    references == 0
                        ? std::string()
                        : fmt::format(", {:.3g} references", static_cast<double>(references)));
            note(fmt::format("running: {:.0f} s{}",
                             std::chrono::duration<double>(now - begin).count(), so_far));
            next = now + std::chrono::seconds(10);
        }
    }

    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = false;
    std::thread thread_;
};

class Steps {
public:
    explicit Steps(const ProgramRun& run) : run_(run) {}

    fs::path file(const std::string& name) const { return folder_.path / name; }

    void call(const char* what, const fs::path& program,
              const std::vector<std::string>& arguments) const {
        const fs::path said = file("said.txt");
        if (run_tool(program, arguments, said) != 0)
            throw InputError(fmt::format("{}: {}", what, complaint(read_text_file(said))));
    }

    // Sources as bitcode, in one file. How many synchronisations are annotated in them.
    int compile() const {
        int synchronisations = 0;
        std::vector<std::string> parts;
        for (std::size_t i = 0; i < run_.sources.size(); ++i) {
            const fs::path& source = run_.sources[i];
            if (std::error_code none; !fs::is_regular_file(source, none))
                throw InputError(fmt::format("{}: there is no such file", source.string()));
            const std::string extension = source.extension().string();
            if (extension == ".ll" || extension == ".bc") {
                parts.push_back(source.string());
                continue;
            }
            constexpr std::array cpp = {".cc", ".cpp", ".cxx", ".C"};
            const bool is_cpp = std::ranges::find(cpp, extension) != cpp.end();
            if (!is_cpp && extension != ".c")
                throw InputError(fmt::format("{}: is none of .c, .cc, .cpp, .cxx, .ll and .bc",
                                             source.string()));
            parts.push_back(file(fmt::format("part{}.bc", i)).string());
            // Not -O0, which forbids every pass; products and sums stay apart.
            std::vector<std::string> words = {"-O1",
                                              "-Xclang",
                                              "-disable-llvm-passes",
                                              "-ffp-contract=off",
                                              "-fno-math-errno",
                                              "-g",
                                              "-emit-llvm",
                                              "-c"};
            if (is_cpp) words.insert(words.end(), {"-std=c++20", "-fno-exceptions"});
            words.insert(words.end(), run_.flags.begin(), run_.flags.end());
            const AnnotatedSource annotated = annotated_source(read_text_file(source), source);
            if (annotated.synchronisations > 0) {
                synchronisations += annotated.synchronisations;
                const fs::path text = file(fmt::format("part{}.annotated", i));
                write_text_file(text, annotated.text, Overwrite::yes);
                write_text_file(file("sync.h"),
                                "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
                                "void occupipe_match_sync(void);\n",
                                Overwrite::yes);
                words.insert(words.end(),
                             {"-include", file("sync.h").string(), "-Xclang", "-remap-file",
                              "-Xclang", source.string() + ";" + text.string()});
            }
            words.insert(words.end(), {source.string(), "-o", parts.back()});
            call("clang-19", tool(is_cpp ? "clang++" : "clang"), words);
        }
        parts.insert(parts.end(), {"-o", file("program.bc").string()});
        call("llvm-link-19", tool("llvm-link"), parts);
        return synchronisations;
    }

    void passes(const std::string& what, const std::string& from, const std::string& to,
                std::vector<std::string> more = {}) const {
        std::vector<std::string> words = {
            fmt::format("-load-pass-plugin={}", instrument("occupipe-match-passes.so").string()),
            fmt::format("-occupipe-kernel={}", run_.kernel),
            fmt::format("-occupipe-facts={}", file("facts.txt").string()),
            fmt::format("-passes={}", what),
            file(from).string(),
            "-o",
            to.empty() ? "/dev/null" : file(to).string()};
        words.insert(words.end(), more.begin(), more.end());
        call(run_.sources.front().string().c_str(), tool("opt"), words);
    }

    // The loops that could be vectorised, at any price (also that of looking at run time whether
    // arrays overlap, however many there are), in a copy without counters.
    std::set<std::string> vectorised() const {
        const fs::path remarks = file("remarks.yaml");
        passes(
            "occupipe-free-order,function(loop-mssa(licm),early-cse<memssa>,instsimplify,loop-"
            "vectorize)",
            "kernel.bc", {},
            {"-force-vector-width=4", "-force-vector-interleave=1", "-vector-library=LIBMVEC-X86",
             "-runtime-memory-check-threshold=100000", "-vectorize-memory-check-threshold=100000",
             "-pass-remarks-filter=loop-vectorize",
             fmt::format("-pass-remarks-output={}", remarks.string())});
        return vectorised_loops(read_text_file(remarks));
    }

private:
    const ProgramRun& run_;
    WorkFolder folder_;
};

// Processor time of the kernel with counters; absent where the run time did not tell.
std::optional<double> seconds_counting(const std::string& counts) {
    constexpr std::string_view key = "\nnanoseconds ";
    const std::size_t at = counts.find(key);
    if (at == std::string::npos) return std::nullopt;
    return 1e-9 * std::strtod(counts.c_str() + at + key.size(), nullptr);
}

// The environment of the counted program, for as long as it runs.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        setenv(name, value.c_str(), 1);
    }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
};

}  // namespace

Workload analyse_program(const ProgramRun& run,
                         const std::function<void(const std::string&)>& note) {
    const auto tell = [&](const std::string& line) {
        if (note) note(line);
    };
    const Steps steps(run);
    tell("compiling");
    const int annotations = steps.compile();
    // Values in registers, callees inside, loops in one form; nothing is executed that the program
    // does not execute.
    steps.passes(
        "occupipe-isolate,always-inline,function(sroa,memcpyopt),occupipe-drop-copies,"
        "function(sroa,early-cse,simplifycfg<no-speculate-blocks>,"
        "instsimplify,loop-simplify,lcssa,loop(loop-rotate),simplifycfg<no-speculate-blocks>,"
        "loop-simplify,lcssa)",
        "program.bc", "kernel.bc", {"-two-entry-phi-node-folding-threshold=0"});
    const std::set<std::string> vectorised = steps.vectorised();
    steps.passes("occupipe-count", "kernel.bc", "counted.bc",
                 {fmt::format("-occupipe-order-memory={}", run.order_memory),
                  fmt::format("-occupipe-stretches={}", !run.distances)});
    steps.call("llvm-link-19", tool("llvm-link"),
               {steps.file("counted.bc").string(),
                instrument(run.distances ? "occupipe-match-runtime.bc" : "occupipe-match-levels.bc")
                    .string(),
                "-o", steps.file("linked.bc").string()});
    steps.passes("occupipe-native,internalize,default<O3>", "linked.bc", "alone.bc",
                 {"-internalize-public-api-list=main"});
    const fs::path program = steps.file("counted");
    steps.call("clang-19", tool("clang++"),
               {"-O2", steps.file("alone.bc").string(), "-o", program.string(), "-lm", "-pthread"});

    tell("running");
    const fs::path counts = steps.file("counts.txt");
    const fs::path said = steps.file("program-said.txt");
    int exit_code = 0;
    {
        const Variable record("OCCUPIPE_MATCH_RECORD", counts.string());
        const Variable known("OCCUPIPE_MATCH_CAPACITIES",
                             fmt::format("{}", fmt::join(run.capacities, ",")));
        const fs::path progress = steps.file("progress.txt");
        const Variable name("OCCUPIPE_MATCH_PROGRESS", note ? progress.string() : "");
        const Watch watch(progress, note);
        exit_code = run_tool(program, run.arguments, said);
    }
    if (std::error_code none; !fs::exists(counts, none)) {
        const std::string last_words = complaint(read_text_file(said));
        throw InputError(fmt::format(
            "{}: {} was not called ({}){}", run.sources.front().string(), run.kernel,
            exit_code == -1 ? "a signal ended the program"
                            : fmt::format("the program ended with exit code {}", exit_code),
            last_words.empty() ? "" : "; the program said: " + last_words));
    }
    const std::string counted = read_text_file(counts);
    if (const auto seconds = seconds_counting(counted))
        tell(fmt::format("counted: the kernel took {:.4g} s of processor time with counters",
                         *seconds));
    Workload workload = workload_of({.facts = read_text_file(steps.file("facts.txt")),
                                     .facts_name = "facts of " + run.kernel,
                                     .counts = counted,
                                     .counts_name = "record of " + run.kernel,
                                     .levels = read_text_file(counts.string() + ".levels"),
                                     .vectorised = vectorised,
                                     .synchronisations_annotated = annotations > 0,
                                     .order_memory = run.order_memory});
    workload.kernel = run.kernel;
    for (const fs::path& source : run.sources)
        workload.program += (workload.program.empty() ? "" : " ") + source.filename().string();
    workload.arguments = fmt::format("{}", fmt::join(run.arguments, " "));
    if (workload.partial.empty() && exit_code != 0)
        workload.partial = exit_code == -1
                               ? "a signal ended the program"
                               : fmt::format("the program ended with exit code {}", exit_code);
    // The rules of the file hold, or a counter is wrong.
    return parse_workload(format_workload(workload), "workload of " + run.kernel);
}

}  // namespace occupipe::automatch

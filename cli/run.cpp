// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "cli/run_limit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "program/device_facts.h"
#include "program/executable.h"
#include "program/journal.h"
#include "program/settings.h"
#include "report/text/program_comparison.h"
#include "report/text/program_launches.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* about =
    "Runs a CUDA program without a GPU. The program is not changed; it has to be linked with the\n"
    "shared CUDA runtime (nvcc -cudart shared). Its kernels are executed on this machine's\n"
    "processor, so that its results are right, and predicted for the profile's GPU.\n"
    "Output: what the program writes, then, on stderr, a table of its kernels: launches, time, "
    "what\n"
    "limits them. The first launch of each kernel and shape is predicted and stands for those "
    "that\n"
    "are alike.\n"
    "Accesses outside of memory, misaligned ones and those of freed memory are reported with "
    "kernel,\n"
    "source line and thread, and become the error that CUDA has for them.\n"
    "--on-error stop ends the program at the first one, with exit code 1; --on-error report "
    "leaves\n"
    "such accesses out and continues. --check also looks for reads of what nothing has written and "
    "for\n"
    "races. What these two find is listed below the table.\n"
    "Exit code: the program's own, but 1 where that is 0 and something was found; 128 + N where\n"
    "signal N ended it.\n"
    "docs/how-to/run-program.md is a walk through it.";

constexpr const char* examples =
    "nvcc -cudart shared -lineinfo heat.cu -o heat\n"
    "occupipe run --profile rtx-3080 -- ./heat 1000\n"
    "occupipe run --profile rtx-3080 --on-error report --check -- ./heat 10\n"
    "occupipe run --profile a100 --profile rtx-4090 -o heat-run -- ./heat 1000\n"
    "occupipe run --profile rtx-3080 --limit 60s --json heat.json -- ./heat 100000";

struct Request {
    std::vector<std::string> profiles;
    std::vector<std::string> words;
    std::string output, json, limit, on_error, clock, compare;
    bool all = false;
    bool sample = false;
    bool check = false;
    bool force = false;
};

// Made for this run, and removed with all that is in it, unless it is to be kept.
class RunFolder {
public:
    RunFolder(const std::string& kept, bool force) : is_kept_(!kept.empty()) {
        if (is_kept_) {
            path_ = kept;
            if (fs::exists(path_) && !fs::is_directory(path_))
                throw InputError(fmt::format("--output {}: not a folder", kept));
            if (fs::exists(path_) && !fs::is_empty(path_)) {
                if (!force || !fs::exists(path_ / "run.json"))
                    throw InputError(fmt::format(
                        "--output {}: is not empty{}", kept,
                        fs::exists(path_ / "run.json") ? "; --force replaces the run in it" : ""));
                remove_journals();
            }
            fs::create_directories(path_);
            path_ = fs::absolute(path_);
            return;
        }
        std::error_code none;
        const fs::path place = fs::temp_directory_path(none);
        std::string pattern = (place / "occupipe-program-XXXXXX").string();
        if (none || mkdtemp(pattern.data()) == nullptr)
            throw InputError(fmt::format("no folder can be made in TMPDIR ({})",
                                         none ? none.message() : place.string()));
        path_ = pattern;
    }
    ~RunFolder() {
        std::error_code none;
        if (!is_kept_) fs::remove_all(path_, none);
    }
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    const fs::path& path() const { return path_; }

private:
    void remove_journals() const {
        for (const auto& entry : fs::directory_iterator(path_))
            if (entry.path().extension() == ".launches") fs::remove(entry.path());
    }

    fs::path path_;
    bool is_kept_;
};

// Beside the program in a build folder, or where `cmake --install` puts it.
fs::path runtime_folder() {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
    for (const char* place : {"../program/cuda", "../lib/occupipe/cuda"}) {
        const fs::path folder = program / place;
        if (fs::exists(folder / "libcudart.so.13")) return fs::canonical(folder);
    }
    throw std::runtime_error(
        fmt::format("libcudart.so.13, which replaces the CUDA runtime, is not beside {}: was the "
                    "program moved?",
                    program.string()));
}

std::string with_first(const char* variable, const std::string& first, char separator) {
    const char* const before = std::getenv(variable);
    return before == nullptr || *before == '\0' ? first : first + separator + before;
}

// What cannot be written to stderr is lost; the program's exit code is not.
void tell(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

struct Ended {
    int code = 0;  // as shells have it: 128 + N of signal N
    bool by_signal = false;
};

// Signals are handed on to the program; the table follows when it has ended.
std::atomic<int> interrupted_by = 0;
extern "C" void note_signal(int signal) { interrupted_by = signal; }

class Child {
public:
    // `loaded`: libraries of the runtime's folder that come before all others.
    Child(const fs::path& path, const Request& request, const fs::path& folder,
          const std::vector<std::string>& loaded) {
        const fs::path library = runtime_folder();
        const std::string search = with_first("LD_LIBRARY_PATH", library.string(), ':');
        std::string preload;
        for (const std::string& one : loaded) preload += (library / one).string() + " ";
        if (!preload.empty()) {
            preload.pop_back();
            preload = with_first("LD_PRELOAD", preload, ' ');
        }
        std::vector<char*> words;
        for (const std::string& one : request.words)
            words.push_back(const_cast<char*>(one.c_str()));
        words.push_back(nullptr);
        // A failure of exec comes back through it; else it is closed.
        int failure[2];
        if (pipe2(failure, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
        std::fflush(nullptr);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, note_signal);
        std::signal(SIGPIPE, SIG_IGN);
        number_ = fork();
        if (number_ < 0) throw std::runtime_error("no process can be started");
        if (number_ == 0) {
            for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
                std::signal(signal, SIG_DFL);
            setpgid(0, 0);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            setenv("LD_LIBRARY_PATH", search.c_str(), 1);
            if (!preload.empty()) setenv("LD_PRELOAD", preload.c_str(), 1);
            setenv(program::folder_variable, folder.c_str(), 1);
            execv(path.c_str(), words.data());
            const int why = errno;
            if (write(failure[1], &why, sizeof why) < 0) _exit(126);
            _exit(127);
        }
        setpgid(number_, number_);
        give_terminal(number_);
        close(failure[1]);
        int why = 0;
        const bool failed = read(failure[0], &why, sizeof why) == sizeof why;
        close(failure[0]);
        if (!failed) return;
        waitpid(number_, nullptr, 0);
        throw InputError(
            fmt::format("{}: cannot be executed: {}", path.string(), std::strerror(why)));
    }

    // How it ended; absent where `seconds` were over before, and it was ended.
    std::optional<Ended> wait(std::optional<double> seconds) const {
        const auto began = Clock::now();
        double told = 0;  // signals that it was sent, by their time
        bool over = false;
        for (useconds_t pause = 1000;; pause = std::min<useconds_t>(2 * pause, 10000)) {
            int status = 0;
            const pid_t ended = waitpid(number_, &status, WNOHANG);
            if (ended == number_) {
                give_terminal(getpgrp());
                if (over) return std::nullopt;
                if (WIFSIGNALED(status)) return Ended{128 + WTERMSIG(status), true};
                return Ended{WEXITSTATUS(status), false};
            }
            if (ended < 0 && errno != EINTR) throw std::runtime_error("the program is gone");
            const double now = std::chrono::duration<double>(Clock::now() - began).count();
            if (const int signal = interrupted_by.exchange(0); signal != 0) kill(-number_, signal);
            if (seconds && now > *seconds && !over) {
                over = true;
                told = now;
                kill(-number_, SIGTERM);
            }
            constexpr double patience = 1;
            if (over && now > told + patience) kill(-number_, SIGKILL);
            if (ended == 0) usleep(pause);
        }
    }

private:
    // A group of its own gets what is typed, and is ended with all that it has started.
    static void give_terminal(pid_t group) {
        if (isatty(STDIN_FILENO) == 0) return;
        std::signal(SIGTTOU, SIG_IGN);  // of the background, which it is afterwards
        tcsetpgrp(STDIN_FILENO, group);
        std::signal(SIGTTOU, SIG_DFL);
    }

    pid_t number_ = 0;
};

Limit limit_of(const Request& request) {
    if (request.limit.empty()) return {};
    return parse_limit(request.limit, "warp-instructions of one launch");
}

program::OnError on_error_of(const Request& request) {
    if (request.on_error.empty()) return program::OnError::as_cuda;
    return request.on_error == "stop" ? program::OnError::stop : program::OnError::report;
}

void write_results(const Request& request, const program::Journals& journals,
                   const std::optional<report::EarlierRun>& before, const fs::path& folder) {
    std::fflush(stdout);
    if (request.json == "-")
        fmt::print("{}", report::to_json(journals));
    else
        tell("\n" + report::to_text(journals));
    tell(report::findings_text(journals));
    if (before) tell(report::comparison_text(*before, journals));
    if (!request.json.empty() && request.json != "-")
        write_text_file(request.json, report::to_json(journals),
                        request.force ? Overwrite::yes : Overwrite::no);
    if (request.output.empty()) return;
    write_text_file(folder / "launches.json", report::to_json(journals), Overwrite::yes);
    write_text_file(folder / "launches.csv", report::to_csv(journals), Overwrite::yes);
    write_text_file(folder / "trace.json", report::to_trace(journals), Overwrite::yes);
}

// Read before anything runs, so that nothing is lost by a wrong name.
std::optional<report::EarlierRun> earlier_run(const Request& request,
                                              const std::vector<GpuProfile>& profiles) {
    if (request.compare.empty()) return std::nullopt;
    report::EarlierRun run =
        report::parse_earlier_run(read_text_file(request.compare), request.compare);
    const bool is_of_one = std::ranges::any_of(profiles, [&](const GpuProfile& one) {
        return std::ranges::find(run.profiles, one.device.name) != run.profiles.end();
    });
    if (run.kernels.empty())
        throw InputError(
            fmt::format("--compare {}: has no kernels: nothing was launched", request.compare));
    if (!is_of_one)
        throw InputError(fmt::format("--compare {}: has other GPUs ({}) than --profile",
                                     request.compare, fmt::join(run.profiles, ", ")));
    return run;
}

void run_program(const Request& request) {
    const Limit limit = limit_of(request);
    program::Settings settings;
    for (const std::string& name : request.profiles)
        settings.profiles.push_back(analysis::named_profile(name));
    program::device_facts(settings.profiles.front());  // or says why it cannot be the device
    const std::optional<report::EarlierRun> before = earlier_run(request, settings.profiles);
    settings.every_launch = request.all;
    settings.sample = request.sample;
    settings.on_error = on_error_of(request);
    settings.check = request.check;
    settings.predicted_clock = !request.clock.empty();
    settings.trace = !request.output.empty();
    settings.launch_instructions = static_cast<std::uint64_t>(limit.count.value_or(0));
    const std::string& name = request.words.front();
    const fs::path path = program::find_program(name);
    const program::Executable executable = program::look_at_executable(path);
    if (const std::string why = program::why_not_run(executable, name); !why.empty())
        throw InputError(why);
    if (const auto closed = program::needed_closed_libraries(executable); !closed.empty())
        fmt::print(stderr,
                   "occupipe: note: {} needs {}, whose calls find no GPU: only kernels of its own "
                   "are executed\n",
                   name, fmt::join(closed, ", "));
    if (!request.json.empty() && request.json != "-" && !request.force && fs::exists(request.json))
        throw InputError(
            fmt::format("--json {}: exists already; --force replaces it", request.json));
    const RunFolder folder(request.output, request.force);
    program::write_settings(folder.path(), settings);
    std::vector<std::string> loaded;
    if (settings.predicted_clock) loaded.push_back("libhost_clock.so");
    if (executable.fixed_search) {
        loaded.push_back("libcudart.so.13");
        loaded.push_back("libcudart.so.12");  // which is the other's but for its names
    }
    const Child child(path, request, folder.path(), loaded);
    const std::optional<Ended> ended = child.wait(limit.seconds);
    const program::Journals journals = program::read_journals(folder.path());
    write_results(request, journals, before, folder.path());
    if (!ended) {
        tell(fmt::format("occupipe: {} was ended after {} (--limit)\n", name, request.limit));
        throw Reported(exit_limit_reached);
    }
    if (journals.stopped) {
        tell(fmt::format("occupipe: {} was ended at a memory error (--on-error stop)\n", name));
        throw Reported(exit_failed);
    }
    if (ended->by_signal)
        tell(fmt::format("occupipe: {} was ended by signal {} ({})\n", name, ended->code - 128,
                         strsignal(ended->code - 128)));
    if (ended->code != 0) throw Reported(ended->code);
    if (!journals.findings.empty()) throw Reported(exit_failed);
}

}  // namespace

void add_run(const Command& app) {
    const auto request = std::make_shared<Request>();
    const Command command =
        app.subcommand("run", "Run a CUDA program without a GPU, and predict its kernels");
    add_help_end(command,
                 {.text = about, .exit_codes = {exit_limit_reached}, .examples = examples});
    command.add_option("program", request->words, "The program, after --, and its arguments")
        .type_name("PROGRAM")
        .required();
    command
        .add_option("--profile", request->profiles,
                    "The GPU that the program sees; further ones are predicted, too")
        .type_name("PROFILE")
        .one_value_each()
        .required();
    command.add_flag("--all", request->all,
                     "Predict every launch, not the first of each kernel and shape alone");
    command
        .add_option("--on-error", request->on_error,
                    "A memory error ends the program (stop), or is left out and listed\n"
                    "(report). Default: it ends its kernel, and the program gets CUDA's error")
        .type_name("stop|report")
        .check(one_of({"stop", "report"}));
    const Option check = command.add_flag(
        "--check", request->check, "Report reads of memory that nothing has written, and races");
    command
        .add_flag("--sample", request->sample,
                  "Execute launches only as far as predictions need it, and none that takes the\n"
                  "time of another: what the program computes is wrong")
        .excludes(check);
    command
        .add_option("--clock", request->clock,
                    "The program's own timers (clock_gettime, std::chrono, …) show predicted\n"
                    "time where it waits for the GPU")
        .type_name("predicted")
        .check(one_of({"predicted"}));
    command
        .add_option("--limit", request->limit,
                    "End the program after so many seconds (60s), or a launch after so many\n"
                    "warp-instructions (1000000000)")
        .type_name("LIMIT");
    command
        .add_option("-o,--output", request->output,
                    "Keep launches, as they end, with JSON and CSV of all and a trace for\n"
                    "ui.perfetto.dev (trace.json), in a new folder")
        .type_name("FOLDER");
    command
        .add_option("--json", request->json,
                    "Write the table as JSON; - prints it after the program's output")
        .type_name("FILE");
    command
        .add_option(
            "--compare", request->compare,
            "Compare the kernels with those of an earlier run, whose --json wrote this file")
        .type_name("FILE");
    command.add_flag("--force", request->force, "Replace files that exist");
    command.callback([request] { run_program(*request); });
}

}  // namespace occupipe::cli

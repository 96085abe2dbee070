// SPDX-License-Identifier: MIT
#include "analysis/sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/growing_file.h"
#include "core/files/partial_files.h"
#include "sim/engine/run_progress.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t rows_per_task = 16;

class RemovedUnlessKept {
public:
    explicit RemovedUnlessKept(fs::path path) : path_(std::move(path)) {}
    ~RemovedUnlessKept() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove(path_, ignored);
    }
    RemovedUnlessKept(const RemovedUnlessKept&) = delete;
    RemovedUnlessKept& operator=(const RemovedUnlessKept&) = delete;
    void keep() { path_.clear(); }

private:
    fs::path path_;
};

// How far a file of rows has come.
struct Extent {
    std::int64_t rows = 0;
    std::int64_t bytes = 0;  // header and rows that are whole
    std::int64_t refused = 0;
};

// Whether a row is one that was refused: its column `refused` is not empty.
bool is_refused(const std::string& line, std::size_t column) {
    std::size_t at = 0;
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (at == column) return c != ',';
        if (c == ',' && !quoted) ++at;
    }
    return false;
}

std::size_t refused_column(const std::string& header) {
    const std::size_t name = header.find(",refused");
    std::size_t column = 0;
    bool quoted = false;
    for (std::size_t i = 0; i <= name; ++i) {
        if (header[i] == '"') quoted = !quoted;
        column += header[i] == ',' && !quoted;
    }
    return column;
}

// Reads rows until one is missing, cut off or not the next.
Extent extent_of(const fs::path& path, const std::string& header, std::int64_t first,
                 std::int64_t end) {
    std::ifstream file(path, std::ios::binary);
    Extent extent;
    std::string line;
    if (!std::getline(file, line) || file.eof() || line + '\n' != header) return extent;
    extent.bytes = static_cast<std::int64_t>(header.size());
    const std::size_t column = refused_column(header);
    while (first + extent.rows < end && std::getline(file, line) && !file.eof()) {
        std::int64_t row = -1;
        const char* const last = line.data() + line.size();
        const auto [stop, fault] = std::from_chars(line.data(), last, row);
        if (fault != std::errc() || stop == last || *stop != ',' || row != first + extent.rows ||
            line.find('\0') != std::string::npos)
            break;
        ++extent.rows;
        extent.bytes += static_cast<std::int64_t>(line.size()) + 1;
        extent.refused += is_refused(line, column);
    }
    return extent;
}

// Tasks of few rows, made in any order, written in theirs.
class OrderedWork {
public:
    OrderedWork(const Sweep& sweep, std::int64_t first, std::int64_t end, unsigned threads,
                const std::atomic<bool>& stop, std::function<void(const std::string&)> warn,
                std::function<void(std::int64_t, std::int64_t, const std::string&)> write)
        : sweep_(sweep),
          first_(first),
          end_(end),
          window_(std::int64_t{64} * threads),
          asked_to_stop_(stop),
          warn_(std::move(warn)),
          write_(std::move(write)) {}

    void run(unsigned threads) {
        threads_ = threads;
        std::vector<std::jthread> workers;
        for (unsigned t = 1; t < threads; ++t) workers.emplace_back([this] { work(); });
        work();
        workers.clear();
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    struct Done {
        std::string csv;
        std::int64_t rows = 0, refused = 0;
    };

    void work() {
        try {
            SweepWorker worker(
                sweep_, [this] { return stop_ || asked_to_stop_; }, threads_,
                [this](const std::string& line) { warn_once(line); });
            for (;;) {
                std::unique_lock lock(mutex_);
                moved_.wait(lock, [&] { return next_ < written_ + window_ || ended(); });
                if (asked_to_stop_) stop_ = true;
                const std::int64_t begin = first_ + next_ * rows_per_task;
                if (stop_ || begin >= end_) break;
                const std::int64_t task = next_++;
                lock.unlock();
                Done done;
                const std::int64_t stop_at = std::min(end_, begin + rows_per_task);
                done.refused = worker.append(begin, stop_at, done.csv);
                done.rows = stop_at - begin;
                lock.lock();
                done_.emplace(task, std::move(done));
                flush();
            }
            if (asked_to_stop_) throw Interrupted("interrupted");
        } catch (...) {
            const std::lock_guard lock(mutex_);
            stop_ = true;
            if (!failure_) failure_ = std::current_exception();
        }
        moved_.notify_all();
    }

    void warn_once(const std::string& line) {
        const std::lock_guard lock(mutex_);
        if (warn_ && warned_.insert(line).second) warn_(line);
    }

    bool ended() const { return stop_ || asked_to_stop_ || first_ + next_ * rows_per_task >= end_; }

    // With the lock.
    void flush() {
        for (auto at = done_.find(written_); at != done_.end(); at = done_.find(written_)) {
            write_(at->second.rows, at->second.refused, at->second.csv);
            done_.erase(at);
            ++written_;
        }
        moved_.notify_all();
    }

    const Sweep& sweep_;
    std::int64_t first_, end_;
    std::int64_t window_;
    const std::atomic<bool>& asked_to_stop_;
    std::function<void(const std::string&)> warn_;
    std::set<std::string> warned_;
    unsigned threads_ = 1;
    std::atomic<bool> stop_ = false;  // also where a thread has failed
    std::function<void(std::int64_t, std::int64_t, const std::string&)> write_;
    std::mutex mutex_;
    std::condition_variable moved_;
    std::int64_t next_ = 0, written_ = 0;  // tasks
    std::map<std::int64_t, Done> done_;
    std::exception_ptr failure_;
};

void refuse_parquet(const fs::path& path) {
    if (path.extension() == ".parquet")
        throw InputError(
            fmt::format("{}: the rows of a sweep are CSV (rows.csv); a few lines of Python make "
                        "Parquet of them, see docs/how-to/sweep.md, \"Parquet\"",
                        path.string()));
}

// What is there of the output, if it is this sweep's.
Extent take_up(const GrowingFile& file, const Sweep& sweep, const SweepRun& run,
               const SweepManifest& part) {
    const bool known = fs::exists(manifest_path(run.output));
    if (file.size() > 0 || known) {
        std::string other;
        if (!known)
            other = "exists already, and was not written by a sweep";
        else if (!read_manifest(run.output).same_part(part))
            other = "has rows of another sweep, shard, limit, or of files that have changed";
        if (other.empty()) return extent_of(run.output, sweep.header(), part.first, part.end);
        if (!run.force)
            throw InputError(
                fmt::format("{}: {}; --force replaces it", run.output.string(), other));
        file.cut(0);
    }
    return {};
}

}  // namespace

SweepOutcome run_sweep(const Sweep& sweep, const SweepRun& run) {
    static const std::atomic<bool> never = false;
    const std::atomic<bool>& stop = run.stop != nullptr ? *run.stop : never;
    refuse_parquet(run.output);
    SweepManifest part{.made_of = sweep.made_of(),
                       .shard = run.shard,
                       .first = run.shard.first(sweep.rows()),
                       .end = run.shard.end(sweep.rows()),
                       .all = sweep.rows(),
                       .origin = sweep.origin()};
    const bool fresh = !fs::exists(run.output);
    const GrowingFile file(run.output, "sweep");
    RemovedUnlessKept unused(fresh ? run.output : fs::path());  // where another sweep's is refused
    const Extent there = take_up(file, sweep, run, part);
    unused.keep();
    remove_partial_files(manifest_path(run.output));  // the lock on the rows is on them, too
    write_manifest(part, run.output);
    file.cut(there.bytes);
    if (there.bytes == 0) file.append(sweep.header());

    SweepOutcome outcome{
        .rows = part.end - part.first, .resumed = there.rows, .refused = there.refused};
    SweepProgress progress{.done = there.rows, .rows = outcome.rows, .resumed_at = there.rows};
    const auto begin = std::chrono::steady_clock::now();
    const auto tell = [&] {
        progress.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (run.progress) run.progress(progress);
    };
    tell();
    const unsigned threads =
        run.threads != 0 ? run.threads : std::max(1U, std::thread::hardware_concurrency());
    OrderedWork work(sweep, part.first + there.rows, part.end, threads, stop, run.warn,
                     [&](std::int64_t rows, std::int64_t refused, const std::string& csv) {
                         file.append(csv);
                         progress.done += rows;
                         outcome.refused += refused;
                         tell();
                     });
    work.run(threads);
    file.sync();
    part.complete = true;
    part.refused = outcome.refused;
    write_manifest(part, run.output);
    return outcome;
}

namespace {

// Sorts them by their rows, each of which has to be in one of them.
std::vector<std::pair<SweepManifest, fs::path>> parts_of(const std::vector<fs::path>& shards) {
    std::vector<std::pair<SweepManifest, fs::path>> parts;
    for (const fs::path& path : shards) {
        if (!fs::exists(manifest_path(path)))
            throw InputError(fmt::format("{}: no {} beside it", path.string(),
                                         manifest_path(path).filename().string()));
        parts.emplace_back(read_manifest(path), path);
    }
    std::ranges::stable_sort(
        parts, {}, [](const auto& one) { return std::pair(one.first.first, one.first.end); });
    const SweepManifest& whole = parts.front().first;
    std::int64_t next = 0;
    for (const auto& [part, path] : parts) {
        if (part.made_of != whole.made_of || part.all != whole.all)
            throw InputError(fmt::format("{}: is of another sweep than {}", path.string(),
                                         parts.front().second.string()));
        if (!part.complete)
            throw InputError(path.string() + ": is not complete; run its sweep again to go on");
        if (part.first > next)
            throw InputError(
                fmt::format("rows {} to {} are in none of the files", next, part.first - 1));
        if (part.first < next)
            throw InputError(
                fmt::format("{}: row {} is in another file, too", path.string(), part.first));
        next = part.end;
    }
    if (next != whole.all)
        throw InputError(
            fmt::format("rows {} to {} are in none of the files", next, whole.all - 1));
    return parts;
}

// Appends the rows of one file; the header is that of all, and is written with the first.
void append_part(const GrowingFile& file, const fs::path& path, const SweepManifest& part,
                 std::string& header) {
    const auto take_header = [&](const std::string& own) {
        if (header.empty()) file.append(header = own);
        if (own != header) throw InputError(path.string() + ": has another header");
    };
    std::ifstream in(path, std::ios::binary);
    std::string first;
    if (!std::getline(in, first) || in.eof()) throw InputError(path.string() + ": has no header");
    take_header(first + '\n');
    const Extent extent = extent_of(path, header, part.first, part.end);
    if (extent.rows != part.end - part.first ||
        extent.bytes != static_cast<std::int64_t>(fs::file_size(path)))
        throw InputError(fmt::format("{}: ends after row {}, though it was complete", path.string(),
                                     part.first + extent.rows - 1));
    std::array<char, 1 << 16> buffer{};
    while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0)
        file.append({buffer.data(), static_cast<std::size_t>(in.gcount())});
}

}  // namespace

std::int64_t join_shards(const std::vector<fs::path>& shards, const fs::path& output, bool force) {
    if (shards.empty()) throw InputError("which shards? Give the files of all of them");
    if (!force && fs::exists(output)) throw InputError(output.string(), {}, {}, "exists already");
    refuse_parquet(output);
    for (const fs::path& path : shards) refuse_parquet(path);
    const auto parts = parts_of(shards);
    SweepManifest whole = parts.front().first;
    whole.shard = {1, 1};
    whole.first = 0;
    whole.end = whole.all;
    whole.refused = 0;
    for (const auto& [part, path] : parts) whole.refused += part.refused;

    const fs::path partial = output.string() + ".partial";
    {
        const GrowingFile file(partial, "sweep");
        file.cut(0);
        RemovedUnlessKept unfinished(partial);
        std::string header;
        for (const auto& [part, path] : parts) append_part(file, path, part, header);
        file.sync();
        remove_partial_files(manifest_path(output));
        fs::rename(partial, output);
        unfinished.keep();
    }
    write_manifest(whole, output);
    return whole.all;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "analysis/sweep_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"
#include "core/files/partial_files.h"
#include "sim/engine/run_progress.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view format_name = "occupipe-sweep-run/1";
constexpr std::int64_t rows_per_task = 16;

// What a file of rows is a part of.
struct Manifest {
    std::string made_of;
    SweepShard shard;
    std::int64_t first = 0, end = 0, all = 0;  // rows
    bool complete = false;

    bool same_part(const Manifest& o) const {
        return made_of == o.made_of && first == o.first && end == o.end && all == o.all;
    }
};

fs::path manifest_path(const fs::path& output) { return output.string() + ".sweep.json"; }

void write_manifest(const Manifest& m, const fs::path& output) {
    const nlohmann::ordered_json json = {
        {"format", format_name},
        {"program", OCCUPIPE_VERSION},
        {"made_of", m.made_of},
        {"shard", {{"number", m.shard.number}, {"count", m.shard.count}}},
        {"rows", {{"first", m.first}, {"end", m.end}, {"all", m.all}}},
        {"complete", m.complete}};
    write_text_file(manifest_path(output), json.dump(2) + "\n", Overwrite::yes);
}

Manifest read_manifest(const fs::path& output) {
    const std::string name = manifest_path(output).string();
    const Document document = parse_json(read_text_file(name), name);
    const DocumentNode& root = document.root();
    document.only_keys(root, {"format", "program", "made_of", "shard", "rows", "complete"});
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format) != format_name)
        document.fail(format, fmt::format("unknown format '{}'", format.text));
    const auto number = [&](std::string_view map, std::string_view key) {
        return document.integer(document.required(document.required(root, map), key), 0,
                                most_sweep_rows);
    };
    return {.made_of = document.text(document.required(root, "made_of")),
            .shard = {number("shard", "number"), number("shard", "count")},
            .first = number("rows", "first"),
            .end = number("rows", "end"),
            .all = number("rows", "all"),
            .complete = document.boolean(document.required(root, "complete"))};
}

[[noreturn]] void fail(const fs::path& path, const char* action) {
    throw std::runtime_error(fmt::format("{}: cannot {}: {}", path.string(), action,
                                         std::generic_category().message(errno)));
}

// A file that one process at a time writes.
class RowFile {
public:
    explicit RowFile(const fs::path& path)
        : path_(path), number_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        if (number_ < 0) fail(path_, "write");
        if (::flock(number_, LOCK_EX | LOCK_NB) != 0) {
            ::close(number_);
            throw InputError(path_.string() + ": another sweep is writing this file");
        }
    }
    ~RowFile() { ::close(number_); }
    RowFile(const RowFile&) = delete;
    RowFile& operator=(const RowFile&) = delete;

    std::int64_t size() const {
        struct stat about = {};
        if (::fstat(number_, &about) != 0) fail(path_, "read");
        return about.st_size;
    }
    void cut(std::int64_t size) const {
        if (::ftruncate(number_, size) != 0 || ::lseek(number_, size, SEEK_SET) < 0)
            fail(path_, "write");
    }
    void append(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t written = ::write(number_, text.data(), text.size());
            if (written < 0 && errno != EINTR) fail(path_, "write");
            if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    void sync() const {
        if (::fsync(number_) != 0) fail(path_, "write");
    }

private:
    fs::path path_;
    int number_;
};

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
                const std::atomic<bool>& stop,
                std::function<void(std::int64_t, std::int64_t, const std::string&)> write)
        : sweep_(sweep),
          first_(first),
          end_(end),
          window_(std::int64_t{64} * threads),
          asked_to_stop_(stop),
          write_(std::move(write)) {}

    void run(unsigned threads) {
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
            SweepWorker worker(sweep_, [this] { return stop_ || asked_to_stop_; });
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
    std::atomic<bool> stop_ = false;  // also where a thread has failed
    std::function<void(std::int64_t, std::int64_t, const std::string&)> write_;
    std::mutex mutex_;
    std::condition_variable moved_;
    std::int64_t next_ = 0, written_ = 0;  // tasks
    std::map<std::int64_t, Done> done_;
    std::exception_ptr failure_;
};

// Takes up what is there, if it is this sweep's.
Extent take_up(const RowFile& file, const Sweep& sweep, const SweepRun& run, const Manifest& part) {
    const bool known = fs::exists(manifest_path(run.output));
    if (file.size() > 0 || known) {
        std::string other;
        if (!known)
            other = "exists already, and is no sweep's";
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

std::int64_t SweepShard::first_row(std::int64_t rows) const {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(static_cast<Wide>(rows) * (number - 1) / count);
}

std::int64_t SweepShard::end_row(std::int64_t rows) const {
    return SweepShard{number + 1, count}.first_row(rows);
}

SweepOutcome run_sweep(const Sweep& sweep, const SweepRun& run) {
    static const std::atomic<bool> never = false;
    const std::atomic<bool>& stop = run.stop != nullptr ? *run.stop : never;
    Manifest part{.made_of = sweep.made_of(),
                  .shard = run.shard,
                  .first = run.shard.first_row(sweep.rows()),
                  .end = run.shard.end_row(sweep.rows()),
                  .all = sweep.rows()};
    const RowFile file(run.output);
    const Extent there = take_up(file, sweep, run, part);
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
    OrderedWork work(sweep, part.first + there.rows, part.end, threads, stop,
                     [&](std::int64_t rows, std::int64_t refused, const std::string& csv) {
                         file.append(csv);
                         progress.done += rows;
                         outcome.refused += refused;
                         tell();
                     });
    work.run(threads);
    file.sync();
    part.complete = true;
    write_manifest(part, run.output);
    return outcome;
}

std::int64_t join_shards(const std::vector<fs::path>& shards, const fs::path& output, bool force) {
    if (shards.empty()) throw InputError("which shards? Give the files of all of them");
    if (!force && fs::exists(output)) throw InputError(output.string(), {}, {}, "exists already");
    std::vector<std::pair<Manifest, fs::path>> parts;
    for (const fs::path& path : shards) {
        if (!fs::exists(manifest_path(path)))
            throw InputError(fmt::format("{}: no {} beside it", path.string(),
                                         manifest_path(path).filename().string()));
        parts.emplace_back(read_manifest(path), path);
    }
    std::ranges::stable_sort(
        parts, {}, [](const auto& one) { return std::pair(one.first.first, one.first.end); });
    Manifest whole = parts.front().first;
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

    const fs::path partial = output.string() + ".partial";
    {
        const RowFile file(partial);
        file.cut(0);
        RemovedUnlessKept unfinished(partial);
        std::string header;
        for (const auto& [part, path] : parts) {
            std::ifstream in(path, std::ios::binary);
            std::string first;
            if (!std::getline(in, first) || in.eof())
                throw InputError(path.string() + ": has no header");
            first += '\n';
            if (header.empty()) file.append(header = first);
            if (first != header) throw InputError(path.string() + ": has another header");
            const Extent extent = extent_of(path, header, part.first, part.end);
            if (extent.rows != part.end - part.first ||
                extent.bytes != static_cast<std::int64_t>(fs::file_size(path)))
                throw InputError(fmt::format("{}: ends after row {}, though it was complete",
                                             path.string(), part.first + extent.rows - 1));
            std::array<char, 1 << 16> buffer{};
            while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0)
                file.append({buffer.data(), static_cast<std::size_t>(in.gcount())});
        }
        file.sync();
        remove_partial_files(manifest_path(output));
        fs::rename(partial, output);
        unfinished.keep();
    }
    whole.shard = {1, 1};
    whole.first = 0;
    whole.end = whole.all;
    write_manifest(whole, output);
    return whole.all;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "bench/harness/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/partial_files.h"

namespace occupipe::bench {
namespace {

// First character and length of each row in a line.
using RowPlaces = std::vector<std::pair<std::size_t, std::size_t>>;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* format_name = "occupipe-journal/2";
constexpr std::string_view suffix = ".partial";

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
    throw std::runtime_error(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

// One line without its end, and where the rows stand in it.
struct Line {
    std::string text;
    RowPlaces rows;
};

// One line, so that a point is there with all of its rows or not at all.
Line line_of(const std::string& point, const std::vector<std::string>& rows) {
    Line line{fmt::format(R"({{"point":{},"rows":[)", Json(point).dump()), {}};
    for (const std::string& row : rows) {
        if (!line.rows.empty()) line.text += ',';
        line.rows.emplace_back(line.text.size(), row.size());
        line.text += row;
    }
    line.text += "]}";
    return line;
}

struct Content {
    Content() = default;
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;

    Json header = Json::object();  // format, key, points, context
    std::vector<Line> lines;
    std::size_t bytes = 0;       // of whole lines
    std::size_t iterations = 0;  // rows that are no aggregates
    std::size_t deviating = 0;   // of them with another clock than the reference
    std::set<std::string> finished;
    std::map<std::string, int> unended;
    std::map<std::string, std::string> hung;
    bool finishing = false;
};

// Its rows, and what they add to the counts.
Line take_rows(Content& content, const Json& entry) {
    std::vector<std::string> rows;
    for (const Json& row : entry.at("rows")) {
        rows.push_back(row.dump());
        content.iterations += row.value("run_type", "") == "iteration" ? 1 : 0;
        content.deviating += row.contains("clock_deviation") ? 1 : 0;
    }
    return line_of(entry.at("point").get<std::string>(), rows);
}

void take(Content& content, const Json& entry) {
    if (entry.contains("point")) {
        const auto name = entry.at("point").get<std::string>();
        content.finished.insert(name);
        content.unended.erase(name);
        content.hung.erase(name);
    } else if (entry.contains("begun")) {
        ++content.unended[entry.at("begun").get<std::string>()];
    } else if (entry.contains("left")) {
        const auto begun = content.unended.find(entry.at("left").get<std::string>());
        if (begun != content.unended.end() && --begun->second == 0) content.unended.erase(begun);
    } else if (entry.contains("hung")) {
        content.hung[entry.at("hung").get<std::string>()] = entry.value("reason", "it hung");
    } else if (entry.contains("note")) {
        for (const auto& [key, value] : entry.at("note").items()) {
            content.header["context"][key] = value;
        }
    } else if (entry.contains("finishing")) {
        content.finishing = true;
    }
}

// Why a whole line cannot have been written by this program; empty where it can.
std::string fault_of(const Json& entry, bool first) {
    const auto is_text = [&](const char* key) {
        return !entry.contains(key) || entry.at(key).is_string();
    };
    for (const char* key : {"key", "point", "begun", "left", "hung", "reason"}) {
        if (!is_text(key)) return fmt::format("'{}' is not text", key);
    }
    if (first) {
        if (!entry.at("context").is_object()) return "'context' is not an object";
        const bool counted = !entry.contains("points") || entry.at("points").is_number_unsigned();
        return counted ? "" : "'points' is not a number of points";
    }
    if (entry.contains("note") && !entry.at("note").is_object()) return "'note' is not an object";
    if (!entry.contains("point")) return {};
    if (!entry.contains("rows") || !entry.at("rows").is_array()) return "a point without rows";
    const auto name = entry.at("point").get<std::string>();
    for (const Json& row : entry.at("rows")) {
        const bool sane =
            row.is_object() && (!row.contains("run_type") || row.at("run_type").is_string());
        if (!sane) return "a row that is none";
        if (!row.contains("name") || !row.at("name").is_string()) return "a row without a name";
        const bool summary = row.value("run_type", "") == "aggregate";
        const auto own = row.at("name").get<std::string>();
        if (own != name && !(summary && own.starts_with(name + "_")))
            return fmt::format("a row of '{}' in point '{}'", own, name);
    }
    return {};
}

[[noreturn]] void damaged(const fs::path& path, std::size_t line, const std::string& fault) {
    throw InputError(path.string(), {static_cast<int>(line), 1}, {},
                     fmt::format("{}: damaged, or no journal of this program{}", fault,
                                 line > 1 ? "; remove this line to go on with all others" : ""));
}

// What is wrong with lines, all of them in one message; at the first one's place.
class Damage {
public:
    explicit Damage(const fs::path& path) : path_(path) {}
    void add(std::size_t line, const std::string& fault) { lines_.emplace_back(line, fault); }
    void refuse() const {
        if (lines_.empty()) return;
        if (lines_.size() == 1) damaged(path_, lines_.front().first, lines_.front().second);
        constexpr std::size_t shown = 10;
        std::string all;
        for (std::size_t i = 0; i < std::min(shown, lines_.size()); ++i)
            all +=
                fmt::format("{}line {}: {}", i == 0 ? "" : "; ", lines_[i].first, lines_[i].second);
        if (lines_.size() > shown) all += fmt::format("; and {} more", lines_.size() - shown);
        throw InputError(path_.string(), {static_cast<int>(lines_.front().first), 1}, {},
                         fmt::format("{} lines are damaged: {}; remove them to go on with all "
                                     "others",
                                     lines_.size(), all));
    }

private:
    const fs::path& path_;
    std::vector<std::pair<std::size_t, std::string>> lines_;
};

// Of a file that is there. `content` stays empty when it does not hold one whole line. Only the
// last line may be no whole one; any other that cannot be read is an InputError.
void read_journal(const fs::path& path, Content& content) {
    std::istringstream lines(read_text_file(path));
    Damage damage(path);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        if (lines.eof()) break;  // cut short by a crash: it has no end
        ++number;
        const Json entry = Json::parse(line, nullptr, false);
        if (!entry.is_object()) {
            if (number == 1) damaged(path, number, "is not a JSON object");
            damage.add(number, "is not a JSON object");
            continue;
        }
        if (content.lines.empty()) {
            if (!entry.contains("format") || entry.at("format") != format_name ||
                !entry.contains("context")) {
                throw InputError(path.string(), {1, 1}, "format",
                                 fmt::format("is not '{}': written by another version of this "
                                             "program, or no interrupted measurement",
                                             format_name));
            }
            content.header = entry;
        }
        if (const std::string fault = fault_of(entry, content.lines.empty()); !fault.empty()) {
            if (number == 1) damaged(path, number, fault);
            damage.add(number, fault);
            continue;
        }
        if (!content.lines.empty()) take(content, entry);
        content.bytes += line.size() + 1;
        const bool is_point = !content.lines.empty() && entry.contains("point");
        content.lines.push_back(is_point ? take_rows(content, entry) : Line{line, {}});
    }
    damage.refuse();
}

// One row a line: short enough to read, to search and to compare line by line.
std::string measurement_text(Json context, const Content& content) {
    std::string rows;
    for (const Line& line : content.lines) {
        for (const auto& [begin, length] : line.rows) {
            rows += rows.empty() ? "\n  " : ",\n  ";
            rows.append(line.text, begin, length);
        }
    }
    if (content.deviating > 0) {
        context["clock_deviation"] = fmt::format(
            "{} of {} rows ran at another clock than reference_clock_hz; each has the "
            "counter clock_deviation",
            content.deviating, content.iterations);
    }
    return fmt::format("{{\n \"context\": {},\n \"benchmarks\": [{}\n ]\n}}\n", context.dump(2),
                       rows);
}

// That our own reader takes the finished file: after it, the journal goes. Throws InputError that
// names the journal's line.
void require_readable(const fs::path& journal, const Content& content, const std::string& whole) {
    try {
        parse_measurements(whole, {});
        return;
    } catch (const InputError& fault) {
        const std::string context = Json(content.header.at("context")).dump();
        Damage damage(journal);
        for (std::size_t i = 0; i < content.lines.size(); ++i) {
            const Line& line = content.lines[i];
            if (line.rows.empty()) continue;
            const auto [begin, unused] = line.rows.front();
            const auto [last, length] = line.rows.back();
            try {
                parse_measurements(
                    fmt::format(R"({{"context":{},"benchmarks":[{}]}})", context,
                                std::string_view(line.text).substr(begin, last + length - begin)),
                    {});
            } catch (const InputError& one) {
                damage.add(i + 1, one.what());
            }
        }
        damage.refuse();
        throw InputError(journal.string(), {}, {},
                         fmt::format("makes a file that cannot be read: {}", fault.what()));
    }
}

}  // namespace

struct Journal::File {
    fs::path output;
    fs::path path;
    int descriptor = -1;
    std::chrono::steady_clock::time_point last_sync;
    bool restored = false;
    Content content;

    ~File() {
        if (descriptor >= 0) close(descriptor);
    }
};

fs::path Journal::path_for(const fs::path& output) { return output.string() + std::string(suffix); }

bool Journal::finishing(const fs::path& output) {
    const fs::path path = path_for(output);
    Content content;
    if (fs::exists(path)) read_journal(path, content);
    return content.finishing;
}

std::string context_json(const std::map<std::string, std::string>& context) {
    return Json(context).dump();
}

Journal::Journal(const fs::path& output, const std::string& key, const std::string& context_json,
                 std::size_t planned)
    : file_(std::make_unique<File>()) {
    file_->output = output;
    file_->path = path_for(output);
    Content& content = file_->content;
    if (fs::exists(file_->path)) {
        read_journal(file_->path, content);
        if (!content.lines.empty() && content.header.value("key", "") != key) {
            throw InputError(file_->path.string(), {1, 1}, "key",
                             "belongs to another measurement (other device, program version "
                             "or plan); remove it or choose another output file");
        }
        // Now rather than after hours of measuring.
        if (!content.finished.empty())
            require_readable(file_->path, content,
                             measurement_text(content.header.at("context"), content));
    } else if (output.has_parent_path()) {
        fs::create_directories(output.parent_path());
    }
    file_->descriptor = open(file_->path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file_->descriptor < 0) fail(file_->path, "cannot be written");
    if (ftruncate(file_->descriptor, static_cast<off_t>(content.bytes)) != 0 ||
        lseek(file_->descriptor, 0, SEEK_END) < 0) {
        fail(file_->path, "cannot be continued");
    }
    if (content.lines.empty()) {
        content.header = Json{{"format", format_name},
                              {"key", key},
                              {"points", planned},
                              {"context", Json::parse(context_json)}};
        write_line(content.header.dump());
    }
}

Journal::~Journal() = default;

const std::set<std::string>& Journal::finished() const { return file_->content.finished; }
const std::map<std::string, int>& Journal::unended() const { return file_->content.unended; }
const std::map<std::string, std::string>& Journal::hung() const { return file_->content.hung; }
bool Journal::restored() const { return file_->restored; }

std::string Journal::context(const std::string& key) const {
    const Json& context = file_->content.header.at("context");
    return context.contains(key) && context.at(key).is_string() ? context.at(key).get<std::string>()
                                                                : std::string();
}

void Journal::write_bytes(const std::string& text) {
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t n = write(file_->descriptor, text.data() + written, text.size() - written);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(file_->path, "cannot be written");
        written += static_cast<std::size_t>(n);
    }
}

// What is written to a file that has no name any more is lost with the process.
void Journal::keep_in_place() {
    struct stat ours {};
    struct stat there {};
    if (fstat(file_->descriptor, &ours) != 0) fail(file_->path, "cannot be looked at");
    if (stat(file_->path.c_str(), &there) == 0) {
        if (ours.st_ino == there.st_ino && ours.st_dev == there.st_dev) return;
        throw std::runtime_error(
            fmt::format("{}: another file has taken the place of this measurement's journal",
                        file_->path.string()));
    }
    // Whoever removes the folder may take it away once more between the two steps.
    int descriptor = -1;
    for (int attempt = 0; attempt < 100 && descriptor < 0; ++attempt) {
        std::error_code ignored;  // open() says what is wrong
        if (file_->path.has_parent_path())
            fs::create_directories(file_->path.parent_path(), ignored);
        descriptor = open(file_->path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (descriptor < 0 && errno != ENOENT) break;
    }
    if (descriptor < 0) {
        fail(file_->path, "was removed while measuring, and cannot be written anew");
    }
    close(file_->descriptor);
    file_->descriptor = descriptor;
    std::string all;
    for (const Line& line : file_->content.lines) all += line.text + "\n";
    write_bytes(all);
    file_->restored = true;
}

void Journal::write_line(std::string text, RowPlaces rows) {
    keep_in_place();
    write_bytes(text + "\n");
    file_->content.lines.push_back({std::move(text), std::move(rows)});
    // What was written outlives this process as it is; against a power cut it is enough, and far
    // cheaper than the points themselves, to reach the disk once a second.
    if (std::chrono::steady_clock::now() - file_->last_sync < std::chrono::seconds(1)) return;
    sync();
}

void Journal::sync() {
    if (fdatasync(file_->descriptor) != 0) fail(file_->path, "cannot be made durable");
    file_->last_sync = std::chrono::steady_clock::now();
}

void Journal::begin(const std::string& point) { write_line(Json{{"begun", point}}.dump()); }

void Journal::leave(const std::string& point) { write_line(Json{{"left", point}}.dump()); }

void Journal::hang(const std::string& point, const std::string& reason) {
    write_line(Json{{"hung", point}, {"reason", reason}}.dump());
    sync();
}

void Journal::append(const FinishedPoint& point) {
    Line line = line_of(point.name, row_texts(point));
    write_line(std::move(line.text), std::move(line.rows));
    file_->content.iterations += point.repetitions.size();
    file_->content.deviating += static_cast<std::size_t>(std::ranges::count_if(
        point.repetitions,
        [](const Repetition& one) { return one.counters.contains("clock_deviation"); }));
}

void Journal::note(const std::string& key, const std::string& value) {
    file_->content.header["context"][key] = value;
    write_line(Json{{"note", {{key, value}}}}.dump());
}

void Journal::finish() {
    const std::string whole = measurement_text(file_->content.header.at("context"), file_->content);
    require_readable(file_->path, file_->content, whole);
    write_line(Json{{"finishing", true}}.dump());
    // Overwriting was allowed or refused before the measurement began.
    write_text_file(file_->output, whole, Overwrite::yes);
    remove_partial_files(file_->output);
    fs::remove(file_->path);
}

void Journal::discard() { fs::remove(file_->path); }

ClosedJournal close_journal(const fs::path& file, const fs::path& output, Overwrite overwrite) {
    const std::string name = file.string();
    const bool is_journal = name.ends_with(suffix);
    const fs::path journal = is_journal ? file : Journal::path_for(file);
    const fs::path own_output =
        is_journal ? fs::path(name.substr(0, name.size() - suffix.size())) : file;
    Content content;
    read_journal(journal, content);
    if (content.finished.empty()) {
        throw InputError(journal.string(), {}, {}, "holds no finished point: nothing to close");
    }
    const auto planned = content.header.value("points", std::size_t{0});
    Json context = content.header.at("context");
    if (content.finished.size() < planned) {
        context["incomplete"] =
            fmt::format("{} of {} points; the measurement was interrupted and not gone on with",
                        content.finished.size(), planned);
    }
    if (!content.unended.empty()) {
        std::vector<std::string> points;
        for (const auto& [point, times] : content.unended) points.push_back(point);
        context["never_ended"] = fmt::format("{}", fmt::join(points, " "));
    }
    for (const auto& [point, reason] : content.hung) context["hung." + point] = reason;
    const std::string whole = measurement_text(context, content);
    require_readable(journal, content, whole);
    write_text_file(output.empty() ? own_output : output, whole,
                    output.empty() && content.finishing ? Overwrite::yes : overwrite);
    if (output.empty()) fs::remove(journal);
    return {.output = output.empty() ? own_output : output,
            .measured = content.finished.size(),
            .planned = planned};
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "bench/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "core/error.h"
#include "core/files.h"

namespace occupipe::bench {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* format = "occupipe-journal/1";

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
    throw std::runtime_error(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

}  // namespace

struct Journal::File {
    std::filesystem::path path;
    int descriptor = -1;
    std::chrono::steady_clock::time_point last_sync;
    Json context;
    Json rows = Json::array();

    ~File() {
        if (descriptor >= 0) close(descriptor);
    }
};

std::filesystem::path Journal::path_for(const std::filesystem::path& output) {
    return output.string() + ".partial";
}

Journal::Journal(const std::filesystem::path& output, const std::string& key,
                 const std::string& context_json)
    : output_(output), file_(std::make_unique<File>()) {
    file_->path = path_for(output);
    file_->context = Json::parse(context_json);
    std::size_t whole_bytes = 0;
    if (std::filesystem::exists(file_->path)) {
        std::istringstream lines(read_text_file(file_->path));
        int number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            // A line that a crash cut short has no end: getline then meets the end of the file.
            const Json entry = lines.eof() ? Json() : Json::parse(line, nullptr, false);
            if (!entry.is_object()) break;
            if (number == 1) {
                if (entry.value("format", "") != format || entry.value("key", "") != key) {
                    throw InputError(
                        file_->path.string(), {1, 1}, "key",
                        "belongs to another measurement (other device, program version "
                        "or plan); remove it or choose another output file");
                }
                file_->context = entry.at("context");
            } else {
                file_->rows.push_back(entry);
                finished_.insert(entry.value("name", ""));
            }
            whole_bytes += line.size() + 1;
        }
    } else if (output.has_parent_path()) {
        std::filesystem::create_directories(output.parent_path());
    }
    file_->descriptor = open(file_->path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file_->descriptor < 0) fail(file_->path, "cannot be written");
    if (ftruncate(file_->descriptor, static_cast<off_t>(whole_bytes)) != 0 ||
        lseek(file_->descriptor, 0, SEEK_END) < 0) {
        fail(file_->path, "cannot be continued");
    }
    if (whole_bytes == 0) {
        write_line(Json{{"format", format}, {"key", key}, {"context", file_->context}}.dump());
    }
}

Journal::~Journal() = default;

void Journal::write_line(const std::string& line) {
    const std::string text = line + "\n";
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t n = write(file_->descriptor, text.data() + written, text.size() - written);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(file_->path, "cannot be written");
        written += static_cast<std::size_t>(n);
    }
    // What was written outlives this process as it is; against a power cut it is enough, and far
    // cheaper than the points themselves, to reach the disk once a second.
    const auto now = std::chrono::steady_clock::now();
    if (now - file_->last_sync < std::chrono::seconds(1)) return;
    if (fdatasync(file_->descriptor) != 0) fail(file_->path, "cannot be made durable");
    file_->last_sync = now;
}

void Journal::append(const std::string& rows_json) {
    std::string lines;
    for (Json& row : Json::parse(rows_json)) {
        if (!lines.empty()) lines += '\n';
        lines += row.dump();
        file_->rows.push_back(std::move(row));
    }
    write_line(lines);
}

void Journal::finish() {
    // One row a line: short enough to read, to search and to compare line by line.
    std::string rows;
    for (const Json& row : file_->rows) rows += (rows.empty() ? "\n  " : ",\n  ") + row.dump();
    const std::string whole = fmt::format("{{\n \"context\": {},\n \"benchmarks\": [{}\n ]\n}}\n",
                                          file_->context.dump(2), rows);
    // Overwriting was allowed or refused before the measurement began.
    write_text_file(output_, whole, Overwrite::yes);
    std::filesystem::remove(file_->path);
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
#include "ask/code_cache.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "bench/cuda/driver/nvrtc.h"
#include "core/error.h"
#include "core/files/compile_commands.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "occupipe-code/1 ";
constexpr const char* suffix = ".code";

// The name in `#include "name"` or <name>; empty: it is another line. `quoted`: which of both.
// None: an #include of something else, such as a macro.
std::optional<std::string> included(std::string_view line, bool& quoted) {
    const auto skip = [&] {
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
            line.remove_prefix(1);
    };
    skip();
    if (!line.starts_with('#')) return "";
    line.remove_prefix(1);
    skip();
    if (!line.starts_with("include")) return "";
    line.remove_prefix(7);
    skip();
    if (line.empty()) return std::nullopt;
    quoted = line.front() == '"';
    if (!quoted && line.front() != '<') return std::nullopt;
    const std::size_t end = line.find(quoted ? '"' : '>', 1);
    if (end == line.npos) return std::nullopt;
    return std::string(line.substr(1, end - 1));
}

// Adds the content of files that the text includes, and those that they do. False: a file cannot
// be told. What <> names and no folder of the options has is the compiler's own.
class Includes {
public:
    explicit Includes(const std::vector<std::string>& options) {
        for (std::size_t i = 0; i < options.size(); ++i)
            for (const std::string_view word : {"-I", "--include-path="})
                if (options[i] == "-I" && i + 1 < options.size())
                    folders_.emplace_back(options[i + 1]);
                else if (options[i].starts_with(word) && options[i].size() > word.size())
                    folders_.emplace_back(options[i].substr(word.size()));
    }

    bool add(const fs::path& folder, std::string_view text, std::string& all) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size() - 1);
            bool quoted = false;
            const auto name = included(text.substr(0, end + 1), quoted);
            text.remove_prefix(end + 1);
            if (!name) return false;
            if (name->empty()) continue;
            const std::optional<fs::path> file = find(folder, *name, quoted);
            if (!file) {
                if (quoted) return false;
                continue;
            }
            if (!done_.insert(fs::weakly_canonical(*file).string()).second) continue;
            const std::string content = read_text_file(*file);
            all += fmt::format("\n{} {}\n", *name, content.size()) + content;
            if (!add(file->parent_path(), content, all)) return false;
        }
        return true;
    }

private:
    std::optional<fs::path> find(const fs::path& folder, const std::string& name,
                                 bool quoted) const {
        std::error_code none;
        if (quoted && fs::is_regular_file(folder / name, none)) return folder / name;
        for (const fs::path& one : folders_)
            if (fs::is_regular_file(one / name, none)) return one / name;
        return std::nullopt;
    }

    std::vector<fs::path> folders_;
    std::set<std::string> done_;
};

// "SIZE\nBYTES" of each part, one after the other.
void put(std::string& text, std::string_view part) {
    text += fmt::format("{}\n", part.size());
    text += part;
}

class Parts {
public:
    explicit Parts(std::string_view text) : text_(text) {}

    std::optional<std::string> next() {
        const std::size_t end = text_.find('\n');
        std::size_t size = 0;
        if (end == text_.npos) return std::nullopt;
        const auto [stop, fault] = std::from_chars(text_.data(), text_.data() + end, size);
        if (fault != std::errc() || stop != text_.data() + end || size > text_.size() - end - 1)
            return std::nullopt;
        std::string part(text_.substr(end + 1, size));
        text_.remove_prefix(end + 1 + size);
        return part;
    }
    bool at_end() const { return text_.empty(); }

private:
    std::string_view text_;
};

std::string packed(const CompiledSource& made) {
    std::string text;
    for (const std::string* one : {&made.output.ptx, &made.output.cubin, &made.output.log,
                                   &made.output.compiler, &made.note})
        put(text, *one);
    for (const auto& [name, lowered] : made.output.lowered) {
        put(text, name);
        put(text, lowered);
    }
    return text;
}

std::optional<CompiledSource> unpacked(std::string_view text) {
    Parts parts(text);
    CompiledSource made;
    for (std::string* one : {&made.output.ptx, &made.output.cubin, &made.output.log,
                             &made.output.compiler, &made.note})
        if (auto part = parts.next())
            *one = std::move(*part);
        else
            return std::nullopt;
    while (!parts.at_end()) {
        const auto name = parts.next(), lowered = parts.next();
        if (!name || !lowered) return std::nullopt;
        made.output.lowered[*name] = *lowered;
    }
    return made;
}

}  // namespace

fs::path code_cache_folder() {
    const auto variable = [](const char* name) -> std::string {
        const char* const value = std::getenv(name);
        return value == nullptr ? "" : value;
    };
    if (const std::string own = variable("OCCUPIPE_CACHE"); !own.empty())
        return own == "none" ? fs::path() : fs::path(own);
    if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty())
        return fs::path(caches) / "occupipe";
    if (const std::string home = variable("HOME"); !home.empty())
        return fs::path(home) / ".cache" / "occupipe";
    return {};
}

std::string code_key(const std::string& path, const std::string& text,
                     const std::string& architecture, const std::vector<std::string>& options,
                     const std::vector<std::string>& kernels, const CompileEffort& effort) {
    std::vector<std::string> all_options = options_of_project(path);
    all_options.insert(all_options.end(), options.begin(), options.end());
    std::string all;
    try {
        all = fmt::format("{} {}\n{}\n{}\n{}\n{} {}\n{}\n", bench::nvrtc().name(),
                          bench::nvrtc().path(), architecture, fmt::join(all_options, "\n"),
                          fmt::join(kernels, "\n"), effort.line_numbers, effort.other_kernels,
                          fs::path(path).filename().string());
    } catch (const DeviceError&) {
        return {};
    }
    all += text;
    if (!Includes(all_options).add(fs::path(path).parent_path(), text, all)) return {};
    const std::string hash = content_hash(all);
    return hash.substr(hash.find(':') + 1);
}

CodeCache::CodeCache(fs::path folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {
    std::error_code none;
    for (const fs::directory_entry& one : fs::directory_iterator(folder_, none))
        if (one.path().extension() == suffix) bytes_ += one.file_size(none);
}

fs::path CodeCache::file_of(const std::string& key) const { return folder_ / (key + suffix); }

std::optional<CompiledSource> CodeCache::find(const std::string& key) const {
    const fs::path file = file_of(key);
    std::error_code none;
    if (folder_.empty() || !fs::is_regular_file(file, none)) return std::nullopt;
    try {
        const std::string text = read_text_file(file);
        const std::size_t end = text.find('\n');
        if (!text.starts_with(first_line) || end == text.npos) return std::nullopt;
        const std::string_view content = std::string_view(text).substr(end + 1);
        if (text.substr(first_line.size(), end - first_line.size()) != content_hash(content))
            return std::nullopt;
        fs::last_write_time(file, fs::file_time_type::clock::now(), none);
        return unpacked(content);
    } catch (const InputError&) {  // removed meanwhile
        return std::nullopt;
    }
}

void CodeCache::keep(const std::string& key, const CompiledSource& made) {
    if (folder_.empty() || !made.output.compiler.starts_with("NVRTC")) return;
    const std::string content = packed(made);
    const std::string text = fmt::format("{}{}\n", first_line, content_hash(content)) + content;
    std::error_code none;
    fs::create_directories(folder_, none);
    try {
        write_text_file(file_of(key), text, Overwrite::yes);
    } catch (const std::runtime_error&) {  // no room, no right: it is compiled again
        return;
    }
    const std::scoped_lock lock(mutex_);
    bytes_ += text.size();
    if (bytes_ > most_bytes_) make_room();
}

// Down to three quarters, so that this is not done for each file.
void CodeCache::make_room() {
    std::error_code none;
    std::multimap<fs::file_time_type, std::pair<fs::path, std::uint64_t>> files;
    bytes_ = 0;
    for (const fs::directory_entry& one : fs::directory_iterator(folder_, none)) {
        if (one.path().extension() != suffix) continue;
        const std::uint64_t size = one.file_size(none);
        if (none) continue;
        files.emplace(one.last_write_time(none), std::pair(one.path(), size));
        bytes_ += size;
    }
    for (const auto& [time, file] : files) {
        if (bytes_ <= most_bytes_ / 4 * 3) break;
        fs::remove(file.first, none);
        bytes_ -= file.second;
    }
}

}  // namespace occupipe::analysis

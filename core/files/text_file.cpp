// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/partial_files.h"
#include "core/files/text_blocks.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace occupipe {
namespace {

namespace fs = std::filesystem;

std::string text_of(const XXH128_hash_t& hash) {
    return fmt::format("xxh128:{:016x}{:016x}", hash.high64, hash.low64);
}

std::string reason_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const fs::path& path, const char* action, int error) {
    throw std::runtime_error(
        fmt::format("{}: cannot {}: {}", path.string(), action, reason_of(error)));
}

class FileDescriptor {
public:
    explicit FileDescriptor(int number) : number_(number) {}
    ~FileDescriptor() { close(); }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;

    int number() const { return number_; }
    int close() {
        const int result = number_ >= 0 ? ::close(number_) : 0;
        number_ = -1;
        return result;
    }

private:
    int number_;
};

// A new file beside `target`, removed again unless it was renamed.
class PartialFile {
public:
    explicit PartialFile(const fs::path& target) {
        for (int attempt = 0;; ++attempt) {
            path_ = fmt::format("{}.{}-{}.partial", target.string(), ::getpid(), attempt);
            const int number = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (number >= 0) {
                ::close(number);
                return;
            }
            if (errno != EEXIST || attempt == 1000) {
                refuse(target, "write", errno);
            }
        }
    }
    ~PartialFile() {
        if (!path_.empty()) {
            ::unlink(path_.c_str());
        }
    }
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    void write(const fs::path& target, std::string_view text) const {
        FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
        if (file.number() < 0) {
            refuse(target, "write", errno);
        }
        while (!text.empty()) {
            const ssize_t written = ::write(file.number(), text.data(), text.size());
            if (written < 0 && errno != EINTR) {
                refuse(target, "write", errno);
            }
            if (written > 0) {
                text.remove_prefix(static_cast<std::size_t>(written));
            }
        }
        if (::fsync(file.number()) != 0 || file.close() != 0) {
            refuse(target, "write", errno);
        }
    }

    void rename_to(const fs::path& target, Overwrite overwrite) {
        if (overwrite == Overwrite::yes) {
            if (::rename(path_.c_str(), target.c_str()) != 0) {
                refuse(target, "write", errno);
            }
            path_.clear();
            return;
        }
        // link, unlike rename, never replaces a file that appeared in the meantime.
        if (::link(path_.c_str(), target.c_str()) == 0) {
            return;
        }
        if (errno == EEXIST) {
            throw InputError(target.string(), {}, {}, "exists already");
        }
        if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) != 0) {
            if (errno == EEXIST) {
                throw InputError(target.string(), {}, {}, "exists already");
            }
            refuse(target, "write", errno);
        }
        path_.clear();
    }

private:
    std::string path_;
};

// Makes the rename itself last through a power cut; a file system without that is not an error.
void sync_folder(const fs::path& target) {
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    const FileDescriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (handle.number() >= 0) {
        ::fsync(handle.number());
    }
}

}  // namespace

// A terminal or /dev/null ends; /dev/zero does not.
constexpr std::size_t most_of_a_device = std::size_t{64} << 20U;

struct TextBlocks::State {
    explicit State(const fs::path& name)
        : path(name),
          file(::open(name.c_str(), O_RDONLY | O_CLOEXEC)),
          block(std::size_t{1} << 16U, '\0') {
        if (file.number() < 0 || ::fstat(file.number(), &status) != 0) {
            throw InputError(path.string(), {}, {}, "cannot read: " + reason_of(errno));
        }
    }

    fs::path path;
    FileDescriptor file;
    struct stat status {};
    std::string block;
    std::size_t read = 0;
    std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash{XXH3_createState(),
                                                                  &XXH3_freeState};
};

TextBlocks::TextBlocks(const fs::path& path) : state_(std::make_unique<State>(path)) {
    XXH3_128bits_reset(state_->hash.get());
}

TextBlocks::~TextBlocks() = default;

bool TextBlocks::append(std::string& text) {
    State& s = *state_;
    for (;;) {
        const ssize_t got = ::read(s.file.number(), s.block.data(), s.block.size());
        if (got == 0) return false;
        if (got < 0 && errno != EINTR) {
            throw InputError(s.path.string(), {}, {}, "cannot read: " + reason_of(errno));
        }
        if (got < 0) continue;
        const auto size = static_cast<std::size_t>(got);
        text.append(s.block, 0, size);
        XXH3_128bits_update(s.hash.get(), s.block.data(), size);
        s.read += size;
        if (S_ISCHR(s.status.st_mode) && s.read > most_of_a_device) {
            throw InputError(s.path.string(), {}, {},
                             "is a device, and has not ended after 64 MiB");
        }
        return true;
    }
}

bool TextBlocks::is_regular_file() const { return S_ISREG(state_->status.st_mode); }

std::string TextBlocks::content_hash() const {
    return text_of(XXH3_128bits_digest(state_->hash.get()));
}

void remove_partial_files(const fs::path& target) {
    constexpr std::string_view suffix = ".partial";
    const std::string beginning = target.filename().string() + ".";
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(beginning) || !name.ends_with(suffix)) continue;
        if (name.size() <= beginning.size() + suffix.size()) continue;
        const std::string middle =
            name.substr(beginning.size(), name.size() - beginning.size() - suffix.size());
        if (middle.find('-') == std::string::npos) continue;
        if (middle.find_first_not_of("0123456789-") != std::string::npos) continue;
        fs::remove(entry.path(), ignored);
    }
}

std::string read_text_file(const fs::path& path) {
    TextBlocks blocks(path);
    std::string text;
    while (blocks.append(text)) {
    }
    return text;
}

void write_text_file(const fs::path& path, std::string_view text, Overwrite overwrite) {
    // A symbolic link keeps pointing where it points: what is replaced is the file behind it.
    std::error_code ignored;
    const fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path) : path;
    const fs::file_status status = fs::status(target, ignored);
    if (fs::exists(status)) {
        if (!fs::is_regular_file(status)) {
            throw InputError(path.string(), {}, {}, "is not a regular file");
        }
        if (overwrite == Overwrite::no) {
            throw InputError(path.string(), {}, {}, "exists already");
        }
    }
    PartialFile partial(target);
    partial.write(target, text);
    partial.rename_to(target, overwrite);
    sync_folder(target);
}

std::string content_hash(std::string_view text) {
    return text_of(XXH3_128bits(text.data(), text.size()));
}

}  // namespace occupipe

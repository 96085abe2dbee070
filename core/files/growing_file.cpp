// SPDX-License-Identifier: MIT
#include "core/files/growing_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace occupipe {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* action) {
    throw std::runtime_error(fmt::format("{}: cannot {}: {}", path.string(), action,
                                         std::generic_category().message(errno)));
}

}  // namespace

GrowingFile::GrowingFile(std::filesystem::path path, const std::string& writer)
    : path_(std::move(path)), number_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (number_ < 0) fail(path_, "write");
    if (::flock(number_, LOCK_EX | LOCK_NB) != 0) {
        ::close(number_);
        throw InputError(
            fmt::format("{}: another {} is writing this file", path_.string(), writer));
    }
    struct stat about = {};  // it may have been removed between the two calls, when that ended
    if (::fstat(number_, &about) != 0 || about.st_nlink == 0) {
        ::close(number_);
        throw InputError(
            fmt::format("{}: another {} has just written this file", path_.string(), writer));
    }
}

GrowingFile::~GrowingFile() { ::close(number_); }

std::int64_t GrowingFile::size() const {
    struct stat about = {};
    if (::fstat(number_, &about) != 0) fail(path_, "read");
    return about.st_size;
}

void GrowingFile::cut(std::int64_t size) const {
    if (::ftruncate(number_, size) != 0 || ::lseek(number_, size, SEEK_SET) < 0)
        fail(path_, "write");
}

void GrowingFile::append(std::string_view text) const {
    while (!text.empty()) {
        const ssize_t written = ::write(number_, text.data(), text.size());
        if (written < 0 && errno != EINTR) fail(path_, "write");
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void GrowingFile::sync() const {
    if (::fsync(number_) != 0) fail(path_, "write");
}

}  // namespace occupipe

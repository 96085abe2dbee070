// SPDX-License-Identifier: MIT
// A file that grows line by line and that one process at a time writes; what is in it survives that
// process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace occupipe {

class GrowingFile {
public:
    // Makes it where it is not there. `writer`: who writes such files, as messages call it
    // ("sweep"). Throws InputError while another process has it.
    GrowingFile(std::filesystem::path path, const std::string& writer);
    ~GrowingFile();
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;

    // All throw std::runtime_error where the system refuses.
    std::int64_t size() const;
    void cut(std::int64_t size) const;  // to its first bytes, behind which it grows
    void append(std::string_view text) const;
    void sync() const;

private:
    std::filesystem::path path_;
    int number_;
};

}  // namespace occupipe

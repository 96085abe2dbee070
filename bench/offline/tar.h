// SPDX-License-Identifier: MIT
// Plain files in a tar archive (POSIX ustar), as far as this program writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace occupipe::bench {

struct TarEntry {
    std::string name;  // without folders
    std::string_view content;
};

// Header, content and padding. `name`: at most 99 characters. No owner, no time: the same content
// makes the same bytes.
std::string tar_entry(const std::string& name, std::string_view content);
// Two empty blocks: the archive is complete.
std::string tar_end();

struct TarContents {
    std::vector<TarEntry> entries;  // views into the bytes that were read
    bool complete = false;          // the end was present
};

enum class TarEnd { required, may_be_missing };

// Throws InputError naming file and entry if it is not such an archive. may_be_missing: what was
// being written when a process died is left out instead.
TarContents read_tar(std::string_view bytes, const std::string& file_name, TarEnd end);

}  // namespace occupipe::bench

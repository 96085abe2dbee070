// SPDX-License-Identifier: MIT
// A file's text block by block, so that a reader need not hold all of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace occupipe {

class TextBlocks {
public:
    // Throws InputError where the file cannot be read; so does append().
    explicit TextBlocks(const std::filesystem::path& path);
    ~TextBlocks();
    TextBlocks(const TextBlocks&) = delete;
    TextBlocks& operator=(const TextBlocks&) = delete;

    // Appends the next block; false at the end.
    bool append(std::string& text);
    // Whether the same text can be read once more.
    bool is_regular_file() const;
    // content_hash() of all that was read.
    std::string content_hash() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace occupipe

// SPDX-License-Identifier: MIT
// Words and numbers of other tools' text output, with their places.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/exchange/imported.h"
#include "core/error.h"

namespace occupipe::analysis {

struct TextWord {
    std::string text;
    int column = 0;  // from 1
};

struct TextLine {
    int number = 0;  // from 1
    std::string text;
    std::vector<TextWord> words;  // apart by blanks
};

// Lines with at least one word. Throws InputError for what is not text.
std::vector<TextLine> text_lines(const InputText& file);

[[noreturn]] void fail_at(const InputText& file, const TextLine& line, const TextWord& word,
                          const std::string& key, const std::string& reason);

// A finite number of at least 0, and one above it.
double number_at(const InputText& file, const TextLine& line, const TextWord& word,
                 const std::string& key);
double positive_at(const InputText& file, const TextLine& line, const TextWord& word,
                   const std::string& key);

// A file's name as text: each byte of one that is none, or has control characters, that no text
// has is a '?'.
std::string text_of_name(const std::string& file_name);

// "mi210" of "results/mi210.txt"; the hint where there is one.
std::string device_name_of(const InputText& file, const DeviceHints& hints);

// What the caller has to say on the command line. Throws InputError with the option's name.
template <class T>
T needed(const std::optional<T>& hint, const InputText& file, const char* option, const char* why) {
    if (hint) return *hint;
    throw InputError(file.name, {}, option,
                     std::string("is needed: ") + why + ", and the file does not say it");
}

// Throws InputError that names the file.
void validate_imported(const GpuProfile& profile, const std::string& file);

}  // namespace occupipe::analysis

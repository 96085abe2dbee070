// SPDX-License-Identifier: MIT
// Words and numbers of other tools' text output, with their places.
#pragma once

#include <cstddef>
#include <optional>
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

// A finite number above 0 (at most 1e18); nullopt where the text is none.
std::optional<double> positive_number(std::string_view text);

// The same, refused with its place where it is none.
double positive_at(const InputText& file, const TextLine& line, const TextWord& word,
                   const std::string& key);

// Figures that could not be used, such as "inf", "nan", "failed" and 0: they leave themselves out.
class LeftOut {
public:
    explicit LeftOut(std::string file) : file_(std::move(file)) {}

    // A number above 0; where it is none it is left out.
    std::optional<double> figure(std::string_view text, SourcePosition where,
                                 const std::string& key);
    void add(SourcePosition where, const std::string& key, const std::string& reason);
    // "3 figures left out; the first: FILE:4:9: float8: 'failed' is not a number above 0".
    void tell(std::vector<std::string>& notes) const;
    // Throws the first, or `otherwise` where there is none, for a file of which nothing is left.
    [[noreturn]] void refuse(const InputError& otherwise) const;

private:
    std::string file_;
    std::optional<InputError> first_;
    std::size_t count_ = 0;
};

// Which of a file's devices is meant, from 0: the wanted one (from 1), else the only one. Of
// several without a wish it is the first where `first_of_several`, which is told; otherwise, and
// where there is none of that number, throws InputError naming what there is.
std::size_t chosen_device(const InputText& file, const std::vector<std::string>& names,
                          std::optional<int> wanted, bool first_of_several,
                          std::vector<std::string>& notes);

// Lines that begin with a number, as a table's do; others, in which programs say what they run on,
// are passed over.
std::vector<TextLine> numbered_lines(const std::vector<TextLine>& lines);

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

// SPDX-License-Identifier: MIT
#include "fit/import/gpu_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "fit/profile/fit_report.h"

namespace occupipe {
namespace {

constexpr double blocks_per_core = 2;  // the benchmark's own setting

struct Word {
    std::string text;
    int column = 0;
};

std::vector<Word> words_of(const std::string& line) {
    std::vector<Word> out;
    std::size_t at = 0;
    while ((at = line.find_first_not_of(" \t\r|", at)) != std::string::npos) {
        const std::size_t end = std::min(line.find_first_of(" \t\r|", at), line.size());
        out.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
        at = end;
    }
    return out;
}

class Reader {
public:
    Reader(const std::string& file_name, int warp_size)
        : file_name_(file_name), warp_size_(warp_size) {}

    std::vector<GpuStreamKernel> read(const std::string& text) {
        std::istringstream in(text);
        std::string line;
        while (std::getline(in, line)) {
            ++line_;
            const std::vector<Word> words = words_of(line);
            if (words.empty()) continue;
            if (words.front().text == "blockSize") {
                header(words);
            } else {
                row(words);
            }
        }
        if (kernels_.empty())
            fail(1, "no line starts with 'blockSize'; this is not a gpu-stream result");
        if (kernels_.front().points.empty()) fail(1, "contains no measurements");
        return std::move(kernels_);
    }

private:
    [[noreturn]] void fail(int column, const std::string& reason) const {
        throw InputError(file_name_, {line_, column}, "", reason);
    }

    // blockSize threads %occ | KERNEL…
    void header(const std::vector<Word>& words) {
        if (!kernels_.empty()) fail(words.front().column, "a second header line");
        bool names = false;
        for (const Word& word : words) {
            if (names) kernels_.push_back({word.text, {}});
            names |= word.text == "%occ";
        }
        if (kernels_.empty()) fail(words.back().column, "the header names no kernel after '%occ'");
    }

    double number(const Word& word) const {
        double value = 0;
        const char* const end = word.text.data() + word.text.size();
        const auto [stop, fault] = std::from_chars(word.text.data(), end, value);
        if (fault != std::errc{} || stop != end || !std::isfinite(value) || value <= 0)
            fail(word.column, fmt::format("'{}' is not a positive number", word.text));
        return value;
    }

    // 32 3456 3 % | GB/s: VALUE…
    void row(const std::vector<Word>& words) {
        if (kernels_.empty())
            fail(words.front().column, "a row before the header line 'blockSize …'");
        const double threads = number(words.front());
        std::size_t at = 0;
        while (at < words.size() && words[at].text != "GB/s:") ++at;
        if (words.size() - at != kernels_.size() + 1)
            fail(
                words.back().column,
                fmt::format("{} values after 'GB/s:' are needed, one per kernel", kernels_.size()));
        // A warp that is half empty moves half the bytes, and counts as half.
        const double warps = blocks_per_core * threads / warp_size_;
        for (std::size_t i = 0; i < kernels_.size(); ++i)
            kernels_[i].points.push_back({warps, number(words[at + 1 + i])});
    }

    const std::string& file_name_;
    int warp_size_;
    int line_ = 0;
    std::vector<GpuStreamKernel> kernels_;
};

}  // namespace

std::vector<GpuStreamKernel> parse_gpu_stream(const std::string& text, const std::string& file_name,
                                              int warp_size) {
    return Reader(file_name, warp_size).read(text);
}

int gpu_stream_warp_size(const std::string& file_name) {
    const std::string name = std::filesystem::path(file_name).stem().string();
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    const bool instinct = name.size() > 2 && lower(name[0]) == 'm' && lower(name[1]) == 'i' &&
                          std::isdigit(static_cast<unsigned char>(name[2])) != 0;
    return instinct ? 64 : 32;
}

std::string format_contention_table(const std::vector<GpuStreamKernel>& kernels) {
    std::string out = fmt::format("{:<10} {:<18} {:<18} {:<18} {:>7}  {}\n", "kernel", "B [GB/s]",
                                  "Λ0·B [warps]", "h·B", "error", "law");
    for (const GpuStreamKernel& kernel : kernels) {
        const ContentionFit fit = fit_contention(kernel.points);
        if (!fit.ok()) {
            out += fmt::format("{:<10} not fitted: {}\n", kernel.name, fit.reason);
            continue;
        }
        const ContentionLawFit& law = fit.chosen();
        out += fmt::format("{:<10} {:<18} {:<18} {:<18} {:>6.2f}%  {}\n", kernel.name,
                           format_estimate(law.saturated), format_estimate(law.unloaded),
                           format_estimate(law.growth), 100 * law.mean_relative_error,
                           to_string(fit.best));
    }
    return out;
}

}  // namespace occupipe

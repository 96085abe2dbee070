// SPDX-License-Identifier: MIT
#include "analysis/measured/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <regex>
#include <set>

#include "analysis/measured/fit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "fit/profile/device_facts.h"

namespace occupipe::analysis {
namespace {

constexpr double equal_within = 1e-6;
constexpr std::size_t shown_differences = 10;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::size_t indent_of(const std::string& line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

// The keys above a line and its own, "instructions.fma.f32.cpi".
std::string path_of(const std::vector<std::string>& lines, std::size_t number) {
    std::string path;
    std::size_t indent = indent_of(lines[number]) + 1;
    for (std::size_t i = number + 1; i-- > 0 && indent > 0;) {
        if (indent_of(lines[i]) >= indent || lines[i].empty()) continue;
        indent = indent_of(lines[i]);
        const std::size_t colon = lines[i].find(": ");
        const std::size_t end =
            colon == std::string::npos && lines[i].ends_with(':') ? lines[i].size() - 1 : colon;
        if (end == std::string::npos) continue;  // an item of a list
        const std::string key = lines[i].substr(indent, end - indent);
        if (!path.empty()) path.insert(0, ".");
        path.insert(0, key);
    }
    return path;
}

// Of what fit and measure are called, which may be newer than the raw files.
bool names_a_version(const std::string& path) {
    return path == "provenance.tool" || path == "provenance.measured_with";
}

struct Number {
    double value = 0;
    std::size_t length = 0;
};

std::optional<Number> number_at(const std::string& text, std::size_t at) {
    if (at > 0 &&
        (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '.'))
        return std::nullopt;
    Number number;
    const char* const begin = text.data() + at;
    const auto [end, fault] = std::from_chars(begin, text.data() + text.size(), number.value);
    if (fault != std::errc()) return std::nullopt;
    number.length = static_cast<std::size_t>(end - begin);
    return number;
}

bool same_line(const std::string& a, const std::string& b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        const auto left = number_at(a, i);
        const auto right = number_at(b, j);
        if (left && right) {
            const double scale = std::max(std::abs(left->value), std::abs(right->value));
            if (std::abs(left->value - right->value) > equal_within * scale) return false;
            i += left->length;
            j += right->length;
        } else {
            if (a[i++] != b[j++]) return false;
        }
    }
    return i == a.size() && j == b.size();
}

std::string shown(const std::string& line) {
    const std::string text = line.substr(indent_of(line));
    return text.size() > 100 ? text.substr(0, 97) + "…" : text;
}

void check_sources(const GpuProfile& profile, const std::string& path,
                   std::vector<std::string>& faults) {
    for (const InstructionTiming& timing : profile.instructions)
        if (timing.source != Source::measured)
            faults.push_back(fmt::format(
                "{}: instructions.{}.source: {}, where a submitted profile has measured numbers",
                path, timing.name, to_string(timing.source)));
}

// What later readers need to judge the numbers by.
void check_provenance(const MeasurementFile& file, std::vector<std::string>& faults) {
    for (const char* key : {"date", "driver", "clock_source", "occupipe_version"})
        if (const auto found = file.context.find(key);
            found == file.context.end() || found->second.empty())
            faults.push_back(fmt::format("{}: context.{}: missing", file.path, key));
}

// NVIDIA's machine code can be examined: each instruction's loop was, and its receipt says how.
void check_receipts(const GpuProfile& profile, const Submission& submission,
                    std::vector<std::string>& faults) {
    std::set<std::string> examined;
    for (const SubmittedFile& receipt : submission.receipts)
        examined.insert(receipt.text.substr(0, receipt.text.find(' ')));
    std::vector<std::string> missing;
    for (const InstructionTiming& timing : profile.instructions)
        if (!examined.contains(timing.name)) missing.push_back(timing.name);
    if (missing.empty()) return;
    const std::size_t count = std::min<std::size_t>(missing.size(), shown_differences);
    faults.push_back(fmt::format(
        "{}: no receipt of {}{} ('occupipe measure --receipts FOLDER' writes them; give them with "
        "--receipts FOLDER)",
        submission.profile.path, fmt::join(missing.begin(), missing.begin() + count, ", "),
        missing.size() > count ? fmt::format(" and {} more", missing.size() - count) : ""));
}

}  // namespace

std::vector<std::string> personal_facts(const SubmittedFile& file) {
    struct Kind {
        const char* what;
        std::regex words;
    };
    const auto flags = std::regex::icase | std::regex::optimize;
    static const std::array kinds = {
        Kind{"a UUID",
             std::regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", flags)},
        Kind{"a serial number",
             std::regex("serial[_ ]?(number|no\\.?)?\"? ?[:=] ?\"?[0-9a-z]{0,12}[0-9]", flags)},
        Kind{"a host name", std::regex("host_?name\"? ?: ?\"?[^ \",]", flags)},
        Kind{"a user's folder", std::regex("(/home/|/Users/|\\\\Users\\\\)[a-z0-9_.-]", flags)},
        Kind{"a hardware address",
             std::regex("(^|[^0-9a-f:])([0-9a-f]{2}:){5}[0-9a-f]{2}($|[^0-9a-f:])", flags)}};
    std::vector<std::string> found;
    const std::vector<std::string> lines = lines_of(file.text);
    for (const Kind& kind : kinds)
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (std::regex_search(lines[i], kind.words)) {
                found.push_back(fmt::format("{}:{}: holds {}", file.path, i + 1, kind.what));
                break;
            }
    return found;
}

std::vector<std::string> profile_differences(const std::string& submitted,
                                             const std::string& fitted) {
    const std::vector<std::string> here = lines_of(submitted);
    const std::vector<std::string> again = lines_of(fitted);
    std::vector<std::string> differences;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < here.size() || j < again.size()) {
        if (i < here.size() && j < again.size() && same_line(here[i], again[j])) {
            ++i, ++j;
            continue;
        }
        const std::string left = i < here.size() ? path_of(here, i) : "";
        const std::string right = j < again.size() ? path_of(again, j) : "";
        if (left == right) {
            if (!names_a_version(left))
                differences.push_back(fmt::format("{}: '{}' here, '{}' fitted again", left,
                                                  shown(here[i]), shown(again[j])));
            ++i, ++j;
            continue;
        }
        // One side has lines that the other lacks: go on where both have the same key again.
        const auto later = [](const std::vector<std::string>& lines, std::size_t from,
                              const std::string& path) {
            for (std::size_t k = from; k < lines.size(); ++k)
                if (path_of(lines, k) == path) return true;
            return false;
        };
        if (i < here.size() && (j == again.size() || !later(again, j, left))) {
            differences.push_back(fmt::format("{}: is not in what is fitted again", left));
            ++i;
        } else {
            differences.push_back(fmt::format("{}: is missing here", right));
            ++j;
        }
    }
    return differences;
}

std::vector<std::string> submission_faults(const Submission& submission) {
    std::vector<std::string> faults;
    const auto look = [&](const SubmittedFile& file) {
        for (std::string& found : personal_facts(file)) faults.push_back(std::move(found));
    };
    look(submission.profile);
    std::ranges::for_each(submission.measurements, look);
    std::ranges::for_each(submission.receipts, look);

    const std::string& path = submission.profile.path;
    const GpuProfile profile = parse_profile(submission.profile.text, path);
    if (submission.measurements.empty()) {
        faults.push_back(path + ": give the measurement files that it was fitted from, too");
        return faults;
    }
    check_sources(profile, path, faults);
    std::vector<MeasurementFile> files;
    for (const SubmittedFile& raw : submission.measurements) {
        files.push_back(parse_measurements(raw.text, raw.path));
        check_provenance(files.back(), faults);
    }
    const DeviceFacts facts = device_facts(files);
    if (facts.is_model())
        faults.push_back(
            fmt::format("{}: is of a simulated device, not of hardware", files.front().path));
    if (facts.backend == "cuda") check_receipts(profile, submission, faults);
    const FitOutcome outcome = fit(files);
    const std::vector<std::string> differences =
        profile_differences(format_profile(profile), format_profile(outcome.profile));
    for (std::size_t i = 0; i < std::min(differences.size(), shown_differences); ++i)
        faults.push_back(fmt::format("{}: {}", path, differences[i]));
    if (differences.size() > shown_differences)
        faults.push_back(fmt::format("{}: {} more lines are not what is fitted again", path,
                                     differences.size() - shown_differences));
    return faults;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "analysis/explanation/kernel_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "analysis/explanation/line_intervals.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/text.h"
#include "sim/models/model.h"

namespace occupipe::analysis {
namespace {

constexpr std::size_t most_compared_lines = 4000;

std::string without_blanks(const std::string& line) {
    std::string text;
    for (const char c : line)
        if (std::isspace(static_cast<unsigned char>(c)) == 0) text += c;
    return text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

// What a line of a version is in the other: its number there, from 1; 0: it is not there.
struct Matches {
    std::map<int, std::pair<int, LineFate>> of_before;  // number → number of after
    std::map<int, int> of_after;                        // number → number of before
};

void match(Matches& matches, std::size_t before, std::size_t after, LineFate fate) {
    matches.of_before[static_cast<int>(before) + 1] = {static_cast<int>(after) + 1, fate};
    matches.of_after[static_cast<int>(after) + 1] = static_cast<int>(before) + 1;
}

// Between equal lines, as many lines as there were before are taken for changed ones.
Matches matched(const std::vector<std::string>& before, const std::vector<std::string>& after) {
    Matches matches;
    std::size_t b = 0, a = 0;
    auto pairs = equal_lines(before, after);
    pairs.emplace_back(before.size(), after.size());
    for (const auto& [next_b, next_a] : pairs) {
        if (next_b - b == next_a - a)
            for (std::size_t i = 0; b + i < next_b; ++i)
                match(matches, b + i, a + i, LineFate::changed);
        if (next_b < before.size()) match(matches, next_b, next_a, LineFate::same);
        b = next_b + 1;
        a = next_a + 1;
    }
    return matches;
}

// Files of the two versions that are one: of the same name, or the only ones.
std::map<std::string, std::string> paired_files(const Annotation& before, const Annotation& after) {
    std::set<std::string> first, second;
    for (const AnnotatedLine& line : before.lines)
        if (line.number > 0) first.insert(line.file);
    for (const AnnotatedLine& line : after.lines)
        if (line.number > 0) second.insert(line.file);
    std::map<std::string, std::string> pairs;
    for (const std::string& file : first)
        if (second.contains(file)) pairs[file] = file;
    for (const auto& [file, same] : pairs) {
        first.erase(file);
        second.erase(file);
    }
    if (first.size() == 1 && second.size() == 1) pairs[*first.begin()] = *second.begin();
    return pairs;
}

// Cycles of the prediction that a warp's cycles stand for.
double predicted(const Annotation& annotation, double cycles_per_warp) {
    return annotation.share(cycles_per_warp) * annotation.cycles;
}

std::string name_of(const AnnotatedLine& line) {
    return fmt::format("{}:{}", line.file, line.number);
}

using Side = double BeforeAfter::*;

class Comparer {
public:
    Comparer(const ComparedKernel& before, const ComparedKernel& after, KernelComparison& result)
        : before_(texts_of(before)),
          after_(texts_of(after)),
          before_at_(places_of(result.before)),
          after_at_(places_of(result.after)),
          result_(result) {}

    void run() {
        sum_up(result_.before, &BeforeAfter::before);
        sum_up(result_.after, &BeforeAfter::after);
        match_files();
        const std::vector<AnnotatedLine>& lines = result_.after.lines;
        for (std::size_t i = 0, next = 0; i < lines.size(); ++i) {
            // Between lines that both have, what is gone stands before what is new.
            next = std::max(next, i);
            while (next + 1 < lines.size() && lines[next].file == lines[next + 1].file &&
                   !stands_in_both(lines[next]))
                ++next;
            add_removed_until(lines[next]);
            add_after(lines[i]);
        }
        for (const AnnotatedLine& line : result_.before.lines) add_removed(line);
        add_rest();
    }

private:
    using Texts = std::map<std::string, std::vector<std::string>>;  // lines, by file
    using Places = std::map<std::pair<std::string, int>, const AnnotatedLine*>;

    static Texts texts_of(const ComparedKernel& side) {
        Texts texts;
        for (const auto& [file, text] : side.sources) texts[file] = lines_of(text);
        return texts;
    }
    static Places places_of(const Annotation& annotation) {
        Places places;
        for (const AnnotatedLine& line : annotation.lines)
            places.try_emplace({line.file, line.number}, &line);
        return places;
    }

    void sum_up(const Annotation& annotation, Side side) {
        for (const AnnotatedInstruction& one : annotation.instructions) {
            result_.instructions[one.op].*side += one.spent.executions;
            for (const auto& [reason, cycles] : one.spent.waits)
                result_.reasons[reason].*side += predicted(annotation, cycles);
        }
        for (const auto& [reason, cycles] : annotation.rest)
            result_.reasons[reason].*side += predicted(annotation, cycles);
    }

    void match_files() {
        for (const auto& [first, second] : paired_files(result_.before, result_.after)) {
            after_name_[first] = second;
            before_name_[second] = first;
            const auto old_text = before_.find(first);
            const auto new_text = after_.find(second);
            if (old_text == before_.end() || new_text == after_.end()) {
                result_.notes.push_back(fmt::format(
                    "the text of {} is not at hand for both versions: its lines are matched by "
                    "their number alone",
                    second));
                by_number_.insert(first);
                continue;
            }
            matches_[first] = matched(old_text->second, new_text->second);
        }
    }

    // The other version's line, and how it stands there; number 0: it is not there.
    std::pair<int, LineFate> of_before(const std::string& file, int number) const {
        if (by_number_.contains(file)) return {number, LineFate::same};
        const auto found = matches_.find(file);
        if (found == matches_.end() || !found->second.of_before.contains(number))
            return {0, LineFate::removed};
        return found->second.of_before.at(number);
    }

    static const AnnotatedLine* find(const Places& places, const std::string& file, int number) {
        const auto found = places.find({file, number});
        return found == places.end() ? nullptr : found->second;
    }

    static void fill(LineChange& change, const Annotation& annotation, const AnnotatedLine& line,
                     Side side) {
        change.executions.*side += line.spent.executions;
        change.cycles.*side += predicted(annotation, line.spent.cycles());
        (side == &BeforeAfter::before ? change.before_reason : change.after_reason) =
            line.spent.main_reason();
    }

    static std::string text(const Texts& side, const std::string& file, int number) {
        const auto found = side.find(file);
        const auto index = static_cast<std::size_t>(number) - 1;
        if (found == side.end() || index >= found->second.size()) return {};
        return std::string(trimmed(found->second[index]));
    }

    void add_after(const AnnotatedLine& line) {
        LineChange change;
        change.fate = line.number == 0 ? LineFate::unknown : LineFate::added;
        if (line.number > 0) {
            change.after = name_of(line);
            change.text = text(after_, line.file, line.number);
        }
        fill(change, result_.after, line, &BeforeAfter::after);
        if (const auto old = earlier(line)) {
            const auto& [file, number, fate] = *old;
            change.fate = fate;
            if (number > 0) change.before = fmt::format("{}:{}", file, number);
            if (const AnnotatedLine* there = find(before_at_, file, number)) {
                fill(change, result_.before, *there, &BeforeAfter::before);
                done_.insert({file, number});
            }
        }
        result_.lines.push_back(std::move(change));
    }

    struct Place {
        std::string file;
        int number = 0;
        LineFate fate = LineFate::same;
    };
    std::optional<Place> earlier(const AnnotatedLine& line) const {
        if (line.number == 0) return Place{"", 0, LineFate::unknown};
        const auto file = before_name_.find(line.file);
        if (file == before_name_.end()) return std::nullopt;
        if (by_number_.contains(file->second))
            return Place{file->second, line.number, LineFate::same};
        const auto matches = matches_.find(file->second);
        const auto found = matches->second.of_after.find(line.number);
        if (found == matches->second.of_after.end()) return std::nullopt;
        return Place{file->second, found->second,
                     matches->second.of_before.at(found->second).second};
    }

    bool stands_in_both(const AnnotatedLine& line) const {
        const auto old = earlier(line);
        return old && old->number > 0;
    }

    // Lines of the version before that are not in the later one, where they stood.
    void add_removed_until(const AnnotatedLine& line) {
        const auto old = earlier(line);
        if (!old || old->number == 0) return;
        for (const AnnotatedLine& one : result_.before.lines)
            if (one.file == old->file && one.number < old->number &&
                !done_.contains({one.file, one.number}) && !executed_later(one))
                add_removed(one);
    }

    // Whether a line of the later version stands for it, to which it will be added.
    bool executed_later(const AnnotatedLine& line) const {
        const auto [number, fate] = of_before(line.file, line.number);
        const auto file = after_name_.find(line.file);
        return number > 0 && file != after_name_.end() &&
               find(after_at_, file->second, number) != nullptr;
    }

    void add_removed(const AnnotatedLine& line) {
        if (!done_.insert({line.file, line.number}).second) return;
        LineChange change;
        change.fate = line.number == 0 ? LineFate::unknown : LineFate::removed;
        fill(change, result_.before, line, &BeforeAfter::before);
        if (line.number > 0) {
            change.before = name_of(line);
            change.text = text(before_, line.file, line.number);
            // It may still be there, and execute nothing.
            const auto [number, fate] = of_before(line.file, line.number);
            if (number > 0 && after_name_.contains(line.file)) {
                change.fate = fate;
                change.after = fmt::format("{}:{}", after_name_.at(line.file), number);
                if (const std::string now = text(after_, after_name_.at(line.file), number);
                    !now.empty())
                    change.text = now;
            }
        }
        result_.lines.push_back(std::move(change));
    }

    void add_rest() {
        LineChange change;
        change.fate = LineFate::unknown;
        change.text = "(no instruction waits: last results, rest of the group, no group left)";
        for (const auto& [reason, cycles] : result_.before.rest)
            change.cycles.before += predicted(result_.before, cycles);
        for (const auto& [reason, cycles] : result_.after.rest)
            change.cycles.after += predicted(result_.after, cycles);
        result_.lines.push_back(std::move(change));
    }

    Texts before_, after_;
    Places before_at_, after_at_;
    KernelComparison& result_;
    std::map<std::string, std::string> after_name_, before_name_;  // of files that are one
    std::map<std::string, Matches> matches_;                       // by file of the version before
    std::set<std::string> by_number_;                              // files of the version before
    std::set<std::pair<std::string, int>> done_;                   // lines of the version before
};

void annotate_both(KernelComparison& result, const GpuProfile& profile,
                   const ComparedKernel& before, const ComparedKernel& after,
                   const SimulationOptions& options, const Prepare& prepare) {
    const auto annotated = [&](const ComparedKernel& side) {
        if (!prepare) return annotate(profile, side.kernel, side.launch, options);
        const PreparedKernel ready = prepare(side.kernel, profile);
        return annotate(ready.profile, ready.kernel, side.launch, options);
    };
    result.before = annotated(before);
    result.after = annotated(after);
}

// Each drawn profile annotates both, and their lines are set beside each other as those of the
// comparison are: the order of lines depends on the kernels alone.
void add_line_intervals(KernelComparison& result, const GpuProfile& profile,
                        const ComparedKernel& before, const ComparedKernel& after,
                        const SimulationOptions& options, int draws, std::uint64_t seed,
                        const Prepare& prepare) {
    constexpr int most = 100;  // each simulates both without skipping what repeats
    const int many =
        std::min({most, draws_by_line(result.before, draws), draws_by_line(result.after, draws)});
    if (many == 0) {
        result.notes.emplace_back(
            "lines have no intervals: one simulation executes too many instructions for 20 of them "
            "or more");
        return;
    }
    std::vector<std::vector<double>> drawn(result.lines.size(), std::vector<double>(many));
    parallel_for(static_cast<std::size_t>(many), [&](std::size_t i) {
        KernelComparison one;
        annotate_both(one, drawn_profile(profile, seed, i), before, after, options, prepare);
        Comparer(before, after, one).run();
        for (std::size_t at = 0; at < drawn.size(); ++at)
            drawn[at][i] = one.lines.at(at).cycles.difference();
    });
    for (std::size_t at = 0; at < drawn.size(); ++at) {
        // The profile itself is a draw, too: so few may leave it outside.
        const double own = result.lines[at].cycles.difference();
        Interval& interval = result.lines[at].difference.emplace(interval_of(std::move(drawn[at])));
        interval.low = std::min(interval.low, own);
        interval.high = std::max(interval.high, own);
    }
    result.line_draws = many;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> equal_lines(
    const std::vector<std::string>& before, const std::vector<std::string>& after) {
    std::vector<std::string> old_lines, new_lines;
    for (const std::string& line : before) old_lines.push_back(without_blanks(line));
    for (const std::string& line : after) new_lines.push_back(without_blanks(line));
    std::size_t begin = 0;
    const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
    while (begin < shorter && old_lines[begin] == new_lines[begin]) ++begin;
    std::size_t end = 0;  // lines that both end with
    while (end < shorter - begin &&
           old_lines[old_lines.size() - 1 - end] == new_lines[new_lines.size() - 1 - end])
        ++end;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0; i < begin; ++i) pairs.emplace_back(i, i);
    const std::size_t rows = old_lines.size() - begin - end;
    const std::size_t columns = new_lines.size() - begin - end;
    if (rows > 0 && columns > 0 && rows <= most_compared_lines && columns <= most_compared_lines) {
        // Longest common subsequence, from the end.
        std::vector<std::uint16_t> longest((rows + 1) * (columns + 1), 0);
        const auto at = [&](std::size_t i, std::size_t j) -> std::uint16_t& {
            return longest[i * (columns + 1) + j];
        };
        const auto equal = [&](std::size_t i, std::size_t j) {
            return old_lines[begin + i] == new_lines[begin + j];
        };
        for (std::size_t i = rows; i-- > 0;)
            for (std::size_t j = columns; j-- > 0;)
                at(i, j) = equal(i, j) ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1)
                                       : std::max(at(i + 1, j), at(i, j + 1));
        for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
            if (equal(i, j))
                pairs.emplace_back(begin + i++, begin + j++);
            else if (at(i + 1, j) >= at(i, j + 1))
                ++i;
            else
                ++j;
        }
    }
    for (std::size_t i = end; i-- > 0;)
        pairs.emplace_back(old_lines.size() - 1 - i, new_lines.size() - 1 - i);
    return pairs;
}

KernelComparison compare_kernels(const GpuProfile& profile, const ComparedKernel& before,
                                 const ComparedKernel& after, const SimulationOptions& options,
                                 int draws, std::uint64_t seed, const Prepare& prepare) {
    KernelComparison result;
    result.before_file = before.file;
    result.after_file = after.file;
    annotate_both(result, profile, before, after, options, prepare);
    result.cycles = {result.before.cycles, result.after.cycles};
    const GpuProfile used = prepare ? prepare(before.kernel, profile).profile : profile;
    const GpuFacts gpu = facts_of(used);
    result.seconds = {kernel_seconds(gpu, result.cycles.before, before.launch.groups),
                      kernel_seconds(gpu, result.cycles.after, after.launch.groups)};
    for (const Annotation* side : {&result.before, &result.after})
        if (!side->has_lines())
            result.notes.push_back(
                fmt::format("no instruction of {} says which source line it comes from (`at`)",
                            side == &result.before ? before.file : after.file));
    Comparer(before, after, result).run();
    if (draws == 0) return result;
    try {
        result.uncertainty =
            difference_uncertainty(profile, before.kernel, before.launch, after.kernel,
                                   after.launch, options, draws, seed, prepare);
    } catch (const InputError& error) {
        result.no_uncertainty = error.what();
        return result;
    }
    add_line_intervals(result, profile, before, after, options, draws, seed, prepare);
    return result;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "analysis/tuning/measured_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/profilers/profiler_csv.h"
#include "core/buffer_fill.h"
#include "core/files/csv.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"
#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

struct TimeUnit {
    std::string_view name;
    double seconds;
};
// With the spelling of T4's own files.
constexpr TimeUnit units[] = {{"s", 1},
                              {"seconds", 1},
                              {"ms", 1e-3},
                              {"milliseconds", 1e-3},
                              {"miliseconds", 1e-3},
                              {"us", 1e-6},
                              {"microseconds", 1e-6},
                              {"ns", 1e-9},
                              {"nanoseconds", 1e-9}};

// Upper case or lower; nullptr: none has this name.
const TimeUnit* find_unit(std::string name) {
    for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const auto* const known = std::ranges::find(units, name, &TimeUnit::name);
    return known == std::end(units) ? nullptr : known;
}

// Kernel Tuner closes the brackets of its cache at the end of a run that comes to one.
std::string closed(std::string text) {
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    if (last == text.npos || text[last] != ',') return text;
    return text.substr(0, last) + "}}";
}

// Python writes NaN, Infinity and -Infinity, which JSON has not: null, outside of strings.
std::string without_nan(const std::string& text) {
    std::string left;
    left.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        if (text[at] == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
            at = std::min(at + 1, text.size());
            left.append(text, begin, at - begin);
            continue;
        }
        constexpr std::string_view words[] = {"NaN", "Infinity", "-Infinity"};
        const auto* const word = std::ranges::find_if(
            words, [&](std::string_view one) { return text.compare(at, one.size(), one) == 0; });
        at += word == std::end(words) ? 1 : word->size();
        left += word == std::end(words) ? text.substr(begin, 1) : "null";
    }
    return left;
}

class Reader {
public:
    explicit Reader(const Document& document) : document_(document) {
        found_.file = document.file_name();
    }

    MeasuredRuns run() {
        const DocumentNode& root = document_.root();
        if (const DocumentNode* const cache = Document::find(root, "cache"))
            kernel_tuner(root, *cache);
        else if (const DocumentNode* const results = Document::find(root, "results"))
            t4(root, *results);
        else if (const DocumentNode* const all = Document::find(root, "Results"))
            ktt(root, *all);
        else
            document_.fail(root,
                           "must be a T4 file ('results'), a Kernel Tuner cache ('cache') or "
                           "KTT's results ('Results')");
        if (found_.runs.empty()) document_.fail(root, "has no result");
        return std::move(found_);
    }

private:
    double unit(const DocumentNode* node, std::string_view usual) const {
        const TimeUnit* const known = find_unit(node ? document_.text(*node) : std::string(usual));
        if (known == nullptr)
            document_.fail(node ? *node : document_.root(),
                           "must be one of s, ms, us, ns, seconds, milliseconds, microseconds, "
                           "nanoseconds");
        return known->seconds;
    }

    Value value(const DocumentNode& node) const {
        if (node.kind == DocumentNode::Kind::sequence) {
            Value::List list;
            for (const DocumentNode& one : node.children) list.push_back(value(one));
            return list;
        }
        return value_of(document_.text(node));
    }

    void set_median(MeasuredRun& run, const std::vector<const DocumentNode*>& times,
                    double unit) const {
        std::vector<double> seconds;
        for (const DocumentNode* const one : times) {
            const double time = document_.number(*one);
            if (time <= 0) document_.fail(*one, "must be above 0");
            seconds.push_back(time * unit);
        }
        if (!seconds.empty()) run.seconds = median(std::move(seconds));
    }

    // {"device_name", "cache": {"16,1": {"block_size_x": 16, "time": 3.8, "times": […]}}}; "time"
    // is a word where it failed.
    void kernel_tuner(const DocumentNode& root, const DocumentNode& cache) {
        found_.format = "Kernel Tuner";
        if (const DocumentNode* const device = Document::find(root, "device_name"))
            found_.device = document_.text(*device);
        if (const DocumentNode* const size = Document::find(root, "problem_size");
            size && size->kind != DocumentNode::Kind::map &&
            size->kind != DocumentNode::Kind::null) {
            const Value one = value(*size);
            const auto* const several = std::get_if<Value::List>(&one.of);
            found_.problem_size = several ? *several : Value::List{one};
        }
        std::vector<std::string> names;
        for (const DocumentNode& one :
             document_.items(document_.required(root, "tune_params_keys")))
            names.push_back(document_.text(one));
        const double milliseconds = unit(nullptr, "ms");
        for (const DocumentNode& entry : document_.entries(cache)) {
            MeasuredRun run;
            for (const std::string& name : names)
                run.configuration[name] = value(document_.required(entry, name));
            const DocumentNode& time = document_.required(entry, "time");
            const DocumentNode* const times = Document::find(entry, "times");
            constexpr double failed = 1e20;  // as versions before 1.0 wrote it
            if (time.kind == DocumentNode::Kind::null)
                run.failure = "no time";
            else if (std::holds_alternative<std::string>(value_of(document_.text(time)).of) ||
                     document_.number(time) >= failed)
                run.failure = time.text;
            else if (times && !times->children.empty())
                set_median(run, pointers(document_.items(*times)), milliseconds);
            else
                set_median(run, {&time}, milliseconds);
            found_.runs.push_back(std::move(run));
        }
    }

    // Of the first time among the results' measurements that is their objective, else of the first
    // that is none of compiling; nullptr: none says it.
    static const DocumentNode* unit_of_measurements(const DocumentNode& results) {
        const DocumentNode* other = nullptr;
        for (const DocumentNode& result : results.children) {
            const DocumentNode* const all = Document::find(result, "measurements");
            if (!all) continue;
            const DocumentNode* const objectives = Document::find(result, "objectives");
            for (const DocumentNode& one : all->children) {
                const DocumentNode* const node = Document::find(one, "unit");
                if (!node || find_unit(node->text) == nullptr) continue;
                const DocumentNode* const name = Document::find(one, "name");
                const std::string called = name ? name->text : "";
                if (objectives && std::ranges::any_of(objectives->children, [&](const auto& what) {
                        return what.text == called;
                    }))
                    return node;
                if (!other && called.find("compil") == called.npos) other = node;
            }
        }
        return other;
    }

    // {"metadata": {"timeunit"}, "results": [{"configuration": {…}, "times": {"runtimes": […]},
    // "measurements": [{"unit"}], "invalidity": "correct"}]}
    void t4(const DocumentNode& root, const DocumentNode& results) {
        found_.format = "T4";
        const DocumentNode* const metadata = Document::find(root, "metadata");
        const DocumentNode* stated = metadata ? Document::find(*metadata, "timeunit") : nullptr;
        if (!stated) stated = unit_of_measurements(results);
        const double scale = unit(stated, "ms");
        for (const DocumentNode& result : document_.items(results)) {
            MeasuredRun run;
            for (const DocumentNode& one :
                 document_.entries(document_.required(result, "configuration")))
                run.configuration[one.key] = value(one);
            if (const DocumentNode* const fault = Document::find(result, "invalidity");
                fault && document_.text(*fault) != "correct") {
                run.failure = document_.text(*fault);
            } else {
                const DocumentNode& times = document_.required(result, "times");
                set_median(run, pointers(document_.items(document_.required(times, "runtimes"))),
                           scale);
                if (!run.seconds) run.failure = "no run";
            }
            found_.runs.push_back(std::move(run));
        }
    }

    // {"Metadata": {"Device", "TimeUnit"}, "Results": [{"Status": "Ok", "Configuration": [{"Name",
    // "Value"}], "ComputationResults": [{"Duration"}]}]}
    void ktt(const DocumentNode& root, const DocumentNode& results) {
        found_.format = "KTT";
        const DocumentNode* const metadata = Document::find(root, "Metadata");
        const auto of_metadata = [&](const char* key) {
            return metadata ? Document::find(*metadata, key) : nullptr;
        };
        if (const DocumentNode* const device = of_metadata("Device"))
            found_.device = document_.text(*device);
        const double scale = unit(of_metadata("TimeUnit"), "us");
        for (const DocumentNode& result : document_.items(results)) {
            MeasuredRun run;
            for (const DocumentNode& one :
                 document_.items(document_.required(result, "Configuration")))
                run.configuration[document_.text(document_.required(one, "Name"))] =
                    value(document_.required(one, "Value"));
            const std::string& status = document_.text(document_.required(result, "Status"));
            if (status != "Ok") {
                run.failure = status;
            } else if (const DocumentNode* const parts =
                           Document::find(result, "ComputationResults")) {
                double sum = 0;
                for (const DocumentNode& part : document_.items(*parts))
                    sum += document_.number(document_.required(part, "Duration"));
                if (sum <= 0) document_.fail(*parts, "has no Duration above 0");
                run.seconds = sum * scale;
            } else {
                set_median(run, {&document_.required(result, "TotalDuration")}, scale);
            }
            found_.runs.push_back(std::move(run));
        }
    }

    static std::vector<const DocumentNode*> pointers(const std::vector<DocumentNode>& nodes) {
        std::vector<const DocumentNode*> all;
        for (const DocumentNode& one : nodes) all.push_back(&one);
        return all;
    }

    const Document& document_;
    MeasuredRuns found_;
};

// Whether it begins as numbers do; a failure is a word.
bool is_figure(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t+-.,");
    return first != text.npos && text[first] >= '0' && text[first] <= '9';
}

// As it stands there, or with digits in groups where the column proves the sign of fractions.
std::optional<double> time_in(const std::string& text, std::optional<DecimalSign> sign) {
    return sign ? profiler_number(text, *sign) : number_in(value_of(text));
}

MeasuredRuns of_table(const std::string& text, const std::string& file) {
    struct Column {
        std::string_view name;
        double seconds;
    };
    constexpr Column columns[] = {
        {"seconds", 1}, {"time_s", 1}, {"time_ms", 1e-3}, {"time_us", 1e-6}};
    MeasuredRuns found;
    found.file = file;
    found.format = "CSV";
    const std::vector<CsvRecord> lines = parse_csv(text, file);
    if (lines.empty()) throw InputError(file, {1, 1}, "", "has no line");
    const CsvRecord& header = lines.front();
    const Column* time = nullptr;
    std::size_t at = 0;
    for (std::size_t i = 0; i < header.fields.size(); ++i) {
        const auto* const one = std::ranges::find(columns, header.fields[i], &Column::name);
        if (std::ranges::count(header.fields, header.fields[i]) > 1)
            throw InputError(file, {header.line, 1}, header.fields[i],
                             "is the name of two columns");
        if (one == std::end(columns)) continue;
        if (time)
            throw InputError(file, {header.line, 1}, header.fields[i],
                             fmt::format("is a time, as {} is; which one counts?", time->name));
        time = one;
        at = i;
    }
    if (!time)
        throw InputError(file, {header.line, 1}, "",
                         "needs a column seconds, time_s, time_ms or time_us");
    std::vector<std::string_view> times;
    for (const CsvRecord& line : std::span(lines).subspan(1)) times.emplace_back(line.fields[at]);
    const auto sign = decimal_sign(times);
    for (const CsvRecord& line : std::span(lines).subspan(1)) {
        MeasuredRun run;
        for (std::size_t i = 0; i < line.fields.size(); ++i)
            if (i != at) run.configuration[header.fields[i]] = value_of(line.fields[i]);
        const auto number = time_in(line.fields[at], sign);
        if (!number && is_figure(line.fields[at]))
            throw InputError(file, {line.line, 1}, header.fields[at],
                             fmt::format("'{}' is not read: write it without groups of digits, "
                                         "with a point before the fraction",
                                         line.fields[at]));
        if (number && *number <= 0)
            throw InputError(file, {line.line, 1}, header.fields[at], "must be above 0");
        if (number)
            run.seconds = *number * time->seconds;
        else
            run.failure = line.fields[at].empty() ? "no time" : line.fields[at];
        found.runs.push_back(std::move(run));
    }
    if (found.runs.empty()) throw InputError(file, {1, 1}, "", "has no result");
    return found;
}

// In numbers, without the 1s at the end; empty where some of it is none (the name of a function).
std::vector<double> numbers_of(const Value::List& problem_size) {
    std::vector<double> numbers;
    for (const Value& one : problem_size) {
        const std::optional<double> number = number_in(one);
        if (!number) return {};
        numbers.push_back(*number);
    }
    while (!numbers.empty() && numbers.back() == 1) numbers.pop_back();
    return numbers;
}

void compare_problem_size(const TuningSpace& space, MeasuredRuns& runs) {
    const std::vector<double> of_space = numbers_of(space.problem_size);
    const std::vector<double> measured = numbers_of(runs.problem_size);
    if (of_space.empty() || measured.empty() || of_space == measured) return;
    runs.notes.push_back(fmt::format(
        "its times are of the problem size {}, {} says {}: times are compared as they are",
        to_text(runs.problem_size), space.file, to_text(space.problem_size)));
}

}  // namespace

MeasuredRuns parse_measured_runs(const std::string& text, const std::string& file) {
    if (!looks_like_json(text)) return of_table(text, file);
    const Document document =
        parse_json(without_nan(closed(text)), file, DuplicateKeys::last_counts);
    return Reader(document).run();
}

MeasuredRuns read_measured_runs(const std::string& path) {
    return parse_measured_runs(read_text_file(path), path);
}

void keep_those_of(const TuningSpace& space, MeasuredRuns& runs) {
    struct Dropped {
        Value::List values;
        std::size_t count = 0;
    };
    compare_problem_size(space, runs);
    std::map<std::string, Dropped> dropped;
    std::vector<MeasuredRun> kept;
    for (MeasuredRun& run : runs.runs) {
        Configuration of_space;
        for (const TuningSpace::Tunable& one : space.tunables) {
            const auto value = run.configuration.find(one.name);
            if (value == run.configuration.end()) continue;
            const auto known = std::ranges::find_if(
                one.values, [&](const Value& other) { return is_equal(other, value->second); });
            of_space[one.name] = known == one.values.end() ? value->second : *known;
        }
        if (excluded_by(space, of_space)) {
            ++runs.excluded;
            continue;
        }
        for (const auto& [name, value] : run.configuration) {
            if (of_space.contains(name)) continue;
            Dropped& one = dropped[name];
            ++one.count;
            if (std::ranges::none_of(one.values,
                                     [&](const Value& other) { return is_equal(other, value); }))
                one.values.push_back(value);
        }
        run.configuration = std::move(of_space);
        kept.push_back(std::move(run));
    }
    runs.runs = std::move(kept);
    std::vector<std::string> ignored;
    for (auto& [name, one] : dropped) {
        if (one.count < runs.runs.size()) one.values.emplace_back(std::string("none"));
        constexpr std::size_t most_named = 6;
        std::string values;
        for (std::size_t i = 0; i < std::min(one.values.size(), most_named); ++i)
            values += (i == 0 ? "" : ", ") + to_text(one.values[i]);
        if (one.values.size() > 1)
            throw InputError(
                runs.file, {}, name,
                fmt::format("is no tunable of {}, and its values differ ({}{}): which "
                            "of the times counts? Keep those of one value, or make it "
                            "a tunable",
                            space.file, values, one.values.size() > most_named ? ", …" : ""));
        ignored.push_back(fmt::format("{}={}", name, values));
    }
    if (!ignored.empty())
        runs.notes.push_back(
            fmt::format("{}: no tunable of {}, ignored", fmt::join(ignored, ", "), space.file));
}

std::vector<std::size_t> drawn_by_time(std::span<const MeasuredRun> runs, std::size_t count,
                                       std::uint64_t seed) {
    std::vector<std::size_t> valid;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (runs[i].seconds) valid.push_back(i);
    if (count == 0 || valid.size() <= count) return valid;
    std::ranges::stable_sort(
        valid, [&](std::size_t a, std::size_t b) { return *runs[a].seconds < *runs[b].seconds; });
    std::vector<std::size_t> drawn;
    for (std::size_t stratum = 0; stratum < count; ++stratum) {
        const std::size_t begin = stratum * valid.size() / count;
        const std::size_t end = (stratum + 1) * valid.size() / count;
        drawn.push_back(valid[begin + random_bits(seed, stratum) % (end - begin)]);
    }
    std::ranges::sort(drawn);
    return drawn;
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"
#include "core/name_rules.h"

namespace occupipe {
namespace {

// Numbers that Google Benchmark itself puts into a row; all others are counters.
constexpr std::array<std::string_view, 8> own_numbers = {
    "family_index", "per_family_instance_index",
    "repetitions",  "repetition_index",
    "threads",      "iterations",
    "real_time",    "cpu_time"};

std::string compact(const DocumentNode& node) {
    switch (node.kind) {
        case DocumentNode::Kind::null:
            return "null";
        case DocumentNode::Kind::scalar:
            return node.quoted ? nlohmann::json(node.text).dump() : node.text;
        case DocumentNode::Kind::sequence:
        case DocumentNode::Kind::map:
            break;
    }
    const bool is_map = node.kind == DocumentNode::Kind::map;
    std::vector<std::string> parts;
    for (const DocumentNode& child : node.children) {
        parts.push_back((is_map ? nlohmann::json(child.key).dump() + ":" : "") + compact(child));
    }
    return fmt::format("{}{}{}", is_map ? '{' : '[', fmt::join(parts, ","), is_map ? '}' : ']');
}

class MeasurementReader {
public:
    explicit MeasurementReader(const Document& document) : document_(document) {}

    MeasurementFile read() const {
        const DocumentNode& root = document_.root();
        document_.only_keys(root, {"context", "benchmarks"});
        MeasurementFile file;
        file.path = document_.file_name();
        for (const DocumentNode& node : document_.entries(document_.required(root, "context"))) {
            const bool is_text = node.kind == DocumentNode::Kind::scalar;
            file.context[node.key] = is_text ? node.text : compact(node);
        }
        for (const DocumentNode& node : document_.items(document_.required(root, "benchmarks"))) {
            add_row(node, file.rows);
        }
        return file;
    }

    void add_row(const DocumentNode& node, std::vector<MeasurementRow>& rows) const {
        document_.entries(node);
        const DocumentNode* const type = Document::find(node, "run_type");
        if (type == nullptr || text(*type) != "aggregate") {
            rows.push_back(row(node));
        }
    }

private:
    const std::string& text(const DocumentNode& node) const {
        if (node.kind != DocumentNode::Kind::scalar || !node.quoted) {
            document_.fail(node, "must be text");
        }
        return node.text;
    }

    MeasurementRow row(const DocumentNode& node) const {
        MeasurementRow row;
        const DocumentNode& name = document_.required(node, "name");
        row.name = text(name);
        const auto slash = row.name.find('/');
        row.subject = row.name.substr(0, slash);
        if (row.subject.empty()) {
            document_.fail(name, "names no instruction");
        }
        row.counters = counters(node);
        constexpr std::int64_t int_max = std::numeric_limits<int>::max();
        row.shape.group_warps = static_cast<int>(shape(node, "group_warps", int_max));
        row.shape.concurrent_groups = static_cast<int>(shape(node, "concurrent_groups", int_max));
        row.shape.chains = static_cast<int>(shape(node, "chains", int_max));
        row.shape.depth = shape(node, "depth", std::int64_t{1} << 53U);  // exact in a double
        if (row.shape.group_warps > int_max / row.shape.concurrent_groups) {
            document_.fail(name, "has too many warps");
        }
        agree(node, "warps", row.shape.warps());
        row.beta = beta(node, name, row.subject);
        if (const DocumentNode* repetition = Document::find(node, "repetition_index")) {
            row.repetition = static_cast<int>(document_.integer(*repetition, 0, int_max));
        }
        row.error = error(node);
        if (!row.error) {
            row.cycles = positive(node, "cycles");
            row.clock_hz = positive(node, "clock_hz");
            row.seconds = seconds(node);
        }
        return row;
    }

    std::map<std::string, double> counters(const DocumentNode& node) const {
        std::map<std::string, double> counters;
        for (const DocumentNode& child : node.children) {
            const bool is_number = child.kind == DocumentNode::Kind::scalar && !child.quoted &&
                                   child.text != "true" && child.text != "false";
            if (is_number &&
                std::find(own_numbers.begin(), own_numbers.end(), child.key) == own_numbers.end()) {
                counters[child.key] = document_.number(child);
            }
        }
        return counters;
    }

    // A counter that counts; Google Benchmark writes all counters as floating point.
    std::int64_t whole(const DocumentNode& node, std::int64_t at_most) const {
        const double value = document_.number(node);
        if (value < 1 || value > static_cast<double>(at_most) || value != std::floor(value)) {
            document_.fail(node, fmt::format("must be a whole number from 1 to {}, not {}", at_most,
                                             node.text));
        }
        return static_cast<std::int64_t>(value);
    }

    // One number of the shape, from the counter, the name ("…/chains:4/…") or both.
    std::int64_t shape(const DocumentNode& node, std::string_view key, std::int64_t at_most) const {
        const auto in_name = from_name(document_.required(node, "name"), key, at_most);
        if (const DocumentNode* counter = Document::find(node, key)) {
            const std::int64_t value = whole(*counter, at_most);
            if (in_name && *in_name != value) {
                document_.fail(*counter,
                               fmt::format("is {} here, but {} in the name", value, *in_name));
            }
            return value;
        }
        if (!in_name) {
            document_.required(node, key);
        }
        return in_name.value();
    }

    std::optional<std::int64_t> from_name(const DocumentNode& name, std::string_view key,
                                          std::int64_t at_most) const {
        std::string_view rest = name.text;
        std::optional<std::int64_t> found;
        for (auto slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
            rest.remove_prefix(slash + 1);
            const std::string_view part = rest.substr(0, rest.find('/'));
            const auto colon = part.find(':');
            if (colon == std::string_view::npos || part.substr(0, colon) != key) {
                continue;
            }
            const std::string_view digits = part.substr(colon + 1);
            std::int64_t value = 0;
            const auto [stop, fault] =
                std::from_chars(digits.data(), digits.data() + digits.size(), value);
            if (fault != std::errc{} || stop != digits.data() + digits.size() || value < 1 ||
                value > at_most) {
                document_.fail(name, fmt::format("{}: '{}' is not a whole number from 1 to {}", key,
                                                 digits, at_most));
            }
            if (found && *found != value) {
                document_.fail(name, fmt::format("duplicate {}", key));
            }
            found = value;
        }
        return found;
    }

    void agree(const DocumentNode& row, std::string_view key, std::int64_t expected) const {
        if (const DocumentNode* node = Document::find(row, key)) {
            const std::int64_t value = whole(*node, std::numeric_limits<int>::max());
            if (value != expected) {
                document_.fail(
                    *node, fmt::format("is {} here, but {} according to the rest of the row", value,
                                       expected));
            }
        }
    }

    std::optional<int> beta(const DocumentNode& row, const DocumentNode& name,
                            const std::string& subject) const {
        const auto mix = parse_mix(subject);
        if (mix) {
            agree(row, "beta", mix->beta);
            return mix->beta;
        }
        if (subject.starts_with("mix(")) {
            document_.fail(name, fmt::format("'{}' is not mix(A*BETA,B)", subject));
        }
        if (const auto fault = name_fault(subject)) {
            document_.fail(name, fmt::format("instruction '{}': {}", subject, *fault));
        }
        if (const DocumentNode* node = Document::find(row, "beta")) {
            document_.fail(*node, fmt::format("'{}' is not a mix", subject));
        }
        return std::nullopt;
    }

    std::optional<std::string> error(const DocumentNode& row) const {
        const DocumentNode* const occurred = Document::find(row, "error_occurred");
        if (occurred == nullptr || !document_.boolean(*occurred)) {
            return std::nullopt;
        }
        const DocumentNode* const message = Document::find(row, "error_message");
        return message != nullptr ? text(*message) : "no reason given";
    }

    std::optional<double> positive(const DocumentNode& row, std::string_view key) const {
        const DocumentNode* const node = Document::find(row, key);
        if (node == nullptr) {
            return std::nullopt;
        }
        const double value = document_.number(*node);
        if (value <= 0) {
            document_.fail(*node, fmt::format("must be positive, not {} (leave it out if it is "
                                              "not known)",
                                              node->text));
        }
        return value;
    }

    double seconds(const DocumentNode& row) const {
        const DocumentNode& time = document_.required(row, "real_time");
        const double value = document_.number(time);
        if (value < 0) {
            document_.fail(time, fmt::format("must not be negative, not {}", time.text));
        }
        const DocumentNode& unit = document_.required(row, "time_unit");
        constexpr std::array<std::pair<std::string_view, double>, 4> units = {
            {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}}};
        for (const auto& [name, per_second] : units) {
            if (text(unit) == name) {
                return value / per_second;
            }
        }
        document_.fail(unit, fmt::format("'{}' is not one of ns, us, ms, s", unit.text));
    }

    const Document& document_;
};

// Row by row, since the tree of a whole file takes ten times its text. What is refused is read once
// more as a whole: then the message knows the path of what is wrong.
MeasurementFile read_row_by_row(const std::string& text, const std::string& file_name) {
    try {
        const Document none(file_name, {});
        const MeasurementReader reader(none);
        std::vector<MeasurementRow> rows;
        const Document document =
            parse_json_list(text, file_name, "benchmarks",
                            [&](const DocumentNode& node) { reader.add_row(node, rows); });
        MeasurementFile file = MeasurementReader(document).read();
        file.rows = std::move(rows);
        return file;
    } catch (const InputError&) {
        return MeasurementReader(parse_json(text, file_name)).read();
    }
}

}  // namespace

MeasurementFile parse_measurements(const std::string& text, const std::string& file_name) {
    refuse_other_kinds(FileKind::measurements, text, file_name);
    MeasurementFile file = read_row_by_row(text, file_name);
    file.content_hash = content_hash(text);
    return file;
}

MeasurementFile read_measurements(const std::filesystem::path& path) {
    return parse_measurements(read_text_file(path), path.string());
}

}  // namespace occupipe

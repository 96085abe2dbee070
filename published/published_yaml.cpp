// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/files/document.h"
#include "core/files/quantity_yaml.h"
#include "core/files/yaml_reader.h"
#include "published/published.h"

namespace occupipe::analysis {
namespace {

constexpr std::string_view published_format = "occupipe-published/1";
constexpr std::int64_t most = std::numeric_limits<int>::max();

class PublishedReader {
public:
    PublishedReader(const Document& document, const Published& known)
        : document_(document), known_(known) {}

    Published read() {
        const DocumentNode& root = document_.root();
        document_.only_keys(root, {"format", "sources", "operations", "throughput", "latency",
                                   "rate", "issue", "memory_bandwidth", "cores"});
        const DocumentNode& format = document_.required(root, "format");
        if (document_.text(format) != published_format)
            document_.fail(format, fmt::format("unknown format '{}', expected {}",
                                               document_.text(format), published_format));
        each_entry(root, "sources", [&](const DocumentNode& node) { read_source(node); });
        each_entry(root, "operations", [&](const DocumentNode& node) { read_operation(node); });
        each_item(root, "throughput", [&](const DocumentNode& node) { read_throughput(node); });
        each_item(root, "latency", [&](const DocumentNode& node) { read_latency(node); });
        each_item(root, "rate", [&](const DocumentNode& node) { read_rate(node); });
        each_item(root, "issue", [&](const DocumentNode& node) { read_issue(node); });
        each_item(root, "memory_bandwidth", [&](const DocumentNode& node) { read_memory(node); });
        each_item(root, "cores", [&](const DocumentNode& node) { read_core(node); });
        return std::move(out_);
    }

private:
    template <class Read>
    void each_entry(const DocumentNode& root, std::string_view key, Read read) const {
        if (const DocumentNode* const node = Document::find(root, key))
            for (const DocumentNode& entry : document_.entries(*node)) read(entry);
    }

    template <class Read>
    void each_item(const DocumentNode& root, std::string_view key, Read read) const {
        if (const DocumentNode* const node = Document::find(root, key))
            for (const DocumentNode& item : document_.items(*node)) read(item);
    }

    // Not empty: a citation needs a title.
    std::string text(const DocumentNode& map, std::string_view key) const {
        const DocumentNode& node = document_.required(map, key);
        const std::string& value = document_.text(node);
        if (value.empty()) document_.fail(node, "must not be empty");
        return value;
    }

    double positive(const DocumentNode& node) const {
        const double value = document_.number(node);
        if (!(value > 0))
            document_.fail(node, fmt::format("must be a positive number, not {}", value));
        return value;
    }

    std::vector<std::string> texts(const DocumentNode& map, std::string_view key) const {
        const DocumentNode& node = document_.required(map, key);
        std::vector<std::string> all;
        for (const DocumentNode& item : document_.items(node)) {
            const std::string& one = document_.text(item);
            if (one.empty()) document_.fail(item, "must not be empty");
            if (std::ranges::find(all, one) != all.end())
                document_.fail(item, fmt::format("duplicate '{}'", one));
            all.push_back(one);
        }
        if (all.empty()) document_.fail(node, "must not be empty");
        return all;
    }

    std::vector<std::string> capabilities(const DocumentNode& map) const {
        return texts(map, "capability");
    }

    std::string source_of(const DocumentNode& map) const {
        const std::string id = text(map, "source");
        if (out_.source(id) == nullptr && known_.source(id) == nullptr)
            document_.fail(document_.required(map, "source"),
                           fmt::format("'{}' is not among the sources", id));
        return id;
    }

    // A number or [least, greatest].
    void read_range(const DocumentNode& node, PublishedFigure& figure) const {
        if (node.kind != DocumentNode::Kind::sequence) {
            figure.low = figure.high = positive(node);
            return;
        }
        const std::vector<DocumentNode>& ends = document_.items(node);
        if (ends.size() != 2) document_.fail(node, "must be a number or [least, greatest]");
        figure.low = positive(ends[0]);
        figure.high = positive(ends[1]);
        if (figure.high < figure.low) document_.fail(node, "the least must come first");
    }

    PublishedFigure figure(const DocumentNode& map, std::string_view key) const {
        PublishedFigure out;
        out.source = source_of(map);
        out.device = optional_text(document_, map, "device");
        out.at = optional_text(document_, map, "at");
        read_range(document_.required(map, key), out);
        return out;
    }

    void read_source(const DocumentNode& node) {
        document_.only_keys(node, {"title", "authors", "year", "where", "read", "method"});
        PublishedSource source;
        source.id = node.key;
        source.title = text(node, "title");
        source.authors = text(node, "authors");
        source.where = text(node, "where");
        source.method = text(node, "method");
        source.read = optional_text(document_, node, "read");
        if (const DocumentNode* const year = Document::find(node, "year"))
            source.year = static_cast<int>(document_.integer(*year, 1900, 2200));
        out_.sources.push_back(std::move(source));
    }

    void read_operation(const DocumentNode& node) {
        document_.only_keys(node, {"instructions", "results"});
        PublishedOperation operation;
        operation.name = node.key;
        operation.instructions = texts(node, "instructions");
        for (const std::string& one : operation.instructions)
            if (!counted_.insert(one).second)
                document_.fail(document_.required(node, "instructions"),
                               fmt::format("'{}' is already counted by another operation", one));
        if (const DocumentNode* const results = Document::find(node, "results"))
            operation.results = static_cast<int>(document_.integer(*results, 1, 1024));
        out_.operations.push_back(std::move(operation));
    }

    void read_throughput(const DocumentNode& node) {
        document_.only_keys(node, {"capability", "source", "results"});
        PublishedThroughput throughput;
        throughput.capabilities = capabilities(node);
        throughput.source = source_of(node);
        for (const DocumentNode& entry : document_.entries(document_.required(node, "results"))) {
            const bool known = std::ranges::any_of(
                out_.operations, [&](const auto& o) { return o.name == entry.key; });
            if (!known)
                document_.fail(entry, fmt::format("'{}' is not among the operations", entry.key));
            throughput.results.emplace_back(entry.key, positive(entry));
        }
        out_.throughputs.push_back(std::move(throughput));
    }

    void read_latency(const DocumentNode& node) {
        document_.only_keys(node,
                            {"capability", "source", "device", "at", "instructions", "cycles"});
        out_.latencies.push_back(
            {capabilities(node), texts(node, "instructions"), figure(node, "cycles")});
    }

    void read_rate(const DocumentNode& node) {
        document_.only_keys(node, {"capability", "source", "device", "at", "instructions", "cpi"});
        out_.rates.push_back(
            {capabilities(node), texts(node, "instructions"), figure(node, "cpi")});
    }

    void read_issue(const DocumentNode& node) {
        document_.only_keys(node, {"capability", "source", "device", "at", "width"});
        out_.issues.push_back({capabilities(node), figure(node, "width")});
    }

    void read_memory(const DocumentNode& node) {
        document_.only_keys(node, {"source", "device", "at", "bytes_per_second"});
        text(node, "device");
        out_.bandwidths.push_back({figure(node, "bytes_per_second")});
    }

    std::pair<int, int> model_range(const DocumentNode& node) const {
        const std::vector<DocumentNode>& ends = document_.items(node);
        if (ends.size() != 2) document_.fail(node, "must be [first, last]");
        const auto first = static_cast<int>(document_.integer(ends[0], 0, most));
        const auto last = static_cast<int>(document_.integer(ends[1], 0, most));
        if (last < first) document_.fail(node, "the first must come first");
        return {first, last};
    }

    void read_core(const DocumentNode& node) {
        document_.only_keys(node, {"name", "source", "vendor", "family", "models", "instructions"});
        PublishedCore core;
        core.name = text(node, "name");
        core.source = source_of(node);
        core.vendor = text(node, "vendor");
        core.family =
            static_cast<int>(document_.integer(document_.required(node, "family"), 0, most));
        for (const DocumentNode& range : document_.items(document_.required(node, "models")))
            core.models.push_back(model_range(range));
        for (const DocumentNode& entry :
             document_.entries(document_.required(node, "instructions"))) {
            const std::vector<DocumentNode>& both = document_.items(entry);
            if (both.size() != 2) document_.fail(entry, "must be [λ, Λ]");
            core.timings.push_back({entry.key, positive(both[0]), positive(both[1])});
        }
        out_.cores.push_back(std::move(core));
    }

    const Document& document_;
    const Published& known_;
    Published out_;
    std::set<std::string> counted_;
};

}  // namespace

Published parse_published(const std::string& text, const std::string& file_name,
                          const Published& known) {
    const Document document = parse_yaml(text, file_name);
    return PublishedReader(document, known).read();
}

}  // namespace occupipe::analysis

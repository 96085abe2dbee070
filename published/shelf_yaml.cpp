// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/files/document.h"
#include "core/files/embedded.h"
#include "core/files/quantity_yaml.h"
#include "core/files/yaml_reader.h"
#include "published/published_files.h"
#include "published/shelf.h"

namespace occupipe::analysis {
namespace {

constexpr std::string_view shelf_format = "occupipe-shelf/1";
constexpr std::string_view card_format = "occupipe-card/1";
constexpr std::int64_t most = std::numeric_limits<int>::max();

double positive(const Document& document, const DocumentNode& node) {
    const double value = document.number(node);
    if (!(value > 0)) document.fail(node, fmt::format("must be a positive number, not {}", value));
    return value;
}

double positive(const Document& document, const DocumentNode& map, std::string_view key) {
    return positive(document, document.required(map, key));
}

std::int64_t whole(const Document& document, const DocumentNode& map, std::string_view key) {
    return document.integer(document.required(map, key), 1, most);
}

const std::string& text(const Document& document, const DocumentNode& map, std::string_view key) {
    const DocumentNode& node = document.required(map, key);
    if (document.text(node).empty()) document.fail(node, "must not be empty");
    return document.text(node);
}

void require_format(const Document& document, std::string_view format) {
    const DocumentNode& node = document.required(document.root(), "format");
    if (document.text(node) != format)
        document.fail(node,
                      fmt::format("unknown format '{}', expected {}", document.text(node), format));
}

Scope scope_of(const Document& document, const DocumentNode& node) {
    const std::string& word = document.text(node);
    if (word == "core") return Scope::core;
    if (word == "scheduler") return Scope::scheduler;
    document.fail(node, fmt::format("must be 'core' or 'scheduler', not '{}'", word));
}

ShelfCard read_numbers(const Document& document, const DocumentNode& map) {
    ShelfCard card;
    card.cores = static_cast<int>(whole(document, map, "cores"));
    card.clock_hz = positive(document, map, "clock_hz");
    card.dram_bytes_per_second = positive(document, map, "dram_bytes_per_second");
    card.l2_bytes = positive(document, map, "l2_bytes");
    return card;
}

class ShelfReader {
public:
    explicit ShelfReader(const Document& document) : document_(document) {}

    Shelf read() {
        const DocumentNode& root = document_.root();
        document_.only_keys(root, {"format", "sources", "spreads", "widened", "units",
                                   "architectures", "instruction_caches", "instructions", "cards",
                                   "reached", "launches", "kernels"});
        require_format(document_, shelf_format);
        const auto part = [&](std::string_view key) -> const DocumentNode& {
            return document_.required(root, key);
        };
        for (const DocumentNode& node : document_.entries(part("sources"))) read_source(node);
        for (const DocumentNode& node : document_.entries(part("spreads"))) read_spread(node);
        document_.only_keys(part("widened"), {"neighbour", "substitute", "code"});
        out_.code = positive(document_, part("widened"), "code");
        out_.neighbour = positive(document_, part("widened"), "neighbour");
        out_.substitute = positive(document_, part("widened"), "substitute");
        for (const DocumentNode& node : document_.entries(part("units"))) read_unit(node);
        for (const DocumentNode& node : document_.items(part("architectures")))
            read_architecture(node);
        for (const DocumentNode& node : document_.items(part("instruction_caches")))
            read_instruction_cache(node);
        for (const DocumentNode& node : document_.items(part("instructions")))
            read_instruction(node);
        for (const DocumentNode& node : document_.entries(part("cards"))) read_card(node);
        for (const DocumentNode& node : document_.items(part("reached")))
            out_.reached.push_back(read_reached(node, "bytes_per_second"));
        for (const DocumentNode& node : document_.items(part("launches")))
            out_.launches.push_back(read_reached(node, "seconds"));
        for (const DocumentNode& node : document_.items(part("kernels")))
            out_.kernels.push_back(read_reached(node, "seconds"));
        return std::move(out_);
    }

private:
    std::string source_of(const DocumentNode& map) const {
        const std::string& id = text(document_, map, "source");
        if (std::ranges::find(out_.sources, id, &PublishedSource::id) == out_.sources.end())
            document_.fail(document_.required(map, "source"),
                           fmt::format("'{}' is not among the sources", id));
        return id;
    }

    void read_source(const DocumentNode& node) {
        document_.only_keys(node, {"title", "authors", "year", "where", "read", "method"});
        PublishedSource source;
        source.id = node.key;
        source.title = text(document_, node, "title");
        source.authors = text(document_, node, "authors");
        source.where = text(document_, node, "where");
        source.method = text(document_, node, "method");
        source.read = optional_text(document_, node, "read");
        if (const DocumentNode* const year = Document::find(node, "year"))
            source.year = static_cast<int>(document_.integer(*year, 1900, 2200));
        out_.sources.push_back(std::move(source));
    }

    void read_spread(const DocumentNode& node) {
        document_.only_keys(node, {"relative", "cycles", "why"});
        Spread spread;
        spread.relative = positive(document_, node, "relative");
        spread.cycles = document_.number(document_.required(node, "cycles"));
        text(document_, node, "why");
        out_.spreads.emplace(node.key, spread);
    }

    void read_unit(const DocumentNode& node) {
        document_.only_keys(node, {"scope", "arithmetic", "issue_slots"});
        ShelfUnit unit{.name = node.key,
                       .scope = scope_of(document_, document_.required(node, "scope"))};
        if (const DocumentNode* const arithmetic = Document::find(node, "arithmetic"))
            unit.arithmetic = document_.boolean(*arithmetic);
        if (Document::find(node, "issue_slots") != nullptr)
            unit.issue_slots = whole(document_, node, "issue_slots");
        out_.units.push_back(std::move(unit));
    }

    void read_architecture(const DocumentNode& node) {
        document_.only_keys(
            node, {"capability", "generation", "vendor", "warp_size", "line", "schedulers", "warps",
                   "groups", "shared_bytes", "first_level_bytes", "request", "pass", "first_bytes",
                   "fp64", "code", "source", "why"});
        ShelfArchitecture one;
        one.capability = text(document_, node, "capability");
        one.generation = text(document_, node, "generation");
        if (const DocumentNode* const vendor = Document::find(node, "vendor"))
            one.vendor = document_.text(*vendor);
        if (Document::find(node, "warp_size") != nullptr)
            one.warp_size = static_cast<int>(whole(document_, node, "warp_size"));
        one.line = text(document_, node, "line");
        one.code = optional_text(document_, node, "code");
        one.schedulers = static_cast<int>(whole(document_, node, "schedulers"));
        one.warps = whole(document_, node, "warps");
        one.groups = whole(document_, node, "groups");
        one.shared_bytes = whole(document_, node, "shared_bytes");
        one.first_level_bytes = whole(document_, node, "first_level_bytes");
        one.request = positive(document_, node, "request");
        one.pass = positive(document_, node, "pass");
        one.first_bytes = positive(document_, node, "first_bytes");
        one.fp64 = scope_of(document_, document_.required(node, "fp64"));
        one.source = source_of(node);
        one.why = text(document_, node, "why");
        out_.architectures.push_back(std::move(one));
    }

    void read_instruction_cache(const DocumentNode& node) {
        document_.only_keys(node, {"capability", "bytes", "bytes_per_cycle", "source", "why"});
        ShelfInstructionCache cache;
        for (const DocumentNode& one : document_.items(document_.required(node, "capability")))
            cache.capabilities.push_back(document_.text(one));
        cache.bytes = positive(document_, node, "bytes");
        if (Document::find(node, "bytes_per_cycle") != nullptr)
            cache.bytes_per_cycle = positive(document_, node, "bytes_per_cycle");
        cache.source = source_of(node);
        text(document_, node, "why");
        out_.instruction_caches.push_back(std::move(cache));
    }

    void read_instruction(const DocumentNode& node) {
        document_.only_keys(node, {"names", "unit", "spread", "like", "times", "why", "level",
                                   "bytes", "store", "slot", "cpi", "cpi_error", "from", "to"});
        ShelfInstruction row;
        for (const DocumentNode& name : document_.items(document_.required(node, "names")))
            row.names.push_back(document_.text(name));
        if (row.names.empty()) document_.fail(node, "names nothing");
        row.unit = text(document_, node, "unit");
        if (std::ranges::find(out_.units, row.unit, &ShelfUnit::name) == out_.units.end())
            document_.fail(document_.required(node, "unit"),
                           fmt::format("'{}' is not among the units", row.unit));
        row.spread = text(document_, node, "spread");
        if (!out_.spreads.contains(row.spread))
            document_.fail(document_.required(node, "spread"),
                           fmt::format("'{}' is not among the spreads", row.spread));
        row.like = optional_text(document_, node, "like");
        row.why = optional_text(document_, node, "why");
        row.from = optional_text(document_, node, "from");
        row.to = optional_text(document_, node, "to");
        if (const DocumentNode* const times = Document::find(node, "times"))
            row.times = positive(document_, *times);
        if (const DocumentNode* const level = Document::find(node, "level")) {
            constexpr std::array<std::string_view, 4> words = {"shared", "first", "second", "dram"};
            const auto found = std::ranges::find(words, document_.text(*level));
            if (found == words.end())
                document_.fail(*level, fmt::format("must be one of {}", fmt::join(words, ", ")));
            row.level = static_cast<ShelfLevel>(found - words.begin());
            row.bytes = static_cast<int>(whole(document_, node, "bytes"));
        }
        if (const DocumentNode* const store = Document::find(node, "store"))
            row.store = document_.boolean(*store);
        if (const DocumentNode* const slot = Document::find(node, "slot"))
            row.slot = document_.boolean(*slot);
        if (const DocumentNode* const cpi = Document::find(node, "cpi")) {
            row.cpi = positive(document_, *cpi);
            row.cpi_error = positive(document_, node, "cpi_error");
        }
        out_.instructions.push_back(std::move(row));
    }

    void read_card(const DocumentNode& node) {
        document_.only_keys(node, {"name", "capability", "year", "cores", "clock_hz",
                                   "dram_bytes_per_second", "l2_bytes", "source"});
        ShelfCard card = read_numbers(document_, node);
        card.id = node.key;
        card.name = text(document_, node, "name");
        card.capability = text(document_, node, "capability");
        if (out_.architecture(card.capability) == nullptr)
            document_.fail(document_.required(node, "capability"),
                           fmt::format("'{}' is not among the architectures", card.capability));
        card.year =
            static_cast<int>(document_.integer(document_.required(node, "year"), 1990, 2200));
        card.source = source_of(node);
        out_.cards.push_back(std::move(card));
    }

    ShelfReached read_reached(const DocumentNode& node, std::string_view key) {
        document_.only_keys(node, {"card", "source", "at", key});
        ShelfReached one;
        one.card = text(document_, node, "card");
        if (out_.card(one.card) == nullptr)
            document_.fail(document_.required(node, "card"),
                           fmt::format("'{}' is not among the cards", one.card));
        one.figure.source = source_of(node);
        one.figure.at = optional_text(document_, node, "at");
        one.figure.low = one.figure.high = positive(document_, node, key);
        return one;
    }

    const Document& document_;
    Shelf out_;
};

[[noreturn]] void bad_sheet(const std::string& text, const std::string& key,
                            const std::string& reason) {
    throw InputError(text, {}, key, reason);
}

// "4MiB", "448e9": a number, with KiB, MiB or GiB behind it.
double sheet_number(const std::string& text, const std::string& key, std::string_view value) {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(value.data() + value.size() - end));
    const double factor = unit.empty()    ? 1
                          : unit == "KiB" ? 1024.0
                          : unit == "MiB" ? 1024.0 * 1024
                          : unit == "GiB" ? 1024.0 * 1024 * 1024
                                          : 0;
    if (error != std::errc() || factor == 0 || !std::isfinite(number) || !(number > 0))
        bad_sheet(text, key, fmt::format("'{}' is not a positive number", value));
    return number * factor;
}

std::string capability_of(std::string_view number) {
    return number.size() < 2 ? std::string()
                             : fmt::format("{}.{}", number.substr(0, number.size() - 1),
                                           number.substr(number.size() - 1));
}

// Numbers that no card has make no profile.
void require_card(const std::string& file, const ShelfCard& card) {
    const ShelfArchitecture* const architecture = built_in_shelf().architecture(card.capability);
    if (architecture == nullptr) {
        std::vector<std::string> known;
        for (const ShelfArchitecture& one : built_in_shelf().architectures)
            known.push_back(one.capability);
        throw InputError(file, {}, "compute_capability",
                         fmt::format("no figures of '{}'; there are those of {}", card.capability,
                                     fmt::join(known, ", ")));
    }
    struct Range {
        const char* key;
        double value, least, most;
    };
    for (const Range& one :
         {Range{"clock_hz", card.clock_hz, 1e6, 1e11},
          Range{"dram_bytes_per_second", card.dram_bytes_per_second, 1e6, 1e16},
          Range{"l2_bytes", card.l2_bytes,
                2 * static_cast<double>(architecture->first_level_bytes) + 1024, 1e13},
          Range{"cores", static_cast<double>(card.cores), 1, 1e6}})
        if (one.value < one.least || one.value > one.most)
            throw InputError(
                file, {}, one.key,
                fmt::format("must be {:g} to {:g}, not {:g}", one.least, one.most, one.value));
}

int whole_cores(const std::string& text, double cores) {
    if (cores != std::floor(cores) || cores > 1e6)
        bad_sheet(text, "cores", fmt::format("{} is not a number of cores", cores));
    return static_cast<int>(cores);
}

}  // namespace

Shelf parse_shelf(const std::string& text, const std::string& file_name) {
    const Document document = parse_yaml(text, file_name);
    return ShelfReader(document).read();
}

const Shelf& built_in_shelf() {
    static const Shelf shelf =
        parse_shelf(std::string(embedded(published::published_files(), published::shelf_file)),
                    std::string(published::shelf_file));
    return shelf;
}

bool is_datasheet(std::string_view text) {
    return text.starts_with("sm_") && text.find(':') != text.npos;
}

ShelfCard parse_datasheet(const std::string& text) {
    const std::size_t colon = text.find(':');
    ShelfCard card;
    card.capability = capability_of(std::string_view(text).substr(3, colon - 3));
    std::set<std::string> given;
    for (std::size_t begin = colon + 1; begin < text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, end - begin);
        begin = end + 1;
        const std::size_t equals = part.find('=');
        const std::string key = part.substr(0, equals);
        if (equals == part.npos) bad_sheet(text, key, "has no value: KEY=VALUE");
        const std::string value = part.substr(equals + 1);
        if (!given.insert(key).second) bad_sheet(text, key, "is given twice");
        if (key == "name")
            card.name = value;
        else if (key == "cores")
            card.cores = whole_cores(text, sheet_number(text, key, value));
        else if (key == "clock_hz")
            card.clock_hz = sheet_number(text, key, value);
        else if (key == "dram")
            card.dram_bytes_per_second = sheet_number(text, key, value);
        else if (key == "l2")
            card.l2_bytes = sheet_number(text, key, value);
        else
            bad_sheet(text, key, "unknown key; there are cores, clock_hz, dram, l2, name");
    }
    for (const char* key : {"cores", "clock_hz", "dram", "l2"})
        if (!given.contains(key)) bad_sheet(text, key, "is missing");
    if (card.name.empty())
        card.name = fmt::format("sm_{} with {} cores", text.substr(3, colon - 3), card.cores);
    require_card(text, card);
    return card;
}

ShelfCard parse_card(const std::string& text, const std::string& file_name) {
    const Document document = parse_yaml(text, file_name);
    const DocumentNode& root = document.root();
    document.only_keys(root, {"format", "name", "compute_capability", "cores", "clock_hz",
                              "dram_bytes_per_second", "l2_bytes"});
    require_format(document, card_format);
    ShelfCard card = read_numbers(document, root);
    card.name = analysis::text(document, root, "name");
    card.capability = analysis::text(document, root, "compute_capability");
    require_card(file_name, card);
    return card;
}

}  // namespace occupipe::analysis

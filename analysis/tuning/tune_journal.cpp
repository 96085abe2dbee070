// SPDX-License-Identifier: MIT
#include "analysis/tuning/tune_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"

namespace occupipe::analysis {
namespace {

constexpr const char* format = "occupipe-tune-journal/1";

std::string first_line(const std::string& made_of) {
    return nlohmann::ordered_json{{"format", format}, {"made_of", made_of}}.dump() + "\n";
}

double seconds(const Document& document, const DocumentNode& node) {
    const double value = document.number(node);
    if (value <= 0) document.fail(node, "must be above 0");
    return value;
}

}  // namespace

std::string tuned_line(const TunedConfiguration& row, const std::vector<const Model*>& models) {
    nlohmann::ordered_json json = {{"number", row.number}};
    for (std::size_t i = 0; i < models.size(); ++i)
        if (row.predicted[i]) json["seconds"][std::string(models[i]->name)] = *row.predicted[i];
    if (row.interval) json["interval"] = {row.interval->low, row.interval->high};
    if (!row.limiter.empty()) json["limited_by"] = row.limiter;
    if (row.refused != Refusal::none) json["refused"] = to_string(row.refused);
    if (!row.refusal.empty()) json["reason"] = row.refusal;
    if (!row.code.empty()) json["code"] = row.code;
    if (row.known) json["known"] = true;
    if (row.at_limit) json["at_limit"] = true;
    if (row.stage == Stage::coarse) json["stage"] = "coarse";
    if (row.coarse) json["coarse"] = *row.coarse;
    if (!row.coarse_limiter.empty()) json["coarse_limited_by"] = row.coarse_limiter;
    if (row.spent) json["spent"] = *row.spent;
    json["cost"] = {row.compile_seconds, row.execute_seconds, row.model_seconds};
    // What a compiler says need not be UTF-8.
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

TunedConfiguration parse_tuned_line(const std::string& line,
                                    const std::vector<const Model*>& models) {
    const Document document = parse_json(line, "journal");
    const DocumentNode& root = document.root();
    document.only_keys(
        root, {"number", "seconds", "interval", "limited_by", "refused", "reason", "code", "known",
               "at_limit", "stage", "coarse", "coarse_limited_by", "spent", "cost"});
    TunedConfiguration row;
    row.number = static_cast<std::uint64_t>(document.integer(
        document.required(root, "number"), 0, std::numeric_limits<std::int64_t>::max()));
    row.predicted.resize(models.size());
    if (const DocumentNode* const times = Document::find(root, "seconds"))
        for (std::size_t i = 0; i < models.size(); ++i)
            if (const auto* const one = Document::find(*times, models[i]->name))
                row.predicted[i] = seconds(document, *one);
    if (const DocumentNode* const interval = Document::find(root, "interval")) {
        const auto& ends = document.items(*interval);
        if (ends.size() != 2) document.fail(*interval, "must be two numbers");
        row.interval = {document.number(ends[0]), document.number(ends[1])};
    }
    const auto word = [&](const char* key) {
        const DocumentNode* const node = Document::find(root, key);
        return node ? document.text(*node) : std::string();
    };
    row.limiter = word("limited_by");
    row.refusal = word("reason");
    row.code = word("code");
    if (const DocumentNode* const refused = Document::find(root, "refused")) {
        const auto known = refusal_named(document.text(*refused));
        if (!known) document.fail(*refused, "is not a kind of refusal");
        row.refused = *known;
    }
    if (const DocumentNode* const known = Document::find(root, "known"))
        row.known = document.boolean(*known);
    if (const DocumentNode* const at_limit = Document::find(root, "at_limit"))
        row.at_limit = document.boolean(*at_limit);
    if (const DocumentNode* const stage = Document::find(root, "stage")) {
        if (document.text(*stage) != "coarse") document.fail(*stage, "must be coarse");
        row.stage = Stage::coarse;
    }
    if (const DocumentNode* const coarse = Document::find(root, "coarse"))
        row.coarse = seconds(document, *coarse);
    row.coarse_limiter = word("coarse_limited_by");
    if (const DocumentNode* const spent = Document::find(root, "spent"))
        row.spent = seconds(document, *spent);
    if (const DocumentNode* const cost = Document::find(root, "cost")) {
        const auto& parts = document.items(*cost);
        if (parts.size() != 3) document.fail(*cost, "must be three numbers");
        row.compile_seconds = document.number(parts[0]);
        row.execute_seconds = document.number(parts[1]);
        row.model_seconds = document.number(parts[2]);
    }
    return row;
}

namespace {

// Rows of a journal's text behind its first line, up to the first line that is not whole; where
// that begins.
std::size_t read_rows(const std::string& text, std::size_t begin,
                      const std::vector<const Model*>& models,
                      std::vector<TunedConfiguration>& rows) {
    for (std::size_t end = text.find('\n', begin); end != text.npos; end = text.find('\n', begin)) {
        try {
            rows.push_back(parse_tuned_line(text.substr(begin, end - begin), models));
        } catch (const InputError&) {
            break;
        }
        begin = end + 1;
    }
    return begin;
}

// Killed, or looked at, while its first line was written: there is nothing to lose.
bool just_begun(const std::string& text, const std::string& head) {
    return text.find('\n') == text.npos && head.starts_with(text);
}

constexpr const char* of_another = "is of another space, profile, change, model, limit or program";

}  // namespace

std::vector<TunedConfiguration> read_tune_journal(const std::filesystem::path& path,
                                                  const std::string& made_of,
                                                  const std::vector<const Model*>& models) {
    const std::string head = first_line(made_of), text = read_text_file(path);
    if (just_begun(text, head)) return {};
    if (!text.starts_with(head)) throw InputError(fmt::format("{}: {}", path.string(), of_another));
    std::vector<TunedConfiguration> rows;
    read_rows(text, head.size(), models, rows);
    return rows;
}

TuneJournal::TuneJournal(const std::filesystem::path& path, const std::string& made_of,
                         const std::vector<const Model*>& models, bool force)
    : file_(path, "tune"), models_(models) {
    const std::string head = first_line(made_of);
    std::string text = file_.size() > 0 ? read_text_file(path) : "";
    if (just_begun(text, head)) text.clear();
    if (!text.empty() && !text.starts_with(head)) {
        if (!force)
            throw InputError(fmt::format("{}: {}; --force begins anew", path.string(), of_another));
        text.clear();
    }
    const std::size_t whole = text.empty() ? 0 : read_rows(text, head.size(), models, rows_);
    file_.cut(static_cast<std::int64_t>(whole));
    if (whole == 0) file_.append(head);
}

void TuneJournal::add(const TunedConfiguration& row) {
    file_.append(tuned_line(row, models_) + "\n");
}

}  // namespace occupipe::analysis

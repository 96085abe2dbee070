// SPDX-License-Identifier: MIT
#include "cli/spellings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "core/error.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"

namespace occupipe::cli {
namespace {

struct Use {
    std::string name;     // of earlier releases, and of the function's command
    std::string command;  // that it is a use of
    std::string option;   // that chooses it; empty: two profiles do
    std::string value;    // that the option takes, which is the first argument under the old name
    void (*add)(const Command&);
};

const std::vector<Use>& uses() {
    static const std::vector<Use> all = {
        {"smoke", "measure", "--smoke", "", add_smoke},
#if OCCUPIPE_FIT
        {"merge", "fit", "--merge", "", add_merge},
        {"watch", "check", "--watch", "", add_watch},
#endif
        {"fleet", "compare", "--fleet", "", add_fleet},
#if OCCUPIPE_FIT
        {"diff", "compare", "", "PROFILE PROFILE", add_diff},  // behind what options choose
#endif
        {"selfcheck", "check", "--self", "", add_selfcheck},
        {"rates", "table", "--rates", "", add_rates},
        {"roofline", "predict", "--counts", "", add_roofline},
        {"import", "convert", "--from", "FORMAT", add_import},
        {"export", "convert", "--to", "FORMAT", add_export},
        {"disassemble", "extract", "--disassemble", "", add_disassemble},
    };
    return all;
}

std::string shown(const Use& use) {
    return use.option.empty() ? use.command : use.command + " " + use.option;
}

bool is_profile(const std::string& word) {
    if (word.starts_with('-')) return false;
    try {
        const std::filesystem::path path = analysis::shipped_profile(word);
        if (!std::filesystem::exists(path)) return analysis::is_shelf_name(word);
        // What comes through a pipe can be read only once.
        return std::filesystem::is_regular_file(path) &&
               file_kind(read_text_file(path), path.string()) == FileKind::profile;
    } catch (const std::exception&) {
        return false;  // the command says what it is not
    }
}

// `--profile` is for predictions, which are compared otherwise.
bool has_two_profiles(const std::vector<std::string>& words) {
    if (std::ranges::any_of(words, [](const std::string& word) {
            return word == "--profile" || word.starts_with("--profile=");
        }))
        return false;
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
        if (!words[i + 1].starts_with('-') && is_profile(words[i]) && is_profile(words[i + 1]))
            return true;
    return false;
}

// Takes the option out, with its value to the front. False: the words do not have it.
bool take_option(const Use& use, std::vector<std::string>& words) {
    if (use.option.empty()) return has_two_profiles(words);
    const auto end = std::find(words.begin() + 1, words.end(), "--");
    const auto found = std::find_if(words.begin() + 1, end, [&](const std::string& word) {
        return word == use.option || (use.value.empty() ? word == use.option + "=true"
                                                        : word.starts_with(use.option + "="));
    });
    if (found == end) return false;
    const std::string word = std::move(*found);
    const auto next = words.erase(found);
    if (use.value.empty()) return true;
    std::string value;
    if (word.size() > use.option.size()) {
        value = word.substr(use.option.size() + 1);
    } else {
        if (next == words.end()) return true;
        value = *next;
        words.erase(next);
    }
    words.insert(words.begin() + 1, value);
    return true;
}

}  // namespace

void add_uses(const Command& app) {
    for (const Use& use : uses()) {
        use.add(app);
        app.show_as_use(use.name, use.command, shown(use), use.value);
    }
}

CalledAs called_as(std::vector<std::string> words) {
    if (words.empty()) return {};
    for (const Use& use : uses()) {
        if (words.front() == use.name)
            return {std::move(words),
                    fmt::format("'{}' is called '{}' now", use.name,
                                shown(use) + (use.value.empty() ? "" : " ") + use.value)};
        if (words.front() == use.command && take_option(use, words)) {
            words.front() = use.name;
            return {std::move(words), ""};
        }
    }
    return {std::move(words), ""};
}

}  // namespace occupipe::cli

// SPDX-License-Identifier: MIT
#include "core/files/compile_commands.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// As a shell splits it: quotes and backslashes.
std::vector<std::string> words_of(const std::string& command) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    bool begun = false;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char c = command[i];
        if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
            word += command[++i];
            begun = true;
        } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
            quote = quote != 0 ? 0 : c;
            begun = true;
        } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            if (begun) words.push_back(std::move(word));
            word.clear();
            begun = false;
        } else {
            word += c;
            begun = true;
        }
    }
    if (begun) words.push_back(std::move(word));
    return words;
}

fs::path below(const fs::path& folder, const fs::path& path) {
    return path.is_absolute() ? path : folder / path;
}

// An option with a value, in one word or two; how it is handed on.
struct Valued {
    std::string_view name;
    std::string_view written;
    bool is_path;
};
constexpr Valued valued[] = {
    {"-isystem", "-I", true},
    {"--include-path", "-I", true},
    {"-I", "-I", true},
    {"--define-macro", "-D", false},
    {"-D", "-D", false},
    {"-U", "-U", false},
    {"-include", "-include=", true},
    {"--std", "--std=", false},
    {"-std", "--std=", false},
};
constexpr std::string_view plain[] = {"--use_fast_math", "-use_fast_math"};
constexpr std::string_view prefixed[] = {"-fmad=", "--fmad=", "-ftz=", "-prec-div=", "-prec-sqrt="};

std::vector<std::string> chosen(const std::vector<std::string>& words, const fs::path& folder) {
    std::vector<std::string> options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const bool whole =
            std::ranges::find(plain, word) != std::end(plain) ||
            std::ranges::any_of(prefixed, [&](auto one) { return word.starts_with(one); });
        if (whole) {
            options.emplace_back(word);
            continue;
        }
        const auto* const found = std::ranges::find_if(
            valued, [&](const Valued& one) { return word.starts_with(one.name); });
        if (found == std::end(valued)) continue;
        std::string value(word.substr(found->name.size()));
        if (value.starts_with('=')) value.erase(0, 1);
        if (value.empty()) {
            if (i + 1 == words.size()) break;
            value = words[++i];
        }
        if (found->is_path) value = below(folder, value).lexically_normal().string();
        // nvcc's host compilers have dialects of their own, and CUDA has no older ones.
        if (found->written == "--std=" && value.starts_with("gnu++")) value.replace(0, 5, "c++");
        options.push_back(std::string(found->written) + value);
    }
    return options;
}

std::string text_at(const Json& entry, const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::vector<std::string> compile_commands_options(const std::string& text, const fs::path& name,
                                                  const fs::path& source) {
    const Json all = Json::parse(text, nullptr, false);
    if (!all.is_array())
        throw InputError(name.string() + ": is not a JSON array of compile commands");
    const fs::path wanted = fs::absolute(source).lexically_normal();
    for (const Json& entry : all) {
        if (!entry.is_object()) continue;
        const fs::path folder =
            below(fs::absolute(name).parent_path(), text_at(entry, "directory"));
        if (below(folder, text_at(entry, "file")).lexically_normal() != wanted) continue;
        std::vector<std::string> words = words_of(text_at(entry, "command"));
        if (const auto list = entry.find("arguments"); list != entry.end() && list->is_array())
            for (const Json& one : *list)
                if (one.is_string()) words.push_back(one.get<std::string>());
        return chosen(words, folder);
    }
    return {};
}

std::vector<std::string> options_of_project(const fs::path& source) {
    constexpr const char* file = "compile_commands.json";
    fs::path folder = fs::absolute(source).lexically_normal().parent_path();
    while (true) {
        for (const fs::path& name : {folder / file, folder / "build" / file}) {
            std::error_code none;
            if (fs::is_regular_file(name, none))
                return compile_commands_options(read_text_file(name), name, source);
        }
        if (!folder.has_relative_path()) return {};
        folder = folder.parent_path();
    }
}

}  // namespace occupipe

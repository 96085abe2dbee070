// SPDX-License-Identifier: MIT
// `occupipe completion bash|zsh|fish` prints what the shell loads; that asks `occupipe completion
// words -- WORD…`, with the word to be completed last. An answer is a line per candidate, "WORD
// <tab> WHAT IT IS", and ":files" where a file may stand.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/validation/suite.h"
#include "ask/shipped_files.h"
#include "bench/instructions/instruction_table.h"
#include "cli/commands.h"
#include "cli/completion_scripts.h"
#include "cli/spellings.h"
#include "core/error.h"
#include "published/shelf.h"
#include "sim/models/registry.h"

namespace occupipe::cli {
namespace {

using Words = std::vector<Candidates::Word>;

Words instructions() {
    Words words;
    for (const auto& rows : {bench::instruction_table(), bench::opencl_table()})
        for (const bench::Row& row : rows)
            if (std::ranges::find(words, row.id, &Candidates::Word::text) == words.end())
                words.push_back({std::string(row.id), std::string(row.meaning)});
    return words;
}

Words profiles() {
    Words words;
    for (const std::filesystem::path& file : analysis::shipped_profiles())
        words.push_back({file.stem().string(), "measured or published"});
    for (const analysis::ShelfCard& card : analysis::built_in_shelf().cards)
        words.push_back({card.id, card.name});
    return words;
}

Words kernels() {
    Words words;
    for (const std::filesystem::path& file : analysis::shipped_kernels())
        words.push_back({file.stem().string(), "shipped kernel"});
    return words;
}

Words models_to_choose() {
    Words words = {{"all", "every model"}};
    for (const Model& model : models())
        words.push_back({std::string(model.name), std::string(model.citation)});
    return words;
}

// Of what --help calls a value.
Words named(const std::string& value) {
    if (value.find("PROFILE") != std::string::npos) return profiles();
    if (value.find("INSTRUCTION") != std::string::npos || value == "LIST" || value == "NAME")
        return instructions();
    if (value == "KERNEL") return kernels();
    if (value == "MODEL") return models_to_choose();
    return {};
}

bool may_be_file(const std::string& value) {
    static const std::set<std::string> words = {"AFTER",   "BASELINE", "DIR",       "DIR|KERNEL",
                                                "FOLDER",  "KERNEL",   "PATH",      "PROFILE",
                                                "PROGRAM", "RESULTS",  "SPEC.yaml", "SPEC"};
    return words.contains(value) || value.find("FILE") != std::string::npos;
}

void print_candidates(const Program& program, std::vector<std::string> words) {
    const std::string last = words.empty() ? "" : words.back();
    // `measure --smoke` is a command of its own; what is being typed chooses none.
    if (!words.empty()) words.pop_back();
    words = called_as(std::move(words)).words;
    words.push_back(last);
    Candidates found = program.candidates(std::move(words));
    std::string kept = found.kept;
    if (found.words.empty()) {
        found.words = named(found.value);
        // Of lists, and of OP=INSTRUCTION, the last one.
        const std::size_t begin = last.find_last_of(found.value == "OP=INSTRUCTION" ? "=," : ",");
        if (begin != std::string::npos && begin + 1 > kept.size()) kept = last.substr(0, begin + 1);
    }
    for (const Candidates::Word& word : found.words)
        if ((kept + word.text).starts_with(last))
            fmt::print("{}{}\t{}\n", kept, word.text, word.about);
    if (may_be_file(found.value)) fmt::print(":files\n");
}

}  // namespace

void add_completion(const Program& program) {
    const Command command = program.subcommand(
        "completion", "Print what a shell loads to complete commands, options and names");
    const auto shell = std::make_shared<std::string>();
    const auto words = std::make_shared<std::vector<std::string>>();
    command.hide();
    command.add_option("shell", *shell, "bash, zsh or fish")
        .required()
        .check(one_of({"bash", "zsh", "fish", "words"}))
        .type_name("SHELL");
    command.add_option("words", *words, "Behind words: the command line so far").type_name("WORD");
    command.footer(
        "Examples:\n"
        "  source <(occupipe completion bash)\n"
        "  occupipe completion zsh > ~/.zfunc/_occupipe\n"
        "  occupipe completion fish > ~/.config/fish/completions/occupipe.fish\n");
    command.callback([&program, shell, words] {
        if (*shell == "words") return print_candidates(program, *words);
        if (!words->empty())
            throw InputError(fmt::format("completion {} takes no further words", *shell));
        const std::string file = *shell == "zsh" ? "_occupipe" : "occupipe." + *shell;
        fmt::print("{}", embedded(completion_scripts(), "cli/completion/" + file));
    });
}

}  // namespace occupipe::cli

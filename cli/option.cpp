// SPDX-License-Identifier: MIT
#include "cli/option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "core/suggestions.h"

namespace occupipe::cli {

// A command, and what CLI11 does not know about it.
struct CommandApp : CLI::App {
    using CLI::App::App;

    struct Name {
        std::string shown;  // "-o,--output", "--cache l1"
        bool takes_value = false;
        std::vector<std::string> former;  // "--l1-bytes"
    };
    struct Use {
        std::string shown;  // "measure --smoke"
        std::string about;
    };

    std::map<const CLI::Option*, Name> names;
    std::set<std::string> first;  // of Name::shown, what --help has; empty: all
    std::vector<Use> uses;
    std::string shown;        // where it is a use of another command: "measure --smoke"
    std::string first_value;  // Command::show_as_use()

    const Name& name_of(const CLI::Option* option) const { return names.at(option); }
};

namespace {

Check checked_by(CLI::Validator validator) {
    return Check(std::make_shared<const CLI::Validator>(std::move(validator)));
}

// `what`: what the number has to be.
Check number_check(const std::string& what, const std::string& description,
                   bool (*fits)(double, double, double), double least = 0, double most = 0) {
    return checked_by(CLI::Validator(
        [=](std::string& text) {
            double value = 0;
            const bool fine = CLI::detail::lexical_cast(text, value) && std::isfinite(value) &&
                              fits(value, least, most);
            return fine ? std::string() : fmt::format("'{}' is not {}", text, what);
        },
        description));
}

}  // namespace

Check one_of(std::initializer_list<const char*> words) {
    return one_of(std::vector<std::string>(words.begin(), words.end()));
}

Check one_of(const std::vector<std::string>& words) { return checked_by(CLI::IsMember(words)); }

Check one_of(std::initializer_list<int> numbers) { return checked_by(CLI::IsMember(numbers)); }

Check in_range(int least, int most) { return checked_by(CLI::Range(least, most)); }

Check in_range(unsigned least, unsigned most) { return checked_by(CLI::Range(least, most)); }

Check finite_number() {
    return number_check("a finite number", "", [](double, double, double) { return true; });
}

Check positive_number() {
    return number_check("a positive finite number", "POSITIVE",
                        [](double value, double, double) { return value > 0; });
}

Check number_not_negative() {
    return number_check("a finite number of at least 0", "NONNEGATIVE",
                        [](double value, double, double) { return value >= 0; });
}

Check number_between(double least, double most) {
    const std::string range = fmt::format("from {} to {}", least, most);
    return number_check(
        "a number " + range, fmt::format("in [{} - {}]", least, most),
        [](double value, double low, double high) { return value >= low && value <= high; }, least,
        most);
}

Check instruction_list() {
    return checked_by(CLI::Validator(
        [](std::string& text) {
            if (text.find_first_not_of(", \t") != std::string::npos) return std::string();
            return fmt::format("'{}' names no instruction; leave the option out for all", text);
        },
        ""));
}

Option Option::type_name(const std::string& name) const {
    option_->type_name(name);
    return *this;
}

Option Option::group(const std::string& heading) const {
    option_->group(heading);
    return *this;
}

Option Option::check(const Check& check) const {
    option_->check(check.validator());
    return *this;
}

Option Option::required() const {
    option_->required();
    return *this;
}

Option Option::needs(Option other) const {
    option_->needs(other.option_);
    return *this;
}

Option Option::excludes(Option other) const {
    option_->excludes(other.option_);
    return *this;
}

Option Option::delimiter(char separator) const {
    option_->delimiter(separator);
    return *this;
}

Option Option::one_value_each() const {
    option_->allow_extra_args(false);
    return *this;
}

Option Option::show_default() const {
    option_->capture_default_str();
    return *this;
}

Option Option::optional_value(const std::string& value) const {
    option_->expected(0, 1)->default_str(value);
    return *this;
}

bool Option::given() const { return option_->count() > 0; }

namespace {

// CLI11's name of "--cache l1"; '.' is what users do not see.
std::string one_word(std::string shown) {
    std::ranges::replace(shown, ' ', '.');
    return shown;
}

struct SpeltName {
    CommandApp::Name name;
    std::string all;  // as CLI11 takes them
};

SpeltName read_name(const std::string& text) {
    SpeltName spelt;
    std::size_t bar = text.find('|');
    spelt.name.shown = text.substr(0, bar);
    spelt.all = one_word(spelt.name.shown);
    while (bar != std::string::npos) {
        const std::size_t next = text.find('|', bar + 1);
        spelt.name.former.push_back(text.substr(bar + 1, next - bar - 1));
        spelt.all += "," + spelt.name.former.back();
        bar = next;
    }
    return spelt;
}

// As a user types it: "occupipe list devices", "occupipe measure --smoke".
std::string typed_name(const CommandApp& command) {
    const CLI::App* const parent = command.get_parent();
    if (parent == nullptr) return command.get_name();
    return typed_name(static_cast<const CommandApp&>(*parent)) + " " +
           (command.shown.empty() ? command.get_name() : command.shown);
}

bool is_shown(const CommandApp& command, const CLI::Option* option, CLI::AppFormatMode mode) {
    const auto known = command.names.find(option);
    return mode == CLI::AppFormatMode::All || command.first.empty() ||
           known == command.names.end() || command.first.contains(known->second.shown);
}

// As CLI11 writes it, but for former names, options that share a name, and those that --help leaves
// to --help-all.
class HelpText : public CLI::Formatter {
public:
    std::string make_help(const CLI::App* app, std::string,
                          CLI::AppFormatMode mode) const override {
        const auto& command = static_cast<const CommandApp&>(*app);
        return make_description(app) + usage(command) + make_positionals(app) +
               options(command, mode) + uses(command) + make_subcommands(app, mode) + "\n" +
               make_footer(app);
    }

private:
    std::string usage(const CommandApp& command) const {
        std::string text = make_usage(&command, typed_name(command));
        if (command.first_value.empty()) return text;
        const CLI::Option* const first = command.get_options(
            [](const CLI::Option* option) { return option->get_positional(); })[0];
        const std::string word = " " + first->get_name(true);
        text.erase(text.find(word), word.size());
        return text.insert(text.find(" [OPTIONS]"), " " + command.first_value);
    }

    std::string options(const CommandApp& command, CLI::AppFormatMode mode) const {
        std::string text;
        std::size_t left = 0;
        for (const std::string& group : command.get_groups()) {
            if (group.empty()) continue;
            std::string lines;
            for (const CLI::Option* option : command.get_options([&](const CLI::Option* one) {
                     return one->get_group() == group && one->nonpositional();
                 })) {
                if (is_shown(command, option, mode))
                    lines += option_lines(command, option);
                else
                    ++left;
            }
            if (!lines.empty()) text += fmt::format("\n{}:\n{}", group, lines);
        }
        if (left > 0) text += fmt::format("\n{} more options: --help-all\n", left);
        return text;
    }

    std::string option_lines(const CommandApp& command, const CLI::Option* option) const {
        const auto known = command.names.find(option);
        std::string name = make_option_name(option, false);
        std::string value = make_option_opts(option);
        if (known != command.names.end()) {
            name = known->second.shown;
            const bool one_of_several = name.find(' ') != std::string::npos;
            if (one_of_several && known->second.takes_value) value.replace(0, 1, "=");
        }
        std::ostringstream out;
        CLI::detail::format_help(out, name + value, make_option_desc(option), column_width_);
        return out.str();
    }

    std::string uses(const CommandApp& command) const {
        if (command.uses.empty()) return {};
        std::ostringstream out;
        out << "\nAlso, each with a --help of its own:\n";
        for (const CommandApp::Use& use : command.uses)
            CLI::detail::format_help(out, use.shown, use.about, column_width_);
        return out.str();
    }
};

}  // namespace

Command Command::subcommand(const std::string& name, const std::string& about) const {
    const auto app = std::make_shared<CommandApp>(about, name);
    app->formatter(std::make_shared<HelpText>());
    // Where --help has all (show_first is not called), both say the same.
    app->set_help_all_flag("--help-all", "Print all options and exit")->group("");
    app_->add_subcommand(app);
    return Command(app.get());
}

template <typename Variable>
Option Command::add_option(const std::string& name, Variable& variable,
                           const std::string& help) const {
    SpeltName spelt = read_name(name);
    CLI::Option* const option = app_->add_option(spelt.all, variable, help);
    spelt.name.takes_value = true;
    app_->names.emplace(option, std::move(spelt.name));
    return Option(option);
}

template Option Command::add_option(const std::string&, int&, const std::string&) const;
template Option Command::add_option(const std::string&, unsigned&, const std::string&) const;
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, double&, const std::string&) const;
template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, std::filesystem::path&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<int>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::uint32_t>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::int64_t>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::uint64_t>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<double>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<std::string>&,
                                    const std::string&) const;

Option Command::add_flag(const std::string& name, bool& variable, const std::string& help) const {
    SpeltName spelt = read_name(name);
    CLI::Option* const option = app_->add_flag(spelt.all, variable, help);
    app_->names.emplace(option, std::move(spelt.name));
    return Option(option);
}

Option Command::option(const std::string& name) const {
    return Option(app_->get_option(one_word(name)));
}

bool Command::has_option(const std::string& name) const {
    return app_->get_option_no_throw(one_word(name)) != nullptr;
}

void Command::show_first(std::initializer_list<const char*> names) const {
    app_->set_help_all_flag("--help-all", "Print all options and exit");
    app_->first.insert(names.begin(), names.end());
}

void Command::show_as_use(const std::string& name, const std::string& of, const std::string& shown,
                          const std::string& arguments) const {
    auto& use = static_cast<CommandApp&>(*app_->get_subcommand(name));
    use.group("");
    use.shown = shown;
    if (shown.find("--") != std::string::npos) use.first_value = arguments;
    auto& command = static_cast<CommandApp&>(*app_->get_subcommand(of));
    command.uses.push_back(
        {arguments.empty() ? shown : shown + " " + arguments, use.get_description()});
}

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::hide() const { app_->group(""); }

void Command::callback(std::function<void()> run) const { app_->callback(std::move(run)); }

bool Command::chose_subcommand() const { return !app_->get_subcommands().empty(); }

std::string Command::help() const { return app_->help(); }

namespace {

CommandApp& named_command(CommandApp& app) {
    CLI::App* command = &app;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return static_cast<CommandApp&>(*command);
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
}

// One line: what is wrong, and where to read more.
std::string usage_fault(CommandApp& app, const CLI::ParseError& error) {
    const CommandApp& command = named_command(app);
    const std::string name = typed_name(command);
    std::string what = error.what();
    for (const auto& [option, spelt] : command.names)
        if (const std::string word = one_word(spelt.shown); word != spelt.shown)
            replace_all(what, word, spelt.shown);
    const std::vector<std::string> extra = app.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty()) {
        what = fmt::format("unexpected argument '{}'", extra.front());
        std::vector<std::string> commands;
        for (const CLI::App* one : command.get_subcommands(
                 [](const CLI::App* candidate) { return !candidate->get_group().empty(); }))
            commands.push_back(one->get_name());
        if (!commands.empty() && !extra.front().starts_with('-')) {
            const auto near = near_names(extra.front(), commands);
            what =
                fmt::format("'{}' is not a command{}", extra.front(),
                            near.empty() ? "" : fmt::format("; near: {}", fmt::join(near, ", ")));
        }
    }
    // CLI11's words for a value that is given several times.
    static const std::regex several("At Most 1 required but received (\\d+)");
    what = std::regex_replace(what, several, "takes one value, $1 are given");
    return fmt::format("{}: {}; see '{} --help'", name, what, name);
}

// The command that the words name, as far as they are names.
const CommandApp& command_of(const CommandApp& app, const std::vector<std::string>& words) {
    const CLI::App* command = &app;
    for (const std::string& word : words) {
        const auto named =
            command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
        if (named.empty()) break;
        command = named.front();
    }
    return static_cast<const CommandApp&>(*command);
}

// `-DN=4` and `-I include`, as compilers take them, are `--compiler option=`.
void join_compiler_options(const CommandApp& command, std::vector<std::string>& words) {
    constexpr std::string_view shown = "--compiler option";
    if (std::ranges::none_of(command.names,
                             [&](const auto& entry) { return entry.second.shown == shown; }))
        return;
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        if (!words[i].starts_with("-D") && !words[i].starts_with("-I")) continue;
        if (i > 0 && words[i - 1] == "--compiler-option") continue;  // its value already
        if (words[i].size() == 2) {
            if (i + 1 == words.size() || words[i + 1].empty())
                throw UsageError(
                    fmt::format("{}: {} needs a value", typed_name(command), words[i]));
            words[i] += words[i + 1];
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
        words[i].insert(0, "--compiler.option=");
    }
}

// `--cache l1=65536` and `--cache=l1=65536` in one word, "--cache.l1=65536".
void join_names(const CommandApp& command, std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        if (!words[i].starts_with("--")) continue;
        const std::size_t equals = words[i].find('=');
        const std::string family = words[i].substr(0, equals);
        std::vector<std::string> members;
        for (const auto& [option, name] : command.names)
            if (name.shown.starts_with(family + " "))
                members.push_back(name.shown.substr(family.size() + 1) +
                                  (name.takes_value ? "=" : ""));
        const bool has_next = i + 1 < words.size();
        if (members.empty() || (equals == std::string::npos && !has_next)) continue;
        const std::string value =
            equals == std::string::npos ? words[i + 1] : words[i].substr(equals + 1);
        const bool known = std::ranges::any_of(members, [&](const std::string& member) {
            return member.ends_with('=') ? value.starts_with(member) : value == member;
        });
        if (known) {
            words[i] = fmt::format("{}.{}", family, value);
            if (equals == std::string::npos)
                words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        } else if (command.get_option_no_throw(family) == nullptr) {
            for (std::string& member : members)
                if (member.ends_with('=')) member += "…";
            std::ranges::sort(members);
            const std::string name = typed_name(command);
            throw UsageError(fmt::format("{}: {} {}: must be one of {}; see '{} --help'", name,
                                         family, value, fmt::join(members, ", "), name));
        }
    }
}

// A line on stderr for each former name of an option.
void hint_at_names(const std::string& program, const CommandApp& command,
                   const std::vector<std::string>& words) {
    std::set<std::string> said;
    for (const std::string& word : words) {
        if (word == "--") return;
        if (!word.starts_with("--")) continue;
        const std::string spelt = word.substr(0, word.find('='));
        for (const auto& [option, name] : command.names) {
            if (std::ranges::find(name.former, spelt) == name.former.end()) continue;
            const bool of_several = name.shown.find(' ') != std::string::npos;
            if (said.insert(spelt).second)
                fmt::print(stderr, "{}: note: {} is called '{}{}' now\n", program, spelt,
                           name.shown, of_several && name.takes_value ? "=…" : "");
        }
    }
}

// The first line of a help text.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Words that a check of the option lists: "PROFILE:{a,b}".
std::vector<std::string> listed_words(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t begin = type.find(":{");
    if (begin == std::string::npos || !type.ends_with('}')) return {};
    return CLI::detail::split(type.substr(begin + 2, type.size() - begin - 3), ',');
}

void add_value(Candidates& found, const CLI::Option& option) {
    for (const std::string& word : listed_words(option)) found.words.push_back({word, ""});
    const std::string type = option.get_type_name();
    if (found.words.empty()) found.value = type.substr(0, type.find(':'));
}

// `--cache l1` of the option `--cache`.
void add_members(Candidates& found, const CommandApp& command, const std::string& family) {
    for (const auto& [option, name] : command.names)
        if (name.shown.starts_with(family + " "))
            found.words.push_back(
                {name.shown.substr(family.size() + 1) + (name.takes_value ? "=" : ""),
                 first_line(option->get_description())});
}

// The option that a word names, if a value follows.
const CLI::Option* awaits_value(const CommandApp& command, const std::string& word) {
    if (!word.starts_with('-')) return nullptr;
    const CLI::Option* const option = command.get_option_no_throw(word);
    return option != nullptr && option->get_items_expected_max() > 0 ? option : nullptr;
}

void add_options(Candidates& found, const CommandApp& command) {
    std::map<std::string, std::string> names;
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* one) { return one->nonpositional(); })) {
        const auto known = command.names.find(option);
        std::string name = known == command.names.end() ? option->get_name() : known->second.shown;
        name = name.substr(name.rfind(',') + 1);
        names.emplace(name.substr(0, name.find(' ')), first_line(option->get_description()));
    }
    for (const CommandApp::Use& use : command.uses)
        if (const std::size_t at = use.shown.find("--"); at != std::string::npos)
            names.emplace(use.shown.substr(at), first_line(use.about));
    for (const auto& [name, about] : names) found.words.push_back({name, about});
}

// The positional argument that comes next, behind so many.
void add_positional(Candidates& found, const CommandApp& command, std::size_t before) {
    const auto positionals =
        command.get_options([](const CLI::Option* option) { return option->get_positional(); });
    for (const CLI::Option* option : positionals) {
        const auto most = static_cast<std::size_t>(option->get_items_expected_max());
        if (before < most) return add_value(found, *option);
        before -= most;
    }
}

}  // namespace

Program::Program(const std::string& about, const std::string& name,
                 const std::function<std::string()>& version)
    : Command(new CommandApp(about, name)) {
    app_->formatter(std::make_shared<HelpText>());
    app_->require_subcommand(0, 1);
    app_->set_version_flag("--version", version);
}

Program::~Program() { delete app_; }

bool Program::run(std::vector<std::string> words) const {
    try {
        try {
            const CommandApp& command = command_of(*app_, words);
            hint_at_names(app_->get_name(), command, words);
            join_compiler_options(command, words);
            join_names(command, words);
            std::ranges::reverse(words);  // as CLI11 takes them
            app_->parse(std::move(words));
        } catch (const MissingOption& missing) {
            throw CLI::RequiredError(missing.what());
        }
        return chose_subcommand();
    } catch (const CLI::ParseError& error) {
        // Help and version come as "errors" too, with exit code 0.
        if (error.get_exit_code() != 0) throw UsageError(usage_fault(*app_, error));
        app_->exit(error);
        return true;
    }
}

Candidates Program::candidates(std::vector<std::string> words) const {
    Candidates found;
    if (words.empty()) return found;
    const std::string last = words.back();
    words.pop_back();
    const CommandApp& command = command_of(*app_, words);
    std::size_t named = 0;
    for (const CLI::App* app = &command; app->get_parent() != nullptr; app = app->get_parent())
        ++named;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(named));
    const std::string before = words.empty() ? "" : words.back();
    const std::size_t equals = last.find('=');
    if (last.starts_with("--") && equals != std::string::npos) {
        found.kept = last.substr(0, equals + 1);
        add_members(found, command, last.substr(0, equals));
        const CLI::Option* const option = awaits_value(command, last.substr(0, equals));
        if (found.words.empty() && option != nullptr) add_value(found, *option);
    } else if (const CLI::Option* const option = awaits_value(command, before)) {
        add_value(found, *option);
    } else if (last.starts_with('-')) {
        add_options(found, command);
    } else {
        if (before.starts_with("--")) add_members(found, command, before);
        if (!found.words.empty()) return found;
        for (const CLI::App* one :
             command.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); }))
            found.words.push_back({one->get_name(), first_line(one->get_description())});
        std::size_t positionals = 0;
        for (std::size_t i = 0; i < words.size(); ++i)
            if (!words[i].starts_with('-') &&
                (i == 0 || awaits_value(command, words[i - 1]) == nullptr))
                ++positionals;
        if (found.words.empty()) add_positional(found, command, positionals);
    }
    return found;
}

std::string Program::name() const { return app_->get_name(); }

Command Program::named() const { return Command(&named_command(*app_)); }

}  // namespace occupipe::cli

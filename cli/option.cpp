// SPDX-License-Identifier: MIT
#include "cli/option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/suggestions.h"

namespace occupipe::cli {
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

Command Command::subcommand(const std::string& name, const std::string& about) const {
    return Command(app_->add_subcommand(name, about));
}

template <typename Variable>
Option Command::add_option(const std::string& name, Variable& variable,
                           const std::string& help) const {
    return Option(app_->add_option(name, variable, help));
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
    return Option(app_->add_flag(name, variable, help));
}

Option Command::option(const std::string& name) const { return Option(app_->get_option(name)); }

bool Command::has_option(const std::string& name) const {
    return app_->get_option_no_throw(name) != nullptr;
}

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::callback(std::function<void()> run) const { app_->callback(std::move(run)); }

bool Command::chose_subcommand() const { return !app_->get_subcommands().empty(); }

std::string Command::help() const { return app_->help(); }

namespace {

CLI::App& named_command(CLI::App& app) {
    CLI::App* command = &app;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return *command;
}

// One line: what is wrong, and where to read more.
std::string usage_fault(CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = named_command(app);
    std::string name = app.get_name();
    if (&command != &app) {
        if (command.get_parent() != &app) name += " " + command.get_parent()->get_name();
        name += " " + command.get_name();
    }
    std::string what = error.what();
    const std::vector<std::string> extra = app.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty()) {
        what = fmt::format("unexpected argument '{}'", extra.front());
        std::vector<std::string> commands;
        for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
            commands.push_back(one->get_name());
        if (!commands.empty() && !extra.front().starts_with('-')) {
            const auto near = near_names(extra.front(), commands);
            what =
                fmt::format("'{}' is not a command{}", extra.front(),
                            near.empty() ? "" : fmt::format("; near: {}", fmt::join(near, ", ")));
        }
    }
    return fmt::format("{}: {}; see '{} --help'", name, what, name);
}

}  // namespace

Program::Program(const std::string& about, const std::string& name,
                 const std::function<std::string()>& version)
    : Command(new CLI::App(about, name)) {
    app_->require_subcommand(0, 1);
    app_->set_version_flag("--version", version);
}

Program::~Program() { delete app_; }

bool Program::run(int argc, const char* const* argv) const {
    try {
        try {
            app_->parse(argc, argv);
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

std::string Program::name() const { return app_->get_name(); }

Command Program::named() const { return Command(&named_command(*app_)); }

}  // namespace occupipe::cli

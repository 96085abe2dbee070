// SPDX-License-Identifier: MIT
// Commands and their options. CLI11 reads them; option.cpp alone sees it, since its header is
// longer than all of this folder.
//   Command command = program.subcommand("fit", "Fit λ and Λ …");
//   command.add_option("-o,--output", arguments->output, "PROFILE.yaml to write")
//       .type_name("PROFILE.yaml");
//   command.callback([arguments] { fit(*arguments); });
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class Option;
class Validator;
}  // namespace CLI

namespace occupipe::cli {

// What the text of an option has to be.
class Check {
public:
    explicit Check(std::shared_ptr<const CLI::Validator> validator)
        : validator_(std::move(validator)) {}
    const CLI::Validator& validator() const { return *validator_; }

private:
    std::shared_ptr<const CLI::Validator> validator_;
};

Check one_of(std::initializer_list<const char*> words);
Check one_of(const std::vector<std::string>& words);
Check one_of(std::initializer_list<int> numbers);
Check in_range(int least, int most);
Check in_range(unsigned least, unsigned most);
// For numbers: CLI11's own checks let NaN through, since it is below no bound.
Check finite_number();
Check positive_number();
Check number_not_negative();
Check number_between(double least, double most);
// Of names or patterns separated by commas: at least one, since none would mean all.
Check instruction_list();

struct CommandApp;

// One option, flag or positional argument of a command; copies are of the same one.
class Option {
public:
    explicit Option(CLI::Option* option) : option_(option) {}

    Option type_name(const std::string& name) const;  // what stands for its value in --help
    Option group(const std::string& heading) const;
    Option check(const Check& check) const;
    Option required() const;
    Option needs(Option other) const;
    Option excludes(Option other) const;
    Option delimiter(char separator) const;  // of the values in one argument
    Option one_value_each() const;           // of a list: `--use A --use B`, not `--use A B`
    Option show_default() const;
    Option optional_value(const std::string& value) const;  // what the option alone means
    bool given() const;

private:
    CLI::Option* option_;
};

// Names of options:
//   "kernel"                           a positional argument
//   "-o,--output"                      a short name and a long one
//   "--cache l1"                       one of several under a name: `--cache l1=65536`;
//                                      a flag: `--fail-on serious`
//   "--cache l1|--l1-bytes"            behind |, its names of earlier releases: accepted with a
//                                      hint on stderr, and not in --help
class Command {
public:
    explicit Command(CommandApp* app) : app_(app) {}

    Command subcommand(const std::string& name, const std::string& about) const;
    // The variable must live as long as the command.
    template <typename Variable>
    Option add_option(const std::string& name, Variable& variable, const std::string& help) const;
    Option add_flag(const std::string& name, bool& variable, const std::string& help) const;
    Option option(const std::string& name) const;  // one that was added
    bool has_option(const std::string& name) const;
    // Of --help, which is short: these options, by the names that they were added with. The others
    // are in --help-all. Without it, --help has all.
    void show_first(std::initializer_list<const char*> names) const;
    // The subcommand `name` is a use of the subcommand `of`, whose --help lists it: as "measure
    // --smoke" or, with the arguments that choose it, as "convert --from" "FORMAT".
    void show_as_use(const std::string& name, const std::string& of, const std::string& shown,
                     const std::string& arguments) const;
    void footer(const std::string& text) const;
    void hide() const;  // from the --help of the program
    void callback(std::function<void()> run) const;
    bool chose_subcommand() const;
    std::string help() const;

protected:
    CommandApp* app_;
};

// What callbacks throw where an option is missing that only some uses of the command need.
struct MissingOption : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The command line is at fault; what() is one line that says why, and where to read more.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What may stand where the last word of a command line does, for a shell's completion.
struct Candidates {
    struct Word {
        std::string text;
        std::string about;  // may be empty
    };
    std::vector<Word> words;
    std::string value;  // what --help calls the value that may stand there: "PROFILE", "FILE"
    std::string kept;   // beginning of the last word that is not the value's: "--device="
};

class Program : public Command {
public:
    Program(const std::string& about, const std::string& name,
            const std::function<std::string()>& version);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program();

    // Runs the callback of the command that the words name, the first of the command line but for
    // the program. False: they name none. --help and --version are printed. Throws UsageError, and
    // what the callback throws.
    bool run(std::vector<std::string> words) const;
    std::string name() const;
    // Of words that end with the one to be completed, which may be empty.
    Candidates candidates(std::vector<std::string> words) const;
    // The command that the last words named; the program itself where they named none.
    Command named() const;
};

}  // namespace occupipe::cli

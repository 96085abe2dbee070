// SPDX-License-Identifier: MIT
// Search spaces as tuners write them, the T1 input file of the FAIR auto-tuning format and KTT's
// loader file (JSON), and as people without a tuner's file do (YAML, space_yaml.h).
//   const TuningSpace space = read_tuning_space("convolution.json");
//   TunedLaunch launch = launch_of(space, {{"block_size_x", 32}, …});
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/tuning/expression.h"
#include "core/error.h"
#include "core/launch_plan.h"

namespace occupipe::analysis {

using Configuration = std::map<std::string, Value, std::less<>>;

std::string to_text(const Configuration& configuration);  // "block_size_x=32, tile=2"

struct TuningSpace {
    // An expression, or the number that it is, with its place in the file.
    struct Formula {
        std::string text;
        SourcePosition where;
        std::string key;
    };
    struct Tunable {
        std::string name;
        Value::List values;
    };
    struct Argument {
        std::string name;
        ElementType type = ElementType::f32;
        bool scalar = false;
        bool symbol = false;  // a variable of the module, by its name
        Formula size;         // elements, of a vector
        BufferFill fill;      // of a vector; `low` is a scalar's value
        SourcePosition where;
    };

    std::string file;
    // Its name; arguments of a template may be tunables: "blur<bx, 4>".
    std::string kernel;
    std::string source;                         // path
    std::vector<std::string> compiler_options;  // of every configuration
    std::vector<Tunable> tunables;
    std::vector<Formula> conditions;
    Value::List problem_size;
    std::array<Formula, 3> block;
    std::array<std::optional<Formula>, 3> groups;       // the grid in groups, where it is told
    std::array<std::vector<Formula>, 3> grid_divisors;  // else ceil(problem size / product)
    Formula shared_bytes;                               // dynamic
    std::vector<Argument> arguments;
    std::vector<std::string> notes;  // what the file says otherwise in another place
};

// A value that equals an earlier one; null: there is none.
const Value* repeated(const Value::List& values);

// Throws InputError that names file, line and key.
TuningSpace read_tuning_space(const std::string& path);
TuningSpace parse_tuning_space(const std::string& text, const std::string& file);

// Whether a condition of the space holds; the configuration may lack tunables that are not in it.
// Throws InputError.
bool fulfils(const TuningSpace& space, const TuningSpace::Formula& condition,
             const Configuration& configuration);

// The condition that excludes it; absent: it is of the space. Throws InputError.
std::optional<std::string> excluded_by(const TuningSpace& space,
                                       const Configuration& configuration);

struct TunedLaunch {
    LaunchPlan plan;                            // with `source`
    std::vector<std::string> compiler_options;  // a macro for each tunable among them
};

// Constants are both symbols and arguments, as tuners' files do not tell which of them the kernel
// has. Throws InputError, of a configuration that no GPU can launch, too.
TunedLaunch launch_of(const TuningSpace& space, const Configuration& configuration);

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include "analysis/tuning/space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "analysis/tuning/space_yaml.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"

namespace occupipe::analysis {
namespace {

constexpr std::array<const char*, 3> axes = {"X", "Y", "Z"};

struct TypeName {
    std::string_view name;
    ElementType type;
};
constexpr TypeName type_names[] = {
    {"float", ElementType::f32},
    {"double", ElementType::f64},
    {"half", ElementType::f16},
    {"int", ElementType::i32},
    {"int32", ElementType::i32},
    {"unsigned int", ElementType::u32},
    {"uint", ElementType::u32},
    {"uint32", ElementType::u32},
    {"short", ElementType::i16},
    {"int16", ElementType::i16},
    {"unsigned short", ElementType::u16},
    {"uint16", ElementType::u16},
    {"char", ElementType::i8},
    {"int8", ElementType::i8},
    {"unsigned char", ElementType::u8},
    {"uint8", ElementType::u8},
    {"long", ElementType::i64},
    {"int64", ElementType::i64},
    {"unsigned long", ElementType::u64},
    {"uint64", ElementType::u64},
};

// As a macro's name has to be.
bool is_name(std::string_view text) {
    const auto letter = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::ranges::all_of(text, letter);
}

class Reader {
public:
    explicit Reader(const Document& document) : document_(document) {}

    TuningSpace run() {
        space_.file = document_.file_name();
        const DocumentNode& root = document_.root();
        const DocumentNode& values = document_.required(root, "ConfigurationSpace");
        const DocumentNode& kernel = document_.required(root, "KernelSpecification");
        // T1 grew out of KTT's files, which have no problem size to divide.
        const bool divides = std::ranges::any_of(axes, [&](const char* axis) {
            return Document::find(kernel, std::string("GridDiv") + axis) != nullptr;
        });
        if (divides) document_.required(kernel, "ProblemSize");
        of_ktt_ = Document::find(kernel, "ProblemSize") == nullptr;
        if (of_ktt_) require_ktt(values, kernel);
        name_ignored(root, kernel);
        read_tunables(values);
        read_kernel(kernel);
        return std::move(space_);
    }

private:
    TuningSpace::Formula formula(const DocumentNode& node) const {
        return {document_.text(node), node.where, node.key};
    }

    Value evaluated(const DocumentNode& node) const {
        try {
            return evaluate_values(document_.text(node));
        } catch (const std::invalid_argument& error) {
            document_.fail(node, error.what());
        }
    }

    // Beside the two that matter, keys of the root say nothing of the kernel: what none of the
    // formats has is told.
    void name_ignored(const DocumentNode& root, const DocumentNode& kernel) {
        constexpr std::array<std::string_view, 5> known = {
            "ConfigurationSpace", "KernelSpecification", "Search", "Budget", "General"};
        std::vector<std::string> ignored;
        for (const DocumentNode& one : document_.entries(root))
            if (std::ranges::find(known, one.key) == known.end()) ignored.push_back(one.key);
        if (Document::find(kernel, "BenchmarkName"))
            ignored.emplace_back("KernelSpecification.BenchmarkName");
        if (!ignored.empty())
            space_.notes.push_back(fmt::format("ignored: {}", fmt::join(ignored, ", ")));
    }

    // Keys of KTT's loader, and no others; Device and the like say nothing of the kernel.
    void require_ktt(const DocumentNode& values, const DocumentNode& kernel) const {
        document_.only_keys(values, {"TuningParameters", "Conditions"});
        document_.only_keys(
            kernel,
            {"Language", "CompilerOptions", "KernelName", "KernelFile", "KernelTypeNames",
             "GlobalSize", "GlobalSizeType", "LocalSize", "SharedMemory", "Arguments", "Device",
             "Profiling", "SimulationInput", "ReferenceArguments", "BenchmarkName", "Stream"});
        document_.only_keys(document_.required(kernel, "GlobalSize"), {"X", "Y", "Z"});
        document_.only_keys(document_.required(kernel, "LocalSize"), {"X", "Y", "Z"});
        for (const DocumentNode& one :
             document_.items(document_.required(values, "TuningParameters")))
            document_.only_keys(one, {"Name", "Type", "Values", "Default"});
        if (const DocumentNode* const conditions = Document::find(values, "Conditions"))
            for (const DocumentNode& one : document_.items(*conditions))
                document_.only_keys(one, {"Parameters", "Expression"});
    }

    // A list, or the text of one.
    Value::List values_of(const DocumentNode& node) const {
        if (node.kind == DocumentNode::Kind::scalar) {
            const Value value = evaluated(node);
            if (const auto* const list = std::get_if<Value::List>(&value.of)) return *list;
            return {value};
        }
        Value::List values;
        for (const DocumentNode& item : document_.items(node))
            values.push_back(item.quoted ? value_of(item.text) : evaluated(item));
        return values;
    }

    void read_tunables(const DocumentNode& node) {
        for (const DocumentNode& one :
             document_.items(document_.required(node, "TuningParameters"))) {
            const DocumentNode& name = document_.required(one, "Name");
            const DocumentNode& values = document_.required(one, "Values");
            TuningSpace::Tunable tunable{document_.text(name), values_of(values)};
            if (!is_name(tunable.name))
                document_.fail(name, "must be a name of letters, digits and _");
            if (std::ranges::count(space_.tunables, tunable.name, &TuningSpace::Tunable::name) > 0)
                document_.fail(name, fmt::format("names '{}' twice", tunable.name));
            if (tunable.values.empty()) document_.fail(values, "has no value");
            if (const Value* const twice = repeated(tunable.values))
                document_.fail(values, fmt::format("has {} twice", to_text(*twice)));
            space_.tunables.push_back(std::move(tunable));
        }
        if (const DocumentNode* const conditions = Document::find(node, "Conditions"))
            for (const DocumentNode& one : document_.items(*conditions))
                space_.conditions.push_back(formula(document_.required(one, "Expression")));
    }

    void read_kernel(const DocumentNode& node) {
        if (const DocumentNode* const language = Document::find(node, "Language");
            language && document_.text(*language) != "CUDA")
            document_.fail(*language, "must be CUDA");
        space_.kernel = document_.text(document_.required(node, "KernelName"));
        if (const DocumentNode* const types = Document::find(node, "KernelTypeNames")) {
            std::string names;
            for (const DocumentNode& one : document_.items(*types))
                names += (names.empty() ? "" : ", ") + document_.text(one);
            if (!names.empty()) space_.kernel += "<" + names + ">";
        }
        const std::filesystem::path folder =
            std::filesystem::path(document_.file_name()).parent_path();
        space_.source = (folder / document_.text(document_.required(node, "KernelFile"))).string();
        if (const DocumentNode* const options = Document::find(node, "CompilerOptions"))
            for (const DocumentNode& one : document_.items(*options))
                space_.compiler_options.push_back(document_.text(one));
        if (const DocumentNode* const size = Document::find(node, "ProblemSize"))
            space_.problem_size = values_of(*size);
        read_grid(node);
        if (const DocumentNode* const shared = Document::find(node, "SharedMemory");
            shared && shared->kind != DocumentNode::Kind::null)
            space_.shared_bytes = formula(*shared);
        const DocumentNode* const arguments =
            of_ktt_ ? Document::find(node, "Arguments") : &document_.required(node, "Arguments");
        if (arguments)
            for (const DocumentNode& one : document_.items(*arguments))
                space_.arguments.push_back(argument(one));
    }

    void read_grid(const DocumentNode& node) {
        const DocumentNode& local = document_.required(node, "LocalSize");
        const DocumentNode* const global = Document::find(node, "GlobalSize");
        const DocumentNode* const type = Document::find(node, "GlobalSizeType");
        const std::string unit = type ? document_.text(*type) : "CUDA";
        const bool in_groups = unit == "CUDA" || (of_ktt_ && unit == "Vulkan");
        if (of_ktt_ && !in_groups && unit != "OpenCL")
            document_.fail(*type, "must be CUDA, OpenCL or Vulkan");
        bool both = false;
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            if (const DocumentNode* const size = Document::find(local, axes[axis]))
                space_.block[axis] = formula(*size);
            if (const DocumentNode* const divisors =
                    Document::find(node, std::string("GridDiv") + axes[axis]);
                divisors && divisors->kind == DocumentNode::Kind::sequence)
                for (const DocumentNode& one : document_.items(*divisors))
                    space_.grid_divisors[axis].push_back(formula(one));
            const DocumentNode* const size = global ? Document::find(*global, axes[axis]) : nullptr;
            if (!size) continue;
            if (space_.grid_divisors[axis].empty() && in_groups)
                space_.groups[axis] = formula(*size);
            else if (of_ktt_)  // in threads; KTT divides without a rest
                space_.groups[axis] = {
                    fmt::format("({}) // ({})", document_.text(*size), block_text(axis)),
                    size->where, size->key};
            both = both || !space_.grid_divisors[axis].empty();
        }
        if (both)
            space_.notes.emplace_back(
                "the grid is ProblemSize over GridDiv, rounded up; GlobalSize is ignored");
        else if (global && !in_groups && !of_ktt_)
            document_.fail(*type, "must be CUDA where there is no GridDiv");
    }

    std::string block_text(std::size_t axis) const {
        return space_.block[axis].text.empty() ? "1" : space_.block[axis].text;
    }

    // What KTT can say of an argument and we cannot.
    void require_ktt(const DocumentNode& node) const {
        document_.only_keys(node, {"Name", "Type", "Size", "TypeSize", "FillType", "FillValue",
                                   "DataSource", "RandomSeed", "AccessType", "MemoryType"});
        const DocumentNode& memory = document_.required(node, "MemoryType");
        if (document_.text(memory) != "Scalar" && document_.text(memory) != "Vector")
            document_.fail(memory, "must be Scalar or Vector");
        if (const DocumentNode* const fill = Document::find(node, "FillType");
            fill && document_.text(*fill) != "Constant" && document_.text(*fill) != "Random")
            document_.fail(*fill, "must be Constant or Random");
        document_.required(node, "FillValue");
    }

    TuningSpace::Argument argument(const DocumentNode& node) const {
        TuningSpace::Argument one;
        one.where = node.where;
        if (of_ktt_) require_ktt(node);
        if (const DocumentNode* const name = Document::find(node, "Name"); name || !of_ktt_)
            one.name = document_.text(document_.required(node, "Name"));
        else
            one.name = fmt::format("argument_{}", space_.arguments.size() + 1);
        const DocumentNode& type = document_.required(node, "Type");
        const auto* const known =
            std::ranges::find(type_names, document_.text(type), &TypeName::name);
        if (known == std::end(type_names)) {
            const auto found = element_type(document_.text(type));
            if (!found) document_.fail(type, "is not an element type");
            one.type = *found;
        } else {
            one.type = known->type;
        }
        const auto word = [&](const char* key) {
            const DocumentNode* const value = Document::find(node, key);
            return value ? document_.text(*value) : std::string();
        };
        one.scalar = word("MemoryType") == "Scalar";
        one.symbol = word("MemType") == "Constant";
        std::string number = word("FillValue");
        if (number.empty()) number = "0";
        const bool random = word("FillType") == "Random";
        if (!is_floating(one.type)) number = whole(node, number);
        if (random && !one.scalar)
            one.fill = {.kind = BufferFill::Kind::random, .low = "0", .high = number};
        else
            one.fill = {.kind = BufferFill::Kind::value, .low = number};
        if (!one.scalar) one.size = formula(document_.required(node, "Size"));
        return one;
    }

    std::string whole(const DocumentNode& node, const std::string& number) const {
        const Value value = value_of(number);
        if (const auto* const real = std::get_if<double>(&value.of))
            if (*real == std::trunc(*real) && std::abs(*real) < 1e15)
                return std::to_string(static_cast<std::int64_t>(*real));
        if (!std::holds_alternative<std::int64_t>(value.of))
            document_.fail(node, fmt::format("FillValue '{}' is not a whole number", number));
        return number;
    }

    const Document& document_;
    bool of_ktt_ = false;
    TuningSpace space_;
};

Value formula_value(const TuningSpace& space, const TuningSpace::Formula& formula,
                    const Names& names) {
    try {
        return evaluate(formula.text, names);
    } catch (const std::invalid_argument& error) {
        throw InputError(space.file, formula.where, formula.key,
                         fmt::format("'{}' {}", formula.text, error.what()));
    }
}

Names names_of(const TuningSpace& space, const Configuration& configuration) {
    return [&](std::string_view name) -> std::optional<Value> {
        if (name == "ProblemSize" || name == "problem_size") return space.problem_size;
        const auto found = configuration.find(name);
        return found == configuration.end() ? std::nullopt : std::optional(found->second);
    };
}

// At least `least`, at most `most`.
std::uint64_t whole_number(const TuningSpace& space, const TuningSpace::Formula& formula,
                           const Names& names, std::uint64_t least, std::uint64_t most) {
    if (formula.text.empty() || formula.text == "null") return least;
    const Value value = formula_value(space, formula, names);
    const double number = number_in(value).value_or(-1);
    if (number != std::trunc(number) || number < static_cast<double>(least) ||
        number > static_cast<double>(most))
        throw InputError(space.file, formula.where, formula.key,
                         fmt::format("'{}' is {}; it must be a whole number from {} to {}",
                                     formula.text, to_text(value), least, most));
    return static_cast<std::uint64_t>(number);
}

std::uint32_t groups_along(const TuningSpace& space, std::size_t axis, const Names& names) {
    const std::uint64_t most = most_grid[axis];
    if (space.groups[axis])
        return static_cast<std::uint32_t>(whole_number(space, *space.groups[axis], names, 1, most));
    if (axis >= space.problem_size.size()) return 1;
    const TuningSpace::Formula size{fmt::format("ProblemSize[{}]", axis), {}, "ProblemSize"};
    const std::uint64_t threads = whole_number(space, size, names, 1, std::uint64_t{1} << 40);
    std::uint64_t divisor = 1;
    for (const TuningSpace::Formula& one : space.grid_divisors[axis])
        divisor *= whole_number(space, one, names, 1, 1 << 20);
    const std::uint64_t groups = (threads + divisor - 1) / divisor;
    if (groups > most)
        throw InputError(space.file, {}, "ProblemSize",
                         fmt::format("{} groups, and a grid has at most {}", groups, most));
    return static_cast<std::uint32_t>(groups);
}

// "blur<bx, 4>" with the values of tunables among its arguments.
std::string instance_of(const std::string& kernel, const Configuration& configuration) {
    const std::size_t open = kernel.find('<');
    if (open == kernel.npos) return kernel;
    std::string name = kernel.substr(0, open);
    for (std::size_t at = open; at < kernel.size();) {
        std::size_t end = at;
        while (end < kernel.size() &&
               (std::isalnum(static_cast<unsigned char>(kernel[end])) != 0 || kernel[end] == '_'))
            ++end;
        const std::string word = kernel.substr(at, end - at);
        const auto value = configuration.find(word);
        if (end == at)
            name += kernel[end++];
        else
            name += value == configuration.end() ? word : to_text(value->second);
        at = end;
    }
    return name;
}

// Sizes are of the space where they name all values of a tunable, as in max(filter_width).
std::uint64_t elements(const TuningSpace& space, const TuningSpace::Argument& argument,
                       const Configuration& configuration) {
    constexpr std::uint64_t most = std::uint64_t{1} << 36;
    const Names of_configuration = names_of(space, configuration);
    const Names of_space = [&](std::string_view name) -> std::optional<Value> {
        const auto found = std::ranges::find(space.tunables, name, &TuningSpace::Tunable::name);
        return found == space.tunables.end() ? of_configuration(name) : Value(found->values);
    };
    try {
        return whole_number(space, argument.size, of_space, 1, most);
    } catch (const InputError&) {
        return whole_number(space, argument.size, of_configuration, 1, most);
    }
}

}  // namespace

std::string to_text(const Configuration& configuration) {
    std::string text;
    for (const auto& [name, value] : configuration)
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, to_text(value));
    return text;
}

const Value* repeated(const Value::List& values) {
    for (auto one = values.begin(); one != values.end(); ++one)
        if (std::find_if(std::next(one), values.end(),
                         [&](const Value& other) { return is_equal(other, *one); }) != values.end())
            return &*one;
    return nullptr;
}

TuningSpace parse_tuning_space(const std::string& text, const std::string& file) {
    if (!looks_like_json(text)) return parse_space_yaml(text, file);
    const Document document = parse_json(text, file);
    return Reader(document).run();
}

TuningSpace read_tuning_space(const std::string& path) {
    return parse_tuning_space(read_text_file(path), path);
}

bool fulfils(const TuningSpace& space, const TuningSpace::Formula& condition,
             const Configuration& configuration) {
    return is_true(formula_value(space, condition, names_of(space, configuration)));
}

std::optional<std::string> excluded_by(const TuningSpace& space,
                                       const Configuration& configuration) {
    for (const TuningSpace::Tunable& one : space.tunables) {
        const auto value = configuration.find(one.name);
        if (value == configuration.end() || std::ranges::count(one.values, value->second) == 0)
            return fmt::format("{} has no such value", one.name);
    }
    for (const TuningSpace::Formula& condition : space.conditions)
        if (!fulfils(space, condition, configuration)) return condition.text;
    return std::nullopt;
}

TunedLaunch launch_of(const TuningSpace& space, const Configuration& configuration) {
    TunedLaunch launch;
    launch.compiler_options = space.compiler_options;
    for (const TuningSpace::Tunable& one : space.tunables) {
        const auto value = configuration.find(one.name);
        if (value == configuration.end())
            throw InputError(space.file, {}, one.name,
                             fmt::format("has no value in {}", to_text(configuration)));
        launch.compiler_options.push_back(fmt::format("-D{}={}", one.name, to_text(value->second)));
    }
    const Names names = names_of(space, configuration);
    LaunchPlan& plan = launch.plan;
    plan.file = space.file;
    plan.source = space.source;
    KernelLaunch kernel;
    kernel.kernel = instance_of(space.kernel, configuration);
    std::uint64_t threads = 1;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        kernel.block[axis] = static_cast<std::uint32_t>(
            whole_number(space, space.block[axis], names, 1, most_block[axis]));
        threads *= kernel.block[axis];
        kernel.grid[axis] = groups_along(space, axis, names);
    }
    if (threads > most_group_threads)
        throw InputError(
            space.file, space.block[0].where, "LocalSize",
            fmt::format("{} threads, and a group has at most {}", threads, most_group_threads));
    kernel.shared_bytes = static_cast<std::uint32_t>(
        whole_number(space, space.shared_bytes, names, 0, most_shared_bytes));
    for (const TuningSpace::Argument& one : space.arguments) {
        ArgumentPlan argument;
        argument.where = one.where;
        if (one.scalar) {
            argument.kind = ArgumentPlan::Kind::scalar;
            argument.type = one.type;
            argument.text = one.fill.low;
            kernel.arguments.push_back(argument);
            continue;
        }
        BufferPlan buffer{.name = one.name,
                          .type = one.type,
                          .count = elements(space, one, configuration),
                          .fill = one.fill,
                          .where = one.where};
        if (one.symbol) plan.symbols.push_back(buffer);
        argument.kind = ArgumentPlan::Kind::buffer;
        argument.buffer = one.name;
        plan.buffers.push_back(std::move(buffer));
        kernel.arguments.push_back(argument);
    }
    plan.steps.emplace_back(std::move(kernel));
    return launch;
}

}  // namespace occupipe::analysis

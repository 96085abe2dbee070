// SPDX-License-Identifier: MIT
#include "analysis/tuning/space_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "core/files/launch_files.h"
#include "core/files/yaml_reader.h"

namespace occupipe::analysis {
namespace {

constexpr const char* format = "occupipe-space/1";

class Reader {
public:
    explicit Reader(const Document& document) : document_(document) {}

    TuningSpace run() {
        const DocumentNode& root = document_.root();
        document_.only_keys(
            root, {"format", "source", "kernel", "compiler_options", "tunables", "restrictions",
                   "problem_size", "block", "grid_divisors", "grid", "shared_bytes", "arguments"});
        if (const DocumentNode& told = document_.required(root, "format");
            document_.text(told) != format)
            document_.fail(told, fmt::format("must be {}", format));
        space_.file = document_.file_name();
        const std::filesystem::path folder = std::filesystem::path(space_.file).parent_path();
        space_.source = (folder / document_.text(document_.required(root, "source"))).string();
        space_.kernel = document_.text(document_.required(root, "kernel"));
        if (const DocumentNode* const options = Document::find(root, "compiler_options"))
            for (const DocumentNode& one : document_.items(*options))
                space_.compiler_options.push_back(document_.text(one));
        read_tunables(document_.required(root, "tunables"));
        if (const DocumentNode* const all = Document::find(root, "restrictions"))
            for (const DocumentNode& one : document_.items(*all))
                space_.conditions.push_back(formula(one));
        read_launch(root);
        if (const DocumentNode* const all = Document::find(root, "arguments"))
            for (const DocumentNode& one : document_.items(*all))
                space_.arguments.push_back(argument(one));
        return std::move(space_);
    }

private:
    TuningSpace::Formula formula(const DocumentNode& node) const {
        return {document_.text(node), node.where, node.key};
    }

    static bool is_list(const DocumentNode& node) {
        return node.kind == DocumentNode::Kind::sequence;
    }

    // One, or a list of them.
    std::vector<TuningSpace::Formula> formulas(const DocumentNode& node) const {
        std::vector<TuningSpace::Formula> all;
        if (!is_list(node)) return {formula(node)};
        for (const DocumentNode& one : document_.items(node)) all.push_back(formula(one));
        return all;
    }

    // Of x, y and z, as far as the list goes.
    std::vector<TuningSpace::Formula> by_axis(const DocumentNode& node) const {
        std::vector<TuningSpace::Formula> all = formulas(node);
        if (all.empty() || all.size() > 3) document_.fail(node, "must have one to three sizes");
        return all;
    }

    // A word that is no expression of numbers stands for itself.
    Value value(const DocumentNode& node) const {
        const std::string& text = document_.text(node);
        if (node.quoted) return Value(text);
        try {
            return evaluate(text, [](std::string_view) { return std::nullopt; });
        } catch (const std::invalid_argument&) {
            return Value(text);
        }
    }

    void read_tunables(const DocumentNode& node) {
        for (const DocumentNode& one : document_.entries(node)) {
            TuningSpace::Tunable tunable{one.key, {}};
            if (is_list(one)) {
                for (const DocumentNode& item : document_.items(one))
                    tunable.values.push_back(value(item));
            } else {
                tunable.values.push_back(value(one));
            }
            if (tunable.values.empty()) document_.fail(one, "has no value");
            if (const Value* const twice = repeated(tunable.values))
                document_.fail(one, fmt::format("has {} twice", to_text(*twice)));
            space_.tunables.push_back(std::move(tunable));
        }
        if (space_.tunables.empty()) document_.fail(node, "names no tunable");
    }

    void read_launch(const DocumentNode& root) {
        const auto block = by_axis(document_.required(root, "block"));
        std::ranges::copy(block, space_.block.begin());
        const DocumentNode* const grid = Document::find(root, "grid");
        const DocumentNode* const size = Document::find(root, "problem_size");
        const DocumentNode* const divisors = Document::find(root, "grid_divisors");
        if (grid && divisors)
            document_.fail(*grid, "is the grid in groups; grid_divisors divide problem_size");
        if (!grid && !size) document_.fail(root, "needs problem_size or grid");
        if (size) read_problem_size(*size);
        if (grid) {
            const auto groups = by_axis(*grid);
            for (std::size_t axis = 0; axis < 3; ++axis)
                space_.groups[axis] =
                    axis < groups.size() ? groups[axis] : TuningSpace::Formula{"1", {}, ""};
        }
        if (divisors) {
            document_.only_keys(*divisors, {"x", "y", "z"});
            for (std::size_t axis = 0; axis < 3; ++axis)
                if (const auto* const one =
                        Document::find(*divisors, std::string(1, static_cast<char>('x' + axis))))
                    space_.grid_divisors[axis] = formulas(*one);
        }
        if (const DocumentNode* const bytes = Document::find(root, "shared_bytes"))
            space_.shared_bytes = formula(*bytes);
    }

    void read_problem_size(const DocumentNode& node) {
        for (const TuningSpace::Formula& one : by_axis(node)) {
            try {
                space_.problem_size.push_back(
                    evaluate(one.text, [](std::string_view) { return std::nullopt; }));
            } catch (const std::invalid_argument& error) {
                throw InputError(space_.file, one.where, "problem_size",
                                 fmt::format("'{}' {}", one.text, error.what()));
            }
        }
    }

    TuningSpace::Argument argument(const DocumentNode& node) const {
        document_.only_keys(node, {"name", "type", "size", "fill", "value", "symbol"});
        TuningSpace::Argument one;
        one.where = node.where;
        one.name = document_.text(document_.required(node, "name"));
        const DocumentNode& type = document_.required(node, "type");
        const auto known = element_type(document_.text(type));
        if (!known) document_.fail(type, "is not an element type (f32, i32, u8, …)");
        one.type = *known;
        const DocumentNode* const size = Document::find(node, "size");
        const DocumentNode* const number = Document::find(node, "value");
        const DocumentNode* const fill = Document::find(node, "fill");
        const DocumentNode* const symbol = Document::find(node, "symbol");
        if ((size == nullptr) == (number == nullptr))
            document_.fail(node, "needs size (of a buffer) or value (of a scalar), not both");
        if (number) {
            if (fill || symbol) document_.fail(node, "fill and symbol are of buffers");
            one.scalar = true;
            one.fill = {.kind = BufferFill::Kind::value, .low = document_.text(*number)};
            if (const auto fault = fill_fault(one.fill, one.type, 1))
                document_.fail(*number, *fault);
            return one;
        }
        one.size = formula(*size);
        one.symbol = symbol && document_.boolean(*symbol);
        if (!fill) return one;
        std::string words = document_.text(*fill);
        std::erase(words, ' ');
        try {
            one.fill = parse_buffer(fmt::format("{}[1]:{}", document_.text(type), words)).fill;
        } catch (const InputError&) {
            document_.fail(*fill, fmt::format("'{}' is not a fill: zeros, ones, value(…), iota, "
                                              "random(…), integers(…), permutation",
                                              words));
        }
        if (one.fill.kind == BufferFill::Kind::file || one.fill.kind == BufferFill::Kind::values)
            document_.fail(*fill, "must not list values, since sizes differ");
        return one;
    }

    const Document& document_;
    TuningSpace space_;
};

}  // namespace

TuningSpace parse_space_yaml(const std::string& text, const std::string& file) {
    const Document document = parse_yaml(text, file);
    return Reader(document).run();
}

}  // namespace occupipe::analysis

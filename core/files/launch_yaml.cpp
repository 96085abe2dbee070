// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/files/yaml_reader.h"
#include "core/name_rules.h"
#include "core/suggestions.h"

namespace occupipe {
namespace {

constexpr std::int64_t most_integer = std::numeric_limits<std::int64_t>::max();

class LaunchReader {
public:
    LaunchReader(const Document& document, const std::filesystem::path& folder)
        : document_(document), folder_(folder) {}

    LaunchPlan read() {
        const DocumentNode& root = document_.root();
        const DocumentNode& version = document_.required(root, "occupipe_launches");
        if (document_.text(version) != "1")
            document_.fail(version, fmt::format("unknown version '{}'; expected 1", version.text));
        document_.only_keys(root, {"occupipe_launches", "source", "architecture",
                                   "compiler_options", "buffers", "symbols", "launches", "check"});
        plan_.file = document_.file_name();
        if (const DocumentNode* source = Document::find(root, "source"))
            plan_.source = path(*source);
        if (const DocumentNode* name = Document::find(root, "architecture"))
            plan_.architecture = document_.text(*name);
        if (const DocumentNode* options = Document::find(root, "compiler_options"))
            for (const DocumentNode& option : document_.items(*options))
                plan_.compiler_options.push_back(document_.text(option));
        if (const DocumentNode* buffers = Document::find(root, "buffers"))
            plan_.buffers = buffer_list(*buffers);
        if (const DocumentNode* symbols = Document::find(root, "symbols"))
            plan_.symbols = buffer_list(*symbols);
        plan_.steps = steps(document_.required(root, "launches"));
        if (const DocumentNode* checks = Document::find(root, "check"))
            for (const DocumentNode& item : document_.items(*checks))
                plan_.checks.push_back(check(item));
        return std::move(plan_);
    }

private:
    std::string path(const DocumentNode& node) const {
        const std::filesystem::path given = document_.text(node);
        if (given.empty()) document_.fail(node, "must be a path");
        return (given.is_relative() ? folder_ / given : given).string();
    }

    ElementType type(const DocumentNode& node) const {
        const auto found = element_type(document_.text(node));
        if (!found) {
            std::vector<std::string_view> names;
            for (const ElementType one : element_types()) names.push_back(to_string(one));
            document_.fail(node,
                           fmt::format("'{}' is not one of {}", node.text, fmt::join(names, ", ")));
        }
        return *found;
    }

    // A number as it is written; that it is one of this type is checked.
    std::string number(const DocumentNode& node, ElementType type) const {
        std::string why;
        document_.text(node);
        if (node.quoted) document_.fail(node, "must be a number");
        if (!parse_element(type, node.text, why)) document_.fail(node, why);
        return node.text;
    }

    // The only key of a map of one entry.
    const DocumentNode& only_entry(const DocumentNode& map, const char* what) const {
        const auto& entries = document_.entries(map);
        if (entries.size() != 1)
            document_.fail(map, fmt::format("{}, not {} keys", what, entries.size()));
        return entries.front();
    }

    std::vector<BufferPlan> buffer_list(const DocumentNode& map) {
        std::vector<BufferPlan> list;
        for (const DocumentNode& node : document_.entries(map)) {
            document_.only_keys(node, {"type", "count", "fill"});
            BufferPlan buffer{.name = node.key, .fill = {}, .where = node.key_where};
            if (const auto fault = name_fault(buffer.name)) document_.fail(node, *fault);
            buffer.type = type(document_.required(node, "type"));
            const DocumentNode& count = document_.required(node, "count");
            buffer.count = static_cast<std::uint64_t>(document_.integer(count, 1, most_integer));
            if (buffer.count > (most_plan_bytes - bytes_) / bytes_of(buffer.type))
                document_.fail(count, fmt::format("all buffers together may have {} GiB",
                                                  most_plan_bytes >> 30));
            bytes_ += buffer.bytes();
            if (const DocumentNode* how = Document::find(node, "fill"))
                buffer.fill = fill(*how, buffer);
            list.push_back(std::move(buffer));
        }
        return list;
    }

    BufferFill fill(const DocumentNode& node, const BufferPlan& buffer) const {
        using Kind = BufferFill::Kind;
        constexpr const char* known =
            "zeros, ones, iota, {iota: {start: V, step: V}}, {value: V}, {values: [V, …]}, "
            "{random: [LOW, HIGH], seed: N, integers: true}, {permutation: true, seed: N} or "
            "{file: PATH}";
        BufferFill fill;
        if (node.kind == DocumentNode::Kind::scalar) {
            if (node.text == "ones")
                fill = {.kind = Kind::value, .low = "1", .high = {}, .listed = {}, .path = {}};
            else if (node.text == "iota")
                fill.kind = Kind::iota;
            else if (node.text != "zeros")
                document_.fail(node, fmt::format("'{}' is not {}", node.text, known));
        } else {
            document_.only_keys(node, {"iota", "value", "values", "random", "permutation", "file",
                                       "seed", "integers"});
            const DocumentNode* seed = Document::find(node, "seed");
            const DocumentNode* integers = Document::find(node, "integers");
            const auto kinds =
                node.children.size() - (seed != nullptr ? 1 : 0) - (integers != nullptr ? 1 : 0);
            if (kinds != 1) document_.fail(node, fmt::format("must be one of {}", known));
            if (integers != nullptr && Document::find(node, "random") == nullptr)
                document_.fail(*integers, "is for random");
            const bool whole = integers != nullptr && document_.boolean(*integers);
            for (const DocumentNode& how : node.children)
                if (&how != seed && &how != integers) one_fill(how, buffer.type, whole, fill);
            if (seed != nullptr) {
                if (fill.kind != Kind::random && fill.kind != Kind::whole &&
                    fill.kind != Kind::permutation)
                    document_.fail(*seed, "is for random and permutation");
                std::string why;
                const auto value = parse_element(ElementType::u64, document_.text(*seed), why);
                if (!value) document_.fail(*seed, why);
                fill.seed = *value;
            }
        }
        if (const auto fault = fill_fault(fill, buffer.type, buffer.count))
            document_.fail(node, *fault);
        return fill;
    }

    void one_fill(const DocumentNode& how, ElementType type, bool whole, BufferFill& fill) const {
        using Kind = BufferFill::Kind;
        if (how.key == "iota") {
            fill.kind = Kind::iota;
            document_.only_keys(how, {"start", "step"});
            if (const DocumentNode* start = Document::find(how, "start"))
                fill.low = number(*start, type);
            if (const DocumentNode* step = Document::find(how, "step"))
                fill.high = number(*step, type);
        } else if (how.key == "value") {
            fill.kind = Kind::value;
            fill.low = number(how, type);
        } else if (how.key == "values") {
            fill.kind = Kind::values;
            for (const DocumentNode& value : document_.items(how))
                fill.listed.push_back(number(value, type));
        } else if (how.key == "random") {
            // Of an integer type they are whole anyway.
            fill.kind = whole && is_floating(type) ? Kind::whole : Kind::random;
            if (fill.kind == Kind::whole) type = ElementType::i64;
            const auto& range = document_.items(how);
            if (range.size() != 2) document_.fail(how, "must be [LOW, HIGH]");
            fill.low = number(range[0], type);
            fill.high = number(range[1], type);
        } else if (how.key == "permutation") {
            fill.kind = Kind::permutation;
            if (!document_.boolean(how)) document_.fail(how, "must be true");
        } else {
            fill.kind = Kind::file;
            fill.path = path(how);
        }
    }

    const BufferPlan& buffer(const DocumentNode& node) const {
        const BufferPlan* found = plan_.find_buffer(document_.text(node));
        if (found == nullptr) {
            std::vector<std::string> names;
            for (const BufferPlan& one : plan_.buffers) names.push_back(one.name);
            document_.fail(node,
                           fmt::format("no buffer '{}'{}", node.text, near_text(node.text, names)));
        }
        return *found;
    }

    std::vector<PlanStep> steps(const DocumentNode& list) {
        if (document_.items(list).empty()) document_.fail(list, "must not be empty");
        std::vector<PlanStep> result;
        for (const DocumentNode& node : list.children) {
            document_.entries(node);
            if (Document::find(node, "repeat") != nullptr)
                result.emplace_back(repeat(node));
            else if (Document::find(node, "swap") != nullptr)
                result.emplace_back(swap(node));
            else if (Document::find(node, "set") != nullptr)
                result.emplace_back(set(node));
            else if (Document::find(node, "copy") != nullptr)
                result.emplace_back(copy(node));
            else
                result.emplace_back(launch(node));
        }
        return result;
    }

    RepeatSteps repeat(const DocumentNode& node) {
        document_.only_keys(node, {"repeat", "launches"});
        const auto times = document_.integer(document_.required(node, "repeat"), 1, most_integer);
        return {.times = static_cast<std::uint64_t>(times),
                .steps = steps(document_.required(node, "launches")),
                .where = node.where};
    }

    SwapBuffers swap(const DocumentNode& node) const {
        document_.only_keys(node, {"swap"});
        const DocumentNode& names = document_.required(node, "swap");
        if (document_.items(names).size() != 2)
            document_.fail(names, "must be two buffers: [a, b]");
        const BufferPlan& a = buffer(names.children[0]);
        const BufferPlan& b = buffer(names.children[1]);
        require_same_size(names, a, b);
        return {.names = {a.name, b.name}, .where = node.where};
    }

    void require_same_size(const DocumentNode& node, const BufferPlan& a,
                           const BufferPlan& b) const {
        if (a.bytes() != b.bytes())
            document_.fail(node, fmt::format("'{}' has {} bytes and '{}' has {}", a.name, a.bytes(),
                                             b.name, b.bytes()));
    }

    SetBuffer set(const DocumentNode& node) const {
        document_.only_keys(node, {"set", "fill"});
        const BufferPlan& target = buffer(document_.required(node, "set"));
        return {.buffer = target.name,
                .fill = fill(document_.required(node, "fill"), target),
                .where = node.where};
    }

    CopyBuffer copy(const DocumentNode& node) const {
        document_.only_keys(node, {"copy", "to"});
        const BufferPlan& from = buffer(document_.required(node, "copy"));
        const DocumentNode& target = document_.required(node, "to");
        const BufferPlan& to = buffer(target);
        require_same_size(target, from, to);
        return {.from = from.name, .to = to.name, .where = node.where};
    }

    KernelLaunch launch(const DocumentNode& node) const {
        document_.only_keys(node, {"kernel", "grid", "block", "shared_bytes", "arguments"});
        KernelLaunch launch{.kernel = document_.text(document_.required(node, "kernel")),
                            .arguments = {},
                            .where = node.where};
        launch.grid = extents(document_.required(node, "grid"), most_grid);
        const DocumentNode& block = document_.required(node, "block");
        launch.block = extents(block, most_block);
        const std::uint64_t threads =
            std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
        if (threads > most_group_threads)
            document_.fail(block, fmt::format("{} threads; a group has at most {}", threads,
                                              most_group_threads));
        if (const DocumentNode* shared = Document::find(node, "shared_bytes"))
            launch.shared_bytes =
                static_cast<std::uint32_t>(document_.integer(*shared, 0, most_shared_bytes));
        if (const DocumentNode* arguments = Document::find(node, "arguments"))
            for (const DocumentNode& one : document_.items(*arguments))
                launch.arguments.push_back(argument(one, true));
        return launch;
    }

    // A number, or one to three of them in a list.
    std::array<std::uint32_t, 3> extents(const DocumentNode& node,
                                         const std::array<std::uint32_t, 3>& most) const {
        std::array<std::uint32_t, 3> result = {1, 1, 1};
        if (node.kind != DocumentNode::Kind::sequence) {
            result[0] = static_cast<std::uint32_t>(document_.integer(node, 1, most[0]));
            return result;
        }
        if (node.children.empty() || node.children.size() > 3)
            document_.fail(node, "must be one to three whole numbers: [x, y, z]");
        for (std::size_t i = 0; i < node.children.size(); ++i)
            result[i] = static_cast<std::uint32_t>(document_.integer(node.children[i], 1, most[i]));
        return result;
    }

    ArgumentPlan argument(const DocumentNode& node, bool outermost) const {
        ArgumentPlan argument;
        argument.where = node.where;
        if (Document::find(node, "buffer") != nullptr) {
            document_.only_keys(node, {"buffer", "offset"});
            const BufferPlan& target = buffer(document_.required(node, "buffer"));
            argument.kind = ArgumentPlan::Kind::buffer;
            argument.buffer = target.name;
            if (const DocumentNode* offset = Document::find(node, "offset"))
                argument.offset = static_cast<std::uint64_t>(
                    document_.integer(*offset, 0, static_cast<std::int64_t>(target.bytes())));
            return argument;
        }
        const DocumentNode& entry = only_entry(
            node,
            "must be one of {buffer: NAME, offset: BYTES}, {TYPE: NUMBER}, {bytes: HEX}, "
            "{struct: [ARGUMENT, …]}, {local: BYTES}");
        if (entry.key == "bytes") {
            argument.kind = ArgumentPlan::Kind::bytes;
            argument.content = hexadecimal(entry);
        } else if (entry.key == "struct") {
            argument.kind = ArgumentPlan::Kind::record;
            if (document_.items(entry).empty()) document_.fail(entry, "must not be empty");
            for (const DocumentNode& field : entry.children)
                argument.fields.push_back(this->argument(field, false));
        } else if (entry.key == "local" && outermost) {
            argument.kind = ArgumentPlan::Kind::local;
            argument.size =
                static_cast<std::uint64_t>(document_.integer(entry, 1, most_shared_bytes));
        } else {
            const auto type = element_type(entry.key);
            if (!type) {
                std::vector<std::string> known = {"buffer", "bytes", "struct", "local"};
                for (const ElementType one : element_types()) known.emplace_back(to_string(one));
                document_.fail(entry,
                               fmt::format("unknown kind of argument{}; known are {}",
                                           near_text(entry.key, known), fmt::join(known, ", ")));
            }
            argument.type = *type;
            argument.text = number(entry, *type);
        }
        return argument;
    }

    std::vector<std::uint8_t> hexadecimal(const DocumentNode& node) const {
        const std::string& text = document_.text(node);
        std::vector<std::uint8_t> bytes;
        const auto digit = [&](char c) {
            const auto at = std::string_view("0123456789abcdef")
                                .find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
            if (at == std::string_view::npos)
                document_.fail(node, fmt::format("'{}' is not a hexadecimal digit", c));
            return static_cast<unsigned>(at);
        };
        if (text.empty() || text.size() % 2 != 0)
            document_.fail(node, "must be two hexadecimal digits for each byte");
        for (std::size_t i = 0; i < text.size(); i += 2)
            bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) << 4 | digit(text[i + 1])));
        return bytes;
    }

    BufferCheck check(const DocumentNode& node) const {
        BufferCheck check;
        check.where = node.where;
        if (node.kind != DocumentNode::Kind::map) {
            check.buffer = buffer(node).name;
            return check;
        }
        document_.only_keys(node, {"buffer", "against", "absolute", "relative"});
        check.buffer = buffer(document_.required(node, "buffer")).name;
        const DocumentNode* against = Document::find(node, "against");
        if (against != nullptr) check.against = path(*against);
        const auto tolerance = [&](const char* key, double& into) {
            const DocumentNode* given = Document::find(node, key);
            if (given == nullptr) return;
            into = document_.number(*given);
            if (into < 0) document_.fail(*given, "must not be negative");
            if (against == nullptr) document_.fail(*given, "is for a comparison ('against')");
        };
        tolerance("absolute", check.absolute);
        tolerance("relative", check.relative);
        return check;
    }

    const Document& document_;
    std::filesystem::path folder_;
    LaunchPlan plan_;
    std::uint64_t bytes_ = 0;  // of the buffers so far
};

}  // namespace

LaunchPlan parse_launches(const std::string& text, const std::string& file_name,
                          const std::filesystem::path& folder) {
    const Document document = parse_yaml(text, file_name);
    return LaunchReader(document, folder).read();
}

LaunchPlan read_launches(const std::filesystem::path& path) {
    return parse_launches(read_text_file(path), path.string(), path.parent_path());
}

std::vector<std::byte> buffer_contents(const LaunchPlan& plan, const BufferPlan& buffer,
                                       const BufferFill& fill) {
    if (fill.kind != BufferFill::Kind::file) return filled(fill, buffer.type, buffer.count);
    const auto refuse = [&](const std::string& why) {
        throw InputError(plan.file, buffer.where, "buffers." + buffer.name, why);
    };
    std::error_code error;
    const auto size = std::filesystem::file_size(fill.path, error);
    if (error) refuse(fmt::format("{}: cannot read: {}", fill.path, error.message()));
    if (size != buffer.bytes())
        refuse(fmt::format("{} has {} bytes; {} elements of {} are {}", fill.path, size,
                           buffer.count, to_string(buffer.type), buffer.bytes()));
    const std::string text = read_text_file(fill.path);
    if (text.size() != buffer.bytes())
        refuse(fmt::format("{} has {} bytes; {} elements of {} are {}", fill.path, text.size(),
                           buffer.count, to_string(buffer.type), buffer.bytes()));
    std::vector<std::byte> bytes(text.size());
    std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

}  // namespace occupipe

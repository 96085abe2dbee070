// SPDX-License-Identifier: MIT
#include "analysis/sweep/sweep_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

#include "ask/kernels_in.h"
#include "ask/shipped_files.h"
#include "core/enum_text.h"
#include "core/files/yaml_reader.h"
#include "core/profile_fields.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

constexpr std::string_view format_name = "occupipe-sweep/1";

class SpecReader {
public:
    explicit SpecReader(const Document& document) : document_(document) {}

    SweepSpec read() const {
        const DocumentNode& root = document_.root();
        document_.only_keys(root, {"format", "kernels", "profiles", "models", "set", "iterations",
                                   "order", "policy", "select", "launches", "use", "assume_latency",
                                   "memory", "assumptions"});
        const DocumentNode& format = document_.required(root, "format");
        if (document_.text(format) != format_name)
            document_.fail(format, fmt::format("unknown format '{}'", format.text));
        SweepSpec spec;
        spec.kernels = kernels(document_.required(root, "kernels"));
        spec.profiles = names(document_.required(root, "profiles"));
        spec.models = models(Document::find(root, "models"));
        if (const DocumentNode* const set = Document::find(root, "set"))
            for (const DocumentNode& one : document_.entries(*set))
                spec.set.push_back({{one.key, one.key_where}, settings(one)});
        if (const DocumentNode* const node = Document::find(root, "iterations"))
            spec.iterations = whole(*node, std::numeric_limits<std::int64_t>::max() / 4);
        spec.orders = words_of<Order>(Document::find(root, "order"));
        spec.policies = words_of<Policy>(Document::find(root, "policy"));
        spec.selects = words_of<Select>(Document::find(root, "select"));
        spec.launches = launches(Document::find(root, "launches"));
        spec.uses = uses(Document::find(root, "use"));
        spec.classes = names_if_any(Document::find(root, "assume_latency"));
        if (const DocumentNode* const node = Document::find(root, "memory"))
            spec.memory = word_of<MemoryPricing>(document_, *node);
        if (const DocumentNode* const node = Document::find(root, "assumptions"))
            spec.assumptions = document_.boolean(*node);
        check_size(spec);
        return spec;
    }

private:
    // One value stands for a list of it.
    std::vector<const DocumentNode*> listed(const DocumentNode& node) const {
        if (node.kind != DocumentNode::Kind::sequence) return {&node};
        std::vector<const DocumentNode*> all;
        for (const DocumentNode& item : document_.items(node)) all.push_back(&item);
        if (all.empty()) document_.fail(node, "is an empty list");
        return all;
    }

    // Without duplicates.
    std::vector<SweepName> names(const DocumentNode& node) const {
        std::vector<SweepName> all;
        for (const DocumentNode* const item : listed(node)) {
            SweepName one{document_.text(*item), item->where};
            if (one.text.empty()) document_.fail(*item, "is empty");
            if (std::ranges::find(all, one) != all.end())
                document_.fail(*item, fmt::format("'{}' is a duplicate", one.text));
            all.push_back(std::move(one));
        }
        return all;
    }

    std::vector<SweepKernel> kernels(const DocumentNode& node) const {
        std::vector<SweepKernel> all;
        for (const DocumentNode* const item : listed(node)) {
            SweepKernel one;
            if (item->kind == DocumentNode::Kind::map)
                one = code(*item);
            else
                one.name = {document_.text(*item), item->where};
            if (one.name.text.empty()) document_.fail(*item, "is empty");
            if (!one.code && names_kernels(one.name.text))
                document_.fail(
                    *item, fmt::format("how is it launched? {{code: {}, launch: FILE.yaml}}, or "
                                       "with grid, block and args",
                                       one.name.text));
            for (const SweepKernel& other : all)
                if (other.name == one.name)
                    document_.fail(*item, fmt::format("'{}' is a duplicate{}", one.name.text,
                                                      one.code ? "; 'name' tells them apart" : ""));
            all.push_back(std::move(one));
        }
        return all;
    }

    SweepKernel code(const DocumentNode& node) const {
        document_.only_keys(
            node, {"name", "code", "launch", "kernel", "grid", "block", "shared_bytes", "args",
                   "architecture", "compiler_options", "step", "sample", "classes", "with"});
        const auto text = [&](std::string_view key) {
            const DocumentNode* const found = Document::find(node, key);
            return found == nullptr ? std::string() : document_.text(*found);
        };
        SweepCode one{.file = text("code"),
                      .launch = text("launch"),
                      .kernel = text("kernel"),
                      .grid = text("grid"),
                      .block = text("block"),
                      .shared_bytes = text("shared_bytes"),
                      .arguments = text("args"),
                      .architecture = text("architecture"),
                      .compiler_options = {}};
        if (one.launch.empty()) {
            for (const char* const key : {"code", "grid", "block"})
                if (text(key).empty())
                    document_.fail(node, fmt::format("{} is missing: name a launch file with "
                                                     "'launch', or code, grid, block and args",
                                                     key));
        } else {
            for (const char* const key : {"grid", "block", "shared_bytes", "args"})
                if (const DocumentNode* const found = Document::find(node, key))
                    document_.fail(*found, "is in the launch file; leave one of them out");
        }
        if (const DocumentNode* const found = Document::find(node, "code");
            found != nullptr && !names_kernels(one.file))
            document_.fail(*found, "must be one of .cu, .cl, .ptx and .cubin");
        if (const DocumentNode* const found = Document::find(node, "compiler_options"))
            for (const DocumentNode* const item : listed(*found))
                one.compiler_options.push_back(document_.text(*item));
        if (const DocumentNode* const found = Document::find(node, "step"))
            one.step = static_cast<std::size_t>(document_.integer(*found, 1, 1'000'000));
        if (const DocumentNode* const found = Document::find(node, "classes"))
            one.classes = static_cast<std::size_t>(document_.integer(*found, 1, 1000));
        if (const DocumentNode* const found = Document::find(node, "sample")) {
            one.sample = document_.text(*found);
            if (one.sample != "auto" && one.sample != "all")
                one.sample =
                    std::to_string(document_.integer(*found, 1, std::numeric_limits<int>::max()));
        }
        SweepKernel kernel;
        kernel.name = {text("name"), node.where};
        if (kernel.name.text.empty()) kernel.name.text = one.file.empty() ? one.launch : one.file;
        kernel.code = std::move(one);
        if (const DocumentNode* const with = Document::find(node, "with"))
            read_parameters(*with, kernel);
        return kernel;
    }

    // A map of parameters is every combination of their values; a list of maps: one after the
    // other.
    void read_parameters(const DocumentNode& with, SweepKernel& kernel) const {
        kernel.combinations.clear();
        for (const DocumentNode* const item : listed(with)) {
            std::vector<std::string> names;
            std::vector<std::vector<std::string>> combinations = {{}};
            for (const DocumentNode& one : document_.entries(*item)) {
                check_parameter(one);
                names.push_back(one.key);
                const std::vector<std::string> values = parameter_values(one);
                if (static_cast<double>(combinations.size()) * static_cast<double>(values.size()) >
                    static_cast<double>(most_code_launches))
                    document_.fail(with,
                                   fmt::format("are more than {} launches", most_code_launches));
                std::vector<std::vector<std::string>> longer;
                for (const auto& begin : combinations)
                    for (const std::string& value : values) {
                        longer.push_back(begin);
                        longer.back().push_back(value);
                    }
                combinations = std::move(longer);
            }
            if (kernel.parameters.empty()) kernel.parameters = names;
            if (names.empty() || names != kernel.parameters)
                document_.fail(*item, fmt::format("every map has the same parameters in the same "
                                                  "order: {}",
                                                  fmt::join(kernel.parameters, ", ")));
            std::ranges::move(combinations, std::back_inserter(kernel.combinations));
        }
        if (std::cmp_greater(kernel.combinations.size(), most_code_launches))
            document_.fail(with, fmt::format("are more than {} launches", most_code_launches));
        if (const std::set<std::vector<std::string>> distinct(kernel.combinations.begin(),
                                                              kernel.combinations.end());
            distinct.size() != kernel.combinations.size())
            document_.fail(with, "has a combination of values twice");
    }

    void check_parameter(const DocumentNode& one) const {
        const std::string& name = one.key;
        const auto fits = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_';
        };
        if (name.empty() || (name[0] >= '0' && name[0] <= '9') || !std::ranges::all_of(name, fits))
            document_.fail(one, "a parameter's name has letters, digits and _");
        if (is_sweep_column(name) || name == "architecture")
            document_.fail(one, "is the name of something else; choose another");
    }

    // Whole numbers of a range are written as such; those of a list are as they are.
    std::vector<std::string> parameter_values(const DocumentNode& node) const {
        std::vector<std::string> all;
        if (node.kind == DocumentNode::Kind::map) {
            for (const double value : range(node)) {
                constexpr double exact = 9007199254740992;  // 2^53
                if (!(std::abs(value) < exact)) document_.fail(node, "leaves the whole numbers");
                all.push_back(value == std::floor(value)
                                  ? fmt::format("{}", static_cast<std::int64_t>(value))
                                  : fmt::format("{}", value));
            }
        } else {
            for (const DocumentNode* const item : listed(node)) {
                all.push_back(document_.text(*item));
                if (all.back().find_first_of("\r\n") != std::string::npos)
                    document_.fail(*item, "is more than one line");
            }
        }
        std::set<std::string> seen;
        std::erase_if(all, [&](const std::string& one) { return !seen.insert(one).second; });
        return all;
    }

    std::vector<SweepName> names_if_any(const DocumentNode* node) const {
        return node == nullptr ? std::vector<SweepName>{} : names(*node);
    }

    // {op: instruction, …}, or op=instruction, one or a list.
    std::vector<SweepName> uses(const DocumentNode* node) const {
        if (node == nullptr || node->kind != DocumentNode::Kind::map) return names_if_any(node);
        std::vector<SweepName> all;
        for (const DocumentNode& one : document_.entries(*node))
            all.push_back({one.key + "=" + document_.text(one), one.where});
        return all;
    }

    std::vector<std::string> models(const DocumentNode* node) const {
        if (node == nullptr) return {"pipeline"};
        std::vector<std::string> all;
        for (const DocumentNode* const item : listed(*node)) {
            const std::string& name = document_.text(*item);
            std::vector<const Model*> found;
            try {
                found = find_models({name});
            } catch (const InputError& error) {
                document_.fail(*item, error.what());
            }
            for (const Model* const model : found) {
                if (std::ranges::find(all, model->name) != all.end())
                    document_.fail(*item, fmt::format("'{}' is a duplicate", model->name));
                all.emplace_back(model->name);
            }
        }
        return all;
    }

    template <class Enum>
    std::vector<Enum> words_of(const DocumentNode* node) const {
        std::vector<Enum> all;
        if (node == nullptr) return all;
        for (const DocumentNode* const item : listed(*node)) {
            const Enum one = word_of<Enum>(document_, *item);
            if (std::ranges::find(all, one) != all.end()) document_.fail(*item, "is a duplicate");
            all.push_back(one);
        }
        return all;
    }

    // {from, to, count or step, scale}: ascending or descending. Values are rounded to 12 digits,
    // so that they are the same on every machine.
    std::vector<double> range(const DocumentNode& node) const {
        document_.only_keys(node, {"from", "to", "count", "step", "scale"});
        const double from = document_.number(document_.required(node, "from"));
        const DocumentNode& to_node = document_.required(node, "to");
        const double to = document_.number(to_node);
        const DocumentNode* const count_node = Document::find(node, "count");
        const DocumentNode* const step_node = Document::find(node, "step");
        const DocumentNode* const scale_node = Document::find(node, "scale");
        if (scale_node != nullptr && document_.text(*scale_node) != "linear" &&
            scale_node->text != "log")
            document_.fail(*scale_node,
                           fmt::format("'{}' is not one of linear, log", scale_node->text));
        const bool log = scale_node != nullptr && scale_node->text == "log";
        if (log && !(from > 0 && to > 0))
            document_.fail(node, "a logarithmic range needs positive ends");
        if (!std::isfinite(to - from)) document_.fail(to_node, "is too far from the other end");
        if (count_node != nullptr && step_node != nullptr)
            document_.fail(*step_node, "conflicts with 'count'; give one of them");
        if (log && step_node != nullptr)
            document_.fail(*step_node, "is for linear ranges; a logarithmic one has a count");
        if (log && count_node == nullptr) document_.required(node, "count");
        if (count_node != nullptr) {
            const std::int64_t count = document_.integer(*count_node, 1, most_sweep_values);
            if (count == 1 && from != to)
                document_.fail(*count_node, "one value cannot be both ends");
            return spaced(from, to, count, log);
        }
        double step = 1;
        if (step_node != nullptr) step = document_.number(*step_node);
        if (!(step > 0)) document_.fail(*step_node, "must be positive");
        const double steps = std::floor(std::abs(to - from) / step * (1 + 1e-12));
        if (!(steps < static_cast<double>(most_sweep_values)))
            document_.fail(node, fmt::format("has more than {} values", most_sweep_values));
        std::vector<double> values;
        for (std::int64_t i = 0; i <= static_cast<std::int64_t>(steps); ++i)
            values.push_back(rounded(from + (to < from ? -step : step) * static_cast<double>(i)));
        return values;
    }

    static std::vector<double> spaced(double from, double to, std::int64_t count, bool log) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < count; ++i) {
            const double share =
                count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
            const double inner =
                log ? from * std::pow(to / from, share) : from + (to - from) * share;
            values.push_back(i == 0 ? from : i == count - 1 ? to : rounded(inner));
        }
        return values;
    }

    static double rounded(double value) {
        const std::string text = fmt::format("{:.12g}", value);
        double out = 0;
        std::from_chars(text.data(), text.data() + text.size(), out);
        return out;
    }

    // What `--set` takes after the equals sign. Duplicates are refused in lists.
    std::vector<std::string> settings(const DocumentNode& node) const {
        std::vector<std::string> all;
        std::set<std::string> seen;
        if (node.kind == DocumentNode::Kind::map) {
            for (const double value : range(node)) {
                if (!std::isfinite(value)) document_.fail(node, "has a value beyond all bounds");
                std::string text = fmt::format("{}", value);
                if (seen.insert(text).second) all.push_back(std::move(text));
            }
            return all;
        }
        for (const DocumentNode* const item : listed(node)) {
            std::string text = document_.text(*item);
            if (text != "none") text = fmt::format("{}", document_.number(*item));
            if (!seen.insert(text).second)
                document_.fail(*item, fmt::format("'{}' is a duplicate", text));
            all.push_back(std::move(text));
        }
        return all;
    }

    // From 1 to `most`. Those of a range that are not whole are rounded, each once; settings() does
    // not, to which a quantity's name says nothing of its type.
    std::vector<std::int64_t> whole(const DocumentNode& node, std::int64_t most) const {
        std::vector<std::int64_t> all;
        std::set<std::int64_t> seen;
        if (node.kind == DocumentNode::Kind::map) {
            for (const double value : range(node)) {
                const double near = std::round(value);
                if (!(near >= 1 && near <= static_cast<double>(most)))
                    document_.fail(node, fmt::format("leaves the range from 1 to {}", most));
                const auto one = std::min(static_cast<std::int64_t>(near), most);
                if (seen.insert(one).second) all.push_back(one);
            }
            return all;
        }
        for (const DocumentNode* const item : listed(node)) {
            all.push_back(document_.integer(*item, 1, most));
            if (!seen.insert(all.back()).second)
                document_.fail(*item, fmt::format("{} is a duplicate", all.back()));
        }
        return all;
    }

    std::vector<int> small(const DocumentNode* node) const {
        std::vector<int> all;
        if (node == nullptr) return all;
        constexpr std::int64_t most_warps = 65'536;  // the simulator's limit
        for (const std::int64_t one : whole(*node, most_warps))
            all.push_back(static_cast<int>(one));
        return all;
    }

    SweepLaunches launch_set(const DocumentNode& node) const {
        document_.only_keys(node, {"group_warps", "concurrent_groups", "groups"});
        SweepLaunches one;
        one.where = node.where;
        one.group_warps = small(Document::find(node, "group_warps"));
        const DocumentNode* const concurrent = Document::find(node, "concurrent_groups");
        one.all_occupancies = concurrent != nullptr &&
                              concurrent->kind == DocumentNode::Kind::scalar &&
                              concurrent->text == "all";
        if (!one.all_occupancies) one.concurrent_groups = small(concurrent);
        if (const DocumentNode* const groups = Document::find(node, "groups"))
            one.groups = whole(*groups, most_groups);
        return one;
    }

    std::vector<SweepLaunches> launches(const DocumentNode* node) const {
        if (node == nullptr) return {SweepLaunches{}};
        std::vector<SweepLaunches> all;
        for (const DocumentNode* const item : listed(*node)) all.push_back(launch_set(*item));
        return all;
    }

    // As if every profile held as many groups as there may be warps.
    void check_size(const SweepSpec& spec) const {
        double rows = static_cast<double>(spec.profiles.size() * spec.models.size());
        std::size_t kernels = 0;
        for (const SweepKernel& one : spec.kernels) kernels += one.combinations.size();
        rows *= static_cast<double>(kernels);
        for (const SweepParameter& one : spec.set) rows *= static_cast<double>(one.values.size());
        for (const std::size_t n : {spec.iterations.size(), spec.orders.size(),
                                    spec.policies.size(), spec.selects.size()})
            rows *= static_cast<double>(std::max<std::size_t>(1, n));
        double launches = 0;
        for (const SweepLaunches& one : spec.launches) {
            double product = 1;
            for (const std::size_t n :
                 {one.group_warps.size(), one.concurrent_groups.size(), one.groups.size()})
                product *= static_cast<double>(std::max<std::size_t>(1, n));
            launches += product;
        }
        if (launches > static_cast<double>(most_sweep_values))
            document_.fail(document_.required(document_.root(), "launches"),
                           fmt::format("are more than {}", most_sweep_values));
        if (rows * launches > static_cast<double>(most_sweep_rows))
            document_.fail(document_.root(),
                           fmt::format("asks for {:.3g} predictions, more than {:.3g}",
                                       rows * launches, static_cast<double>(most_sweep_rows)));
    }

    const Document& document_;
};

bool looks_like_path(const std::string& text) {
    return text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

}  // namespace

bool is_sweep_column(std::string_view name) {
    constexpr std::array columns = {"row",
                                    "kernel",
                                    "profile",
                                    "iterations",
                                    "order",
                                    "policy",
                                    "select",
                                    "group_warps",
                                    "concurrent_groups",
                                    "groups",
                                    "model",
                                    "groups_per_core",
                                    "cycles",
                                    "seconds",
                                    "warps_per_cycle",
                                    "cycles_per_run",
                                    "instructions_per_cycle",
                                    "limited_by",
                                    "busy",
                                    "refused",
                                    "assumptions"};
    return std::ranges::find(columns, name) != columns.end();
}

SweepSpec parse_sweep(const std::string& text, const std::string& file_name) {
    const Document document = parse_yaml(text, file_name);
    return SpecReader(document).read();
}

std::filesystem::path sweep_kernel(const SweepName& name, const std::filesystem::path& folder) {
    return looks_like_path(name.text) ? folder / name.text : shipped_kernel(name.text);
}

std::filesystem::path sweep_profile(const SweepName& name, const std::filesystem::path& folder) {
    return looks_like_path(name.text) ? folder / name.text : shipped_profile(name.text);
}

}  // namespace occupipe::analysis

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <limits>

#include "core/enum_text.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/files/parameter_table_yaml.h"
#include "core/files/quantity_yaml.h"
#include "core/files/yaml_reader.h"
#include "core/files/yaml_text.h"

namespace occupipe {
namespace {

constexpr std::string_view profile_format = "occupipe-profile/1";

class ProfileReader {
public:
    explicit ProfileReader(const Document& document) : document_(document) {}

    GpuProfile read() const {
        const DocumentNode& root = document_.root();
        const DocumentNode& format = document_.required(root, "format");
        if (document_.text(format) != profile_format) {
            document_.fail(format, fmt::format("unknown format '{}'; expected {}", format.text,
                                               profile_format));
        }
        document_.only_keys(
            root, {"format", "device", "cores", "warp_size", "clock_hz", "limits", "issue",
                   "overheads", "subsystems", "instructions", "memory_levels", "provenance"});
        GpuProfile profile;
        profile.device = device(document_.required(root, "device"));
        profile.cores = count(document_.required(root, "cores"));
        profile.warp_size = count(document_.required(root, "warp_size"));
        profile.clock_hz = document_.number(document_.required(root, "clock_hz"));
        if (const DocumentNode* node = Document::find(root, "limits")) {
            profile.limits = limits(*node);
        }
        if (const DocumentNode* node = Document::find(root, "issue")) {
            profile.issue = issue(*node);
        }
        if (const DocumentNode* node = Document::find(root, "overheads")) {
            profile.overheads = read_overheads(document_, *node);
        }
        for (const DocumentNode& node : document_.entries(document_.required(root, "subsystems"))) {
            profile.subsystems.push_back(subsystem(node));
        }
        for (const DocumentNode& node :
             document_.entries(document_.required(root, "instructions"))) {
            profile.instructions.push_back(instruction(node));
        }
        if (const DocumentNode* node = Document::find(root, "memory_levels")) {
            profile.memory_levels = read_memory_levels(document_, *node);
        }
        if (const DocumentNode* node = Document::find(root, "provenance")) {
            document_.entries(*node);
            profile.provenance = annotation(*node);
        }
        return profile;
    }

private:
    int count(const DocumentNode& node) const {
        return static_cast<int>(document_.integer(node, 1, std::numeric_limits<int>::max()));
    }

    template <class Enum>
    Enum word(const DocumentNode& node, std::initializer_list<Enum> values) const {
        return word_of(document_, node, values);
    }

    DeviceIdentity device(const DocumentNode& node) const {
        document_.only_keys(node, {"name", "vendor", "architecture", "compute_capability"});
        return {.name = document_.text(document_.required(node, "name")),
                .vendor = optional_text(document_, node, "vendor"),
                .architecture = optional_text(document_, node, "architecture"),
                .compute_capability = optional_text(document_, node, "compute_capability")};
    }

    Limits limits(const DocumentNode& node) const {
        document_.only_keys(node,
                            {"warps", "groups", "group_warps", "registers", "shared_memory_bytes"});
        const auto limit = [&](std::string_view key) -> std::optional<std::int64_t> {
            const DocumentNode* const value = Document::find(node, key);
            return value == nullptr ? std::nullopt
                                    : std::optional(document_.integer(
                                          *value, 1, std::numeric_limits<std::int64_t>::max()));
        };
        return {.warps = limit("warps"),
                .groups = limit("groups"),
                .group_warps = limit("group_warps"),
                .registers = limit("registers"),
                .shared_memory_bytes = limit("shared_memory_bytes")};
    }

    Issue issue(const DocumentNode& node) const {
        document_.only_keys(node, {"limit", "schedulers", "policy", "select"});
        Issue issue;
        if (const DocumentNode* limit = Document::find(node, "limit")) {
            if (limit->kind == DocumentNode::Kind::map) {
                document_.only_keys(*limit, {"value", "std_error"});
                issue.limit = document_.number(document_.required(*limit, "value"));
                issue.limit_std_error = optional_number(*limit, "std_error");
            } else {
                issue.limit = document_.number(*limit);
            }
        }
        if (const DocumentNode* schedulers = Document::find(node, "schedulers")) {
            issue.schedulers = count(*schedulers);
        }
        if (const DocumentNode* policy = Document::find(node, "policy")) {
            issue.policy = word(*policy, {Policy::lrr, Policy::gto, Policy::oldest});
        }
        if (const DocumentNode* select = Document::find(node, "select")) {
            issue.select = word(*select, {Select::subsystem, Select::warp});
        }
        return issue;
    }

    std::optional<double> optional_number(const DocumentNode& map, std::string_view key) const {
        const DocumentNode* const node = Document::find(map, key);
        return node == nullptr ? std::nullopt : std::optional(document_.number(*node));
    }

    Subsystem subsystem(const DocumentNode& node) const {
        document_.only_keys(node, {"scope", "contention"});
        Subsystem subsystem{.name = node.key};
        if (const DocumentNode* scope = Document::find(node, "scope")) {
            subsystem.scope = word(*scope, {Scope::core, Scope::scheduler});
        }
        if (const DocumentNode* share = Document::find(node, "contention")) {
            subsystem.contention = read_quantity(document_, *share);
        }
        return subsystem;
    }

    InstructionTiming instruction(const DocumentNode& node) const {
        document_.only_keys(node, {"subsystem", "cpi", "latency", "latency_growth", "tables",
                                   "warps_per_instruction", "kind", "source", "reference", "note"});
        InstructionTiming timing{
            .name = node.key,
            .subsystem = document_.text(document_.required(node, "subsystem")),
            .cpi = read_quantity(document_, document_.required(node, "cpi")),
            .warps_per_instruction = 1,
            .latency = read_quantity(document_, document_.required(node, "latency")),
            .latency_growth = {},
            .tables = {},
            .kind = {},
            .reference = optional_text(document_, node, "reference"),
            .note = optional_text(document_, node, "note")};
        if (const DocumentNode* warps = Document::find(node, "warps_per_instruction")) {
            constexpr int most = 64;
            timing.warps_per_instruction = static_cast<int>(document_.integer(*warps, 1, most));
        }
        if (const DocumentNode* growth = Document::find(node, "latency_growth")) {
            timing.latency_growth = read_quantity(document_, *growth);
        }
        if (const DocumentNode* tables = Document::find(node, "tables")) {
            timing.tables = read_tables(document_, *tables);
        }
        if (const DocumentNode* kind = Document::find(node, "kind")) {
            timing.kind = read_kind(document_, *kind);
        }
        if (const DocumentNode* source = Document::find(node, "source")) {
            timing.source = word(
                *source, {Source::measured, Source::literature, Source::vendor, Source::assumed});
        }
        return timing;
    }

    Annotation annotation(const DocumentNode& node) const {
        Annotation result;
        result.text = node.text;
        for (const DocumentNode& child : node.children) {
            if (node.kind == DocumentNode::Kind::map) {
                result.entries.emplace_back(child.key, annotation(child));
            } else {
                result.items.push_back(annotation(child));
            }
        }
        return result;
    }

    const Document& document_;
};

std::string device_line(const DeviceIdentity& device) {
    TextPairs pairs = {{"name", yaml_scalar(device.name)}};
    add_text(pairs, "vendor", device.vendor);
    add_text(pairs, "architecture", device.architecture);
    add_text(pairs, "compute_capability", device.compute_capability);
    return map_lines(0, "device", pairs);
}

std::string limits_line(const Limits& limits) {
    TextPairs pairs;
    const auto add = [&pairs](const char* key, const std::optional<std::int64_t>& value) {
        if (value) {
            pairs.emplace_back(key, fmt::format("{}", *value));
        }
    };
    add("warps", limits.warps);
    add("groups", limits.groups);
    add("group_warps", limits.group_warps);
    add("registers", limits.registers);
    add("shared_memory_bytes", limits.shared_memory_bytes);
    return pairs.empty() ? std::string() : map_lines(0, "limits", pairs);
}

std::string issue_line(const Issue& issue) {
    TextPairs pairs;
    if (issue.limit) {
        const Estimate limit{.value = *issue.limit, .std_error = issue.limit_std_error, .note = {}};
        pairs.emplace_back("limit", quantity_text(limit));
    }
    pairs.emplace_back("schedulers", fmt::format("{}", issue.schedulers));
    if (issue.select) {
        pairs.emplace_back("select", to_string(*issue.select));
    }
    if (issue.policy) {
        pairs.emplace_back("policy", to_string(*issue.policy));
    }
    return map_lines(0, "issue", pairs);
}

std::string instruction_lines(const InstructionTiming& timing) {
    TextPairs pairs = {{"subsystem", yaml_scalar(timing.subsystem)},
                       {"cpi", quantity_text(timing.cpi)},
                       {"latency", quantity_text(timing.latency)}};
    if (timing.warps_per_instruction > 1) {
        pairs.emplace_back("warps_per_instruction",
                           fmt::format("{}", timing.warps_per_instruction));
    }
    if (timing.latency_growth) {
        pairs.emplace_back("latency_growth", quantity_text(*timing.latency_growth));
    }
    if (timing.kind) {
        pairs.emplace_back("kind", to_string(*timing.kind));
    }
    pairs.emplace_back("source", to_string(timing.source));
    add_text(pairs, "reference", timing.reference);
    add_text(pairs, "note", timing.note);
    if (!timing.tables.empty()) {
        return fmt::format("  {}:\n{}{}", yaml_scalar(timing.name), block_lines(4, pairs),
                           table_lines(timing.tables, 4));
    }
    return map_lines(2, yaml_scalar(timing.name), pairs);
}

// What follows "key:" or "-": a scalar on the same line, or a block on lines of its own.
std::string annotation_lines(const Annotation& annotation, std::size_t indent) {
    const std::string margin(indent, ' ');
    std::string lines;
    for (const auto& [key, value] : annotation.entries) {
        lines +=
            fmt::format("\n{}{}:{}", margin, yaml_scalar(key), annotation_lines(value, indent + 2));
    }
    for (const Annotation& item : annotation.items) {
        lines += fmt::format("\n{}-{}", margin, annotation_lines(item, indent + 2));
    }
    return lines.empty() ? fmt::format(" {}", yaml_scalar(annotation.text)) : lines;
}

}  // namespace

GpuProfile parse_profile(const std::string& text, const std::string& file_name) {
    refuse_other_kinds(FileKind::profile, text, file_name);
    const Document document = parse_yaml(text, file_name);
    GpuProfile profile = ProfileReader(document).read();
    validate(profile, file_name,
             [&](const std::vector<std::string>& keys) { return document.locate(keys); });
    return profile;
}

GpuProfile read_profile(const std::filesystem::path& path) {
    return parse_profile(read_text_file(path), path.string());
}

std::string format_profile(const GpuProfile& profile) {
    std::string text = fmt::format("format: {}\n", profile_format);
    text += device_line(profile.device);
    text += fmt::format("cores: {}\nwarp_size: {}\nclock_hz: {}\n", profile.cores,
                        profile.warp_size, yaml_number(profile.clock_hz));
    text += limits_line(profile.limits);
    text += issue_line(profile.issue);
    text += overheads_line(profile.overheads);
    text += profile.subsystems.empty() ? "subsystems: {}\n" : "subsystems:\n";
    for (const Subsystem& subsystem : profile.subsystems) {
        TextPairs pairs = {{"scope", std::string(to_string(subsystem.scope))}};
        if (subsystem.contention) {
            pairs.emplace_back("contention", quantity_text(*subsystem.contention));
        }
        text += map_lines(2, yaml_scalar(subsystem.name), pairs);
    }
    text += profile.instructions.empty() ? "instructions: {}\n" : "instructions:\n";
    for (const InstructionTiming& timing : profile.instructions) {
        text += instruction_lines(timing);
    }
    text += memory_level_lines(profile.memory_levels);
    if (!profile.provenance.entries.empty()) {
        text += fmt::format("provenance:{}\n", annotation_lines(profile.provenance, 2));
    }
    return text;
}

}  // namespace occupipe

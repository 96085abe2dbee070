// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "core/field_rules.h"
#include "core/files/document.h"
#include "core/files/field_reader.h"
#include "core/files/field_writer.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/files/old_notes.h"
#include "core/files/yaml_reader.h"
#include "core/profile_fields.h"

namespace occupipe {
namespace {

// In the first version every instruction has a latency; in the second it may say instead why it has
// none (`latency_unknown`). Profiles in which all have one are written as the first.
constexpr std::string_view first_format = "occupipe-profile/1";
constexpr std::string_view second_format = "occupipe-profile/2";

Annotation annotation_of(const DocumentNode& node) {
    Annotation result;
    result.text = node.text;
    for (const DocumentNode& child : node.children) {
        if (node.kind == DocumentNode::Kind::map) {
            result.entries.emplace_back(child.key, annotation_of(child));
        } else {
            result.items.push_back(annotation_of(child));
        }
    }
    return result;
}

// The file's first key, which is no field of a profile.
GpuProfile read_root(const Document& document, const std::string& file_name) {
    const DocumentNode& format = document.required(document.root(), "format");
    const bool first = document.text(format) == first_format;
    if (!first && format.text != second_format) {
        document.fail(format, fmt::format("unknown format '{}'; expected {} or {}", format.text,
                                          first_format, second_format));
    }
    std::vector<std::string_view> keys = keys_of<GpuProfile>();
    keys.insert(keys.begin(), "format");
    document.only_keys(document.root(), keys);
    GpuProfile profile = read_known_fields<GpuProfile>(document, document.root());
    for (InstructionTiming& timing : profile.instructions) read_step(timing);
    if (!first) return profile;
    if (const auto fault = first_version_fault(profile))
        throw InputError(file_name, document.locate(fault->keys), key_path(fault->keys),
                         fault->reason);
    for (InstructionTiming& timing : profile.instructions) withdraw_false_bound(timing);
    return profile;
}

}  // namespace

Annotation read_annotation(const Document& document, const DocumentNode& map) {
    document.entries(map);
    return annotation_of(map);
}

GpuProfile parse_profile(const std::string& text, const std::string& file_name) {
    refuse_other_kinds(FileKind::profile, text, file_name);
    const Document document = parse_yaml(text, file_name);
    GpuProfile profile = read_root(document, file_name);
    check_profile(profile, [&](const Keys& keys, const std::string& reason) {
        throw InputError(file_name, document.locate(keys), key_path(keys), reason);
    });
    return profile;
}

GpuProfile read_profile(const std::filesystem::path& path) {
    return parse_profile(read_text_file(path), path.string());
}

std::string format_profile(const GpuProfile& profile) {
    const bool all = std::ranges::all_of(profile.instructions, [](const InstructionTiming& timing) {
        return timing.latency.has_value();
    });
    std::string text = fmt::format("format: {}\n", all ? first_format : second_format);
    for (const YamlTree& field : write_fields(profile)) text += yaml_lines(field, 0);
    return text;
}

}  // namespace occupipe

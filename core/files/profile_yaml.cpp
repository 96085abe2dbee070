// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "core/files/document.h"
#include "core/files/field_reader.h"
#include "core/files/field_writer.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/files/yaml_reader.h"
#include "core/profile_fields.h"

namespace occupipe {
namespace {

constexpr std::string_view profile_format = "occupipe-profile/1";

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
GpuProfile read_root(const Document& document) {
    const DocumentNode& format = document.required(document.root(), "format");
    if (document.text(format) != profile_format) {
        document.fail(format,
                      fmt::format("unknown format '{}'; expected {}", format.text, profile_format));
    }
    std::vector<std::string_view> keys = keys_of<GpuProfile>();
    keys.insert(keys.begin(), "format");
    document.only_keys(document.root(), keys);
    return read_known_fields<GpuProfile>(document, document.root());
}

}  // namespace

Annotation read_annotation(const Document& document, const DocumentNode& map) {
    document.entries(map);
    return annotation_of(map);
}

GpuProfile parse_profile(const std::string& text, const std::string& file_name) {
    refuse_other_kinds(FileKind::profile, text, file_name);
    const Document document = parse_yaml(text, file_name);
    GpuProfile profile = read_root(document);
    validate(profile, file_name, [&](const Keys& keys) { return document.locate(keys); });
    return profile;
}

GpuProfile read_profile(const std::filesystem::path& path) {
    return parse_profile(read_text_file(path), path.string());
}

std::string format_profile(const GpuProfile& profile) {
    std::string text = fmt::format("format: {}\n", profile_format);
    for (const YamlTree& field : write_fields(profile)) text += yaml_lines(field, 0);
    return text;
}

}  // namespace occupipe

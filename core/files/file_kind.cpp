// SPDX-License-Identifier: MIT
#include "core/files/file_kind.h"

#include <fmt/format.h>

#include <string_view>

#include "core/error.h"
#include "core/files/json_reader.h"
#include "core/files/yaml_reader.h"

namespace occupipe {

void refuse_journal(const std::string& text, const std::string& file_name) {
    constexpr std::string_view beginning = R"({"format":"occupipe-journal/)";
    if (!text.starts_with(beginning)) return;
    throw InputError(file_name, {1, 1}, "format",
                     fmt::format("this is an interrupted measurement: occupipe measure --finish {} "
                                 "closes it",
                                 file_name));
}

FileKind file_kind(const std::string& text, const std::string& file_name) {
    refuse_journal(text, file_name);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string::npos && text[first] == '{';
    const Document document = is_json ? parse_json(text, file_name) : parse_yaml(text, file_name);
    const DocumentNode& root = document.root();
    if (is_json && Document::find(root, "format") == nullptr) {
        document.required(root, "benchmarks");
        return FileKind::measurements;
    }
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format).starts_with("occupipe-profile/")) {
        return FileKind::profile;
    }
    if (format.text.starts_with("occupipe-kernel/")) {
        return FileKind::kernel;
    }
    document.fail(format, fmt::format("unknown format '{}'", format.text));
}

}  // namespace occupipe

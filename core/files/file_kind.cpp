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

void refuse_other_kinds(FileKind wanted, const std::string& text, const std::string& file_name) {
    refuse_journal(text, file_name);
    const auto refuse = [&](const std::string& reason) {
        throw InputError(file_name, {1, 1}, {}, reason);
    };
    const auto has_format = [&](std::string_view name) {
        const std::string head = fmt::format("format: {}", name);
        return text.starts_with(head) || text.find("\n" + head) != std::string::npos;
    };
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool measurements = first != std::string::npos && text[first] == '{' &&
                              text.find("\"benchmarks\"") != std::string::npos;
    if (measurements && wanted == FileKind::profile)
        refuse(
            fmt::format("this is a measurement file; fit it first: occupipe fit {} -o PROFILE.yaml",
                        file_name));
    if (measurements && wanted == FileKind::kernel)
        refuse("this is a measurement file, not a kernel (docs/file-formats.md)");
    if (has_format("occupipe-kernel/") && wanted != FileKind::kernel)
        refuse(wanted == FileKind::profile
                   ? "this is a kernel, not a profile; see 'occupipe list profiles'"
                   : "this is a kernel, not a measurement file; 'occupipe measure' makes one");
    if (has_format("occupipe-profile/") && wanted != FileKind::profile)
        refuse(wanted == FileKind::kernel
                   ? "this is a GPU profile, not a kernel; profiles are given with --profile"
                   : "this is a GPU profile, not a measurement file; 'occupipe measure' makes one");
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

// SPDX-License-Identifier: MIT
#include "core/files/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/files/json_reader.h"
#include "core/files/yaml_reader.h"

namespace occupipe {

void refuse_journal(const std::string& text, const std::string& file_name) {
    constexpr std::string_view beginning = R"({"format":"occupipe-journal/)";
    if (!text.starts_with(beginning)) return;
    throw InputError(
        file_name, {1, 1}, "format",
        fmt::format(
            "this is an interrupted measurement; close it first: occupipe measure --finish {}",
            file_name));
}

void refuse_other_kinds(FileKind wanted, const std::string& text, const std::string& file_name) {
    refuse_journal(text, file_name);
    const bool json = looks_like_json(text);
    if (json && wanted != FileKind::measurements &&
        text.find("\"benchmarks\"") != std::string::npos) {
        const std::string what = "this is a measurement file";
        throw InputError(
            file_name, {1, 1}, {},
            wanted == FileKind::profile
                ? fmt::format("{}; fit it first: occupipe fit {} -o PROFILE.yaml", what, file_name)
                : what + ", not a kernel (docs/reference/file-formats/)");
    }
    const auto refuse = [&](FileKind found, std::string_view format, const char* what,
                            const char* instead) {
        if (found == wanted || json) return;
        std::size_t at = text.starts_with(format) ? 0 : text.find(fmt::format("\n{}", format));
        if (at == std::string::npos) return;
        if (at > 0) ++at;
        const auto line = std::ranges::count(text.substr(0, at), '\n');
        const bool yaml = wanted != FileKind::measurements;
        throw InputError(file_name, {static_cast<int>(line) + 1, yaml ? 9 : 1},
                         yaml ? "format" : "",
                         fmt::format("{}: this is a {}; {}",
                                     yaml ? "unknown format" : "not valid JSON", what, instead));
    };
    refuse(FileKind::kernel, "format: occupipe-kernel/", "kernel",
           wanted == FileKind::profile ? "'occupipe list profiles' shows profiles"
                                       : "'occupipe measure' makes measurement files");
    refuse(FileKind::profile, "format: occupipe-profile/", "GPU profile",
           wanted == FileKind::kernel ? "it is given with --profile"
                                      : "'occupipe measure' makes measurement files");
}

FileKind file_kind(const std::string& text, const std::string& file_name) {
    refuse_journal(text, file_name);
    const bool is_json = looks_like_json(text);
    const Document document = is_json ? parse_json(text, file_name) : parse_yaml(text, file_name);
    const DocumentNode& root = document.root();
    if (is_json && Document::find(root, "format") == nullptr) {
        document.required(root, "benchmarks");
        return FileKind::measurements;
    }
    if (Document::find(root, "occupipe_launches") != nullptr) return FileKind::launches;
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format).starts_with("occupipe-profile/")) {
        return FileKind::profile;
    }
    if (format.text.starts_with("occupipe-kernel-parameters/")) return FileKind::kernel_parameters;
    if (format.text.starts_with("occupipe-workload/")) return FileKind::workload;
    if (format.text.starts_with("occupipe-kernel/")) {
        return FileKind::kernel;
    }
    document.fail(format, fmt::format("unknown format '{}'", format.text));
}

}  // namespace occupipe

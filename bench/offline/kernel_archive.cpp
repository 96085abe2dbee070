// SPDX-License-Identifier: MIT
#include "bench/offline/kernel_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bench/offline/tar.h"
#include "core/error.h"
#include "core/files/document.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"

namespace occupipe::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* format = "occupipe-kernels/1";
constexpr const char* header_name = "kernels.json";
constexpr std::size_t key_digits = 32;

// The parts of a kernel that have a file of their own, by its extension.
struct Part {
    const char* extension;
    std::string StoredKernel::*member;
};
constexpr Part parts[] = {{"ptx", &StoredKernel::ptx},
                          {"cubin", &StoredKernel::cubin},
                          {"log", &StoredKernel::log},
                          {"error", &StoredKernel::error}};

using Files = std::map<std::string, std::string_view>;  // content by extension

std::string entry_name(const std::string& file_name, const std::string& entry) {
    return fmt::format("{}({})", file_name, entry);
}

Document parse_entry(std::string_view content, const std::string& file_name,
                     const std::string& entry) {
    const std::string text(content);
    const std::string name = entry_name(file_name, entry);
    require_text(text, name);
    return parse_json(text, name);
}

KernelArchiveHeader parse_header(std::string_view content, const std::string& file_name) {
    const Document document = parse_entry(content, file_name, header_name);
    const DocumentNode& root = document.root();
    const DocumentNode& found = document.required(root, "format");
    if (document.text(found) != format) {
        document.fail(found, fmt::format("'{}' is not {}", document.text(found), format));
    }
    document.only_keys(root, {"format", "occupipe_version", "texts", "architecture", "compiler"});
    const auto text = [&](const char* key) { return document.text(document.required(root, key)); };
    return {.program = text("occupipe_version"),
            .texts = text("texts"),
            .architecture = text("architecture"),
            .compiler = text("compiler")};
}

// `files`: all that the archive holds under one key.
StoredKernel parse_kernel(const std::string& key, const Files& files,
                          const std::string& file_name) {
    const Document document = parse_entry(files.at("json"), file_name, key + ".json");
    const DocumentNode& root = document.root();
    document.only_keys(root, {"name", "ptx", "cubin", "log", "error"});
    StoredKernel kernel;
    kernel.name = document.text(document.required(root, "name"));
    for (const Part& part : parts) {
        const DocumentNode* hash = Document::find(root, part.extension);
        const auto file = files.find(part.extension);
        const std::string entry = fmt::format("{}.{}", key, part.extension);
        if (!hash && file == files.end()) continue;
        if (!hash) {
            throw InputError(file_name, {}, entry, fmt::format("{}.json does not list it", key));
        }
        if (file == files.end()) document.fail(*hash, fmt::format("{} is missing", entry));
        if (content_hash(file->second) != document.text(*hash)) {
            throw InputError(
                file_name, {}, entry,
                fmt::format("is damaged: its content differs from the hash in {}.json", key));
        }
        kernel.*part.member = std::string(file->second);
    }
    const bool made = !kernel.ptx.empty() && !kernel.cubin.empty();
    if (made == !kernel.error.empty()) {
        throw InputError(file_name, {}, key + ".json",
                         "a kernel has ptx and cubin, or else an error");
    }
    return kernel;
}

bool is_key(std::string_view text) {
    return text.size() == key_digits && std::ranges::all_of(text, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

enum class Whole { all, as_far_as_written };

KernelArchive from_files(const std::vector<TarEntry>& entries, const std::string& file_name,
                         Whole whole) {
    KernelArchive archive;
    bool has_header = false;
    std::map<std::string, Files> kernels;
    for (const TarEntry& entry : entries) {
        if (entry.name == header_name) {
            archive.header = parse_header(entry.content, file_name);
            has_header = true;
            continue;
        }
        const auto dot = entry.name.find('.');
        const std::string key = entry.name.substr(0, dot);
        const std::string extension = dot == entry.name.npos ? "" : entry.name.substr(dot + 1);
        const bool known = extension == "json" || std::ranges::any_of(parts, [&](const Part& part) {
                               return extension == part.extension;
                           });
        if (!known || !is_key(key)) {
            throw InputError(file_name, {}, entry.name, "does not belong in such an archive");
        }
        kernels[key][extension] = entry.content;
    }
    if (!has_header) {
        throw InputError(file_name, {}, header_name,
                         "is missing: this was not made by 'measure --compile-only'");
    }
    for (const auto& [key, files] : kernels) {
        if (!files.contains("json")) {
            if (whole == Whole::as_far_as_written) continue;
            throw InputError(file_name, {}, key + ".json", "is missing");
        }
        archive.kernels[key] = parse_kernel(key, files, file_name);
    }
    return archive;
}

}  // namespace

std::string format_archive_header(const KernelArchiveHeader& header) {
    const Json json = {{"format", format},
                       {"occupipe_version", header.program},
                       {"texts", header.texts},
                       {"architecture", header.architecture},
                       {"compiler", header.compiler}};
    return tar_entry(header_name, json.dump(2) + "\n");
}

// The JSON comes last: where it is, the kernel is whole.
std::string format_stored_kernel(const std::string& key, const StoredKernel& kernel) {
    Json json = {{"name", kernel.name}};
    std::string entries;
    for (const Part& part : parts) {
        const std::string& content = kernel.*part.member;
        if (content.empty()) continue;
        json[part.extension] = content_hash(content);
        entries += tar_entry(fmt::format("{}.{}", key, part.extension), content);
    }
    return entries + tar_entry(key + ".json", json.dump() + "\n");
}

KernelArchive parse_kernel_archive(std::string_view tar, const std::string& file_name) {
    return from_files(read_tar(tar, file_name, TarEnd::required).entries, file_name, Whole::all);
}

KernelArchive parse_partial_archive(std::string_view tar, const std::string& file_name) {
    return from_files(read_tar(tar, file_name, TarEnd::may_be_missing).entries, file_name,
                      Whole::as_far_as_written);
}

KernelArchive read_kernel_archive(const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path)) {
        return parse_kernel_archive(read_text_file(path), path.string());
    }
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        contents[entry.path().filename().string()] = read_text_file(entry.path());
    }
    std::vector<TarEntry> entries;
    entries.reserve(contents.size());
    for (const auto& [name, content] : contents) entries.push_back({name, content});
    return from_files(entries, path.string(), Whole::all);
}

}  // namespace occupipe::bench

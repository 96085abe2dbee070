// SPDX-License-Identifier: MIT
#include "ask/shipped_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>
#include <system_error>

#include "core/error.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/suggestions.h"
#include "core/text.h"
#include "published/shelf.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;

fs::path& data_elsewhere() {
    static fs::path folder;
    return folder;
}

// Where data may be, best first: here, beside or above the program (a checkout's build folder),
// and where `cmake --install` puts it.
std::vector<fs::path> bases() {
    std::error_code none;
    std::vector<fs::path> found = {{}};
    if (!data_elsewhere().empty()) {
        found.push_back(data_elsewhere());
        return found;
    }
    const fs::path program = fs::read_symlink("/proc/self/exe", none);
    if (program.empty()) return found;
    fs::path above = program.parent_path();
    found.push_back(above.parent_path() / "share" / "occupipe");
    for (int level = 0; level < 4 && above.has_relative_path(); ++level) {
        found.push_back(above);
        above = above.parent_path();
    }
    return found;
}

// The first existing folder of these names that contains YAML files; empty = none.
fs::path data_folder(std::span<const fs::path> names) {
    for (const fs::path& base : bases()) {
        for (const fs::path& name : names) {
            std::error_code none;
            for (const auto& entry : fs::directory_iterator(base / name, none))
                if (entry.path().extension() == ".yaml") return base / name;
        }
    }
    return {};
}

// `more`: what is known without a file.
fs::path shipped(const std::string& name, const char* what, const std::vector<fs::path>& files,
                 const std::vector<std::string>& more = {}) {
    std::error_code none;
    if (fs::exists(name, none) || name.find('/') != std::string::npos ||
        fs::path(name).has_extension())
        return name;
    const std::string wanted = lower_case(name);
    std::vector<fs::path> found;
    std::vector<std::string> names;
    for (const fs::path& file : files) {
        const std::string stem = lower_case(file.stem().string());
        if (stem == wanted) return file;
        if (stem.ends_with("-" + wanted)) found.push_back(file);
        names.push_back(stem);
    }
    if (found.size() == 1) return found.front();
    if (std::ranges::find(more, wanted) != more.end()) return name;
    std::ranges::copy(more, std::back_inserter(names));
    if (names.empty()) return name;
    const auto near = near_names(wanted, names);
    throw InputError(name, {}, {},
                     fmt::format("neither a file nor a shipped {}; {}: {}", what,
                                 near.empty() ? "there are" : "near",
                                 fmt::join(near.empty() ? names : near, ", ")));
}

// The kernels' folder also holds the profiles of examples that run on no other.
std::vector<fs::path> beside_kernels(FileKind kind) {
    const fs::path names[] = {"sim/kernels",
                              "kernels"};  // a checkout also has the suite's "kernels"
    std::vector<fs::path> files = yaml_files(data_folder(names));
    std::erase_if(files, [&](const fs::path& file) {
        try {
            return file_kind(read_text_file(file), file.string()) != kind;
        } catch (const InputError&) {
            return true;  // somebody's own, and not asked for
        }
    });
    return files;
}

constexpr std::string_view shelf_prefix = "shelf:";

// "a100", "shelf:RTX-2070" → the shelf's name.
std::string shelf_name(const std::string& name) {
    std::string lower = lower_case(name);
    if (lower.starts_with(shelf_prefix)) lower.erase(0, shelf_prefix.size());
    return lower;
}

bool is_card(const fs::path& path) {
    std::error_code none;
    return fs::is_regular_file(path, none) &&
           read_text_file(path).find("occupipe-card/") != std::string::npos;
}

}  // namespace

std::vector<fs::path> yaml_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(folder, none))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

void set_data_folder(const fs::path& folder) { data_elsewhere() = folder; }

std::vector<fs::path> shipped_kernels() { return beside_kernels(FileKind::kernel); }

std::vector<fs::path> shipped_profiles() {
    const fs::path names[] = {"profiles"};
    return yaml_files(data_folder(names));
}

fs::path shipped_profile(const std::string& name) {
    if (is_datasheet(name)) return name;
    std::vector<std::string> shelf;
    for (const ShelfCard& card : built_in_shelf().cards) shelf.push_back(card.id);
    if (name.starts_with(shelf_prefix)) {
        if (built_in_shelf().card(shelf_name(name)) != nullptr) return name;
        const std::vector<std::string> near = near_names(shelf_name(name), shelf);
        throw InputError(
            name, {}, {},
            fmt::format("no card of the shelf; {}: {}", near.empty() ? "there are" : "near",
                        fmt::join(near.empty() ? shelf : near, ", ")));
    }
    std::vector<fs::path> files = shipped_profiles();
    std::ranges::copy(beside_kernels(FileKind::profile), std::back_inserter(files));
    // As installed, in a checkout: devices that AutoMatch alone knows.
    const fs::path devices[] = {"match-devices", "automatch/devices"};
    std::ranges::copy(yaml_files(data_folder(devices)), std::back_inserter(files));
    return shipped(name, "profile", files, shelf);
}

GpuProfile named_profile(const std::string& name) {
    if (is_datasheet(name)) return shelf_profile(parse_datasheet(name));
    const fs::path path = shipped_profile(name);
    std::error_code none;
    if (path == name && !fs::exists(path, none))
        if (auto made = shelf_profile(shelf_name(name))) return *std::move(made);
    if (is_card(path)) return shelf_profile(parse_card(read_text_file(path), path.string()));
    return read_profile(path);
}

bool is_shelf_name(const std::string& name) {
    return is_datasheet(name) || built_in_shelf().card(shelf_name(name)) != nullptr;
}

std::string shelf_spelling(const std::string& id) {
    return shipped_profile(id) == id ? id : std::string(shelf_prefix) + id;
}

bool lend_match(GpuProfile& profile) {
    if (profile.match != MatchDevice{}) return false;
    const ShelfCard* const card = shelf_card_of(profile.device);
    if (card == nullptr) return false;
    profile.match = shelf_profile(*card).match;
    return true;
}

std::string named_profile_text(const std::string& name) {
    const fs::path path = shipped_profile(name);
    std::error_code none;
    return fs::exists(path, none) || !is_shelf_name(name) ? read_text_file(path)
                                                          : format_profile(named_profile(name));
}

fs::path shipped_kernel(const std::string& name) {
    return shipped(name, "kernel", beside_kernels(FileKind::kernel));
}

fs::path shipped_suite_index() {
    std::error_code none;
    for (const fs::path& base : bases())
        for (const char* folder : {"suite", "kernels"})  // as installed, in a checkout
            if (fs::path index = base / folder / "suite.yaml"; fs::exists(index, none))
                return index;
    return {};
}

}  // namespace occupipe::analysis

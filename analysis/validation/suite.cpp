// SPDX-License-Identifier: MIT
#include "analysis/validation/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ask/shipped_files.h"
#include "core/error.h"
#include "core/files/document.h"
#include "core/files/files.h"
#include "core/files/yaml_reader.h"
#include "core/suggestions.h"

namespace occupipe::analysis {
namespace {

constexpr std::string_view suite_format = "occupipe-suite/1";

}  // namespace

std::vector<SuiteKernel> read_suite(const std::filesystem::path& index) {
    const Document document = parse_yaml(read_text_file(index), index.string());
    const DocumentNode& root = document.root();
    document.only_keys(root, {"format", "kernels"});
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format) != suite_format)
        document.fail(format, fmt::format("unknown format '{}', expected {}", document.text(format),
                                          suite_format));
    const std::filesystem::path folder = index.parent_path();
    std::vector<SuiteKernel> suite;
    for (const DocumentNode& item : document.items(document.required(root, "kernels"))) {
        document.only_keys(item, {"name", "file", "published", "about"});
        const DocumentNode& name = document.required(item, "name");
        const std::string& file = document.text(document.required(item, "file"));
        SuiteKernel one;
        one.name = document.text(name);
        if (std::ranges::find(suite, one.name, &SuiteKernel::name) != suite.end())
            document.fail(name, fmt::format("duplicate '{}'", one.name));
        if (const DocumentNode* const published = Document::find(item, "published"))
            one.published = document.text(*published);
        one.about = document.text(document.required(item, "about"));
        one.source = folder / (file + ".cu");
        one.small = folder / "small" / (file + ".yaml");
        one.large = folder / "large" / (file + ".yaml");
        suite.push_back(std::move(one));
    }
    return suite;
}

std::vector<SuiteKernel> shipped_suite() {
    const std::filesystem::path index = shipped_suite_index();
    return index.empty() ? std::vector<SuiteKernel>() : read_suite(index);
}

const SuiteKernel& find_suite_kernel(const std::vector<SuiteKernel>& suite,
                                     const std::string& name) {
    const auto found = std::ranges::find(suite, name, &SuiteKernel::name);
    if (found != suite.end()) return *found;
    std::vector<std::string> names;
    names.reserve(suite.size());
    for (const SuiteKernel& one : suite) names.push_back(one.name);
    const auto near = near_names(name, names);
    throw InputError(fmt::format("no kernel '{}' in the suite; {}: {}", name,
                                 near.empty() ? "there are" : "near",
                                 fmt::join(near.empty() ? names : near, ", ")));
}

}  // namespace occupipe::analysis

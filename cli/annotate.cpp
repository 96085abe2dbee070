// SPDX-License-Identifier: MIT
#include "cli/annotate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "core/error.h"
#include "core/files/files.h"
#include "report/text/annotated_source.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_source_bytes = 16 << 20;

bool is_text_file(const fs::path& path) {
    std::error_code none;
    return fs::is_regular_file(path, none) && fs::file_size(path, none) <= most_source_bytes;
}

}  // namespace

void add_annotate_options(const Command& command, AnnotateOptions& options) {
    constexpr const char* group = "By source line (simulates one launch)";
    command
        .add_option(
            "--annotate", options.view,
            "Executions, time and reasons of waiting: of each source line, of each machine\n"
            "instruction, or of both")
        .check(one_of({"source", "machine", "both"}))
        .type_name("VIEW")
        .group(group);
    command
        .add_option("--page", options.page,
                    "The same as a page: source and machine code, linked with each other")
        .type_name("FILE.html")
        .group(group);
    command
        .add_option("--source-folder", options.source_folder,
                    "Where the source is (default: the folder of KERNEL)")
        .type_name("DIR")
        .group(group);
}

std::map<std::string, std::string> source_texts(const Kernel& kernel, const std::string& file,
                                                const std::string& source_folder) {
    std::map<std::string, std::string> texts;
    for (const std::string& name : analysis::source_files(kernel)) {
        fs::path path = fs::path(source_folder.empty() ? fs::path(file).parent_path().string()
                                                       : source_folder) /
                        name;
        if (source_folder.empty() && fs::path(file).filename() == name) path = file;
        if (is_text_file(path)) texts[name] = read_text_file(path);
    }
    return texts;
}

analysis::Annotation annotation_of(const sim::StallView& view, const Kernel& kernel,
                                   const Launch& launch, const KernelOrigin& origin,
                                   const AnnotateOptions& options) {
    const std::vector<std::string> files = analysis::source_files(kernel);
    const auto texts = source_texts(kernel, origin.file, options.source_folder);
    if (!options.source_folder.empty() && texts.empty())
        throw InputError(
            files.empty()
                ? fmt::format("--source-folder {}: no instruction of {} says which source line it "
                              "comes from",
                              options.source_folder, origin.file)
                : fmt::format("--source-folder {}: holds no {}", options.source_folder,
                              fmt::join(files, ", ")));
    analysis::Annotation annotation = analysis::annotate(kernel, launch, view);
    if (origin.code != nullptr)
        analysis::add_machine_code(annotation, *origin.code, origin.architecture);
    analysis::add_source(annotation, texts);
    for (const std::string& name : files)
        if (!texts.contains(name))
            annotation.notes.push_back(
                fmt::format("the text of {} is not beside {}; --source-folder DIR says where it is",
                            name, origin.file));
    return annotation;
}

std::string annotation_text(const analysis::Annotation& annotation,
                            const AnnotateOptions& options) {
    if (options.view.empty()) return {};
    const auto view = options.view == "source"    ? report::AnnotationView::source
                      : options.view == "machine" ? report::AnnotationView::machine
                                                  : report::AnnotationView::both;
    return "\n" + report::to_text(annotation, view);
}

void write_page(const report::PredictionSet& set, const analysis::Annotation& annotation,
                const AnnotateOptions& options, bool force, const report::KernelPageMore& more) {
    if (options.page.empty()) return;
    write_text_file(options.page, report::annotated_page(set, annotation, more),
                    force ? Overwrite::yes : Overwrite::no);
}

}  // namespace occupipe::cli

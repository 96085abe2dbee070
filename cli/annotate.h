// SPDX-License-Identifier: MIT
// `predict --annotate` and `--page`: the prediction by source line and machine instruction.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/explanation/annotation.h"
#include "cli/option.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "isa/instruction.h"
#include "report/page/annotated_kernel.h"
#include "report/text/prediction_output.h"
#include "sim/observers/stalls.h"

namespace occupipe::cli {

struct AnnotateOptions {
    std::string view;           // source, machine, both; empty: none as text
    std::string page;           // file; empty: none
    std::string source_folder;  // empty: that of the kernel's file

    bool any() const { return !view.empty() || !page.empty(); }
};

void add_annotate_options(const Command& command, AnnotateOptions& options);

// Where a kernel comes from, beside its graph.
struct KernelOrigin {
    std::string file;                                     // of its graph, source or machine code
    const std::vector<isa::Instruction>* code = nullptr;  // null: not at hand
    int architecture = 0;                                 // of the code
};

// The texts that the kernel's `at` name, as far as they are found: `file` itself, in
// `source_folder`, or in the folder of `file`.
std::map<std::string, std::string> source_texts(const Kernel& kernel, const std::string& file,
                                                const std::string& source_folder);

// Of the run that the view has seen; with the text of lines and instructions. Throws InputError
// where
// --source-folder holds none of the files.
analysis::Annotation annotation_of(const sim::StallView& view, const Kernel& kernel,
                                   const Launch& launch, const KernelOrigin& origin,
                                   const AnnotateOptions& options);

// The view as text, behind an empty line; empty where none was asked for.
std::string annotation_text(const analysis::Annotation& annotation, const AnnotateOptions& options);

// Where a page was asked for.
void write_page(const report::PredictionSet& set, const analysis::Annotation& annotation,
                const AnnotateOptions& options, bool force,
                const report::KernelPageMore& more = {});

}  // namespace occupipe::cli

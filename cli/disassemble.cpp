// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "ask/kernel_file.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/architectures.h"
#include "core/error.h"
#include "core/files/files.h"
#include "extract/signature.h"
#include "isa/cubin.h"
#include "report/text/machine_code.h"

namespace occupipe::cli {
namespace {

struct Request {
    std::string file;
    std::string kernel;
    std::string architecture;
    std::vector<std::string> compiler_options;
    std::string cubin;
    bool force = false;
    bool bits = false;
};

// The whole text, or the kernel of this name, which may be that of a function.
std::vector<const isa::Kernel*> chosen(const isa::Cubin& cubin, const std::string& name) {
    std::vector<const isa::Kernel*> kernels;
    for (const isa::Kernel& one : cubin.kernels)
        if (name.empty() || one.name == name) kernels.push_back(&one);
    if (kernels.empty() && !name.empty()) kernels.push_back(&extract::find_kernel(cubin, name));
    return kernels;
}

std::vector<analysis::KernelFile> files_of(const Request& request) {
    const analysis::CompileRequest compile{.architecture = request.architecture,
                                           .options = request.compiler_options,
                                           .kernels = {request.kernel}};
    std::vector<analysis::KernelFile> files;
    if (request.kernel.empty() && request.cubin.empty())
        files = analysis::read_kernel_files(request.file, compile);
    else
        files.push_back(analysis::read_kernel_file(request.file, compile));
    return files;
}

void disassemble(const Request& request) {
    keep_apart({{"FILE", request.file}}, {{"--output", request.cubin}});
    const std::vector<analysis::KernelFile> files = files_of(request);
    if (!request.cubin.empty())
        write_text_file(request.cubin, files.front().bytes,
                        request.force ? Overwrite::yes : Overwrite::no);
    std::size_t unknown = 0;
    std::string first;
    const char* separator = "";
    for (const analysis::KernelFile& file : files) {
        if (!file.note.empty()) fmt::print(stderr, "occupipe: note: {}\n", file.note);
        for (const isa::Kernel* kernel : chosen(file.cubin, request.kernel)) {
            std::fputs(separator, stdout);
            separator = "\n";
            const report::Listing listing =
                report::machine_code_listing(*kernel, *file.cubin.architecture, request.bits);
            std::fputs(listing.text.c_str(), stdout);
            if (unknown == 0 && listing.unknown > 0)
                first = kernel->name + ": " + listing.first_unknown;
            unknown += listing.unknown;
        }
    }
    if (*separator == '\0') throw InputError(request.file + ": no kernel in it");
    if (unknown == 0) return;
    fmt::print(stderr, "occupipe: {}: {} instruction{} not understood (?), the first: {}\n",
               request.file, unknown, unknown == 1 ? " is" : "s are", first);
    throw Reported(exit_failed);
}

}  // namespace

void add_disassemble(const Command& app) {
    const auto request = std::make_shared<Request>();
    const Command command =
        app.subcommand("disassemble",
                       "Print the machine code of kernels, with what the assembler tells the "
                       "scheduler");
    command
        .add_option("file", request->file,
                    "Machine code (.cubin, or a file that holds some), PTX (.ptx), CUDA (.cu) or "
                    "OpenCL C\n(.cl)")
        .required()
        .type_name("FILE");
    command.add_option("--kernel", request->kernel, "This kernel alone (default: all)")
        .type_name("NAME");
    command
        .add_option(
            "--arch", request->architecture,
            "What to compile source for, or which code of a file: " + architectures_in_words())
        .type_name("sm_NN");
    command
        .add_option(
            "--compiler option|--compiler-option", request->compiler_options,
            "Handed on to NVRTC or nvcc, such as -lineinfo or -I/usr/local/cuda/include, or to "
            "clang; may be\nrepeated")
        .type_name("OPTION")
        .one_value_each();
    command
        .add_option("-o,--output|--cubin", request->cubin,
                    "Write the machine code to this file as well, for machines without compilers")
        .type_name("FILE");
    command.add_flag("--force", request->force, "Replace the file if it exists");
    command.add_flag("--bits", request->bits, "Print the 128 bits of each instruction, too");
    command.callback([request] { disassemble(*request); });
}

}  // namespace occupipe::cli

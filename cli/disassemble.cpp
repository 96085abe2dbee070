// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "ask/kernel_file.h"
#include "bench/cuda/driver/nvrtc.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/architectures.h"
#include "core/error.h"
#include "core/files/files.h"
#include "isa/cubin.h"
#include "isa/decode.h"
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

std::string machine_code(const Request& request) {
    if (request.file.ends_with(".cl")) {
        analysis::KernelFile file = analysis::read_kernel_file(request.file, request.architecture,
                                                               request.compiler_options);
        if (!file.note.empty()) fmt::print(stderr, "occupipe: note: {}\n", file.note);
        return std::move(file.bytes);
    }
    std::string bytes = read_text_file(request.file);
    if (!request.file.ends_with(".cu")) {
        if (!request.architecture.empty()) {
            throw InputError("--arch is for source (.cu, .cl); " + request.file +
                             " says itself what it is for");
        }
        if (!request.compiler_options.empty()) {
            throw InputError("--compiler option is for source (.cu, .cl); " + request.file +
                             " is compiled already");
        }
        return bytes;
    }
    if (request.architecture.empty()) {
        throw InputError(request.file + ": --arch sm_NN says what to compile it for");
    }
    return bench::nvrtc().compile(bytes, request.architecture, request.compiler_options).cubin;
}

int architecture_of(const Request& request, const isa::Cubin& cubin) {
    if (!cubin.architecture) {
        throw InputError(request.file +
                         ": machine code of an architecture that is not known; known are " +
                         architectures_in_words());
    }
    return *cubin.architecture;
}

void disassemble(const Request& request) {
    keep_apart({{"FILE", request.file}}, {{"--output", request.cubin}});
    const std::string bytes = machine_code(request);
    const isa::Cubin cubin = [&] {
        try {
            isa::Cubin read = isa::read_cubin(bytes);
            read.file = request.file;
            return read;
        } catch (const InputError& error) {
            throw InputError(request.file + ": " + error.what());
        }
    }();
    const int architecture = architecture_of(request, cubin);
    if (!request.cubin.empty())
        write_text_file(request.cubin, bytes, request.force ? Overwrite::yes : Overwrite::no);
    std::size_t unknown = 0;
    std::string first;
    const auto print = [&](const isa::Kernel& kernel) {
        const report::Listing listing =
            report::machine_code_listing(kernel, architecture, request.bits);
        std::fputs(listing.text.c_str(), stdout);
        if (unknown == 0 && listing.unknown > 0) first = kernel.name + ": " + listing.first_unknown;
        unknown += listing.unknown;
    };
    if (!request.kernel.empty()) {
        print(cubin.kernel(request.kernel));
    } else {
        if (cubin.kernels.empty()) throw InputError(request.file + ": no kernel in it");
        const char* separator = "";
        for (const isa::Kernel& kernel : cubin.kernels) {
            std::fputs(separator, stdout);
            print(kernel);
            separator = "\n";
        }
    }
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
    command.add_option("file", request->file, "Machine code (.cubin), CUDA (.cu) or OpenCL C (.cl)")
        .required()
        .type_name("FILE");
    command.add_option("--kernel", request->kernel, "This kernel alone (default: all)")
        .type_name("NAME");
    command
        .add_option("--arch", request->architecture,
                    "What to compile source for: " + architectures_in_words())
        .type_name("sm_NN");
    command
        .add_option("--compiler option|--compiler-option", request->compiler_options,
                    "Handed on to NVRTC, such as -lineinfo or -I/usr/local/cuda/include, or to "
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

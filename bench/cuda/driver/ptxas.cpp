// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/ptxas.h"

#include <fmt/format.h>

#include <filesystem>

#include "bench/cuda/driver/find_cuda.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/run_tool.h"

namespace occupipe::bench {

namespace fs = std::filesystem;

NvrtcOutput assemble_ptx(const std::string& ptx, const std::string& architecture,
                         const std::vector<std::string>& options) {
    const Surroundings here = Surroundings::of_this_process();
    if (here.variable("OCCUPIPE_NVRTC") == nvrtc_hidden)
        throw DeviceError("ptxas: not searched, because OCCUPIPE_NVRTC is 'none'");
    const auto program = find_cuda_tool("ptxas", here);
    if (!program)
        throw DeviceError(
            "ptxas: not found, and PTX needs it (tools/setup.sh --wheels fetches it; "
            "docs/background/cuda.md lists where it is searched)");
    const WorkFolder folder;
    const fs::path text = folder.path / "kernel.ptx";
    const fs::path code = folder.path / "kernel.cubin";
    const fs::path said = folder.path / "messages.txt";
    write_text_file(text, ptx, Overwrite::no);
    std::vector<std::string> arguments = {"--gpu-name=" + architecture,
                                          "--output-file=" + code.string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(text.string());
    const int exit_code = run_tool(*program, arguments, said, folder.path);
    NvrtcOutput output;
    output.log = read_text_file(said);
    output.compiler = "ptxas";
    // As a shell says it that finds a program not, or one that it cannot run.
    if (exit_code == 126 || exit_code == 127)
        throw DeviceError(
            fmt::format("ptxas: not found: {} cannot run it: {}", program->string(), output.log));
    if (exit_code != 0)
        throw CompileError(fmt::format("ptxas for {}: {}", architecture,
                                       output.log.empty() ? "it failed" : output.log));
    output.ptx = ptx;
    output.cubin = read_text_file(code);
    return output;
}

}  // namespace occupipe::bench

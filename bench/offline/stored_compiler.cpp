// SPDX-License-Identifier: MIT
#include "bench/offline/stored_compiler.h"

#include <fmt/format.h>

#include <utility>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/prelude.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::bench {

std::string cuda_texts_hash() {
    std::string all = cuda_prelude(1, 1, false, 0);
    for (const std::string& text : cuda_helper_texts()) all += text;
    return content_hash(all);
}

StoredCompiler::StoredCompiler(KernelArchive archive, std::string path, const std::string& version)
    : archive_(std::move(archive)), path_(std::move(path)) {
    const KernelArchiveHeader& header = archive_.header;
    const std::string texts = cuda_texts_hash();
    if (header.program != version || header.texts != texts) {
        throw InputError(
            path_, {}, header.program != version ? "occupipe_version" : "texts",
            fmt::format("made by occupipe {} (kernel texts {}), this is occupipe {} (kernel texts "
                        "{}); compile them again with 'measure --compile-only'",
                        header.program, header.texts, version, texts));
    }
}

std::string StoredCompiler::name() const {
    return fmt::format("{}, ahead", archive_.header.compiler);
}

std::string StoredCompiler::architecture_for(int major, int minor) const {
    const std::string& made_for = archive_.header.architecture;
    for (int older = minor; older >= 0; --older) {
        if (made_for == fmt::format("sm_{}{}", major, older)) return made_for;
    }
    throw InputError(
        path_, {}, "architecture",
        fmt::format("kernels for {}, but the device is sm_{}{}", made_for, major, minor));
}

NvrtcOutput StoredCompiler::compile(const std::string& text,
                                    const std::string& architecture) const {
    const std::string key = kernel_key(text, architecture, archive_.header.compiler);
    const auto found = archive_.kernels.find(key);
    if (found != archive_.kernels.end()) {
        const StoredKernel& kernel = found->second;
        if (!kernel.error.empty()) throw DeviceError(kernel.error);
        return {.ptx = kernel.ptx,
                .cubin = kernel.cubin,
                .log = kernel.log,
                .compiler = archive_.header.compiler};
    }
    try {
        NvrtcOutput output = nvrtc().compile(text, architecture);
        const std::lock_guard lock(mutex_);
        remark_ = fmt::format(
            "{} does not contain all kernels that are needed; {} of this machine compiled the "
            "others",
            path_, nvrtc().name());
        return output;
    } catch (const DeviceError& error) {
        throw DeviceError(fmt::format(
            "{} does not contain this kernel for {} (it depends on the GPU: cores, l2_bytes, "
            "memory_bytes), and it cannot be compiled here: {}",
            path_, architecture, error.what()));
    }
}

std::string StoredCompiler::remark() const {
    const std::lock_guard lock(mutex_);
    return remark_;
}

std::shared_ptr<const KernelCompiler> open_kernels(const std::filesystem::path& path,
                                                   const std::string& version) {
    return std::make_shared<StoredCompiler>(read_kernel_archive(path), path.string(), version);
}

}  // namespace occupipe::bench

// SPDX-License-Identifier: MIT
// Kernels compiled ahead of time instead of a compiler.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "bench/cuda/driver/kernel_compiler.h"
#include "bench/offline/kernel_archive.h"

namespace occupipe::bench {

// Of the texts that all CUDA kernels of this program share.
std::string cuda_texts_hash();

// Gives back what the archive holds; what it does not hold is compiled by NVRTC where that is
// installed, else compile() throws DeviceError saying so. Nothing in the archive is trusted beyond
// its hashes: receipts are made again from its PTX and machine code.
class StoredCompiler : public KernelCompiler {
public:
    // `path` for messages. Throws InputError, naming both, when the archive was made by another
    // program than `version` of this one.
    StoredCompiler(KernelArchive archive, std::string path, const std::string& version);

    std::string name() const override;
    // Throws InputError, naming both, when the archive is for an architecture that the GPU is not.
    std::string architecture_for(int major, int minor) const override;
    NvrtcOutput compile(const std::string& text, const std::string& architecture) const override;
    // That kernels were missing and compiled here, once one was.
    std::string remark() const override;

private:
    KernelArchive archive_;
    std::string path_;
    mutable std::mutex mutex_;
    mutable std::string remark_;
};

// A file or folder; throws as the reader and the constructor do.
std::shared_ptr<const KernelCompiler> open_kernels(const std::filesystem::path& path,
                                                   const std::string& version);

}  // namespace occupipe::bench
